"""Write the floor plan of the source into `CONTRIBUTING.md` and `docs/dev/architecture.md`.

`ORDER` is the one list of the packages; a test holds the imports to it, and holds both pages to what this tool writes:

    python tools/make_floor_plan.py

The purpose of a package is the first line of its docstring. The arrows of the picture are the imports of today, without
those that follow from others.
"""

from __future__ import annotations

import argparse
import ast
import functools
import itertools
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "shapeinf"
GUIDE = ROOT / "CONTRIBUTING.md"
ARCHITECTURE = ROOT / "docs" / "dev" / "architecture.md"

ORDER = (
    "lazy_names",
    "compilation",
    "texts",
    "csv_text",
    "html",
    "diagnostics",
    "errors",
    "packages",
    "pickling",
    "sharing",
    "expr",
    "schemas",
    "runtime_messages",
    "constraints",
    "solver",
    "lattice",
    "layout",
    "graph",
    "ops",
    "formats",
    "inputs",
    "engine",
    "explain",
    "program",
    "contract",
    "codegen",
    "guards",
    "memory",
    "cost",
    "failures",
    "pickled_result",
    "result",
    "api",
    "expressions",
    "edit",
    "checks",
    "deployment",
    "runtime",
    "testing",
    "pytest_plugin",
    "passes",
    "compat",
    "report",
    "scan",
    "page",
    "cli",
    "__main__",
)
"""Packages and top-level modules: each imports only those before it."""


def path_of(name: str) -> Path:
    """The file of a package or module: its `__init__.py`, or the module itself."""
    package = SOURCE / name / "__init__.py"
    return package if package.exists() else SOURCE / f"{name}.py"


def purpose(name: str) -> str:
    """The first line of the docstring of a package or module."""
    docstring = ast.get_docstring(ast.parse(path_of(name).read_text(encoding="utf-8")))
    assert docstring, f"{name} has no docstring"
    return docstring.splitlines()[0]


def package_name(path: Path) -> str:
    """The package or top-level module that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@functools.cache
def imports(path: Path) -> list[tuple[int, str]]:
    """The line and module of every import of a file, also lazy ones and those for annotations.

    `from shapeinf import NAME` counts as an import of `shapeinf.NAME`.
    """
    modules = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "shapeinf":
            modules += [(node.lineno, f"shapeinf.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.append((node.lineno, node.module))
        elif isinstance(node, ast.Import):
            modules += [(node.lineno, alias.name) for alias in node.names]
    return modules


def arrows() -> nx.DiGraph:
    """Which package imports which, without arrows that follow from others."""
    graph = nx.DiGraph()
    for path in sorted(SOURCE.rglob("*.py")):
        for _, module in imports(path):
            top, *rest = module.split(".")
            if top == "shapeinf" and rest and rest[0] in ORDER and rest[0] != package_name(path):
                graph.add_edge(package_name(path), rest[0])
    graph.remove_node("__init__")
    return nx.transitive_reduction(graph)


def circles() -> list[list[str]]:
    """Modules, of operators too, that import each other in a circle, at import time or lazily, not for annotations."""
    paths = [path for folder in (SOURCE, ROOT / "opdefs") for path in folder.rglob("*.py")]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    graph = nx.DiGraph()
    for name, path in names.items():
        for node in run_time_imports(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            for full in (".".join([*modules, alias.name]) for alias in node.names):
                graph.add_edge(name, full if full in names else full.rpartition(".")[0])
    return [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1]


def run_time_imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports in a tree, without those that only a type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield from run_time_imports(node)


def table() -> str:
    """The packages from the top down, with their purposes."""
    rows = [f"| `shapeinf/{path_of(n).relative_to(SOURCE).parts[0]}` | {purpose(n)} |" for n in reversed(ORDER)]
    return "\n".join(
        ["| package | what it holds |", "|---|---|", *rows, "| `opdefs` | The operators, a package a dialect. |"]
    )


def picture() -> str:
    """A mermaid picture of the arrows, the highest package first."""
    edges = sorted(arrows().edges, key=lambda edge: (-ORDER.index(edge[0]), -ORDER.index(edge[1])))
    return "\n".join(["```mermaid", "flowchart TD", *(f"    {above} --> {below}" for above, below in edges), "```"])


def with_section(page: str, name: str, text: str) -> str:
    """A page whose part between the two marks of this name is this text."""
    begin, end = f"<!-- {name}: made by tools/make_floor_plan.py -->", f"<!-- end of {name} -->"
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{text}\n{end}{after}"


def pages() -> Iterator[tuple[Path, str]]:
    """Each page that shows the floor plan, with the text that it should have."""
    yield GUIDE, with_section(GUIDE.read_text(encoding="utf-8"), "packages", table())
    yield ARCHITECTURE, with_section(ARCHITECTURE.read_text(encoding="utf-8"), "picture", picture())


def violations() -> Iterator[str]:
    """Every import of a package that is not below the importing one, and of the top package.

    The top package is above all others, since its names come from all of them; only `__version__` may be imported.
    """
    heights = dict(zip(ORDER, itertools.count(), strict=False))
    for path in sorted(SOURCE.rglob("*.py")):
        here = package_name(path)
        for line, module in imports(path):
            top, *rest = module.split(".")
            if top == "opdefs":
                yield f"{path.relative_to(ROOT)}:{line} imports operators; dialects are found by entry point"
            elif top != "shapeinf" or here not in heights or rest == ["__version__"]:
                continue
            elif not rest or rest[0] not in heights:
                yield f"{path.relative_to(ROOT)}:{line} imports {module}, a name of the top package"
            elif heights[rest[0]] > heights[here]:
                yield f"{path.relative_to(ROOT)}:{line} imports {module}, which is above {here}"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for target, text in pages():
        target.write_text(text, encoding="utf-8")
