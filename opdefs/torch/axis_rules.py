"""The axis rules of torch's overloads: those of the functions of PNNX that they are."""

from __future__ import annotations

from opdefs.pnnx.dialect import pnnx
from opdefs.rules.axis_uses import all_but, attribute_axis, separate, trailing
from opdefs.torch.dialect import torch
from opdefs.torch.functions import OWN, function_table

for _overload, _entry in function_table().entries.items():
    _rule = None if _entry.function == OWN else pnnx.axis_rule("", _entry.function, 1)
    if _rule is not None:
        torch.axes(_overload)(_rule)


def _aten(*names: str) -> list[str]:
    """Overloads; a name without one is the overload `default`."""
    return [f"aten.{name}" if "." in name else f"aten.{name}.default" for name in names]


torch.axes(
    *_aten("any.dim", "any.dims", "all.dim", "all.dims", "count_nonzero.dim_IntList", "quantile.scalar"),
    *_aten("isnan", "isinf", "isfinite", "isposinf", "isneginf", "signbit", "isclose", "angle", "polar", "conj"),
    *_aten("_conj", "_conj_copy", "conj_physical", "conj_physical_", "sgn", "one_hot", "zero_", "bucketize.Tensor"),
    *_aten("bernoulli", "bernoulli.p", "bernoulli_.float", "bernoulli.Tensor", "bernoulli_.Tensor", "uniform_"),
    *_aten("normal_", "normal_functional", "exponential_", "normal.Tensor_float", "normal.float_Tensor"),
    *_aten("normal.Tensor_Tensor", "masked_fill_.Scalar", "masked_fill_.Tensor", "broadcast_tensors"),
    *_aten("any", "all", "count_nonzero", "outer", "movedim.int", "movedim.intlist"),
)(separate)
torch.axes(
    *_aten("sort", "sort.stable", "argsort", "argsort.stable", "median.dim", "nanmedian.dim", "kthvalue", "mode"),
    *_aten("cummax", "cummin", "logcumsumexp"),
)(all_but(attribute_axis("dim", -1)))
torch.axes(*_aten("mT", "mH", "adjoint", "matrix_H"))(separate)
torch.axes(
    *_aten("linalg_inv", "inverse", "linalg_cholesky", "cholesky", "cholesky_inverse", "linalg_matrix_exp", "det"),
    *_aten("linalg_matrix_power", "matrix_power", "linalg_inv_ex", "linalg_cholesky_ex", "linalg_det", "logdet"),
    *_aten("linalg_slogdet", "slogdet", "_linalg_det", "_linalg_slogdet", "linalg_eig", "linalg_eigvals"),
    *_aten("_linalg_eigvals", "linalg_eigh", "_linalg_eigh", "linalg_eigvalsh", "linalg_svd", "_linalg_svd", "svd"),
    *_aten("linalg_svdvals", "linalg_qr", "qr", "linalg_lu", "linalg_lu_factor", "linalg_lu_factor_ex"),
    *_aten(
        "tril", "triu", "tril_", "triu_", "linalg_pinv", "linalg_pinv.atol_rtol_float", "pinverse", "linalg_matrix_rank"
    ),
)(trailing(2))
