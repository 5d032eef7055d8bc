"""The cases: for each overload of the families at least one that torch runs, and most with sizes that it refuses."""

from __future__ import annotations

from typing import Any

from tests.opdefs.torch_cases.case import Call, Tensor, call


def f(*sizes: int, to: tuple[Any, ...] | None = None) -> Tensor:
    """A tensor of floats."""
    return Tensor("float32", sizes, to)


def i(*sizes: int, to: tuple[Any, ...] | None = None) -> Tensor:
    """A tensor of integers, by default zeros."""
    return Tensor("int64", sizes, to)


def b(*sizes: int) -> Tensor:
    """A tensor of booleans."""
    return Tensor("bool", sizes)


def z(*sizes: int) -> Tensor:
    """A tensor of complex numbers."""
    return Tensor("complex64", sizes)


def u(*sizes: int) -> Tensor:
    """A tensor of uint8."""
    return Tensor("uint8", sizes)


def aten(name: str, *rows: tuple[Any, ...]) -> list[Call]:
    """Calls of an overload, a row of arguments each; a mapping at the end has arguments by name."""
    calls = []
    for row in rows:
        named = row[-1] if row and isinstance(row[-1], dict) else {}
        calls.append(call(f"aten.{name}", *(row[:-1] if named else row), **named))
    return calls


def each(names: str, *rows: tuple[Any, ...]) -> list[Call]:
    """Calls of several overloads with the same rows."""
    return [made for name in names.split() for made in aten(name, *rows)]


MASKED = [(f(2, 3), b(2, 3), 1.0), (f(2, 3), b(3), 1.0), (f(2, 3), b(2), 1.0), (f(3), b(2, 3), 1.0)]
PINV = [((2, 3, 4), ()), ((2, 3, 4), (1,)), ((2, 3, 4), (2, 1)), ((3, 4), (5,)), ((2, 3, 4), (3,)), ((2, 0, 4), (5,))]
"""The sizes of matrices, and of a tolerance."""
SCATTERED = [
    (f(3, 4), 1, i(3, 2), f(3, 2)),
    (f(3, 4), 0, i(2, 4), f(5, 6)),
    (f(3, 4), 0, i(2, 5), f(5, 6)),
    (f(3, 4), 1, i(3, 2), f(2, 2)),
    (f(3, 4), 1, i(3), f(3)),
    (f(3, 4), 1, i(0), f(3)),
]
SLICED = [
    (f(3, 4), 0, i(2), f(2, 4)),
    (f(3, 4), 1, i(2), f(3, 2)),
    (f(3, 4), 1, i(2), f(3, 3)),
    (f(3, 4), 1, i(2), f(2, 2)),
    (f(4), 0, i(), f()),
    (f(3, 4), 0, i(1, 2), f(2, 4)),
    (f(3, 4), 0, i(2, to=(0, 5)), f(2, 4)),
]
WITH_REDUCE = [(*row, "prod") for row in SLICED[:4]]
AXES = [(f(2, 3), 0), (f(2, 3), -1), (f(2, 3), 2), (f(0, 3), 1), (f(), 0), (i(2, 3), 1)]

