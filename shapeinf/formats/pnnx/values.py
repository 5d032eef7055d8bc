"""The values in a `.param` file: parameters, and element types with sizes."""

from __future__ import annotations

import re

import attrs

from shapeinf.lattice.dtypes import SHORT_NAMES

Parameter = None | bool | int | float | str | tuple[object, ...]
"""The value of a parameter; `()` and `[]` are the empty tuple."""

MAX_INT = 2**31 - 1
"""PNNX writes larger numbers as this one, and cannot read them."""

_NULL = "null"
_TYPE = re.compile(r"\(([^()]*)\)(\w+)")


@attrs.frozen
class TensorText:
    """An element type and sizes, as in `(?,3,%h)f32`: None for `?`, a name for `%name`."""

    dtype: str | None
    dims: tuple[int | str | None, ...]


def parse_parameter(text: str) -> Parameter:
    """The value of a parameter. Raises ValueError for a number that PNNX cannot hold.

    >>> parse_parameter("(1,-1)"), parse_parameter("1.0"), parse_parameter("None"), parse_parameter("zeros")
    ((1, -1), 1.0, None, 'zeros')
    """
    if text == "None":
        return None
    if text[:1] in ("(", "["):
        items = text[1:-1] if text[-1:] in (")", "]") else text[1:]
        return tuple(_parse_scalar(item) for item in items.split(",")) if items else ()
    return _parse_scalar(text)


def _parse_scalar(text: str) -> bool | int | float | str:
    if text in ("True", "False"):
        return text == "True"
    digits = text[1:] if text[:1] == "-" else text
    if not digits[:1].isdigit():
        return text
    if "." in text or "e" in text:
        return float(text)
    number = int(text)
    if not -MAX_INT - 1 <= number <= MAX_INT:
        raise ValueError(f"{text} does not fit into 32 bits")
    return number


def parse_tensor(text: str) -> TensorText:
    """The type of a tensor. Raises ValueError for a malformed text.

    >>> parse_tensor("(?,3)f32")
    TensorText(dtype='float32', dims=(None, 3))
    """
    match = _TYPE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text} is not a type such as (1,3,?)f32")
    sizes, name = match.groups()
    if name != _NULL and name not in SHORT_NAMES:
        raise ValueError(f"{name} is not an element type of PNNX")
    dims = tuple(_parse_dim(size) for size in sizes.split(",")) if sizes else ()
    return TensorText(None if name == _NULL else SHORT_NAMES[name], dims)


def _parse_dim(text: str) -> int | str | None:
    if text == "?":
        return None
    if text.startswith("%"):
        return text[1:]
    if not text.isdigit() or int(text) > MAX_INT:
        raise ValueError(f"{text} is not a size")
    return int(text)
