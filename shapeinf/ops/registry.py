"""The registry of operators.

A `Dialect` has the rules of a family of operators by (domain, operator, first version); it is also the decorator that
registers them. Packages offer dialects as entry points (`InstalledDialects`); an `OpRegistry` has all that an inference
may use, and the calls and operations that compiled graphs share.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import attrs

from shapeinf.errors import OpDefError, StaleTableError
from shapeinf.graph import Graph, Node
from shapeinf.ops.context import InferenceContext
from shapeinf.ops.deferred import DeferredCall, referenced_inputs
from shapeinf.ops.entry_points import EntryPoint, installed_entry_points
from shapeinf.ops.opdef import LoopRule, OpDef
from shapeinf.ops.rule import Rule
from shapeinf.ops.rule_index import COMMAND, Key, RuleIndex
from shapeinf.ops.run import Call
from shapeinf.ops.versioned_rules import VersionedRules
from shapeinf.sharing import BUILD_LOCK, build_once

if TYPE_CHECKING:
    from shapeinf.ops.axes import AxisRule, PositionRule
    from shapeinf.ops.cost import CostRule, ValueRule

ENTRY_POINTS = "shapeinf.opdefs"

MAX_CALLS = 4096
"""The most calls, and the most operations, in the cache of a registry."""

NO_VIEWS: Mapping[int, int] = MappingProxyType({})
NO_LABELS: Mapping[str, str] = MappingProxyType({})

Function = TypeVar("Function", bound=Callable[..., object])
CostFunction = TypeVar("CostFunction", bound="CostRule")
AxisFunction = TypeVar("AxisFunction", bound="AxisRule")
PositionFunction = TypeVar("PositionFunction", bound="PositionRule")
ValueFunction = TypeVar("ValueFunction", bound="ValueRule")
T = TypeVar("T")
Schemas = Callable[[str, str, int], "OpDef | None"]
History = Callable[[str, str, int], "tuple[OpDef, ...]"]
ComputeSizes = Callable[[Graph, Mapping[str, Sequence[int]]], Mapping[str, "int | float"]]


@attrs.define(eq=False)
class _Registration:
    """A shape function with its first version and the properties of its operators; see `OpDef`.

    `rule` is None until it is first needed.
    """

    since: int
    function: Callable[..., object]
    rule: Rule | None
    views: Mapping[int, int]
    in_place: tuple[int, ...]
    stored: bool
    labels: Mapping[str, str]
    calls: str
    conditions: int
    selector: int | None
    loop: LoopRule | None
    back_edge: bool
    container: Literal["", "pack", "unpack"]


class Dialect:
    """The operators of one family of models; also the decorator that registers a rule.

    Args:
        name: the name of the dialect, as in `Graph.dialect`.
        schemas: returns the OpDef, without its rule, of (domain, op, version), or None; without it, OpDefs come from
            `define`.
        history: returns the OpDefs, without rules, of all versions of (domain, op) where these are known at a version;
            an operator that has some, but none at the version of a model, is an error.
        versioned: whether messages display the version of an operator.
        costs: the modules that register cost rules; they are imported when a cost is first requested.
        axes: the modules that register axis rules, likewise.
        kernels: by runtime, the object with the rules of its kernels, as `MODULE:NAME`: see
            `shapeinf.memory.runtimes.kernels`.
        rule_index: the index of the rules of its own packages; a module of these is imported when an operator of it is
            first looked up.
        context: what its shape functions get, where that is not `InferenceContext` itself.

    >>> toy = Dialect("toy")
    >>> @toy("Same")
    ... def same(c, x):
    ...     return x
    >>> toy.lookup("", "Same", 1).rule.params[0].name
    'x'
    """

    def __init__(
        self,
        name: str,
        schemas: Schemas | None = None,
        *,
        history: History | None = None,
        versioned: bool = True,
        costs: Iterable[str] = (),
        axes: Iterable[str] = (),
        kernels: Mapping[str, str] = NO_LABELS,
        rule_index: RuleIndex | None = None,
        context: type[InferenceContext] = InferenceContext,
    ) -> None:
        """A dialect with the rules of a table."""
        self.name = name
        self.context = context
        self.rule_index = RuleIndex() if rule_index is None else rule_index
        self.schemas = schemas
        self.history = history
        self.versioned = versioned
        self.kernels = kernels
        self.declarations: Callable[[Any], tuple[Any, ...]] | None = None
        """For formats that define operations as text: returns the syntax trees of the operations of a variant."""
        self.connect: Callable[[Graph], Graph] | None = None
        """For operators that share state: returns the graph with all values that a node reads by it as its inputs."""
        self.compute_sizes: ComputeSizes = lambda graph, shapes: {}
        """For programs that compute sizes in nodes: returns these numbers by name, for the shapes of the inputs."""
        self.may_hold_size: Callable[[Node], bool] = lambda node: False
        """For traced programs: whether a number among the arguments of a node may be a size of the traced run."""
        self.is_check: Callable[[Node], bool] = lambda node: False
        """For traced programs: whether a node only checks sizes, and may be of the exporter, not of the module."""
        self._rules: dict[tuple[str, str], list[_Registration]] = {}
        self._complete: set[str] = set()
        """The modules of the table that are imported."""
        self._additions: list[tuple[Key, _Registration]] = []
        """The registered rules that are not in the table."""
        self._defined: dict[tuple[str, str], OpDef] = {}
        self._lookups: dict[tuple[str, str, int], OpDef | None] = {}
        self._costs: VersionedRules[CostRule] = VersionedRules(costs)
        self._axes: VersionedRules[AxisRule] = VersionedRules(axes)
        self._positions: VersionedRules[PositionRule] = VersionedRules(axes)
        self._run_values: VersionedRules[ValueRule] = VersionedRules()

    def __call__(
        self,
        *names: str,
        since: int = 1,
        domain: str = "",
        views: Mapping[int, int] = NO_VIEWS,
        in_place: tuple[int, ...] = (),
        stored: bool = False,
        labels: Mapping[str, str] = NO_LABELS,
        calls: str = "",
        conditions: int = 0,
        selector: int | None = None,
        loop: LoopRule | None = None,
        back_edge: bool = False,
        container: Literal["", "pack", "unpack"] = "",
    ) -> Callable[[Function], Function]:
        """Register the decorated function as the rule of these operators, from the version `since` on.

        The other arguments are properties of the operators; see `OpDef`.
        """

        def register(function: Function) -> Function:
            keys = [(domain, name, since) for name in names]
            is_listed = all(map(self.rule_index.module, keys))
            rule = (
                None if is_listed else Rule.from_function(function)
            )  # a mistake is an error where the rule is defined
            entry = _Registration(
                since,
                function,
                rule,
                views,
                in_place,
                stored,
                labels,
                calls,
                conditions,
                selector,
                loop,
                back_edge,
                container,
            )
            for key in keys:
                self._register(key, entry)
            return function

        return register

    def _register(self, key: Key, entry: _Registration) -> None:
        """Add a rule. Raises OpDefError if there is another one for this version."""
        versions = self._rules.setdefault(key[:2], [])
        previous = [other for other in versions if other.since == entry.since]
        module = self.rule_index.module(key)
        if any(_origin(other) != _origin(entry) for other in previous) or (module and module not in sys.modules):
            raise OpDefError(f"{self.name} has two rules for {_label(key)}")
        versions[:] = [other for other in versions if other not in previous]  # its module is reloaded
        versions.append(entry)
        versions.sort(key=lambda other: other.since)
        if not module:
            self._additions.append((key, entry))
        if previous or not module:  # no operator of the table is looked up before its module is imported
            self._lookups.clear()

    def _import(self, module: str) -> None:
        """Import a module of the table. Raises StaleTableError if it registers other rules than the table has."""
        with BUILD_LOCK:
            if module in self._complete:
                return
            before = len(self._additions)
            import_module(module)
            for key in self.rule_index.keys_by_module[module]:
                if all(entry.since != key[2] for entry in self._rules.get(key[:2], ())):
                    raise StaleTableError(f"{module} has no rule for {_label(key)}", COMMAND)
            for key, entry in self._additions[before:]:
                if entry.function.__module__ in self.rule_index.keys_by_module:
                    raise StaleTableError(f"the index of rules has no rule for {_label(key)}", COMMAND)
            self._complete.add(module)

    def cost(self, *names: str, since: int = 1, domain: str = "") -> Callable[[CostFunction], CostFunction]:
        """Register the decorated function as the cost rule of these operators from a version on.

        >>> from shapeinf.ops import CostContext, OpCost
        >>> toy = Dialect("toy")
        >>> @toy.cost("Same")
        ... def same(c: CostContext) -> OpCost:
        ...     return OpCost(operations=c.elements(c.output()))
        >>> toy.cost_rule("", "Same", 1) is same
        True
        """
        return self._costs.decorator(domain, names, since)

    def axes(self, *names: str, since: int = 1, domain: str = "") -> Callable[[AxisFunction], AxisFunction]:
        """Register the decorated function as the axis rule of these operators from a version on.

        >>> from shapeinf.ops.axes import AxisUse
        >>> toy = Dialect("toy")
        >>> @toy.axes("Same")
        ... def same(c, position, axis):
        ...     return AxisUse.SEPARATE
        >>> toy.axis_rule("", "Same", 1) is same
        True
        """
        return self._axes.decorator(domain, names, since)

    def positions(
        self, *names: str, since: int = 1, domain: str = ""
    ) -> Callable[[PositionFunction], PositionFunction]:
        """Register the decorated function as the position rule of these operators from a version on."""
        return self._positions.decorator(domain, names, since)

    def run_values(self, *names: str, since: int = 1, domain: str = "") -> Callable[[ValueFunction], ValueFunction]:
        """Register the decorated function as the value rule of these operators from a version on.

        A value rule returns, by position, the number that all elements of an input have in a run at some sizes, where
        a runtime refuses most others: the lengths of a cache, for example.
        """
        return self._run_values.decorator(domain, names, since)

    @property
    def cost_problems(self) -> list[str]:
        """Messages about modules with cost rules that could not be imported."""
        return self._costs.problems

    def costs(self) -> set[tuple[str, str]]:
        """(domain, op) of every operator with a cost rule that is registered so far."""
        return self._costs.operators()

    @property
    def axis_problems(self) -> list[str]:
        """Messages about modules with axis rules that could not be imported."""
        return self._axes.problems

    def axis_operators(self) -> set[tuple[str, str]]:
        """(domain, op) of every operator with an axis rule that is registered so far."""
        return self._axes.operators()

    def cost_rule(self, domain: str, op: str, version: int) -> CostRule | None:
        """The cost rule in force at a version of an operator; None where it has none."""
        return self._find(self._costs, domain, op, version)

    def axis_rule(self, domain: str, op: str, version: int) -> AxisRule | None:
        """The axis rule in force at a version of an operator; None where it has none."""
        return self._find(self._axes, domain, op, version)

    def position_rule(self, domain: str, op: str, version: int) -> PositionRule | None:
        """The position rule in force at a version of an operator; None where it has none."""
        return self._find(self._positions, domain, op, version)

    def value_rule(self, domain: str, op: str, version: int) -> ValueRule | None:
        """The value rule in force at a version of an operator; None where it has none."""
        return self._find(self._run_values, domain, op, version)

    def _find(self, rules: VersionedRules[T], domain: str, op: str, version: int) -> T | None:
        """A rule that the modules of its kind register, or the module that has the operator's shape function."""
        rules.import_modules()
        for module in self.rule_index.modules(domain, op) - self._complete:
            self._import(module)
        return rules.find(domain, op, version)

    def define(self, op_def: OpDef) -> None:
        """Add an OpDef that `schemas` does not have, such as one of `OpDefBuilder`."""
        self._defined[op_def.domain, op_def.name] = op_def
        self._lookups.clear()

    def has_rule(self, domain: str, op: str, version: int = 0) -> bool:
        """Whether an operator has a rule, at this version or (0) at any; imports no module."""
        versions = {entry.since for entry in self._rules.get((domain, op), ())} | self.rule_index.versions(domain, op)
        return any([since <= version or version <= 0 for since in versions])

    def lookup(self, domain: str, op: str, version: int) -> OpDef | None:
        """The operator in force at a version; None where the dialect has none."""
        key = (domain, op, version)
        try:
            return self._lookups[key]
        except KeyError:  # one OpDef for all threads: caches are keyed by it
            return self._lookups.setdefault(key, self._lookup(domain, op, version))

    def _lookup(self, domain: str, op: str, version: int) -> OpDef | None:
        registered = self._rule(domain, op, version)
        schema = self._defined.get((domain, op))
        if schema is None and self.schemas is not None:
            schema = self.schemas(domain, op, version)
        if registered is None:
            return schema
        schema = schema or OpDef(op, self.name, domain)
        if registered.rule is None:
            registered.rule = Rule.from_function(registered.function)
        return attrs.evolve(
            schema,
            rule=schema.rule or registered.rule,
            views=registered.views,
            in_place=registered.in_place,
            stored=registered.stored,
            labels=registered.labels,
            calls=registered.calls,
            conditions=registered.conditions,
            selector=registered.selector,
            loop=registered.loop,
            back_edge=registered.back_edge,
            container=registered.container,
            context=self.context,
        )

    def _rule(self, domain: str, op: str, version: int) -> _Registration | None:
        for module in self.rule_index.modules(domain, op) - self._complete:
            self._import(module)
        versions = self._rules.get((domain, op), [])
        if not versions:
            return None
        if version <= 0:
            return versions[-1]
        count = bisect_right([entry.since for entry in versions], version)
        return versions[count - 1] if count else None

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        """(domain, op, since) of every rule."""
        registered = ((*key, entry.since) for key, versions in self._rules.items() for entry in versions)
        yield from sorted({*self.rule_index, *registered})


