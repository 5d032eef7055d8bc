"""Records which tests call each function of the source: a plugin of pytest, and what reads its files.

    python -m pytest -p tests_by_function    (with this folder in PYTHONPATH, and TESTS_BY_FUNCTION=FOLDER)

Each process of the tests writes a JSON file into the folder. A function is `path:line`, with the line on which it
starts (its first decorator, if it has any); its tests are the fastest of each test file, of those that passed.
"""

from __future__ import annotations

import ast
import cProfile
import heapq
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

FOLDER = "TESTS_BY_FUNCTION"
"""The environment variable with the folder of the files."""
SOURCES = ("shapeinf", "opdefs")
TESTS_A_FILE = 4
"""The tests of a test file that are kept for a function."""
SLOWEST = 20.0
"""Seconds after which a test is not recorded."""

Calls = dict[str, dict[str, list[tuple[float, str]]]]
"""The seconds and ids of tests, by function and test file."""


class Recorder:
    """The plugin: profiles each test, and remembers it for all functions that it calls."""

    def __init__(self, root: Path, folder: Path) -> None:
        """`root` contains the source and the tests."""
        self.roots = tuple(f"{root}/{source}/" for source in SOURCES)
        self.offset = len(str(root)) + 1
        self.folder = folder
        self.calls: dict[str, dict[str, list[tuple[float, str]]]] = defaultdict(lambda: defaultdict(list))
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        profile = cProfile.Profile(subcalls=False, builtins=False)
        start = time.perf_counter()
        profile.enable()
        try:
            result = yield
        finally:
            profile.disable()
        seconds = time.perf_counter() - start
        if item.nodeid not in self.failed and seconds < SLOWEST:
            codes = (entry.code for entry in profile.getstats() if not isinstance(entry.code, str))
            self.record(item.nodeid, seconds, (f"{code.co_filename}:{code.co_firstlineno}" for code in codes))
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Skipped tests call what they need to know that they are skipped."""
        if not report.passed:
            self.failed.add(report.nodeid)

    def record(self, test: str, seconds: float, functions: Iterable[str]) -> None:
        """Remember a test for these functions."""
        file = test.split("::")[0]
        for function in functions:
            if function.startswith(self.roots):
                tests = self.calls[function[self.offset :]][file]
                heapq.heappush(tests, (-seconds, test))
                if len(tests) > TESTS_A_FILE:
                    heapq.heappop(tests)

    def pytest_sessionfinish(self) -> None:
        if self.calls:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / f"{os.getpid()}.json").write_text(json.dumps(self.calls), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Profile where the folder is named."""
    if os.environ.get(FOLDER):
        config.pluginmanager.register(Recorder(config.rootpath, Path(os.environ[FOLDER])))


def read_calls(folder: Path) -> Calls:
    """What all processes have recorded."""
    calls: Calls = defaultdict(lambda: defaultdict(list))
    for path in sorted(folder.glob("*.json")):
        for function, files in json.loads(path.read_text(encoding="utf-8")).items():
            for file, tests in files.items():
                calls[function][file] += [(-seconds, test) for seconds, test in tests]
    return calls


def find_callers(calls: Calls, path: str, source: bytes, line: int, most: int) -> list[str]:
    """The tests that call the function with this line, the fastest first, at most `most` and of many test files.

    For a line outside of functions, and one in a function that no test calls, they are those of the whole file.
    """
    functions = [f"{path}:{start}" for start in _functions_with(ast.parse(source), line)]
    own = next((calls[function] for function in functions if function in calls), None)
    return _fastest([own] if own else [calls[name] for name in calls if name.startswith(f"{path}:")], most)


def _functions_with(tree: ast.AST, line: int) -> list[int]:
    """The first lines of the functions that contain a line, the innermost first."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    starts = [(min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]), node) for node in nodes]
    return sorted((start for start, node in starts if start <= line <= (node.end_lineno or start)), reverse=True)


def _fastest(functions: Sequence[dict[str, list[tuple[float, str]]]], most: int) -> list[str]:
    """One test of each file in turn, the fastest files first."""
    files: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for tests_by_file in functions:
        for file, tests in tests_by_file.items():
            files[file] = sorted({*files[file], *tests})[:TESTS_A_FILE]
    turns = [sorted(tests[turn] for tests in files.values() if turn < len(tests)) for turn in range(TESTS_A_FILE)]
    return [test for turn in turns for _, test in turn][:most]
