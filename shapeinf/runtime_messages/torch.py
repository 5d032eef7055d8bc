"""The error texts of torch: of eager calls, exported programs and TorchScript."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapeinf.runtime_messages.patterns import (
    SHAPE,
    Pattern,
    apply_patterns,
    first_lines,
    read_bytes,
    read_shape,
)
from shapeinf.runtime_messages.records import InputMismatch, PrintedShape, RuntimeMessage

NAME = "torch"

_CONVOLUTIONS = "conv1d|conv2d|conv3d|convolution|conv_transpose1d|conv_transpose2d|_convolution|nn.Conv1d|nn.Conv2d"
_PRODUCTS = "mm|addmm|linear|matmul|bmm|baddbmm|einsum|nn.Linear|torch.matmul"
_ELEMENTWISE = (
    "add|sub|mul|div|where|pow|maximum|minimum|eq|lt|gt|le|ge|ne|masked_fill|add_|mul_|expand|pnnx.Expression"
)
_VIEWS = "view|reshape|_unsafe_view|unflatten|Tensor.view|Tensor.reshape|Tensor.unflatten"
_CALLED = re.compile(r"While executing %(\w{1,200}) : ")
_TARGET = re.compile(r"call_\w{1,20}\[target=(?:torch\.ops\.)?(?:aten\.)?([\w.]{1,200})\]")
_LINE = re.compile(r"File \"?([^\"\n]{1,500}?)\"?(?:, line |:)(\d{1,9})")


def messages(text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """The messages of torch in a text, with their positions, and the node and lines that the text states."""
    for position, message in apply_patterns(NAME, _PATTERNS, text):
        yield position, _with_node(message, text, position)


def _with_node(message: RuntimeMessage, text: str, position: int) -> RuntimeMessage:
    """The message with the node of an exported program that follows it, and the lines of the source around it."""
    after = text[position : position + 8000]
    called, target = _CALLED.search(after), _TARGET.search(after)
    names = () if called is None else (called[1],)
    operators = message.operators if target is None else (target[1].removesuffix(".default"), *message.operators)
    trace = after if called is not None else text[max(0, position - 8000) : position]
    lines = [f"{path.rsplit('/', 1)[-1]}:{line}" for path, line in _LINE.findall(trace)]
    return RuntimeMessage(
        NAME,
        message.kind,
        message.text,
        operators,
        names,
        shapes=message.shapes,
        pair=message.pair,
        inputs=message.inputs,
        guard=message.guard,
        locations=tuple(reversed(lines)),
        requested=message.requested,
    )


def _node(
    operators: str, text: str, shapes: tuple[PrintedShape, ...] = (), pair: tuple[int, int] | None = None
) -> RuntimeMessage:
    return RuntimeMessage(NAME, "node", first_lines(text, 1), tuple(operators.split("|")), shapes=shapes, pair=pair)


def _product(match: re.Match[str], part: str) -> RuntimeMessage:
    """`mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)`; the matrices may be flattened operands."""
    return _node(_PRODUCTS, part, pair=(int(match[2]), int(match[3])))


def _batched(match: re.Match[str], part: str) -> RuntimeMessage:
    wanted, got = read_shape(match[1]), read_shape(match[2])
    pairs = [(a, b) for a, b in zip(wanted, got, strict=False) if a is not None and b is not None and a != b]
    return _node(_PRODUCTS, part, pair=pairs[0] if pairs else None)


def _broadcast(match: re.Match[str], part: str) -> RuntimeMessage:
    return _node(_ELEMENTWISE, part, pair=(int(match[1]), int(match[2])))


def _expanded(match: re.Match[str], part: str) -> RuntimeMessage:
    return _node("expand|expand_as|broadcast_to|Tensor.expand", part, pair=(int(match[1]), int(match[2])))


def _joined(match: re.Match[str], part: str) -> RuntimeMessage:
    return _node("cat|stack|concat|torch.cat", part, pair=(int(match[1]), int(match[2])))


def _viewed(match: re.Match[str], part: str) -> RuntimeMessage:
    return _node(_VIEWS, part)


def _channels(match: re.Match[str], part: str) -> RuntimeMessage:
    """`Given groups=1, weight of size [6, 3, 3, 3], expected input[1, 4, 6, 6] to have 3 channels, but got 4`."""
    return _node(_CONVOLUTIONS, part, (read_shape(match[2]), read_shape(match[1])))


def _window(match: re.Match[str], part: str) -> RuntimeMessage:
    return _node(_CONVOLUTIONS, part)


def _pooled(match: re.Match[str], part: str) -> RuntimeMessage:
    return _node("max_pool2d|avg_pool2d|max_pool1d|max_pool2d_with_indices|F.max_pool2d|nn.MaxPool2d", part)


def _parts(match: re.Match[str], part: str) -> RuntimeMessage:
    return _node("split|split_with_sizes|torch.split", part)


def _index(match: re.Match[str], part: str) -> RuntimeMessage:
    return _node("embedding|index|index_select|gather|select|F.embedding|nn.Embedding", part)


def _layer(match: re.Match[str], part: str) -> RuntimeMessage:
    return _node("layer_norm|native_layer_norm|nn.LayerNorm|F.layer_norm", part)


def _recurrent(match: re.Match[str], part: str) -> RuntimeMessage:
    return _node("lstm|gru|nn.LSTM|nn.GRU", part, pair=(int(match[1]), int(match[2])))


_ARGUMENT = r"(?:\*args\[(\d{1,4})\]|([A-Za-z_]\w{0,200}))"


def _guard(match: re.Match[str], part: str) -> RuntimeMessage:
    """`Expected input at *args[0].shape[1] to be equal to 4, but got 3`."""
    inputs = (InputMismatch(match[1] or match[2], int(match[3]), int(match[5]), int(match[4])),)
    return RuntimeMessage(NAME, "input", first_lines(part, 1), inputs=inputs)


def _failed_guard(match: re.Match[str], part: str) -> RuntimeMessage:
    """`Guard failed: x.size()[1] == 4`."""
    return RuntimeMessage(NAME, "guard", first_lines(part, 1), guard=match[1].strip())


def _bounded_guard(match: re.Match[str], part: str) -> RuntimeMessage:
    inputs = (InputMismatch(match[1] or match[2], int(match[3]), int(match[4]), None),)
    return RuntimeMessage(NAME, "input", first_lines(part, 1), inputs=inputs)


def _allocation(match: re.Match[str], part: str) -> RuntimeMessage:
    return RuntimeMessage(NAME, "memory", first_lines(part, 1), requested=read_bytes(match[1], match[2] or ""))


def _kernel(match: re.Match[str], part: str) -> RuntimeMessage:
    return RuntimeMessage(NAME, "unsupported", first_lines(part, 1), (match[1],))


_NUMBER = r"(\d{1,18})"
_PATTERNS = (
    Pattern(
        "node",
        re.compile(rf"mat1 and mat2 shapes cannot be multiplied \({_NUMBER}x{_NUMBER} and {_NUMBER}x{_NUMBER}\)"),
        _product,
    ),
    Pattern(
        "node",
        re.compile(rf"Expected size for first two dimensions of batch2 tensor to be: {SHAPE} but got: {SHAPE}"),
        _batched,
    ),
    Pattern(
        "node",
        re.compile(rf"The size of tensor a \({_NUMBER}\) must match the size of tensor b \({_NUMBER}\)"),
        _broadcast,
    ),
    Pattern(
        "node",
        re.compile(rf"The expanded size of the tensor \({_NUMBER}\) must match the existing size \({_NUMBER}\)"),
        _expanded,
    ),
    Pattern(
        "node",
        re.compile(
            r"Sizes of tensors must match except in dimension \d{1,3}\. "
            rf"Expected size {_NUMBER} but got size {_NUMBER}"
        ),
        _joined,
    ),
    Pattern("node", re.compile(rf"shape '{SHAPE}' is invalid for input of size {_NUMBER}"), _viewed),
    Pattern(
        "node",
        re.compile(rf"Given groups=\d{{1,9}}, weight of size {SHAPE}, expected input ?{SHAPE} to have "),
        _channels,
    ),
    Pattern(
        "node",
        re.compile(r"Calculated padded input size per channel: \([\d x]{1,200}\)\. Kernel size: "),
        _window,
    ),
    Pattern("node", re.compile(r"Given input size: \([\dx]{1,200}\)\. Calculated output size: "), _pooled),
    Pattern("node", re.compile(r"split_with_sizes expects split_sizes to sum exactly to "), _parts),
    Pattern("node", re.compile(r"index out of range in self|index \d{1,18} is out of bounds for dimension "), _index),
    Pattern("node", re.compile(r"Given normalized_shape=\["), _layer),
    Pattern(
        "node",
        re.compile(rf"input\.size\(-1\) must be equal to input_size\. Expected {_NUMBER}, got {_NUMBER}"),
        _recurrent,
    ),
    Pattern(
        "input",
        re.compile(rf"Expected input at {_ARGUMENT}\.shape\[(\d{{1,3}})\] to be equal to {_NUMBER}, but got {_NUMBER}"),
        _guard,
    ),
    Pattern(
        "input",
        re.compile(rf"Expected input at {_ARGUMENT}\.shape\[(\d{{1,3}})\] to be [<>]=? \d{{1,18}}, but got {_NUMBER}"),
        _bounded_guard,
    ),
    Pattern("guard", re.compile(r"Guard failed: ([^\n]{1,1000})"), _failed_guard),
    Pattern("memory", re.compile(r"Tried to allocate (\d{1,20}(?:\.\d{1,6})?) ?([KMGT]?i?B)"), _allocation),
    Pattern("memory", re.compile(r"can't allocate memory: you tried to allocate (\d{1,20})( bytes)?"), _allocation),
    Pattern("unsupported", re.compile(r"Could not run '([\w:.]{1,200})' with arguments from the "), _kernel),
    Pattern("type", re.compile(r"expected (?:m1 and m2|scalar type|mat1 and mat2) [^\n]{0,60}(?:dtype|but found)")),
)