INDEXING = [
    *each("index.Tensor _unsafe_index.Tensor", (f(3, 4), [i(2)]), (f(3, 4), [None, i(2, 5)]), (f(3, 4), [i(2), i(3)])),
    *aten("index.Tensor", (f(3, 4), [b(3)]), (f(3, 4), [b(3, 4)]), (f(3, 4), [b(2)]), (f(3, 4, 5), [i(2), None, i(2)])),
    *aten("index.Tensor", (f(3, 4), [i(1, to=(3,))]), (f(3, 4), [i(1, to=(-3,))])),
    *each(
        "index_put.default index_put_.default _unsafe_index_put.default",
        (f(3, 4), [i(2)], f(2, 4)),
        (f(3, 4), [i(2)], f(4)),
        (f(3, 4), [i(2)], f(3)),
        (f(3, 4), [None, i(2)], f(3, 2)),
        (f(3, 4), [None, i(2)], f()),
    ),
    *aten("index_put.default", (f(3, 4), [b(3)], f()), (f(3, 4), [b(2)], f()), (f(3, 4), [b(3, 4)], f(1))),
    *each("scatter.src scatter_.src scatter_add.default scatter_add_.default", *SCATTERED),
    *each("scatter.value scatter_.value", *((*row[:3], 1.0) for row in SCATTERED)),
    *each("scatter.value_reduce scatter_.value_reduce", *((*row[:3], 1.0, {"reduce": "add"}) for row in SCATTERED)),
    *each("scatter.reduce scatter_.reduce", *((*row, {"reduce": "multiply"}) for row in SCATTERED)),
    *each("scatter_reduce.two scatter_reduce_.two", *((*row, "amax") for row in SCATTERED)),
    *aten("gather.default", (f(3, 4), 1, i(3, 2)), (f(3, 4), 0, i(2, 5)), (f(3, 4), 1, i(2, 9)), (f(3), 0, i(2, 2))),
    *each("index_add.default index_add_.default index_copy.default index_copy_.default", *SLICED),
    *each("index_reduce.default index_reduce_.default", *WITH_REDUCE),
    *aten("index_select.default", (f(3, 4), 1, i(2)), (f(3, 4), 1, i()), (f(3, 4), 2, i(2)), (f(3, 4), 1, i(1, 2))),
    *each("index_fill.int_Scalar index_fill_.int_Scalar", (f(3, 4), 1, i(2), 1.0), (f(3, 4), 1, i(1, 2), 1.0)),
    *each("index_fill.int_Tensor index_fill_.int_Tensor", (f(3, 4), 1, i(2), f()), (f(3, 4), 1, i(2), f(1))),
    *each("masked_fill.Scalar masked_fill_.Scalar", *MASKED),
    *each("masked_fill.Tensor masked_fill_.Tensor", *((*row[:2], f()) for row in MASKED), (f(2), b(2), f(2))),
    *each("masked_scatter.default masked_scatter_.default", *((*row[:2], f(6)) for row in MASKED)),
    *aten("masked_select.default", (f(2, 3), b(2, 3)), (f(2, 3), b(3)), (f(2, 3), b(2))),
    *each("put.default put_.default", (f(2, 3), i(2), f(2)), (f(2, 3), i(2, 2), f(4)), (f(2, 3), i(2), f(3))),
    *aten("take.default", (f(2, 3), i(4, 2)), (f(2, 3), i()), (f(0), i(2)), (f(2, 3), i(1, to=(6,)))),
    *aten(
        "take_along_dim.default", (f(2, 3), i(2, 1), 1), (f(2, 3), i(1, 5), 1), (f(2, 3), i(4)), (f(2, 3), i(3, 1), 1)
    ),
    *aten("take_along_dim.default", (f(2, 3), i(3), 1)),
    *aten(
        "slice_scatter.default", (f(4, 3), f(2, 3), 0, 1, 3), (f(4, 3), f(3), 0, 1, 2), (f(4, 3), f(4, 2), 1, 0, 9, 2)
    ),
    *aten("slice_scatter.default", (f(4, 3), f(3, 3), 0, 1, 3), (f(4, 3), f(4, 3))),
    *aten(
        "select_scatter.default",
        (f(4, 3), f(3), 0, 1),
        (f(4, 3), f(4), 1, -1),
        (f(4, 3), f(4), 0, 1),
        (f(4), f(), 0, 4),
    ),
    *aten("diagonal_scatter.default", (f(4, 3), f(3)), (f(4, 3), f(2), 1), (f(4, 3), f(4))),
    *aten("isin.Tensor_Tensor", (f(2, 3), f(4))),
    *aten("isin.Tensor_Scalar", (f(2, 3), 1.0)),
    *aten("isin.Scalar_Tensor", (1.0, f(4))),
    *aten("diag.default", (f(3),), (f(3, 4), 1), (f(2), -2), (f(2, 2, 2),), (f(3, 4), 5)),
    *each("copy.default copy_.default", (f(2, 3), f(3)), (f(2, 3), i(2, 1)), (f(3), f(2, 3))),
    *each("fill.Scalar fill_.Scalar", (f(2, 3), 1.5)),
    *each("fill.Tensor fill_.Tensor", (f(2, 3), f()), (f(2, 3), f(2))),
]

