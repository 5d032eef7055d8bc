r"""Tables of OpDefs, written by `tools/make_onnx_schemas.py` and `tools/make_microsoft.py` as `schemas.txt`.

The section `[DOMAIN VERSION]` lists the operators of a domain; VERSION is its newest opset version. The format of lines
is that of `shapeinf.ops.tables`. The JSON of a line describes an operator from an opset version on:

- `inputs`, `outputs`: `x`, `x?` (optional), `*xs` (any number) or `+xs` (one or more), then `: ` and the element type
  or a type variable; `each(T)` where each value has a type of its own; `sequence(T)` and `optional(T)` are not tensors
- `types`: by type variable the number of the set of its types, a line of the section `[allowed types]`
- `attributes`: by name the kind, `int!` where the attribute is required, or a list of the kind, the default (null for
  none) and, where only some are allowed, the values
- `any attribute`: true if runtimes accept attributes that are not listed
- `function`: true if onnx defines the operator as a function of other operators
- `deprecated`: true from the first version in which models may not use the operator
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shapeinf.errors import NotKnown
from shapeinf.graph import Graph
from shapeinf.lattice import Type
from shapeinf.lattice.dtypes import DTYPES
from shapeinf.ops import ArgDef, AttrDef, OpDef
from shapeinf.ops.opdef import Expansion
from shapeinf.ops.tables import table_lines
from shapeinf.packages import is_installed
from shapeinf.sharing import cached_property

FILE = "schemas.txt"
DEFAULT_DOMAIN = "ai.onnx"
"""The domain of graphs without one, in tables."""

_NAMES = frozenset(dtype.name for dtype in DTYPES)
_KINDS = ("sequence", "optional")
_REPLACEMENTS = {
    "GroupNormalization": "GroupNormalization of opset 21",
    "Scatter": "ScatterElements",
    "TreeEnsembleClassifier": "TreeEnsemble",
    "TreeEnsembleRegressor": "TreeEnsemble",
    "Upsample": "Resize",
}
_TYPES = "allowed types"
"""The section of the sets of types, by number."""


class SchemaTable:
    """The OpDefs of a package, read on first use; a line is parsed when its operator is looked up.

    >>> table = SchemaTable("opdefs.microsoft")
    >>> table.find("com.microsoft", "Gelu", 1).inputs[0].name, table.newest("com.microsoft"), table.newest("")
    ('X', 1, 0)
    """

    def __init__(self, package: str) -> None:
        """The table in the file `schemas.txt` of a package."""
        self._package = package
        self._newest: dict[str, int] = {}
        self._type_sets: dict[str, str | tuple[str, ...]] = {}

    @cached_property
    def _operators(self) -> dict[tuple[str, str], dict[int, str]]:
        """The lines of the versions of each operator."""
        operators: dict[tuple[str, str], dict[int, str]] = {}
        section = domain = ""
        for line in table_lines(self._package, FILE):
            if line.section == _TYPES:
                self._type_sets[line.name] = line.text
                continue
            if line.section != section:
                section = line.section
                title, _, newest = section.partition(" ")
                domain = "" if title == DEFAULT_DOMAIN else title
                self._newest[domain] = int(newest)
            operators.setdefault((domain, line.name), {})[line.since] = line.text
        return operators

    def newest(self, domain: str) -> int:
        """The newest opset version of a domain in the table; 0 for a domain that is not in the table."""
        return self._newest.get(domain, 0) if self._operators else 0

    def find(self, domain: str, name: str, version: int) -> OpDef | None:
        """The OpDef in force at an opset version (0 for the newest); None for an operator that is not in the table."""
        versions = self._operators.get((domain, name), {})
        since = max((since for since in versions if version <= 0 or since <= version), default=None)
        return None if since is None else self._op_def(domain, name, since, json.loads(versions[since]))

    def versions(self, domain: str, name: str) -> tuple[OpDef, ...]:
        """The OpDefs of all versions of an operator, the oldest first; none for an unknown operator."""
        versions = sorted(self._operators.get((domain, name), {}))
        return tuple(op_def for since in versions if (op_def := self.find(domain, name, since)) is not None)

    def _types(self, number: int) -> tuple[str, ...]:
        """A set of types by its number."""
        types = self._type_sets[str(number)]
        if isinstance(types, str):
            types = self._type_sets[str(number)] = tuple(json.loads(types))
        return types

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        """Domain, name and first version of all OpDefs."""
        for (domain, name), versions in self._operators.items():
            for since in versions:
                yield domain, name, since

    def _op_def(self, domain: str, name: str, since: int, entry: dict[str, Any]) -> OpDef:
        return OpDef(
            name,
            "onnx",
            domain,
            since,
            tuple(map(_arg, entry.get("inputs", ()))),
            tuple(map(_arg, entry.get("outputs", ()))),
            {name: _attribute(name, attribute) for name, attribute in entry.get("attributes", {}).items()},
            {variable: self._types(number) for variable, number in entry.get("types", {}).items()},
            deprecated=entry.get("deprecated", False),
            deprecation=deprecation(name, since) if entry.get("deprecated") else None,
            complete=True,
            any_attribute=entry.get("any attribute", False),
            expand=expansion(domain, name, since) if entry.get("function") else None,
        )


def deprecation(name: str, since: int) -> tuple[int, str]:
    """The first version without an operator, and the operator to use instead."""
    return since, _REPLACEMENTS.get(name, "")


def expansion(domain: str, name: str, since: int) -> Expansion:
    """The expansion of an operator that onnx defines as a function; `onnx` is imported when a node is expanded.

    It raises NotKnown where onnx is not installed.
    """

    def expand(attributes: Mapping[str, object], inputs: Sequence[Type | None], outputs: int) -> Graph | None:
        if not is_installed("onnx"):
            raise NotKnown(f"{name} is defined by other operators: pip install 'shapeinf[onnx]' to read its definition")
        from opdefs.onnx.functions import expand_function

        return expand_function((domain, name, since), attributes, inputs, outputs)

    return expand


def _arg(text: str) -> ArgDef:
    label, _, variable = text.partition(": ")
    kind = next((kind for kind in _KINDS if variable.startswith(f"{kind}(")), "tensor")
    if kind != "tensor":
        variable = variable[len(kind) + 1 : -1]
    each = variable.startswith("each(")
    if each:
        return _labeled(label, kind=kind, each_of=variable[5:-1])
    fixed = variable in _NAMES
    return _labeled(
        label, kind=kind, type=variable if fixed else None, type_attr=None if fixed or not variable else variable
    )


def _labeled(label: str, **fields: Any) -> ArgDef:
    """An input or output with a label such as `+xs` or `x?`."""
    variadic, least = label[0] in "*+", int(label[0] == "+")
    return ArgDef(label.strip("?*+"), optional=label.endswith("?"), variadic=variadic, least=least, **fields)


def arg_text(arg: ArgDef) -> str:
    """The text of an input or output in a line of a table. Raises ValueError for an `ArgDef` without such a text.

    >>> arg_text(ArgDef("x", type="int64", optional=True)), arg_text(ArgDef("xs", variadic=True, least=1))
    ('x?: int64', '+xs')
    """
    repeated = ("+" if arg.least else "*") if arg.variadic else ""
    label = f"{repeated}{arg.name}{'?' * arg.optional}"
    variable = f"each({arg.each_of})" if arg.each_of else arg.type or arg.type_attr or ""
    if arg.kind != "tensor":
        variable = f"{arg.kind}({variable})"
    text = f"{label}: {variable}" if variable else label
    if _arg(text) != arg:
        raise ValueError(f"a table of schemas has no text for {arg}")
    return text


def _attribute(name: str, entry: str | list[Any]) -> AttrDef:
    if isinstance(entry, str):
        return AttrDef(name, entry.removesuffix("!"), required=entry.endswith("!"))
    kind, default, *allowed = entry
    return AttrDef(
        name,
        kind.removesuffix("!"),
        tuple(default) if isinstance(default, list) else default,
        has_default=default is not None,
        allowed=tuple(allowed[0]) if allowed else None,
        required=kind.endswith("!"),
    )


def _attribute_entry(attribute: AttrDef) -> str | list[object]:
    kind = attribute.type + "!" * attribute.required
    if attribute.allowed is not None:
        return [kind, attribute.default, attribute.allowed]
    return [kind, attribute.default] if attribute.has_default else kind


class TypeSets(dict[tuple[str, ...], int]):
    """The numbers of the sets of types in a table, in the order of their first use."""

    def __missing__(self, types: tuple[str, ...]) -> int:
        number = self[types] = len(self)
        return number

    def lines(self) -> list[str]:
        """The section of the sets."""
        return [f"[{_TYPES}]", *(f"{number}\t{json.dumps(types)}" for types, number in self.items())]


def op_def_text(op_def: OpDef, type_sets: TypeSets) -> str:
    """The JSON of an OpDef in a line of a table with these sets of types; empty parts are omitted."""
    parts = {
        "inputs": list(map(arg_text, op_def.inputs)),
        "outputs": list(map(arg_text, op_def.outputs)),
        "attributes": {name: _attribute_entry(attribute) for name, attribute in op_def.attributes.items()},
        "types": {variable: type_sets[types] for variable, types in op_def.type_sets.items()},
        "any attribute": op_def.any_attribute,
        "function": op_def.expand is not None,
        "deprecated": op_def.deprecated,
    }
    return json.dumps({name: part for name, part in parts.items() if part}, ensure_ascii=False)
