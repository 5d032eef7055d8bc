"""Expressions between a size and a shape, inferred at concrete and at symbolic sizes, against onnxruntime."""

import numpy as np
import pytest

from shapeinf import infer_shapes
from tests.differential.contents.onnx_expressions import EXPRESSIONS, SIZES, UNKNOWN, model
from tests.differential.observed import agrees
from tests.differential.ort import session_of


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression(name):
    """All sizes are known where those of the input are, and none is wrong where they are symbols."""
    built = model(name)
    session = session_of(built)
    symbolic = infer_shapes(built)
    found = []
    for sizes in SIZES:
        real = session.run(["size"], {"x": np.zeros(sizes, np.float32)})[0].tolist()
        shape = infer_shapes(built, inputs={"x": sizes}).tensors["y"].shape
        found += [] if list(shape.dims or ()) == real or name in UNKNOWN else [f"{shape} at {sizes}, not {real}"]
        dims = symbolic.tensors["y"].shape.dims
        binding = dict(zip("nm", sizes, strict=True))
        assert dims is None or len(dims) == len(real)
        assert all(agrees(symbolic, dim, size, binding) for dim, size in zip(dims or (), real, strict=dims is not None))
    assert not found
