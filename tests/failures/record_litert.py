"""The messages of LiteRT for files of one operator whose inputs are resized to sizes that it does not allow.

This module needs LiteRT: `tools/make_runtime_messages.py` imports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.opdefs.tflite.case import Case, Operand
from tests.opdefs.tflite.litert import build

Shape = tuple[int, ...]


def _operand(dims: Shape, dtype: str = "float32") -> Operand:
    return Operand(dtype, dims)


def _constant(dims: Shape, dtype: str = "float32", data: Sequence[float] = ()) -> Operand:
    values = tuple(data) or (1,) * int(np.prod(dims))
    return Operand(dtype, dims, values, constant=True)


CASES: list[tuple[Case, list[list[Shape]]]] = [
    (
        Case("ADD", [_operand((2, 3)), _operand((2, 3))], ["float32"], "AddOptions"),
        [[(2, 3), (2, 4)], [(5, 3), (2, 3)]],
    ),
    (Case("MUL", [_operand((2, 3)), _constant((3,))], ["float32"], "MulOptions"), [[(2, 4)], [(2, 2)]]),
    (Case("SUB", [_operand((4,)), _operand((4,))], ["float32"], "SubOptions"), [[(3,), (4,)]]),
    (Case("MAXIMUM", [_operand((4, 2)), _operand((4, 2))], ["float32"], "MaximumMinimumOptions"), [[(3, 2), (4, 2)]]),
    (
        Case("CONCATENATION", [_operand((2, 3)), _operand((2, 4))], ["float32"], "ConcatenationOptions", {"axis": 1}),
        [[(3, 3), (2, 4)], [(2, 3), (5, 4)]],
    ),
    (
        Case("FULLY_CONNECTED", [_operand((2, 4)), _constant((5, 4))], ["float32"], "FullyConnectedOptions"),
        [[(2, 3)], [(3, 5)]],
    ),
    (
        Case(
            "CONV_2D",
            [_operand((1, 5, 5, 3)), _constant((6, 3, 3, 3)), _constant((6,))],
            ["float32"],
            "Conv2DOptions",
            {"stride_w": 1, "stride_h": 1, "padding": "SAME"},
        ),
        [[(1, 5, 5, 4)], [(1, 5, 5, 2)]],
    ),
    (Case("RESHAPE", [_operand((3, 4)), _constant((2,), "int32", (-1, 6))], ["float32"]), [[(3, 5)], [(1, 4)]]),
    (
        Case("BATCH_MATMUL", [_operand((2, 3, 4)), _operand((2, 4, 5))], ["float32"], "BatchMatMulOptions"),
        [[(2, 3, 6), (2, 4, 5)]],
    ),
    (
        Case("SPACE_TO_DEPTH", [_operand((1, 4, 4, 2))], ["float32"], "SpaceToDepthOptions", {"block_size": 2}),
        [[(1, 3, 4, 2)], [(1, 4, 5, 2)]],
    ),
    (
        Case("DEPTH_TO_SPACE", [_operand((1, 2, 2, 8))], ["float32"], "DepthToSpaceOptions", {"block_size": 2}),
        [[(1, 2, 2, 6)]],
    ),
    (
        Case(
            "SELECT_V2", [_operand((2, 3), "bool"), _operand((2, 3)), _operand((2, 3))], ["float32"], "SelectV2Options"
        ),
        [[(2, 3), (2, 4), (2, 3)]],
    ),
    (
        Case("PACK", [_operand((3,)), _operand((3,))], ["float32"], "PackOptions", {"values_count": 2, "axis": 0}),
        [[(3,), (4,)]],
    ),
]


def messages() -> Iterator[dict[str, Any]]:
    """The messages of `allocate_tensors` and of `set_tensor`."""
    from ai_edge_litert.interpreter import Interpreter

    for case, illegal in CASES:
        data = build(case)
        for shapes in illegal:
            interpreter = Interpreter(model_content=data, experimental_op_resolver_type=_resolver(), num_threads=1)
            details = interpreter.get_input_details()
            named = {entry["name"]: list(shape) for entry, shape in zip(details, shapes, strict=True)}
            message = {
                "case": case.op.lower(),
                "model": data,
                "sizes": None,
                "shapes": named,
                "values": {},
                "data": False,
                "node": {"op": case.op, "name": "", "output": f"t{len(case.inputs)}"},
                "runs": [],
            }
            try:
                for entry, shape in zip(details, shapes, strict=True):
                    interpreter.resize_tensor_input(entry["index"], shape)
                interpreter.allocate_tensors()
                interpreter.invoke()
            except (RuntimeError, ValueError) as error:
                yield {**message, "text": str(error)}
    data = build(CASES[0][0])
    interpreter = Interpreter(model_content=data, num_threads=1)
    interpreter.allocate_tensors()
    for shape in ((2, 4), (2, 3, 1)):
        try:
            interpreter.set_tensor(0, np.ones(shape, np.float32))
        except ValueError as error:
            yield {
                "case": "set_tensor",
                "model": data,
                "sizes": None,
                "shapes": {"t0": list(shape)},
                "values": {},
                "data": False,
                "node": {"op": "ADD", "name": "", "output": "t2"},
                "runs": [],
                "text": str(error),
            }


def _resolver() -> Any:
    from ai_edge_litert.interpreter import OpResolverType

    return OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
