"""Changes random places of the source, one at a time, and lists the changes that no test notices.

    python tools/mutate.py [--seed N] [--count N] [--time SECONDS] [--list] [PATH...]

Everything happens in a copy of the tracked files in a temporary folder: the work tree stays as it is, also when the
program is killed. PATHs (files or folders of `shapeinf` and `opdefs`) limit the places. A seed always chooses the same
places of the same source; `--list` prints them and runs nothing.

For each change the tests that cover its file run until one fails (`find_tests`); a test file that fails without a
change is left out. A change that all of them pass survives: the exit status is 1 if there is one.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("shapeinf", "opdefs")
MOST_FILES = 12
"""Test files that run for one change at most."""
SECONDS_A_FILE = 240.0
"""A test file that takes longer, without or with the change, is stopped: the change may have made a loop endless."""
FOLDERS = {
    "expr": "properties",
    "constraints": "properties",
    "lattice": "properties",
    "opdefs": "differential",
    "costs": "cost",
}
"""The test folder of a package or module, where it has another name."""

WITHOUT_BEHAVIOR = ("repr", "strict")
"""Arguments whose value changes no result: what a repr shows, and whether `zip` checks lengths that are equal."""

COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
}
CONNECTIVES = {ast.And: ("and", "or"), ast.Or: ("or", "and")}


class Change(NamedTuple):
    """The bytes from `start` to `end` of a file, replaced by others."""

    start: int
    end: int
    line: int
    old: str
    new: str

    def apply(self, source: bytes) -> bytes:
        """The changed source."""
        return source[: self.start] + self.new.encode() + source[self.end :]


class Mutant(NamedTuple):
    """A change of a file, whose path is relative to the root."""

    path: str
    change: Change

    def __str__(self) -> str:
        """`path:line: old -> new`."""
        return f"{self.path}:{self.change.line}: {self.change.old!r} -> {self.change.new!r}"


# -- places ------------------------------------------------------------------------------------------------------------


class _Places(ast.NodeVisitor):
    """Collects the changes of one file; annotations, docstrings, assertions and imports for type checkers have none."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.offsets = [0]
        for line in source.splitlines(keepends=True):
            self.offsets.append(self.offsets[-1] + len(line))
        self.changes: list[Change] = []

    def start(self, node: ast.AST) -> int:
        return self.offsets[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self.offsets[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def replace(self, start: int, end: int, new: str) -> None:
        line = self.source.count(b"\n", 0, start) + 1
        self.changes.append(Change(start, end, line, self.source[start:end].decode(), new))

    def operator(self, left: ast.AST, right: ast.AST, names: tuple[str, str]) -> None:
        """Replace the operator between two operands."""
        between = self.source[self.end(left) : self.start(right)]
        at = between.find(names[0].encode())
        if at >= 0 and b"#" not in between:
            self.replace(self.end(left) + at, self.end(left) + at + len(names[0]), names[1])

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self.operator(left, right, COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        is_text = any(isinstance(e, ast.JoinedStr) or _is_text(e) for e in (node.left, node.right))
        if type(node.op) in ARITHMETIC and not is_text:
            self.operator(node.left, node.right, ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.operator(left, right, CONNECTIVES[type(node.op)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self.replace(self.start(node), self.start(node.operand), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.replace(self.start(node), self.end(node), str(not node.value))
        elif isinstance(node.value, int):
            self.replace(self.start(node), self.end(node), str(node.value + 1))

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.replace(self.start(node), self.end(node), "pass")
        if not _is_text(node.value):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """Annotations are no places."""

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in WITHOUT_BEHAVIOR:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Assertions are for type checkers."""


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def find_changes(source: bytes) -> list[Change]:
    """All changes of a source that still compile, in order.

    >>> [(change.old, change.new) for change in find_changes(b"x = a < 2")]
    [('<', '<='), ('2', '3')]
    """
    return [change for change in _places(source) if _compiles(change.apply(source))]


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def choose(root: Path, seed: int, count: int, paths: Sequence[str] = ()) -> list[Mutant]:
    """Random changes of tracked source files, each place of the source as likely as any other."""
    draw = random.Random(seed)
    files = [path for path in tracked_files(root) if _is_source(path, paths)]
    sources = {path: (root / path).read_bytes() for path in files}
    drawn = [Mutant(path, change) for path in files for change in _places(sources[path])]
    draw.shuffle(drawn)
    return list(islice((m for m in drawn if _compiles(m.change.apply(sources[m.path]))), count))


def _places(source: bytes) -> list[Change]:
    """The changes of a source, some of which may not compile."""
    places = _Places(source)
    places.visit(ast.parse(source))
    return sorted(places.changes)


def _is_source(path: str, paths: Sequence[str]) -> bool:
    inside = not paths or any(path == p or path.startswith(p.rstrip("/") + "/") for p in paths)
    return path.endswith(".py") and path.split("/")[0] in SOURCES and inside


def tracked_files(root: Path) -> list[str]:
    """The files that git knows, in order."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    return sorted(path for path in listed.decode().split("\0") if path and (root / path).is_file())


# -- tests -------------------------------------------------------------------------------------------------------------


def find_tests(root: Path, path: str) -> list[str]:
    """The test files that cover a source file, the most relevant group first, the shortest files of a group first.

    They are those that import it or a name of it, its doctests and those of a folder with its name, those that name an
    operator that it defines, and those of its package.
    """
    module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    package = module.rpartition(".")[0]
    exported = {f"{package}.{name}" for name in _exports(root / path, root / package.replace(".", "/"), module)}
    source = (root / path).read_text(encoding="utf-8")
    operators = re.findall(r"""^@?\w+(?:\.\w+)*\("(\w+)\"""", source, re.MULTILINE)
    names_operator = re.compile(rf"\b(?:{'|'.join(operators)})\b" if operators else r"(?!)")
    parts = module.split(".")
    own = {parts[-1], FOLDERS.get(parts[-1], "")}
    folders = {*parts[1:], *(FOLDERS.get(part, "") for part in parts)}
    groups: tuple[list[str], ...] = ([], [path] if ">>>" in source else [], [], [])
    for test in sorted((root / "tests").rglob("test_*.py"), key=lambda test: (test.stat().st_size, test)):
        imported = set(_imports(test))
        name = test.relative_to(root).as_posix()
        if module in imported or exported & imported:
            groups[0].append(name)
        elif own & set(test.parent.relative_to(root).parts):
            groups[1].append(name)
        elif names_operator.search(test.read_text(encoding="utf-8")):
            groups[2].append(name)
        elif folders & set(test.parent.relative_to(root).parts):
            groups[3].append(name)
    return [test for group in groups for test in group][:MOST_FILES]


def _exports(path: Path, package: Path, module: str) -> set[str]:
    """The names that the package of a module imports from it."""
    init = package / "__init__.py"
    if path.name == "__init__.py" or not init.is_file():
        return set()
    imports = [node for node in ast.walk(ast.parse(init.read_bytes())) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in imports if node.module == module for alias in node.names}


def _imports(test: Path) -> Iterator[str]:
    """The modules that a test file imports, and the names in them."""
    for node in ast.walk(ast.parse(test.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class Runner:
    """Runs test files in a copy of the tree, and remembers which of them pass without a change."""

    def __init__(self, copy: Path, python: str = sys.executable) -> None:
        """`copy` has all tracked files."""
        self.copy = copy
        self.python = python
        self.seconds: dict[str, float] = {}
        """The time of each test file that passes."""
        self.failing: set[str] = set()

    def find_killer(self, mutant: Mutant, deadline: float) -> tuple[str | None, list[str]]:
        """The first test file that fails with a change, if any, and those that pass."""
        path = self.copy / mutant.path
        source = path.read_bytes()
        passed: list[str] = []
        for test in find_tests(self.copy, mutant.path):
            if not self.passes_unchanged(test):
                continue
            if time.monotonic() > deadline:
                break
            path.write_bytes(mutant.change.apply(source))
            try:
                killed = not self.passes(test, 10 + 4 * self.seconds[test])
            finally:
                path.write_bytes(source)
            if killed:
                return test, passed
            passed.append(test)
        return None, passed

    def passes_unchanged(self, test: str) -> bool:
        """Whether a test file passes as it is, in time."""
        if test not in self.seconds and test not in self.failing:
            start = time.monotonic()
            if self.passes(test, SECONDS_A_FILE):
                self.seconds[test] = time.monotonic() - start
            else:
                self.failing.add(test)
        return test not in self.failing

    def passes(self, test: str, seconds: float) -> bool:
        """Whether a test file passes within this time; one without tests does."""
        command = [self.python, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test]
        environment = {**os.environ, "PYTHONPATH": str(self.copy), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            run = subprocess.run(command, cwd=self.copy, env=environment, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return run.returncode in (0, 5)


def copy_tree(root: Path, target: Path) -> None:
    """Copy all tracked files."""
    for path in tracked_files(root):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, target / path)


def run(root: Path, mutants: Sequence[Mutant], seconds: float) -> list[Mutant]:
    """The survivors among the changes that can be tried in this time; prints each result."""
    deadline = time.monotonic() + seconds
    survivors, tried = [], 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy_tree(root, Path(folder))
        runner = Runner(Path(folder))
        for mutant in mutants:
            killer, passed = runner.find_killer(mutant, deadline)
            if killer is None and time.monotonic() > deadline:
                break
            tried += 1
            print(f"{'SURVIVES' if killer is None else 'killed  '} {mutant}", end="  ")
            print(f"by {killer}" if killer else f"passed: {', '.join(passed) or 'no test covers it'}", flush=True)
            survivors += [mutant] if killer is None else []
    print(f"{tried} changes, {len(survivors)} survive; {len(mutants) - tried} were not tried in this time")
    return survivors


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or folders to change (default: all)")
    parser.add_argument("--seed", type=int, default=int(time.time() // 86_400), help="default: the day")
    parser.add_argument("--count", type=int, default=100, help="the number of changes (default: %(default)s)")
    parser.add_argument("--time", type=float, default=6 * 3600.0, metavar="SECONDS", help="default: six hours")
    parser.add_argument("--list", action="store_true", help="print the changes and run nothing")
    options = parser.parse_args()
    mutants = choose(ROOT, options.seed, options.count, options.paths)
    if options.list:
        print(*mutants, sep="\n")
        return 0
    print(f"seed {options.seed}, {len(mutants)} changes", flush=True)
    return 1 if run(ROOT, mutants, options.time) else 0


if __name__ == "__main__":
    raise SystemExit(main())
