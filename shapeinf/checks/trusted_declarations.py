"""A what-if run that trusts declarations, so that only a node that violates its own declaration is reported.

A wrong node makes the shapes downstream wrong. Where the file declares the output of the node, this run continues
downstream with the declared type, so that the remaining failures are at wrong nodes.
"""

from __future__ import annotations

import attrs

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.declarations import compare
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.declarations import declared_size
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Engine, rerun
from shapeinf.engine.tensor_info import tensor_info
from shapeinf.engine.traced import has_traced_sizes
from shapeinf.expr import DimSize
from shapeinf.graph import DeclaredType
from shapeinf.inputs.reader import InputReader
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type
from shapeinf.result import Result


def trust_declarations(model: CheckedModel) -> tuple[CheckedModel, list[Diagnostic]] | None:
    """The what-if run, and a diagnostic for each declaration that a node violates in it.

    None where the file declares nothing inside the graph, where it declares the sizes of a traced run and the inputs
    may have other sizes, and for graphs with cycles.
    """
    inference = model.result.engine.inference
    if inference.compiled.groups is not None or not has_traced_sizes(inference):
        return None
    if all(name in model.graph.outputs for name in model.declared):
        return None
    violations: list[Diagnostic] = []
    store = inference.initial_store.copy()
    reader = InputReader(store)
    trusted: list[CheckedModel] = []

    def begin(fresh: Inference) -> None:
        trusted.append(_trusted_model(model, fresh, reader))
        slots = fresh.compiled.slots
        for name, declared in model.declared.items():
            fresh.refiners[slots[name]] = _TrustedDeclaration(trusted[0], name, declared, violations)

    rerun(inference, store, begin, model.budget)
    return trusted[0], violations


def _trusted_model(model: CheckedModel, fresh: Inference, reader: InputReader) -> CheckedModel:
    result = Result(Engine(fresh, reader))
    return CheckedModel(result, model.ranges, what_if=True, later=model.store, budget=model.budget)


@attrs.frozen
class _TrustedDeclaration:
    """Compares a value with its declaration when its node has run; the run continues with the declaration."""

    model: CheckedModel
    name: str
    declared: DeclaredType
    violations: list[Diagnostic]

    def __call__(self, inference: Inference, number: int, index: int) -> int:
        """The number of the type to continue with."""
        computed = inference.table.get(number)
        assert computed is not None
        differences = list(compare(self.model, self.name, self.declared, tensor_info(computed)))
        self.violations.extend(differences)
        if self.declared.kind != "tensor" or not isinstance(computed, TensorType) or self.declared.dims is None:
            return number
        if differences or computed.shape.dims is None:
            return inference.table.add(self._declared_type(computed))
        return number

    def _declared_type(self, computed: TensorType) -> Type:
        """The declared type; axes without a declared size are unknown, since those of a wrong node are not trusted."""
        dims = [self._size(axis) for axis in range(len(self.declared.dims or ()))]
        return PartialTensor(self.declared.dtype or computed.dtype, Shape(dims), None)

    def _size(self, axis: int) -> DimSize:
        assert self.declared.dims is not None
        size = declared_size(self.model.store, self.declared.dims[axis])
        return self.model.store.assumable_size(f"{self.name}.{axis}") if size is None else size
