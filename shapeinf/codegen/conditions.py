"""The conditions of a contract as one straight-line program: what the writers of all languages print.

A writer prints the parameters, the instructions of the program in order, and for each condition the tests of its
registers. Languages differ in their arithmetic only: an intermediate value that does not fit is an error.
"""

from __future__ import annotations

import attrs

from shapeinf.contract.stored import StoredContract
from shapeinf.expr import Dimension, Interval
from shapeinf.expr.straight_line import Lowering, StraightLine
from shapeinf.inputs.spec import unquote_name


@attrs.frozen
class Parameter:
    """A dim of the inputs; `bounds` are the sizes that the conditions are about."""

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
class ConditionProgram:
    """The conditions of a model.

    Args:
        model: the name of the model.
        digest: of the graph that they are about.
        parameters: all dims of the inputs, in order.
        program: the values that the tests read; its symbols have the names of parameters.
        conditions: the conditions.
        undecided: the preconditions that sizes do not decide, as texts.
    """

    model: str
    digest: str
    parameters: tuple[Parameter, ...]
    program: StraightLine
    conditions: tuple[Condition, ...]
    undecided: tuple[str, ...]

    def parameter_of(self, symbol: Dimension) -> int:
        """The index of the parameter with the name of a symbol of the program."""
        return [parameter.name for parameter in self.parameters].index(symbol.name)


def condition_program(contract: StoredContract, model: str = "") -> ConditionProgram:
    """The conditions of a contract that sizes decide, as a program."""
    lowering = Lowering()
    parameters = tuple(Parameter(unquote_name(label), bounds) for label, bounds in contract.dims.items())
    rows = [
        (stored, [(lowering.dim(clause.expression), clause.zero) for clause in clauses])
        for stored, clauses in contract.clauses.items()
    ]
    program = lowering.program([register for _, tests in rows for register, _ in tests])
    outputs = iter(program.outputs)
    conditions = tuple(
        Condition(
            *(stored.text, stored.node, stored.op, stored.message),
            tuple(Test(next(outputs), zero) for _, zero in tests),
        )
        for stored, tests in rows
    )
    undecided = tuple(str(stored) for stored in contract.preconditions if not stored.decides)
    return ConditionProgram(model, contract.digest, parameters, program, conditions, undecided)
