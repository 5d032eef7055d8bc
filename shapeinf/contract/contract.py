"""`Contract`: the preconditions of a graph, and its answers whether the graph runs with some sizes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from threading import RLock
from typing import TYPE_CHECKING

from shapeinf.contract.answer import Answer
from shapeinf.contract.collection import body_preconditions, unconditional_preconditions
from shapeinf.contract.pickled import NOT_SIMPLIFIED, PickledContract, contract_html, contract_lines, contract_text
from shapeinf.contract.preconditions import Precondition
from shapeinf.contract.reader import PreconditionReader
from shapeinf.contract.sizes import LegalSizes, probe_sizes, sort_sizes
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.cases import Cases
from shapeinf.engine.diagnostics import certain_violations, violations
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.engine.inference import Inference
from shapeinf.engine.input_symbols import find_symbol
from shapeinf.engine.schema_violations import SchemaViolations
from shapeinf.engine.session import rerun
from shapeinf.errors import MissingSizeError, ShapeError, Source
from shapeinf.expr import Dimension
from shapeinf.formats import FORMATS
from shapeinf.inputs.reader import as_sizes
from shapeinf.pickling import Reduced, reduce_record
from shapeinf.sharing import cached_property, synchronized
from shapeinf.solver.budget import NEEDS_ISL, WORK, Budget
from shapeinf.solver.witnesses import STEPS_PER_CONSTRAINT

if TYPE_CHECKING:
    from shapeinf.contract.stored import StoredContract
    from shapeinf.contract.traced import Trace

STEPS_PER_RUN = 1000
"""The cost of an inference at other sizes, in steps of a budget, without its nodes."""

STEPS_PER_NODE = 60
"""The cost of a node in such an inference."""

LARGEST_SOLVED = 1024
"""The largest size that is solved for where the user names no sizes."""

NEAR = 64
"""The most by which a nearest legal size differs."""

STEPS_PER_TERM = 2
"""The cost of a new term of a dim."""


@synchronized
class Contract:
    """The preconditions of a graph: the conditions on the sizes of its inputs under which it runs."""

    def __init__(self, inference: Inference, work: int = WORK) -> None:
        """The contract of a finished inference; `work` is the budget of its preconditions and of each check."""
        self.work = work
        self._inference = inference
        self._cases = Cases(inference)
        self._budget = Budget(work)
        self._reader = PreconditionReader(inference, self._budget)

    def with_work(self, work: int) -> Contract:
        """The same contract with another budget, in steps that are the same on every machine."""
        return Contract(self._inference, work)

    @property
    def _lock(self) -> RLock:
        return self._inference.store.scope.lock

    @cached_property
    def preconditions(self) -> tuple[Precondition, ...]:
        """The requirements of nodes beyond what user and file specify; the equations of one dim as one divisibility.

        Those of bodies that may not run are the last ones, with the body in `where`.
        """
        store = self._inference.initial_store
        always = [precondition.with_sizes(store, self._budget) for precondition in self.always]
        return (*always, *body_preconditions(self._inference, self._budget))

    @cached_property
    def always(self) -> tuple[Precondition, ...]:
        """The preconditions that hold whenever the graph runs, whichever bodies run.

        They include requirements that a trusted declaration of the file implies.
        """
        return tuple(unconditional_preconditions(self._reader))

    def __iter__(self) -> Iterator[Precondition]:
        """The preconditions."""
        return iter(self.preconditions)

    def __len__(self) -> int:
        """The number of preconditions."""
        return len(self.preconditions)

    @property
    def cut(self) -> bool:
        """Whether the budget was exhausted: then some preconditions are listed as nodes added them, not simplified."""
        return bool(self.preconditions) and self._budget.cut

    def __str__(self) -> str:
        """One precondition a line."""
        lines = contract_lines(self.preconditions, self.assumptions, self.cut)
        return f"{lines}\n({NEEDS_ISL})" if self._budget.needs_isl else lines

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the user specifies besides the dims of inputs; all answers hold for these. See `Result.assumptions`."""
        return self._inference.assumptions

    def __repr__(self) -> str:
        """The first preconditions."""
        return contract_text("Contract", self.preconditions)

    def _repr_html_(self) -> str:
        """A table of the preconditions."""
        return contract_html("Contract", self.preconditions)

    def __reduce__(self) -> Reduced:
        """A pickle has the preconditions, and is loaded as a `PickledContract`."""
        return reduce_record(PickledContract(self.preconditions, self.always, self.assumptions, self.cut))

    def __copy__(self) -> Contract:
        """Itself: queries do not change it."""
        return self

    def __deepcopy__(self, memo: object) -> Contract:
        """Itself."""
        return self

    @staticmethod
    def load(path: str | os.PathLike[str]) -> StoredContract:
        """The contract that was stored with a model, read without an inference: the path of the model, or of the JSON.

        It answers "no" or "can't tell", and only "can't tell" where the model was changed since it was stored.
        Raises ModelError for a file without a contract, or with a malformed one.
        """
        from shapeinf.contract.stored import load_contract

        return load_contract(path)

    def check(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> Answer:
        """Whether the graph runs with these sizes of dims; names that are no identifiers go into the mapping.

        The graph is inferred again with these sizes, so that every constraint is checked. For a traced program, the
        answer is that of the module that was traced: see `contract.traced`. Raises UnknownNameError for a dim that no
        input has.
        """
        binding = as_sizes({**(sizes or {}), **more})
        with pause_garbage_collection():
            contract = self._contract_for(binding)
            return contract._check(binding, contract._trace)

    def check_program(self, sizes: Mapping[str, int]) -> Answer:
        """As `check`, about a traced program itself."""
        with pause_garbage_collection():
            return self._contract_for(sizes)._check(sizes)

    def _contract_for(self, sizes: Mapping[str, int]) -> Contract:
        """The contract of the inference that holds for these sizes."""
        inference = self._cases.inference_for(sizes)
        return self if inference is self._inference else Contract(inference, self.work)

    def bind(self, sizes: Mapping[str, int]) -> Contract:
        """The contract at these sizes of some dims; the same one if they are illegal. Raises UnknownNameError."""
        inference = self._contract_for(sizes)._infer(sizes) if sizes else self._inference
        return self if isinstance(inference, Answer) else Contract(inference, self.work)

    @cached_property
    def _trace(self) -> Trace | None:
        inputs = FORMATS.input_guards(self._inference.compiled.graph)
        if inputs is None:
            return None
        from shapeinf.contract.traced import Trace  # reading guards needs the solver

        return Trace(inputs, self._inference)

    def _check(self, sizes: Mapping[str, int], trace: Trace | None = None) -> Answer:
        if self._schema_violations:
            return Answer(False, self._schema_violations)
        inference = self._infer(sizes, trace=trace)
        if isinstance(inference, Answer):
            return inference
        guard = None if trace is None else trace.checked_guard(inference)
        if guard is not None:
            return Answer(None, (f"the exported module may have checked {guard.text}",))
        if any(not step.operation.known for step in inference.compiled.steps):
            return Answer(None, ("an operator without a rule may have preconditions",))
        bound = Contract(inference, self.work)
        reasons = tuple(map(str, (*bound.preconditions, *bound._reader.ignored_advice())))
        if bound.preconditions and bound._budget.needs_isl:
            reasons = (*reasons, NEEDS_ISL)
        if bound.cut:
            return Answer(None, (*reasons, NOT_SIMPLIFIED), cut=True)
        violated = () if bound.preconditions else self._violated(sizes)
        if violated:  # the module that was traced may run where the program does not
            return Answer(False if trace is None else None, violated)
        if bound.preconditions:
            return Answer(None, reasons)
        guard = None if trace is None else trace.doubtful_guard(inference)
        return Answer(True, reasons) if guard is None else Answer(None, (f"without {guard.text} the module may fail",))

    def _violated(self, sizes: Mapping[str, int]) -> tuple[str, ...]:
        """The preconditions that do not hold at these sizes, though an inference finds no violation.

        An inference with symbols follows contents that one at a large number does not: `Range(0, 2**32)` has none.
        """
        binding = {self._symbol(name).name: size for name, size in sizes.items()}
        required = (p for p in self.always if p.kind not in ("guard", "assumption"))
        return tuple(str(precondition) for precondition in required if precondition.holds(binding) is False)

    @cached_property
    def _schema_violations(self) -> tuple[str, ...]:
        """Why no runtime loads the model, whatever its sizes; see `SchemaViolations`."""
        return tuple(_format_diagnostic(violation.diagnostic) for violation in SchemaViolations(self._inference))

    def _infer(
        self, sizes: Mapping[str, int], budget: Budget | None = None, trace: Trace | None = None
    ) -> Inference | Answer:
        """The inference with these sizes; or the answer, where a constraint is violated, or may be."""
        try:
            inference = infer_at(self._inference, {self._symbol(n): (n, size) for n, size in sizes.items()}, budget)
        except ShapeError as error:
            return Answer(False, (str(error),))
        broken = list(violations(inference))
        errors = tuple(_format_diagnostic(diagnostic) for diagnostic, certain in broken if certain)
        if errors:
            failed = [diagnostic.node for diagnostic, certain in broken if certain]
            guard = None if trace is None else trace.excusing_guard(inference, failed)
            return Answer(False, errors) if guard is None else Answer(None, (f"without {guard.text}: {errors[0]}",))
        if broken:
            return Answer(None, tuple(_format_diagnostic(diagnostic) for diagnostic, _ in broken))
        return inference

    def solve(self, name: str, values: Iterable[int] | None = None, *, work: int = WORK) -> LegalSizes:
        """The sizes among `values` of a dim with which the graph runs, for some sizes of the other dims.

        Without `values`, those within the bounds of the dim, up to `LARGEST_SOLVED`.

        They are solved for where all constraints are quasi-affine, else each size is tried. `work` is the budget, in
        steps that are the same on every machine; sizes beyond it are `untried`. Raises UnknownNameError.
        """
        if values is None:
            bounds = self._inference.store.interval(self._symbol(name))
            high = LARGEST_SOLVED if bounds.hi is None else min(bounds.hi, LARGEST_SOLVED)
            values = range(max(bounds.lo or 0, 0), high + 1)
        sizes = sort_sizes(values)
        wide = self._contract_for({name: sizes[0]} if sizes else {})
        return wide._solve(name, sizes, Budget(work))

    def nearest(self, name: str, sizes: Mapping[str, int], *, work: int = WORK) -> tuple[int, ...]:
        """The nearest legal sizes of a dim below and above its size in `sizes`, where the others keep theirs.

        Sizes are tried that differ by at most `NEAR` from it, or from the nearest size within the bounds of the dim.
        As in `solve`, the graph runs with them for some sizes of dims without a size, and for some data.

        Raises UnknownNameError, MissingSizeError.

        >>> from shapeinf import infer_shapes
        >>> infer_shapes("examples/convnet.onnx").contract.nearest("height", {"height": 7, "width": 8})
        (6, 8)
        """
        if name not in sizes:
            raise MissingSizeError([name], "it is the size whose neighbors are searched")
        size, others = sizes[name], {other: n for other, n in sizes.items() if other != name}
        bounds = self._inference.store.interval(self._symbol(name))
        center = max(bounds.lo or 0, size if bounds.hi is None else min(size, bounds.hi))
        legal = self.bind(others).solve(name, range(max(0, center - NEAR), center + NEAR + 1), work=work)
        below, above = ([n for n in legal if n < size], [n for n in legal if n > size])
        candidates = (*below[-1:], *above[:1])
        return tuple([near for near in candidates if self.check({**others, name: near}).verdict is not False])

    def _solve(self, name: str, sizes: list[int], budget: Budget) -> LegalSizes:
        from shapeinf.solver.integer_sets import possible_values

        symbol = self._symbol(name)
        if not sizes or self._schema_violations or certain_violations(self._inference):
            return LegalSizes(name, (), "evaluation")
        values = possible_values(self._inference.store, symbol, sizes, budget)
        needs_isl = budget.needs_isl
        runs = _SizeRuns(self, name, budget)
        if values is not None:
            solved = LegalSizes(name, tuple(values), "solved")
            if all(runs.succeeds(v) is (v in solved.values) for v in probe_sizes(solved, sizes)):
                return solved
        answers = [(v, runs.succeeds(v)) for v in sizes]
        legal, untried = (tuple(v for v, answer in answers if answer is kind) for kind in (True, None))
        if needs_isl:  # conditions on several dims remain
            return LegalSizes(name, (), "evaluation", tuple(sort_sizes([*legal, *untried])), needs_isl)
        return LegalSizes(name, legal, "evaluation", untried)

    def _runs(self, name: str, size: int, budget: Budget) -> bool:
        """Whether the graph can run with a size; conditions that remain are taken to hold."""
        inference = self._infer({name: size}, budget)
        return not isinstance(inference, Answer) or inference.verdict is not False

    def _symbol(self, name: str) -> Dimension:
        return find_symbol(self._reader.labels, name)


def infer_at(
    inference: Inference, sizes: Mapping[Dimension, tuple[str, int]], budget: Budget | None = None
) -> Inference:
    """The inference in which symbols have these sizes, each with its label; without assumptions, if these fail.

    The inference must hold for the sizes: see `Cases`. Raises ShapeError where user or file exclude them.
    """
    store = inference.initial_store.copy()
    for symbol, (label, size) in sizes.items():
        store.add_equal(symbol, size, Source("", f"{label} has the requested size {size}"))
    before = store.copy()
    run = rerun(inference, store, budget=budget)
    if not run.store.assumed or not any(violations(run)):
        return run
    return rerun(inference, before, budget=budget, assume=False)


class _SizeRuns:
    """Inferences at sizes of one dim, each once, within a budget."""

    def __init__(self, contract: Contract, name: str, budget: Budget) -> None:
        inference = contract._inference
        self._runs = contract._runs
        self._name = name
        self._budget = budget
        self._scope = inference.store.scope
        nodes, constraints = len(inference.compiled.rows), inference.store.count
        self._steps = STEPS_PER_RUN + STEPS_PER_NODE * nodes + 2 * STEPS_PER_CONSTRAINT * constraints
        self._known: dict[int, bool] = {}

    def succeeds(self, size: int) -> bool | None:
        """Whether the graph runs with a size; None if the budget is exhausted. Most of its cost is known afterwards."""
        if size not in self._known and self._budget.take(self._steps):
            before = self._scope.work
            runs = self._runs(self._name, size, self._budget)
            self._budget.spend(STEPS_PER_TERM * (self._scope.work - before), on_dims=True)
            if not self._budget.cut:  # else bodies were omitted
                self._known[size] = runs
        return self._known.get(size)


def _format_diagnostic(diagnostic: Diagnostic) -> str:
    subject = f"{diagnostic.op.partition(' (')[0]} '{diagnostic.node}': " if diagnostic.node else ""
    return subject + diagnostic.message
