"""Record the values of TensorFlow for some expressions of each element type, so that tests need no TensorFlow.

    python -m tests.differential.expressions.record

The file has the programs themselves: other draws of later versions do not make it stale.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.differential.expressions import tf_program
from tests.differential.expressions.campaign import programs
from tests.differential.expressions.drawing import TYPES, Node, Program

PATH = Path(__file__).with_name("tensorflow.json.gz")
EXPRESSIONS = 60
"""Expressions of each type."""


def record() -> None:
    """Write the file."""
    entries = []
    for dtype in TYPES:
        for program in programs(dtype, 0, EXPRESSIONS):
            values = [[_to_json(value) for value in values] for values in tf_program.run(program)]
            entries.append([dtype, program.nodes, program.bindings, values])
    PATH.write_bytes(gzip.compress(json.dumps(entries, separators=(",", ":")).encode(), 9, mtime=0))


def _to_json(value: Any) -> Any:
    """A value; an infinity or NaN as text, which JSON does not have."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def read() -> Iterator[tuple[str, Program, list[list[Any]]]]:
    """The element type, the program, and the values of all nodes at each binding."""
    for dtype, nodes, bindings, values in json.loads(gzip.decompress(PATH.read_bytes())):
        listed = [Node(op, tuple(operands), kind, value) for op, operands, kind, value in nodes]
        numbers = [[float(v) if isinstance(v, str) else v for v in row] for row in values]
        yield dtype, Program(listed, [(a, b) for a, b in bindings]), numbers


if __name__ == "__main__":
    record()
