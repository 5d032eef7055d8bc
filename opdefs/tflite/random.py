"""Random numbers."""

from __future__ import annotations

from opdefs.rules.requested import scalar_size_or_fresh
from opdefs.rules.reshaping import shape_from_sizes
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import scalar_value
from opdefs.tflite.state import declared_sizes
from shapeinf.graph import DeclaredType
from shapeinf.lattice import Shape
from shapeinf.ops import Value


@tflite("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL")
def random_numbers(c: TensorFlowContext, sizes: Value) -> Shape:
    """Sizes [R] -> [*sizes]."""
    return shape_from_sizes(c, sizes, "sizes")


@tflite("MULTINOMIAL")
def multinomial(c: TensorFlowContext, logits: Shape, count: Value) -> Shape:
    """[B, classes], count [] -> [B, count]."""
    batch, _ = c.require_rank(logits, 2, "the logits")
    scalar_value(c, count, "the number of samples")
    return Shape((batch, scalar_size_or_fresh(c, count, "samples")))


@tflite("STABLEHLO_RNG_BIT_GENERATOR")
def rng_bit_generator(
    c: TensorFlowContext, state: Shape, *, output_shapes: tuple[DeclaredType, ...] = ()
) -> tuple[Shape, Shape]:
    """[n] -> [n], and bits whose sizes are those of the output in the file."""
    return state, declared_sizes(c, output_shapes[1:])
