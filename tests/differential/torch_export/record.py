"""Record drawn programs with their runs, so that they are compared without torch.

    python -m tests.differential.torch_export.record

Of the drawn programs those are recorded that have the most overloads which no recorded one has.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from tests.differential.torch_export.case import Case, Run

PATH = Path(__file__).with_name("recorded.json.gz")
DRAWN, RECORDED = range(300, 400), 16


def read() -> Iterator[Case]:
    """The recorded programs."""
    for entry in json.loads(gzip.decompress(PATH.read_bytes())):
        yield from_json(entry)


def from_json(entry: dict) -> Case:
    """A program in its JSON."""
    return Case(**{**entry, "runs": [Run(**run) for run in entry["runs"]]})


def write(cases: Iterable[Case]) -> None:
    """Write the file."""
    data = json.dumps([attrs.asdict(case) for case in choose(list(cases))], separators=(",", ":"))
    PATH.write_bytes(gzip.compress(data.encode(), 9, mtime=0))


def choose(cases: list[Case]) -> list[Case]:
    """The programs that are recorded, in the order of their seeds."""
    left = {case.seed: (case, set(re.findall(r'"target":"([^"]+)"', case.program))) for case in cases}
    chosen: list[Case] = []
    seen: set[str] = set()
    while left and len(chosen) < RECORDED:
        case, overloads = max(left.values(), key=lambda item: (len(item[1] - seen), -item[0].seed))
        seen |= overloads
        chosen.append(case)
        del left[case.seed]
    return sorted(chosen, key=lambda case: case.seed)


def main() -> None:
    """Draw programs and record some of them."""
    from tests.differential.torch_export.running import draw_cases

    write(draw_cases(DRAWN))


if __name__ == "__main__":
    main()
