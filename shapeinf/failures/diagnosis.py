"""`explain_failure`: the condition of a graph that a failed run violated, from the error text of the runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from shapeinf.contract import Contract
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Session
from shapeinf.errors import UnknownNameError
from shapeinf.failures.allocations import likely_tensors
from shapeinf.failures.conditions import Conditions
from shapeinf.failures.nodes import Candidate, NodeIndex, unknown_integers
from shapeinf.failures.report import FailedCondition, FailureReport, NodeMatch, Verdict
from shapeinf.failures.sizes import (
    OperandSizes,
    RunSizes,
    Shapes,
    find_input,
    input_ranks,
    message_shapes,
    open_axes,
    sizes_of_shapes,
    violations_at,
)
from shapeinf.formats import FORMATS
from shapeinf.guards import examine_guards
from shapeinf.inputs.reader import as_sizes, input_names
from shapeinf.lattice import TensorType
from shapeinf.runtime_messages import RUNTIMES, RuntimeMessage, find_messages
from shapeinf.runtime_messages.records import MessageKind
from shapeinf.solver.budget import WORK

MOST_LISTED = 12
"""The most nodes, and the most conditions, of a report."""

CERTAIN = 1000
"""The score of the only node whose operands can have the sizes in a message."""

OTHER_CAUSES: Mapping[MessageKind, str] = {
    "type": "the message is about element types, not sizes",
    "unsupported": "the runtime does not have this operator or version: sizes do not cause this",
    "file": "the file is missing or cannot be read: sizes do not cause this",
    "usage": "the message is about the names of inputs, not their sizes",
}


def explain_failure(
    session: Session,
    inference: Inference,
    text: str,
    at: Mapping[str, int] | None = None,
    shapes: Shapes | None = None,
    work: int = WORK,
) -> FailureReport:
    """Why a run of a model failed, from the text of its error.

    `at` has sizes of dims and `shapes` the shapes of inputs of the run, if these are known; else the sizes in the text
    count. `work` is the budget of each query. Raises UnknownNameError for a dim or an input that the model lacks.
    """
    sizes = as_sizes(at or {})
    named = _shapes_by_name(inference, shapes or {})
    index = NodeIndex(inference)
    message = choose_message(find_messages(text), index)
    diagnosis = _Diagnosis(session, index, message, work)
    if message is None and not sizes and not named:
        note = f"the message has no error text of a runtime that is known: {', '.join(RUNTIMES)}"
        return FailureReport("unknown", None, notes=(note,))
    if message is not None and message.kind in OTHER_CAUSES:
        return diagnosis.other_cause(message)
    run = diagnosis.run_sizes(sizes, named)
    if message is not None and message.kind == "guard":
        return diagnosis.failed_guard(message, run)
    if message is not None and (message.kind == "memory" or message.requested is not None):
        return diagnosis.allocation(message, run)
    return diagnosis.conditions_at(run) if run is not None else diagnosis.without_sizes()


def choose_message(messages: Sequence[RuntimeMessage], index: NodeIndex) -> RuntimeMessage | None:
    """The message to explain: the first one, or a later one about a node that is found with more certainty."""
    if not messages or messages[0].kind != "node":
        return next(iter(messages), None)
    nodes = [message for message in messages if message.kind == "node"][:MOST_LISTED]
    return max(nodes, key=lambda message: max((c.score for c in index.find(message)), default=0))


def _shapes_by_name(inference: Inference, shapes: Shapes) -> dict[str, list[int | None]]:
    named = {}
    for text, shape in shapes.items():
        name = find_input(inference, text)
        if name is None:
            raise UnknownNameError("input", text, input_names(inference.compiled.graph))
        named[name] = list(shape)
    return named


class _Diagnosis:
    """The explanation of one message."""

    def __init__(self, session: Session, index: NodeIndex, message: RuntimeMessage | None, work: int) -> None:
        self.session = session
        self.inference = index.inference
        self.message = message
        self.work = work
        self.index = index
        self.candidates = [] if message is None else self.index.find(message)

    def other_cause(self, message: RuntimeMessage) -> FailureReport:
        """The report on a message that is not about sizes."""
        return FailureReport("other cause", message, nodes=self._nodes(), notes=(OTHER_CAUSES[message.kind],))

    def _nodes(self, candidates: Sequence[Candidate] | None = None) -> tuple[NodeMatch, ...]:
        listed = self.candidates if candidates is None else candidates
        best = [c for c in listed if c.evidence != "operator"] or listed
        return tuple([candidate.match for candidate in best[:MOST_LISTED]])

    # -- the sizes of the run ------------------------------------------------------------------------------------------

    def run_sizes(self, sizes: Mapping[str, int], shapes: Shapes) -> RunSizes | None:
        """The sizes of the user, else those in the message; None where neither states any."""
        if shapes:
            return sizes_of_shapes(self.session, self.inference, shapes, sizes, "user")
        if sizes:
            return RunSizes(self.inference, sizes, "user")
        if self.message is None:
            return None
        stated = message_shapes(self.message, self.inference)
        if stated:
            return sizes_of_shapes(self.session, self.inference, stated, {}, "message")
        return None

    # -- an allocation that failed -------------------------------------------------------------------------------------

    def allocation(self, message: RuntimeMessage, run: RunSizes | None) -> FailureReport:
        """The report on an allocation that failed, with the tensors of its size at the sizes of the run."""
        notes = ["an allocation failed: no condition on sizes is violated by that alone"]
        at_sizes = None if run is None else violations_at(run)[0]
        tensors = likely_tensors(at_sizes or self.inference, message.requested)
        if message.requested is not None and not tensors:
            known = "at these sizes" if at_sizes is not None else "without the sizes of the run (--at)"
            notes.append(f"no tensor of the graph is known to take {message.requested} bytes {known}")
        report = FailureReport("other cause", message, nodes=self._nodes(), tensors=tensors, notes=tuple(notes))
        return report if run is None else attrs.evolve(report, sizes=dict(run.sizes), sizes_from=run.source)

    # -- a guard that failed -------------------------------------------------------------------------------------------

    def failed_guard(self, message: RuntimeMessage, run: RunSizes | None) -> FailureReport:
        """The report on a guard of an exported program: whether its operators need it, and which ones."""
        has_guards = FORMATS.input_guards(self.inference.compiled.graph) is not None
        known = tuple(examine_guards(self.session)) if has_guards else ()
        guard = next((g for g in known if message.guard in (g.text, g.condition)), None)
        conditions = [FailedCondition(None, message.guard, "the exported program checks this guard")]
        notes = []
        if guard is not None and guard.verdict == "needed":
            notes += [f"an operator needs it: {reason}" for reason in guard.reasons]
        elif guard is not None and guard.verdict in ("artifact", "too strong"):
            notes.append(
                "the operators accept sizes that it refuses: export the program with a free size (shapeinf guards)"
            )
        if run is not None:
            conditions += self.conditions_at(run).conditions
        report = FailureReport("violated", message, conditions=tuple(conditions), notes=tuple(notes))
        return report if run is None else attrs.evolve(report, sizes=dict(run.sizes), sizes_from=run.source)

    # -- known sizes ---------------------------------------------------------------------------------------------------

    def conditions_at(self, run: RunSizes, likeliest: Candidate | None = None) -> FailureReport:
        """The report for known sizes: the violated conditions, those of the nodes that the message names first."""
        failing = violations_at(run)[1]
        conditions = Conditions(run.inference, run.sizes, self.work)
        index = self.index if run.inference is self.inference else NodeIndex(run.inference)
        candidates = [] if self.message is None else index.find(self.message)
        if likeliest is not None:
            candidates = [likeliest, *(c for c in candidates if c.node.name != likeliest.node.name)]
        declared = list(self._declarations(run))
        ranked = _rank_violations(failing, candidates)
        violated = [
            conditions.violated(diagnostic, _match_of(diagnostic, candidates, index))
            for diagnostic in ranked[:MOST_LISTED]
        ]
        if declared or violated:
            named = {c.node.name for c in candidates if c.evidence != "operator"}
            certain = bool(declared) or any(is_certain or d.node in named for d, is_certain in failing)
            notes = self._notes_on(ranked, candidates, declared, violated)
            by_node = self.message is not None and self.message.kind == "node"
            first = [*violated, *declared] if by_node else [*declared, *violated]
            listed = [*first, *conditions.equal_names(self.inference, run)]
            return self._report("violated" if certain else "possible", run, listed, candidates, notes)
        return self._without_violation(run, conditions, candidates)

    def _without_violation(
        self, run: RunSizes, conditions: Conditions, candidates: Sequence[Candidate]
    ) -> FailureReport:
        """The report where no condition is violated: conditions on data, or another cause."""
        answer = Contract(run.inference, self.work).check(run.sizes)
        names = {candidate.node.name: candidate.match for candidate in candidates}
        remaining = [conditions.remaining(p, names[p.node]) for p in conditions.undecided() if p.node in names]
        if answer.verdict is True and not remaining:
            return self._holds(run, candidates)
        notes = ["the conditions on sizes hold; it depends on data whether the graph runs"]
        if not remaining:
            notes += [f"undecided: {reason}" for reason in answer.reasons[:3]]
        return self._report("depends on data", run, remaining, candidates, notes)

    def _holds(self, run: RunSizes, candidates: Sequence[Candidate]) -> FailureReport:
        """The report where the contract holds: values of integers may be the cause, else another one is."""
        reads = unknown_integers(_best(candidates))
        if reads:
            note = f"all conditions on sizes hold; the node reads integers whose values are data: {', '.join(reads)}"
            return self._report("depends on data", run, [], candidates, [note])
        note = "all conditions of the graph hold at these sizes: the failure has another cause"
        return self._report("holds", run, [], candidates, [note])

    def _declarations(self, run: RunSizes) -> Iterator[FailedCondition]:
        """The declared types of inputs that the shapes of the run do not have."""
        message = self.message
        for name in run.opened:
            declared, got = self.inference.input_types.get(name), run.inference.input_types.get(name)
            if isinstance(declared, TensorType) and isinstance(got, TensorType):
                yield from Conditions(self.inference, {}, self.work).declared(name, declared, got, run)
        for mismatch in () if message is None or run.source == "user" else message.inputs:
            if mismatch.axis is None:
                text = f"input {mismatch.input} has rank {mismatch.expected}"
                yield FailedCondition(None, text, f"the run has rank {mismatch.got}", input=mismatch.input)

    def _notes_on(
        self,
        ranked: Sequence[Diagnostic],
        candidates: Sequence[Candidate],
        declared: Sequence[FailedCondition],
        violated: Sequence[FailedCondition],
    ) -> list[str]:
        """Remarks on violations that the message does not name."""
        notes = []
        if declared and not violated:
            notes.append("no node of the graph requires the declared sizes: the declaration can be a dim with a name")
        named = {candidate.node.name for candidate in candidates}
        if ranked and candidates and ranked[0].node not in named and ranked[0].node:
            notes.append(
                f"the message names {candidates[0].match}; the condition that fails at these sizes is that of another "
                "node, which the runtime may have fused or expanded"
            )
        return notes

    # -- unknown sizes -------------------------------------------------------------------------------------------------

    def without_sizes(self) -> FailureReport:
        """The report for unknown sizes of dims; the sizes of operands in the message may decide them."""
        contract = Contract(self.inference, self.work)
        conditions = Conditions(self.inference, {}, self.work)
        message = self.message
        rank = [m for m in (() if message is None else message.inputs) if m.axis is None]
        if rank:
            run = RunSizes(self.inference, {}, "message")
            return self._report("violated", run, list(self._declarations(run)), [], [])
        listed = self.candidates or self.index.with_conditions(conditions.by_node)
        possible_sizes = (
            {} if message is None else OperandSizes(self.inference, message, contract).of_candidates(listed)
        )
        possible = [c for c in listed if possible_sizes.get(c.node.name)]
        best = _best(possible)
        distinct = [sizes for candidate in best for sizes in possible_sizes[candidate.node.name]]
        if len(best) == 1 and len(distinct) == 1:
            likeliest = best[0]._replace(score=CERTAIN)
            report = self.conditions_at(RunSizes(self.inference, distinct[0], "message"), likeliest)
            if report.verdict == "violated" and report.conditions[0].match == best[0].match:
                return report
        return self._symbolic(conditions, possible)

    def _symbolic(self, conditions: Conditions, possible: Sequence[Candidate]) -> FailureReport:
        """The conditions of the nodes that the message may name, without sizes."""
        best = _best(possible) or _best(self.candidates)
        failing = conditions.failing_anyway({c.node.name: c.match for c in best})
        listed, note = self._possible_conditions(conditions, best)
        verdict: Verdict = "violated" if failing else "possible" if listed else "unknown"
        printed = tuple([*failing, *listed][:MOST_LISTED])
        return FailureReport(
            verdict, self.message, nodes=self._nodes(best), conditions=printed, notes=(note,) if note else ()
        )

    def _possible_conditions(
        self, conditions: Conditions, best: Sequence[Candidate]
    ) -> tuple[list[FailedCondition], str]:
        """The conditions of these nodes, else those next to them; with a remark where they are not their own."""
        listed = [condition for c in best for condition in conditions.of_node(c.match)]
        if listed:
            named = any(c.evidence != "condition" for c in best)
            return listed, "" if named else "the message names no node of this model; its sizes fit these conditions"
        if not best:
            every = self.index.with_conditions(conditions.by_node)
            listed = [condition for c in every for condition in conditions.of_node(c.match)]
            more = f", the first {MOST_LISTED} of {len(listed)}" if len(listed) > MOST_LISTED else ""
            note = f"the message names no node of this model, so all conditions of the graph are listed{more}"
            return listed, note if listed else "the message names no node of this model"
        nearby = list(conditions.of_neighbors(c.node for c in best))
        if nearby:
            return nearby, (
                "the node has no condition on sizes; the conditions of its neighbors are listed, which "
                "the runtime may have fused with it"
            )
        opened = Conditions(open_axes(self.session, input_ranks(self.inference)), {}, self.work)
        listed = [condition for c in best for condition in opened.of_node(c.match)]
        if listed:
            return listed, "the declared shapes of the inputs imply this condition: the run has inputs of other shapes"
        reads = unknown_integers(best)
        if reads:
            return [], f"the node reads integers of which the values are not known: {', '.join(reads)}"
        return [], "no condition on sizes of the inputs is known for this node: state the sizes of the run (--at)"

    def _report(
        self,
        verdict: Verdict,
        run: RunSizes,
        conditions: Sequence[FailedCondition],
        candidates: Sequence[Candidate],
        notes: Sequence[str],
    ) -> FailureReport:
        return FailureReport(
            verdict,
            self.message,
            dict(run.sizes),
            run.source if run.sizes or run.opened else "",
            self._nodes(candidates),
            tuple(conditions),
            notes=tuple(notes),
        )


def _best(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with the highest score."""
    most = max((candidate.score for candidate in candidates), default=0)
    return [candidate for candidate in candidates if candidate.score == most]


def _rank_violations(failing: Sequence[tuple[Diagnostic, bool]], candidates: Sequence[Candidate]) -> list[Diagnostic]:
    """The violations: those of nodes that the message names first, then certain ones, by the order of the graph."""
    scores = {candidate.node.name: candidate.score for candidate in candidates}
    ordered = sorted(failing, key=lambda pair: (-scores.get(pair[0].node, 0), not pair[1]))
    return [diagnostic for diagnostic, _ in ordered]


def _match_of(diagnostic: Diagnostic, candidates: Sequence[Candidate], index: NodeIndex) -> NodeMatch | None:
    for candidate in candidates:
        if candidate.node.name == diagnostic.node:
            return candidate.match
    node = index.by_path.get(diagnostic.node)
    return None if node is None else node.as_match("condition")
