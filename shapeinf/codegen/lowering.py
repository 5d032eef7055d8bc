"""`ShapeModule` of a stored contract, and of an inference with its tensors and its peak."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from shapeinf.codegen.shape_module import (
    Amount,
    Condition,
    Parameter,
    ShapeModule,
    Shapes,
    TensorSizes,
    Test,
    parameters_of,
)
from shapeinf.constraints.records import Clause
from shapeinf.contract import Contract
from shapeinf.contract.preconditions import Precondition
from shapeinf.contract.stored import StoredContract, StoredPrecondition
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.engine.session import Engine
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dimension, Interval
from shapeinf.expr.straight_line import Lowering, StraightLine
from shapeinf.graph.digest import graph_digest
from shapeinf.inputs.spec import unquote_name
from shapeinf.program.bindings import Binder
from shapeinf.program.lower import DimTable, Lowered, PeakTerms
from shapeinf.program.requirements import Requirement
from shapeinf.sharing import hold_locks

_UNDECIDED = ("guard", "assumption")
"""The kinds of preconditions that do not make sizes illegal."""

Clauses = Sequence[tuple[int, bool]]
"""The register of each expression of a condition, and whether it must be 0."""


def guard_module(contract: StoredContract, model: str = "") -> ShapeModule:
    """The conditions of a contract that sizes decide."""
    parameters = tuple(Parameter(unquote_name(label), bounds) for label, bounds in contract.dims.items())
    lowering = Lowering()
    rows = {stored: _lower(lowering, clauses) for stored, clauses in contract.clauses.items()}
    program, moved = _program(lowering, [register for clauses in rows.values() for register, _ in clauses])
    names = [parameter.name for parameter in parameters]
    return ShapeModule(
        model,
        contract.digest,
        parameters,
        program,
        parameters_of(program.symbols, names),
        tuple(_condition(stored, clauses, moved) for stored, clauses in rows.items()),
        tuple(str(stored) for stored in contract.preconditions if not stored.decides),
    )


def _lower(lowering: Lowering, clauses: Iterable[Clause]) -> Clauses:
    return [(lowering.dim(clause.expression), clause.zero) for clause in clauses]


def _program(lowering: Lowering, registers: Iterable[int]) -> tuple[StraightLine, dict[int, int]]:
    """The program of some registers, and their numbers in it."""
    needed = list(dict.fromkeys(registers))
    program = lowering.program(needed)
    return program, dict(zip(needed, program.outputs, strict=True))


def _condition(source: Precondition | StoredPrecondition, clauses: Clauses, moved: Mapping[int, int]) -> Condition:
    return Condition(source.text, source.node, source.op, source.message, _tests(clauses, moved))


def _tests(clauses: Clauses, moved: Mapping[int, int]) -> tuple[Test, ...]:
    return tuple(Test(moved[register], zero) for register, zero in clauses)


class PeakOwner(Protocol):
    """The memory of a model."""

    @property
    def peak(self) -> PeakTerms:
        """Its peak."""


class ShapeSource(Protocol):
    """What is compiled of a model: a `Result`."""

    @property
    def engine(self) -> Engine:
        """The inference and its constraints."""

    @property
    def tensors(self) -> Mapping[str, TensorInfo]:
        """All values, by name."""

    @property
    def contract(self) -> Contract:
        """The preconditions."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the user specifies besides dims."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """The findings of the inference."""

    def memory(self) -> PeakOwner:
        """The memory."""


def shape_module(source: ShapeSource, model: str | None = None) -> ShapeModule:
    """The shapes, bytes and the peak of a model, with the conditions under which they hold.

    `model` is its name in source texts, by default that of the graph.

    Raises ShapeInferenceError for a model with errors, and where the shapes hold for the user's values of inputs only;
    LimitError where functions and bodies expand to too many nodes for the peak.
    """
    if source.assumptions:
        only = ", ".join(source.assumptions)
        raise ShapeInferenceError(f"the shapes hold only for {only}: no program is written")
    if any(diagnostic.severity == "error" for diagnostic in source.diagnostics):
        raise ShapeInferenceError("the model has errors: no program is written")
    with hold_locks(source.engine.lock), pause_garbage_collection():
        return _ShapeLowering(source).module(model)


