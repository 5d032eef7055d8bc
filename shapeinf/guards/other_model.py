"""`find_in_model`: the guards of a program in another model that was made of it, such as an ONNX file.

The other model states its own contract: the requirements of its operators, and the sizes that it declares as numbers
for its inputs. The inputs of both correspond by name, else by position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from shapeinf.engine.session import Session
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import quote_name
from shapeinf.graph import Graph
from shapeinf.graph.guards import InputGuards
from shapeinf.guards.examination import Examination, GuardCondition, open_axes
from shapeinf.guards.report import GuardInModel, GuardReport, GuardVerdict, MissingGuard, OtherModel
from shapeinf.guards.sizes import Sizes
from shapeinf.inputs.reader import input_names
from shapeinf.solver.budget import WORK

_DECLARED = "the model declares this size of its input"


def find_in_model(program: Examination, report: GuardReport, session: Session, work: int = WORK) -> OtherModel:
    """What the model of a session keeps of the guards of a program with this report; `work` is its budget.

    Raises ShapeInferenceError where their inputs do not correspond.
    """
    verdicts = {id(guard): verdict for guard, verdict in zip(program.listed(), report, strict=True)}
    search = _Search(program, session, work)
    by_guard = {id(c.guard): search.find(c, verdicts[id(c.guard)]) for c in search.model.conditions}
    guards = tuple([by_guard.get(id(guard)) for guard in program.listed()])
    added, budget = tuple(search.added()), search.model.budget
    return OtherModel(guards, added, budget.cut, needs_isl=budget.needs_isl)


class _Search:
    """The search for the guards of a program in another model."""

    def __init__(self, program: Examination, session: Session, work: int) -> None:
        graph = session.compiled.graph
        names = _match_inputs(program.inputs, graph)
        shapes = {names[name]: axes for name, axes in program.inputs.axes.items() if name in names}
        self.declared = dict(_declared_numbers(graph, shapes))
        self.axes = {axis for axes in shapes.values() for axis in axes}
        self.program = program
        fixed = [f"{quote_name(axis)} == {size}" for axis, size in self.declared.items()]
        self.model = Examination(program.inputs, open_axes(session, shapes, fixed), work)

    def find(self, examined: GuardCondition, verdict: GuardVerdict) -> GuardInModel:
        """What the model keeps of a guard with this verdict."""
        condition, model = examined.condition, self.model
        if any(symbol.name not in self.axes for symbol in condition.symbols()):
            return GuardInModel("unknown")
        if condition.decide(model.initial, model.budget):
            fixed = any(symbol.name in self.declared for symbol in condition.symbols())
            return GuardInModel("kept", (_DECLARED,) if fixed else ())
        there = model.examine(examined)
        if there.verdict == "needed":
            return GuardInModel("kept", there.reasons)
        lost = next((sizes for sizes in (there.accepted, verdict.refused) if self._is_lost(sizes, verdict)), None)
        if lost is not None:
            return GuardInModel("lost", accepted=lost)
        return GuardInModel("unknown" if there.accepted is None else "relaxed", accepted=there.accepted)

    def _is_lost(self, sizes: Sizes | None, verdict: GuardVerdict) -> bool:
        """Whether the model accepts sizes, which a guard refuses, and the operators of the program do not."""
        if sizes is None or self.model.check(sizes)[0] is not True:
            return False
        return verdict.verdict == "needed" or self.program.check(sizes)[0] is False

    def added(self) -> Iterator[MissingGuard]:
        """What the model requires at sizes that the guards accept, without what the program requires as well."""
        return (missing for missing in self.model.missing() if self.program.check(missing.sizes)[0])


def _match_inputs(inputs: InputGuards, graph: Graph) -> dict[str, str]:
    """The input of the model for each input of the program that has axes."""
    wanted, there = list(inputs.axes), input_names(graph)
    with_axes = [name for name, axes in inputs.axes.items() if axes != (name,)]
    if set(with_axes) <= set(there):
        return {name: name for name in with_axes}
    if len(wanted) != len(there):
        raise ShapeInferenceError(
            f"the inputs of the models do not correspond: the program has {_listed(wanted)}, "
            f"the other model {_listed(there)}"
        )
    return {name: other for name, other in zip(wanted, there, strict=True) if name in with_axes}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quote_name, names)) or "none"


def _declared_numbers(graph: Graph, shapes: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, int]]:
    """The axes whose sizes the model declares as numbers. Raises ShapeInferenceError for an input of another rank."""
    for name, axes in shapes.items():
        declared = graph.declared.get(name)
        dims = None if declared is None else declared.dims
        if dims is None:
            continue
        if len(dims) != len(axes):
            raise ShapeInferenceError(
                f"the inputs of the models do not correspond: input {quote_name(name)} has {len(dims)} axes, "
                f"in the program {len(axes)}"
            )
        yield from ((axis, d) for axis, d in zip(axes, dims, strict=True) if isinstance(d, int))
