"""Calls of NNEF's operations with known contents, and the results of the formulas of the specification in numpy.

NNEF has no runtime that computes with integers: its operations on them are those of tract, which are numpy's too.
"""

from __future__ import annotations

import attrs
import numpy as np

from tests.differential.contents.rules import Case


def i64(*values):
    return np.array(values, np.int64)


def flags(*values):
    return np.array(values, np.bool_)


SIZES = i64(3, 7, 640, 33)
GRID = i64([5, 1, 4], [2, 6, 3])
SIGNED = i64([7, -7, 0], [3, 12, -1])


@attrs.frozen
class FormulaCase:
    """A call of an operation, and its result in numpy."""

    op: str
    inputs: tuple
    result: object
    attributes: dict = attrs.field(factory=dict)

    def __str__(self):
        return f"{self.op}({', '.join(str(x.tolist()) for x in self.inputs)}) {self.attributes}"

    def rule_case(self):
        return Case(self.op, self.inputs, self.attributes, outputs=len(self.arrays()))

    def arrays(self):
        """The results."""
        return list(self.result) if isinstance(self.result, tuple) else [np.asarray(self.result)]


def unary(op, function, *operands):
    return [FormulaCase(op, (x,), function(x)) for x in operands]


def binary(op, function, *pairs):
    return [FormulaCase(op, (a, b), function(a, b)) for a, b in pairs]


PAIRS = ((SIZES, i64(2, 9, 5, 33)), (SIGNED, i64([2, 2, 2], [5, 5, 5])))
LOGICAL = ((flags(True, True, False), flags(True, False, False)),)


def reduction(op, function):
    return [FormulaCase(op, (x,), function(x, axis=1, keepdims=True), {"axes": (1,)}) for x in (GRID, SIGNED)]


