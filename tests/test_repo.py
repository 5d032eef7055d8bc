"""Rules about the source itself: the engine knows no operator, arrows point one way, files stay short."""

from __future__ import annotations

import ast
import importlib.util
import pydoc
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import networkx as nx
import onnx.defs
import pytest

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent
ENGINE = sorted((ROOT / "shapeinf").rglob("*.py"))
SOURCES = [*ENGINE, *sorted((ROOT / "opdefs").rglob("*.py"))]
MAX_LINES = 600  # at 400 lines ask whether a file has two subjects; past this it has

OPERATORS = frozenset(schema.name for schema in onnx.defs.get_all_schemas())
# Functions of the dim grammar that exporters write into names, as sympy prints them: `Max(1, s3)`.
DIM_FUNCTIONS = frozenset({"Max", "Min", "Mod"})


def _floor_plan() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_floor_plan", ROOT / "tools" / "make_floor_plan.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FLOOR_PLAN = _floor_plan()


TOP_LEVEL_FILES = (
    *(".gitignore", ".pre-commit-hooks.yaml", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE"),
    *("MANIFEST.in", "Makefile", "README.md", "RELEASE.md", "SECURITY.md", "action.yml", "noxfile.py"),
    *("pyproject.toml", "setup.py"),
)
TOP_LEVEL_FOLDERS = (".ci", ".github", "docs", "examples", "opdefs", "shapeinf", "tests", "tools")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def literals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings in the code with their lines; not docstrings, not the public names in `__all__` and `_MODULES`."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(id(node.value))
        elif isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id in ("__all__", "_MODULES") for t in node.targets
        ):
            skipped.update(id(child) for child in ast.walk(node.value))
        elif isinstance(node, ast.JoinedStr):
            skipped.update(id(child) for child in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


NAMES_OPERATORS = {"formats", "passes", "runtime_messages"}
"""Packages that name operators: those of files, of passes over them, and what runtimes call them in messages."""


def violations(paths: Iterable[Path], find: Callable[[Path], list[T]]) -> dict[str, list[T]]:
    """What a function finds in each of these files, without the files in which it finds nothing."""
    return {name_of(path): items for path in paths if (items := find(path))}


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_the_engine_names_no_operator() -> None:
    """A rule of an operator belongs into opdefs/."""
    engine = [path for path in ENGINE if not NAMES_OPERATORS & set(path.parts)]
    names = OPERATORS - DIM_FUNCTIONS
    assert not violations(engine, lambda path: [item for item in literals(parse(path)) if item[1] in names])


def test_packages_import_only_those_below_them() -> None:
    assert list(FLOOR_PLAN.violations()) == []


def test_every_package_has_its_place_in_the_order() -> None:
    tops = {path.relative_to(ROOT / "shapeinf").parts[0].removesuffix(".py") for path in ENGINE} - {"__init__"}
    assert tops == set(FLOOR_PLAN.ORDER)


def test_no_two_packages_import_each_other() -> None:
    assert nx.is_directed_acyclic_graph(FLOOR_PLAN.arrows())


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert FLOOR_PLAN.circles() == []


def test_the_pages_show_the_floor_plan_of_today() -> None:
    stale = [page.name for page, text in FLOOR_PLAN.pages() if page.read_text(encoding="utf-8") != text]
    assert not stale, f"{stale}: run python tools/make_floor_plan.py"


def test_files_are_short() -> None:
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert not {name: count for name, count in lines.items() if count >= MAX_LINES}, "these files have two subjects"


def test_only_known_entries_are_tracked_at_the_root() -> None:
    """Scratch files of other tools have been committed by mistake."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        warnings.warn("this is no clone, or git is missing: tracked files are not checked", stacklevel=1)
        pytest.skip("this is no clone, or git is missing")
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {name.partition("/")[0] for name in listed.split("\0") if name} == {*TOP_LEVEL_FILES, *TOP_LEVEL_FOLDERS}


def test_both_packages_are_typed() -> None:
    assert (ROOT / "shapeinf" / "py.typed").exists()
    assert (ROOT / "opdefs" / "py.typed").exists()


def test_all_lists_the_public_api() -> None:
    import shapeinf

    assert sorted(shapeinf.__all__) == list(shapeinf.__all__)
    assert all(hasattr(shapeinf, name) for name in shapeinf.__all__)


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert not [
        page.name for page in (ROOT / "docs").glob("*.md") if page.name != "index.md" and f"({page.name})" not in index
    ]


ENTRY_POINT_AND_METADATA = {"shapeinf.opdefs", "shapeinf.assumptions"}
"""Names that are no Python objects: the group of entry points, and a key of a file's metadata."""
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
# Parts of paths that stand for any name in the guides, and names with a version, which are JSON schemas.
PLACEHOLDERS = re.compile(r"NAME|DIALECT")
MODULES = re.compile(r"`((?:shapeinf|opdefs)(?:\.\w+)+)(?=[`(])")
PATHS = re.compile(r"`((?:shapeinf|opdefs|tests|tools|docs|examples)/[^`]+)`")


def test_pages_name_files_that_exist() -> None:
    def missing(page: Path) -> list[str]:
        paths = [path for path in PATHS.findall(page.read_text(encoding="utf-8")) if not PLACEHOLDERS.search(path)]
        return [path for path in paths if not list(ROOT.glob(path.partition("::")[0]))]

    assert not violations(PAGES, missing)


def test_pages_name_modules_and_functions_that_exist() -> None:
    def missing(page: Path) -> list[str]:
        names = set(MODULES.findall(page.read_text(encoding="utf-8"))) - ENTRY_POINT_AND_METADATA
        return [name for name in sorted(names) if pydoc.locate(name) is None]

    assert not violations(PAGES, missing)


def test_the_page_of_soundness_names_its_tests() -> None:
    page = (ROOT / "docs" / "dev" / "soundness.md").read_text(encoding="utf-8")
    assert len([path for path in PATHS.findall(page) if path.startswith(("tests/", "tools/"))]) > 30


def test_the_page_of_layouts_names_all_that_is_public() -> None:
    import shapeinf.layout

    page = (ROOT / "docs" / "layout.md").read_text(encoding="utf-8")
    assert not [name for name in shapeinf.layout.__all__ if name not in page]


def test_the_citation_has_the_version_of_the_package() -> None:
    import shapeinf

    assert f"\nversion: {shapeinf.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


OPDEFS = sorted((ROOT / "opdefs").rglob("*.py"))
OPERANDS = ROOT / "opdefs" / "rules" / "operands.py"
NO_SIZES = frozenset(
    {
        *("rank", "step", "stride", "scale", "downscale_factor", "groups", "num_partitions"),
        *("count", "divisor", "most", "taps", "unknown", "alpha", "beta"),
    }
)
"""Names of numbers that are no sizes of axes, which any module may compare with 1."""
COMPARE_WITH_ONE = {
    "opdefs/rules/contents/floats.py": "denominators and exponents of fractions",
    "opdefs/rules/contents/progressions.py": "the axes of size 1 of known contents, which have no step",
}
"""Modules that compare other numbers with 1, and the reason."""


def comparisons_with_one(tree: ast.Module) -> Iterator[int]:
    """The lines that test a size for 1: `d == 1`, `prove_eq(d, 1)`, `prove_le(2, d)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            numbers = [getattr(argument, "value", None) for argument in node.args]
            is_proof = node.func.attr == "prove_eq" and 1 in numbers
            if is_proof or (node.func.attr == "prove_le" and numbers[:1] == [2]):
                yield node.lineno
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            right = node.comparators[0]
            is_unit = isinstance(right, ast.Constant) and type(right.value) is int and right.value == 1
            is_number = isinstance(node.left, (ast.Call, ast.Attribute))  # len(x) and x.rank
            is_number = is_number or (isinstance(node.left, ast.Name) and node.left.id in NO_SIZES)
            if is_unit and not is_number:
                yield node.lineno


def test_only_one_module_tests_a_size_for_1() -> None:
    paths = [path for path in OPDEFS if path != OPERANDS and name_of(path) not in COMPARE_WITH_ONE]
    lines = violations(paths, lambda path: list(comparisons_with_one(parse(path))))
    assert not lines, f"call is_unit, prove_unit or require_broadcast_size of {OPERANDS.name}"


RULES_ON_OPERANDS = ("require_", "constrain_", "check_", "read_", "requested_")


def test_a_rule_about_an_operand_has_one_name_and_one_place() -> None:
    """A rule that two dialects need is in `opdefs/rules`; rules that differ have different names."""
    packages: dict[str, set[str]] = {}
    for path in OPDEFS:
        for node in parse(path).body:
            name = node.name.lstrip("_") if isinstance(node, ast.FunctionDef) else ""
            if name.startswith(RULES_ON_OPERANDS):
                packages.setdefault(name, set()).add(path.relative_to(ROOT / "opdefs").parts[0])
    assert {name: places for name, places in packages.items() if len(places) > 1} == {}