ORDER = [
    *each("sort.default argsort.default", *AXES, (b(3),), (z(3),)),
    *each("sort.stable argsort.stable", (f(2, 3), {"stable": True}), (f(2, 3), {"stable": True, "dim": 0})),
    *aten("msort.default", (f(2, 3),), (f(),)),
    *each("cummax.default cummin.default cumsum.default cumprod.default logcumsumexp.default", *AXES),
    *each("cumsum_.default cumprod_.default", *AXES[:3]),
    *aten("topk.default", (f(2, 5), 3), (f(2, 5), 6), (f(2, 5), 2, 0), (f(), 1), (f(3), 0), (f(2, 5), 3, 0)),
    *aten("kthvalue.default", (f(2, 5), 3), (f(2, 5), 3, 0), (f(2, 5), 2, 0, True), (f(2, 5), 0), (f(), 1), (i(4), 4)),
    *each("median.dim nanmedian.dim", (f(2, 5), 1), (f(2, 5), 0, True), (f(2, 0), 1), (f(0, 2), 1), (f(), 0)),
    *aten("mode.default", (f(2, 5),), (f(2, 5), 0, True), (f(2, 0),)),
    *each("median.default nanmedian.default", (f(2, 5),), (f(0),), (i(3),)),
    *aten("aminmax.default", (f(2, 3),), (f(2, 3), {"dim": 1}), (f(2, 3), {"dim": 0, "keepdim": True}), (f(0),)),
    *aten(
        "aminmax.default", (f(2, 3), {"keepdim": True}), (f(0, 3), {"dim": 0}), (f(0, 3), {"dim": 1}), (f(), {"dim": 0})
    ),
    *each("max.default min.default", (f(2, 3),), (f(0),), (f(),)),
    *each("max.dim min.dim", (f(2, 3), 1), (f(2, 3), 0, True), (f(2, 0), 1), (f(0, 3), 1), (f(), 0)),
    *each("max.other min.other", (f(2, 3), f(3)), (f(2, 3), f(2)), (f(3), i(3))),
    *each(
        "argmax.default argmin.default", (f(2, 3),), (f(2, 3), 1), (f(2, 3), 0, True), (f(0),), (f(2, 3), None, True)
    ),
    *each("any.default all.default", (f(2, 3),), (u(2, 3),), (f(0),)),
    *each("any.dim all.dim", (f(2, 3), 1), (b(2, 3), 0, True), (u(2, 3), 1), (f(2, 3), 2), (f(), 0)),
    *each("any.dims all.dims", (f(2, 3), (0, 1)), (f(2, 3), (1,), True), (f(2, 3),), (f(2, 3), ()), (f(2, 3), (0, 0))),
    *aten("count_nonzero.default", (f(2, 3),), (f(2, 3), 1), (f(), 0)),
    *aten("count_nonzero.dim_IntList", (f(2, 3), (0, 1)), (f(2, 3), (1,)), (f(2, 3), ())),
    *each(
        "quantile.scalar nanquantile.scalar", (f(2, 5), 0.5), (f(2, 5), 0.5, 1), (f(2, 5), 0.5, 0, True), (f(0), 0.5)
    ),
    *each("quantile.default nanquantile.default", (f(2, 5), f(3)), (f(2, 5), f(3), 1, True), (f(2, 5), f(), 1)),
    *aten("quantile.default", (f(2, 5), f(1, 2)), (f(2, 5), f(3), None, True)),
    *aten("searchsorted.Tensor", (f(5), f(2, 3)), (f(2, 5), f(2, 3)), (f(2, 5), f(3, 3)), (f(2, 5), f(3)), (f(5), f())),
    *aten("searchsorted.Tensor", (f(5), f(2), {"out_int32": True}), (f(3), f(2), {"sorter": i(3)}), (f(), f(2))),
    *aten("searchsorted.Scalar", (f(5), 1.0), (f(5, 2), 1.0)),
    *aten("bucketize.Tensor", (f(2, 3), f(4)), (f(2, 3), f(2, 2)), (f(), f(0), {"out_int32": True})),
    *aten("bucketize.Scalar", (0.5, f(4))),
    *aten("histc.default", (f(2, 3), 10), (f(2, 3),), (f(2, 3), 0), (f(0), 3)),
    *each("isnan.default isinf.default isfinite.default", (f(2, 3),), (i(2),), (z(2),)),
    *each("isposinf.default isneginf.default signbit.default", (f(2, 3),), (i(2),), (z(2),)),
    *each("isclose.default", (f(2, 3), f(3)), (f(2, 3), f(2))),
    *each("equal.default", (f(2, 3), f(3))),
    *each("allclose.default", (f(2, 3), f(3)), (f(2, 3), f(2))),
]

