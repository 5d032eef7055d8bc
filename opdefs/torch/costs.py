"""The cost rules of torch's overloads: those of the functions of PNNX that they are."""

from __future__ import annotations

from opdefs.pnnx.dialect import pnnx
from opdefs.rules import cost_elements as elements
from opdefs.torch.dialect import torch
from opdefs.torch.functions import OWN, function_table

for _overload, _entry in function_table().entries.items():
    _rule = None if _entry.function == OWN else pnnx.cost_rule("", _entry.function, 1)
    if _rule is not None:
        torch.cost(_overload)(_rule)

# -- indexing, order, counts: see `updates`, `ordering`, `counting` ---------------------------------------------------

_TWICE = ("", "_")
_WINDOWS = ("hann", "hamming", "blackman", "bartlett")


def _aten(*names: str) -> list[str]:
    """Overloads; a name without one is the overload `default`."""
    return [f"aten.{name}" if "." in name else f"aten.{name}.default" for name in names]


def _in_place_too(*names: str) -> list[str]:
    """As `_aten`, also for the functions in suffix."""
    parts = [name.partition(".") for name in names]
    return [f"aten.{name}{suffix}.{overload or 'default'}" for name, _, overload in parts for suffix in _TWICE]


torch.cost(
    *_in_place_too(
        "index_put", "index_copy", "index_fill.int_Scalar", "index_fill.int_Tensor", "put", "masked_scatter"
    ),
    *_in_place_too("scatter.src", "scatter.value", "tril", "triu"),
    *_aten("_unsafe_index_put", "masked_fill_.Scalar", "masked_fill_.Tensor", "select_scatter", "diagonal_scatter"),
)(elements.movement)
torch.cost(
    *_in_place_too("scatter.reduce", "scatter.value_reduce", "scatter_reduce.two", "index_add", "index_reduce"),
)(elements.input_cost(1, 1))
torch.cost(*_aten("take", "take_along_dim", "index.Tensor", "_unsafe_index.Tensor"))(elements.gathering())
torch.cost(
    *_aten("sort", "sort.stable", "argsort", "argsort.stable", "msort", "cummax", "cummin", "kthvalue", "mode"),
    *_aten("median", "median.dim", "nanmedian", "nanmedian.dim", "aminmax", "count_nonzero", "nonzero", "argwhere"),
    *_aten("any", "any.dim", "any.dims", "all", "all.dim", "all.dims", "count_nonzero.dim_IntList", "nonzero_static"),
    *_aten("quantile", "quantile.scalar", "nanquantile", "nanquantile.scalar", "histc", "bincount", "multinomial"),
    *_aten("_unique", "_unique2", "unique_consecutive", "unique_dim", "unique_dim_consecutive", "equal", "allclose"),
    *_aten("repeat_interleave.Tensor", "trace"),
)(elements.input_cost())
torch.cost(*_aten("logcumsumexp"))(elements.element_cost(4))
torch.cost(
    *_aten("isnan", "isinf", "isfinite", "isposinf", "isneginf", "signbit", "isclose", "searchsorted.Tensor"),
    *_aten("searchsorted.Scalar", "bucketize.Tensor", "bucketize.Scalar", "isin.Tensor_Tensor", "isin.Tensor_Scalar"),
    *_aten("isin.Scalar_Tensor", "one_hot", "diff", "angle", "polar", "conj_physical", "conj_physical_", "sgn"),
)(elements.elementwise)

# -- views, lists of tensors, new tensors: see `views`, `creation` ----------------------------------------------------

torch.cost(
    *_aten("movedim.int", "movedim.intlist", "moveaxis.int", "moveaxis.intlist", "mT", "mH", "adjoint", "matrix_H"),
    *_aten("numpy_T", "ravel", "rot90", "atleast_1d", "atleast_2d", "atleast_3d"),
    *_aten("atleast_1d.Sequence", "atleast_2d.Sequence", "atleast_3d.Sequence", "broadcast_tensors"),
    *_aten("meshgrid", "meshgrid.indexing", "cartesian_prod", "block_diag", "hstack", "vstack", "dstack"),
    *_aten("column_stack", *(f"{name}split.{kind}" for name in "hvd" for kind in ("int", "array"))),
    *_aten("conj", "_conj", "_conj_copy", "fft_fftshift", "fft_ifftshift", "diagonal", "diagonal_copy"),
    *_aten("linalg_diagonal", "diag_embed", "diagflat", "eye", "eye.m", "tril_indices", "triu_indices", "new_full"),
    *_aten("zero_"),
    "torch.autocast",
)(elements.movement)
torch.cost(
    *(f"aten.{name}.{kind}" for name in ("linspace", "logspace") for kind in ("default", "Tensor_Tensor")),
    *(f"aten.{name}.{kind}" for name in ("linspace", "logspace") for kind in ("Tensor_Scalar", "Scalar_Tensor")),
    *_aten("randint", "randint.generator", "randint.low", "randint.low_generator", "randperm", "randperm.generator"),
    *_aten("bernoulli", "bernoulli.p", "bernoulli_.float", "bernoulli.Tensor", "bernoulli_.Tensor", "uniform_"),
    *_aten("normal_", "normal_functional", "exponential_", "random_", "random_.from", "random_.to"),
    *_aten("normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor", "fft_fftfreq", "fft_rfftfreq"),
    *_aten(*(f"{name}_window.{kind}" for name in _WINDOWS for kind in ("default", "periodic"))),
)(elements.elementwise)

# -- products and matrices: see `matrices` ----------------------------------------------------------------------------

torch.cost(*_aten("outer", "ger", "kron", "linalg_cross"))(elements.elementwise)
torch.cost(*_aten("dot", "vdot", "linalg_vecdot"))(elements.input_cost(2))
torch.cost(
    *_aten("inner", "tensordot", "linalg_multi_dot", "chain_matmul", "cdist", "_cdist_forward", "_euclidean_dist"),
    *_in_place_too("addmv", "addr", "addbmm"),
    *_aten("pdist", "stft", "_fft_c2c", "_fft_r2c", "_fft_c2r", "linalg_inv", "inverse", "linalg_cholesky", "cholesky"),
    *_aten("cholesky_inverse", "linalg_matrix_exp", "linalg_matrix_power", "matrix_power", "linalg_inv_ex"),
    *_aten("linalg_cholesky_ex", "linalg_det", "det", "logdet", "linalg_slogdet", "slogdet", "_linalg_det"),
    *_aten("_linalg_slogdet", "linalg_eig", "linalg_eigvals", "_linalg_eigvals", "linalg_eigh", "_linalg_eigh"),
    *_aten("linalg_eigvalsh", "linalg_svd", "_linalg_svd", "svd", "linalg_svdvals", "linalg_qr", "qr", "linalg_lu"),
    *_aten("linalg_lu_factor", "linalg_lu_factor_ex", "linalg_pinv", "linalg_pinv.atol_rtol_float", "pinverse"),
    *_aten("linalg_pinv.rcond_tensor", "linalg_pinv.atol_rtol_tensor"),
    *_aten("linalg_matrix_rank", "linalg_matrix_rank.atol_rtol_float", "linalg_solve", "linalg_solve_ex"),
    *_aten("_linalg_solve_ex", "linalg_solve_triangular", "triangular_solve", "cholesky_solve", "_linalg_check_errors"),
)(elements.exclusion("the number of operations of decompositions, transforms and distances is not modeled"))
