"""Write `opdefs/*/signatures.txt`: the signatures of the rules of each package of operators, read from the sources.

Run it after a change of the signature of a rule, or of the operators that it is for:

    python tools/make_signatures.py

With `--check` it writes nothing, prints the difference between the tables and the sources, and fails if there is one.
`shapeinf/ops/signatures.py` describes the tables and reads them.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import SourceFileLoader
from inspect import Parameter
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

from shapeinf.graph import DeclaredType
from shapeinf.ops import Dialect, Rule, SignatureTable
from shapeinf.ops.rule import group_kinds, open_fields
from shapeinf.ops.signatures import CLASSES, COMMAND, FILE, UNKNOWN_KIND, Key, checksum, param_text

ROOT = Path(__file__).resolve().parent.parent
DIALECTS = {"microsoft": "onnx", "nnef": "nnef", "onnx": "onnx", "pnnx": "pnnx", "tf": "tf"}
"""The dialect of each package of operators."""

WIDTH = 100
"""The names of operators of one line."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the tables with the sources, and write nothing")
    options = parser.parse_args()
    tables = dict(texts())
    if options.check:
        return check(tables)
    for path, text in tables.items():
        path.write_text(text, encoding="utf-8")
        print(f"{text.count(chr(10))} lines in {path.relative_to(ROOT)}")
    return 0


def check(tables: Mapping[Path, str]) -> int:
    """1 if a table differs from the sources, after printing the difference."""
    difference = [
        line
        for path, text in tables.items()
        for line in difflib.unified_diff(
            path.read_text(encoding="utf-8").splitlines() if path.exists() else [],
            text.splitlines(),
            str(path.relative_to(ROOT)),
            "the sources",
            lineterm="",
            n=0,
        )
    ]
    if difference:
        print(f"run: {COMMAND}", *difference, sep="\n")
    return int(bool(difference))


def texts() -> Iterator[tuple[Path, str]]:
    """The table of each package."""
    dialects = {name: dialect(name) for name in DIALECTS.values()}
    registered = rules_by_module(dialects)
    for package, name in DIALECTS.items():
        prefix = f"opdefs.{package}."
        modules = {module: keys for module, keys in registered[name].items() if module.startswith(prefix)}
        yield ROOT / "opdefs" / package / FILE, table_text(dialects[name], modules)


def dialect(name: str) -> Dialect:
    """A dialect without its tables: its rules are inspected, whatever the tables contain."""
    loaded: Dialect = getattr(importlib.import_module(f"opdefs.{name}.dialect"), name)
    loaded.signatures = SignatureTable()
    return loaded


def rules_by_module(dialects: Mapping[str, Dialect]) -> dict[str, dict[str, list[Key]]]:
    """For each dialect the rules that each module registers while it is executed; all modules are imported."""
    rules: dict[str, dict[str, list[Key]]] = {name: {} for name in dialects}
    executing = [""]

    def assign_new_rules() -> None:
        for name, operators in dialects.items():
            known = {key for keys in rules[name].values() for key in keys}
            rules[name].setdefault(executing[-1], []).extend(sorted({*operators} - known))

    class Loader(SourceFileLoader):
        """Knows which module is executed, also while one imports another."""

        def exec_module(self, module: ModuleType) -> None:
            assign_new_rules()
            executing.append(module.__name__)
            original(self, module)
            assign_new_rules()
            executing.pop()

    original = SourceFileLoader.exec_module
    SourceFileLoader.exec_module = Loader.exec_module  # type: ignore[method-assign]
    for package in DIALECTS:
        path = importlib.import_module(f"opdefs.{package}").__path__
        for module in pkgutil.iter_modules(path, f"opdefs.{package}."):
            if not module.name.endswith(".costs"):
                importlib.import_module(module.name)
    SourceFileLoader.exec_module = original  # type: ignore[method-assign]
    return rules


def table_text(operators: Dialect, modules: Mapping[str, list[Key]]) -> str:
    """The table of a package: classes, then the rules by module and domain."""
    rules = {key: rule(operators, key) for keys in modules.values() for key in keys}
    classes = {label(group): group for entry in rules.values() for group in entry.groups.values()}
    lines = [
        f"# The signatures of rules; made by {COMMAND.removeprefix('python ')}, read by shapeinf/ops/signatures.py."
    ]
    if classes:
        lines += ["", f"[{CLASSES}]"]
        lines += [f"{name}\t{as_json(class_entry(group))}" for name, group in sorted(classes.items())]
    for module, keys in sorted(modules.items()):
        for domain in sorted({key[0] for key in keys}):
            lines += ["", f"[{module} {domain}]".replace(" ]", "]")]
            lines += rows([key for key in keys if key[0] == domain], rules)
    return "\n".join(lines) + "\n"


def rule(operators: Dialect, key: Key) -> Rule:
    op_def = operators.lookup(*key)
    assert op_def is not None and op_def.rule is not None
    return op_def.rule


def rows(keys: list[Key], rules: Mapping[Key, Rule]) -> Iterator[str]:
    """The lines of a section: the operators of a function, a tab, its signature; several lines for many operators."""
    groups: dict[int, list[Key]] = {}
    for key in keys:
        groups.setdefault(id(rules[key].function), []).append(key)
    for operators in groups.values():
        signature = as_json(entry(rules[operators[0]]))
        names = ""
        for _, name, since in operators:
            if any(c in name for c in " \t@[#"):
                raise ValueError(f"the table cannot have the name {name!r}")
            text = name if since == 1 else f"{name}@{since}"
            if len(names) + len(text) > WIDTH and names:
                yield f"{names}\t{signature}"
                names = ""
            names = f"{names} {text}".lstrip()
        yield f"{names}\t{signature}"


def entry(inspected: Rule) -> dict[str, Any]:
    """A rule as JSON; empty parts are left out."""
    attributes = {
        parameter: [attribute_kind(inspected, name), *default(inspected.attributes[name])]
        for name, parameter in inspected.renamed.items()
    }
    parts = {
        "inputs": [param_text(param) for param in inspected.params],
        "attributes": attributes,
        "groups": {name: label(group) for name, group in inspected.groups.items()},
    }
    function = inspected.function
    return {
        "function": function.__qualname__,
        "crc": checksum(function),
        **{k: part for k, part in parts.items() if part},
    }


def attribute_kind(inspected: Rule, name: str) -> str:
    return UNKNOWN_KIND if name in inspected.open else inspected.kinds.get(name, "")


def default(value: object) -> list[Any]:
    """No item for a required attribute."""
    if isinstance(value, DeclaredType):
        if value != DeclaredType(dims=value.dims):
            raise ValueError(f"the table cannot have the default {value}")
        return [{"dims": value.dims}]
    return [] if value is Parameter.empty else [value]


def class_entry(group: type) -> dict[str, Any]:
    names = [field.name for field in attrs.fields(group)]  # type: ignore[arg-type]
    kinds = group_kinds(group)
    fields: dict[str, Any] = {"fields": {name: kinds[name] for name in names if name in kinds}}
    return fields | ({"open": open_fields(group)} if open_fields(group) else {})


def label(group: type) -> str:
    return f"{group.__module__}:{group.__qualname__}"


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
