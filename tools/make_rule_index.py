"""Write `opdefs/*/rules.txt`: the operators whose rules each module of a package registers.

Run it after a change of the operators of a rule:

    python tools/make_rule_index.py

With `--check` it writes nothing, prints the difference between the tables and the sources, and fails if there is one.
`shapeinf/ops/rule_index.py` describes the tables and reads them.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import pkgutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from shapeinf.ops import Dialect, RuleIndex
from shapeinf.ops.rule_index import COMMAND, FILE, Key

ROOT = Path(__file__).resolve().parent.parent
DIALECTS = {"microsoft": "onnx", "nnef": "nnef", "onnx": "onnx", "pnnx": "pnnx", "tf": "tf"}
DIALECTS |= {"tflite": "tflite", "torch": "torch"}
"""The dialect of each package of operators."""

WIDTH = 100
"""The length of a line."""


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
        yield ROOT / "opdefs" / package / FILE, table_text(modules)


def dialect(name: str) -> Dialect:
    """A dialect without its tables: rules are what its modules register, whatever the tables contain."""
    loaded: Dialect = getattr(importlib.import_module(f"opdefs.{name}.dialect"), name)
    loaded.rule_index = RuleIndex()
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


def table_text(modules: Mapping[str, list[Key]]) -> str:
    """The table of a package: the operators by module and domain."""
    lines = [f"# The operators of each module; made by {COMMAND.removeprefix('python ')}."]
    for module, keys in sorted(modules.items()):
        for domain in sorted({key[0] for key in keys}):
            names = " ".join(label(key) for key in keys if key[0] == domain)
            lines += ["", f"[{module} {domain}]".replace(" ]", "]")]
            lines += textwrap.wrap(names, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def label(key: Key) -> str:
    """An operator, with the first version of its rule if that is not 1."""
    _, name, since = key
    if any(c in name for c in " \t@[#"):
        raise ValueError(f"the table cannot have the name {name!r}")
    return name if since == 1 else f"{name}@{since}"


if __name__ == "__main__":
    sys.exit(main())
