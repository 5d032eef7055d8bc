"""The options of an inference: one record that every entry point passes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, get_args

import attrs

from shapeinf.errors import UnknownNameError
from shapeinf.formats import FormatOptions
from shapeinf.graph import Graph
from shapeinf.inputs.named_dims import NamedDim
from shapeinf.inputs.reader import RangeLike, SpecLike, specs_by_input
from shapeinf.ops import OpRegistry

Progress = Callable[[int, int], None]
"""Called with (done, total) after every node."""
Mode = Literal["best", "strict"]
DeclaredMode = Literal["trust", "check", "ignore"]
"""How declared types of node outputs are used."""
DimRanges = Mapping[str, RangeLike] | Iterable[NamedDim]
"""Ranges of named dims."""
InputSpecs = Mapping[str, SpecLike] | Sequence[SpecLike] | str
"""Shapes of inputs by name, or in order; a text holds one or several."""


def _convert_dims(dims: DimRanges | None) -> Mapping[str, RangeLike] | tuple[NamedDim, ...]:
    return dims if isinstance(dims, Mapping) else tuple(dims or ())


def _convert_bind(bind: Mapping[str, int] | None) -> Mapping[str, int]:
    return bind or {}


def _convert_inputs(inputs: InputSpecs | None) -> InputSpecs:
    return inputs or {}


def _convert_assume(assume: Iterable[str] | str) -> tuple[str, ...]:
    return (assume,) if isinstance(assume, str) else tuple(assume)


def _require_choice(kind: str, values: tuple[str, ...]) -> Callable[[object, object, object], None]:
    def check(_: object, __: object, value: object) -> None:
        if value not in values:
            raise UnknownNameError(kind, str(value), values)

    return check


@attrs.frozen(kw_only=True)
class InferenceOptions:
    """How a model is inferred; the fields are the keywords of `infer_shapes`, which documents them."""

    dims: Mapping[str, RangeLike] | tuple[NamedDim, ...] = attrs.field(factory=dict, converter=_convert_dims)
    bind: Mapping[str, int] = attrs.field(factory=dict, converter=_convert_bind)
    inputs: InputSpecs = attrs.field(factory=dict, converter=_convert_inputs)
    assume: tuple[str, ...] = attrs.field(default=(), converter=_convert_assume)
    mode: Mode = attrs.field(default="best", validator=_require_choice("mode", get_args(Mode)))
    min_dim: int = 1
    declared: DeclaredMode | None = attrs.field(
        default=None,
        validator=attrs.validators.optional(_require_choice("use of declared types", get_args(DeclaredMode))),
    )
    format_options: FormatOptions | None = None
    registry: OpRegistry | None = None
    progress: Progress | None = None

    def declared_mode(self, graph: Graph) -> DeclaredMode:
        """How the declarations of a graph are used; unless the user says so, those of a traced run are ignored."""
        return self.declared or ("ignore" if graph.traced else "trust")

    def inputs_by_name(self, graph: Graph) -> Mapping[str, SpecLike]:
        """The shapes of inputs by name. Raises UnknownNameError for an input that the graph does not have."""
        return specs_by_input(self.inputs, graph)


DEFAULT_OPTIONS = InferenceOptions()