CASES = [
    *(case for op in ("copy", "floor", "ceil", "round") for case in unary(op, np.copy, SIZES, SIGNED)),
    *unary("neg", np.negative, SIZES, SIGNED),
    *unary("abs", np.abs, SIZES, SIGNED),
    *unary("sign", np.sign, SIZES, SIGNED),
    *unary("sqr", np.square, SIZES, SIGNED),
    *unary("relu", lambda x: np.maximum(x, 0), SIZES, SIGNED),
    *binary("add", np.add, *PAIRS),
    *binary("sub", np.subtract, *PAIRS),
    *binary("mul", np.multiply, *PAIRS),
    *binary("min", np.minimum, *PAIRS),
    *binary("max", np.maximum, *PAIRS),
    *binary("div", np.floor_divide, PAIRS[0]),
    *binary("pow", np.power, (SIZES, np.array(2))),
    *binary("lt", np.less, *PAIRS),
    *binary("gt", np.greater, *PAIRS),
    *binary("le", np.less_equal, *PAIRS),
    *binary("ge", np.greater_equal, *PAIRS),
    *binary("eq", np.equal, *PAIRS),
    *binary("ne", np.not_equal, *PAIRS),
    *binary("and", np.logical_and, *LOGICAL),
    *binary("or", np.logical_or, *LOGICAL),
    *unary("not", np.logical_not, LOGICAL[0][0]),
    FormulaCase("clamp", (SIZES, np.array(5), np.array(100)), SIZES.clip(5, 100)),
    FormulaCase("select", (flags(True, False, True, False), SIZES, SIZES * 2), np.array([3, 14, 640, 66])),
    *reduction("sum_reduce", np.sum),
    *reduction("max_reduce", np.max),
    *reduction("min_reduce", np.min),
    FormulaCase("any_reduce", (flags(True, False),), np.array([True]), {"axes": (0,)}),
    FormulaCase("all_reduce", (flags(True, False),), np.array([False]), {"axes": (0,)}),
    FormulaCase(
        "mean_reduce", (np.array([[1, 2], [4, 3]], np.float32),), np.array([[2.5, 2.5]], np.float32), {"axes": (0,)}
    ),
    FormulaCase("argmax_reduce", (GRID,), GRID.argmax(1)[:, None], {"axes": (1,)}),
    FormulaCase("argmin_reduce", (GRID,), GRID.argmin(1)[:, None], {"axes": (1,)}),
    FormulaCase("tract_core_argmax_reduce_last", (i64([3, 3, 1]),), np.array([[1]]), {"axes": (1,)}),
    FormulaCase("tract_core_argmin_reduce_last", (i64([3, 1, 1]),), np.array([[2]]), {"axes": (1,)}),
    FormulaCase("tract_core_product_reduce", (GRID,), GRID.prod(1, keepdims=True), {"axes": (1,)}),
    FormulaCase("reshape", (GRID,), GRID.reshape(3, 2), {"shape": (3, 2)}),
    FormulaCase("squeeze", (i64([3], [7]),), i64(3, 7), {"axes": (1,)}),
    FormulaCase("unsqueeze", (SIZES,), SIZES[:, None], {"axes": (1,)}),
    FormulaCase("transpose", (GRID,), GRID.T, {"axes": (1, 0)}),
    FormulaCase("slice", (SIZES,), SIZES[1:3], {"axes": (0,), "begin": (1,), "end": (3,)}),
    FormulaCase("tile", (SIZES,), np.tile(SIZES, 2), {"repeats": (2,)}),
    FormulaCase("concat", (SIZES, i64(1)), np.append(SIZES, 1), {"axis": 0}),
    FormulaCase("stack", (SIZES, SIZES), np.stack([SIZES, SIZES]), {"axis": 0}),
    FormulaCase("gather", (SIZES, i64(2, 0)), SIZES[[2, 0]], {"axis": 0}),
    FormulaCase("split", (SIZES,), (SIZES[:1], SIZES[1:]), {"axis": 0, "ratios": (1, 3)}),
    FormulaCase("unstack", (GRID,), (GRID[0], GRID[1]), {"axis": 0}),
    FormulaCase("tract_core_gather", (SIZES, i64(2, 0)), SIZES[[2, 0]], {"axis": 0}),
    FormulaCase("tract_core_gather_elements", (GRID, i64([2, 0])), np.array([[4, 5]]), {"axis": 1}),
    FormulaCase("tract_core_gather_nd", (GRID, i64([1, 0])), np.array([2])),
    FormulaCase("tract_core_scatter_nd", (SIZES, i64([1]), i64(9)), np.array([3, 9, 640, 33])),
    FormulaCase("tract_core_scatter_elements", (SIZES, i64(1), i64(9)), np.array([3, 9, 640, 33]), {"axis": 0}),
    FormulaCase("tract_core_trilu", (GRID, np.array(0)), np.triu(GRID), {"upper": True}),
    FormulaCase("tract_core_cumsum", (GRID,), GRID.cumsum(1), {"axis": 1}),
    FormulaCase("tract_onnx_non_zero", (SIGNED,), np.stack(SIGNED.nonzero())),
    *binary("tract_core_bitand", np.bitwise_and, (SIZES, np.array(6))),
    *binary("tract_core_bitor", np.bitwise_or, (SIZES, np.array(6))),
    *binary("tract_core_bitxor", np.bitwise_xor, (SIZES, np.array(6))),
    *binary("tract_shl", np.left_shift, (SIZES, np.array(3))),
    *binary("tract_shr", np.right_shift, (SIZES, np.array(3))),
    *binary("tract_core_xor", np.logical_xor, *LOGICAL),
    *unary("tract_core_bitnot", np.invert, SIZES),
    FormulaCase("tract_core_is_nan", (np.array([1, np.nan], np.float32),), flags(False, True)),
    FormulaCase("tract_onnx_is_nan", (np.array([1, np.nan], np.float32),), flags(False, True)),
    FormulaCase("tract_core_is_inf", (np.array([1, np.inf], np.float32),), flags(False, True)),
    FormulaCase("tract_onnx_isinf", (np.array([1, np.inf], np.float32),), flags(False, True)),
    *unary("square", np.square, SIZES, SIGNED),
    FormulaCase("add_n", (SIZES, SIZES, i64(1)), SIZES * 2 + 1),
    FormulaCase("copy_n", (SIZES,), (SIZES, SIZES), {"times": 2}),
    FormulaCase("idn", (SIZES,), SIZES),
    FormulaCase("tract_core_downsample", (SIZES,), SIZES[1::2], {"axis": 0, "stride": 2, "modulo": 1}),
    FormulaCase("tract_core_cast", (SIZES,), SIZES.astype(np.int32), {"to": "i32"}),
    FormulaCase("tract_core_shape_of", (GRID,), i64(2, 3)),
    FormulaCase("tract_core_range", (np.array(2), np.array(11), np.array(3)), i64(2, 5, 8)),
    FormulaCase("tract_core_broadcast", (i64([3], [7]),), i64([3, 3], [7, 7]), {"shape": (2, 2)}),
]
