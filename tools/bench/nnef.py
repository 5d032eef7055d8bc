"""NNEF: from a path to all shapes, against plain tokenizing and the nnef package, medians of CPU time in one process.

    python tools/bench/nnef.py [MODELS...] [--operations 5000] [--repeats 5]

Without models it writes flat documents: one with this number of operations, one with four times as many, to see that
the time is linear in the size. `tokenizing` is what `re` takes to find the tokens of the same text and nothing else;
`nnef` parses and infers shapes with the nnef package, which is written in C++, where it is installed.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Not the folder of this file, whose name is that of the package it imports, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from bench.timing import medians  # noqa: E402

from shapeinf import infer_shapes  # noqa: E402

_TOKEN = re.compile(
    r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|'[^']*'|\"[^\"]*\"|->|[<>=!]=|&&|\|\||\s+|#[^\n]*|."
)


def ours(path: str) -> Any:
    """Parse, check, evaluate and infer with shapeinf."""
    return {name: info.shape for name, info in infer_shapes(path).tensors.items()}


def tokenizing(path: str) -> int:
    """Find the tokens of the text."""
    return sum(1 for _ in _TOKEN.finditer(Path(path).read_text(encoding="utf8")))


def package(path: str) -> Any:
    """Parse and infer with the nnef package."""
    import nnef

    graph = nnef.parse_file(path)
    nnef.infer_shapes(graph)
    return {name: tensor.shape for name, tensor in graph.tensors.items()}


def flat_document(operations: int) -> str:
    """A flat document as exporters write it: blocks of convolution, activation, pooling and a skip."""
    lines = [
        "version 1.0;",
        "",
        "graph G( input ) -> ( output )",
        "{",
        "    input = external(shape = [1, 64, 56, 56]);",
    ]
    skip = "input"
    for i in range(operations // 6):
        size = 1 + 2 * (i % 3)
        pad = i % 3
        lines += [
            f"    filter{i} = variable(shape = [64, 64, {size}, {size}], label = 'block{i}/conv/filter');",
            f"    bias{i} = variable(shape = [1, 64], label = 'block{i}/conv/bias');",
            f"    conv{i} = conv({skip}, filter{i}, bias{i}, padding = [({pad}, {pad}), ({pad}, {pad})],"
            " border = 'constant', stride = [1, 1], dilation = [1, 1], groups = 1);",
            f"    relu{i} = relu(conv{i});",
            f"    pool{i} = max_pool(relu{i}, size = [1, 1, 3, 3], padding = [(0, 0), (0, 0), (1, 1), (1, 1)],"
            " border = 'ignore', stride = [1, 1, 1, 1]);",
            f"    add{i} = add(pool{i}, {skip});",
        ]
        skip = f"add{i}"
    return "\n".join([*lines, f"    output = copy({skip});", "}", ""])


def main() -> None:
    """Print one line per document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="text files")
    parser.add_argument("--operations", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")
    options = parser.parse_args()
    ways: dict[str, Callable[[str], Any]] = {"shapeinf": ours, "tokenizing": tokenizing}
    try:
        import nnef  # noqa: F401
    except ImportError:
        print("the nnef package is not installed")
    else:
        ways["nnef"] = package
    with tempfile.TemporaryDirectory() as folder:
        for path in options.models or _write_documents(folder, [options.operations, 4 * options.operations]):
            text = Path(path).read_text(encoding="utf8")
            times = medians(path, ways, options.repeats)
            base = times["shapeinf"]
            lines = text.count(";") or 1
            ratios = "  ".join(f"{base / taken:5.2f}x {name}" for name, taken in times.items() if name != "shapeinf")
            each = f"{base * 1e3:8.1f} ms, {base / lines * 1e6:5.1f} us each"
            print(f"{os.path.basename(path)[:32]:32} {lines:7} statements {each}: {ratios}")


def _write_documents(folder: str, sizes: list[int]) -> list[str]:
    paths = []
    for size in sizes:
        path = Path(folder) / f"flat{size}.nnef"
        path.write_text(flat_document(size), encoding="utf8")
        paths.append(str(path))
    return paths


if __name__ == "__main__":
    main()
