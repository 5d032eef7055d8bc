"""Where operators are found: dialects, each a set of rules by (domain, op, since-version)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import attrs

from shapeinf.ops.deferred import DeferredCall, referenced_inputs
from shapeinf.ops.opdef import OpDef
from shapeinf.ops.rule import Rule
from shapeinf.ops.run import Call
from shapeinf.sharing import BUILD_LOCK, build_once

ENTRY_POINTS = "shapeinf.opdefs"

MAX_CALLS = 4096
"""Calls that a registry keeps."""

NO_VIEWS: Mapping[int, int] = MappingProxyType({})

Function = TypeVar("Function", bound=Callable[..., object])
Schemas = Callable[[str, str, int], "OpDef | None"]


class _Registered(NamedTuple):
    """A rule with the version from which it holds, and the storage that its operators share."""

    since: int
    rule: Rule
    views: Mapping[int, int]
    in_place: tuple[int, ...]
    stored: bool


class Dialect:
    """The operators of one family of models; also the decorator that registers a rule.

    Args:
        name: the dialect's name, as graphs carry it.
        schemas: gives the OpDef (without rule) of (domain, op, version), None when it has none. Without it, OpDefs
            are those registered with `define`.

    >>> toy = Dialect("toy")
    >>> @toy("Same")
    ... def same(c, x):
    ...     return x
    >>> toy.lookup("", "Same", 1).rule.params[0].name
    'x'
    """

    def __init__(self, name: str, schemas: Schemas | None = None) -> None:
        """An empty dialect."""
        self.name = name
        self.schemas = schemas
        self.declarations: Callable[[Any], tuple[Any, ...]] | None = None
        """For formats that define operations by text: the syntax trees of those that a variant of the format has."""
        self._rules: dict[tuple[str, str], list[_Registered]] = {}
        self._defined: dict[tuple[str, str], OpDef] = {}
        self._found: dict[tuple[str, str, int], OpDef | None] = {}

    def __call__(
        self,
        *names: str,
        since: int = 1,
        domain: str = "",
        views: Mapping[int, int] = NO_VIEWS,
        in_place: tuple[int, ...] = (),
        stored: bool = False,
    ) -> Callable[[Function], Function]:
        """Register the decorated function as the rule of these operators from a version on.

        `views`, `in_place` and `stored` say which storage their outputs have; see `OpDef`.
        """

        def register(function: Function) -> Function:
            rule = Rule.from_function(function)
            for name in names:
                versions = self._rules.setdefault((domain, name), [])
                others = [entry for entry in versions if entry.since == since]
                if any(_origin(entry.rule) != _origin(rule) for entry in others):
                    raise ValueError(f"{self.name} has two rules for {domain}.{name} since version {since}")
                versions[:] = [entry for entry in versions if entry not in others]  # its module is loaded anew
                versions.append(_Registered(since, rule, views, in_place, stored))
                versions.sort(key=lambda entry: entry.since)
            self._found.clear()
            return function

        return register

    def define(self, op_def: OpDef) -> None:
        """Add an OpDef that comes from no schema source (TensorFlow's builder, a test)."""
        self._defined[op_def.domain, op_def.name] = op_def
        self._found.clear()

    def lookup(self, domain: str, op: str, version: int) -> OpDef | None:
        """The operator in force at a version, None when the dialect does not know it."""
        key = (domain, op, version)
        try:
            return self._found[key]
        except KeyError:  # one OpDef for all threads: what is made ready for an operator is found by it
            return self._found.setdefault(key, self._lookup(domain, op, version))

    def _lookup(self, domain: str, op: str, version: int) -> OpDef | None:
        found = self._rule(domain, op, version)
        schema = self._defined.get((domain, op))
        if schema is None and self.schemas is not None:
            schema = self.schemas(domain, op, version)
        if found is None:
            return schema
        schema = schema or OpDef(op, self.name, domain)
        return attrs.evolve(
            schema,
            rule=schema.rule or found.rule,
            views=found.views,
            in_place=found.in_place,
            stored=found.stored,
        )

    def _rule(self, domain: str, op: str, version: int) -> _Registered | None:
        versions = self._rules.get((domain, op), [])
        if not versions:
            return None
        if version <= 0:
            return versions[-1]
        at = bisect_right([entry.since for entry in versions], version)
        return versions[at - 1] if at else None

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        """(domain, op, since) of every rule."""
        for (domain, op), versions in sorted(self._rules.items()):
            for entry in versions:
                yield domain, op, entry.since


class InstalledDialects:
    """The dialects under an entry point group, by name.

    An entry point has the name of its dialect, or begins with that and a dot where it adds to one
    (`onnx.acme = "acme.shapes:onnx"`). All of a dialect are loaded when it is first asked for. What is wrong with one
    of them is a text in `problems`, and the others work.
    """

    def __init__(self, entries: Iterable[EntryPoint] | None = None) -> None:
        """These entry points; those of all installed packages by default."""
        self._entries: dict[str, list[EntryPoint]] = {}
        for entry in sorted(entry_points(group=ENTRY_POINTS) if entries is None else entries, key=lambda e: e.name):
            self._entries.setdefault(entry.name.partition(".")[0], []).append(entry)
        self._loading: set[str] = set()
        self._loaded: dict[str, Dialect | None] = {}
        self._problems: dict[str, list[str]] = {}

    def get(self, name: str) -> Dialect | None:
        """A dialect with all that is added to it. A thread that comes while another one loads it waits."""
        if name not in self._loaded and name in self._entries:
            with BUILD_LOCK:
                if name not in self._loaded and name not in self._loading:
                    self._loading.add(name)
                    try:
                        self._loaded[name] = self._load(name)  # others see it only when it is whole
                    finally:
                        self._loading.discard(name)
        return self._loaded.get(name)

    def problems(self, name: str) -> list[str]:
        """What was wrong with the entry points of a dialect when they were loaded, and which add to no dialect."""
        nowhere = [
            f"{_title(entry)} is not used: no installed package has a dialect {dialect!r} that it could add to"
            for dialect, listed in self._entries.items()
            for entry in listed
            if listed[0].name != dialect
        ]
        return [*self._problems.get(name, ()), *nowhere]

    def not_loaded(self, name: str) -> list[str]:
        """The dialects of other packages than that of this one, which no model has asked for yet."""
        own = {_package(entry) for entry in self._entries.get(name, ()) if entry.name == name}
        others = (listed[0] for dialect, listed in self._entries.items() if dialect not in self._loaded)
        return [_title(entry) for entry in others if "." not in entry.name and _package(entry) not in own]

    def _load(self, name: str) -> Dialect | None:
        found: Dialect | None = None
        problems = self._problems[name] = []
        for entry in self._entries[name]:
            try:
                loaded = entry.load()
            except Exception as error:  # whatever a package of others does, it is its own problem
                problems.append(f"{_title(entry)} cannot be loaded: {type(error).__name__}: {error}")
                continue
            problem = _misfit(loaded, name, found)
            if problem:
                problems.append(f"{_title(entry)} {problem}")
            else:
                found = loaded
        return found


class OpRegistry:
    """The dialects that an inference uses."""

    def __init__(self, *dialects: Dialect) -> None:
        """With these dialects; see `discover` for all installed ones."""
        self._dialects = {dialect.name: dialect for dialect in dialects}
        self._installed = InstalledDialects(())
        self._calls: dict[tuple[object, ...], Call] = {}

    def add(self, dialect: Dialect) -> None:
        """Add a dialect; the last one of a name wins."""
        self._dialects[dialect.name] = dialect

    def dialect(self, name: str) -> Dialect | None:
        """A dialect by its name; None when there is none."""
        return self._dialects.get(name) or self._installed.get(name)

    @classmethod
    def discover(cls) -> OpRegistry:
        """All dialects of installed packages; see `InstalledDialects`. One is loaded when a model of it comes."""
        registry = cls()
        registry._installed = InstalledDialects()
        return registry

    def problems(self, dialect: str) -> list[str]:
        """What is wrong with the entry points of a dialect; see `InstalledDialects.problems`."""
        return self._installed.problems(dialect)

    def not_loaded(self, dialect: str) -> list[str]:
        """The entry points of other packages that have not been asked for, as texts."""
        return self._installed.not_loaded(dialect)

    def lookup(self, dialect: str, domain: str, op: str, version: int) -> OpDef | None:
        """The operator in force at a version; None for an unknown dialect or operator."""
        found = self.dialect(dialect)
        return None if found is None else found.lookup(domain, op, version)

    def call(
        self, op_def: OpDef, kind: Hashable, attributes: Mapping[str, object], version: int, wanted: tuple[bool, ...]
    ) -> Call | None:
        """The call of an operator with these attributes; None for one without a rule.

        `kind` stands for operator and attributes: readers share one among equal nodes of many files, so calls are kept
        (up to a number of them).
        """
        if op_def.rule is None:
            return None
        key = (op_def, kind, version, wanted)
        found = self._calls.get(key)
        if found is None:
            if len(self._calls) >= MAX_CALLS:
                self._calls.clear()
            make = DeferredCall if any(map(referenced_inputs, attributes.values())) else Call
            found = self._calls.setdefault(key, make(op_def, attributes, version, wanted))
        return found


@build_once
def default_registry() -> OpRegistry:
    """The registry of all installed dialects, made once."""
    return OpRegistry.discover()


def _origin(rule: Rule) -> tuple[str, str]:
    return rule.function.__module__, rule.function.__qualname__


def _misfit(loaded: object, name: str, found: Dialect | None) -> str:
    """Why what an entry point gives is not the dialect that its name says; empty where it is."""
    if not isinstance(loaded, Dialect):
        return f"gives an object of the type {type(loaded).__name__}, not a Dialect"
    if loaded.name != name:
        return f"is of the dialect {loaded.name!r}, but its name says {name!r}"
    if found is not None and loaded is not found:
        return f"is not used: it makes a second dialect {name!r} in place of adding to the one that is there"
    return ""


def _title(entry: EntryPoint) -> str:
    package = _package(entry)
    return f"the entry point {entry.name!r}" + (f" of the package {package}" if package else "")


def _package(entry: EntryPoint) -> str:
    dist = getattr(entry, "dist", None)
    return f"{dist.name} {dist.version}" if dist is not None else ""
