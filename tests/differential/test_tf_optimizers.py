"""Optimizers of variables behind handles: the rules reject a wrong shape of the inputs for which TensorFlow does.

They also reject gradients, which the shape functions of dense updates do not compare with the variable, but kernels do,
and `lr_power` of FtrlV2.
"""

import json

import pytest

from opdefs.tf import tf
from opdefs.tf.training import GRADIENTS
from shapeinf.errors import ShapeError
from shapeinf.lattice import HandleType, PartialTensor, Shape, ShapeStore, TensorType
from shapeinf.ops import Call
from tests.differential.tf.optimizers import RECORD, RESOURCES, is_refused, names, shapes

KERNELS_ONLY = {*GRADIENTS, "var", "lr_power"}
REFUSED = json.loads(RECORD.read_text(encoding="utf8"))


def types(op, other=None):
    for arg, shape in zip(tf.lookup("", op, 0).inputs, shapes(op, other).values(), strict=True):
        if arg.type == "resource":
            yield HandleType("resource", Shape(()), (TensorType("float32", Shape(shape)),))
        else:
            yield PartialTensor("float32", Shape(shape), None)


def infer(op, inputs):
    return Call(tf.lookup("", op, 0), {"T": "float32", "Tindices": "int32"}, 0, ()).run(inputs, ShapeStore(), "node")


@pytest.mark.parametrize("op", RESOURCES)
def test_every_input(op):
    assert not infer(op, list(types(op))).types
    refused = []
    for name in names(op):
        try:
            infer(op, list(types(op, name)))
        except ShapeError:
            refused.append(name)
    assert set(REFUSED[op]) <= set(refused) <= set(REFUSED[op]) | KERNELS_ONLY


@pytest.mark.parametrize("op", RESOURCES)
def test_handles_of_unknown_variables(op):
    unknown = [HandleType("resource", Shape(()), None) if isinstance(t, HandleType) else t for t in types(op)]
    assert not infer(op, unknown).types


@pytest.mark.slow
@pytest.mark.parametrize("op", RESOURCES)
def test_the_record_is_that_of_tensorflow(op):
    pytest.importorskip("tensorflow")
    assert [name for name in names(op) if is_refused(op, name)] == REFUSED[op]
