"""Where operators are found: dialects, each a set of rules by (domain, op, since-version)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import attrs

from shapeinf.ops.deferred import DeferredCall, referenced
from shapeinf.ops.opdef import OpDef
from shapeinf.ops.rule import Rule
from shapeinf.ops.run import Call

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
            rule = Rule.of(function)
            for name in names:
                versions = self._rules.setdefault((domain, name), [])
                if any(entry.since == since for entry in versions):
                    raise ValueError(f"{self.name} has two rules for {domain}.{name} since version {since}")
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
        if key not in self._found:
            self._found[key] = self._lookup(domain, op, version)
        return self._found[key]

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


class OpRegistry:
    """The dialects that an inference uses."""

    def __init__(self, *dialects: Dialect) -> None:
        """With these dialects; see `discover` for all installed ones."""
        self._dialects = {dialect.name: dialect for dialect in dialects}
        self._installed: dict[str, list[EntryPoint]] = {}
        self._calls: dict[tuple[object, ...], Call] = {}

    def add(self, dialect: Dialect) -> None:
        """Add a dialect; the last one of a name wins."""
        self._dialects[dialect.name] = dialect

    def dialect(self, name: str) -> Dialect | None:
        """A dialect by its name; None when there is none."""
        for entry in self._installed.pop(name, ()):
            self.add(entry.load())
        return self._dialects.get(name)

    @classmethod
    def discover(cls) -> OpRegistry:
        """All dialects that installed packages offer under the entry point group `shapeinf.opdefs`.

        An entry point has the name of its dialect, or begins with that and a dot where it adds to one
        (`onnx.acme = "acme.shapes:onnx"`). It is loaded when a model of the dialect comes.
        """
        registry = cls()
        for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
            registry._installed.setdefault(entry.name.partition(".")[0], []).append(entry)
        return registry

    def lookup(self, dialect: str, domain: str, op: str, version: int) -> OpDef | None:
        """The operator in force at a version; None for an unknown dialect or operator."""
        found = self._dialects.get(dialect) or self.dialect(dialect)
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
            make = DeferredCall if any(map(referenced, attributes.values())) else Call
            found = self._calls[key] = make(op_def, attributes, version, wanted)
        return found


@lru_cache(maxsize=1)
def default_registry() -> OpRegistry:
    """The registry of all installed dialects, made once."""
    return OpRegistry.discover()