class DialectEntry(NamedTuple):
    """An installed entry point of a dialect.

    Args:
        name: its name, such as `onnx.acme`.
        target: the object that it refers to, as `acme.shapes:onnx`.
        package: the package that has it, with its version; empty where that is not known.
        problem: why it is not used; empty where it is.
    """

    name: str
    target: str
    package: str
    problem: str

    @property
    def dialect(self) -> str:
        """The dialect that it defines or adds to."""
        return self.name.partition(".")[0]


class InstalledDialects:
    """The dialects under an entry point group, by name.

    An entry point has the name of its dialect, or begins with that and a dot where it adds to one
    (`onnx.acme = "acme.shapes:onnx"`). All of a dialect are loaded on its first use. An error in one of them is a text
    in `problems`, and the others work.
    """

    def __init__(self, entries: Iterable[EntryPoint] | None = None) -> None:
        """With these entry points; those of all installed packages by default."""
        self._entries: dict[str, list[EntryPoint]] = {}
        listed = installed_entry_points(ENTRY_POINTS) if entries is None else entries
        for entry in sorted(listed, key=lambda entry: entry.name):
            self._entries.setdefault(entry.name.partition(".")[0], []).append(entry)
        self._loading: set[str] = set()
        self._loaded: dict[str, Dialect | None] = {}
        self._problems: dict[str, list[tuple[EntryPoint, str]]] = {}

    def get(self, name: str) -> Dialect | None:
        """A dialect with all additions. A thread waits while another one loads it."""
        if name not in self._loaded and name in self._entries:
            with BUILD_LOCK:
                if name not in self._loaded and name not in self._loading:
                    self._loading.add(name)
                    try:
                        self._loaded[name] = self._load(name)  # others see it only when it is complete
                    finally:
                        self._loading.discard(name)
        return self._loaded.get(name)

    def problems(self, name: str) -> list[str]:
        """The errors in loading the entry points of a dialect, and the entry points that add to no dialect."""
        return [f"{_title(entry)} {text}" for entry, text in (*self._problems.get(name, ()), *self._orphans())]

    def _orphans(self) -> Iterator[tuple[EntryPoint, str]]:
        """The entry points that add to no dialect, with the reason."""
        for dialect, listed in self._entries.items():
            for entry in listed if listed[0].name != dialect else ():
                yield entry, f"is not used: no installed package has a dialect {dialect!r} that it could add to"

    def entries(self) -> list[DialectEntry]:
        """All entry points by name; all dialects are loaded."""
        orphans = list(self._orphans())
        records = []
        for dialect, listed in self._entries.items():
            self.get(dialect)
            reasons = [*self._problems.get(dialect, ()), *orphans]
            for entry in listed:
                problem = "; ".join(text for other, text in reasons if other is entry)
                records.append(DialectEntry(entry.name, entry.value, _package(entry), problem))
        return records

    def unused_packages(self, name: str) -> list[str]:
        """The entry points of dialects of other packages that no model has used so far, as texts."""
        own = {_package(entry) for entry in self._entries.get(name, ()) if entry.name == name}
        others = (listed[0] for dialect, listed in self._entries.items() if dialect not in self._loaded)
        return [_title(entry) for entry in others if "." not in entry.name and _package(entry) not in own]

    def _load(self, name: str) -> Dialect | None:
        dialect: Dialect | None = None
        problems = self._problems[name] = []
        for entry in self._entries[name]:
            try:
                loaded = entry.load()
            except Exception as error:  # an error of a third-party package must not stop the others
                problems.append((entry, f"cannot be loaded: {type(error).__name__}: {error}"))
                continue
            problem = _misfit(loaded, name, dialect)
            if problem:
                problems.append((entry, problem))
            else:
                dialect = loaded
        return dialect


