"""Cases with many outputs, since pnnx takes seconds for a network of any size."""

from __future__ import annotations

from tests.differential.pnnx.case import Case


def combine(name, inputs, others, *forwards, **more):
    """A case that computes all these expressions from the same inputs; an expression may begin with `*`."""
    return Case(f"{name} of {inputs}", f"({', '.join(forwards)},)", inputs, others, **more)
