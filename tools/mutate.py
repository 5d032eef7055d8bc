"""Changes random places of the source, one at a time, and lists the changes that no test notices.

    python tools/mutate.py [--seed N] [--count N] [--time SECONDS] [--calls FOLDER] [--list] [PATH...]

Everything happens in a copy of the tracked files in a temporary folder: the work tree stays as it is, also when the
program is killed. PATHs (files or folders of `shapeinf` and `opdefs`) limit the places. A seed always chooses the same
places of the same source; `--list` prints them and runs nothing.

First all tests run once, to record which functions each of them calls (`tests_by_function.py`). For each change the
fastest tests that call its function run until one fails, then their test files with all cases, for some minutes. A
change that all of them pass survives: the exit status is 1 if there is one. A line outside of functions, such as a row
of a table, is tried with the tests that call a function of its file; others may depend on it.
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
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import tests_by_function
from tests_by_function import Calls, find_callers, read_calls

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("shapeinf", "opdefs")
MOST_TESTS = 60
"""Tests that run for one change at most."""
SECONDS = 300.0
"""Tests that take longer together are stopped: the change may have made a loop endless."""
SECONDS_OF_FILES = 120.0
"""After this time of test files a change survives."""
UNUSABLE = "tests that cannot be collected"
TOO_LONG = "a limit of time"

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
    column: int
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
        """`path:line:column: old -> new`."""
        return f"{self.path}:{self.change.line}:{self.change.column}: {self.change.old!r} -> {self.change.new!r}"


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
        column = start - self.offsets[line - 1] + 1
        self.changes.append(Change(start, end, line, column, self.source[start:end].decode(), new))

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


class Runner:
    """Runs tests in a copy of the tree."""

    def __init__(self, copy: Path, calls: Calls, python: str = sys.executable) -> None:
        """`copy` has all tracked files; `calls` are the tests of each function."""
        self.copy = copy
        self.calls = calls
        self.python = python
        self.writes = 0
        self.functions_of_files = Counter(file for files in calls.values() for file in files)

    def find_killer(self, mutant: Mutant) -> tuple[str | None, str]:
        """The first test that fails with a change, if any, and a note on the tests otherwise."""
        path = self.copy / mutant.path
        source = path.read_bytes()
        tests = find_callers(self.calls, mutant.path, source, mutant.change.line, MOST_TESTS)
        if not tests:
            return None, "no test covers it"
        self.write(path, mutant.change.apply(source))
        try:
            killer = self.first_failure(tests, SECONDS) or self.first_failure_of_files(tests)
        finally:
            self.write(path, source)
        if killer == UNUSABLE and self.first_failure(tests, SECONDS) == UNUSABLE:
            return None, UNUSABLE
        return killer, f"{len(tests)} tests pass"

    def write(self, path: Path, source: bytes) -> None:
        """Write a file with a time of its own: bytecode is valid for a second and a size."""
        path.write_bytes(source)
        self.writes += 1
        os.utime(path, (self.writes, self.writes))

    def first_failure_of_files(self, tests: Sequence[str]) -> str | None:
        """The first failure in the files of these tests, in the time for them; what calls few functions runs first."""
        files = {test.split("::")[0] for test in tests}
        killer = self.first_failure(sorted(files, key=lambda f: (self.functions_of_files[f], f)), SECONDS_OF_FILES)
        return None if killer == TOO_LONG else killer

    def first_failure(self, tests: Sequence[str], seconds: float) -> str | None:
        """The first of these tests that fails; None if all pass."""
        command = [self.python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=no", *tests]
        try:
            run = subprocess.run(command, cwd=self.copy, env=self.environment(), capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return TOO_LONG
        if run.returncode in (0, 5):
            return None
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout.decode(errors="replace"), re.MULTILINE)
        return failed[1] if failed else UNUSABLE

    def environment(self) -> dict[str, str]:
        """Variables with which tests read the copy."""
        paths = os.pathsep.join([str(self.copy), str(ROOT / "tools")])
        kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {**kept, "PYTHONPATH": paths, "HYPOTHESIS_PROFILE": "quick"}


def record_calls(copy: Path, folder: Path) -> None:
    """Run all tests of a copy of the tree, and write which functions they call into a folder."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-p", "tests_by_function"]
    environment = {**Runner(copy, {}).environment(), tests_by_function.FOLDER: str(folder)}
    subprocess.run(command, cwd=copy, env=environment, stdout=subprocess.DEVNULL, check=False)


def copy_tree(root: Path, target: Path) -> None:
    """Copy all tracked files."""
    for path in tracked_files(root):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, target / path)


def run(root: Path, mutants: Sequence[Mutant], seconds: float, recorded: Path | None = None) -> list[Mutant]:
    """The survivors among the changes that can be tried in this time; prints each result.

    `recorded` is a folder with the calls of all tests; they are written into it if it is missing.
    """
    deadline = time.monotonic() + seconds
    survivors, tried = [], 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "copy"
        copy_tree(root, copy)
        recorded = recorded or Path(folder) / "calls"
        if not recorded.is_dir():
            print("recording which functions each test calls", flush=True)
            record_calls(copy, recorded)
        runner = Runner(copy, read_calls(recorded))
        for mutant in mutants:
            if time.monotonic() > deadline:
                break
            killer, note = runner.find_killer(mutant)
            tried += 1
            print(f"{'SURVIVES' if killer is None else 'killed  '} {mutant}", end="  ")
            print(f"by {killer}" if killer else note, flush=True)
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
    parser.add_argument("--calls", type=Path, metavar="FOLDER", help="keep what is recorded, and use it again")
    parser.add_argument("--list", action="store_true", help="print the changes and run nothing")
    options = parser.parse_args()
    mutants = choose(ROOT, options.seed, options.count, options.paths)
    if options.list:
        print(*mutants, sep="\n")
        return 0
    print(f"seed {options.seed}, {len(mutants)} changes", flush=True)
    return 1 if run(ROOT, mutants, options.time, options.calls) else 0


if __name__ == "__main__":
    raise SystemExit(main())
