"""Laws of the operands beside the data: scales, biases, lengths, states, masks."""

from __future__ import annotations

from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def vector(c: InferenceContext, v: Shape | None, size: Dim, message: str) -> None:
    """Tell that an input is a vector of this size; nothing for an input that is left out."""
    if v is not None:
        c.merge(c.require_rank(v, 1, "a vector")[0], size, message)


def holds(c: InferenceContext, v: Shape | None, count: Dim, message: str) -> None:
    """Tell that an input of any rank holds so many values, where the runtime does not ask for a vector."""
    if v is not None and v.dims is not None:
        c.merge(c.numel(v), count, message)


def one_value(c: InferenceContext, v: Shape | None, message: str) -> None:
    """Tell that an input is a scalar, or a vector of one element, which runtimes take for a scalar."""
    if v is not None and v.dims is not None:
        if len(v.dims) > 1:
            c.fail(message, v)
        holds(c, v, 1, message)


def scalar(c: InferenceContext, v: Shape | None, what: str) -> None:
    """Tell that an input is of rank 0."""
    if v is not None:
        c.require_rank(v, 0, what)


def equal(c: InferenceContext, a: Shape, b: Shape | None, message: str) -> Shape:
    """The shape of two inputs that must be of equal shape; the second may be left out."""
    return a if b is None else c.merge(a, b, message)


def part(c: InferenceContext, size: Dim, parts: int, message: str) -> Dim:
    """One of several equal parts of an axis, such as the width of a head; the law is that they fill it."""
    if parts < 1:
        c.fail("the number of heads or parts must be at least 1", parts)
    c.divisible(size, parts, message)
    return size // parts


def spreads_over(c: InferenceContext, v: Shape | None, target: Shape, message: str) -> None:
    """Tell that an input broadcasts to a shape and does not change it (ONNX: unidirectional broadcasting)."""
    if v is None or v.dims is None or target.dims is None:
        return
    lead = len(target.dims) - len(v.dims)
    if lead < 0:
        c.fail(message, v, target)
    for size, whole in zip(v.dims, target.dims[lead:], strict=True):
        one_or(c, size, whole, message)


def either(c: InferenceContext, size: Dim, choices: tuple[Dim, Dim], message: str) -> None:
    """Tell that a size is one of two."""
    first, second = choices
    verdicts = c.prove_eq(size, first), c.prove_eq(size, second)
    if True in verdicts:
        return
    if None not in verdicts:
        c.fail(message, size, first, second)
    if False in verdicts:
        c.merge(size, second if verdicts[0] is False else first, message)
    else:
        c.store.add_disjunction("{0} == {1} or {0} == {2}", c.source(message), size, first, second)


def one_or(c: InferenceContext, size: Dim, whole: Dim, message: str) -> None:
    """Tell that a size is 1 or equal to another."""
    if size == 1 or size is whole or size == whole:
        return
    if whole == 1 or c.prove_eq(size, 1) is False:
        c.merge(size, whole, message)
    elif c.prove_eq(size, 1) is None:
        c.store.add_disjunction("{0} == {1} or {0} == 1", c.source(message), size, whole)
