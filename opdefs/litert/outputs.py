"""Where the outputs of kernels are: in the arena, on the heap where a run decides a size, or filled when prepared."""

from __future__ import annotations

from opdefs.litert.kernels import litert
from shapeinf.errors import NotKnown
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext
from shapeinf.memory.runtimes.litert.planner import Storage

REDUCTIONS = ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL")
MOST_FOLDED = 8
"""The most elements of a product that is computed when it is prepared (`kMaxConstantOutputTensorSize`)."""

litert.needs(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "PAD", "PADV2", "MIRROR_PAD", "EXPAND_DIMS"), 1)
litert.needs(("BROADCAST_TO", "TRANSPOSE", "ARG_MAX", "ARG_MIN", "TOPK_V2", "ONE_HOT", "RFFT2D", *REDUCTIONS), 1)
litert.needs(("FILL", "SPLIT", "CONV_3D_TRANSPOSE", "RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"), 0)
litert.needs(("SPLIT_V", "SLICE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"), 1, 2)
litert.needs(("UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_MIN"), 1, 2)
litert.needs(("SCATTER_ND", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5"), 2)
litert.needs(("SPARSE_TO_DENSE",), 1)
litert.needs(("MULTINOMIAL", "SEGMENT_SUM"), 0, 1)
litert.needs(("TILE",), 1, folds=True)
litert.needs(("RANGE",), 0, 1, 2, folds=True)
litert.needs(("GATHER", "CONCATENATION", "MUL", "BROADCAST_ARGS"), folds=True)


@litert.outputs("WHERE", "UNIQUE", "READ_VARIABLE")
def decided_by_a_run(c: LiteRtContext) -> Storage:
    """Data decide the size."""
    return "heap"


@litert.outputs("SHAPE", "RANK")
def filled_when_prepared(c: LiteRtContext) -> Storage:
    """The sizes of the input are known when the kernel is prepared."""
    return "read_only"


@litert.outputs("VAR_HANDLE", "HASHTABLE")
def handle(c: LiteRtContext) -> Storage:
    """A handle outlives a run."""
    return "persistent"


@litert.outputs("RESHAPE")
def reshape(c: LiteRtContext) -> Storage:
    """The operand with the sizes, if there is one, must be known; else the result has the bytes of the input."""
    if c.has_input(1) and 1 not in c.known:
        return "late"
    return "read_only" if 0 in c.known else "arena"


@litert.outputs("STRIDED_SLICE")
def strided_slice(c: LiteRtContext) -> Storage:
    """Begin, end and strides must be known; with an offset, which makes the size that of the operand, only strides."""
    needed = (3,) if c.attribute("offset") else (1, 2, 3)
    if any(position not in c.known for position in needed):
        return "heap"
    return "read_only" if c.is_all_known else "arena"


@litert.outputs("TRANSPOSE_CONV")
def transposed_convolution(c: LiteRtContext) -> Storage:
    """The sizes must be a constant of the file."""
    return "arena" if 0 in c.constants else "heap"


def is_folded(c: LiteRtContext) -> bool:
    """Whether a product is computed when it is prepared: one of few elements of known contents."""
    if not c.is_all_known:
        return False
    elements = c.elements(c.output())
    if not isinstance(elements, int):
        raise NotKnown("the number of elements decides whether the product is computed when it is prepared")
    return elements <= MOST_FOLDED


@litert.outputs("REDUCE_PROD")
def product(c: LiteRtContext) -> Storage:
    """A product of few elements of known contents is computed when it is prepared."""
    if 1 not in c.known:
        return "heap"
    return "read_only" if is_folded(c) else "arena"


@litert.outputs("DEQUANTIZE", "CAST")
def converted(c: LiteRtContext) -> Storage:
    """A converted constant is kept for all runs."""
    return "persistent" if c.is_all_known else "arena"


@litert.outputs("DENSIFY")
def densified(c: LiteRtContext) -> Storage:
    """Dense weights are kept for all runs."""
    return "persistent"
