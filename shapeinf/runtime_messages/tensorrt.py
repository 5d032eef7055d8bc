"""The error texts of TensorRT, of its builder, its engines and the provider of onnxruntime."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapeinf.runtime_messages.patterns import SHAPE, Pattern, apply_patterns, first_lines, read_bytes, read_shape
from shapeinf.runtime_messages.records import InputMismatch, RuntimeMessage

NAME = "tensorrt"

_LAYERS = {
    name: tuple(others.split("|"))
    for name, others in (
        line.split(" ")
        for line in (
            "Shuffle Reshape|Transpose|Flatten|Squeeze|Unsqueeze",
            "ElementWise Add|Sub|Mul|Div|Pow|Max|Min|Equal|Less|Greater|And|Or",
            "Concatenation Concat",
            "Convolution Conv",
            "Deconvolution ConvTranspose",
            "MatrixMultiply MatMul|Gemm",
            "FullyConnected Gemm|MatMul",
            "Pooling MaxPool|AveragePool",
            "Slice Slice|Split|Pad",
            "Gather Gather|GatherElements|GatherND",
            "Select Where",
            "Scatter ScatterElements|ScatterND",
            "Resize Resize|Upsample",
            "SoftMax Softmax",
            "Reduce ReduceMean|ReduceSum|ReduceMax",
        )
    )
}
"""The operators of ONNX of which a layer is made."""

_LAYER = re.compile(r"\bI(\w{1,40}?)Layer ([^\s:]{1,500}|\(Unnamed Layer\* \d{1,9}\) \[\w{1,40}\]): ")
_FAILED = re.compile(r"\[TRT\] ([^\n:]{1,300}): (?:reshaping failed for tensor|dimensions not compatible|kernel size)")


def messages(text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """The messages of TensorRT in a text, with their positions."""
    yield from apply_patterns(NAME, _PATTERNS, text)


def _layer(match: re.Match[str], part: str) -> RuntimeMessage:
    """`(IShuffleLayer Reshape_12: reshape changes volume. Reshaping [2,3] to [2,4].)`."""
    line = part.split("\n", 1)[0]
    reshaped = re.search(rf"Reshaping {SHAPE} to ", line)
    pair = re.search(r"incompatible dimensions: (\d{1,18}) != (\d{1,18})|: (\d{1,18}) != (\d{1,18})", line)
    sizes = None if pair is None else (int(pair[1] or pair[3]), int(pair[2] or pair[4]))
    name = match[2]
    return RuntimeMessage(
        NAME,
        "node",
        first_lines(line, 1),
        _LAYERS.get(match[1], (match[1],)),
        () if name.startswith("(Unnamed") else (name,),
        shapes=() if reshaped is None else (read_shape(reshaped[1]),),
        pair=sizes,
    )


def _named(match: re.Match[str], part: str) -> RuntimeMessage:
    return RuntimeMessage(NAME, "node", first_lines(part, 1), (), (match[1].strip(),))


def _static(match: re.Match[str], part: str) -> RuntimeMessage:
    """`Static dimension mismatch while setting input shape for x. Set dimensions are [2,3]. Expected ..`."""
    got, expected = read_shape(match[2]), read_shape(match[3])
    pairs = enumerate(zip(got, expected, strict=False))
    inputs = [InputMismatch(match[1], i, g, e) for i, (g, e) in pairs if g is not None and e not in (None, g)]
    return RuntimeMessage(NAME, "input", first_lines(part, 1), inputs=tuple(inputs), input_shapes=((match[1], got),))


def _profile(match: re.Match[str], part: str) -> RuntimeMessage:
    """`Supplied binding dimension [4,3,256,256] for bindings[0] exceed min ~ max range at index 0, maximum .. is 1`."""
    most = re.search(r"maximum dimension in profile is (\d{1,18})", part)
    got = read_shape(match[1])
    axis = int(match[3])
    size = got[axis] if axis < len(got) else None
    inputs = () if size is None else (InputMismatch(match[2], axis, size, None if most is None else int(most[1])),)
    return RuntimeMessage(NAME, "input", first_lines(part, 1), inputs=inputs, input_shapes=((match[2], got),))


def _allocation(match: re.Match[str], part: str) -> RuntimeMessage:
    return RuntimeMessage(NAME, "memory", first_lines(part, 1), requested=read_bytes(match[1], match[2] or ""))


_PATTERNS = (
    Pattern("node", _LAYER, _layer),
    Pattern("node", _FAILED, _named),
    Pattern(
        "input",
        re.compile(
            rf"Static dimension mismatch while setting input shape for ([^\n]{{1,300}}?)\. "
            rf"Set dimensions are {SHAPE}\. Expected dimensions are {SHAPE}"
        ),
        _static,
    ),
    Pattern(
        "input",
        re.compile(
            rf"Supplied binding dimension {SHAPE} for bindings\[(\d{{1,4}})\] exceed min ~ max range "
            r"at index (\d{1,3})"
        ),
        _profile,
    ),
    Pattern("memory", re.compile(r"Requested amount of GPU memory \((\d{1,20}) (bytes)\)"), _allocation),
    Pattern("memory", re.compile(r"Cuda Runtime \(out of memory\)")),
    Pattern("unsupported", re.compile(r"No importer registered for op: (\w{1,128})")),
    Pattern("file", re.compile(r"Could not open file [^\n]{1,500}|failed to parse onnx file", re.IGNORECASE)),
)
