"""What the options of the command line mean: text to the arguments of `infer_shapes`; mistakes are usage errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import click

from shapeinf.errors import SpecError
from shapeinf.expr import Interval, Scope
from shapeinf.inputs.named_dims import NamedDim
from shapeinf.inputs.reader import RangeLike, SpecLike, to_named_dim
from shapeinf.inputs.spec import parse_bindings, parse_dim_range, parse_shape_spec, split_specs

Range = tuple["int | None", "int | None"]
T = TypeVar("T")
K = TypeVar("K")


def dim_ranges(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, Range]:
    """All `--dim NAME=LO..HI` of a command line."""
    found: dict[str, Range] = {}
    for text in values:
        given = _read(parse_dim_range, text, parameter)
        assert given.name is not None
        _add(found, given.name, (given.lo, given.hi), parameter)
    return found


def bindings(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, int]:
    """All `--bind name=4,name2=8` of a command line."""
    found: dict[str, int] = {}
    for text in values:
        for name, value in _read(parse_bindings, text, parameter).items():
            _add(found, name, value, parameter)
    return found


def wishes(values: Sequence[str]) -> dict[str, str]:
    """The arguments `NAME=VALUE` of `bind`, also `NAME=1,NAME2=2` in one. What VALUE means is for the model to say.

    >>> wishes(["batch=4,seq=1..512", "past=max(seq, 8)"])
    {'batch': '4', 'seq': '1..512', 'past': 'max(seq, 8)'}
    """
    found: dict[str, str] = {}
    for text in values:
        for piece in split_wishes(text):
            name, equals, value = _parted(piece)
            if not equals or not name or not value:
                raise click.UsageError(f"{text!r}: expected NAME=VALUE, with a size, LO..HI, a dim or a name as VALUE")
            if found.setdefault(name, value) != value:
                raise click.UsageError(f"{name} is given twice")
    return found


def split_wishes(text: str) -> list[str]:
    """The pieces of a text between commas that no brackets or backquotes hold.

    >>> split_wishes("a=max(1, b),`x,y`=2")
    ['a=max(1, b)', '`x,y`=2']
    """
    pieces, depth, quoted, start = [], 0, False, 0
    for i, char in enumerate(text):
        quoted ^= char == "`"
        depth += 0 if quoted else (char in "([") - (char in ")]")
        if char == "," and not depth and not quoted:
            pieces.append(text[start:i])
            start = i + 1
    return [*pieces, text[start:]]


def _parted(piece: str) -> tuple[str, str, str]:
    """The name (without backquotes), `=`, and the value."""
    piece = piece.strip()
    end = piece.find("`", 1) if piece.startswith("`") else -1
    if end > 0:
        _, equals, value = piece[end + 1 :].partition("=")
        return piece[1:end], equals, value.strip()
    name, equals, value = piece.partition("=")
    return name.strip(), equals, value.strip()


def input_shapes(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str | None, str]:
    """All `--input-shapes` of a command line, as text by input name; None is the only input of the model."""
    found: dict[str | None, str] = {}
    for text in values:
        for piece in split_specs(text) or [text]:
            spec = _read(lambda one: parse_shape_spec(one, Scope()), piece, parameter)
            _add(found, spec.name, piece, parameter)
    return found


def named_inputs(shapes: Mapping[str | None, SpecLike], names: Sequence[str]) -> dict[str, SpecLike]:
    """Give a shape without a name to the only input; a usage error when the model has none or several."""
    if None in shapes and len(names) != 1:
        listed = ", ".join(names) or "none"
        raise click.UsageError(f"--input-shapes {shapes[None]}: say which input it is for; the model has: {listed}")
    return {names[0] if name is None else name: text for name, text in shapes.items()}


def check_bindings(ranges: Mapping[str, RangeLike], bound: Mapping[str, int]) -> None:
    """A usage error when a given size lies outside of the range that `--dim` gives."""
    for name, value in bound.items():
        given = to_named_dim(name, ranges[name]) if name in ranges else NamedDim(name)
        lo, hi = given.min, given.max
        if (lo is not None and value < lo) or (hi is not None and value > hi):
            raise click.UsageError(f"{name}={value} is outside of --dim {name}={Interval(lo, hi)}")


def _read(parse: Callable[[str], T], text: str, parameter: click.Parameter) -> T:
    try:
        return parse(text)
    except SpecError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _add(found: dict[K, T], name: K, value: T, parameter: click.Parameter) -> None:
    if name in found and found[name] != value:
        raise click.BadParameter(f"{name or 'the input'} is given twice", param=parameter)
    found[name] = value
