"""The options of an inference: one record that every entry point passes on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal

import attrs

from shapeinf.graph import Graph
from shapeinf.inputs.named_dims import NamedDim
from shapeinf.inputs.reader import RangeLike, SpecLike, by_name, input_names
from shapeinf.ops import OpRegistry

Progress = Callable[[int, int], None]
"""Called with (done, total) after every node."""
Mode = Literal["best", "strict"]
DeclaredMode = Literal["trust", "check", "ignore"]
"""What becomes of declared shapes of node outputs."""
Dims = Mapping[str, RangeLike] | Iterable[NamedDim]
Specs = Mapping[str, SpecLike] | Sequence[SpecLike] | str


def _dims(dims: Dims | None) -> Mapping[str, RangeLike] | tuple[NamedDim, ...]:
    return dims if isinstance(dims, Mapping) else tuple(dims or ())


def _bind(bind: Mapping[str, int] | None) -> Mapping[str, int]:
    return bind or {}


def _inputs(inputs: Specs | None) -> Specs:
    return inputs or {}


def _assume(assume: Iterable[str] | str) -> tuple[str, ...]:
    return (assume,) if isinstance(assume, str) else tuple(assume)


@attrs.frozen(kw_only=True)
class InferenceOptions:
    """How a model is inferred; the fields are the keywords of `infer_shapes`, which documents them."""

    dims: Mapping[str, RangeLike] | tuple[NamedDim, ...] = attrs.field(factory=dict, converter=_dims)
    bind: Mapping[str, int] = attrs.field(factory=dict, converter=_bind)
    inputs: Specs = attrs.field(factory=dict, converter=_inputs)
    assume: tuple[str, ...] = attrs.field(default=(), converter=_assume)
    mode: Mode = "best"
    min_dim: int = 1
    declared: DeclaredMode = "trust"
    dialect: str | None = None
    expand: Collection[str] | Literal["all"] = ()
    registry: OpRegistry | None = None
    progress: Progress | None = None

    def inputs_by_name(self, graph: Graph) -> Mapping[str, SpecLike]:
        """The shapes of inputs by name. Raises UnknownNameError for an input that the graph does not have."""
        return by_name(self.inputs, input_names(graph))


DEFAULT_OPTIONS = InferenceOptions()
