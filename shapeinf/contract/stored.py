"""The contract in a file: its preconditions as texts, with the digest of the graph that they are about.

A stored contract never answers "yes": limits that no constraint expresses are not among its preconditions, and only an
inference at the sizes finds them. It answers "no" where a precondition does not hold, if the graph is the one that it
was stored for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar

import attrs

from shapeinf.constraints.records import Clause, any_holds
from shapeinf.contract.answer import Answer
from shapeinf.contract.preconditions import Precondition
from shapeinf.engine.compiled import compile_graph
from shapeinf.engine.inference import Inference
from shapeinf.engine.input_symbols import input_symbols, label_of_dim
from shapeinf.errors import DimSyntaxError, ModelError, ShapeInferenceError, UnknownNameError
from shapeinf.expr import Dimension, Interval, Scope, parse_dim
from shapeinf.expr.printing import try_format_dim
from shapeinf.formats import FORMATS
from shapeinf.formats.files import check_path, read_regular, write_text
from shapeinf.graph import Graph
from shapeinf.graph.digest import graph_digest
from shapeinf.inputs.options import InferenceOptions
from shapeinf.inputs.spec import unquote_name
from shapeinf.ops.registry import default_registry
from shapeinf.schemas import json_record, json_text
from shapeinf.sharing import cached_property

SUFFIX = ".contract.json"
"""What the name of a file with a contract appends to the path of its model."""

MAX_TEXT = 1 << 24
"""Characters of the longest contract that is read."""

MAX_PRECONDITIONS = 1 << 16
MAX_CLAUSES = 1 << 10
"""The most clauses of one precondition that is read."""

SCHEMA = "shapeinf.contract/1"

T = TypeVar("T")


@attrs.frozen
class StoredClause:
    """An expression that must be 0, or at least 0."""

    expression: str
    zero: bool


@attrs.frozen
class StoredPrecondition:
    """A precondition as a file states it.

    Args:
        kind: see `Precondition`.
        text: the condition.
        symbols: the dims in it.
        node: the node that requires it.
        op: the operator of the node.
        message: the rule of the operator.
        where: the body of a loop or branch that requires it; else empty.
        clauses: expressions of which one must hold; empty where no expression states the condition.
    """

    kind: str
    text: str
    symbols: tuple[str, ...]
    node: str
    op: str
    message: str
    where: str
    clauses: tuple[StoredClause, ...]

    @property
    def decides(self) -> bool:
        """Whether sizes at which it does not hold are illegal."""
        return bool(self.clauses) and not self.where and self.kind not in ("guard", "assumption")

    def __str__(self) -> str:
        """The condition and the node that requires it."""
        node = f"{self.op} '{self.node}'" if self.node else "the model"
        return f"{self.text}, required by {node}: {self.message}"


@json_record(SCHEMA)
@attrs.frozen(slots=False)
class StoredContract:
    """The contract of a model as a file states it.

    Args:
        version: the version of shapeinf that wrote it.
        digest: of the graph that it is about; empty for a graph without one.
        dims: the dims of the inputs, with the sizes that it is about.
        preconditions: all preconditions.
        cut: whether a budget was exhausted: then some are not simplified.
    """

    version: str
    digest: str
    dims: dict[str, Interval]
    preconditions: tuple[StoredPrecondition, ...]
    cut: bool
    _current: bool | None = None

    kind: ClassVar[str] = "contract"

    @property
    def current(self) -> bool | None:
        """Whether the graph of the model is the one that the contract is about; None where it was not compared."""
        return self._current

    @property
    def mismatch(self) -> str:
        """Why the contract may not be that of the model; empty where it is."""
        if self.current is None:
            return "the contract was not compared with its model"
        return "" if self.current else "the model is not the one that the contract was stored for"

    @cached_property
    def clauses(self) -> dict[StoredPrecondition, tuple[Clause, ...]]:
        """The clauses of the preconditions that decide, in symbols with the names of the dims."""
        scope = Scope()
        return {
            p: tuple(Clause(parse_dim(c.expression, scope, None), c.zero) for c in p.clauses)
            for p in self.preconditions
            if p.decides
        }

    def violations(self, sizes: Mapping[str, int]) -> tuple[StoredPrecondition, ...]:
        """The preconditions that do not hold at these sizes. Raises UnknownNameError for a dim of no input."""
        binding = self._binding(sizes)
        return tuple(p for p, clauses in self.clauses.items() if any_holds(clauses, binding) is False)

    def check(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> Answer:
        """Whether the graph runs with these sizes: "no" or "can't tell", never "yes".

        Raises UnknownNameError for a dim that no input has.
        """
        binding = {**(sizes or {}), **more}
        violated = self.violations(binding)
        reason = self._explain_undecided(binding)
        if reason:
            return Answer(None, (reason,))
        if violated:
            return Answer(False, tuple(map(str, violated)))
        return Answer(None, ("no stored precondition is violated; only an inference of the model answers yes",))

    def _explain_undecided(self, sizes: Mapping[str, int]) -> str:
        """Why a violated precondition does not decide; empty where it does."""
        if self.mismatch:
            return self.mismatch
        outside = [
            f"{name} = {size} is outside of {bounds}"
            for name, size in self._binding(sizes).items()
            for bounds in (self._named[name],)
            if size not in bounds
        ]
        return f"{outside[0]}, the sizes that the contract is about" if outside else ""

    @cached_property
    def _named(self) -> dict[str, Interval]:
        """The dims by their names without quotes."""
        return {unquote_name(label): bounds for label, bounds in self.dims.items()}

    def _binding(self, sizes: Mapping[str, int]) -> dict[str, int]:
        binding = {unquote_name(name): size for name, size in sizes.items()}
        for name in binding:
            if name not in self._named:
                raise UnknownNameError("dim", name, self.dims)
        return binding

    def __str__(self) -> str:
        """One precondition a line."""
        return "\n".join(map(str, self.preconditions)) or "no preconditions on the inputs"


# -- store -------------------------------------------------------------------------------------------------------------


def store_contract(
    inference: Inference, preconditions: Iterable[Precondition], cut: bool, options: InferenceOptions
) -> StoredContract:
    """The contract of an inference with these options, as a file states it.

    Raises ShapeInferenceError where it holds only for options that a file cannot state.
    """
    from shapeinf import __version__

    if options.inputs or options.assume or options.values:
        raise ShapeInferenceError(
            "the contract holds only for the specified shapes, relations and values: a file cannot state that"
        )
    labels = input_symbols(inference)
    dims = {label: inference.initial_store.interval(symbol) for symbol, label in labels.items()}
    dims.update({label_of_dim(unquote_name(name)): Interval(size, size) for name, size in options.bind.items()})
    stored = tuple(_store(precondition, labels) for precondition in preconditions)
    return StoredContract(__version__, graph_digest(inference.compiled.graph), dims, stored, cut, True)


def _store(precondition: Precondition, labels: Mapping[Dimension, str]) -> StoredPrecondition:
    clauses: list[StoredClause] = []
    for clause in precondition.clauses:
        symbols = clause.expression.symbols() if isinstance(clause.expression, Dimension) else frozenset()
        text = try_format_dim(clause.expression, labels=labels) if symbols <= labels.keys() else None
        if text is None or not _is_readable(text):
            clauses = []
            break
        clauses.append(StoredClause(text, clause.zero))
    return StoredPrecondition(
        precondition.kind,
        precondition.text,
        precondition.symbols,
        precondition.node,
        precondition.op,
        precondition.message,
        precondition.where,
        tuple(clauses),
    )


def _is_readable(text: str) -> bool:
    """Whether an expression can be read back: numbers and lengths of texts have limits in the grammar."""
    try:
        parse_dim(text, Scope(), None)
    except DimSyntaxError:
        return False
    return True


def contract_text(stored: StoredContract) -> str:
    """The JSON of a contract, as files have it."""
    return json_text(stored)


def companion_path(path: str | os.PathLike[str]) -> str:
    """The path of the contract of a model whose format has no place for it.

    >>> companion_path("models/saved/")
    'models/saved.contract.json'
    """
    return os.fspath(path).rstrip("/") + SUFFIX


def write_companion(stored: StoredContract, path: str) -> str:
    """Write the contract of a model, which was just written, into a file of its own; the path of that file."""
    target = companion_path(path)
    current = attrs.evolve(stored, digest=current_digest(FORMATS.load(path)))
    write_text(target, f"{contract_text(current)}\n")
    return target


# -- load --------------------------------------------------------------------------------------------------------------


def load_contract(path: str | os.PathLike[str]) -> StoredContract:
    """The contract in a model file, or in the file of its own; that file alone is not compared with a model.

    Raises ModelError for a file without a contract, or with a malformed one.
    """
    name = check_path(path)
    try:
        if name.endswith(SUFFIX):
            return parse_contract(read_regular(name, MAX_TEXT).decode("utf-8", "replace"), name)
        return contract_of_graph(FORMATS.load(name), name)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror or error}", node=name) from error


def contract_of_graph(graph: Graph, path: str) -> StoredContract:
    """The contract that the file of a graph has, compared with the graph. Raises as `load_contract`, and OSError."""
    text = stored_text(graph, path)
    if text is None:
        raise ModelError("has no contract: `shapeinf infer MODEL -o OUT --contract` stores it", node=path)
    stored = parse_contract(text, path)
    digest = current_digest(graph)
    return attrs.evolve(stored, current=bool(digest) and digest == stored.digest)


def stored_text(graph: Graph, path: str) -> str | None:
    """The text of the contract in the file of a graph, or in its own; None for no contract. Raises OSError."""
    if graph.stored_contract:
        return graph.stored_contract
    companion = companion_path(path)
    return read_regular(companion, MAX_TEXT).decode("utf-8", "replace") if os.path.isfile(companion) else None


def current_digest(graph: Graph) -> str:
    """The digest of a graph as an inference has it; empty for a graph that cannot be compiled."""
    try:
        return graph_digest(compile_graph(graph, default_registry()).graph)
    except ShapeInferenceError:
        return ""


def parse_contract(text: str, path: str) -> StoredContract:
    """The contract of a JSON text. Raises ModelError for any other text."""
    return _Reader(path).contract(text)


class _Reader:
    """Reads the JSON of a contract, which anybody may have written."""

    def __init__(self, path: str) -> None:
        self.path = path

    def contract(self, text: str) -> StoredContract:
        if len(text) > MAX_TEXT:
            raise self.error(f"has more than {MAX_TEXT} characters")
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise self.error("is not JSON") from None
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise self.error(f"is not of the form {SCHEMA}")
        preconditions = self.take(data, "preconditions", list)
        if len(preconditions) > MAX_PRECONDITIONS:
            raise self.error(f"has more than {MAX_PRECONDITIONS} preconditions")
        dims = {name: self.interval(name, ends) for name, ends in self.take(data, "dims", dict).items()}
        stored = StoredContract(
            self.take(data, "version", str),
            self.take(data, "digest", str),
            dims,
            tuple(map(self.precondition, preconditions)),
            self.take(data, "cut", bool),
        )
        self.check_clauses(stored)
        return stored

    def precondition(self, data: Any) -> StoredPrecondition:
        fields = [self.take(data, key, str) for key in ("kind", "text", "node", "op", "message", "where")]
        kind, text, node, op, message, where = fields
        symbols = self.take(data, "symbols", list)
        clauses = self.take(data, "clauses", list)
        if not all(isinstance(symbol, str) for symbol in symbols) or len(clauses) > MAX_CLAUSES:
            raise self.error("has a malformed precondition")
        parts = [StoredClause(self.take(c, "expression", str), self.take(c, "zero", bool)) for c in clauses]
        return StoredPrecondition(kind, text, tuple(symbols), node, op, message, where, tuple(parts))

    def interval(self, name: str, data: Any) -> Interval:
        ends = [data.get(key) for key in ("min", "max")] if isinstance(data, dict) else [False]
        if any(end is not None and type(end) is not int for end in ends):
            raise self.error(f"has a malformed range of {name!r}")
        return Interval(*ends)

    def check_clauses(self, stored: StoredContract) -> None:
        """Raise ModelError for an expression that cannot be read, or names another dim than those of the inputs."""
        names = {unquote_name(label) for label in stored.dims}
        try:
            dims = [c.expression for clauses in stored.clauses.values() for c in clauses]
        except DimSyntaxError as error:
            raise self.error(f"has a malformed expression: {error}") from None
        unknown = {s.name for d in dims if isinstance(d, Dimension) for s in d.symbols()} - names
        if unknown:
            raise self.error(f"has a precondition on {min(unknown)!r}, which is not a dim of the inputs")

    def take(self, data: Any, key: str, kind: type[T]) -> T:
        value = data.get(key) if isinstance(data, dict) else None
        if type(value) is not kind:
            raise self.error(f"has no {key} of the type {kind.__name__}")
        return value

    def error(self, text: str) -> ModelError:
        return ModelError(f"the contract {text}", node=self.path)
