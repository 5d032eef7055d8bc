"""Dimension arithmetic against sympy, and jax's `_DimExpr` if installed: one run, ratios of medians.

python tools/bench/algebra.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import sympy

from shapeinf.expr import Scope, maximum

ROUNDS = 15
CALLS = 500


def cases(b: Any, s: Any, floor: Callable[[Any, int], Any], largest: Callable[[Any, Any], Any]) -> dict[str, Any]:
    """Warm operations on two symbols; each is a function without arguments."""
    product = b * s * 768
    other = s * b * 768
    return {
        "add": lambda: b + s + 1,
        "multiply symbols": lambda: b * s,
        "multiply sums": lambda: (product + b) * (product + s),
        "(b + 1) * s": lambda: (b + 1) * s,
        "convolution size": lambda: floor(s + 2 * 3 - 7, 2) + 1,
        "maximum": lambda: largest(b, s),
        "equality (equal)": lambda: product == other,
        "equality (different)": lambda: product == b,
        "hash": lambda: hash(product),
    }


def ours() -> dict[str, Any]:
    scope = Scope()
    return cases(scope.symbol("B"), scope.symbol("S"), lambda e, k: e // k, maximum)


def sympys() -> dict[str, Any]:
    b, s = sympy.symbols("B S", integer=True, positive=True)
    return cases(b, s, lambda e, k: e // k, sympy.Max)


def jaxs() -> dict[str, Any] | None:
    try:
        from jax import export
        from jax.core import max_dim
    except ImportError:
        return None
    b, s = export.symbolic_shape("B, S")
    return cases(b, s, lambda e, k: e // k, max_dim)


def nanoseconds(operation: Callable[[], Any]) -> float:
    """CPU time of one call, without that of calling a function that does nothing."""
    return max(1.0, _timed(operation) - _timed(_nothing))


def _nothing() -> None:
    return None


def _timed(operation: Callable[[], Any]) -> float:
    start = time.process_time_ns()
    for _ in range(CALLS):
        operation()
    return (time.process_time_ns() - start) / CALLS


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    peers = {"shapeinf": ours(), "sympy": sympys(), "jax": jaxs()}
    there = {name: table for name, table in peers.items() if table is not None}
    print("warm, medians of CPU time; ratio to shapeinf" + ("" if peers["jax"] else " (jax is not installed)"))
    for case in there["shapeinf"]:
        times: dict[str, list[float]] = {name: [] for name in there}
        for _ in range(ROUNDS):  # interleaved, so that a slow moment of the machine hits all
            for name, table in there.items():
                times[name].append(nanoseconds(table[case]))
        medians = {name: statistics.median(values) for name, values in times.items()}
        base = medians["shapeinf"]
        columns = "  ".join(f"{name} {t:8.0f} ns ({t / base:6.1f}x)" for name, t in medians.items())
        print(f"{case:22s} {columns}")


if __name__ == "__main__":
    main()
