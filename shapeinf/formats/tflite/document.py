"""The tables of a file as records, checked where the reader relies on them.

The definitions are LiteRT's `schema.fbs`. A record of a subgraph is read on its first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import attrs

from shapeinf.formats.protobuf.wire import Buffer
from shapeinf.formats.tflite.flatbuffer import LimitReachedError, MalformedError, Reader, Table, Tables
from shapeinf.lattice.dtypes import INT64_MAX, TFLITE_NAMES

IDENTIFIER = b"TFL3"
"""The bytes 4 to 8 of a file."""
MAX_RANK = 64
MAX_NODES = 1 << 20
CUSTOM = 32
"""The code of custom operators."""
OLD_CODES = 127
"""The greatest code in the field of operators of files before 2020."""


class TensorRecord(NamedTuple):
    """A tensor of a subgraph.

    Args:
        name: its name; empty or not unique in some files.
        dtype: its element type; None for a code that shapeinf does not have.
        dims: its sizes, with 1 for those that the converter did not know.
        signature: its sizes, with -1 for these; None where the file has no such list.
        buffer: the index of its buffer.
        data: the position and the number of bytes of its contents in the file; None for none.
        is_variable: whether it is a state that lives across runs.
        has_rank: whether no sizes are those of a scalar; old converters never say so.
        is_encoded: whether the contents are not the elements in order: compressed ones, or those in another file.
    """

    name: str
    dtype: str | None
    dims: tuple[int, ...]
    signature: tuple[int, ...] | None
    buffer: int
    data: tuple[int, int] | None
    is_variable: bool
    has_rank: bool
    is_encoded: bool


class OperatorRecord(NamedTuple):
    """An operator of a subgraph: its code, the indices of its operands, and its options as they are in the file."""

    code: OperatorCode
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: tuple[int, Table | None]
    options_2: tuple[int, Table | None]
    custom: tuple[int, int]


class OperatorCode(NamedTuple):
    """A builtin operator by its code, or a custom one by its name."""

    builtin: int
    custom: str
    version: int


@attrs.frozen(eq=False)
class Subgraph:
    """A subgraph: its name, its tensors, and the indices of those that are its inputs and outputs."""

    index: int
    name: str
    tensors: Sequence[TensorRecord]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: Sequence[OperatorRecord]


class Signature(NamedTuple):
    """Public names of the inputs and outputs of a subgraph, with the indices of the tensors."""

    key: str
    subgraph: int
    inputs: Sequence[tuple[str, int]]
    outputs: Sequence[tuple[str, int]]


@attrs.define(eq=False)
class Document:
    """A file.

    Attributes:
        reader: reads its tables.
        version: the version of the schema.
        description: the text of the converter.
        codes: the operators that it uses.
        buffers: its buffers.
        signatures: its signatures.
        metadata: the names of its metadata, with the indices of their buffers.
    """

    reader: Reader
    version: int
    description: str
    codes: Sequence[OperatorCode]
    buffers: Tables
    signatures: Sequence[Signature]
    metadata: Sequence[tuple[str, int]]
    _tables: Tables
    _read: dict[int, Subgraph] = attrs.Factory(dict)

    @property
    def num_subgraphs(self) -> int:
        """The number of subgraphs."""
        return len(self._tables)

    def subgraph(self, index: int) -> Subgraph:
        """A subgraph; it is read once. Raises MalformedError."""
        if not 0 <= index < len(self._tables):
            raise MalformedError(f"has no subgraph {index}: there are {len(self._tables)}")
        if index not in self._read:
            self._read[index] = _subgraph(self, self._tables[index], index)
        return self._read[index]

    def table(self, index: int) -> Table:
        """The table of a subgraph. Raises IndexError."""
        return self._tables[index]

    def buffer_range(self, index: int) -> tuple[int, int] | None:
        """The position and the number of bytes of the contents of a buffer; None for an empty one.

        Contents of files of more than 2 GB lie behind the tables.
        """
        if index == 0:
            return None
        if index >= len(self.buffers):
            raise MalformedError(f"has no buffer {index}: there are {len(self.buffers)}")
        buffer = self.buffers[index]
        start, length = buffer.data(0)
        if length:
            return start, length
        return self.file_range(buffer.integer(1, "uint64"), buffer.integer(2, "uint64"))

    def file_range(self, offset: int, size: int) -> tuple[int, int] | None:
        """A range of bytes behind the tables; None for none. Raises MalformedError where it is not in the file."""
        if offset <= 1 or not size:
            return None
        if offset + size > self.reader.size:
            raise MalformedError(f"refers to bytes {offset} to {offset + size}, and the file has {self.reader.size}")
        return offset, size


def read_document(buffer: Buffer) -> Document:
    """The document in the bytes of a file. Raises MalformedError."""
    reader = Reader(buffer)
    if reader.bytes_at(0, 8)[4:] != IDENTIFIER:
        raise MalformedError("has no identifier TFL3")
    root = reader.root()
    return Document(
        reader,
        root.integer(0, "uint32"),
        root.text(3),
        [_code(table) for table in root.tables(1)],
        root.tables(4),
        [_signature(table) for table in root.tables(7)],
        [(table.text(0), table.integer(1, "uint32")) for table in root.tables(6)],
        root.tables(2),
    )


def _code(table: Table) -> OperatorCode:
    """An operator; of its two codes the greater one counts."""
    builtin = max(table.integer(0, "int8"), table.integer(3, "int32"))
    return OperatorCode(builtin, table.text(1), table.integer(2, "int32", 1))


def _signature(table: Table) -> Signature:
    inputs, outputs = ([(t.text(0), t.integer(1, "uint32")) for t in table.tables(slot)] for slot in (0, 1))
    return Signature(table.text(2), table.integer(4, "uint32"), inputs, outputs)


def _subgraph(document: Document, table: Table, index: int) -> Subgraph:
    where = f"subgraph {index}"
    tensors: list[TensorRecord] = []
    for number, tensor in enumerate(table.tables(0)):
        try:
            tensors.append(_tensor(document, tensor))
        except MalformedError as error:
            raise type(error)(f"{where}, tensor {number}: {error}") from error
    operators: list[OperatorRecord] = []
    for number, operator in enumerate(_nodes(table.tables(3))):
        try:
            operators.append(_operator(document, operator, len(tensors)))
        except MalformedError as error:
            raise type(error)(f"{where}, node {number}: {error}") from error
    inputs, outputs = table.integers(1), table.integers(2)
    for number in (*inputs, *outputs):
        _require_tensor(number, len(tensors), 0)
    return Subgraph(index, table.text(4), tensors, inputs, outputs, operators)


def _nodes(tables: Tables) -> Tables:
    if len(tables) > MAX_NODES:
        raise LimitReachedError(f"has more than {MAX_NODES} operators")
    return tables


def _tensor(document: Document, table: Table) -> TensorRecord:
    dims, signature = table.integers(0), table.integers(7) or None
    if max(len(dims), len(signature or ())) > MAX_RANK:
        raise LimitReachedError(f"has more than {MAX_RANK} sizes")
    if any(size < 0 for size in dims) or any(size < -1 for size in signature or ()):
        raise MalformedError(f"has a negative size: {list(dims)}")
    if prod(dims) > INT64_MAX:
        raise MalformedError(f"has more than 2**63 - 1 elements: {list(dims)}")
    if signature is not None and len(signature) != len(dims):
        signature = None  # LiteRT reads `dims` alone
    buffer = table.integer(2, "uint32")
    return TensorRecord(
        table.text(3),
        TFLITE_NAMES.get(table.integer(1, "int8")),
        dims,
        signature,
        buffer,
        document.buffer_range(buffer),
        bool(table.number(5, "bool")),
        bool(table.number(8, "bool")),
        table.has(6) or table.integer(10, "uint32") != 0,
    )


def _operator(document: Document, table: Table, tensors: int) -> OperatorRecord:
    index = table.integer(0, "uint32")
    if index >= len(document.codes):
        raise MalformedError(f"has no operator code {index}: there are {len(document.codes)}")
    inputs, outputs = table.integers(1), table.integers(2)
    for number in (*inputs, *outputs):
        _require_tensor(number, tensors, -1)
    start, length = table.data(5)
    large = document.file_range(table.integer(9, "uint64"), table.integer(10, "uint64"))
    return OperatorRecord(
        document.codes[index],
        inputs,
        outputs,
        (table.integer(3, "uint8"), table.table(4)),
        (table.integer(11, "uint8"), table.table(12)),
        (start, length) if length or large is None else large,
    )


def _require_tensor(number: int, tensors: int, least: int) -> None:
    if not least <= number < tensors:
        raise MalformedError(f"has no tensor {number}: there are {tensors}")