class _ShapeLowering:
    """Lowers the conditions first: those of the contract are checked without the other registers."""

    def __init__(self, source: ShapeSource) -> None:
        self.source = source
        self.inference = source.engine.inference
        store = source.engine.store
        self.labels = input_symbols(self.inference)
        self.table = DimTable(store, source.tensors)
        binder = Binder(store, self.labels)
        binder.requirements.add_sizes(
            (self.table.dims[row], name) for name, rows in self.table.ranked_tensors() for row in rows
        )
        self.labels.update({symbol: binder.labels[symbol] for symbol in binder.needed if symbol not in self.labels})
        self.lowered = Lowered(self.table, frozenset(self.labels), lambda: source.memory().peak)
        self.lowering = Lowering()
        self.conditions = self._conditions()
        self.requirements = self._requirements(binder)
        self.dims = list(map(self._dim, range(len(self.table.dims))))
        registers = self.lowering.append(self.lowered.sizes.program)
        self.bytes = {name: registers[row] for name, row in self.lowered.sizes.bytes.items()}
        (self.peak,) = self.lowering.append(self.lowered.peak[0])

    def _conditions(self) -> list[tuple[Precondition, Clauses]]:
        known = self.labels.keys()
        return [
            (precondition, _lower(self.lowering, precondition.clauses))
            for precondition in self.source.contract.preconditions
            if self._decides(precondition) and all(_symbols(clause) <= known for clause in precondition.clauses)
        ]

    @staticmethod
    def _decides(precondition: Precondition) -> bool:
        return bool(precondition.clauses) and not precondition.where and precondition.kind not in _UNDECIDED

    def _requirements(self, binder: Binder) -> list[tuple[Requirement, Clauses]]:
        """Those that no condition states."""
        stated = [set(clauses) for _, clauses in self.conditions]
        requirements, _, _ = binder.requirements.compile(list(self.labels), list(self.labels))
        rows = [(requirement, _lower(self.lowering, requirement.clauses)) for requirement in requirements]
        return [(requirement, clauses) for requirement, clauses in rows if set(clauses) not in stated]

    def _dim(self, row: int) -> Amount:
        d = self.table.dims[row]
        if self.lowered.is_exact(row):
            register = self.lowering.dim(d)
            return Amount(register, register)
        bound = self.lowered.elimination.upper(d)
        return Amount(None, None if bound is None else self.lowering.dim(bound))

    def module(self, model: str | None) -> ShapeModule:
        """The module of all registers."""
        clauses = [*(c for _, c in self.conditions), *(c for _, c in self.requirements)]
        amounts = [register for d in self.dims for register in (d.exact, d.upper) if register is not None]
        registers = [*(register for row in clauses for register, _ in row), *amounts, *self.bytes.values(), self.peak]
        program, moved = _program(self.lowering, registers)
        decided = {precondition for precondition, _ in self.conditions}
        graph = self.inference.compiled.graph
        return ShapeModule(
            graph.name if model is None else model,
            graph_digest(graph),
            self._parameters(),
            program,
            parameters_of(program.symbols, list(self.labels)),
            tuple(_condition(precondition, clauses, moved) for precondition, clauses in self.conditions),
            tuple(str(p) for p in self.source.contract.preconditions if p not in decided),
            self._shapes(moved),
        )

    def _parameters(self) -> tuple[Parameter, ...]:
        """The dims of the inputs; a dim that the user binds has one size."""
        store, session = self.inference.initial_store, self.source.engine.session
        bounds = {unquote_name(label): store.interval(symbol) for symbol, label in self.labels.items()}
        bound = {} if session is None else session.options.bind
        for name, size in bound.items():
            bounds[unquote_name(name)] = Interval(size, size)
        return tuple(itertools.starmap(Parameter, bounds.items()))

    def _shapes(self, moved: Mapping[int, int]) -> Shapes:
        rows = dict(self.table.ranked_tensors())
        tensors = {n: self._tensor(n, info, rows.get(n), moved) for n, info in self.table.tensors.items()}
        numbers = {name: number for number, name in enumerate(tensors)}
        return Shapes(
            tuple(_requirement(requirement, _tests(clauses, moved)) for requirement, clauses in self.requirements),
            tuple(tensors.values()),
            tuple(numbers.get(name) for name in self.inference.compiled.graph.outputs),
            moved[self.peak],
            self.lowered.peak[1],
            {name: reason for name, reason in self.table.unknown.items() if name not in tensors},
        )

    def _tensor(
        self, name: str, info: TensorInfo, rows: tuple[int, ...] | None, moved: Mapping[int, int]
    ) -> TensorSizes:
        upper = self.bytes.get(name)
        exact = upper if rows is not None and all(map(self.lowered.is_exact, rows)) else None
        dims = None if rows is None else tuple(_move(self.dims[row], moved) for row in rows)
        return TensorSizes(name, info.dtype, dims, _move(Amount(exact, upper), moved))


def _symbols(clause: Clause) -> frozenset[Dimension]:
    return clause.expression.symbols() if isinstance(clause.expression, Dimension) else frozenset()


def _move(amount: Amount, moved: Mapping[int, int]) -> Amount:
    """The amount in other registers."""
    exact, upper = (None if register is None else moved[register] for register in (amount.exact, amount.upper))
    return Amount(exact, upper)


def _requirement(requirement: Requirement, tests: tuple[Test, ...]) -> Condition:
    source = requirement.source
    if source is None:
        return Condition(requirement.text, "", "", "the formulas of sizes hold for no other sizes", tests)
    covered = "; other sizes are not covered here" if source.assumed else ""
    return Condition(requirement.text, source.node, "", f"{source.reason}{covered}", tests)