class OpRegistry:
    """The dialects that an inference uses."""

    def __init__(self, *dialects: Dialect) -> None:
        """With these dialects; see `discover` for all installed ones."""
        self._dialects = {dialect.name: dialect for dialect in dialects}
        self._installed = InstalledDialects(())
        self._calls: dict[tuple[object, ...], Call] = {}
        self.operations: dict[Hashable, Any] = {}
        """The operations that compiled graphs share; see `share`."""

    def add(self, dialect: Dialect) -> None:
        """Add a dialect; the last one of a name wins."""
        self._dialects[dialect.name] = dialect

    def dialect(self, name: str) -> Dialect | None:
        """A dialect by its name, or None."""
        return self._dialects.get(name) or self._installed.get(name)

    @classmethod
    def discover(cls) -> OpRegistry:
        """All dialects of installed packages, each loaded on its first use; see `InstalledDialects`."""
        registry = cls()
        registry._installed = InstalledDialects()
        return registry

    def problems(self, dialect: str) -> list[str]:
        """See `InstalledDialects.problems`."""
        return self._installed.problems(dialect)

    def entries(self) -> list[DialectEntry]:
        """See `InstalledDialects.entries`."""
        return self._installed.entries()

    def unused_packages(self, dialect: str) -> list[str]:
        """See `InstalledDialects.unused_packages`."""
        return self._installed.unused_packages(dialect)

    def lookup(self, dialect: str, domain: str, op: str, version: int) -> OpDef | None:
        """The operator in force at a version; None for an unknown dialect or operator."""
        operators = self.dialect(dialect)
        return None if operators is None else operators.lookup(domain, op, version)

    def cost_rule(self, dialect: str, domain: str, op: str, version: int) -> CostRule | None:
        """The cost rule in force at a version; None for an unknown dialect, and for an operator without one."""
        operators = self.dialect(dialect)
        return None if operators is None else operators.cost_rule(domain, op, version)

    def axis_rule(self, dialect: str, domain: str, op: str, version: int) -> AxisRule | None:
        """The axis rule in force at a version; None for an unknown dialect, and for an operator without one."""
        operators = self.dialect(dialect)
        return None if operators is None else operators.axis_rule(domain, op, version)

    def position_rule(self, dialect: str, domain: str, op: str, version: int) -> PositionRule | None:
        """The position rule in force at a version; None for an unknown dialect, and for an operator without one."""
        operators = self.dialect(dialect)
        return None if operators is None else operators.position_rule(domain, op, version)

    def value_rule(self, dialect: str, domain: str, op: str, version: int) -> ValueRule | None:
        """The value rule in force at a version; None for an unknown dialect, and for an operator without one."""
        operators = self.dialect(dialect)
        return None if operators is None else operators.value_rule(domain, op, version)

    def is_versioned(self, dialect: str) -> bool:
        """Whether messages display the versions of a dialect's operators; true for an unknown dialect."""
        operators = self.dialect(dialect)
        return operators is None or operators.versioned

    def call(
        self, op_def: OpDef, kind: Hashable, attributes: Mapping[str, object], version: int, wanted: tuple[bool, ...]
    ) -> Call | None:
        """The call of an operator with these attributes; None for one without a rule.

        `kind` identifies operator and attributes in the cache, which is cleared at `MAX_CALLS`.
        """
        if op_def.rule is None:
            return None
        key = (op_def, kind, version, wanted)
        call = self._calls.get(key)
        if call is None:
            if len(self._calls) >= MAX_CALLS:
                self._calls.clear()
            cls = DeferredCall if any(map(referenced_inputs, attributes.values())) else Call
            call = self._calls.setdefault(key, cls(op_def, attributes, version, wanted))
        return call

    def share(self, key: Hashable, operation: T) -> T:
        """Add an operation to the shared ones; returns the one that another thread has added first, if any.

        The shared operations are cleared at `MAX_CALLS`.
        """
        if len(self.operations) >= MAX_CALLS:
            self.operations.clear()
        shared: T = self.operations.setdefault(key, operation)
        return shared


