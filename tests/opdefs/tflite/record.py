"""Records what LiteRT does with some random models of each operator: `python -m tests.opdefs.tflite.record`.

`recorded.json` has for each operator the seeds of its cases, each with the result: the first seeds, and of some more
the first with each further reason of a refusal. Cases whose process died are omitted.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.opdefs.tflite.draws import DRAWINGS, draw_case
from tests.opdefs.tflite.litert import run

RECORDED = Path(__file__).with_name("recorded.json")
SEEDS, SEEDS_OF_REFUSALS = 6, 31


def reason(result: dict[str, Any]) -> str:
    """The reason of a refusal without its numbers; empty for a model that runs."""
    return re.sub(r"-?\d+", "N", result.get("refused", "")).split("Node number")[0]


def main() -> None:
    """Write the table."""
    keys = [(name, seed) for seed in range(SEEDS_OF_REFUSALS) for name in DRAWINGS]
    table: dict[str, dict[str, Any]] = {name: {} for name in DRAWINGS}
    for (name, seed), result in zip(keys, run(draw_case(*key) for key in keys), strict=True):
        if "died" not in result and (seed < SEEDS or reason(result) not in map(reason, [*table[name].values(), {}])):
            table[name][str(seed)] = result
    lines = (
        f"{json.dumps(name)}: {json.dumps(cases, separators=(',', ':'))}" for name, cases in table.items() if cases
    )
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
