"""Convolutions."""

from __future__ import annotations

from tests.differential.pnnx.case import Case

IMAGES, OTHERS = "f32[1,3,16,17]", "f32[2,3,21,24]"


def module(name, arguments, inputs=IMAGES, others=OTHERS):
    return Case(f"{name}({arguments}) {inputs}", "m(x)", inputs, others, {"m": f"nn.{name}({arguments})"})


CASES = [
    module("Conv2d", "3, 8, 3"),
    module("Conv2d", "3, 8, (3, 5), stride=(2, 3), padding=(1, 0), dilation=(1, 2)"),
    module("Conv2d", "3, 6, 3, padding='same', groups=3, bias=False"),
    module("Conv1d", "4, 6, 3, stride=2, padding=1", "f32[2,4,19]", "f32[1,4,24]"),
    Case("F.conv2d", "F.conv2d(x, y, stride=2, padding=1)", f"{IMAGES} f32[8,3,3,3]", f"{OTHERS} f32[8,3,3,3]"),
]
