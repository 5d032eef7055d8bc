"""A graph compiled into rows, in execution order, for the loop of an inference.

- A *slot* is the number of a value of the graph; `MISSING` and `UNUSED` stand for an absent input and output.
- A *row* is a node as a tuple (key of its operation, input slots, output slots, name). A `NodeStep` is the object of a
  row; it is created only for the few nodes that something besides their types is needed of.
- An `Operation` is what equal nodes share: the call of the rule, with attributes bound, and the compiled subgraphs.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from operator import itemgetter

from shapeinf.compilation import mypyc_attr
from shapeinf.engine.conditions import Guards, conditional_rows, find_guards
from shapeinf.errors import ModelError, ShapeError
from shapeinf.graph import (
    MISSING,
    UNUSED,
    FunctionKey,
    FunctionReference,
    Graph,
    Node,
    NodeKind,
    NodeTable,
    Row,
    RowKey,
    bind_attributes,
    components,
    function_references,
    kind_of,
    refers_to_attributes,
    row_key,
    sort_rows,
    subgraphs,
    topological_order,
    validate,
)
from shapeinf.ops import Call, Contents, OpDef, OpRegistry
from shapeinf.sharing import cached_property


class Operation:
    """What equal nodes share: the call of the operator's rule, or the graph that defines it.

    `call` is None for an operator without a rule. It may be defined by `body`, a function of the model, or by
    `op_def.expand`, a definition in terms of other operators. By attribute, `bodies` has the compiled subgraphs and the
    references to functions; `captures` are the outer values that the subgraphs read.
    """

    __slots__ = (
        "bodies",
        "body",
        "call",
        "captures",
        "changes_conditions",
        "contents",
        "kind",
        "known",
        "leaves_loop",
        "op_def",
        "version",
    )

    def __init__(
        self, kind: NodeKind, version: int, op_def: OpDef | None, call: Call | None, body: FunctionKey | None
    ) -> None:
        """The caller adds bodies and captures. `version` is displayed in messages, unless it is 0."""
        self.kind = kind
        self.version = version
        self.op_def = op_def
        self.call = call
        self.contents = Contents.ANY if call is None else call.contents
        self.body = body
        self.bodies: dict[str, CompiledGraph | FunctionReference] = {}
        self.captures: tuple[str, ...] = ()
        expands = op_def is not None and op_def.expand is not None
        self.known = call is not None or body is not None or expands
        """Whether the operator has a rule or a definition."""
        self.changes_conditions = op_def is not None and (op_def.conditions != 0 or op_def.back_edge)
        """Whether nodes of this operator decide whether other nodes run."""
        self.leaves_loop = op_def is not None and op_def.conditions < -1
        """Whether nodes of this operator take a value out of a loop."""

    def __str__(self) -> str:
        """Domain, operator and version, as in messages."""
        domain = f"{self.kind.domain}." if self.kind.domain else ""
        return f"{domain}{self.kind.op}" + (f" (version {self.version})" if self.version else "")


class FunctionLibrary:
    """The functions of a model; each is compiled on its first call, once for each combination of attributes."""

    def __init__(self, graphs: Mapping[FunctionKey, Graph], registry: OpRegistry) -> None:
        """No function is compiled."""
        self.graphs = graphs
        self.registry = registry
        self._compiled: dict[tuple[FunctionKey, Hashable], CompiledGraph] = {}
        self._parametric: dict[FunctionKey, bool] = {}

    def __contains__(self, key: object) -> bool:
        """Whether the model has a function."""
        return key in self.graphs

    def compile(self, key: FunctionKey, attributes: Mapping[str, object]) -> CompiledGraph:
        """The compiled body of a function for the attributes of a call. Raises ShapeError for an unknown function."""
        graph = self.graphs.get(key)
        if graph is None:
            raise ShapeError(f"the function {key[1]!r} is not in the model", code="S103")
        if key not in self._parametric:
            self._parametric[key] = refers_to_attributes(graph)
        values = {**graph.defaults, **attributes} if self._parametric[key] else {}
        form = key, _hashable(values)
        if form not in self._compiled:
            bound = bind_attributes(graph, values) if values else graph
            self._compiled[form] = compile_graph(bound, self.registry, self)
        return self._compiled[form]


def _hashable(value: object) -> Hashable:
    """A key that is equal for equal attributes; 1, 1.0 and True differ."""
    if isinstance(value, Mapping):
        return tuple((name, _hashable(item)) for name, item in sorted(value.items()))
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    if isinstance(value, FunctionReference):
        return value.function, _hashable(value.attrs)
    return type(value), value


class NodeStep:
    """One node of a compiled graph; `inputs` ends with the slots of the values that its subgraphs capture."""

    __slots__ = ("compiled", "index", "inputs", "operation", "outputs")

    def __init__(
        self,
        compiled: CompiledGraph,
        index: int,
        operation: Operation,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
    ) -> None:
        """See `CompiledGraph.step`."""
        self.compiled = compiled
        self.index = index
        self.operation = operation
        self.inputs = inputs
        self.outputs = outputs

    @property
    def node(self) -> Node:
        """The node."""
        return self.compiled.node(self.index)

    @property
    def node_name(self) -> str:
        """The name of the node in unknowns and sources, see `CompiledGraph.node_name`."""
        return self.compiled.node_name(self.index)

    @property
    def arguments(self) -> tuple[int, ...]:
        """The slots of the inputs that the node lists, without captures."""
        captures = len(self.operation.captures)
        return self.inputs[: len(self.inputs) - captures] if captures else self.inputs

    def captured_slot(self, name: str) -> int | None:
        """The slot of an outer value that the bodies read under this name; None for any other name."""
        names = self.operation.captures
        return self.captures[names.index(name)] if name in names else None

    @property
    def captures(self) -> tuple[int, ...]:
        """The slots of the values that its subgraphs capture."""
        return self.inputs[len(self.arguments) :]


_OUTPUTS_OF_ROW = itemgetter(2)


@mypyc_attr(native_class=False)  # cached properties
class CompiledGraph:
    """The nodes of a graph in execution order; `names[slot]` is the name of a value.

    The index of a node is that of its row; the file may have another order, see `file_order`.
    """

    def __init__(
        self,
        graph: Graph,
        registry: OpRegistry,
        functions: FunctionLibrary,
        names: list[str],
        rows: Sequence[Row],
        operations: dict[RowKey, Operation],
        order: Sequence[int],
        groups: list[list[int]] | None = None,
    ) -> None:
        """`order` has the index in the file of each row's node.

        `groups` is None for an acyclic graph; else the rows in groups, each a single row or those of a cycle.
        """
        self.graph = graph
        self.registry = registry
        self.functions = functions
        self.names = names
        self.rows = rows
        self.operations = operations
        self.groups = groups
        self._order = order

    def step(self, index: int) -> NodeStep:
        """The node at an index, compiled."""
        key, inputs, outputs, _ = self.rows[index]
        return NodeStep(self, index, self.operations[key], inputs, outputs)

    def node_name(self, index: int) -> str:
        """The name of the node at an index: its own, else that of its first output, else the operator."""
        key, _, outputs, name = self.rows[index]
        if name:
            return name
        return next((self.names[slot] for slot in outputs if slot != UNUSED), self.operations[key].kind.op)

    def is_cycle(self, group: Sequence[int]) -> bool:
        """Whether a group is a cycle: several nodes, or one that reads its own output."""
        _, inputs, outputs, _ = self.rows[group[0]]
        return len(group) > 1 or any(slot in inputs for slot in outputs if slot != UNUSED)

    def node(self, index: int) -> Node:
        """The node at an index, as the file has it."""
        return self.graph.nodes[self._order[index]]

    @cached_property
    def steps(self) -> list[NodeStep]:
        """All nodes in order."""
        return [self.step(index) for index in range(len(self.rows))]

    @cached_property
    def output_slots(self) -> list[int]:
        """The slots of all outputs of nodes, in order, without unused ones."""
        slots = list(itertools.chain.from_iterable(map(_OUTPUTS_OF_ROW, self.rows)))
        return [slot for slot in slots if slot != UNUSED] if UNUSED in slots else slots

    @property
    def file_order(self) -> Sequence[int]:
        """The indices of the rows in the order of the file."""
        if isinstance(self._order, range):
            return self._order
        return sorted(range(len(self.rows)), key=self._order.__getitem__)

    def replace_node(self, index: int, kind: NodeKind) -> CompiledGraph:
        """A copy in which the node at an index has another operator or other attributes; `graph` has the old node."""
        _, inputs, outputs, name = self.rows[index]
        rows = list(self.rows)
        key = row_key(kind, outputs)
        rows[index] = (key, inputs, outputs, name)
        compiler = _Compiler(self.graph, self.registry, self.functions, ())
        operations = {**self.operations, key: compiler.operation(key)}
        copy = CompiledGraph(
            self.graph, self.registry, self.functions, self.names, rows, operations, self._order, self.groups
        )
        copy.slots = self.slots
        return copy

    @cached_property
    def slots(self) -> dict[str, int]:
        """The slot of each name."""
        return dict(zip(self.names, range(len(self.names)), strict=True))

    @cached_property
    def conditional(self) -> list[bool] | None:
        """For each row whether it may not run, see `conditions`; None where all rows run."""
        if not any([operation.changes_conditions for operation in self.operations.values()]):
            return None
        return conditional_rows(self.rows, {key: operation.op_def for key, operation in self.operations.items()})

    @cached_property
    def guards(self) -> Guards:
        """What must hold for rows to run that may not; empty where all rows run."""
        if self.conditional is None:
            return Guards({}, {}, {})
        return find_guards(self.rows, {key: operation.op_def for key, operation in self.operations.items()})

    @cached_property
    def dependents(self) -> list[list[int]]:
        """For each slot the indices of the nodes whose outputs depend on it: they read it, or run where it holds."""
        readers = self.guards.readers
        if not readers:
            return self.consumers
        return [sorted({*nodes, *readers.get(slot, ())}) for slot, nodes in enumerate(self.consumers)]

    @cached_property
    def consumers(self) -> list[list[int]]:
        """For each slot the indices of the nodes that read it, in order."""
        readers: list[list[int]] = [[] for _ in self.names]
        for index, (_, inputs, _, _) in enumerate(self.rows):
            for slot in inputs:
                if slot != MISSING and (not readers[slot] or readers[slot][-1] != index):
                    readers[slot].append(index)
        return readers

    @cached_property
    def producers(self) -> list[int | None]:
        """For each slot the index of the node that computes it; None for an input or constant."""
        writers: list[int | None] = [None] * len(self.names)
        for index, (_, _, outputs, _) in enumerate(self.rows):
            for slot in outputs:
                if slot != UNUSED:
                    writers[slot] = index
        return writers


def compile_graph(
    graph: Graph,
    registry: OpRegistry,
    functions: FunctionLibrary | None = None,
    captures: tuple[str, ...] = (),
) -> CompiledGraph:
    """Compile a graph; for a subgraph, `captures` are the names of the outer values that it reads.

    Raises ModelError for inputs that nothing computes, duplicate names, and cycles that the graph does not allow.
    """
    functions = FunctionLibrary(graph.functions, registry) if functions is None else functions
    dialect = registry.dialect(graph.dialect)
    if dialect is not None and dialect.connect is not None:
        graph = dialect.connect(graph)
    compiler = _Compiler(graph, registry, functions, captures)
    if isinstance(graph.nodes, NodeTable):
        compiled = compiler.compile_table(graph.nodes)
        if compiled is not None:
            return compiled
    return compiler.compile_nodes()


class _Compiler:
    """Assigns slots to names and operations to nodes."""

    def __init__(
        self,
        graph: Graph,
        registry: OpRegistry,
        functions: FunctionLibrary,
        captures: tuple[str, ...],
    ) -> None:
        self.graph = graph
        self.registry = registry
        self.functions = functions
        self.captures = captures
        self.dialect = registry.dialect(graph.dialect)
        self.versioned = self.dialect is None or self.dialect.versioned
        self.sources = (*graph.inputs, *graph.constants, *captures)
        self.operations: dict[RowKey, Operation] = {}

    def compile_table(self, table: NodeTable) -> CompiledGraph | None:
        """The graph of a table, whose numbers are the slots; None for a graph that is malformed or has a cycle."""
        graph = self.graph
        slots = dict(table.numbers)
        sources = set(self.sources)
        if len(set(graph.inputs)) < len(graph.inputs) or not _all_produced_once(table, sources.intersection(slots)):
            return None
        for name in self.sources if not sources.issubset(slots) else ():
            slots.setdefault(name, len(slots))
        if not all(map(slots.__contains__, graph.outputs)):
            return None
        rows: Sequence[Row] = table.rows
        for key in table.row_keys():
            self.operations[key] = self.operation(key)
        captures = {name for operation in self.operations.values() for name in operation.captures}
        if captures:
            if not captures.issubset(slots):
                return None
            rows = [self.add_captures(row, slots) for row in rows]
        order = sort_rows(rows, len(slots)) if captures or not table.ordered else range(len(rows))
        if order is None:
            return None
        if not isinstance(order, range):
            rows = [rows[index] for index in order]
        compiled = self.build(list(slots), rows, order, None)
        compiled.slots = slots
        return compiled

    def add_captures(self, row: Row, slots: dict[str, int]) -> Row:
        """The row with the captures of its subgraphs as inputs."""
        captures = self.operations[row[0]].captures
        return (row[0], (*row[1], *(slots[name] for name in captures)), row[2], row[3]) if captures else row

    def build(
        self, names: list[str], rows: Sequence[Row], order: Sequence[int], groups: list[list[int]] | None
    ) -> CompiledGraph:
        """The compiled graph of these rows."""
        return CompiledGraph(self.graph, self.registry, self.functions, names, rows, self.operations, order, groups)

    def compile_nodes(self) -> CompiledGraph:
        """The graph of a list of nodes in any order, perhaps with cycles. Raises ModelError for a malformed one."""
        graph = self.graph
        validate(graph, self.captures, allow_cycles=graph.cyclic)
        order = topological_order(graph)
        groups = None if order is not None else components(graph, self.loop_headers())
        ordered = order if order is not None else [i for group in groups or [] for i in group]
        slots: dict[str, int] = {}
        for name in (*self.sources, *(name for i in ordered for name in graph.nodes[i].outputs if name)):
            slots.setdefault(name, len(slots))
        try:
            rows = [self.row(graph.nodes[i], slots) for i in ordered]
        except KeyError as error:
            cause = f"{error.args[0]!r} is not an input, constant or node output of this graph or of an outer graph"
            raise ModelError(cause) from None
        index = {node: position for position, node in enumerate(ordered)}
        indexed = None if groups is None else [[index[node] for node in group] for group in groups]
        return self.build(list(slots), rows, ordered, indexed)

    def loop_headers(self) -> list[list[int]]:
        """The nodes at the top of each loop of single nodes: joins whose switches choose by the same value."""
        producers = {name: index for index, node in enumerate(self.graph.nodes) for name in node.outputs}
        definitions = [self.op_def(node.kind) for node in self.graph.nodes]
        headers: dict[str, dict[int, None]] = {}
        for node, op_def in zip(self.graph.nodes, definitions, strict=True):
            if op_def is None or op_def.selector is None or len(node.inputs) <= op_def.selector:
                continue
            index = producers.get(node.inputs[0])
            joined = None if index is None else definitions[index]
            if index is None or joined is None or joined.conditions >= 0:
                continue
            sources = [definitions[producers[name]] for name in self.graph.nodes[index].inputs if name in producers]
            if any(source is not None and source.back_edge for source in sources):
                headers.setdefault(node.inputs[op_def.selector], {})[index] = None
        return [list(nodes) for nodes in headers.values() if len(nodes) > 1]

    def row(self, node: Node, slots: dict[str, int]) -> Row:
        """The row of a node. Raises KeyError for a name that has no slot."""
        outputs = tuple([slots[name] if name else UNUSED for name in node.outputs])
        key = row_key(node.kind, outputs)
        if key not in self.operations:
            self.operations[key] = self.operation(key)
        inputs = tuple([slots[name] if name else MISSING for name in node.inputs])
        return self.add_captures((key, inputs, outputs, node.name), slots)

    def operation(self, key: RowKey) -> Operation:
        """The operation of all nodes of a key; graphs share those with a rule and without subgraphs."""
        kind = kind_of(key)
        version = self.graph.opsets.get(kind.domain, 0)
        op_def = self.op_def(kind)
        if op_def is None or op_def.rule is None:
            return self.new_operation(key, version, op_def)
        shared_key = op_def, key, version, self.versioned
        operation: Operation | None = self.registry.operations.get(shared_key)
        if operation is None:
            operation = self.new_operation(key, version, op_def)
            if not operation.bodies:
                operation = self.registry.share(shared_key, operation)
        return operation

    def op_def(self, kind: NodeKind) -> OpDef | None:
        """The definition of the operator of a node; None where the dialect has none."""
        version = self.graph.opsets.get(kind.domain, 0)
        return None if self.dialect is None else self.dialect.lookup(kind.domain, kind.op, version)

    def new_operation(self, key: RowKey, version: int, op_def: OpDef | None) -> Operation:
        """The operation of a key at a version of its domain."""
        kind = kind_of(key)
        wanted = (True,) if isinstance(key, NodeKind) else tuple(output is True for output in key[1:])
        call = None if op_def is None else self.registry.call(op_def, kind, kind.attrs, version, wanted)
        function = (kind.domain, kind.op, kind.overload)
        body = function if call is None and function in self.functions else None
        operation = Operation(kind, version if self.versioned else 0, op_def, call, body)
        captures: dict[str, None] = {}
        for name, graph in subgraphs(kind):
            free = tuple(graph.free_names())
            captures.update(dict.fromkeys(free))
            operation.bodies[name] = compile_graph(graph, self.registry, self.functions, free)
        operation.bodies.update(function_references(kind))
        operation.captures = tuple(captures)
        return operation


def _all_produced_once(table: NodeTable, sources: set[str]) -> bool:
    """Whether each value of a table is either one of these sources or the output of exactly one node."""
    name_of = table.values.__getitem__
    if table.ordered:
        return sources == set(map(name_of, table.early))
    slots = [slot for row in table.rows for slot in row[2] if slot != UNUSED]
    produced = set(map(name_of, slots))
    return len(slots) == len(produced) == len(table.values) - len(sources) and sources.isdisjoint(produced)
