"""Biases."""

from tests.differential.tf.case import Case

CASES = [
    Case("BiasAdd", ("float32[2, 5, 3]", "float32[3]")),
    Case("BiasAdd", ("float32[2, 3, 5, 7]", "float32[3]"), {"data_format": "NCHW"}),
    Case("BiasAddV1", ("float32[2, 3]", "float32[3]")),
    Case("BiasAddGrad", ("float32[2, 5, 3]",)),
    Case("BiasAddGrad", ("float32[2, 3, 5, 7]",), {"data_format": "NCHW"}),
]
