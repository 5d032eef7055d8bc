"""Inputs of operators on images, lines and volumes, and cases over them."""

from __future__ import annotations

from tests.differential.pnnx.case import Case

IMAGES, OTHERS = "f32[1,3,16,17]", "f32[2,3,21,24]"
LINES, OTHER_LINES = "f32[2,4,19]", "f32[1,4,24]"
VOLUMES, OTHER_VOLUMES = "f32[1,2,7,8,9]", "f32[2,2,10,9,12]"
INPUTS = {1: (LINES, OTHER_LINES), 2: (IMAGES, OTHERS), 3: (VOLUMES, OTHER_VOLUMES)}
"""Inputs by the number of their spatial axes."""


def module(name, arguments, inputs=IMAGES, others=OTHERS, forward="m(x)", **options):
    """A case of one module of torch, `m`."""
    return Case(f"{name}({arguments}) {inputs}", forward, inputs, others, {"m": f"nn.{name}({arguments})"}, **options)


def function(forward, inputs=IMAGES, others=OTHERS, **options):
    """A case of one expression, by default over an image `x`."""
    return Case(f"{forward} {inputs}", forward, inputs, others, **options)
