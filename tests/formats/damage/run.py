"""Runs ranges of damaged files in children, and continues after one that dies.

`python -m tests.formats.damage.run FAMILY START STOP`
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
WALL = 1800


def failures(family: str, start: int, stop: int, most: int = 20) -> tuple[list[dict[str, Any]], int]:
    """The failures (up to a number of files), and the count of files with a result."""
    wrong: list[dict[str, Any]] = []
    results = 0
    while start < stop and len(wrong) < most:
        command = [sys.executable, "-m", "tests.formats.damage.child", family, str(start), str(stop)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        try:
            output, complaint = child.communicate(timeout=WALL)
        except subprocess.TimeoutExpired:
            child.kill()
            output, complaint = child.communicate()
        lines = [json.loads(line) for line in output.splitlines() if line.endswith("}")]
        wrong += [line for line in lines if "wrong" in line]
        done = [line for line in lines if "done" in line]
        if done:
            return wrong, results + done[0]["results"]
        last = max((line["at"] for line in lines if "at" in line), default=start)
        if not any(line.get("number") == last for line in lines):
            wrong.append(
                {"number": last, "wrong": f"the process died ({child.returncode}): {complaint[-500:]}", "file": ""}
            )
        start = last + 1
    return wrong, results


def main() -> None:
    family, start, stop = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    wrong, results = failures(family, start, stop, most=10**9)
    for line in wrong:
        print(f"== {family} {line['number']}\n{line['wrong']}\n{line['file']}\n")
    print(f"{family} {start}..{stop}: {len(wrong)} wrong, {results} results")


if __name__ == "__main__":
    main()
