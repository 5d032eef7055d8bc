"""A process that cleans one model and prints its largest resident set: `python -m tests.passes.child MODEL OUT`."""

from __future__ import annotations

import sys

from shapeinf.passes import clean
from tests.resident import peak_resident_kib


def main(model: str, out: str) -> None:
    before = peak_resident_kib()
    cleaned = clean(model)
    cleaned.save(out)
    print(before, peak_resident_kib(), *cleaned.report.counts())


if __name__ == "__main__":
    main(*sys.argv[1:])
