"""TensorFlow's messages as classes of protobuf, made from our table: an oracle where TensorFlow is not installed."""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from shapeinf.formats.tf.encoding import ALTERNATIVES
from shapeinf.formats.tf.messages import Field, enum_values, message_type

_PROTO = descriptor_pb2.FieldDescriptorProto
_ROOTS = ("SavedModel", "GraphDef", "MetaGraphDef", "VariableDef")


@cache
def message_class(name: str) -> Any:
    """The class of a message such as "NodeDef"."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"test.{_flat(name)}"))


def reachable_messages() -> list[str]:
    """All messages that a file can have, without the entries of maps."""
    names = dict.fromkeys(_ROOTS)
    stack = list(names)
    while stack:
        for field in message_type(stack.pop()).by_name.values():
            inner = message_type(field.type).by_name["value"] if field.is_map else field
            if inner.kind == "message" and inner.type not in names:
                names[inner.type] = None
                stack.append(inner.type)
    return list(names)


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="test.proto", package="test", syntax="proto3")
    enums: dict[str, None] = {}
    for name in reachable_messages():
        proto = file.message_type.add(name=_flat(name))
        if name in ALTERNATIVES:
            proto.oneof_decl.add(name="kind")
        for field in message_type(name).by_name.values():
            added = proto.field.add()
            _describe(added, field, enums)
            if field.name in ALTERNATIVES.get(name, ()):
                added.oneof_index = 0
            if field.is_map:
                entry = proto.nested_type.add(name=field.type.rpartition(".")[2])
                entry.options.map_entry = True
                for part in message_type(field.type).by_name.values():
                    _describe(entry.field.add(), part, enums)
                added.type_name = f".test.{_flat(name)}.{entry.name}"
    for enum in enums:
        proto = file.message_type.add(name=f"{_flat(enum)}_scope").enum_type.add(name=_flat(enum))
        for value, number in sorted(enum_values(enum).items(), key=lambda item: item[1] != 0):
            proto.value.add(name=value, number=number)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _describe(proto: Any, field: Field, enums: dict[str, None]) -> None:
    proto.name, proto.number = field.name, field.number
    proto.type = getattr(_PROTO, f"TYPE_{field.kind.upper()}")
    proto.label = _PROTO.LABEL_REPEATED if field.repeated else _PROTO.LABEL_OPTIONAL
    if field.kind == "enum":
        enums[field.type] = None
        proto.type_name = f".test.{_flat(field.type)}_scope.{_flat(field.type)}"
    elif field.kind == "message":
        proto.type_name = f".test.{_flat(field.type)}"


def _flat(name: str) -> str:
    return name.replace(".", "_")
