"""Serving configs of Triton, written from the inferred model: `config.pbtxt`."""

from __future__ import annotations

from typing import Any

import attrs

from shapeinf.api import as_graph, infer
from shapeinf.checks import CheckedModel, ServingConfig, check_serving
from shapeinf.checks.serving import TRITON_DTYPES, Port
from shapeinf.contract import Precondition
from shapeinf.diagnostics import Diagnostic
from shapeinf.edit.rebatch.items import find_mixing
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.errors import BindError, ExportError
from shapeinf.expr import Dimension, DimSize
from shapeinf.formats import FORMATS
from shapeinf.formats.protobuf.text import Message, Word, format_text
from shapeinf.graph import Graph
from shapeinf.inputs.dim_names import first_aliases
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.result import Result
from shapeinf.texts import escape_unprintable

BACKENDS = {
    "onnxruntime_onnx": "onnxruntime",
    "tensorflow_savedmodel": "tensorflow",
    "tensorflow_graphdef": "tensorflow",
}
"""The backend of each platform of Triton."""

MAX_BATCH = 1 << 16
"""The largest batch that a config is written for: every size up to it is legal."""

_BATCH = "batch"
_TYPES = {dtype: name for name, dtype in TRITON_DTYPES.items()}


@attrs.frozen
class CheckedConfig:
    """A serving config for a model.

    Args:
        config: the inputs and outputs, and the largest batch.
        platform: the platform by which Triton loads the model.
        unbatched: why the config has no batch axis, so that all dims are listed; empty where it has one.
        mixing: why requests are not batched by Triton, although there is a batch axis; empty where they are.
        omitted: the outputs that the config cannot describe, each with the reason.
    """

    config: ServingConfig
    platform: str
    unbatched: str = ""
    mixing: str = ""
    omitted: tuple[str, ...] = ()

    @property
    def batches(self) -> bool:
        """Whether Triton joins requests to a batch: their items stay separate."""
        return self.config.max_batch_size > 1 and not self.mixing

    @property
    def notes(self) -> tuple[str, ...]:
        """What the config lacks, each with the reason."""
        unbatched = [f"no batch axis: {self.unbatched}"] if self.unbatched else []
        mixing = [f"no dynamic batching: {self.mixing}"] if self.mixing else []
        return (*unbatched, *mixing, *(f"omitted: {output}" for output in self.omitted))

    def __str__(self) -> str:
        """The text of a `config.pbtxt`, with the notes as comments. Raises ExportError for a name without Unicode."""
        batch = self.config.max_batch_size
        message: Message = {
            "platform": [self.platform],
            "backend": [BACKENDS[self.platform]],
            "max_batch_size": [batch],
            "input": [_port_message(port, batch) for port in self.config.inputs],
            "output": [_port_message(port, batch) for port in self.config.outputs],
        }
        if self.batches:
            message["dynamic_batching"] = [{}]
        comments = [f"# {escape_unprintable(note)}\n" for note in self.notes]
        return f"{''.join(comments)}{format_text(message)}\n"


def _port_message(port: Port, batch: int) -> Message:
    """An input or output; Triton takes no empty dims, so a single element is reshaped to none."""
    dims = [-1 if size is None else size for size in (port.dims[1:] if batch else port.dims)]
    message: Message = {"name": [port.name], "data_type": [Word(port.dtype)], "dims": [dims or [1]]}
    return message if dims else {**message, "reshape": [{"shape": [[]]}]}


def make_serving_config(
    model: Any, max_batch: int = 8, *, options: InferenceOptions = DEFAULT_OPTIONS
) -> CheckedConfig:
    """A serving config of Triton for a model: its inputs and outputs, and its largest batch.

    There is a batch axis where the first axis of all inputs and outputs is free and of one size. Triton joins requests
    only where the items of a batch stay separate. `check --triton` finds nothing in what is written.

    Args:
        model: any model that `infer_shapes` takes.
        max_batch: the largest batch; 0 for a config without a batch axis.
        options: as for `infer_shapes`; declared shapes of node outputs are only compared.

    Raises:
        ExportError: Triton has no backend for the format, or no type or shape for an input.
        BindError: the graph cannot run with a batch of some sizes up to `max_batch`.

    >>> checked = make_serving_config("examples/convnet.onnx", 4)
    >>> checked.config.max_batch_size, checked.batches
    (4, True)
    """
    if not 0 <= max_batch <= MAX_BATCH:
        raise ExportError(f"the largest batch must be in 0..{MAX_BATCH}, not {max_batch}")
    graph = as_graph(model, options)
    chosen = FORMATS.format_of(graph)
    platform = "" if chosen is None else chosen.triton_platform(graph)
    if not platform:
        title = "this" if chosen is None else chosen.title
        raise ExportError(f"Triton has no backend that loads the file of {title} models")
    options = attrs.evolve(options, declared="check", mode="best", format_options=None)
    return _Builder(graph, options, platform).make(max_batch)


