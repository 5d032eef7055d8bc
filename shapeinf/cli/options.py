"""Options that several commands share, and the parsers of their texts; their errors are usage errors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from shapeinf.cli.runtime_options import RUNTIME_OPTIONS, read_runtime_options
from shapeinf.cli.sections import LIFETIMES, Command, section_options
from shapeinf.errors import SpecError
from shapeinf.expr import Interval, Scope
from shapeinf.inputs.named_dims import Dim
from shapeinf.inputs.reader import RangeLike, SpecLike, to_named_dim
from shapeinf.inputs.spec import parse_bindings, parse_dim_range, parse_shape_spec, split_specs
from shapeinf.inputs.values import parse_value_option
from shapeinf.solver.budget import WORK, raise_total

if TYPE_CHECKING:
    from shapeinf.memory import Memory
    from shapeinf.memory.memory import Order
    from shapeinf.result import Result

Range = tuple["int | None", "int | None"]
T = TypeVar("T")
K = TypeVar("K")

json_option = click.option(
    "--json", "json_wanted", is_flag=True, help="Print JSON; its field `schema` names the form and its version."
)
"""For every command that prints a result."""


_option = section_options(LIFETIMES)

_LIFETIME_OPTIONS = (
    _option(
        "--order",
        type=click.Choice(["file", "least"]),
        default="file",
        show_default=True,
        help="The execution order of the nodes: the order of the file, or an order with a smaller peak.",
    ),
    _option("--aliases", is_flag=True, help="Outputs that are views of an input take no memory of their own."),
    _option(
        "--in-place",
        is_flag=True,
        help="Nodes reuse the memory of an input that is not read again, where the operator allows it. Kernels of a "
        "runtime overwrite fewer inputs: see --runtime.",
    ),
    _option(
        "--work",
        type=click.IntRange(min=0),
        metavar="N",
        default=WORK,
        show_default=True,
        help="The work budget, in machine-independent steps, of each query and of all queries of the command "
        "together; results state where the budget was reached.",
    ),
)


class Lifetimes(NamedTuple):
    """The options that decide the lifetimes of tensors."""

    order: Order
    aliases: bool
    in_place: bool
    work: int
    runtime: str | None = None
    options: object = None

    def memory(self, result: Result) -> Memory:
        """The memory of a model with these options."""
        if self.runtime is not None:
            if self.order != "file" or self.aliases or self.in_place:
                raise click.UsageError(
                    "--order, --aliases and --in-place do not apply with --runtime: a runtime decides them itself"
                )
            return result.memory(runtime=self.runtime, options=self.options, work=self.work)
        return result.memory(order=self.order, aliases=self.aliases, in_place=self.in_place, work=self.work)


def lifetime_options(command: Command) -> Command:
    """Add the options of `Lifetimes` to a command, which receives them as its argument `lifetimes`."""

    @functools.wraps(command)
    def run(order: Order, aliases: bool, in_place: bool, work: int, **arguments: Any) -> None:
        raise_total(work)
        runtime, options = read_runtime_options(arguments)
        command(lifetimes=Lifetimes(order, aliases, in_place, work, runtime, options), **arguments)

    decorated: Command = run
    for option in reversed((*_LIFETIME_OPTIONS, *RUNTIME_OPTIONS)):
        decorated = option(decorated)
    return decorated


def dim_ranges(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, Range]:
    """All `--dim NAME=LO..HI` of a command line."""
    ranges: dict[str, Range] = {}
    for text in values:
        dim = _parse(parse_dim_range, text, parameter)
        assert dim.name is not None
        _add(ranges, dim.name, (dim.lo, dim.hi), parameter)
    return ranges


def bindings(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, int]:
    """All `--bind name=4,name2=8` of a command line."""
    sizes: dict[str, int] = {}
    for text in values:
        for name, value in _parse(parse_bindings, text, parameter).items():
            _add(sizes, name, value, parameter)
    return sizes


def parse_sizes(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> list[dict[str, int]]:
    """All `--at batch=1,seq=8` of a command line."""
    return [_parse(parse_bindings, text, parameter) for text in values]


def input_values(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, object]:
    """All `--value NAME=VALUE` of a command line."""
    contents: dict[str, object] = {}
    for text in values:
        name, value = _parse(parse_value_option, text, parameter)
        _add(contents, name, value, parameter)
    return contents


def bind_requests(values: Sequence[str]) -> dict[str, str]:
    """The arguments `NAME=VALUE` of `bind`, also `NAME=1,NAME2=2` in one. The model decides the meaning of a VALUE.

    >>> bind_requests(["batch=4,seq=1..512", "past=max(seq, 8)"])
    {'batch': '4', 'seq': '1..512', 'past': 'max(seq, 8)'}
    """
    requests: dict[str, str] = {}
    for text in values:
        for piece in split_requests(text):
            name, equals, value = _split_request(piece)
            if not equals or not name or not value:
                raise click.UsageError(f"{text!r}: expected NAME=VALUE, with a size, LO..HI, a dim or a name as VALUE")
            if requests.setdefault(name, value) != value:
                raise click.UsageError(f"{name} has two different values")
    return requests


def split_requests(text: str) -> list[str]:
    """The pieces of a text between commas outside of brackets and backquotes.

    >>> split_requests("a=max(1, b),`x,y`=2")
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


def _split_request(piece: str) -> tuple[str, str, str]:
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
    shapes: dict[str | None, str] = {}
    for text in values:
        for piece in split_specs(text) or [text]:
            spec = _parse(lambda text: parse_shape_spec(text, Scope()), piece, parameter)
            _add(shapes, spec.name, piece, parameter)
    return shapes


def named_inputs(shapes: Mapping[str | None, SpecLike], names: Sequence[str]) -> dict[str, SpecLike]:
    """The shapes by name; one without a name is that of the only input, and a usage error where there are several."""
    if None in shapes and len(names) != 1:
        listed = ", ".join(names) or "none"
        raise click.UsageError(
            f"--input-shapes {shapes[None]} has no name, which needs a model with one input; this one has: {listed}"
        )
    return {names[0] if name is None else name: text for name, text in shapes.items()}


def check_bindings(ranges: Mapping[str, RangeLike], bound: Mapping[str, int]) -> None:
    """Raise a usage error where a size lies outside of the range of `--dim`."""
    for name, value in bound.items():
        dim = to_named_dim(name, ranges[name]) if name in ranges else Dim(name)
        lo, hi = dim.min, dim.max
        if (lo is not None and value < lo) or (hi is not None and value > hi):
            raise click.UsageError(f"{name}={value} is outside of --dim {name}={Interval(lo, hi)}")


def _parse(parse: Callable[[str], T], text: str, parameter: click.Parameter) -> T:
    try:
        return parse(text)
    except SpecError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _add(values: dict[K, T], name: K, value: T, parameter: click.Parameter) -> None:
    if name in values and values[name] != value:
        raise click.BadParameter(f"{name or 'the input'} has two different values", param=parameter)
    values[name] = value