COUNTS = [
    *each("nonzero.default argwhere.default", (f(2, 3),), (i(0, 3),), (f(),), (b(4),)),
    *aten("nonzero_static.default", (f(2, 3), {"size": 4}), (f(), {"size": 2})),
    *aten("_unique2.default", (f(2, 3),), (f(2, 3), True, True), (f(2, 3), True, False, True), (f(0),), (f(),)),
    *aten("_unique.default", (f(2, 3),), (f(2, 3), True, True)),
    *aten(
        "unique_consecutive.default",
        (f(2, 3),),
        (f(2, 3), True, True),
        (f(2, 3), False, True),
        (f(2, 3), True, True, 1),
    ),
    *aten("unique_consecutive.default", (f(2, 3), {"dim": 0})),
    *aten("unique_dim.default", (f(2, 3), 0), (f(2, 3), 1, True, True, True), (f(2, 3), 2)),
    *aten("unique_dim_consecutive.default", (f(2, 3), 0), (f(2, 3), 1, True, True)),
    *aten("one_hot.default", (i(2, 3), 4), (i(2, 3),), (i(), 2), (i(0), 3), (i(0),), (i(2), 0)),
    *aten("bincount.default", (i(4),), (i(4), f(4)), (i(4), f(3)), (i(0), None, 5), (i(2, 2),), (i(4), i(4), 3)),
    *aten("repeat_interleave.Tensor", (i(3, to=(1, 0, 2)),), (i(2, 2),), (i(3, to=(1, 0, 2)), {"output_size": 3})),
    *aten("repeat_interleave.self_int", (f(2, 3), 2), (f(2, 3), 2, 1), (f(2, 3), 0, 0), (f(2, 3), 2, 2)),
    *aten("repeat_interleave.self_Tensor", (f(2, 3), i(3, to=(1, 0, 2)), 1), (f(2, 3), i(2, to=(1, 2)), 1)),
    *aten("multinomial.default", (f(5), 3), (f(2, 5), 5), (f(2, 5), 6), (f(2, 5), 6, True), (f(1, 2, 5), 1)),
]

