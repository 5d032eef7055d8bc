"""A second inference that takes each declaration at its word, so that only a node that itself breaks one is found.

A wrong node makes everything behind it wrong too. Where the file declares what the node should make, the nodes behind
it go on with that: what is still found then is found at the wrong node itself.
"""

from __future__ import annotations

import attrs

from shapeinf.checks.declared import compared
from shapeinf.checks.finding import Finding
from shapeinf.checks.meanings import declared_size
from shapeinf.checks.subject import Subject
from shapeinf.engine.compiled import Step
from shapeinf.engine.inference import Inference
from shapeinf.engine.rerun import rerun
from shapeinf.engine.tensor_info import info
from shapeinf.expr import Dim
from shapeinf.graph import DeclaredType
from shapeinf.inputs.reader import InputReader
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type
from shapeinf.result import Result


def taken_at_its_word(subject: Subject) -> tuple[Subject, list[Finding]] | None:
    """The inference that goes on with what is declared, and where that was not what a node made.

    None where nothing inside the graph is declared, and for graphs with cycles.
    """
    inference = subject.result.inference
    if inference.program.groups is not None or all(name in subject.graph.outputs for name in subject.declared):
        return None
    found: list[Finding] = []
    store = inference.setup.copy()
    reader = InputReader(store)
    other: list[Subject] = []

    def believe(fresh: Inference) -> None:
        other.append(Subject(Result(fresh, reader), subject.ranges, trial=True))
        slots = fresh.program.slots
        for name, declared in subject.declared.items():
            fresh.declared[slots[name]] = _Believer(other[0], name, declared, found)

    rerun(inference, store, believe)
    return other[0], found


@attrs.frozen
class _Believer:
    """Compares what a node makes with its declaration at once, and goes on with the declaration where they differ."""

    subject: Subject
    name: str
    declared: DeclaredType
    found: list[Finding]

    def __call__(self, number: int, step: Step) -> int:
        """The number of the type to go on with."""
        inference = self.subject.result.inference
        made = inference.table.get(number)
        assert made is not None
        findings = list(compared(self.subject, self.name, self.declared, info(made)))
        self.found.extend(findings)
        if self.declared.kind != "tensor" or not isinstance(made, TensorType) or self.declared.dims is None:
            return number
        if findings or made.shape.dims is None:
            return inference.table.add(self._declared(made))
        return number

    def _declared(self, made: TensorType) -> Type:
        """The declared type; an axis of which it says nothing is open, since the made one is not to be trusted."""
        dims = [self._size(axis) for axis in range(len(self.declared.dims or ()))]
        return PartialTensor(self.declared.dtype or made.dtype, Shape(dims), None)

    def _size(self, axis: int) -> Dim:
        assert self.declared.dims is not None
        meant = declared_size(self.subject.store, self.declared.dims[axis])
        return self.subject.store.presumed_size(f"{self.name}.{axis}") if meant is None else meant
