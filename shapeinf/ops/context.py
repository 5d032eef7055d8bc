"""InferenceContext: what a rule sees of one call."""

from __future__ import annotations

from shapeinf.errors import ShapeError
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops.verbs import RuleContext


class InferenceContext(RuleContext):
    """Inputs, outputs and attributes by index or name."""

    def input(self, index: int) -> Shape:
        """The shape of an input, canonical under the facts."""
        found = self.types[index]
        if not isinstance(found, TensorType):
            raise ShapeError(f"input {index} is no tensor")
        return self.facts.canon_shape(found.shape)
