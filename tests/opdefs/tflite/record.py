"""Records what LiteRT does with some random models of each operator: `python -m tests.opdefs.tflite.record`.

`recorded.json` has for each operator the seeds of its cases, each with the result. Cases whose process died are
omitted.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.opdefs.tflite.draws import DRAWINGS, draw_case
from tests.opdefs.tflite.litert import run

RECORDED = Path(__file__).with_name("recorded.json")
SEEDS = 6


def main() -> None:
    """Write the table."""
    keys = [(name, seed) for name in DRAWINGS for seed in range(SEEDS)]
    table: dict[str, dict[str, Any]] = {}
    for (name, seed), result in zip(keys, run(draw_case(*key) for key in keys), strict=True):
        if "died" not in result:
            table.setdefault(name, {})[str(seed)] = result
    lines = (f"{json.dumps(name)}: {json.dumps(cases, separators=(',', ':'))}" for name, cases in table.items())
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