VIEWS = [
    *aten("repeat.default", (f(2, 3), (2, 2)), (f(2, 3), (4, 1, 0)), (f(2, 3), (2,)), (f(), (3,))),
    *aten("tile.default", (f(2, 3), (2,)), (f(2, 3), (4, 1, 2)), (f(2, 3), ())),
    *each("broadcast_to.default expand_copy.default", (f(3), (2, 3)), (f(2, 1), (-1, 4)), (f(2), (3,))),
    *aten("flip.default", (f(2, 3), (0, 1)), (f(2, 3), (2,)), (f(2, 3), (0, 0)), (f(0), (0,))),
    *aten("roll.default", (f(2, 3), (1,)), (f(2, 3), (1, 2), (0, 1)), (f(2, 3), (1,), (2,)), (f(2, 3), (1,), (0, 1))),
    *each("movedim.int moveaxis.int", (f(2, 3, 4), 0, 2), (f(2, 3, 4), -1, 0), (f(2, 3), 0, 2)),
    *each("movedim.intlist moveaxis.intlist", (f(2, 3, 4), (0, 1), (2, 0)), (f(2, 3, 4), (0, 1), (2,))),
    *each("swapaxes.default swapaxes_.default swapdims.default swapdims_.default", (f(2, 3, 4), 0, -1), (f(2), 0, 1)),
    *each("transpose_.default transpose_copy.int", (f(2, 3, 4), 0, -1), (f(), 0, -1)),
    *aten("permute_copy.default", (f(2, 3, 4), (2, 0, 1)), (f(2, 3, 4), (2, 0)), (f(2, 3), (0, 0))),
    *each("t_.default t_copy.default", (f(2, 3),), (f(2),), (f(2, 3, 4),)),
    *each("mT.default mH.default", (f(2, 3, 4),), (f(2, 3),), (f(2),)),
    *each("adjoint.default", (f(2, 3, 4),), (f(2),)),
    *each("matrix_H.default", (f(3, 4),), (f(2),), (f(2, 3, 4),)),
    *aten("numpy_T.default", (f(2, 3, 4),), (f(2),), (f(),)),
    *each("view_copy.default _reshape_copy.default", (f(2, 3), (3, -1)), (f(2, 3), (4, 2))),
    *aten("ravel.default", (f(2, 3),), (f(),)),
    *each("squeeze_.default squeeze_copy.default", (f(2, 1),)),
    *each("squeeze_.dim squeeze_copy.dim", (f(2, 1), 1), (f(2, 1), 0), (f(2, 1), 2)),
    *each(
        "squeeze_.dims squeeze_copy.dims",
        (f(1, 2, 1), (0, 2)),
    ),
    *each("unsqueeze_.default unsqueeze_copy.default", (f(2, 3), -1), (f(2, 3), 3), (f(), 0)),
    *each("alias_copy.default detach_copy.default resolve_conj.default resolve_neg.default", (f(2, 3),)),
    *each("positive.default", (f(2, 3),), (b(2),)),
    *each("as_strided.default as_strided_copy.default", (f(6), (2, 2), (2, 1)), (f(6), (2, 2), (1,))),
    *each("fliplr.default flipud.default", (f(2, 3),), (f(2),), (f(),)),
    *aten("rot90.default", (f(2, 3),), (f(2, 3), 2), (f(2, 3, 4), 3, (1, 2)), (f(2),)),
    *each("atleast_1d.default atleast_2d.default atleast_3d.default", (f(),), (f(3),), (f(2, 3),), (f(1, 2, 3),)),
    *each("atleast_1d.Sequence atleast_2d.Sequence atleast_3d.Sequence", ([f(), f(3)],)),
    *each(
        "unfold.default unfold_copy.default", (f(2, 7), 1, 3, 2), (f(2, 7), 0, 3, 1), (f(), 0, 1, 1), (f(7), 0, 3, 0)
    ),
    *aten("broadcast_tensors.default", ([f(2, 1), f(3)],), ([f(2), f(3)],)),
    *aten("meshgrid.default", ([f(2), f(3)],), ([f(2), f()],), ([f(2, 3), f(3)],)),
    *aten("meshgrid.indexing", ([f(2), f(3), f(4)], {"indexing": "xy"}), ([f(2), f(3)], {"indexing": "ij"})),
    *aten("cartesian_prod.default", ([f(2), f(3)],), ([f(2)],), ([f(2, 2)],)),
    *aten("block_diag.default", ([f(2, 3), f(4), f()],), ([f(1, 2, 3)],)),
    *each("hstack.default vstack.default dstack.default", ([f(3), f(2)],), ([f(2, 3), f(2, 3)],), ([f(), f()],)),
    *each("hstack.default vstack.default", ([f(2, 3), f(2, 4)],), ([f(2, 3), f(1, 3)],)),
    *aten("column_stack.default", ([f(3), f(3, 2)],), ([f(), f(1, 2)],), ([f(3), f(2, 2)],)),
    *each("hsplit.int vsplit.int", (f(4, 6), 2), (f(4, 6), 5), (f(6), 3)),
    *each(
        "hsplit.array vsplit.array",
        (f(4, 6), (1, 3)),
    ),
    *aten("dsplit.int", (f(2, 3, 4), 2), (f(2, 3), 1)),
    *aten(
        "dsplit.array",
        (f(2, 3, 4), (1, 2)),
    ),
    *each("tensor_split.sections", (f(7, 2), 3), (f(7, 2), 0), (f(), 1)),
    *each("tensor_split.indices", (f(7, 2), (2, 5)), (f(7, 2), (1,), 1)),
    *aten("slice_copy.Tensor", (f(5), 0, 1, 3), (f(5), 0, 1, 9, 2)),
    *aten("select_copy.int", (f(5, 2), 0, 1), (f(5, 2), 0, 5)),
    *aten("narrow_copy.default", (f(5), 0, 1, 3), (f(5), 0, 3, 3)),
    *each("concat.default concatenate.default", ([f(2, 3), f(4, 3)],), ([f(2, 3), f(2, 4)], 1), ([f(2, 3), f(2, 4)],)),
    *aten("unbind_copy.int", (f(2, 3),), (f(2, 3), 1)),
    *each("unsafe_chunk.default", (f(7, 2), 3), (f(7, 2), 0)),
    *each(
        "unsafe_split.Tensor split_copy.Tensor split.Tensor",
        (f(7, 2), 3),
    ),
    *each("split_with_sizes_copy.default unsafe_split_with_sizes.default", (f(7, 2), (3, 4)), (f(7, 2), (3, 3))),
    *aten("split.sizes", (f(7, 2), (3, 4)), (f(7, 2), (3, 3))),
    *aten("diff.default", (f(2, 5),), (f(2, 5), 2, 0), (f(2, 5), 9), (f(),), (f(2, 5), 1, 1, f(2, 1), f(2, 2))),
    *aten("diff.default", (f(2, 5), 0), (f(2, 5), 1, 1, f(3, 1))),
]

