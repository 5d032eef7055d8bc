"""The OpDefs of a file's nodes: from the registry, of custom operators in the file, and of library functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, fields, to_signed
from shapeinf.formats.tf import codes
from shapeinf.formats.tf.attributes import read_attribute, text
from shapeinf.formats.tf.tensors import read_dims
from shapeinf.formats.tf.types import dtype_name
from shapeinf.graph import DeclaredType, NodeKind
from shapeinf.ops import ArgDef, AttrDef, OpDef, default_registry

CONSUMER = 2474
"""The GraphDef version of TensorFlow 2.21, as which shapeinf reads graphs; files may exclude it."""

MAX_OUTPUTS = 1 << 16
"""The most outputs of one node."""


@attrs.frozen(eq=False)
class Outputs:
    """The outputs of equal nodes: their names and element types, and the first index of each output argument.

    Attributes:
        count: the number of outputs.
        offsets: the index of the first output of an argument, by its name.
        dtypes: the element type of each output, None where unknown; empty for operators of the registry.
    """

    count: int
    offsets: Mapping[bytes, int]
    dtypes: Sequence[str | None] = ()


class Definitions:
    """The OpDefs of one file, and the outputs of its nodes."""

    def __init__(self, producer: int, custom: Mapping[str, OpDef]) -> None:
        """`custom` are the OpDefs in the file; those of the registry take precedence."""
        self.producer = producer
        self.custom = custom
        self.functions: dict[str, OpDef] = {}
        self.values = 0
        """The number of outputs so far of all nodes with several."""
        self._registry = default_registry()
        self._reported: set[tuple[str, str]] = set()
        self._outputs: dict[NodeKind, Outputs | None] = {}

    def lookup(self, op: str) -> OpDef | None:
        """The OpDef of an operator, or of a function that is called by its name; None for an unknown one."""
        known = self._registry.lookup("tf", "", op, self.producer)
        return known or self.functions.get(op) or self.custom.get(op)

    def check_available(self, op: str) -> None:
        """Raise ModelError for an operator that was removed before the version of the producer."""
        op_def = self.lookup(op)
        if op_def is not None and op_def.deprecation is not None and self.producer >= op_def.deprecation[0]:
            version, explanation = op_def.deprecation
            raise ModelError(
                f"Op {op} is not available in GraphDef version {self.producer}. "
                f"It has been removed in version {version}. {explanation}."
            )

    def unknown_attributes(self, kind: NodeKind) -> Iterator[Diagnostic]:
        """A warning for each attribute that the operator does not have; each is reported once."""
        op_def = self._registry.lookup("tf", "", kind.op, self.producer)
        for name in kind.attrs if op_def is not None else ():
            if op_def is not None and name not in op_def.attributes and (kind.op, name) not in self._reported:
                self._reported.add((kind.op, name))
                message = f"{kind.op} has no attribute {name!r}: it is not used"
                yield Diagnostic("warning", codes.UNKNOWN_ATTRIBUTE, message, op=kind.op)

    def outputs(self, kind: NodeKind) -> Outputs | None:
        """The outputs of the nodes of a kind; None if their number is unknown."""
        if kind not in self._outputs:
            op_def = self.lookup(kind.op)
            self._outputs[kind] = None if op_def is None else _outputs(op_def, kind, kind.op in self.custom)
        return self._outputs[kind]


def _outputs(op_def: OpDef, kind: NodeKind, custom: bool) -> Outputs | None:
    """The outputs that an OpDef defines; None if an attribute with their number is missing."""
    count = 0
    offsets: dict[bytes, int] = {}
    dtypes: list[str | None] = []
    for arg in op_def.outputs:
        offsets[arg.name.encode()] = count
        types = _arg_types(op_def, arg, kind)
        if types is None:
            return None
        count += len(types)
        if count > MAX_OUTPUTS:
            raise LimitError(f"{kind.op} has more than {MAX_OUTPUTS} outputs")
        dtypes += types
    return Outputs(count, offsets, tuple(dtypes) if custom else ())


def _arg_types(op_def: OpDef, arg: ArgDef, kind: NodeKind) -> Sequence[str | None] | None:
    """The element types of the outputs of one argument; None if their number is unknown."""
    if arg.type_list_attr is not None:
        listed = _attribute(op_def, arg.type_list_attr, kind)
        return [item if isinstance(item, str) else None for item in listed] if isinstance(listed, tuple) else None
    dtype = arg.type if arg.type is not None else _attribute(op_def, arg.type_attr or "", kind)
    single = dtype if isinstance(dtype, str) else None
    if arg.number_attr is None:
        return [single]
    number = _attribute(op_def, arg.number_attr, kind)
    if not isinstance(number, int):
        return None
    if not 0 <= number <= MAX_OUTPUTS:
        raise LimitError(f"{kind.op} has {number} outputs; a node has at most {MAX_OUTPUTS}")
    return [single] * number


def _attribute(op_def: OpDef, name: str, kind: NodeKind) -> object:
    if name in kind.attrs:
        return kind.attrs[name]
    definition = op_def.attributes.get(name)
    return None if definition is None or name in kind.references else definition.default


@attrs.frozen(eq=False)
class Definition:
    """An OpDef of a file; `handles` has the types of the values behind its arguments that are handles, by name."""

    op_def: OpDef
    handles: Mapping[str, DeclaredType]


def read_op_def(buffer: Buffer, pos: int, end: int) -> Definition:
    """An OpDef message."""
    name, deprecation = "", None
    inputs: list[ArgDef] = []
    outputs: list[ArgDef] = []
    attributes: dict[str, AttrDef] = {}
    handles: dict[str, DeclaredType] = {}
    for number, kind, start, stop in fields(buffer, pos, end):
        if kind != BYTES:
            continue
        if number == 1:
            name = text(buffer[start:stop])
        elif number in (2, 3):
            arg, handle = _read_arg(buffer, start, stop)
            (inputs if number == 2 else outputs).append(arg)
            if handle is not None and number == 2:
                handles[arg.name] = handle
        elif number == 4:
            attribute = _read_attr_def(buffer, start, stop)
            attributes[attribute.name] = attribute
        elif number == 8:
            deprecation = _read_deprecation(buffer, start, stop)
    op_def = OpDef(
        name, "tf", inputs=tuple(inputs), outputs=tuple(outputs), attributes=attributes, deprecation=deprecation
    )
    return Definition(op_def, handles)


def _read_arg(buffer: Buffer, pos: int, end: int) -> tuple[ArgDef, DeclaredType | None]:
    """An argument; for a handle also the type of the value behind it, if declared."""
    texts = {1: "", 4: "", 5: "", 6: ""}
    dtype, is_ref = None, False
    handles = []
    for number, kind, start, stop in fields(buffer, pos, end):
        if kind == BYTES and number in texts:
            texts[number] = text(buffer[start:stop])
        elif number == 3 and kind == VARINT:
            dtype = dtype_name(start)
        elif number == 16 and kind == VARINT:
            is_ref = bool(start)
        elif number == 7 and kind == BYTES:
            handles.append(read_dtype_and_shape(buffer, start, stop))
    arg = ArgDef(
        texts[1],
        type=dtype,
        type_attr=texts[4] or None,
        number_attr=texts[5] or None,
        type_list_attr=texts[6] or None,
        is_ref=is_ref,
    )
    return arg, handles[0] if len(handles) == 1 else None


def read_dtype_and_shape(buffer: Buffer, pos: int, end: int) -> DeclaredType:
    """A message with a type (field 1) and a shape (field 2): of the value behind a handle, or of a variable."""
    dtype: str | None = None
    dims: tuple[int | str | None, ...] | None = ()
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == VARINT:
            dtype = dtype_name(start)
        elif number == 2 and kind == BYTES:
            dims = read_dims(buffer, start, stop)
    return DeclaredType(dtype, dims)


def _read_attr_def(buffer: Buffer, pos: int, end: int) -> AttrDef:
    name, type_, default, has_default = "", "", None, False
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == BYTES:
            name = text(buffer[start:stop])
        elif number == 2 and kind == BYTES:
            type_ = text(buffer[start:stop])
        elif number == 3 and kind == BYTES:
            default, has_default = read_attribute(buffer, start, stop).value, True
    return AttrDef(name, type_, default, has_default, required=not has_default)


def _read_deprecation(buffer: Buffer, pos: int, end: int) -> tuple[int, str]:
    version, explanation = 0, ""
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == VARINT:
            version = to_signed(start)
        elif number == 2 and kind == BYTES:
            explanation = text(buffer[start:stop])
    return version, explanation
