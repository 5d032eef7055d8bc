"""Cases with many outputs: pnnx takes seconds for a network, whatever its size."""

from __future__ import annotations

from tests.differential.pnnx.case import Case


def combine(name, inputs, others, *forwards, **more):
    """A case that computes all these expressions of the same inputs; an expression may begin with `*`."""
    return Case(f"{name} of {inputs}", f"({', '.join(forwards)},)", inputs, others, **more)
