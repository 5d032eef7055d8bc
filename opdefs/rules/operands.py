"""What operators require of the sizes of operands: lengths, groups, parts, sizes that are 1 or equal.

Each requirement adds a constraint where the sizes are symbolic, and is an error where they are known and wrong. Only
this module compares a size with 1: others call `is_unit`, `prove_unit` or `require_broadcast_size`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def require_vector(c: InferenceContext, v: Shape | None, size: DimSize, message: str) -> None:
    """Require that an input is a vector of this size, if it is present."""
    if v is not None:
        c.merge(c.require_rank(v, 1, "a vector")[0], size, message)


def require_count(c: InferenceContext, v: Shape | None, count: DimSize, message: str) -> None:
    """Require that an input has this number of elements, at any rank, if it is present."""
    if v is not None and v.dims is not None:
        c.merge(c.numel(v), count, message)


def require_elements(
    c: InferenceContext, sizes: Iterable[DimSize], message: str = "no axis of the input but the batch may be empty"
) -> None:
    """Require axes that are not empty."""
    for size in sizes:
        c.at_least(size, 1, message)


def require_single(c: InferenceContext, v: Shape | None, message: str) -> None:
    """Require that an input is a scalar or a vector of one element, which runtimes accept as one, if it is present."""
    if v is not None and v.dims is not None and v.dims != ():
        if len(v.dims) > 1:
            c.fail(message, v)
        c.merge(v.dims[0], 1, message)


def require_single_inputs(c: InferenceContext, values: Sequence[Shape | None], first: int) -> None:
    """Require one element of each of these consecutive inputs; `first` is the index of the first one."""
    for index, v in enumerate(values, first):
        require_single(c, v, f"{_input_name(c, index)} must have exactly one element")


def require_scalar(c: InferenceContext, v: Shape | None, name: str) -> None:
    """Require that an input is a scalar, if it is present."""
    if v is not None:
        c.require_rank(v, 0, name)


def require_scalar_inputs(c: InferenceContext, values: Sequence[Shape | None], first: int) -> None:
    """Require rank 0 of each of these consecutive inputs; `first` is the index of the first one."""
    for index, v in enumerate(values, first):
        require_scalar(c, v, _input_name(c, index))


def _input_name(c: InferenceContext, index: int) -> str:
    """The name of an input in the OpDef; of inputs behind its last one, that of the last one."""
    inputs = c.op_def.inputs
    return inputs[min(index, len(inputs) - 1)].name


def merge_optional(c: InferenceContext, a: Shape, b: Shape | None, message: str) -> Shape:
    """The common shape of two inputs; the second may be absent."""
    return a if b is None else c.merge(a, b, message)


def part_size(c: InferenceContext, size: DimSize, parts: int, message: str) -> DimSize:
    """The size of each of `parts` equal parts of an axis, such as the head size. Requires divisibility."""
    if parts < 1:
        c.fail("the number of heads or parts must be at least 1", parts)
    c.divisible(size, parts, message)
    return size // parts


def require_groups(c: InferenceContext, channels: DimSize, groups: DimSize, message: str) -> None:
    """Require that channels split into groups of equal size. Raises ShapeError for no groups at all."""
    if isinstance(groups, int) and groups < 1:
        c.fail("the number of groups must be at least 1", groups)
    require_multiple(c, channels, groups, message)


def require_multiple(c: InferenceContext, size: DimSize, divisor: DimSize, message: str) -> None:
    """Require that a size is a multiple of another one, of which nothing is required where it may be 0."""
    if isinstance(divisor, int):
        if divisor > 1:
            c.divisible(size, divisor, message)
    elif c.prove_le(1, divisor) is True:
        c.merge(size // divisor * divisor, size, message)


# -- sizes that are 1, or equal to another ----------------------------------------------------------------------------


def is_unit(size: DimSize | None) -> bool:
    """Whether a size is the number 1; a symbol that may be 1 is not."""
    return size.__class__ is int and size == 1


def is_single(v: Shape) -> bool:
    """Whether a shape is that of a scalar, or of a vector of one element, which runtimes accept as one."""
    return v.dims == () or (v.dims is not None and len(v.dims) == 1 and v.dims[0] == 1)


def prove_unit(c: InferenceContext, size: DimSize) -> bool | None:
    """Whether a size is 1: always (True), never (False) or undecided (None)."""
    return c.prove_eq(size, 1)


def require_broadcast_size(c: InferenceContext, size: DimSize, extent: DimSize, message: str) -> None:
    """Require that a size is 1 or equal to another."""
    if size == 1 or size is extent or size == extent:
        return
    if extent == 1 or c.prove_eq(size, 1) is False:
        c.merge(size, extent, message)
    elif c.prove_eq(size, 1) is None:
        c.store.add_disjunction("{0} == {1} or {0} == 1", c.source(message), size, extent)


def require_broadcast_to(
    c: InferenceContext, v: Shape | None, target: Shape, message: str, *, from_front: bool = False
) -> None:
    """Require that an input broadcasts to a shape without changing it (ONNX: unidirectional broadcasting).

    Shapes are aligned at their last axes, or with `from_front` at their first ones, as in NNEF: then more axes than
    those of the target must have size 1.
    """
    if v is None or v.dims is None or target.dims is None:
        return
    more = len(v.dims) - len(target.dims)
    if more > 0 and not from_front:
        c.fail(message, v, target)
    extents = target.dims + (1,) * more if from_front else target.dims[-more:] if more else target.dims
    for size, extent in zip(v.dims, extents, strict=False):
        require_broadcast_size(c, size, extent, message)


def require_any(c: InferenceContext, sizes: Sequence[DimSize], value: int, message: str) -> None:
    """Require that one of several sizes has a value."""
    verdicts = [c.prove_eq(size, value) for size in sizes]
    possible = [size for size, verdict in zip(sizes, verdicts, strict=True) if verdict is None]
    if True in verdicts:
        return
    if not possible:
        c.fail(message, *sizes)
    template = " or ".join(f"{{{i}}} == {value}" for i in range(len(possible)))
    c.store.add_disjunction(template, c.source(message), *possible)


def require_choice(c: InferenceContext, size: DimSize, choices: Sequence[DimSize], message: str) -> None:
    """Require that a size equals one of several."""
    verdicts = [c.prove_eq(size, choice) for choice in choices]
    if True in verdicts:
        return
    possible = [choice for choice, verdict in zip(choices, verdicts, strict=True) if verdict is None]
    if not possible:
        c.fail(message, size, *choices)
    if len(possible) == 1:
        c.merge(size, possible[0], message)
    else:
        template = " or ".join(f"{{0}} == {{{i}}}" for i in range(1, len(possible) + 1))
        c.store.add_disjunction(template, c.source(message), size, *possible)
