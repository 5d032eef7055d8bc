"""`ShapeModule`: sizes, conditions and tensors as registers of one straight-line program, which each language prints.

A writer prints the parameters, the instructions in order, and tables that refer to registers: the tests of conditions,
and the sizes of tensors. Languages differ in their arithmetic: those with integers of any size compute what Python
does, in the others an intermediate number that does not fit 64 bits is an error. No number is wrong in any.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import attrs

from shapeinf.expr import Dimension, Interval
from shapeinf.expr.straight_line import StraightLine

PART = 400
"""The most instructions in a function: compilers need more than linear time for long ones."""


@attrs.frozen
class Parameter:
    """A dim of the inputs; `bounds` are the sizes that the module is about."""

    name: str
    bounds: Interval


@attrs.frozen
class Test:
    """A clause: whether the value of a register is 0, or at least 0."""

    register: int
    zero: bool


@attrs.frozen
class Condition:
    """A condition with which all legal sizes agree: one of its tests must hold.

    Args:
        text: the condition.
        node: the node that requires it.
        op: the operator of the node.
        message: the rule of the operator.
        tests: the clauses.
    """

    text: str
    node: str
    op: str
    message: str
    tests: tuple[Test, ...]


@attrs.frozen
class Amount:
    """A size as two registers of a program: its formula, and an upper bound in the dims of the inputs alone.

    They are one register for a size that does not depend on data. `exact` is None without a formula, `upper` without
    a bound.
    """

    exact: int | None
    upper: int | None


UNKNOWN = Amount(None, None)


@attrs.frozen
class TensorSizes:
    """The sizes of a tensor.

    Args:
        name: its name.
        dtype: its element type; None for an unknown one.
        dims: its axes; None for an unknown rank.
        bytes: its bytes without padding.
    """

    name: str
    dtype: str | None
    dims: tuple[Amount, ...] | None
    bytes: Amount


@attrs.frozen
class Shapes:
    """What a module computes of a model.

    Args:
        requirements: further conditions, without which the formulas do not hold.
        tensors: the tensors of the model.
        outputs: for each output of the model its index in `tensors`; None for a value that is not a tensor.
        peak: the register of the most bytes of computed values in use at one program point.
        peak_at_least: whether that is a lower bound, since buffers without a bound are omitted.
        omitted: why a value is not among the tensors, by name.
    """

    requirements: tuple[Condition, ...]
    tensors: tuple[TensorSizes, ...]
    outputs: tuple[int | None, ...]
    peak: int
    peak_at_least: bool
    omitted: dict[str, str]


@attrs.frozen
class ShapeModule:
    """The conditions of a model, and its shapes.

    Args:
        model: the name of the model.
        digest: of the graph that the conditions are about.
        parameters: all dims of the inputs, in order.
        program: the values of all registers.
        arguments: the parameter of each symbol of the program, as an index.
        conditions: the conditions of the contract.
        undecided: the preconditions that sizes do not decide, as texts.
        shapes: the shapes; None for a guard, which has conditions only.
    """

    model: str
    digest: str
    parameters: tuple[Parameter, ...]
    program: StraightLine
    arguments: tuple[int, ...]
    conditions: tuple[Condition, ...]
    undecided: tuple[str, ...]
    shapes: Shapes | None = None

    @property
    def checked(self) -> int:
        """The number of instructions at the beginning that `conditions` need."""
        return 1 + max((test.register for c in self.conditions for test in c.tests), default=-1)

    @property
    def parts(self) -> tuple[range, ...]:
        """The instructions of each function; those of `conditions` end with a part of their own."""
        return (*split_parts(0, self.checked), *split_parts(self.checked, len(self.program.instructions)))

    @property
    def checked_parts(self) -> int:
        """The number of parts that `conditions` need."""
        return len(split_parts(0, self.checked))


def split_parts(begin: int, end: int) -> list[range]:
    """The instructions from `begin` to `end` in parts of at most `PART`.

    >>> split_parts(0, 900)
    [range(0, 400), range(400, 800), range(800, 900)]
    """
    return [range(start, min(start + PART, end)) for start in range(begin, end, PART)]


def read_asset(name: str) -> str:
    """The part of a language's text that is the same for all models."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def parameters_of(symbols: Sequence[Dimension], names: Sequence[Dimension | str]) -> tuple[int, ...]:
    """The index of each symbol in a list of parameters, which are symbols, or names of symbols."""
    numbers = {name: number for number, name in enumerate(names)}
    return tuple(numbers[symbol] if symbol in numbers else numbers[symbol.name] for symbol in symbols)
