"""Types of tensors as tests write them: `float32[batch, 3, ?]`."""

from __future__ import annotations

import re

import attrs

from shapeinf.errors import SpecError
from shapeinf.expr import Dimension, DimSize, Scope
from shapeinf.inputs.spec import Declared, DimRange, parse_shape_spec

_TYPE = re.compile(r"\s*([A-Za-z]\w*|\?)?\s*(?:(\[.*\])|\?)?\s*", re.DOTALL)


@attrs.frozen
class TypeText:
    """A parsed type; None is any element type, an unknown rank, or any size; a DimRange is any size in the range."""

    dtype: str | None
    dims: tuple[DimSize | DimRange | None, ...] | None

    @property
    def symbols(self) -> frozenset[Dimension]:
        """The names in its dims."""
        return frozenset(s for d in self.dims or () if isinstance(d, Dimension) for s in d.symbols())


def parse_type(text: str, scope: Scope, lo: int = 1) -> TypeText:
    """Read a type. A shape alone has any element type; an element type alone, or with `?`, has an unknown rank.

    New symbols get the lower bound `lo`. Raises SpecError.

    >>> parse_type("float32[batch, 3, ?]", Scope())
    TypeText(dtype='float32', dims=(batch, 3, None))
    >>> parse_type("[1..8, 2*n]", Scope()).dims, parse_type("int64?", Scope())
    ((DimRange(lo=1, hi=8, name=None), 2*n), TypeText(dtype='int64', dims=None))
    """
    match = _TYPE.fullmatch(text)
    if match is None or not text.strip():
        raise SpecError(text, 0, "a type such as float32[batch, 3]")
    dtype = None if match[1] in (None, "?") else match[1]
    if match[2] is None:
        return TypeText(dtype, None)
    dims = parse_shape_spec(match[2], scope, lo).dims
    declared = next((dim for dim in dims or () if isinstance(dim, Declared)), None)
    if declared is not None:
        raise SpecError(text, text.find(declared.value), "a dim: no shape is declared here, use ? for any size")
    return TypeText(dtype, dims)  # type: ignore[arg-type]
