"""Compare random graphs with onnxruntime, in a process of its own: some inputs make onnxruntime divide by zero and die.

    python -m tests.differential.random_graphs networks 0 100

Prints the number of each graph before it is drawn and after it is run, then what is wrong, and how many sizes it ran
with, with how many it did not, and for how many of these the contract says yes. With `--shrink` what is wrong is
followed by the smallest graph that shows it.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime

from tests.differential.random_graphs import bodies, networks, sizes
from tests.differential.random_graphs.comparing import Finding, Tally, binding_of, compare, executed
from tests.differential.random_graphs.drawing import Arrays, Drawn
from tests.differential.random_graphs.shrinking import shrunk, text_of

BINDINGS = 5


def drawn(kind: str, seed: int) -> Drawn:
    """A graph of a kind."""
    if kind == "networks":
        return networks.drawn(seed)
    model = {"bodies": bodies.drawn, "sizes": sizes.drawn}[kind](seed)
    every = (fed(np.random.default_rng(1000 * seed + turn), same=turn % 2 == 1) for turn in range(BINDINGS))
    return Drawn(model, tuple({one.name: feeds[one.name] for one in model.graph.input} for feeds in every))


def fed(rng: np.random.Generator, same: bool) -> Arrays:
    """Inputs of random sizes; with `same`, of equal rows."""
    a, b, c = rng.integers(1, 5, 3)
    return {
        "x": rng.standard_normal((a, b)).astype(np.float32),
        "z": rng.standard_normal((a if same else c, b)).astype(np.float32),
        "n": np.array(rng.integers(0, 5)),
        "flag": np.array(rng.random() < 0.5),
    }


def told(kind: str, seed: int, one: Drawn, finding: Finding, shrink: bool) -> str:
    """A finding in words."""
    text = f"{kind} {seed}, {binding_of(one.model, one.feeds[finding.turn])}: {finding.kind}: {finding.text}"
    return f"{text}\n{text_of(shrunk(one, finding))}" if shrink else text


def main(kind: str, start: str, stop: str, *more: str) -> None:
    onnxruntime.set_default_logger_severity(4)
    tally = Tally()
    for seed in range(int(start), int(stop)):
        print("graph", seed, flush=True)
        one = drawn(kind, seed)
        real = executed(one)
        print("ran", seed, flush=True)
        for finding in compare(one, real, tally):
            print(told(kind, seed, one, finding, "--shrink" in more))
        print("runs", tally.runs, tally.refused, tally.yes, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
