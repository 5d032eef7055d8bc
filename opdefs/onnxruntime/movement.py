"""Temporaries of operators that move, copy, reduce, count or create elements; most have none."""

from __future__ import annotations

from opdefs.onnxruntime.kernels import MS, NCHWC, onnxruntime
from shapeinf.errors import NotKnown
from shapeinf.memory.runtimes.kernels import KernelContext, Scratch

onnxruntime.none(
    *("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Size", "Shape", "Transpose", "Expand", "Tile"),
    *("Concat", "Split", "Slice", "Pad", "Gather", "GatherElements", "GatherND", "ScatterND", "ScatterElements"),
    *("Range", "ConstantOfShape", "Trilu", "EyeLike", "Compress", "ReverseSequence", "OneHot", "Unique", "NonZero"),
    *("DepthToSpace", "SpaceToDepth", "Col2Im", "NonMaxSuppression", "RoiAlign", "GridSample", "AffineGrid"),
    *("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare"),
    *("ReduceLogSum", "ReduceLogSumExp", "ArgMax", "ArgMin", "TopK", "CumSum", "Hardmax", "Det"),
    *("RandomNormalLike", "RandomUniformLike", "HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix"),
)
onnxruntime.none("ExpandDims", "Trilu", "Pad", "CDist", "Inverse", "Unique", "GatherBlockQuantized", domain=MS)
onnxruntime.none("ReorderInput", "ReorderOutput", "Upsample", domain=NCHWC)


@onnxruntime.scratch("Resize", since=10)
def resize(c: KernelContext) -> Scratch:
    """Indices and weights of linear interpolation along two axes of rank 2 and 4, along three of rank 3 and 5."""
    if c.integer("antialias"):
        raise NotKnown("the temporaries of an interpolation with antialias were not measured")
    if c.text("mode", "nearest") != "linear":
        return Scratch()
    sizes, outer = c.output(), len(c.output()) % 2
    axes = 2 + outer
    if len(sizes) not in (axes, axes + 2) or c.input(0)[: len(sizes) - axes] != sizes[: len(sizes) - axes]:
        raise NotKnown("the temporaries of an interpolation along other axes than the last ones were not measured")
    return Scratch([c.product(16 if axes == 2 else 24, c.sum(*sizes[-axes:]))])


@onnxruntime.scratch("Multinomial")
def multinomial(c: KernelContext) -> Scratch:
    """The cumulative distribution of one row, in float64."""
    return Scratch([c.product(8, c.input(0)[1])])
