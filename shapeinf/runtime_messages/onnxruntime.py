"""The error texts of onnxruntime."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapeinf.runtime_messages.patterns import (
    SHAPE,
    Pattern,
    apply_patterns,
    compiled,
    first_lines,
    read_bytes,
    read_pair,
    read_shape,
    read_shapes,
)
from shapeinf.runtime_messages.records import InputMismatch, PrintedShape, RuntimeMessage

NAME = "onnxruntime"

_NODE = re.compile(r"Non-zero status code returned while running ([\w.:]{1,128}) node\. Name:'")
_STATUS = "' Status Message: "
_MOST_NESTED = 16
_PAIRS = tuple(
    map(
        compiled,
        (
            r"dimension other than 1\. (\d{1,18}) by (\d{1,18})",
            r"mismatched dimensions of (\d{1,18}) and (\d{1,18})",
            r"\bC: (\d{1,18}) kernel channels: (\d{1,18})",
            r"filter_number: (\d{1,18}) num_input_channels: (\d{1,18})",
            r"channel count (\d{1,18}) vs\. (\d{1,18})",
            r"Expected:? ?(\d{1,18}) (?:but )?got:? ?(\d{1,18})",
        ),
    )
)
_SHAPES = (
    (r"X\.shape=", r"scale\.shape="),
    (r"indices shape: ", r"data shape: "),
    (r"input_?shape: ?",),
    (r"requires? input shape ?[:=] ?",),
)

OPERATORS = {
    name: tuple(others.split("|"))
    for name, others in (
        line.split(" ")
        for line in (
            "Gemm MatMul|Add",
            "FusedGemm Gemm|MatMul|Add",
            "FusedMatMul MatMul",
            "TransposeMatMul MatMul",
            "MatMulNBits MatMul",
            "MatMulIntegerToFloat MatMulInteger|MatMul",
            "DynamicQuantizeMatMul MatMulInteger|MatMul",
            "QLinearMatMul MatMul",
            "QGemm Gemm|MatMul",
            "QLinearConv Conv",
            "QLinearAdd Add",
            "QLinearMul Mul",
            "QLinearConcat Concat",
            "NhwcMaxPool MaxPool",
            "NhwcFusedConv Conv",
            "BiasGelu Add",
            "FastGelu Add",
            "BiasSoftmax Add|Softmax",
            "LayerNormalization Sub|Mul|Add",
            "SimplifiedLayerNormalization Mul",
            "SkipLayerNormalization Add|LayerNormalization",
            "SkipSimplifiedLayerNormalization Add|SimplifiedLayerNormalization",
            "EmbedLayerNormalization Gather|Add",
            "Attention MatMul|Add|Reshape",
            "MultiHeadAttention MatMul|Add|Reshape",
            "GroupQueryAttention MatMul|Add|Reshape",
            "RotaryEmbedding Mul|Concat",
        )
    )
}
"""The operators of which the optimizations of onnxruntime make a node of another operator."""


def messages(text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """The messages of onnxruntime in a text, with their positions."""
    yield from _failed_nodes(text)
    yield from apply_patterns(NAME, _PATTERNS, text)


def _failed_nodes(text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """The nodes that failed in a run; nodes of bodies are innermost."""
    matches = list(_NODE.finditer(text))[-200:]
    position = 0
    while position < len(matches):
        chain = [matches[position]]
        status, name = _name_of(chain[0], text)
        names = [name]
        while len(chain) < _MOST_NESTED and position + len(chain) < len(matches):
            inner = matches[position + len(chain)]
            if inner.start() != status:
                break
            chain.append(inner)
            status, name = _name_of(inner, text)
            names.append(name)
        position += len(chain)
        part = text[status : status + 2000].split("\n\x1b", 1)[0]
        kinds = [match[1].rpartition(":")[2] for match in reversed(chain)]
        operators = tuple([name for kind in kinds for name in (kind, *OPERATORS.get(kind, ()))])
        yield (
            chain[0].start(),
            RuntimeMessage(
                NAME,
                "node",
                first_lines(text[chain[-1].start() : status] + part, 1),
                operators,
                tuple(reversed(names)),
                shapes=_operands(part),
                pair=next(filter(None, (read_pair(pattern.search(part)) for pattern in _PAIRS)), None),
                requested=_requested(part),
            ),
        )


def _name_of(match: re.Match[str], text: str) -> tuple[int, str]:
    """The end of the text that names a node, and its name, which may have quotes."""
    end = text.find(_STATUS, match.end(), match.end() + 2000)
    if end < 0:
        cut = re.compile(r"['\n]").search(text, match.end(), match.end() + 2000)
        return (match.end(), "") if cut is None else (cut.end(), text[match.end() : cut.start()])
    return end + len(_STATUS), text[match.end() : end]


def _operands(part: str) -> tuple[PrintedShape, ...]:
    part = part.split("requested shape", 1)[0]
    return next(filter(None, (read_shapes(part, *labels) for labels in _SHAPES)), ())


def _requested(part: str) -> int | None:
    match = re.search(r"(?:requested buffer of size |allocate \w{0,20}memory[^\d]{0,40})(\d{1,20})", part)
    return None if match is None else read_bytes(match[1])


_INDEX = re.compile(r"index: (\d{1,3}) Got: (-?\d{1,18}) Expected: (-?\d{1,18})")


def _invalid_dimensions(match: re.Match[str], part: str) -> RuntimeMessage:
    """`Got invalid dimensions for input: NAME for the following indices`, a line for each axis."""
    end = re.search(r"Please fix either", part)
    part = part if end is None else part[: end.start()]
    inputs = [InputMismatch(match[1], int(i), int(got), int(expected)) for i, got, expected in _INDEX.findall(part)]
    return RuntimeMessage(NAME, "input", first_lines(part, 8), inputs=tuple(inputs))


def _invalid_rank(match: re.Match[str], part: str) -> RuntimeMessage:
    mismatch = InputMismatch(match[1], None, int(match[2]), int(match[3]))
    return RuntimeMessage(NAME, "input", first_lines(part, 1), inputs=(mismatch,))


def _invalid_node(match: re.Match[str], part: str) -> RuntimeMessage:
    """A node that a model of this kind may not have, when the file is loaded: `Node (NAME) Op (OPERATOR) [..Error]`."""
    return RuntimeMessage(NAME, "node", first_lines(part, 2), (match[2],), (match[1],), pair=_load_pair(part))


def _load_pair(part: str) -> tuple[int, int] | None:
    match = re.search(r"(?:Mismatch between |\()(\d{1,18}) ?(?:and|!=|,) ?(\d{1,18})", part[:600])
    return read_pair(match)


def _inferred_node(match: re.Match[str], part: str) -> RuntimeMessage:
    """The same of other passes over the file: `In Node, ("NAME", OPERATOR, "", -1)`."""
    return RuntimeMessage(NAME, "node", first_lines(part, 3), (match[2],), (match[1],))


def _without_kernel(match: re.Match[str], part: str) -> RuntimeMessage:
    name = re.search(r"(?:node with name '|node:')([^'\n]{0,500})'", part)
    names = () if name is None else (name[1],)
    return RuntimeMessage(NAME, "unsupported", first_lines(part, 1), (match[1],), names)


def _allocation(match: re.Match[str], part: str) -> RuntimeMessage:
    return RuntimeMessage(NAME, "memory", first_lines(part, 1), requested=read_bytes(match[1]))


def _wrong_output(match: re.Match[str], part: str) -> RuntimeMessage:
    """A planned buffer that a node does not fill: `Shape mismatch attempting to re-use buffer. {2,3} != {2,4}`."""
    shapes = read_shape(match[1]), read_shape(match[2])
    return RuntimeMessage(NAME, "node", first_lines(part, 1), shapes=shapes)


_PATTERNS = (
    Pattern(
        "input",
        re.compile(r"Got invalid dimensions for input: ([^\n]{1,500}?) for the following indices"),
        _invalid_dimensions,
    ),
    Pattern(
        "input",
        re.compile(r"Invalid rank for input: ([^\n]{1,500}?) Got: (\d{1,4}) Expected: (\d{1,4})"),
        _invalid_rank,
    ),
    Pattern(
        "node",
        re.compile(r"Node \(([^)\n]{0,500})\) Op \((\w{1,128})\) \[(?:Shape|Type)InferenceError\]"),
        _invalid_node,
    ),
    Pattern("node", re.compile(r"In Node, \(\"([^\"\n]{0,500})\", (\w{1,128}), "), _inferred_node),
    Pattern("node", re.compile(rf"Shape mismatch attempting to re-use buffer\. {SHAPE} != {SHAPE}"), _wrong_output),
    Pattern(
        "unsupported", re.compile(r"Could not find an implementation for ([\w.]{1,128})\(\d{1,3}\)"), _without_kernel
    ),
    Pattern("unsupported", re.compile(r"Failed to find kernel for ([\w.]{1,128})\(\d{1,3}\)"), _without_kernel),
    Pattern(
        "unsupported",
        re.compile(r"Fatal error: ([\w.:]{1,128})\(-?\d{1,3}\) is not a registered function/op"),
        _without_kernel,
    ),
    Pattern("unsupported", re.compile(r"Unsupported model IR version: \d{1,4}")),
    Pattern("memory", re.compile(r"Failed to allocate memory for requested buffer of size (\d{1,20})"), _allocation),
    Pattern("memory", re.compile(r"\[ONNXRuntimeError\] : \d{1,2} : \w{1,40} : (?:std::)?bad[ _]alloc(?:ation)?")),
    Pattern("type", re.compile(r"Unexpected input data type\. Actual: \(")),
    Pattern("usage", re.compile(r"Required inputs \(\[")),
    Pattern("usage", re.compile(r"Invalid (?:Feed )?Input Name: ?")),
    Pattern(
        "file", re.compile(r"Load model from [^\n]{0,1000}? failed: ?(?:File doesn't exist|Protobuf parsing failed)")
    ),
    Pattern("file", re.compile(r"\[ONNXRuntimeError\] : \d{1,2} : (?:NO_SUCHFILE|INVALID_PROTOBUF|NO_MODEL)\b")),
)
