"""What the options of the command line mean: text to the arguments of `infer_shapes`; mistakes are usage errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import click

from shapeinf.algebra import Interval, Scope
from shapeinf.driver.inputs import RangeLike, SpecLike, as_named
from shapeinf.driver.named import NamedDim
from shapeinf.lattice.spec import SpecError, parse_bindings, parse_dim_range, parse_shape_spec, split_specs

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
    """A usage error when a value of `--bind` lies outside of the range that `--dim` gives."""
    for name, value in bound.items():
        given = as_named(name, ranges[name]) if name in ranges else NamedDim(name)
        lo, hi = given.min, given.max
        if (lo is not None and value < lo) or (hi is not None and value > hi):
            raise click.UsageError(f"--bind {name}={value} is outside of --dim {name}={Interval(lo, hi)}")


def _read(parse: Callable[[str], T], text: str, parameter: click.Parameter) -> T:
    try:
        return parse(text)
    except SpecError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _add(found: dict[K, T], name: K, value: T, parameter: click.Parameter) -> None:
    if name in found and found[name] != value:
        raise click.BadParameter(f"{name or 'the input'} is given twice", param=parameter)
    found[name] = value
