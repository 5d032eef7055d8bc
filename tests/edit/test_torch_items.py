"""Axis rules of torch's overloads: a function that mixes the rows of its operand allows no batch there."""

from __future__ import annotations

import json

import pytest

from shapeinf import RebatchError, rebatch
from tests.formats.torch_export.programs import graph, node, program, tensor


def function(overload: str, result: tuple[int, ...], **arguments: object) -> bytes:
    """A program of one function of `x`, [2, 4]."""
    top = graph(["x"], [node(f"torch.ops.aten.{overload}", {"self": "x", **arguments}, "y")], ["y"])
    top["tensor_values"] = {"x": tensor(2, 4), "y": tensor(*result)}
    return json.dumps(program(top)).encode()


@pytest.mark.parametrize(
    ("overload", "result", "arguments"),
    [
        ("relu.default", (2, 4), {}),
        ("gelu.default", (2, 4), {}),
        ("flip.default", (2, 4), {"dims": [1]}),
        ("cumsum.default", (2, 4), {"dim": 1}),
        ("softmax.int", (2, 4), {"dim": -1}),
        ("_log_softmax.default", (2, 4), {"dim": -1, "half_to_float": False}),
        ("sum.dim_IntList", (2,), {"dim": [1]}),
        ("amax.default", (2,), {"dim": [1]}),
        ("any.dim", (2,), {"dim": 1}),
        ("isnan.default", (2, 4), {}),
    ],
)
def test_rows_stay_apart(overload: str, result: tuple[int, ...], arguments: dict[str, object]) -> None:
    """The same function over the rows is refused."""
    rebatched = rebatch(function(overload, result, **arguments))
    assert str(rebatched.result.outputs["y"].shape) == str(["batch", *result[1:]]).replace("'", "")
    if arguments:
        over_rows = {name: [0] if isinstance(value, list) else 0 for name, value in arguments.items() if "dim" in name}
        rows = (2, 4) if len(result) == 2 else (4,)
        with pytest.raises(RebatchError):
            rebatch(function(overload, rows, **{**arguments, **over_rows}))
