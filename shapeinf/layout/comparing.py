"""Equality of types in memory, exact or ignoring some aspects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import LayoutError
from shapeinf.layout.array_type import ArrayType, PhysicalType, TupleType
from shapeinf.layout.proofs import Proofs, every

Aspect = Literal["dtype", "float precision", "layout", "dynamic"]
"""Aspects that a comparison may ignore. Unless "dynamic" is ignored, a dim without a bound equals only another one."""

_ASPECTS = frozenset({"dtype", "float precision", "layout", "dynamic"})


def equal(
    a: PhysicalType, b: PhysicalType, *, ignoring: Iterable[Aspect] = (), store: ConstraintStore | None = None
) -> bool | None:
    """Whether both are equal in all aspects that are not ignored: always, never, or not decided.

    >>> equal(ArrayType("bf16", (3, 2)), ArrayType("f32", (3, 2)), ignoring=["float precision"])
    True
    """
    ignored_aspects = frozenset(ignoring)
    if not ignored_aspects <= _ASPECTS:
        raise LayoutError(f"cannot ignore {sorted(ignored_aspects - _ASPECTS)}, only {sorted(_ASPECTS)}")

    def arrays(x: ArrayType, y: ArrayType) -> bool | None:
        if "dynamic" not in ignored_aspects and x.dynamic != y.dynamic:
            return False
        if "dynamic" not in ignored_aspects and [d is None for d in x.dims] != [d is None for d in y.dims]:
            return False
        if not _same_dtype(x, y, ignored_aspects) or ("layout" not in ignored_aspects and x.layout != y.layout):
            return False
        return same_dims(x, y, store)

    return _compare(a, b, arrays)


def compatible(
    a: PhysicalType,
    b: PhysicalType,
    *,
    ignoring: Iterable[Literal["dtype", "float precision"]] = (),
    store: ConstraintStore | None = None,
) -> bool | None:
    """Whether both have the same element types and dims, whatever their layouts and whichever dims are bounds.

    A dim without a bound matches any. This is XLA's term: unlike merged shapes, compatible types need not
    have a value in common.

    >>> compatible(ArrayType("f32", (4,), dynamic=(True,)), ArrayType("f32", (4,)))
    True
    """
    return equal(a, b, ignoring=[*ignoring, "layout", "dynamic"], store=store)


def same_dims(a: ArrayType, b: ArrayType, store: ConstraintStore | None = None) -> bool | None:
    """Whether both have the same dims, where a dim without a bound matches any: always, never, or not decided.

    >>> same_dims(ArrayType("f32", (None, 3)), ArrayType("s8", (4, 3)))
    True
    """
    if a.rank != b.rank:
        return False
    proofs = Proofs(store, (*a.dims, *b.dims))
    return every(proofs.equal(x, y) for x, y in zip(a.dims, b.dims, strict=True) if x is not None and y is not None)


def layouts_equal(a: PhysicalType, b: PhysicalType) -> bool:
    """Whether all arrays have the same layout, so the same rank too; dims and element types are not compared.

    Values other than arrays have no layout and match each other (XLA matches a token with an array, but not an array
    with a token).

    >>> layouts_equal(ArrayType("f32", (2, 3)), ArrayType("s8", (5, 5)))
    True
    """
    if isinstance(a, TupleType) or isinstance(b, TupleType) or isinstance(a, ArrayType) or isinstance(b, ArrayType):
        return bool(_compare(a, b, lambda x, y: x.layout == y.layout, others=True))
    return True


def _compare(
    a: PhysicalType,
    b: PhysicalType,
    arrays: Callable[[ArrayType, ArrayType], bool | None],
    others: bool | None = None,
) -> bool | None:
    """Element by element; `others` is the answer for two that are neither tuple nor array, None to compare them."""
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        if len(a.elements) != len(b.elements):
            return False
        return every(_compare(x, y, arrays, others) for x, y in zip(a.elements, b.elements, strict=True))
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        return arrays(a, b)
    if isinstance(a, TupleType | ArrayType) or isinstance(b, TupleType | ArrayType):
        return False
    return a == b if others is None else others


def _same_dtype(a: ArrayType, b: ArrayType, ignored: frozenset[str]) -> bool:
    if a.dtype == b.dtype or "dtype" in ignored:
        return True
    return "float precision" in ignored and a.element.kind == b.element.kind == "float"
