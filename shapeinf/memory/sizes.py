"""Bytes of values as dims, or the cause where they are not known."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from shapeinf.errors import BytesError
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import (
    HandleType,
    MapType,
    OptionalType,
    SequenceType,
    Shape,
    ShapeStore,
    TensorType,
    Type,
    element_bits,
)
from shapeinf.lattice.dtypes import HANDLES
from shapeinf.layout import Layout, physical_byte_size
from shapeinf.memory.layouts import physical_array
from shapeinf.solver.long_dims import product_of, sum_dims


class Size(NamedTuple):
    """The bytes of a value; None where they are unknown, and then `cause` has the reason."""

    bytes: DimSize | None
    cause: str = ""


def size_of(store: ShapeStore, value: Type | None) -> Size:
    """The bytes of a value of this type under the constraints; elements of less than a byte are packed.

    >>> store = ShapeStore()
    >>> n = store.scope.symbol("N")
    >>> size_of(store, TensorType("float32", Shape((n, 8)))).bytes
    32*N
    >>> size_of(store, TensorType("int4", Shape((3, n)))).bytes
    N + (N + 1)//2
    >>> size_of(store, TensorType("string", Shape((2,)))).cause
    'strings have no fixed size'
    """
    if value is None:
        return Size(None, "its type is not known")
    if isinstance(value, SequenceType):
        return _size_of_container(store, value)
    if value.dtype == "variant":
        return size_of_items(store, value)
    if value.dtype == "resource":
        return Size(0)  # what it refers to is elsewhere
    return size_of_tensor(store, value.dtype, value.shape)


def size_of_items(store: ShapeStore, handle: TensorType) -> Size:
    """The bytes of the items of a list, or of an array of tensors, behind a handle."""
    shape = store.canon_shape(handle.shape)
    if not isinstance(handle, HandleType) or handle.values is None or handle.length is None or shape.dims is None:
        return Size(None, _no_width(handle.dtype))
    if not handle.values:
        return Size(0)  # no item has a value so far
    item = handle.values[0]
    each = (
        size_of(store, item)
        if _is_uniform(store, item)
        else Size(None, "the sizes of the items of a list are not known")
    )
    return (
        each
        if each.bytes is None
        else _size_or_cause(product_of(store, (each.bytes, store.canon(handle.length), *shape)))
    )


def size_of_weight(store: ShapeStore, value: Type) -> Size:
    """The bytes of a weight; for the handle of a variable, those of the variable."""
    if isinstance(value, HandleType) and value.values is not None and len(value.values) == 1:
        return size_of(store, value.values[0])
    return size_of(store, value)


def _is_uniform(store: ShapeStore, item: Type) -> bool:
    """Whether all items of this type have one size: an unknown dim, unless of an input, may differ between items."""
    return isinstance(item, TensorType) and all(
        not s.symbol.anonymous or s in store.assumable for d in item.shape.symbols() for s in d.symbols()
    )


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
    return _size_or_cause(total)


def size_in_layout(store: ShapeStore, tensor: TensorType, layout: Layout) -> Size:
    """The bytes of a tensor of known rank with a layout: those of its physical array, padding included.

    >>> store = ShapeStore()
    >>> n = store.scope.symbol("N")
    >>> size_in_layout(store, TensorType("float32", Shape((n, 100))), Layout((1, 0), tiles=[(8, 128)])).bytes
    4096*((N + 7)//8)
    """
    capped = len(store.scope.capped)
    array = physical_array(TensorType(tensor.dtype, store.canon_shape(tensor.shape)), layout)
    total = store.canon(physical_byte_size(array))
    return _size_or_cause(None if len(store.scope.capped) != capped else total)


def _no_width(dtype: str | None) -> str:
    if dtype == "string":
        return "strings have no fixed size"
    if dtype in HANDLES:
        return f"it is a handle ({dtype}); what it refers to is not known"
    return "its element type is not known" if dtype is None else f"the size of an element of type {dtype} is not known"


def _size_of_container(store: ShapeStore, container: SequenceType) -> Size:
    """The bytes of all items of a sequence, where each is known or all have one type; of an optional, of its value.

    Where the sizes of items differ, one symbol may stand for several of them, and the size is not known.
    """
    if isinstance(container, MapType):
        return Size(None, "a map has no fixed size")
    if isinstance(container, OptionalType):
        return size_of(store, container.element)
    if container.items is not None:
        sizes = [size_of(store, item) for item in container.items]
        unsized = next((size for size in sizes if size.bytes is None), None)
        return unsized or Size(sum_dims(store.scope, [size.bytes for size in sizes if size.bytes is not None]))
    inner = container.element
    if container.length is None or not _is_uniform(store, inner):
        return Size(None, "the sizes of the items of a sequence are not known")
    each = size_of(store, inner)
    return each if each.bytes is None else _size_or_cause(product_of(store, (each.bytes, container.length)))


_TOO_LONG = "its size, or the formula of it, is too long"


def _size_or_cause(total: DimSize | None) -> Size:
    return Size(None, _TOO_LONG) if total is None else Size(total)


def too_long(symbols: Iterable[Dimension]) -> str:
    """The cause where one of these symbols stands for a formula past a cap; empty where none does.

    >>> from shapeinf.expr import Scope
    >>> scope = Scope()
    >>> too_long([scope.symbol("N"), scope.opaque("a sum of 64 and 1 terms, past the limit of 64 terms", 0, None)])
    'its size, or the formula of it, is too long: a sum of 64 and 1 terms, past the limit of 64 terms'
    """
    reasons = (symbol.scope.capped.get(symbol) for symbol in sorted(symbols, key=str))
    return next((f"{_TOO_LONG}: {reason}" for reason in reasons if reason), "")


_AMOUNT = re.compile(r"\s*(\d{1,30}(?:\.\d{1,30})?)\s*([kmgtp]?)(i?)(b?|bytes?)\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def parse_bytes(amount: object) -> int:
    """An amount of memory in bytes, rounded down. Raises BytesError.

    `KiB`, `MiB`, `GiB`, `TiB` and `PiB` are powers of 1024, `kB` to `PB` powers of 1000, in any case of letters.

    >>> parse_bytes("64MiB"), parse_bytes("1.5 GB"), parse_bytes(4096)
    (67108864, 1500000000, 4096)
    """
    if isinstance(amount, str):
        match = _AMOUNT.fullmatch(amount)
        if match is None or (match[3] and not match[2]) or (match[2] and match[4].lower().startswith("byte")):
            raise BytesError(amount)
        base = 1024 if match[3] else 1000
        return int(Fraction(match[1]) * base ** _POWERS[match[2].lower()])
    try:
        number = -1 if isinstance(amount, bool) else operator.index(amount)  # type: ignore[arg-type]
    except TypeError:
        raise BytesError(amount) from None
    if number < 0:
        raise BytesError(amount)
    return number
