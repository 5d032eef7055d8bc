"""What rules read of operands: declared types of outputs, contents of numbers, axes, and refusals of warnings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

from opdefs.rules.contents.elements import known_dims
from opdefs.tf.context import TensorFlowContext
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape, Type

QUANTIZED = frozenset({"int2", "int4", "uint4", "int8", "uint8", "int16"})
"""Types whose integers stand for other numbers, by a scale that rules do not know."""


def output_type(c: TensorFlowContext, index: int = 0) -> str | None:
    """The element type that the file declares of an output; None where it declares none."""
    listed = c.attributes.get("output_types")
    return listed[index] if isinstance(listed, tuple) and index < len(listed) else None


def drop_quantized(x: PartialTensor) -> PartialTensor:
    """The tensor, without contents that may be quantized."""
    return PartialTensor(x.dtype, x.shape, None) if x.dtype in QUANTIZED and x.contents is not None else x


def rule_of_numbers(rule: Callable[..., PartialTensor]) -> Callable[..., PartialTensor]:
    """The rule of an operator on numbers, which strings are not; of quantized operands, no contents are known."""

    @wraps(rule)
    def wrapped(c: TensorFlowContext, *operands: PartialTensor, **options: object) -> PartialTensor:
        if any(x.dtype == "string" for x in operands):
            c.fail("the kernel takes no strings")
        result = rule(c, *map(drop_quantized, operands), **options)
        dtype = output_type(c) or result.dtype
        return result if dtype == result.dtype else PartialTensor(dtype, result.shape, result.elements)

    return wrapped


def refuse_warnings(rule: Callable[..., Type | Shape]) -> Callable[..., Type | Shape]:
    """TensorFlow's rule, where LiteRT refuses in Prepare what TensorFlow detects only when a node runs."""

    @wraps(rule)
    def wrapped(c: TensorFlowContext, *operands: object, **options: object) -> Type | Shape:
        result = rule(c, *operands, **options)
        if c.warnings:
            first, c.warnings = c.warnings[0], ()
            raise first
        return result

    return wrapped


def axis_of(c: TensorFlowContext, axis: int, rank: int) -> int:
    """The axis counted from the front, of which a negative one counts from the end. Raises ShapeError out of range."""
    if not -rank <= axis < rank:
        c.fail(f"axis {axis} is out of range for rank {rank}")
    return axis + rank if axis < 0 else axis


def require_rank_between(
    c: TensorFlowContext, x: Shape, least: int, most: int | None = None, name: str = "the input"
) -> Shape:
    """The shape, whose rank must lie in a range. Raises NotKnown where it is unknown."""
    if len(x) < least:
        c.fail(f"{name} must be of rank {least} or more", x)
    if most is not None and len(x) > most:
        c.fail(f"{name} must be of rank {most} at most", x)
    return x


def scalar_value(c: TensorFlowContext, x: PartialTensor, name: str) -> DimSize | None:
    """The number in an operand of one element, at any rank; None where it is unknown."""
    if x.shape.dims is not None:
        c.merge(c.numel(x.shape.dims), 1, f"{name} must have exactly one element")
    known = known_dims(x)
    return known[0] if known else None


def merge_shapes(c: TensorFlowContext, shapes: Sequence[Shape], message: str) -> Shape:
    """The common shape of operands that must be equal."""
    result = shapes[0]
    for shape in shapes[1:]:
        result = c.merge(result, shape, message)
    return c.store.canon_shape(result)