MATRICES = [
    *each(
        "diagonal.default diagonal_copy.default",
        (f(3, 4),),
        (f(3, 4), 2),
        (f(3, 4), -5),
        (f(2, 3, 4), 0, 1, 2),
        (f(3),),
    ),
    *aten("linalg_diagonal.default", (f(2, 3, 4),), (f(2, 3, 4), {"offset": -1})),
    *aten("diag_embed.default", (f(2, 3),), (f(2, 3), 1), (f(2, 3), -1, 0, 2), (f(),), (f(3), 0, 0, 0)),
    *aten("diagflat.default", (f(2, 3),), (f(3), -2), (f(),)),
    *each("tril.default triu.default tril_.default triu_.default", (f(3, 4),), (f(2, 3, 4), 1), (f(3),)),
    *aten("trace.default", (f(3, 4),), (i(3, 3),), (f(2, 3, 4),)),
    *each("outer.default ger.default", (f(2), f(3)), (f(2), i(3)), (f(2, 2), f(3))),
    *each("dot.default vdot.default", (f(3), f(3)), (f(3), f(4)), (f(3, 3), f(3))),
    *aten("mv.default", (f(2, 3), f(3)), (f(2, 3), f(2))),
    *aten("inner.default", (f(2, 3), f(4, 3)), (f(2, 3), f()), (f(3), f(3)), (f(2, 3), f(3, 4))),
    *aten("linalg_vecdot.default", (f(2, 3), f(3)), (f(2, 3), f(2, 3), {"dim": 0}), (f(2, 3), f(2))),
    *aten("kron.default", (f(2, 3), f(4, 5)), (f(2), f(4, 5)), (f(), f(2)), (f(2), i(2))),
    *aten(
        "tensordot.default",
        (f(2, 3, 4), f(4, 3), (1, 2), (1, 0)),
        (f(2, 3), f(4, 5), (), ()),
        (f(2, 3), f(2), (1,), (0,)),
    ),
    *aten("tensordot.default", (f(2, 1), f(3), (1,), (0,)), (f(2, 3), f(3), (1,), ())),
    *each("addmv.default addmv_.default", (f(2), f(2, 3), f(3)), (f(3), f(2, 3), f(3))),
    *aten("addmv.default", (f(), f(2, 3), f(3)), (f(1), f(2, 3), f(3))),
    *each("addr.default addr_.default", (f(2, 3), f(2), f(3)), (f(3, 3), f(2), f(3))),
    *each("addbmm.default addbmm_.default", (f(2, 3), f(5, 2, 4), f(5, 4, 3)), (f(2, 3), f(5, 2, 4), f(4, 4, 3))),
    *aten("addbmm.default", (f(3), f(5, 2, 4), f(5, 4, 3))),
    *aten("baddbmm.default", (f(5, 2, 3), f(5, 2, 4), f(5, 4, 3)), (f(3), f(5, 2, 4), f(5, 4, 3))),
    *each("linalg_multi_dot.default chain_matmul.default", ([f(2, 3), f(3, 4), f(4, 5)],), ([f(2, 3), f(4, 5)],)),
    *aten("linalg_multi_dot.default", ([f(3), f(3, 4), f(4)],)),
    *each("linalg_matmul.default", (f(2, 3), f(3, 4)), (f(2, 3), f(2, 4))),
    *each("linalg_inv.default inverse.default linalg_matrix_exp.default", (f(2, 3, 3),), (f(2, 3),), (f(3),)),
    *each("linalg_inv_ex.default", (f(2, 3, 3),), (f(2, 3),)),
    *each(
        "linalg_cholesky.default cholesky.default linalg_cholesky_ex.default cholesky_inverse.default",
        (f(2, 2, to=(1, 0, 0, 1)),),
        (f(2, 3),),
    ),
    *each("linalg_matrix_power.default matrix_power.default", (f(2, 3, 3), 3), (f(2, 3), 2)),
    *each(
        "linalg_det.default det.default logdet.default linalg_slogdet.default slogdet.default",
        (f(2, 3, 3),),
        (f(2, 3),),
    ),
    *each("_linalg_det.default _linalg_slogdet.default", (f(2, 3, 3),), (f(2, 3),)),
    *each(
        "linalg_eig.default linalg_eigvals.default linalg_eigh.default linalg_eigvalsh.default",
        (f(2, 3, 3),),
        (f(2, 3),),
    ),
    *each("_linalg_eigh.default _linalg_eigvals.default", (f(2, 3, 3),)),
    *aten("linalg_svd.default", (f(2, 3, 4),), (f(3, 4), False), (f(3),)),
    *aten("_linalg_svd.default", (f(3, 4),), (f(3, 4), True)),
    *aten("svd.default", (f(2, 3, 4),), (f(3, 4), False)),
    *aten("linalg_svdvals.default", (f(2, 3, 4),)),
    *aten("linalg_qr.default", (f(2, 3, 4),), (f(4, 3), "complete"), (f(4, 3), "r"), (f(3),)),
    *aten("qr.default", (f(4, 3),), (f(4, 3), False)),
    *each("linalg_lu.default linalg_lu_factor.default linalg_lu_factor_ex.default", (f(2, 3, 4),), (f(4, 3),)),
    *aten("linalg_pinv.default", (f(2, 3, 4), 1e-5)),
    *each("linalg_pinv.atol_rtol_float pinverse.default", (f(2, 3, 4),)),
    *aten("linalg_pinv.rcond_tensor", *((f(*m), f(*t)) for m, t in PINV)),
    *aten("linalg_pinv.atol_rtol_tensor", *((f(*m), {"atol": f(*t)}) for m, t in PINV), (f(3, 4), {"rtol": f(5)})),
    *aten("linalg_matrix_rank.default", (f(2, 3, 4), 1e-5)),
    *aten("linalg_matrix_rank.atol_rtol_float", (f(2, 3, 4),)),
    *each(
        "linalg_solve.default linalg_solve_ex.default _linalg_solve_ex.default",
        (f(2, 2, to=(1, 0, 0, 1)), f(2, 3)),
        (f(2, 2, to=(1, 0, 0, 1)), f(2)),
        (f(2, 2, to=(1, 0, 0, 1)), f(3, 2)),
        (f(1, 2, 2, to=(1, 0, 0, 1)), f(1, 2)),
        (f(1, 2, 2, to=(1, 0, 0, 1)), f(4, 2, 3)),
    ),
    *aten("linalg_solve.default", (f(2, 2, to=(1, 0, 0, 1)), f(3, 2), {"left": False})),
    *aten(
        "linalg_solve_triangular.default", (f(2, 3, 3), f(3, 4), {"upper": True}), (f(3, 3), f(4, 3), {"upper": True})
    ),
    *aten("triangular_solve.default", (f(3, 4), f(2, 3, 3)), (f(4, 3), f(3, 3))),
    *aten("cholesky_solve.default", (f(3, 4), f(2, 3, 3)), (f(4, 3), f(3, 3))),
    *aten("_linalg_check_errors.default", (Tensor("int32", (2,)), "x", {"is_matrix": False})),
    *each("cdist.default", (f(2, 3, 4), f(5, 4)), (f(3, 4), f(5, 3))),
    *aten("_cdist_forward.default", (f(2, 3, 4), f(2, 5, 4), 2.0, None)),
    *aten("_euclidean_dist.default", (f(3, 4), f(5, 4))),
    *aten("pdist.default", (f(5, 3),), (f(1, 3),), (f(3),)),
    *aten("cross.default", (f(2, 3), f(2, 3)), (f(2, 4), f(2, 4)), (f(2, 3), f(2, 3), 0)),
    *aten(
        "linalg_cross.default", (f(2, 3), f(1, 3)), (f(3, 4), f(3, 4)), (f(3, 4), f(3, 4), {"dim": 0}), (f(2, 3), f(3))
    ),
    *aten("einsum.default", ("ij,jk->ik", [f(2, 3), f(3, 4)])),
]

