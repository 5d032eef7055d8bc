"""The error texts of TensorFlow: of sessions, functions and SavedModels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapeinf.runtime_messages.patterns import (
    SHAPE,
    Pattern,
    all_shapes,
    apply_patterns,
    first_lines,
    read_bytes,
    read_pair,
    read_shape,
    read_shapes,
)
from shapeinf.runtime_messages.records import InputMismatch, PrintedShape, RuntimeMessage

NAME = "tensorflow"

_NODE = re.compile(
    r"\[\[\s{0,2}(?:\{\{node ([^}\s]{1,500})\}\}|node ([^\s\]]{1,500})|Node: ([^\s=]{1,500}) = (\w{1,128})\[)"
)
_DETECTED = re.compile(r"Detected at node '?([^'\s]{1,500})'? defined at")
_EAGER = re.compile(r"\{\{function_node __wrapped__(\w{1,200}?)_device_")
_SHAPES = (
    (r"In\[0\]:? ", r"In\[1\]:? "),
    (r"incompatible: In\[0\]: ", r"In\[1\]: "),
    (r"Incompatible shapes: ", r"vs\. "),
    (r"shape\[0\] = ", r"shape\[1\] = "),
    (r"Shapes of all inputs must match: values\[0\]\.shape = ", r"values\[1\]\.shape = "),
    (r"lhs shape ?[:=] ?", r"rhs shape ?[:=] ?"),
    (r"params\.shape ?[:=] ?", r"indices\.shape ?[:=] ?"),
)
_PAIRS = (
    re.compile(r"Dimensions must be equal, but are (\d{1,18}) and (\d{1,18})"),
    re.compile(r"must have the same \w{1,40}: (\d{1,18}) vs\.? (\d{1,18})"),
    re.compile(r"(?:depth|channels|width)[^\n]{0,60}?: (\d{1,18}) (?:vs|!=)\.? (\d{1,18})"),
)
_ERRORS = re.compile(
    r"Graph execution error:|(?:InvalidArgument|ResourceExhausted|Unimplemented|NotFound|Internal|FailedPrecondition|"
    r"OutOfRange)Error|OOM when allocating|Incompatible shapes|\(\d\) (?:Invalid argument|INVALID_ARGUMENT)"
)


def messages(text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """The messages of TensorFlow in a text, with their positions."""
    yield from _failed_nodes(text)
    yield from apply_patterns(NAME, _PATTERNS, text)


def _failed_nodes(text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """The nodes in double brackets, each with the lines before it, which say why it failed."""
    before = 0
    for match in list(_NODE.finditer(text))[-200:]:
        name = match[1] or match[2] or match[3]
        start = max(before, match.start() - 3000)
        reason = _reason(text[start : match.start()])
        before = match.end()
        operators = () if match[4] is None else (match[4],)
        if not reason:
            continue  # a second node of the same error: where its value is read
        yield match.start(), _node_message(reason, operators, (name,))


def _reason(text: str) -> str:
    """The lines in front of a node that state the error: behind the stack trace and the headings."""
    lines = [line.strip() for line in text.split("\n")]
    last = max((i for i, line in enumerate(lines) if _is_heading(line)), default=-1)
    return " ".join(line for line in lines[last + 1 :] if line)[-1500:]


_HEADINGS = ("Graph execution error:", "Detected at node", 'File "', "<stack traces", "Node: '", "Original stack", "]]")


def _is_heading(line: str) -> bool:
    return line.startswith(_HEADINGS) or line.endswith(("(most recent call last):", "root error(s) found."))


def _node_message(reason: str, operators: tuple[str, ...], names: tuple[str, ...]) -> RuntimeMessage:
    allocation = _ALLOCATION.search(reason)
    if allocation is not None:
        return _failed_allocation(allocation, reason, operators, names)
    shapes = next(filter(None, (read_shapes(reason, *labels) for labels in _SHAPES)), ())
    pair = next(filter(None, (read_pair(pattern.search(reason)) for pattern in _PAIRS)), None)
    text = re.sub(r"^.{0,200}?Error: ", "", reason) or reason
    return RuntimeMessage(NAME, "node", first_lines(text), operators, names, shapes=shapes, pair=pair)


_ALLOCATION = re.compile(r"OOM when allocating tensor with shape" + SHAPE + r" and type (\w{1,20})")
_WIDTHS = {"float": 4, "double": 8, "half": 2, "bfloat16": 2, "int8": 1, "uint8": 1, "int32": 4, "int64": 8, "bool": 1}


def _failed_allocation(
    match: re.Match[str], text: str, operators: tuple[str, ...] = (), names: tuple[str, ...] = ()
) -> RuntimeMessage:
    """`OOM when allocating tensor with shape[2,3] and type float`."""
    shape = read_shape(match[1])
    requested = _WIDTHS.get(match[2])
    for size in shape:
        requested = None if requested is None or size is None else requested * size
    return RuntimeMessage(NAME, "memory", first_lines(text, 2), operators, names, requested=requested)


def _detected(match: re.Match[str], part: str) -> RuntimeMessage | None:
    """`Detected at node 'NAME' defined at`, of a text that is cut before its node in double brackets."""
    lines = part[match.end() - match.start() :].split("\n")
    if _NODE.search(part) is not None:
        return None
    reason = [line.strip() for line in lines[1:] if line.strip() and not _is_heading(line.strip())][:3]
    return _node_message(" ".join(reason), (), (match[1],))


def _eager(match: re.Match[str], part: str) -> RuntimeMessage:
    """An operator that Python called: `{{function_node __wrapped__MatMul_device_..}} ... [Op:MatMul]`."""
    reason = part.split("}}", 1)[-1].split("[Op:", 1)[0].strip()
    return _node_message(reason, (match[1],), ())


def _new_node(match: re.Match[str], part: str) -> RuntimeMessage:
    """A node that cannot be made: `... for '{{node NAME}} = MatMul[..](x, y)' with input shapes: [2,3], [4,5].`."""
    line = part.split("\n", 1)[0]
    shapes = tuple(all_shapes(line.split("with input shapes:", 1)[-1])) if "with input shapes:" in line else ()
    before = match.string[max(0, match.start() - 500) : match.start()].rsplit("\n", 1)[-1]
    pair = next(filter(None, (read_pair(pattern.search(before)) for pattern in _PAIRS)), None)
    return RuntimeMessage(NAME, "node", f"{before}{line}"[-1000:], (match[2],), (match[1],), shapes=shapes, pair=pair)


def _fed_value(match: re.Match[str], part: str) -> RuntimeMessage:
    """`Cannot feed value of shape (2, 6) for Tensor b:0, which has shape (None, 5)`."""
    return _input_message(match[2].strip("'\""), read_shape(match[1]), read_shape(match[3]), part)


def _input_message(name: str, got: PrintedShape, declared: PrintedShape, part: str) -> RuntimeMessage:
    if len(got) != len(declared):
        mismatches = [InputMismatch(name, None, len(got), len(declared))]
    else:
        pairs = enumerate(zip(got, declared, strict=True))
        mismatches = [InputMismatch(name, i, g, d) for i, (g, d) in pairs if g is not None and d not in (None, g)]
    text = first_lines(part, 1)
    return RuntimeMessage(NAME, "input", text, inputs=tuple(mismatches), input_shapes=((name, got),))


def _signature(match: re.Match[str], part: str) -> RuntimeMessage:
    """`... for argument x: got TensorSpec(shape=(2, 6), ...), expected TensorSpec(shape=(None, 5), ...)`."""
    shapes = read_shapes(part, r"(?:got|value of type) [^\n]{0,80}?shape=", r"expected[^\n]{0,80}?shape=")
    return _input_message(match[1], shapes[0], shapes[1], part) if shapes else RuntimeMessage(NAME, "input", part[:300])


def _allocation(match: re.Match[str], part: str) -> RuntimeMessage:
    return _failed_allocation(match, part)


def _small_allocation(match: re.Match[str], part: str) -> RuntimeMessage:
    return RuntimeMessage(NAME, "memory", first_lines(part, 1), requested=read_bytes(match[1], match[2]))


def _kernel(match: re.Match[str], part: str) -> RuntimeMessage:
    return RuntimeMessage(NAME, "unsupported", first_lines(part, 1), (match[1],))


_PATTERNS = (
    Pattern("node", _DETECTED, _detected),
    Pattern("node", _EAGER, _eager),
    Pattern("node", re.compile(r"for '\{\{node ([^}\s]{1,500})\}\} = (\w{1,128})\["), _new_node),
    Pattern(
        "input",
        re.compile(rf"Cannot feed value of shape {SHAPE} for Tensor ([^\n]{{1,500}}?), which has shape '?{SHAPE}"),
        _fed_value,
    ),
    Pattern("input", re.compile(r"(?:argument|parameter) '?([\w/.:]{1,500})'?[:,] (?:got|expected) "), _signature),
    Pattern("memory", _ALLOCATION, _allocation),
    Pattern(
        "memory",
        re.compile(r"ran out of memory trying to allocate (\d{1,20}(?:\.\d{1,6})?) ?([KMGT]?i?B)", re.IGNORECASE),
        _small_allocation,
    ),
    Pattern("unsupported", re.compile(r"No OpKernel was registered to support Op '(\w{1,128})'"), _kernel),
    Pattern("unsupported", re.compile(r"Op type not registered '([\w>]{1,128})'"), _kernel),
    Pattern("usage", re.compile(r"You must feed a value for placeholder tensor '")),
    Pattern("file", re.compile(r"SavedModel file does not exist at: ")),
)
