"""A second inference that takes each declaration at its word, so that only a node that itself breaks one is found.

A wrong node makes everything behind it wrong too. Where the file declares what the node should make, the nodes behind
it go on with that: what is still found then is found at the wrong node itself.
"""

from __future__ import annotations

import attrs

from shapeinf.checks.declared import compared
from shapeinf.checks.meanings import declared_size
from shapeinf.checks.subject import CheckedModel
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import rerun
from shapeinf.engine.tensor_info import info
from shapeinf.expr import Dim
from shapeinf.graph import Declared
from shapeinf.inputs.reader import InputReader
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type
from shapeinf.result import Result


def taken_at_its_word(subject: CheckedModel) -> tuple[CheckedModel, list[Diagnostic]] | None:
    """The inference that goes on with what is declared, and where that was not what a node made.

    None where nothing inside the graph is declared, and for graphs with cycles.
    """
    inference = subject.result.inference
    if inference.compiled.groups is not None or all(name in subject.graph.outputs for name in subject.declared):
        return None
    found: list[Diagnostic] = []
    store = inference.initial_store.copy()
    reader = InputReader(store)
    other: list[CheckedModel] = []

    def believe(fresh: Inference) -> None:
        other.append(CheckedModel(Result(fresh, reader), subject.ranges, trial=True))
        slots = fresh.compiled.slots
        for name, declared in subject.declared.items():
            fresh.declared[slots[name]] = _Believer(other[0], name, declared, found)

    rerun(inference, store, believe)
    return other[0], found


@attrs.frozen
class _Believer:
    """Compares what a node makes with its declaration at once, and goes on with the declaration where they differ."""

    subject: CheckedModel
    name: str
    declared: Declared
    found: list[Diagnostic]

    def __call__(self, number: int, step: NodeStep) -> int:
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
