"""`examine_guards`: the report on the guards of a program."""

from __future__ import annotations

import attrs

from shapeinf.engine.session import Session
from shapeinf.errors import ShapeInferenceError
from shapeinf.formats import FORMATS
from shapeinf.guards.examination import Examination, open_axes
from shapeinf.guards.other_model import find_in_model
from shapeinf.guards.report import GuardReport
from shapeinf.solver.budget import WORK


def examine_guards(session: Session, other: Session | None = None, work: int = WORK) -> GuardReport:
    """The report on the guards of the model of a session, and on those in another model that was made of it.

    `work` is the budget for each model. Raises ShapeInferenceError for a model whose format states no guards, and for
    another model whose inputs do not correspond to those of the first.
    """
    graph = session.compiled.graph
    inputs = FORMATS.input_guards(graph)
    if inputs is None:
        read_from = FORMATS.format_of(graph)
        title = graph.dialect if read_from is None else read_from.title
        raise ShapeInferenceError(f"the model has no guards: a model of {title} states none")
    shapes = {name: axes for name, axes in inputs.axes.items() if axes != (name,)}
    program = Examination(inputs, open_axes(session, shapes), work)
    report = program.report()
    return report if other is None else attrs.evolve(report, other=find_in_model(program, report, other, work))
