"""Reads MetaGraphDefs and SavedModels: the ranges of their graphs, and their signatures, tags and OpDefs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from shapeinf.errors import LimitError, UnknownFormatError, UnknownNameError
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, fields
from shapeinf.formats.tf.attributes import read_entry, text
from shapeinf.formats.tf.definitions import read_op_def
from shapeinf.formats.tf.tensors import read_dims
from shapeinf.formats.tf.types import dtype_name
from shapeinf.graph import DeclaredType
from shapeinf.ops import OpDef

DEFAULT_TAG = "serve"
MAX_COMPONENTS = 1 << 12
"""The most tensors of one argument of a signature."""

_MAX_DEPTH = 16


@attrs.frozen
class SignatureTensor:
    """A tensor of a signature: the name of the argument, the value in the graph, its declared type."""

    argument: str
    value: str
    declared: DeclaredType


@attrs.frozen
class Signature:
    """The inputs and outputs of one signature, sorted by argument."""

    inputs: Sequence[SignatureTensor]
    outputs: Sequence[SignatureTensor]


@attrs.define(eq=False)
class MetaGraph:
    """The parts of a MetaGraphDef; `graph` and `objects` are the ranges of its GraphDef and its SavedObjectGraph."""

    graph: tuple[int, int] | None = None
    objects: tuple[int, int] | None = None
    tags: tuple[str, ...] = ()
    signatures: dict[str, Signature] = attrs.Factory(dict)
    custom: dict[str, OpDef] = attrs.Factory(dict)
    tensorflow: str = ""
    """The version of TensorFlow that wrote it."""


def read_meta_graph(buffer: Buffer, pos: int, end: int) -> MetaGraph:
    """The parts of a MetaGraphDef."""
    meta = MetaGraph()
    for number, kind, start, stop in fields(buffer, pos, end):
        if kind != BYTES:
            continue
        if number == 1:
            _read_meta_info(meta, buffer, start, stop)
        elif number == 2:
            meta.graph = start, stop
        elif number == 5:
            key, begin, finish = read_entry(buffer, start, stop)
            meta.signatures[text(key)] = read_signature(buffer, begin, finish)
        elif number == 7:
            meta.objects = start, stop
    return meta


def saved_meta_graphs(buffer: Buffer) -> list[MetaGraph]:
    """The parts of all MetaGraphDefs of a SavedModel."""
    return [
        read_meta_graph(buffer, start, stop)
        for number, kind, start, stop in fields(buffer, 0, len(buffer))
        if (number, kind) == (2, BYTES)
    ]


def select_meta_graph(buffer: Buffer, tag: str | None, where: str) -> MetaGraph:
    """The MetaGraphDef of a SavedModel with a tag; by default the only one, else the one with the tag "serve".

    Raises UnknownNameError if none has the tag, UnknownFormatError for a SavedModel without a graph.
    """
    metas = saved_meta_graphs(buffer)
    if not metas:
        raise UnknownFormatError("is a SavedModel without a graph", node=where)
    if tag is None and len(metas) == 1:
        return metas[0]
    wanted = DEFAULT_TAG if tag is None else tag
    chosen = next((meta for meta in metas if wanted in meta.tags), None)
    if chosen is None:
        raise UnknownNameError("tag", tag or "", [known for meta in metas for known in meta.tags])
    return chosen


def _read_meta_info(meta: MetaGraph, buffer: Buffer, pos: int, end: int) -> None:
    """Add the tags, the OpDefs and the version of TensorFlow of a MetaInfoDef."""
    tags: list[str] = []
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 4 and kind == BYTES:
            tags.append(text(buffer[start:stop]))
        elif number == 5 and kind == BYTES:
            meta.tensorflow = text(buffer[start:stop])
        elif number == 2 and kind == BYTES:
            for member, member_kind, begin, finish in fields(buffer, start, stop):
                if (member, member_kind) == (1, BYTES):
                    op_def = read_op_def(buffer, begin, finish).op_def
                    meta.custom[op_def.name] = op_def
    meta.tags = tuple(tags)


def read_signature(buffer: Buffer, pos: int, end: int) -> Signature:
    """A SignatureDef."""
    tensors: Mapping[int, list[SignatureTensor]] = {1: [], 2: []}
    for number, kind, start, stop in fields(buffer, pos, end):
        if number in tensors and kind == BYTES:
            key, begin, finish = read_entry(buffer, start, stop)
            tensors[number].extend(_read_tensor_info(text(key), buffer, begin, finish, 0))
    return Signature(*(sorted(tensors[number], key=lambda tensor: tensor.argument) for number in (1, 2)))


def _read_tensor_info(argument: str, buffer: Buffer, pos: int, end: int, depth: int) -> Iterator[SignatureTensor]:
    """The tensors of a TensorInfo: one, the three of a sparse tensor, or the components of a composite one."""
    value, dtype = "", None
    dims: tuple[int | str | None, ...] | None = None
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == BYTES:
            value = text(buffer[start:stop])
        elif number == 2 and kind == VARINT:
            dtype = dtype_name(start)
        elif number == 3 and kind == BYTES:
            dims = read_dims(buffer, start, stop)
        elif number == 4 and kind == BYTES:
            yield from _read_sparse(argument, buffer, start, stop)
        elif number == 5 and kind == BYTES:
            yield from _read_components(argument, buffer, start, stop, depth)
    if value:
        yield SignatureTensor(argument, value, DeclaredType(dtype, dims))


_SPARSE = {1: "values", 2: "indices", 3: "dense_shape"}


def _read_sparse(argument: str, buffer: Buffer, pos: int, end: int) -> Iterator[SignatureTensor]:
    for number, kind, start, stop in fields(buffer, pos, end):
        if number in _SPARSE and kind == BYTES:
            yield SignatureTensor(f"{argument}.{_SPARSE[number]}", text(buffer[start:stop]), DeclaredType())


def _read_components(argument: str, buffer: Buffer, pos: int, end: int, depth: int) -> Iterator[SignatureTensor]:
    if depth >= _MAX_DEPTH:
        raise LimitError(f"the tensors of a signature nest deeper than {_MAX_DEPTH}")
    index = 0
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 2 and kind == BYTES:
            if index >= MAX_COMPONENTS:
                raise LimitError(f"an argument of a signature has more than {MAX_COMPONENTS} tensors")
            yield from _read_tensor_info(f"{argument}.{index}", buffer, start, stop, depth + 1)
            index += 1
