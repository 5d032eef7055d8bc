"""Tables of the signatures of rules: a rule is made from a line of text, and its module is imported when it is needed.

A package of operators has such a table (see `shapeinf.ops.tables`) in its file `signatures.txt`, which
`tools/make_signatures.py` writes. The section `[MODULE DOMAIN]` has the rules that a module registers for a domain, a
function on one line with the operators that it is for. The JSON is its signature:

- `function`: its name, for readers
- `crc`: a checksum of the annotations and defaults in the source, see `checksum`
- `inputs`: `x`, `x?` (optional) or `*xs` (variadic), then the part that the rule reads, if that is not the shape:
  `x: value`, `x: operand`, `x: tensor` (its type), `x: type` (of anything)
- `attributes`: the kind of each, and its default where it has one
- `groups`: the attrs classes of attributes; the section `[classes]` has the kinds of their fields
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from inspect import Parameter
from typing import Any, NamedTuple
from zlib import crc32

from shapeinf.graph import DeclaredType
from shapeinf.ops.rule import InputUse, Param, Rule
from shapeinf.ops.tables import table_lines
from shapeinf.sharing import cached_property

FILE = "signatures.txt"
CLASSES = "classes"
"""The title of the section of attrs classes."""

COMMAND = "python tools/make_signatures.py"
"""The command to run after a change of a signature."""

UNKNOWN_KIND = "object"
"""The kind of an attribute that a rule reads as None where it is unknown."""

_USES = {
    "": (InputUse.SHAPE, True),
    "operand": (InputUse.OPERAND, True),
    "value": (InputUse.VALUE, True),
    "tensor": (InputUse.TYPE, True),
    "type": (InputUse.TYPE, False),
}
_USE_NAMES = {use: name for name, use in _USES.items()}

Key = tuple[str, str, int]
"""Domain, operator, first version."""


class _Line(NamedTuple):
    module: str
    text: str


class SignatureTable:
    """The signatures of the rules of some packages, read on first use; a line is parsed when its rule is needed.

    >>> table = SignatureTable("opdefs.onnx")
    >>> table.modules("", "Conv"), table.versions("", "Conv"), table.versions("", "Convolution")
    ({'opdefs.onnx.conv'}, {1}, set())
    """

    def __init__(self, *packages: str) -> None:
        """With the tables of these packages."""
        self.packages = packages
        self._classes: dict[str, str] = {}

    @cached_property
    def _operators(self) -> dict[tuple[str, str], dict[int, _Line]]:
        """The lines of the versions of each operator."""
        operators: dict[tuple[str, str], dict[int, _Line]] = {}
        for package in self.packages:
            for section, name, since, text in table_lines(package, FILE):
                if section == CLASSES:
                    self._classes[name] = text
                else:
                    module, _, domain = section.partition(" ")
                    operators.setdefault((domain, name), {})[since] = _Line(module, text)
        return operators

    def versions(self, domain: str, name: str) -> set[int]:
        """The first version of each rule of an operator."""
        return {*self._operators.get((domain, name), ())}

    def __iter__(self) -> Iterator[Key]:
        """The keys of all rules."""
        for (domain, name), versions in self._operators.items():
            for since in versions:
                yield domain, name, since

    def modules(self, domain: str, name: str) -> set[str]:
        """The modules that register the rules of an operator."""
        return {line.module for line in self._operators.get((domain, name), {}).values()}

    def module(self, key: Key) -> str:
        """The module that registers a rule; empty for a rule that is not in the table."""
        line = self._operators.get(key[:2], {}).get(key[2])
        return "" if line is None else line.module

    @cached_property
    def keys_by_module(self) -> dict[str, list[Key]]:
        """The rules that each module registers."""
        modules: dict[str, list[Key]] = {}
        for key in self:
            modules.setdefault(self.module(key), []).append(key)
        return modules

    def rule(self, key: Key, function: Callable[..., object]) -> Rule:
        """The rule of a function, from its line; by inspection where the signature has changed since."""
        entry = json.loads(self._operators[key[:2]][key[2]].text)
        if checksum(function) not in ("", entry["crc"]):
            return Rule.from_function(function)
        return _rule(entry, function, {label: json.loads(self._classes[label]) for label in _labels(entry)})


def checksum(function: Callable[..., object]) -> str:
    """A checksum of the names, annotations and defaults of the parameters; empty for a compiled function.

    It changes with the text of a signature, not with the meaning of an alias in an annotation; a test compares that.
    """
    if not hasattr(function, "__code__"):
        return ""
    parts = (function.__annotations__, function.__defaults__, function.__kwdefaults__)
    return f"{crc32(repr(parts).encode()):08x}"


def _labels(entry: Mapping[str, Any]) -> list[str]:
    """The classes of the groups of attributes, as `module:class`."""
    return list(entry.get("groups", {}).values())


def _rule(entry: Mapping[str, Any], function: Callable[..., object], classes: Mapping[str, Any]) -> Rule:
    attributes: dict[str, object] = {}
    kinds: dict[str, str] = {}
    renamed: dict[str, str] = {}
    for parameter, (kind, *default) in entry.get("attributes", {}).items():
        name = parameter.removesuffix("_")
        attributes[name] = _value(default[0]) if default else Parameter.empty
        renamed[name] = parameter
        kinds[name] = kind
    open_names = {name for name, kind in kinds.items() if kind == UNKNOWN_KIND}
    kinds = {name: kind for name, kind in kinds.items() if kind not in ("", UNKNOWN_KIND)}
    for group in classes.values():
        kinds.update(group["fields"])
        open_names.update(group.get("open", ()))
    params = tuple(map(_param, entry.get("inputs", ())))
    groups = dict(zip(entry.get("groups", {}), map(_class, _labels(entry)), strict=True))
    raw = not (params or attributes or groups)
    return Rule(function, params, attributes, kinds, renamed, groups, raw, frozenset(open_names))


def _param(text: str) -> Param:
    label, _, use = text.partition(": ")
    name = label.strip("*?")
    return Param(name, _USES[use][0], label.endswith("?"), label.startswith("*"), _USES[use][1])


def param_text(param: Param) -> str:
    """An input in a line of a table.

    >>> param_text(Param("x", InputUse.VALUE, optional=True, variadic=False))
    'x?: value'
    """
    use = _USE_NAMES[param.use, param.tensor]
    label = f"{'*' * param.variadic}{param.name}{'?' * param.optional}"
    return f"{label}: {use}" if use else label


def _value(value: Any) -> object:
    """A default: lists are tuples, an object is a declared type."""
    if isinstance(value, list):
        return tuple(map(_value, value))
    if isinstance(value, dict):
        return DeclaredType(dims=_value(value["dims"]))  # type: ignore[arg-type]
    return value


def _class(label: str) -> type:
    module, _, name = label.partition(":")
    group: type = getattr(import_module(module), name)
    return group
