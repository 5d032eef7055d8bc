"""A graph that runs at no sizes though nothing forbids them: found by inferences with numbers in place of names."""

from __future__ import annotations

from collections.abc import Iterator

from shapeinf.checks.concrete import generic, violated_at
from shapeinf.checks.subject import CheckedModel
from shapeinf.checks.trial import shown
from shapeinf.diagnostics import Diagnostic, register_code

NOWHERE = register_code(
    "C115", "warning", "a graph that fails at all tested sizes", "No declared constraint excludes these sizes."
)
_TRIED = 4


def runs_nowhere(subject: CheckedModel) -> Iterator[Diagnostic]:
    """The first node that breaks at each of a few sets of sizes; nothing as soon as one of them runs.

    Some laws cannot be decided for names: then nothing is found, and no precondition says it either. It is looked at
    only where all dims of the inputs have names, and at nodes whose inputs are of known rank: a size that decides a
    rank has one right value, which is hardly tried.
    """
    if not subject.axes or subject.axes.keys() != subject.named:
        return
    broken = []
    for binding in generic(subject, _TRIED):
        found = violated_at(subject.result.inference, binding)
        if not found:
            return
        broken.append((binding, found))
    if not broken:
        return
    binding, (first, *_) = broken[0]
    if _ranks_are_known(subject, first.node) and all(
        any(one.node == first.node for one in found) for _, found in broken
    ):
        yield Diagnostic(
            "warning",
            NOWHERE,
            f"at {shown(subject, binding)}, as at all other sizes that were tried: {first.message}",
            first.node,
            first.op,
            because=first.because,
            location=first.location,
            operands=first.operands,
        )


def _ranks_are_known(subject: CheckedModel, node: str) -> bool:
    found = subject.nodes.get(node)
    shapes = [subject.result.tensors[name].shape for name in (found.inputs if found is not None else ()) if name]
    return bool(shapes) and all(shape.dims is not None for shape in shapes)
