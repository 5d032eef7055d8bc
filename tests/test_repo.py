"""Rules about the source itself: the engine knows no operator, arrows point one way, files stay short."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import onnx.defs
import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = sorted((ROOT / "shapeinf").rglob("*.py"))
SOURCES = [*ENGINE, *sorted((ROOT / "opdefs").rglob("*.py"))]
MAX_LINES = 600

OPERATORS = frozenset(schema.name for schema in onnx.defs.get_all_schemas())
# Functions of the dim grammar that exporters write into names, as sympy prints them: `Max(1, s3)`.
DIM_FUNCTIONS = frozenset({"Max", "Min", "Mod"})

# One package a height: each may import those before it, never those after it.
ORDER = (
    "texts",
    "diagnostics",
    "errors",
    "sharing",
    "expr",
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
    "memory",
    "result",
    "api",
    "edit",
    "checks",
    "runtime",
    "report",
    "cli",
)
HEIGHTS = {name: height for height, name in enumerate(ORDER)}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def literals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings in the code with their lines; not docstrings, not the names in `__all__`."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(id(node.value))
        elif isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            skipped.update(id(child) for child in ast.walk(node.value))
        elif isinstance(node, ast.JoinedStr):
            skipped.update(id(child) for child in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name


@pytest.mark.parametrize("path", [p for p in ENGINE if "formats" not in p.parts], ids=name_of)
def test_the_engine_names_no_operator(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [(line, text) for line, text in literals(tree) if text in OPERATORS - DIM_FUNCTIONS]
    assert not found, f"{name_of(path)} names operators: {found}; a rule belongs into opdefs/"


@pytest.mark.parametrize("path", ENGINE, ids=name_of)
def test_the_engine_imports_no_operators_and_nothing_above_it(path: Path) -> None:
    here = path.relative_to(ROOT / "shapeinf").parts[0].removesuffix(".py")
    for line, module in imports(ast.parse(path.read_text(encoding="utf-8"))):
        top, *rest = module.split(".")
        assert top != "opdefs", f"{name_of(path)}:{line} imports operators; they are found by entry point"
        if top == "shapeinf" and rest and here in HEIGHTS:
            assert HEIGHTS[rest[0]] <= HEIGHTS[here], f"{name_of(path)}:{line}: {here} must not import {module}"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_files_are_short(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines < MAX_LINES, f"{name_of(path)} has {lines} lines and wants a split"


def test_both_packages_are_typed() -> None:
    assert (ROOT / "shapeinf" / "py.typed").exists()
    assert (ROOT / "opdefs" / "py.typed").exists()


def test_the_public_api_is_what_all_says() -> None:
    import shapeinf

    assert sorted(shapeinf.__all__) == list(shapeinf.__all__)
    assert all(hasattr(shapeinf, name) for name in shapeinf.__all__)


def test_every_package_has_its_place_in_the_guide() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in (ROOT / "shapeinf").glob("*/__init__.py")]
    assert set(packages) <= set(HEIGHTS)
    assert not [name for name in packages if f"`shapeinf/{name}`" not in guide]


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert not [
        page.name for page in (ROOT / "docs").glob("*.md") if page.name != "index.md" and f"({page.name})" not in index
    ]


def test_the_page_of_soundness_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "dev" / "soundness.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|tools)/[^`]+)`", page)
    assert len(named) > 30
    assert not [path for path in named if not list(ROOT.glob(path))]


def test_the_page_of_layouts_names_all_that_is_public() -> None:
    import shapeinf.layout

    page = (ROOT / "docs" / "layout.md").read_text(encoding="utf-8")
    assert not [name for name in shapeinf.layout.__all__ if name not in page]