class _Builder:
    """Makes the config of a graph."""

    def __init__(self, graph: Graph, options: InferenceOptions, platform: str) -> None:
        self.graph = graph
        self.options = options
        self.platform = platform
        self.base = infer(graph, options)

    def make(self, max_batch: int) -> CheckedConfig:
        """The config. Raises as `make_serving_config`."""
        batched = self._batched() if max_batch else "none is requested"
        if isinstance(batched, str):
            return self._config(self.base, 0, unbatched=batched)
        result, symbol = batched
        reason = self._explain_outputs(result, symbol) or self._refused_sizes(result, symbol, max_batch)
        if reason:
            return self._config(self.base, 0, unbatched=reason)
        mixing = find_mixing(result.engine.inference, symbol)
        return self._config(result, max_batch, mixing="" if mixing is None else str(mixing))

    def _batched(self) -> tuple[Result, Dimension] | str:
        """The inference in which the first axis of all inputs is one symbol; the reason where that cannot be."""
        symbols: list[Dimension] = []
        declared = CheckedModel(self.base).input_dims
        for name in self.base.inputs:
            if not declared.get(name):
                return f"the input {name} has no axis"
            first = declared[name][0]
            if not isinstance(first, Dimension) or not first.is_symbol:
                return f"axis 0 of the input {name} is always {first}"
            symbols.append(first)
        if not symbols:
            return "the model has no inputs"
        if len(set(symbols)) == 1:
            return self.base, symbols[0]
        own = [symbol.name for symbol in symbols if not symbol.symbol.anonymous]
        name = next((name for name in [*own, _BATCH] if own or not self.base.engine.scope.has(name)), f"{_BATCH}.0")
        specs = {input_name: {0: name} for input_name in self.base.inputs}
        result = infer(self.graph, self.options, (specs,))
        if any(d.severity == "error" for d in result.diagnostics if d not in self.base.diagnostics):
            return "the first axes of the inputs are not of one size"
        return result, result.engine.scope.symbol(name)

    @staticmethod
    def _explain_outputs(result: Result, symbol: Dimension) -> str:
        """Why the first axis of an output is not the batch; empty where it always is."""
        store = result.engine.store
        for name, info in result.outputs.items():
            dims: tuple[DimSize, ...] = info.shape.dims or ()
            if info.kind != "tensor" or info.shape.dims is None:
                continue  # omitted
            if not dims or store.canon(dims[0]) != store.canon(symbol):
                return f"axis 0 of the output {name} is not that of the inputs: its shape is {info.shape}"
        return ""

    def _refused_sizes(self, result: Result, symbol: Dimension, max_batch: int) -> str:
        """Why the batch is fixed; empty where all sizes are legal. Raises BindError where some are."""
        label = input_symbols(result.engine.inference)[symbol]
        legal = result.contract.solve(label, range(1, max_batch + 1))
        illegal = next((size for size in range(1, max_batch + 1) if size not in legal), None)
        if illegal is None:
            return ""
        reason = self._explain_size(result, symbol, label, illegal)
        if illegal <= 2:
            return reason
        message = f"a batch of {illegal} is not legal: {reason}"
        help_ = f"all sizes up to {illegal - 1} are legal"
        diagnostic = Diagnostic("error", "C163", message, help=help_)
        raise BindError(f"the graph cannot run with all batches up to {max_batch}", [diagnostic])

    @staticmethod
    def _explain_size(result: Result, symbol: Dimension, label: str, size: int) -> str:
        broken: list[Precondition] = [
            p for p in result.contract.always if p.holds({symbol.name: size}) is False and p.kind != "assumption"
        ]
        return str(broken[0]) if broken else str(result.contract.check({label: size}))

    def _config(self, result: Result, batch: int, unbatched: str = "", mixing: str = "") -> CheckedConfig:
        """The config, in which our own check finds nothing."""
        aliases = first_aliases(self.graph.aliases)
        inputs = []
        for name, info in result.inputs.items():
            reason = _explain_port(info)
            if reason:
                raise ExportError(f"a serving config cannot describe the input {name}: {reason}")
            inputs.append(_port(aliases.get(name, name), info, batch))
        outputs, omitted = [], []
        for name, info in result.outputs.items():
            reason = _explain_port(info)
            if reason:
                omitted.append(f"{name}: {reason}")
            else:
                outputs.append(_port(aliases.get(name, name), info, batch))
        if not outputs:
            raise ExportError("a serving config cannot describe any output: " + "; ".join(omitted))
        config = ServingConfig(batch, tuple(inputs), tuple(outputs))
        errors = check_serving(CheckedModel(self.base), config)
        if errors:
            raise BindError("the graph cannot run as the config states", errors)
        return CheckedConfig(config, self.platform, unbatched, mixing, tuple(omitted))


def _explain_port(info: TensorInfo) -> str:
    """Why a config cannot describe a value; empty where it can."""
    if info.kind != "tensor":
        return f"it is a {info.kind}"
    if info.dtype not in _TYPES:
        return "its element type is unknown" if info.dtype is None else f"Triton has no type for {info.dtype}"
    if info.shape.dims is None:
        return "its rank is unknown"
    if 0 in info.shape.dims:
        return f"its shape {info.shape} has no elements"
    return ""


def _port(name: str, info: TensorInfo, batch: int) -> Port:
    assert info.dtype is not None
    dims = tuple(d if isinstance(d, int) else None for d in info.shape.dims or ())
    return Port(name, _TYPES[info.dtype], (None, *dims[1:]) if batch else dims)
