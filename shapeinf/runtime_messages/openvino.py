"""The error texts of OpenVINO."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapeinf.runtime_messages.patterns import (
    SHAPE,
    Pattern,
    all_shapes,
    apply_patterns,
    first_lines,
    read_pair,
    read_shape,
    read_shapes,
)
from shapeinf.runtime_messages.records import InputMismatch, PrintedShape, RuntimeMessage

NAME = "openvino"

OPERATORS = {
    name: tuple(others.split("|"))
    for name, others in (
        line.split(" ")
        for line in (
            "Multiply Mul",
            "Subtract Sub",
            "Divide Div",
            "Power Pow",
            "PowerStatic Pow|Mul|Add|Sub|Neg|Reciprocal",
            "Maximum Max",
            "Minimum Min",
            "Convolution Conv|Conv1D|Conv2D",
            "GroupConvolution Conv|DepthwiseConv2dNative",
            "ConvolutionBackpropData ConvTranspose",
            "GroupConvolutionBackpropData ConvTranspose",
            "FullyConnected MatMul|Gemm",
            "MatMul Gemm|Einsum|MatMulInteger",
            "Select Where",
            "Broadcast Expand",
            "VariadicSplit Split",
            "Interpolate Resize|Upsample",
            "ScatterElementsUpdate ScatterElements",
            "ScatterNDUpdate ScatterND",
            "ScatterUpdate Scatter",
            "LSTMCell LSTM",
            "GRUCell GRU",
            "RNNCell RNN",
            "LSTMSequence LSTM",
            "GRUSequence GRU",
            "RNNSequence RNN",
            "TensorIterator Loop|Scan|LSTM|GRU|RNN",
            "MVN InstanceNormalization|LayerNormalization|GroupNormalization",
            "StridedSlice Slice",
            "SoftMax Softmax",
        )
    )
}
"""Other names of the operators that a node of OpenVINO is made of, in ONNX and TensorFlow."""

_VERSION = re.compile(r"(?:opset\d{1,3}|v\d{1,3}|\w{1,40})::")
_CPU = re.compile(r"(?:\[ ?CPU ?\] |\n)([\w/]{1,80}) node with name '")
_ITERATOR = re.compile(r"Node ([^\n]{1,500}?) of type (TensorIterator|Loop|If)\b")
_VALIDATED = re.compile(r"While validating node '([\w:]{1,120}) ")
_OPERAND = re.compile(r"\[\d{1,4}\]:\w{1,20}" + SHAPE)
_OPERAND_NAME = re.compile(r"[(,] ?(?:\w{1,40}::\w{1,80} )?([^\n,]{1,300}?)\[\d{1,4}\]:\w{1,20}[\[{]")
_DECOMPOSED = re.compile(r"Decomposition\] END: node: ([\w:]{1,120}) ")
_PAIRS = (
    re.compile(r"input dimension=(\d{1,18})[^\n]{0,80}? input dimension=(\d{1,18})"),
    re.compile(r"channel count \((\d{1,18})\) does not match filter input channel count \((\d{1,18})\)"),
    re.compile(r"Total length of splits: (\d{1,18}) must match the length of the chosen axis: (\d{1,18})"),
)
_SHAPES = (
    (r"shape A: ", r"shape B: "),
    (r"the shape of input data ",),
    (r"Shapes ", r"and "),
    (r"Got: ", r"and: "),
)


def messages(text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """The messages of OpenVINO in a text, with their positions."""
    yield from _nodes_of_the_plugin(text)
    yield from apply_patterns(NAME, _PATTERNS, text)


def _nodes_of_the_plugin(text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """The nodes of the CPU plugin that failed in a run: `[CPU] Add node with name 'NAME'`."""
    outer: re.Match[str] | None = None
    iterators = list(_ITERATOR.finditer(text))[-200:]
    for match in list(_CPU.finditer(text))[-200:]:
        while iterators and iterators[0].end() <= match.start():
            outer = iterators.pop(0)
        part = text[match.start() : match.start() + 4000]
        name = _quoted(text, match.end())
        operators = _operators(match[1])
        names: tuple[str, ...] = (name,)
        if outer is not None and match.start() - outer.end() < 300:
            kind = re.sub(r"_\d{1,12}$", "", outer[1])
            operators += (*_operators(kind), *_operators(outer[2]))
            names += (outer[1],)
        shapes, pair = _sizes(part)
        text_of_node = first_lines(part, 4)
        yield match.start(), RuntimeMessage(NAME, "node", text_of_node, operators, names, shapes=shapes, pair=pair)


def _quoted(text: str, start: int) -> str:
    """The name between quotes that begins here; its own quotes belong to it."""
    end = re.compile(r"' (?=Check '|Exception|\S)|'\n|'$").search(text, start, start + 1000)
    return text[start : start + 200].split("\n", 1)[0] if end is None else text[start : end.start()]


def _operators(kind: str) -> tuple[str, ...]:
    kind = _VERSION.sub("", kind, count=1)
    return (kind, *OPERATORS.get(kind, ()))


def _sizes(part: str) -> tuple[tuple[PrintedShape, ...], tuple[int, int] | None]:
    """The shapes of operands and the pair of sizes that a message states."""
    listed = re.search(r"Shape inference input shapes \{", part)
    shapes: tuple[PrintedShape, ...] = ()
    if listed is not None:
        shapes = tuple(all_shapes(part[listed.end() : listed.end() + 1000].split("\n", 1)[0]))
    shapes = shapes or next(filter(None, (read_shapes(part, *labels) for labels in _SHAPES)), ())
    return shapes, next(filter(None, (read_pair(p.search(part)) for p in _PAIRS)), None)


def _validated(match: re.Match[str], part: str) -> RuntimeMessage:
    """`While validating node 'opset1::Add NAME (operands) -> (results)' with friendly_name 'NAME':`."""
    friendly = re.search(r"with friendly_name '", part)
    name = "" if friendly is None else part[friendly.end() : friendly.end() + 500].split("':", 1)[0].split("\n", 1)[0]
    signature = part if friendly is None else part[: friendly.start()]
    shapes = tuple([read_shape(m[1]) for m in _OPERAND.finditer(signature.split(") -> (", 1)[0])])
    stated, pair = _sizes(part)
    known = bool(shapes) and all(None not in shape for shape in shapes)
    operands = tuple(_OPERAND_NAME.findall(signature))
    text = first_lines(part, 3)
    return RuntimeMessage(
        NAME, "node", text, _operators(match[1]), (name,), operands, shapes=shapes if known else stated, pair=pair
    )


def _decomposed(match: re.Match[str], part: str) -> RuntimeMessage:
    """A node that a transformation expands: `[LSTMCellDecomposition] END: node: opset4::LSTMCell NAME (operands)`."""
    return RuntimeMessage(NAME, "node", first_lines(part, 1), _operators(match[1]))


def _input_tensor(match: re.Match[str], part: str) -> RuntimeMessage:
    """`Can't set the input tensor with index: 0, because the model input (shape=[?,6]) and the tensor (shape=..`."""
    shapes = re.findall(r"shape ?= ?" + SHAPE, part[:2000])
    if len(shapes) < 2:
        return RuntimeMessage(NAME, "input", first_lines(part, 1))
    declared, got = map(read_shape, shapes[:2])
    if len(declared) != len(got):
        mismatches = [InputMismatch(match[1], None, len(got), len(declared))]
    else:
        pairs = enumerate(zip(declared, got, strict=True))
        mismatches = [InputMismatch(match[1], i, g, d) for i, (d, g) in pairs if g is not None and d not in (None, g)]
    return RuntimeMessage(
        NAME, "input", first_lines(part, 1), inputs=tuple(mismatches), input_shapes=((match[1], got),)
    )


def _unsupported(match: re.Match[str], part: str) -> RuntimeMessage:
    return RuntimeMessage(
        NAME, "unsupported", first_lines(part, 2), tuple(re.findall(r"\b[A-Z]\w{1,80}", match[1])[:8])
    )


def _unnamed(match: re.Match[str], part: str) -> RuntimeMessage:
    """A check that names no node, only the file of its operator: `failed at src/plugins/.../nodes/pad.cpp`."""
    operators = () if match[1] is None else (match[1],)
    return RuntimeMessage(NAME, "node", first_lines(part, 2), operators)


_PATTERNS = (
    Pattern("node", _VALIDATED, _validated),
    Pattern("node", _DECOMPOSED, _decomposed),
    Pattern(
        "node",
        re.compile(r"' failed at src/(?:[\w.]{1,60}/){1,8}(?:nodes/(\w{1,60})\.cpp|\w{1,60}\.[ch]pp):"),
        _unnamed,
    ),
    Pattern(
        "input",
        re.compile(r"Can't set the input tensor with (?:index|name): ([^,\n]{1,500}),"),
        _input_tensor,
    ),
    Pattern(
        "unsupported",
        re.compile(r"OpenVINO does not support the following ONNX operations: ([^\n]{1,500})"),
        _unsupported,
    ),
    Pattern(
        "unsupported",
        re.compile(r"CPU plug-?in doesn't support ([^\n]{1,300}) operation with dynamic rank"),
        _unsupported,
    ),
    Pattern("unsupported", re.compile(r"Unsupported (?:dynamic ops|operation of type): ([^\n]{1,500})"), _unsupported),
    Pattern("file", re.compile(r"Could not open the file: ")),
    Pattern("file", re.compile(r"Unable to read the model: ")),
    Pattern("file", re.compile(r"Model file [^\n]{1,1000}? cannot be opened")),
)
