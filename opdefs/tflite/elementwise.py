"""Operators on elements: the shape of the operand, or the broadcast of both."""

from __future__ import annotations

from opdefs.rules.contents.arithmetic import binary_rule, numpy_broadcast
from opdefs.rules.contents.floats import FloatArithmetic
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.contents.progressions import add
from opdefs.tflite.dialect import tflite

tflite("ADD", in_place=(0, 1))(
    binary_rule(numpy_broadcast, numpy_function("add"), lambda a, b: a + b, FloatArithmetic.add, add)
)
