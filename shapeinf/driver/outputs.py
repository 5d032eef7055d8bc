"""What a file declares of node outputs: fills what inference leaves unknown, and is compared with what it knows."""

from __future__ import annotations

from collections.abc import Callable

from shapeinf.algebra import Dim
from shapeinf.driver.diagnostics import Diagnostic
from shapeinf.driver.inference import Inference
from shapeinf.driver.inputs import InputReader
from shapeinf.driver.program import Step
from shapeinf.graph import Declared
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type

Refine = Callable[[Type, Step], Type]


def refiners(inference: Inference, reader: InputReader, trust: bool) -> dict[int, Refine]:
    """For each declared node output, the function that compares (and, if trusted, fills) its inferred type."""
    program = inference.program
    found: dict[int, Refine] = {}
    for name, declared in program.graph.declared.items():
        slot = program.slots.get(name)
        if slot is not None and program.producers[slot] is not None and declared.kind == "tensor":
            found[slot] = Refiner(inference, reader, name, declared, trust)
    return found


class Refiner:
    """Compares one declaration. Only ints and names of inputs are believed: exporters invent other names freely."""

    def __init__(self, inference: Inference, reader: InputReader, name: str, declared: Declared, trust: bool) -> None:
        """Remembers the declaration."""
        self.inference = inference
        self.reader = reader
        self.name = name
        self.declared = declared
        self.trust = trust

    def __call__(self, found: Type, step: Step) -> Type:
        """The type to go on with."""
        if not isinstance(found, TensorType):
            return found
        dims = self.declared.dims
        shape = found.shape
        if dims is not None:
            if shape.dims is None:
                shape = self._all(dims) if self.trust else shape
            elif len(shape.dims) != len(dims):
                self._differ(step, str(shape), "rank")
            else:
                shape = Shape(self._axis(step, i, d, dims[i]) for i, d in enumerate(shape.dims))
        dtype = found.dtype or (self.declared.dtype if self.trust else None)
        if found.dtype and self.declared.dtype and found.dtype != self.declared.dtype:
            self._differ(step, found.dtype, "element type")
        if shape == found.shape and dtype == found.dtype:
            return found
        elements = found.elements
        return TensorType(dtype, shape) if elements is None else PartialTensor(dtype, shape, elements)

    def _all(self, dims: tuple[int | str | None, ...]) -> Shape:
        return Shape(
            self.inference.facts.scope.fresh(f"{self.name}.{i}") if (known := self._believed(d)) is None else known
            for i, d in enumerate(dims)
        )

    def _believed(self, declared: int | str | None) -> Dim | None:
        scope = self.inference.facts.scope
        if isinstance(declared, str):
            return scope.symbol(declared) if scope.has(declared) else None
        return declared if declared is not None and declared >= 0 else None

    def _axis(self, step: Step, axis: int, inferred: Dim, declared: int | str | None) -> Dim:
        known = self._believed(declared)
        facts = self.inference.facts
        if known is None or known is inferred or known == inferred:
            return inferred
        if facts.prove_eq(inferred, known) is False:
            self._differ(step, f"axis {axis} of size {inferred}", f"axis {axis} of size {known}")
            return inferred
        unknown = not isinstance(inferred, int) and inferred.is_symbol and inferred.is_anonymous
        return known if self.trust and unknown and isinstance(known, int) else inferred

    def _differ(self, step: Step, inferred: str, declared: str) -> None:
        message = f"the declared shape of {self.name} is not what the graph makes: {declared} declared, {inferred} made"
        if declared in ("rank", "element type"):
            shown = self.declared.dtype if declared == "element type" else list(self.declared.dims or ())
            message = f"the declared {declared} of {self.name} ({shown}) is not what the graph makes ({inferred})"
        note = Diagnostic("warning", "S120", message, step.site, step.op)
        self.inference.found.setdefault(step.index, []).append(note)
