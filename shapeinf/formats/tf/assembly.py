"""Builds a `Graph` from the nodes of a file: names of values, constants, inputs, the order of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.tf import codes
from shapeinf.formats.tf.attributes import text
from shapeinf.formats.tf.definitions import MAX_OUTPUTS, Definitions, Outputs
from shapeinf.formats.tf.nodes import Record
from shapeinf.formats.tf.order import execution_order
from shapeinf.graph import DeclaredType, Graph, NodeTable
from shapeinf.lattice import PartialTensor

MAX_VALUES = 1 << 19
"""The most outputs of all nodes of a file with several outputs."""

SCALAR_PLACEHOLDERS = 22
"""The version of producers before which the shape of a scalar in a placeholder stands for an unknown rank."""

Resolve = Callable[[bytes], bytes]
"""The value `node:k` that an input of a node refers to; empty for a control edge."""


class FlatNames(dict[bytes, bytes]):
    """The values that inputs of nodes refer to outside of functions: `node` is `node:0`."""

    def __missing__(self, name: bytes) -> bytes:
        """Each name is read once."""
        node, _, index = name.partition(b":")
        if name.startswith(b"^"):
            value = b""
        elif not index:
            value = node + b":0"
        else:
            value = node + b":" + _index(index, name)
        self[name] = value
        return value


class BodyNames(dict[bytes, bytes]):
    """The values that inputs of nodes refer to in a function: arguments, and `node:output:k`.

    An output of a node without OpDef has the next free index.
    """

    def __init__(self, arguments: Iterable[bytes], outputs: dict[bytes, Outputs | None]) -> None:
        """`outputs` are those of all nodes of the function."""
        self.arguments = frozenset(arguments)
        self.outputs = outputs
        self._unknown: dict[bytes, dict[bytes, int]] = {}

    def __missing__(self, name: bytes) -> bytes:
        """Each name is read once."""
        value = self[name] = self._resolve(name)
        return value

    def _resolve(self, name: bytes) -> bytes:
        if name.startswith(b"^"):
            return b""
        node, _, rest = name.partition(b":")
        if node in self.arguments:
            return node + b":" + (_index(rest, name) if rest else b"0")
        argument, _, index = rest.partition(b":")
        if not argument or node not in self.outputs:
            return name  # inference reports a value that no node produces
        outputs = self.outputs[node]
        number = int(_index(index, name)) if index else 0
        if outputs is None:
            return b"%s:%d" % (node, self._unknown_index(node, argument, number))
        offset = outputs.offsets.get(argument)
        return name if offset is None else b"%s:%d" % (node, offset + number)

    def _unknown_index(self, node: bytes, argument: bytes, number: int) -> int:
        indices = self._unknown.setdefault(node, {})
        return indices.setdefault(b"%s:%d" % (argument, number), len(indices))


def _index(digits: bytes, name: bytes) -> bytes:
    """The index of an output, without leading zeros. Raises ModelError."""
    if not digits.isdigit() or len(digits) > len(str(MAX_OUTPUTS)):
        raise ModelError(f"{text(name)!r} is not an output of a node: it ends without an index, or with a large one")
    return b"%d" % int(digits)


def _require_definition(record: Record) -> None:
    """Raise ModelError for a placeholder or a constant, which become no nodes, that TensorFlow does not import.

    Without `dtype` the element type is that of the value, or unknown.
    """
    kind = record.attributes.kind
    dtype, shape = kind.attrs.get("dtype"), kind.attrs.get("shape")
    problem = ""
    if any(not value.startswith(b"^") for value in record.inputs):
        problem = f"{kind.op} takes 0 inputs, got {len(record.inputs)}"
    elif dtype is not None and not isinstance(dtype, str):
        problem = "the attribute 'dtype' must be of the kind type"
    elif shape is not None and not isinstance(shape, DeclaredType):
        problem = "the attribute 'shape' must be of the kind shape"
    if problem:
        raise ModelError(problem, node=text(record.name))


class Assembly:
    """Adds constants, inputs and nodes to a graph."""

    def __init__(self, graph: Graph, records: Sequence[Record], definitions: Definitions) -> None:
        """`graph` has only its name and version. Raises ModelError for two nodes of one name."""
        self.graph = graph
        self.definitions = definitions
        self.fed: Mapping[bytes, DeclaredType] = {}
        """The declared types of values that become inputs of the graph, whichever nodes produce them."""
        self.outputs: dict[bytes, Outputs | None] = {}
        for record in records:
            if record.name in self.outputs:
                raise ModelError(f"Node {text(record.name)!r} is not unique", node=text(record.name))
            self.outputs[record.name] = self._outputs_of(record)
        self.records = records

    def _outputs_of(self, record: Record) -> Outputs | None:
        try:
            return self.definitions.outputs(record.attributes.kind)
        except LimitError as error:
            raise LimitError(error.cause, node=text(record.name)) from error

    def fill(self, resolve: Resolve, read: Iterable[bytes] = (), *, placeholders: bool) -> None:
        """Add constants, inputs and nodes. `placeholders`: these are inputs. `read`: values that the caller reads."""
        records, self.graph.cyclic = execution_order(self.records)
        counts = self._count_read_outputs(resolve, read)
        nodes = NodeTable()
        for record in records:
            name, inputs, attributes = record
            kind = attributes.kind
            if kind.op in ("Placeholder", "Const"):
                _require_definition(record)
                self.graph.invalid_types += [text(name) + ":0"] if "dtype" in kind.invalid else []
            if kind.op == "Placeholder" and placeholders:
                self._add_input(record)
                continue
            outputs = self.outputs[name]
            count = counts.get(name, 0) if outputs is None else outputs.count
            names = [name + b":0"] if count == 1 else self._output_names(name, count)
            if self.fed:
                names = [b"" if value in self.fed else value for value in names]
                if count and not any(names):
                    continue
            if kind.op == "Const" and self._add_constant(record):
                continue
            read_names = [text(value) for value in map(resolve, inputs) if value]
            nodes.add(kind, read_names, map(text, names), text(name))
            if attributes.shapes or (outputs is not None and outputs.dtypes):
                self._declare(record, outputs, count)
        self.graph.nodes = nodes
        self._add_fed()

    def _add_fed(self) -> None:
        """Add the fed values that are no placeholders, and the declared types of all."""
        inputs = set(self.graph.inputs)
        for value, declared in self.fed.items():
            name = text(value)
            if name not in inputs:
                self.graph.inputs.append(name)
            declare_input(self.graph, name, declared)

    def _output_names(self, name: bytes, count: int) -> list[bytes]:
        """The names of several outputs."""
        self.definitions.values += count
        if self.definitions.values > MAX_VALUES:
            raise LimitError(f"the nodes with several outputs have more than {MAX_VALUES}", node=text(name))
        return [b"%s:%d" % (name, index) for index in range(count)]

    def _count_read_outputs(self, resolve: Resolve, read: Iterable[bytes]) -> dict[bytes, int]:
        """The number of outputs of each node whose operator is unknown: the highest index that is read, plus 1."""
        counts = dict.fromkeys([name for name, outputs in self.outputs.items() if outputs is None], 0)
        if counts:
            values = [resolve(value) for record in self.records for value in record.inputs]
            for value in (*values, *read):
                node, _, index = value.rpartition(b":")
                if node in counts and index.isdigit():
                    counts[node] = max(counts[node], int(index) + 1)
        return counts

    def _add_constant(self, record: Record) -> bool:
        """Add the constant of a Const and return True; False if its value is an attribute of the function."""
        kind = record.attributes.kind
        if "value" in kind.references:
            return False
        value = kind.attrs.get("value")
        if not isinstance(value, PartialTensor):
            raise ModelError("the constant has no value", node=text(record.name))
        self.graph.constants[text(record.name) + ":0"] = value
        return True

    def _add_input(self, record: Record) -> None:
        """Add a placeholder, with the shapes that the node and the exporter declare."""
        attributes = record.attributes
        name = text(record.name) + ":0"
        dtype, shape = (attributes.kind.attrs.get(key) for key in ("dtype", "shape"))
        dims = shape.dims if isinstance(shape, DeclaredType) else None
        if dims == () and self.definitions.producer < SCALAR_PLACEHOLDERS:
            dims = None
        self.graph.inputs.append(name)
        self.graph.declared[name] = DeclaredType(dtype if isinstance(dtype, str) else None, dims)
        if len(attributes.shapes) == 1:
            declare_input(self.graph, name, attributes.shapes[0])

    def _declare(self, record: Record, outputs: Outputs | None, count: int) -> None:
        """Add the declared shapes of the exporter, and the element types of custom operators."""
        shapes = record.attributes.shapes
        dtypes = outputs.dtypes if outputs is not None else ()
        if len(shapes) != count:
            shapes = ()
        for index in range(count if dtypes or any(shape.dims is not None for shape in shapes) else 0):
            dims = shapes[index].dims if shapes else None
            dtype = dtypes[index] if dtypes else None
            if dims is not None or dtype is not None:
                self.graph.declared[f"{text(record.name)}:{index}"] = DeclaredType(dtype, dims)


def declare_input(graph: Graph, name: str, declared: DeclaredType) -> None:
    """Merge a further declared type of an input; a diagnostic reports shapes that differ."""
    known = graph.declared.get(name, DeclaredType())
    dims = merge_dims(known.dims, declared.dims)
    if declared.dims is not None and merge_dims(declared.dims, known.dims) != dims:
        message = f"the input is declared twice, with the shapes {_shape_text(known)} and {_shape_text(declared)}"
        graph.diagnostics.append(Diagnostic("warning", codes.DECLARED_TWICE, message, name))
    graph.declared[name] = DeclaredType(known.dtype or declared.dtype, dims, of=known.of)


def _shape_text(declared: DeclaredType) -> str:
    return f"[{', '.join('?' if dim is None else str(dim) for dim in declared.dims or ())}]"


def merge_dims(
    first: tuple[int | str | None, ...] | None, second: tuple[int | str | None, ...] | None
) -> tuple[int | str | None, ...] | None:
    """The dims of two declarations of one value, merged; where they differ, those of the first.

    >>> merge_dims((None, 3), (8, 4)), merge_dims(None, (2,))
    ((8, 3), (2,))
    """
    if first is None or second is None or len(first) != len(second):
        return second if first is None else first
    return tuple([b if a is None else a for a, b in zip(first, second, strict=True)])


def unconsumed_values(nodes: NodeTable) -> list[str]:
    """The outputs of nodes of which no node reads any."""
    read = {number for _, inputs, _, _ in nodes.rows for number in inputs}
    rows = (outputs for _, _, outputs, _ in nodes.rows if not read.intersection(outputs))
    return [nodes.values[number] for outputs in rows for number in outputs]