@build_once
def default_registry() -> OpRegistry:
    """The registry of all installed dialects, built once."""
    return OpRegistry.discover()


def _origin(entry: _Registration) -> tuple[str, str]:
    function = entry.function  # an object of a class where a closure is compiled
    return function.__module__, getattr(function, "__qualname__", type(function).__qualname__)


def _label(key: Key) -> str:
    domain, name, since = key
    return f"{domain}.{name} since version {since}"


def _misfit(loaded: object, name: str, dialect: Dialect | None) -> str:
    """Why a loaded object cannot be the dialect of this name; empty where it can.

    `dialect` is what another entry point of this name has defined, if any.
    """
    if not isinstance(loaded, Dialect):
        return f"is an object of the type {type(loaded).__name__}, not a Dialect"
    if loaded.name != name:
        return f"is the dialect {loaded.name!r}, but has the name of {name!r}"
    if dialect is not None and loaded is not dialect:
        return f"is not used: it defines a second dialect {name!r} instead of adding to the existing one"
    return ""


def _title(entry: EntryPoint) -> str:
    package = _package(entry)
    return f"the entry point {entry.name!r}" + (f" of the package {package}" if package else "")


def _package(entry: EntryPoint) -> str:
    dist = getattr(entry, "dist", None)
    return f"{dist.name} {dist.version}" if dist is not None else ""
