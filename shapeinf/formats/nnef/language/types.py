"""The types of the NNEF language: primitives, tensors, arrays, tuples.

Source: NNEF 1.0.5, 3.3.1 "Types". The same classes are types in declarations and types of expressions.
"""

from __future__ import annotations

from typing import Literal, Union

import attrs

PrimitiveName = Literal["integer", "scalar", "logical", "string", "?"]


@attrs.frozen(cache_hash=True)
class Primitive:
    """A value that is known when the graph is built; `?` stands for the type argument of a generic fragment."""

    name: PrimitiveName

    def __str__(self) -> str:
        """As in NNEF text."""
        return self.name


@attrs.frozen(cache_hash=True)
class TensorOf:
    """A tensor; `of` is None for `tensor<>`, which takes any element type."""

    of: Primitive | None

    def __str__(self) -> str:
        """As in NNEF text."""
        return f"tensor<{self.of or ''}>"


@attrs.frozen(cache_hash=True)
class ArrayOf:
    """An array; `of` is None for the type of `[]`, which casts to any array."""

    of: NnefType | None

    def __str__(self) -> str:
        """As in NNEF text."""
        return f"{self.of or ''}[]"


@attrs.frozen(cache_hash=True)
class TupleOf:
    """A tuple of two or more items."""

    items: tuple[NnefType, ...]

    def __str__(self) -> str:
        """As in NNEF text."""
        return f"({', '.join(map(str, self.items))})"


NnefType = Union[Primitive, TensorOf, ArrayOf, TupleOf]  # noqa: UP007  (used before it is defined, in quotes only)

INTEGER, SCALAR, LOGICAL, STRING, GENERIC = (
    Primitive("integer"),
    Primitive("scalar"),
    Primitive("logical"),
    Primitive("string"),
    Primitive("?"),
)

DTYPES = {"integer": "int64", "scalar": "float32", "logical": "bool", "string": "string"}
"""The element types of tensors by primitive, with the usual widths: NNEF does not define them."""
