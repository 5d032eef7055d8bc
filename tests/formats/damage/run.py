"""Runs ranges of damaged files in children, and goes on after one that dies.

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
    """What went wrong (up to so many files), and how many files gave a result."""
    found: list[dict[str, Any]] = []
    results = 0
    while start < stop and len(found) < most:
        command = [sys.executable, "-m", "tests.formats.damage.child", family, str(start), str(stop)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        try:
            told, complaint = child.communicate(timeout=WALL)
        except subprocess.TimeoutExpired:
            child.kill()
            told, complaint = child.communicate()
        lines = [json.loads(line) for line in told.splitlines() if line.endswith("}")]
        found += [line for line in lines if "wrong" in line]
        done = [line for line in lines if "done" in line]
        if done:
            return found, results + done[0]["results"]
        last = max((line["at"] for line in lines if "at" in line), default=start)
        if not any(line.get("number") == last for line in lines):
            found.append(
                {"number": last, "wrong": f"the process died ({child.returncode}): {complaint[-500:]}", "file": ""}
            )
        start = last + 1
    return found, results


def main() -> None:
    family, start, stop = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    found, results = failures(family, start, stop, most=10**9)
    for one in found:
        print(f"== {family} {one['number']}\n{one['wrong']}\n{one['file']}\n")
    print(f"{family} {start}..{stop}: {len(found)} wrong, {results} results")


if __name__ == "__main__":
    main()
