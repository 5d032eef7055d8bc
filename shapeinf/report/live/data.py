"""The data of a live page: the shape program of a model, and the tables that refer to its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from shapeinf.codegen.javascript import evaluation
from shapeinf.codegen.shape_module import UNKNOWN, Amount, parameters_of
from shapeinf.codegen.shape_module import read_asset as codegen_asset
from shapeinf.constraints.records import Clause
from shapeinf.contract import Answer
from shapeinf.engine.body_tensors import producers
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.straight_line import StraightLine
from shapeinf.lattice import Shape, element_bits
from shapeinf.memory import Buffer, Memory, Role
from shapeinf.memory.exports.memory_export import MemoryExport
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.peak.terms import CountedBuffers, count_buffers
from shapeinf.memory.runtimes.runtime_memory import RuntimeMemory
from shapeinf.program.bindings import Binder
from shapeinf.program.lower import DimTable
from shapeinf.program.requirements import Requirement
from shapeinf.report.live.amounts import AmountTable
from shapeinf.report.live.cost_data import CostData, cost_symbols
from shapeinf.report.live.fields import (
    MAX_SOLVED,
    Field,
    add_legal_sizes,
    choose_sizes,
    read_field,
    slider_stops,
    with_initial,
)
from shapeinf.report.live.names import Numbers, TextTable
from shapeinf.report.model import named_dims
from shapeinf.result import Result
from shapeinf.sharing import cached_property
from shapeinf.solver.budget import Budget
from shapeinf.texts import escape_unprintable, shorten_text

MAX_FORMULA = 300
"""Characters of the formula of a dim."""

MAX_PARTS = 60
"""Terms of a sum, and arguments of a maximum, in the formula of a dim; the others are counted."""


@attrs.frozen
class LiveSource:
    """The sources of a page.

    Args:
        result: the inference.
        memory: its memory.
        sizes: the user's sizes, by name.
    """

    result: Result
    memory: Memory
    sizes: Mapping[str, int]


class LiveData:
    """The records of one page, compiled once."""

    def __init__(self, source: LiveSource) -> None:
        """Raises UnknownNameError for a name in `sizes` that no dim has."""
        self.source = source
        result = source.result
        self.store = result.engine.store
        self.table = DimTable(self.store, result.tensors)
        labels = input_symbols(result.engine.inference)
        export = MemoryExport("", source.memory.peak)
        cost = result.cost()
        hidden = dict.fromkeys([*self._symbols_of_shapes(), *export.data_dependent, *cost_symbols(cost)])
        self.binder = Binder(self.store, labels, hidden)
        self.binder.requirements.add_sizes(
            (self.table.dims[row], name) for name, rows in self.table.ranked_tensors() for row in rows
        )
        self.needed = self.binder.needed
        self.hidden = [symbol for symbol in hidden if symbol not in set(self.needed)]
        self.amounts = AmountTable(self.store, self.needed)
        self.cost = CostData(cost, self.amounts)
        self.fields = self._fields()

    def _symbols_of_shapes(self) -> list[Dimension]:
        return [symbol for symbol in self.table.symbols() if symbol not in self.store.solved]

    def _fields(self) -> list[Field]:
        labels, contract = self.binder.labels, self.source.result.contract
        fields: dict[Dimension, Field] = {}
        for symbol in self.needed:
            field = read_field(self.store, symbol, labels[symbol])
            field = attrs.evolve(field, stops=slider_stops(field))
            fields[symbol] = add_legal_sizes(contract, field) if len(fields) < MAX_SOLVED else field
        least = {dim.name: dim.bounds.lo for dim in named_dims(self.source.result) if dim.assumed is not None}
        fields = {symbol: attrs.evolve(field, least=least.get(field.label)) for symbol, field in fields.items()}
        leading = self._leading_symbols()
        sizes, self.start = choose_sizes(self.binder, fields, leading, self.source.sizes, self._check)
        dependent = [read_field(self.store, symbol, labels[symbol]) for symbol in self.hidden]
        return with_initial([*fields.values(), *dependent], sizes)

    def _check(self, sizes: Mapping[str, int]) -> Answer:
        """The contract's answer for the sizes of the inputs' dims; it has none about sizes that depend on data."""
        labels = {self.binder.labels[symbol] for symbol in self.needed}
        return self.source.result.contract.check({name: size for name, size in sizes.items() if name in labels})

    def _leading_symbols(self) -> list[Dimension]:
        """The symbols of first axes of inputs."""
        graph, tensors = self.source.result.graph, self.source.result.tensors
        first = [tensors[name].shape.dims for name in graph.inputs if name not in graph.constants]
        return [dims[0] for dims in first if dims and isinstance(dims[0], Dimension)]

    @property
    def own_fields(self) -> list[Field]:
        """The fields of the inputs' dims, without sizes that depend on data."""
        return self.fields[: len(self.needed)]

    @cached_property
    def open_conditions(self) -> list[str]:
        """What the requirements of the page do not decide: conditions on data, and operators without a rule.

        Where there are some, sizes that violate no requirement may still be illegal.
        """
        result = self.source.result
        guards = [str(precondition) for precondition in result.contract.preconditions if precondition.kind == "guard"]
        unchecked = self.binder.requirements.unchecked([*self.needed, *self.hidden])
        operators = [f"{op} has no rule" for op in result.coverage.unknown_ops]
        start = [] if self.start.verdict else list(self.start.reasons)
        return list(dict.fromkeys([*guards, *unchecked, *operators, *start]))

    def tables(self) -> tuple[dict[str, Any], str]:
        """Everything as data for JSON, in which numbers that may pass 2**53 are texts, and the script `evaluate`."""
        tensors = dict(self.source.result.tensors)
        points = self.source.memory.timeline.points
        memory = self.source.memory
        counted = _count_buffers(memory)
        buffers = (b.name for b in counted.buffers if b.role in memory.planned)
        texts = TextTable([*tensors, *(p.node for p in points), *buffers, *self.cost.names])
        types = Numbers()
        parts = {
            "dims": self._dims(),
            "shapes": (shapes := Numbers()),
            "tensors": self._tensors(texts, types, shapes),
            "timeline": self._timeline(counted, texts, types),
            "cost": self.cost.columns(texts, types),
            "derived": self._derived_dims(),
            "requirements": self._requirements(),
            "start": {"verdict": self.start.verdict, "reasons": [_short(reason) for reason in self.start.reasons]},
            "open": [_short(text) for text in self.open_conditions],
            "caches": self._caches(),
            "plain": self._plain_tensors(),
        }
        shared, rest = texts.compact()
        program = self.amounts.program()
        return {
            **parts,
            "shapes": list(shapes),
            "texts": {"shared": shared, "rest": rest},
            "types": [escape_unprintable(text) for text in types],
            "fields": [_field(field, number < len(self.needed)) for number, field in enumerate(self.fields)],
            "amounts": [number for entry in self.amounts.entries for number in entry],
            "outputs": list(program.outputs),
        }, self._evaluation(program)

    # -- shapes --------------------------------------------------------------------------------------------------------

    def _dims(self) -> list[list[Any]]:
        """The formula and the amount of each distinct dim."""
        return [[self._format(d), self._number(self.amounts.dim(d))] for d in self.table.dims]

    def _tensors(self, texts: TextTable, types: Numbers, shapes: Numbers) -> dict[str, list[int]]:
        """One column for each property; -1 for a shape of unknown rank, and for no node with a cost."""
        graph = self.source.result.graph
        sources = producers(self.source.result.engine.inference)
        rows = dict(self.table.ranked_tensors())
        columns: dict[str, list[int]] = {
            key: [] for key in ("name", "type", "shape", "value", "bytes", "op", "role", "node")
        }
        inputs, outputs = frozenset(graph.inputs), frozenset(graph.outputs)
        known: dict[int, tuple[int, int, int, int]] = {}  # tensors of one type share a record
        for name, info in self.source.result.tensors.items():
            source = sources.get(name)
            constant = name in graph.constants or source is None
            role = 3 if constant else 0 if name in inputs else 1 if name in outputs else 2
            numbers = known.get(id(info))
            if numbers is None:
                numbers = known[id(info)] = self._type_numbers(info, rows.get(name), types, shapes)
            columns["name"].append(texts[name])
            for key, number in zip(("type", "shape", "value", "bytes"), numbers, strict=True):
                columns[key].append(number)
            columns["op"].append(types[source.op if source is not None and source.node else ""])
            columns["role"].append(role)
            columns["node"].append(self.cost.node(source.node) if source is not None and source.node else -1)
        return columns

    def _type_numbers(
        self, info: TensorInfo, dims: tuple[int, ...] | None, types: Numbers, shapes: Numbers
    ) -> tuple[int, int, int, int]:
        """The numbers of a type, its shape, its contents and its bytes."""
        kind = types[_element_type(info)]
        shape = -1 if dims is None else shapes[dims]
        return (
            kind,
            shape,
            types[shorten_text(info.value_text, MAX_FORMULA)],
            self._number(self._bytes(dims, info.dtype)),
        )

    def _number(self, amount: Amount) -> int:
        return self.amounts.number(amount)

    def _bytes(self, dims: tuple[int, ...] | None, dtype: str | None) -> Amount:
        bits = element_bits(dtype)
        if dims is None or bits is None:
            return UNKNOWN
        return self.amounts.bytes(self.amounts.product(self.amounts.dim(self.table.dims[row]) for row in dims), bits)

    # -- memory --------------------------------------------------------------------------------------------------------

    def _plain_tensors(self) -> dict[str, Any] | None:
        """The buffers of the plain peak, for a page on the memory of a runtime; else None."""
        if not isinstance(self.source.memory, RuntimeMemory):
            return None
        memory = self.source.result.memory(work=self.source.memory.work)
        counted = _count_buffers(memory)
        pairs = zip(counted.buffers, counted.upper, strict=True)
        rows = [
            (buffer, self._number(self._amount(buffer, upper)))
            for buffer, upper in pairs
            if buffer.role in memory.planned
        ]
        buffers = {
            "bytes": [number for _, number in rows],
            "birth": [buffer.birth for buffer, _ in rows],
            "death": [max(buffer.birth, buffer.death) for buffer, _ in rows],
        }
        return {"points": len(memory.timeline.points), "buffers": buffers, "unbounded": len(counted.unbounded)}

    def _amount(self, buffer: Buffer, upper: DimSize) -> Amount:
        """The bytes of a buffer; there is no exact formula where a run may need less."""
        return self.amounts.with_bound(None if buffer.is_bound else buffer.size, upper)

    def _timeline(self, counted: CountedBuffers, texts: TextTable, types: Numbers) -> dict[str, Any]:
        """The program points, the buffers that the peak counts (column by column), and the totals of the others."""
        points = self.source.memory.timeline.points
        unbounded = {item.name for item in counted.unbounded}
        columns: dict[str, list[int]] = {key: [] for key in ("name", "type", "bytes", "birth", "death", "unbounded")}
        apart = _UncountedBytes(self.amounts)
        amounts: dict[tuple[DimSize | None, DimSize, bool], Amount] = {}
        numbers: dict[tuple[str | None, Shape], int] = {}
        planned = self.source.memory.planned
        for buffer, upper in zip(counted.buffers, counted.upper, strict=True):
            key = buffer.size, upper, buffer.is_bound
            amount = amounts[key] = amounts.get(key) or self._amount(buffer, upper)
            if buffer.role not in planned:
                apart.add(buffer, amount)
                continue
            birth, death = max(buffer.birth, 0), min(buffer.death, len(points))
            columns["name"].append(texts[buffer.name])
            kind = buffer.dtype, buffer.shape
            if kind not in numbers:
                numbers[kind] = types[_buffer_type(buffer)]
            columns["type"].append(numbers[kind])
            columns["bytes"].append(self._number(amount))
            columns["birth"].append(birth)
            columns["death"].append(max(birth, death))
            columns["unbounded"].append(int(buffer.name in unbounded))
        return {
            "node": [texts[point.node] for point in points],
            "op": [types[point.op] for point in points],
            "buffers": columns,
            "weights": apart.total("weight"),
            "inputs": apart.total("input"),
        }

    def _caches(self) -> list[list[int]]:
        """For each cache of keys and values the amounts of a token's bytes, of the tokens after a run, of all bytes."""
        rows = []
        for cache in self.source.memory.kv_caches:
            token, tokens = self.amounts.dim(cache.bytes_per_token), self.amounts.dim(cache.tokens)
            total = self.amounts.product([token, tokens])
            rows.append([self._number(amount) for amount in (token, tokens, total)])
        return rows

    # -- sizes and requirements ----------------------------------------------------------------------------------------

    def _derived_dims(self) -> list[list[Any]]:
        """The dims of inputs that follow from others: label, formula and amount."""
        return [
            [shorten_text(label, MAX_FORMULA), self._format(value), self._number(self.amounts.dim(value))]
            for symbol, label in self.binder.inputs.items()
            if symbol not in set(self.needed)
            for value in [self.store.canon(symbol)]
        ]

    def _format(self, d: DimSize) -> str:
        return shorten_text(self.binder.requirements.format(d, MAX_PARTS), MAX_FORMULA)

    def _requirements(self) -> list[dict[str, Any]]:
        symbols = [*self.needed, *self.hidden]
        requirements, _, _ = self.binder.requirements.compile(symbols, self.needed)
        numbers = {symbol: number for number, symbol in enumerate(symbols)}
        return [self._requirement(requirement, numbers) for requirement in requirements]

    def _requirement(self, requirement: Requirement, numbers: Mapping[Dimension, int]) -> dict[str, Any]:
        """Its text, node and reason, the fields of the sizes in it, and its clauses."""
        source = requirement.source
        return {
            "text": shorten_text(requirement.text, MAX_FORMULA),
            "node": "" if source is None else shorten_text(source.node, MAX_FORMULA),
            "reason": "" if source is None else shorten_text(source.reason, MAX_FORMULA),
            "assumed": source is not None and source.assumed,
            "fields": sorted(numbers[symbol] for symbol in requirement.symbols),
            "clauses": [self._clause(clause) for clause in requirement.clauses],
        }

    def _clause(self, clause: Clause) -> list[int]:
        """The output of the expression, and whether it must be 0."""
        return [self.amounts.expression(clause.expression), int(clause.zero)]

    def _evaluation(self, program: StraightLine) -> str:
        """The function from the sizes of the fields to all registers, as generated modules have it."""
        arguments = parameters_of(program.symbols, (*self.needed, *self.hidden))
        return "\n".join([codegen_asset("arithmetic.js"), *evaluation(program, arguments)])


