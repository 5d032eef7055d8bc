"""Bytes of values, as dims; what has no such number says why."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import NamedTuple

from shapeinf.expr import Dim, Dimension
from shapeinf.expr.dimension import MAX_DEGREE, MAX_TERMS, Monomial, Scope, terms_of
from shapeinf.lattice import MapType, OptionalType, SequenceType, Shape, ShapeStore, TensorType, Type, element_bits
from shapeinf.solver.long_sums import sum_dims

MAX_SIZE_TERMS = 4096
"""A size of more terms than this is no help to anybody, and a hostile file could ask for any number of them."""
MAX_BITS = 4096
"""Numbers of more bits than this are no sizes, and Python prints no number of more than about 14,000 bits."""


class Size(NamedTuple):
    """The bytes of a value; None where they are not known, and then `cause` says why."""

    bytes: Dim | None
    cause: str = ""


def size_of(store: ShapeStore, found: Type | None) -> Size:
    """The bytes of a value of this type under the facts; elements of less than a byte are packed.

    >>> store = ShapeStore()
    >>> n = store.scope.symbol("N")
    >>> size_of(store, TensorType("float32", Shape((n, 8)))).bytes
    32*N
    >>> size_of(store, TensorType("int4", Shape((3, n)))).bytes
    N + (N + 1)//2
    >>> size_of(store, TensorType("string", Shape((2,)))).cause
    'strings have no fixed size'
    """
    if found is None:
        return Size(None, "no node has made it")
    if isinstance(found, SequenceType):
        return _size_of_container(store, found)
    return size_of_tensor(store, found.dtype, found.shape)


def size_of_tensor(store: ShapeStore, dtype: str | None, shape: Shape) -> Size:
    """The bytes of a tensor; see `size_of`."""
    bits = element_bits(dtype)
    if bits is None:
        return Size(None, _no_width(dtype))
    shape = store.canon_shape(shape)
    if shape.dims is None:
        return Size(None, "its rank is not known")
    width = bits // 8 if bits % 8 == 0 else bits
    total = product_of(store, (width, *shape.dims))
    if total is not None and bits % 8:
        capped = len(store.scope.capped)
        total = (total + 7) // 8
        total = None if len(store.scope.capped) != capped else total
    return _sized(total)


def _no_width(dtype: str | None) -> str:
    if dtype == "string":
        return "strings have no fixed size"
    return "its element type is not known" if dtype is None else f"the size of an element of type {dtype} is not known"


def _size_of_container(store: ShapeStore, found: SequenceType) -> Size:
    """A sequence has the bytes of its items where they are known one by one or are all alike; an optional, its value's.

    Where the sizes of items differ, one symbol may stand for several of them: then nothing is claimed.
    """
    if isinstance(found, MapType):
        return Size(None, "a map has no fixed size")
    if isinstance(found, OptionalType):
        return size_of(store, found.element)
    if found.items is not None:
        sizes = [size_of(store, item) for item in found.items]
        unsized = next((size for size in sizes if size.bytes is None), None)
        return unsized or Size(sum_dims(store.scope, [size.bytes for size in sizes if size.bytes is not None]))
    inner = found.element
    alike = isinstance(inner, TensorType) and not any(d.is_anonymous for d in inner.shape.symbols())
    if found.length is None or not alike:
        return Size(None, "the sizes of the items of a sequence are not known")
    each = size_of(store, inner)
    return each if each.bytes is None else _sized(product_of(store, (each.bytes, found.length)))


_TOO_LONG = "its size, or the formula of it, is too long"


def _sized(total: Dim | None) -> Size:
    return Size(None, _TOO_LONG) if total is None else Size(total)


def too_long(symbols: Iterable[Dimension]) -> str:
    """What is to be said where one of these symbols stands for a formula past a cap; empty where none does.

    >>> scope = Scope()
    >>> too_long([scope.symbol("N"), scope.opaque("a sum of 64 and 1 terms, past the limit of 64 terms", 0, None)])
    'its size, or the formula of it, is too long: a sum of 64 and 1 terms, past the limit of 64 terms'
    """
    reasons = (symbol.scope.capped.get(symbol) for symbol in sorted(symbols, key=str))
    return next((f"{_TOO_LONG}: {reason}" for reason in reasons if reason), "")


def product_of(store: ShapeStore, factors: Iterable[Dim]) -> Dim | None:
    """The product of canonical dims, past the caps of the algebra too; None past `MAX_SIZE_TERMS` or `MAX_BITS`."""
    constant = 1
    symbolic: list[Dimension] = []
    for factor in factors:
        if isinstance(factor, int):
            constant *= factor
        else:
            symbolic.append(factor)
    if constant.bit_length() > MAX_BITS:
        return None
    if not symbolic or constant == 0:
        return constant
    terms = prod(len(d.terms) for d in symbolic)
    degree = sum(max(len(monomial) for monomial, _ in d.terms) for d in symbolic)
    if terms > MAX_SIZE_TERMS:
        return None
    if terms <= MAX_TERMS and degree <= MAX_DEGREE and constant < 1 << 63:
        capped = len(store.scope.capped)
        total = constant * prod(symbolic[1:], start=symbolic[0])
        canonical = store.canon(total)
        if len(store.scope.capped) == capped:
            return canonical
    found = _long_product(store.scope, constant, symbolic)
    return None if any(c.bit_length() > MAX_BITS for _, c in terms_of(store.scope, found)) else found


def _long_product(scope: Scope, constant: int, factors: Iterable[Dimension]) -> Dim:
    total: dict[Monomial, int] = {(): constant}
    for factor in factors:
        product: dict[Monomial, int] = {}
        for m, c in total.items():
            for n, k in factor.terms:
                monomial = tuple(sorted(m + n))
                product[monomial] = product.get(monomial, 0) + c * k
        total = product
    return scope.make(total)