TRANSFORMS = [
    *(
        made
        for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for made in (
            *aten(f"fft_{kind}.default", (f(2, 8),), (f(2, 8), 5), (f(2, 8), None, 0), (f(2, 0),)),
            *aten(f"fft_{kind}2.default", (f(2, 4, 6),), (f(4, 6), (3, 5)), (f(6),)),
            *aten(f"fft_{kind}n.default", (f(2, 4, 6),), (f(2, 4, 6), None, (0, 1)), (f(4, 6), (3,))),
        )
    ),
    *aten("_fft_c2c.default", (z(2, 8), (1,), 0, True)),
    *aten("_fft_r2c.default", (f(2, 8), (0, 1), 0, True), (f(2, 8), (1,), 0, False)),
    *aten("_fft_c2r.default", (z(2, 5), (1,), 0, 8)),
    *each("fft_fftshift.default fft_ifftshift.default", (f(2, 3),), (f(2, 3), (1,)), (f(2, 3), (2,))),
    *aten(
        "stft.default", (f(2, 40), 16, 4, 16, f(16), False, True, True), (f(10), 16, 4, 16, f(16), False, True, True)
    ),
    *aten("stft.center", (f(2, 40), 16, 4, 16, f(16), True, "reflect", False, True, True)),
    *aten("istft.default", (z(2, 9, 11), 16, 4, 16, f(16)), (z(2, 8, 11), 16, 4, 16, f(16))),
    *each("real.default imag.default", (z(2, 3),)),
    *aten("real.default", (f(2, 3),)),
    *aten("imag.default", (f(2, 3),)),
    *each("view_as_real.default view_as_real_copy.default", (z(2, 3),), (f(2),)),
    *each("view_as_complex.default view_as_complex_copy.default", (f(3, 2),), (f(3, 3),)),
    *aten("complex.default", (f(2, 1), f(3)), (f(2), f(3)), (f(2), Tensor("float64", (2,)))),
    *aten("polar.default", (f(2, 1), f(3)), (f(2), f(3))),
    *aten("angle.default", (z(2, 3),), (f(2),), (i(2),)),
    *each(
        "conj.default _conj.default conj_physical.default conj_physical_.default sgn.default _conj_copy.default",
        (z(2, 3),),
    ),
    *each("bitwise_not.default bitwise_not_.default", (i(2, 3),), (b(2),), (f(2),)),
]

