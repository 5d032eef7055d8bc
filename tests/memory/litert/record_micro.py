"""Records what TensorFlow Lite Micro allocates for single operators: `python -m tests.memory.litert.record_micro`.

The models are random ones that LiteRT runs, with the sizes of its outputs; inputs that decide sizes are constants.
`micro.json` has the bytes of the head and of the tail by operator and seed; what the interpreter refuses is omitted.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path

import attrs

from tests.opdefs.tflite.case import Case, Operand
from tests.opdefs.tflite.draws import draw_case
from tests.opdefs.tflite.litert import build
from tests.opdefs.tflite.record import RECORDED as RUNS

RECORDED = Path(__file__).with_name("micro.json")
MOST = 2
"""Models of an operator; those of BATCH_MATMUL are all that were drawn."""


def _constant(operand: Operand | None) -> Operand | None:
    if operand is None or operand.values is None:
        return operand
    return attrs.evolve(operand, constant=True)


def case_of(name: str, seed: int, outputs: list[list[int]]) -> Case:
    """The case of a seed with all its sizes stated, as the interpreter requires."""
    case = draw_case(name, seed)
    return attrs.evolve(case, inputs=[_constant(x) for x in case.inputs], declared=tuple(map(tuple, outputs)))


def measure(model: bytes) -> list[int] | None:
    """The bytes of head and tail, in a process of its own, since the interpreter may end it; None for a refusal."""
    from tflite_micro.python.tflite_micro import runtime

    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if not child:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            try:
                runtime.Interpreter.from_bytes(model, arena_size=1 << 17).print_allocations()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        printed.seek(0)
        found = re.findall(rb"allocation (?:head|tail) (\d+) bytes", printed.read())
    return [int(number) for number in found] or None


def main() -> None:
    """Write the table."""
    table: dict[str, dict[str, list[int]]] = {}
    for name, runs in json.loads(RUNS.read_text(encoding="utf-8")).items():
        for seed, run in runs.items():
            if "outputs" in run and (len(table.get(name, ())) < MOST or name == "BATCH_MATMUL"):
                found = measure(build(case_of(name, int(seed), run["outputs"])))
                if found is not None:
                    table.setdefault(name, {})[seed] = found
    lines = (f"{json.dumps(name)}: {json.dumps(cases)}" for name, cases in table.items())
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
