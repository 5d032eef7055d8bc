"""Compare random graphs with onnxruntime, in a separate process: for some inputs onnxruntime crashes.

    python -m tests.differential.random_graphs networks 0 100

Prints the number of each graph before it is drawn and after it is run, then its discrepancies and the counts of sizes
that ran, that were rejected, and that were rejected though the contract says yes. With `--shrink` each discrepancy is
followed by the smallest graph that has it.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import onnxruntime

from tests.differential.random_graphs import bodies, conditions, networks, sizes
from tests.differential.random_graphs.comparing import Discrepancy, Tally, binding_of, compare, executed
from tests.differential.random_graphs.drawing import Arrays, Drawn
from tests.differential.random_graphs.shrinking import shrunk, text_of

BINDINGS = 5


def drawn(kind: str, seed: int) -> Drawn:
    """A graph of a kind."""
    if kind == "networks":
        return networks.drawn(seed)
    drawn = {"bodies": bodies.drawn, "conditions": conditions.drawn, "sizes": sizes.drawn}
    model = (drawn | {"limits": partial(sizes.drawn, limits=0.4)})[kind](seed)
    every = (fed(np.random.default_rng(1000 * seed + turn), same=turn % 2 == 1) for turn in range(BINDINGS))
    return Drawn(model, tuple({value.name: feeds[value.name] for value in model.graph.input} for feeds in every))


def fed(rng: np.random.Generator, same: bool) -> Arrays:
    """Inputs of random sizes; with `same`, of equal rows."""
    a, b, c = rng.integers(1, 5, 3)
    return {
        "x": rng.standard_normal((a, b)).astype(np.float32),
        "z": rng.standard_normal((a if same else c, b)).astype(np.float32),
        "n": np.array(rng.integers(0, 5)),
        "flag": np.array(rng.random() < 0.5),
    }


def describe(kind: str, seed: int, drawn_model: Drawn, discrepancy: Discrepancy, shrink: bool) -> str:
    """A discrepancy as text, with the shrunk model if requested."""
    binding = binding_of(drawn_model.model, drawn_model.feeds[discrepancy.turn])
    text = f"{kind} {seed}, {binding}: {discrepancy.kind}: {discrepancy.text}"
    return f"{text}\n{text_of(shrunk(drawn_model, discrepancy))}" if shrink else text


def main(kind: str, start: str, stop: str, *more: str) -> None:
    onnxruntime.set_default_logger_severity(4)
    tally = Tally()
    for seed in range(int(start), int(stop)):
        print("graph", seed, flush=True)
        graph = drawn(kind, seed)
        real = executed(graph)
        print("ran", seed, flush=True)
        for discrepancy in compare(graph, real, tally):
            print(describe(kind, seed, graph, discrepancy, "--shrink" in more))
        print("runs", tally.runs, tally.refused, tally.yes, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
