"""The values in a `.param` file: parameters, and element types with sizes, as texts and as values."""

from __future__ import annotations

import re

import attrs

from shapeinf.lattice.dtypes import SHORT_NAMES

Scalar = bool | int | float | complex | str
Parameter = None | Scalar | tuple[Scalar, ...]
"""The value of a parameter. PNNX's own loader reads the empty lists `()` and `[]` as None."""

MAX_INT = 2**31 - 1
"""PNNX writes larger numbers as this one, and cannot read them."""

MAX_FLOAT = 3.4028235e38
"""The largest float32: PNNX cannot read larger numbers."""

SYMBOL, UNKNOWN = "%", "?"
"""The first character of a named size, and an unknown size."""

_NAMES = ("f32", "f64", "f16", "i32", "i64", "i16", "i8", "u8", "bool", "c64", "c128", "c32", "bf16")

DTYPES = {short: SHORT_NAMES[short] for short in _NAMES}
"""The names of element types in shapeinf, by those of PNNX."""

_SHORT = {name: short for short, name in DTYPES.items()}
_NULL = "null"
_TYPE = re.compile(r"\((.*)\)(\w*)", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]+")
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_COMPLEX = re.compile(rf"({_FLOAT.pattern})([-+]{_FLOAT.pattern.removeprefix('-?')})j")
_SIZE = re.compile(r"[0-9]+")
_UNWRITABLE = re.compile(r"\w +\w|;|,(?! )")
"""Blanks between words, and separators of sizes."""

_ABBREVIATED = 60


@attrs.frozen
class TensorText:
    """An element type and sizes, as in `(?,3,%h)f32`: None for `?`, a name or an expression for `%h`."""

    dtype: str | None
    dims: tuple[int | str | None, ...]


def quote(text: str) -> str:
    """A part of a file in quotes for a message; a long one is cut."""
    return repr(text if len(text) <= _ABBREVIATED else f"{text[: _ABBREVIATED - 3]}...")


# -- parameters ------------------------------------------------------------------------------------------------------


def parse_parameter(text: str) -> Parameter:
    """The value of a parameter, as PNNX reads it: a text that starts with a digit is a number, whatever follows.

    Lists keep items of all kinds. Raises ValueError for a number that does not fit into 32 bits.

    >>> parse_parameter("(1,-1)"), parse_parameter("1.0"), parse_parameter("None"), parse_parameter("zeros")
    ((1, -1), 1.0, None, 'zeros')
    """
    if text == "None":
        return None
    if text[:1] in ("(", "["):
        items = text[1:-1]  # the last character goes, whatever it is
        return tuple([_parse_scalar(item) for item in items.split(",")]) if items or len(text) != 2 else ()
    return _parse_scalar(text)


def _parse_scalar(text: str) -> Scalar:
    if text in ("True", "False"):
        return text == "True"
    start = text[1:2] if text[:1] == "-" else text[:1]
    if not "0" <= start <= "9":
        return text
    return _parse_float(text) if "." in text or "e" in text else parse_int(text)


def _parse_float(text: str) -> float | complex:
    """A number with a fraction or an exponent. PNNX itself has no complex parameters and drops the imaginary part."""
    number = _COMPLEX.fullmatch(text)
    if number is not None:
        return complex(*(_fit_float(part) for part in number.groups()))
    prefix = _FLOAT.match(text)
    assert prefix is not None  # the text begins with a digit
    return _fit_float(prefix[0])


def _fit_float(text: str) -> float:
    number = float(text)
    if not -MAX_FLOAT <= number <= MAX_FLOAT:
        raise ValueError(f"{quote(text)} does not fit into a 32-bit float")
    return number


def parse_int(text: str) -> int:
    """The integer that a text begins with. Raises ValueError for none and for one that does not fit into 32 bits."""
    prefix = _INTEGER.match(text)
    if prefix is None:
        raise ValueError(f"{quote(text)} is not an integer")
    digits = prefix[0].lstrip("-").lstrip("0")
    number = int(prefix[0]) if len(digits) <= len(str(MAX_INT)) else None
    if number is None or not -MAX_INT - 1 <= number <= MAX_INT:
        raise ValueError(f"{quote(text)} does not fit into 32 bits")
    return number


# -- types -----------------------------------------------------------------------------------------------------------


def parse_tensor(text: str) -> TensorText:
    """The type of a tensor; without sizes it has rank 0. Raises ValueError for a malformed text.

    >>> parse_tensor("(?,3,%max(a;b))f32")
    TensorText(dtype='float32', dims=(None, 3, 'max(a, b)'))
    """
    match = _TYPE.fullmatch(text)
    if match is None:
        raise ValueError(f"{quote(text)} is not a type such as (1,3,?)f32")
    sizes, name = match.groups()
    if name != _NULL and name not in DTYPES:
        raise ValueError(f"{quote(name)} is not an element type: {', '.join(DTYPES)} or {_NULL}")
    return TensorText(DTYPES.get(name), tuple([_parse_dim(size) for size in sizes.split(",")]) if sizes else ())


def _parse_dim(text: str) -> int | str | None:
    if text == UNKNOWN:
        return None
    if text.startswith(SYMBOL) and len(text) > 1:
        return text[1:].replace(";", ", ")
    if not _SIZE.fullmatch(text):
        raise ValueError(f"{quote(text)} is not a size: a number, {UNKNOWN} or {SYMBOL}name")
    return parse_int(text)


def format_tensor(tensor: TensorText) -> str:
    """The text of a type. Raises ValueError for a size that cannot be written, and for one past 32 bits.

    >>> format_tensor(TensorText("float32", (None, 3, "2*batch + 1")))
    '(?,3,%2*batch+1)f32'
    """
    sizes = ",".join([_format_dim(dim) for dim in tensor.dims])
    return f"({sizes}){_SHORT.get(tensor.dtype or '', _NULL)}"


def _format_dim(dim: int | str | None) -> str:
    if dim is None:
        return UNKNOWN
    if isinstance(dim, int):
        if not 0 <= dim <= MAX_INT:
            raise ValueError(f"the size {dim} does not fit into 32 bits")
        return str(dim)
    if not is_writable(dim):
        raise ValueError(f"the size {quote(dim)} cannot be written")
    return SYMBOL + dim.replace(", ", ";").replace(" ", "")


def is_writable(dim: str) -> bool:
    """Whether a file can express a size: its text has no commas, except between arguments, and no blanks in names.

    >>> is_writable("max(batch, 2) + 1"), is_writable("`batch size`")
    (True, False)
    """
    if _UNWRITABLE.search(dim) or not dim.isprintable():
        return False
    return bool(dim) and not ("`" in dim and " " in dim)
