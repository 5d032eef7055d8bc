"""Write the tables of `docs/errors.md`: every exception and every diagnostic code; and the free codes in a guide.

Run it after a change of either; a test fails when a table is stale:

    python tools/make_error_table.py

Exceptions are the public classes of `shapeinf.errors` (and subclasses of formats), each with the first line of its
docstring and its fields. Codes come from `shapeinf.diagnostics.CODES`.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import itertools
import pkgutil
import textwrap
from pathlib import Path

import shapeinf
from shapeinf.diagnostics import CODES, Code
from shapeinf.errors import ShapeInferenceError

DOCS = Path(__file__).resolve().parent.parent / "docs"
TARGET = DOCS / "errors.md"
GUIDE = DOCS / "dev" / "add-a-check.md"

GROUPS = {
    "S": "Inference",
    "C": "Checks (`shapeinf check`)",
    "N": "NNEF documents",
    "T": "TensorFlow models",
    "X": "PNNX networks",
    "L": "TensorFlow Lite files",
    "P": "Memory plans",
}


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for path in (TARGET, GUIDE):
        path.write_text(update_page(path.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{len(CODES)} codes in {TARGET}")


def update_page(page: str) -> str:
    """The page with new tables between the markers that it has."""
    load_all()
    for name, table in (("exceptions", exceptions), ("codes", codes), ("free codes", free_codes)):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, found, rest = page.partition(begin)
        if found:
            _, _, after = rest.partition(end)
            page = f"{before}{begin}\n{table()}\n{end}{after}"
    return page


def load_all() -> None:
    """Import all modules of shapeinf: a package registers its codes when it is imported."""
    for module in pkgutil.walk_packages(shapeinf.__path__, "shapeinf."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def exceptions() -> str:
    """The table of exceptions, in the order of their definition, a subclass after its base."""
    rows = ["| exception | meaning | fields |", "|---|---|---|"]
    rows += [exception_row(error) for error in subclasses(ShapeInferenceError)]
    return "\n".join(rows) + "\n"


def subclasses(base: type[Exception]) -> list[type[Exception]]:
    """The public subclasses of a class, depth first, each once."""
    classes: dict[type[Exception], None] = {}
    for error in base.__subclasses__():
        if not error.__name__.startswith("_") and error.__module__.startswith("shapeinf."):
            classes[error] = None
            classes.update(dict.fromkeys(subclasses(error)))
    return list(classes)


def exception_row(error: type[Exception]) -> str:
    bases = [base.__name__ for base in error.__bases__ if base is not ShapeInferenceError]
    summary = (inspect.getdoc(error) or "").partition("\n")[0]
    kind = f" (a `{'`, `'.join(bases)}`)" if bases else ""
    fields = fields_of(error) if "__init__" in vars(error) else []
    return f"| `{error.__name__}`{kind} | {escape(summary)} | {', '.join(f'`{name}`' for name in fields)} |"


def fields_of(error: type[Exception]) -> list[str]:
    """The attributes that the class assigns."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(error)))
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return list(dict.fromkeys(node.attr for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset))))


def codes() -> str:
    """The tables of codes, one for each letter."""
    parts = []
    for letter in sorted({code[0] for code in CODES}, key=list(GROUPS).index):
        rows = [code_row(code) for name, code in sorted(CODES.items()) if name[0] == letter]
        parts.append("\n".join([f"### {GROUPS[letter]}", "", "| code | severity | meaning |", "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def code_row(code: Code) -> str:
    meaning = f"{code.title}. {code.explanation}" if code.explanation else code.title
    return f"| {code.code} | {', '.join(code.severities)} | {escape(meaning)} |"


def free_codes() -> str:
    """The table of free codes, of each hundred that has a code."""
    rows = ["| codes | free |", "|---|---|"]
    for letter, title in GROUPS.items():
        for hundred in sorted({code[1] for code in CODES if code[0] == letter}):
            free = [number for number in range(100) if f"{letter}{hundred}{number:02}" not in CODES]
            ranges = []
            for _, group in itertools.groupby(enumerate(free), lambda pair: pair[1] - pair[0]):
                numbers = [f"{letter}{hundred}{number:02}" for _, number in group]
                ranges.append(numbers[0] if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}")
            rows.append(f"| {letter}{hundred}: {title} | {', '.join(ranges)} |")
    return "\n".join(rows) + "\n"


def escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main()