def _count_buffers(memory: Memory) -> CountedBuffers:
    query = SizeQuery(memory.store, memory.labels)
    return count_buffers(memory.timeline.buffers, memory.store, query.is_bindable, Budget(memory.work))


class _UncountedBytes:
    """The bytes of weights and inputs, which the peak does not count."""

    def __init__(self, amounts: AmountTable) -> None:
        self._amounts = amounts
        self._known: dict[Role, list[Amount]] = {}
        self._unknown: dict[Role, int] = {}

    def add(self, buffer: Buffer, amount: Amount) -> None:
        """Count a buffer."""
        if buffer.size is None:
            self._unknown[buffer.role] = self._unknown.get(buffer.role, 0) + 1
        else:
            self._known.setdefault(buffer.role, []).append(amount)

    def total(self, role: Role) -> list[int]:
        """The amount of all buffers of known size, and the number of the others."""
        return [self._amounts.number(self._amounts.sum(self._known.get(role, []))), self._unknown.get(role, 0)]


def _element_type(info: TensorInfo) -> str:
    """The element type; of a sequence or optional the entire type."""
    return info.dtype or "?" if info.kind == "tensor" else shorten_text(str(info), MAX_FORMULA)


def _buffer_type(buffer: Buffer) -> str:
    return shorten_text(f"{buffer.dtype or '?'}{buffer.shape}", MAX_FORMULA)


def _short(text: str) -> str:
    return escape_unprintable(shorten_text(text, MAX_FORMULA))


def _field(field: Field, needed: bool) -> dict[str, Any]:
    return {
        "label": shorten_text(field.label, MAX_FORMULA),
        "low": str(field.low),
        "high": None if field.high is None else str(field.high),
        "least": None if field.least is None else str(field.least),
        "step": str(field.step),
        "rest": str(field.rest),
        "stops": [str(stop) for stop in field.stops],
        "initial": None if field.initial is None else str(field.initial),
        "dependent": not needed,
    }