NEW = [
    *aten("eye.default", (3,), (3, {"dtype": "int64"}), (-1,)),
    *aten("eye.m", (3, 4), (0, 4)),
    *(
        made
        for kind in ("tril_indices", "triu_indices")
        for made in aten(
            f"{kind}.default",
            *(
                (rows, columns, offset)
                for rows in (0, 3, 5)
                for columns in (0, 2, 6)
                for offset in (-7, -2, 0, 1, 3, 9)
            ),
            (3, 3, {"dtype": "int32"}),
        )
    ),
    *each("linspace.default logspace.default", (0.0, 1.0, 5), (0, 1, 0), (0, 1, 5, {"dtype": "int64"}), (0, 1, -1)),
    *each("linspace.Tensor_Tensor logspace.Tensor_Tensor", (f(), f(), 5), (f(1), f(), 5)),
    *each("linspace.Tensor_Scalar logspace.Tensor_Scalar", (f(), 1.0, 5)),
    *each("linspace.Scalar_Tensor logspace.Scalar_Tensor", (0.0, f(), 5)),
    *aten(
        "new_full.default", (f(2), (3, 4), 1), (i(2), (3,), 2.5), (f(2), (3,), 1, {"dtype": "int32"}), (f(2), (-1,), 1)
    ),
    *aten("zero_.default", (f(2, 3),), (b(2),)),
    *each("rand.default randn.default", ((2, 3),), ((2,), {"dtype": "float64"}), ((-1,),)),
    *each("rand.generator randn.generator", ((2, 3), {"generator": None})),
    *each("rand_like.default", (f(2, 3),), (f(2, 3), {"dtype": "float64"})),
    *each("rand_like.generator randn_like.generator", (f(2, 3), {"generator": None})),
    *aten("new_empty.default", (f(2), (3, 4)), (f(2), (3,), {"dtype": "int64"})),
    *aten("new_empty_strided.default", (f(2), (3, 4), (4, 1))),
    *aten("empty_strided.default", ((3, 4), (4, 1))),
    *aten("empty_permuted.default", ((3, 4), (1, 0))),
    *aten("randint.default", (5, (2, 3)), (5, (2,), {"dtype": "int32"})),
    *aten("randint.low", (1, 5, (2, 3))),
    *aten("randint.generator", (5, (2, 3), {"generator": None})),
    *aten("randint.low_generator", (1, 5, (2, 3), {"generator": None})),
    *aten("randint_like.default", (f(2, 3), 5), (f(2, 3), 5, {"dtype": "int64"})),
    *aten("randint_like.low_dtype", (i(2, 3), 1, 5)),
    *aten("randint_like.generator", (f(2, 3), 5, {"generator": None})),
    *aten("randint_like.low_generator_dtype", (i(2, 3), 1, 5, {"generator": None})),
    *aten("randperm.default", (5,), (0,), (-1,)),
    *aten("randperm.generator", (5, {"generator": None})),
    *aten("bernoulli.default", (f(2, 3),)),
    *aten("bernoulli.p", (f(2, 3), 0.5)),
    *aten("bernoulli_.float", (f(2, 3), 0.5)),
    *aten("bernoulli.Tensor", (f(2, 3), f(2, 3)), (f(2, 3), f(3)), (f(2, 3), f(2))),
    *aten("bernoulli_.Tensor", (f(2, 3), f(2, 3)), (f(2, 3), f(3)), (f(2, 3), f(2))),
    *each(
        "uniform_.default normal_.default normal_functional.default exponential_.default random_.default", (f(2, 3),)
    ),
    *aten("random_.from", (f(2, 3), 1, 5)),
    *aten("random_.to", (f(2, 3), 5)),
    *aten("normal.Tensor_float", (f(2, 3), 1.0)),
    *aten("normal.float_Tensor", (0.0, f(2, 3))),
    *aten("normal.Tensor_Tensor", (f(2, 1), f(3)), (f(2), f(3))),
    *aten("normal.float_float", (0.0, 1.0, (2, 3))),
    *each("hann_window.default hamming_window.default blackman_window.default bartlett_window.default", (5,), (0,)),
    *each("hann_window.periodic hamming_window.periodic blackman_window.periodic bartlett_window.periodic", (5, False)),
    *each("fft_fftfreq.default fft_rfftfreq.default", (5,), (6, 0.5)),
]

CASES: list[Call] = [*INDEXING, *ORDER, *COUNTS, *VIEWS, *MATRICES, *TRANSFORMS, *NEW]
