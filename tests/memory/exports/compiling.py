"""Headers compiled with every warning on, and run."""

from __future__ import annotations

import shutil
import subprocess
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from shapeinf.memory.exports import MemoryExport, c_header

COMPILERS = {
    "c99": ("gcc", ["-std=c99", "-x", "c"]),
    "portable": ("gcc", ["-std=c99", "-x", "c", "-DM_PORTABLE_MATH", "-fsanitize=undefined", "-fno-sanitize-recover"]),
    "c++": ("g++", ["-std=c++11", "-x", "c++"]),
}
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion"]


def printing(expression: str) -> str:
    """A statement that prints a 64-bit number."""
    return f'printf("%lld ", (long long)({expression}));'


def compiled(text: str, statements: Iterable[str], folder: Path, kind: str = "c99") -> Path:
    """The program whose `main` has these statements; the header is included twice."""
    compiler, options = COMPILERS[kind]
    if shutil.which(compiler) is None:
        warnings.warn(f"{compiler} is not there: the C header is not tested with it", stacklevel=2)
        pytest.skip(f"{compiler} is not there")
    (folder / "m.h").write_text(text, encoding="utf-8")
    includes = ['#include "m.h"', '#include "m.h"', "#include <stdio.h>"]
    lines = [*includes, "int main(void)", "{", *statements, "return 0;", "}", ""]
    (folder / "main.c").write_text("\n".join(lines), encoding="utf-8")
    command = [compiler, *options, *STRICT, "main.c", "-o", "main"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "main"


def values(
    actual: MemoryExport, functions: Iterable[str], bindings: Sequence[tuple[int, ...]], folder: Path, kind: str = "c99"
) -> list[list[int]]:
    """The results of the functions of a header with the prefix `m`: a list of numbers for each binding."""
    dims = range(len(actual.dims))
    passed = ", ".join(f"(int64_t)v[{i}]" for i in dims)
    reads = "".join(f' && scanf("%lld", &v[{i}]) == 1' for i in dims)
    prints = [printing(f"m_{name}({passed})") for name in functions]
    loop = [f"while (1{reads}) {{", *prints, 'puts("");', "}"]
    program = compiled(c_header(actual, "m"), [f"long long v[{len(dims)}];", *loop], folder, kind)
    lines = "".join(" ".join(map(str, binding)) + "\n" for binding in bindings)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    printed = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(printed) == len(bindings)
    return printed
