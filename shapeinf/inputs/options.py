"""`InferenceOptions`: the keywords of `infer_shapes` as one record, for all functions and commands that take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import attrs

from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.expr.parsing import MAX_NUMBER
from shapeinf.formats import FormatOptions
from shapeinf.graph import DeclaredType, Graph
from shapeinf.inputs.named_dims import Dim
from shapeinf.inputs.reader import RangeLike, SpecLike, key_by_name, specs_by_input
from shapeinf.lattice import PartialTensor
from shapeinf.ops import OpRegistry

Progress = Callable[[int, int], None]
"""Called with (done, total) after every node."""
Mode = Literal["best", "strict"]
DeclaredMode = Literal["trust", "check", "ignore"]
"""How declared types of node outputs are used."""
DimRanges = Mapping[str, RangeLike] | Sequence[Dim]
"""Ranges of named dims."""
InputSpecs = Mapping[str, SpecLike] | Sequence[SpecLike] | str
"""Shapes of inputs by name, or in the order of the inputs; a text contains one or several."""


def _convert_dims(dims: DimRanges | None) -> Mapping[str, RangeLike] | tuple[Dim, ...]:
    return dims if isinstance(dims, Mapping) else tuple(dims or ())


def _convert_bind(bind: Mapping[str, int] | None) -> Mapping[str, int]:
    return bind or {}


def _convert_inputs(inputs: InputSpecs | None) -> InputSpecs:
    return inputs or {}


def _convert_assume(assume: Iterable[str] | str) -> tuple[str, ...]:
    return (assume,) if isinstance(assume, str) else tuple(assume)


def _convert_values(values: Mapping[str, object] | None) -> Mapping[str, object]:
    if values is not None and not isinstance(values, Mapping):
        raise ShapeInferenceError(f"values must be a dict by input, such as {{'sr': 16000}}, not {values!r}")
    return values or {}


def _require_choice(kind: str, values: tuple[str, ...]) -> Callable[[object, object, object], None]:
    def check(_: object, __: object, value: object) -> None:
        if value not in values:
            raise UnknownNameError(kind, str(value), values)

    return check


def _check_least_size(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
        raise ShapeInferenceError(f"{attribute.name} must be an int from 0 to {MAX_NUMBER}, not {value!r}")


def _check_format_options(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value is not None and not isinstance(value, FormatOptions):
        expected = "the options of a format, such as NnefOptions()"
        raise ShapeInferenceError(f"{attribute.name} must be {expected}, not {value!r}")


def _type_of(constant: PartialTensor) -> DeclaredType:
    return DeclaredType(constant.dtype, tuple(d if isinstance(d, int) else None for d in constant.shape))


def without_defaults(graph: Graph, inputs: Iterable[str]) -> Graph:
    """The graph where these inputs have no default value, only its type."""
    names = graph.constants.keys() & set(inputs)
    if not names:
        return graph
    declared = {name: _type_of(graph.constants[name]) for name in names}
    constants = {name: value for name, value in graph.constants.items() if name not in names}
    unread = {name: read for name, read in graph.unread.items() if name not in names}
    return attrs.evolve(graph, declared={**declared, **graph.declared}, constants=constants, unread=unread)


@attrs.frozen(kw_only=True)
class InferenceOptions:
    """How a model is inferred; the fields are the keywords of `infer_shapes`, which documents them."""

    dims: Mapping[str, RangeLike] | tuple[Dim, ...] = attrs.field(factory=dict, converter=_convert_dims)
    bind: Mapping[str, int] = attrs.field(factory=dict, converter=_convert_bind)
    inputs: InputSpecs = attrs.field(factory=dict, converter=_convert_inputs)
    assume: tuple[str, ...] = attrs.field(default=(), converter=_convert_assume)
    values: Mapping[str, object] = attrs.field(factory=dict, converter=_convert_values)
    mode: Mode = attrs.field(default="best", validator=_require_choice("mode", get_args(Mode)))
    min_dim: int = attrs.field(default=1, validator=_check_least_size)
    declared: DeclaredMode | None = attrs.field(
        default=None,
        validator=attrs.validators.optional(_require_choice("use of declared types", get_args(DeclaredMode))),
    )
    format_options: FormatOptions | None = attrs.field(default=None, validator=_check_format_options)
    registry: OpRegistry | None = None
    progress: Progress | None = None

    @property
    def limits_dims(self) -> bool:
        """Whether the user limits dims by name, besides those in shapes of inputs."""
        return bool(self.dims or self.bind or self.assume)

    def declared_mode(self, graph: Graph) -> DeclaredMode:
        """How the declarations of a graph are used; by default they are trusted, those of a traced run ignored."""
        return self.declared or ("ignore" if graph.traced else "trust")

    def inputs_by_name(self, graph: Graph) -> Mapping[str, SpecLike]:
        """The shapes of inputs by name. Raises UnknownNameError for an input that the graph does not have."""
        return specs_by_input(self.inputs, graph) if self.inputs else {}

    def values_by_name(self, graph: Graph) -> dict[str, object]:
        """The values of inputs by name, also of those that have a default. Raises UnknownNameError."""
        return key_by_name(self.values, graph, graph.inputs) if self.values else {}

    def replace_defaults(self, graph: Graph) -> Graph:
        """The graph where inputs with a value of the user have no default value. Raises UnknownNameError."""
        return without_defaults(graph, self.values_by_name(graph))


DEFAULT_OPTIONS = InferenceOptions()
