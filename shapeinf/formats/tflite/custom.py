"""The options of custom operators as attributes: the map of a FlexBuffer, the node of TensorFlow, else the bytes."""

from __future__ import annotations

from shapeinf.errors import ModelError
from shapeinf.formats.protobuf.wire import DamagedError
from shapeinf.formats.tf.nodes import NodeScanner
from shapeinf.formats.tflite.attributes import MAX_ITEMS
from shapeinf.formats.tflite.document import Document, OperatorRecord
from shapeinf.formats.tflite.flatbuffer import LimitReachedError, MalformedError
from shapeinf.formats.tflite.flexbuffers import read_flexbuffer
from shapeinf.graph import FunctionReference

FLEX = "Flex"
"""The prefix of operators that TensorFlow runs: their options have a node of TensorFlow."""
TF_OP = "tf_op"
"""The attribute with the operator of that node."""
RAW = "custom_options"
"""The attribute with options that are no map: their bytes."""
MAX_OPTIONS = 1 << 24


def custom_attributes(document: Document, record: OperatorRecord, scanner: NodeScanner) -> dict[str, object]:
    """The attributes of a custom operator. Raises MalformedError for options outside of the file."""
    start, length = record.custom
    if not length:
        return {}
    if length > MAX_OPTIONS:
        raise LimitReachedError(f"has options of more than {MAX_OPTIONS} bytes")
    data = document.reader.bytes_at(start, length)
    try:
        value = read_flexbuffer(data)
    except MalformedError:
        value = None
    if record.code.custom.startswith(FLEX) and isinstance(value, tuple):
        return _flex_attributes(value, scanner)
    if isinstance(value, dict):
        return dict(_flat(value, ""))
    return {RAW: tuple(data)} if length <= MAX_ITEMS else {}


def _flex_attributes(value: tuple[object, ...], scanner: NodeScanner) -> dict[str, object]:
    """The attributes of the node of TensorFlow in the options; functions are not in the file."""
    name, node = (*value, None, None)[:2]
    attributes: dict[str, object] = {TF_OP: name} if isinstance(name, str) else {}
    data = node.encode("utf-8", "surrogateescape") if isinstance(node, str) else node
    if isinstance(data, bytes):
        try:
            kind = scanner.scan(data, 0, len(data)).attributes.kind
        except (ModelError, DamagedError, IndexError):
            return attributes
        known = {key: item for key, item in kind.attrs.items() if not isinstance(item, FunctionReference)}
        return {**known, TF_OP: kind.op}
    return attributes


def _flat(value: dict[str, object], prefix: str) -> list[tuple[str, object]]:
    """The entries of a map and of the maps in it, whose keys follow a dot."""
    entries: list[tuple[str, object]] = []
    for key, item in value.items():
        if isinstance(item, dict):
            entries += _flat(item, f"{prefix}{key}.")
        elif item is not None:
            entries.append((prefix + key, tuple(item) if isinstance(item, bytes) else item))
    return entries
