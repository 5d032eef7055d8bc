"""The kinds of steps of drawn programs: each chooses its operands among the values so far. Needs torch."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  (as everybody writes it)


class NoOperandError(Exception):
    """No value is an operand of this kind of step."""


@attrs.frozen
class Step:
    """A function of some values; `module` has its parameters."""

    function: Callable[..., Any]
    operands: tuple[int, ...]
    module: nn.Module | None = None

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """The results of the function."""
        result = self.function(*(values[number] for number in self.operands))
        return list(result) if isinstance(result, (tuple, list)) else [result]


@attrs.frozen
class Pool:
    """The values so far, in the example."""

    source: random.Random
    values: list[Any]

    def tensor(self, *ranks: int, dtype: str = "float32", where: Callable[[Any], bool] | None = None) -> int:
        """The number of a tensor, late ones more often; any rank from 1 on where none is given."""
        found = [
            i
            for i, value in enumerate(self.values)
            if (value.dim() in ranks if ranks else value.dim())
            and dtype in ("any", str(value.dtype).removeprefix("torch."))
            and (where is None or where(value))
        ]
        if not found:
            raise NoOperandError
        return self.source.choice(found[-3:] if self.source.random() < 0.6 else found)

    def rank(self, number: int) -> int:
        """The rank of a value."""
        return int(self.values[number].dim())

    def axis(self, number: int) -> int:
        """An axis of a value, also a negative one."""
        rank = self.rank(number)
        return self.source.randrange(-rank, rank)

    def size(self, operand: int) -> Callable[[Any], Any]:
        """A function that computes a number from a size of an operand."""
        axis, op, constant = (
            self.axis(operand),
            self.source.choice((None, "add", "sub", "mul", "floordiv")),
            self.source.choice((1, 2, 3)),
        )
        if op is None:
            return lambda x: x.shape[axis]
        compute = getattr(operator, op)
        return lambda x: compute(x.shape[axis], constant)


Kind = Callable[[Pool], Step]
KINDS: list[Kind] = []


def kind(weight: int = 1) -> Callable[[Kind], Kind]:
    """Register a kind of steps, to be drawn as often as its weight says."""

    def register(function: Kind) -> Kind:
        KINDS.extend([function] * weight)
        return function

    return register


# -- elementwise -------------------------------------------------------------------------------------------------------

UNARY = (torch.relu, torch.sigmoid, torch.tanh, torch.exp, torch.abs, torch.neg, F.gelu, F.silu, torch.sin, F.elu)
BINARY = (torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.minimum, torch.pow, torch.atan2)


@kind(2)
def unary(p: Pool) -> Step:
    return Step(p.source.choice(UNARY), (p.tensor(),))


@kind(4)
def binary(p: Pool) -> Step:
    return Step(p.source.choice(BINARY), (p.tensor(), p.tensor(dtype="any")))


@kind()
def scalar(p: Pool) -> Step:
    function, number = p.source.choice(BINARY[:4]), p.source.choice((2, 0.5, -1))
    return Step(lambda x: function(x, number), (p.tensor(dtype="any"),))


@kind()
def scaled_by_size(p: Pool) -> Step:
    x = p.tensor()
    size = p.size(x)
    return Step(lambda x: x * size(x), (x,))


@kind()
def compare(p: Pool) -> Step:
    function = p.source.choice((torch.lt, torch.ge, torch.eq))
    return Step(function, (p.tensor(), p.tensor()))


@kind()
def where(p: Pool) -> Step:
    return Step(torch.where, (p.tensor(dtype="bool"), p.tensor(), p.tensor()))


@kind()
def masked_fill(p: Pool) -> Step:
    return Step(lambda x, m: x.masked_fill(m, -1.0), (p.tensor(), p.tensor(dtype="bool")))


@kind()
def cast(p: Pool) -> Step:
    dtype = p.source.choice((torch.float32, torch.float32, torch.int64, torch.float16))
    return Step(lambda x: x.to(dtype), (p.tensor(dtype="any"),))


@kind()
def clamp(p: Pool) -> Step:
    return Step(lambda x: x.clamp(-1, 1), (p.tensor(),))


@kind()
def in_place(p: Pool) -> Step:
    return Step(lambda x: x.clone().add_(1).relu_(), (p.tensor(),))


# -- reshaping ---------------------------------------------------------------------------------------------------------


@kind(2)
def flatten(p: Pool) -> Step:
    x = p.tensor(2, 3, 4, 5, dtype="any")
    start = p.source.randrange(p.rank(x) - 1)
    end = p.source.randrange(start + 1, p.rank(x))
    return Step(lambda x: x.flatten(start, end), (x,))


@kind(3)
def reshape_keeping(p: Pool) -> Step:
    """Keep one axis, the rest is -1."""
    x = p.tensor(2, 3, 4, dtype="any")
    axis, last = p.axis(x), p.source.random() < 0.5
    return Step(lambda x: x.reshape(*((-1, x.shape[axis]) if last else (x.shape[axis], -1))), (x,))


@kind(2)
def split_axis(p: Pool) -> Step:
    """One axis becomes two, the inner or the outer one a constant."""
    x = p.tensor(dtype="any")
    axis, factor, outer = p.axis(x) % p.rank(x), p.source.choice((2, 2, 3, 4)), p.source.random() < 0.5
    computed = p.source.random() < 0.5

    def function(x: Any) -> Any:
        rest = x.shape[axis] // factor if computed else -1
        pair = (factor, rest) if outer else (rest, factor)
        return x.reshape(*x.shape[:axis], *pair, *x.shape[axis + 1 :])

    return Step(function, (x,))


@kind()
def reshape_to_constant(p: Pool) -> Step:
    number = p.source.choice((1, 2, 4, 8))
    return Step(lambda x: x.reshape(-1, number), (p.tensor(),))


@kind()
def merge_view(p: Pool) -> Step:
    return Step(lambda x: x.contiguous().view(x.shape[0] * x.shape[1], *x.shape[2:]), (p.tensor(2, 3, 4, 5),))


@kind(2)
def transpose(p: Pool) -> Step:
    x = p.tensor(2, 3, 4, dtype="any")
    a, b = p.axis(x), p.axis(x)
    return Step(lambda x: x.transpose(a, b), (x,))


@kind()
def permute(p: Pool) -> Step:
    x = p.tensor(3, 4)
    order = p.source.sample(range(p.rank(x)), p.rank(x))
    return Step(lambda x: x.permute(order), (x,))


@kind(2)
def unsqueeze(p: Pool) -> Step:
    x = p.tensor(1, 2, 3, dtype="any")
    axis = p.axis(x)
    return Step(lambda x: x.unsqueeze(axis), (x,))


@kind()
def squeeze(p: Pool) -> Step:
    x = p.tensor(where=lambda v: 1 in v.shape)
    axis = list(p.values[x].shape).index(1)
    return Step(lambda x: x.squeeze(axis), (x,))


@kind()
def expand(p: Pool) -> Step:
    x, y = p.tensor(1, 2, 3), p.tensor(dtype="any")
    size = p.size(y)
    return Step(lambda x, y: x.unsqueeze(0).expand(size(y), *([-1] * x.dim())), (x, y))


@kind()
def repeat(p: Pool) -> Step:
    x = p.tensor(1, 2, 3)
    times = [p.source.choice((1, 1, 2)) for _ in range(p.rank(x))]
    return Step(lambda x: x.repeat(*times), (x,))


@kind()
def repeat_interleave(p: Pool) -> Step:
    x = p.tensor(1, 2, 3)
    axis = p.axis(x)
    return Step(lambda x: x.repeat_interleave(2, axis), (x,))


@kind()
def flip_or_roll(p: Pool) -> Step:
    x = p.tensor()
    axis, roll = p.axis(x), p.source.random() < 0.5
    return Step(lambda x: x.roll(1, axis) if roll else x.flip(axis), (x,))


@kind()
def pad(p: Pool) -> Step:
    before, after = p.source.choice((0, 1, 2)), p.source.choice((-1, 0, 1, 3))
    return Step(lambda x: F.pad(x, (before, after)), (p.tensor(),))


@kind()
def reflect(p: Pool) -> Step:
    return Step(lambda x: F.pad(x, (1, 2), mode="reflect"), (p.tensor(2, 3),))


@kind()
def unfold(p: Pool) -> Step:
    x = p.tensor(1, 2, 3)
    axis, width, stride = p.axis(x), p.source.choice((2, 3)), p.source.choice((1, 2))
    return Step(lambda x: x.unfold(axis, width, stride), (x,))


@kind()
def triangle(p: Pool) -> Step:
    return Step(torch.tril, (p.tensor(2, 3),))


# -- joining and splitting ---------------------------------------------------------------------------------------------


@kind(3)
def cat(p: Pool) -> Step:
    x = p.tensor()
    y = p.tensor(p.rank(x))
    axis = p.axis(x)
    return Step(lambda *xs: torch.cat(xs, axis), (x, y))


@kind()
def cat_with_zeros(p: Pool) -> Step:
    """Append a constant number of rows."""
    x = p.tensor()
    axis, count = p.axis(x) % p.rank(x), p.source.choice((1, 2))
    return Step(lambda x: torch.cat([x, x.new_zeros(*x.shape[:axis], count, *x.shape[axis + 1 :])], axis), (x,))


@kind()
def stack(p: Pool) -> Step:
    x = p.tensor(1, 2, 3)
    y = p.tensor(p.rank(x))
    return Step(lambda *xs: torch.stack(xs, -1), (x, y))


@kind()
def chunk(p: Pool) -> Step:
    x = p.tensor()
    axis = p.axis(x)
    return Step(lambda x: _unpacked(x.chunk(2, axis), 2), (x,))


@kind(2)
def split(p: Pool) -> Step:
    x = p.tensor(dtype="any")
    axis, count = p.axis(x), p.source.choice((1, 2, 3))
    return Step(lambda x: x.split([count, x.shape[axis] - count], axis), (x,))


def _unpacked(parts: Sequence[Any], count: int) -> Sequence[Any]:
    """Parts that Python unpacks into a number of names."""
    if len(parts) != count:
        raise ValueError(f"{len(parts)} values to unpack, not {count}")
    return parts


@kind()
def split_evenly(p: Pool) -> Step:
    """Parts of one size: as many as in the example, as Python requires where it unpacks them."""
    x = p.tensor(where=lambda v: v.shape[-1] in (4, 6, 8))
    count = p.values[x].shape[-1] // 2
    return Step(lambda x: _unpacked(x.split(2, -1), count), (x,))


@kind()
def unbind(p: Pool) -> Step:
    x = p.tensor(2, 3, where=lambda v: v.shape[0] <= 3)
    count = p.values[x].shape[0]
    return Step(lambda x: _unpacked(x.unbind(0), count), (x,))


# -- indexing ----------------------------------------------------------------------------------------------------------


@kind(3)
def slice_constant(p: Pool) -> Step:
    x = p.tensor(dtype="any")
    axis = p.axis(x) % p.rank(x)
    bounds = slice(
        p.source.choice((None, 0, 1, 2, -3, -5)),
        p.source.choice((None, None, -1, 3, 8, 100)),
        p.source.choice((None, None, 2, 3)),
    )
    return Step(lambda x: x[(slice(None),) * axis + (bounds,)], (x,))


@kind(2)
def slice_computed(p: Pool) -> Step:
    x = p.tensor(dtype="any")
    y = p.tensor(dtype="any")
    axis, size, end = p.axis(x) % p.rank(x), p.size(y), p.source.random() < 0.7
    return Step(
        lambda x, y: x[(slice(None),) * axis + (slice(None, size(y)) if end else slice(size(y), None),)], (x, y)
    )


@kind()
def select(p: Pool) -> Step:
    x = p.tensor(2, 3, 4, dtype="any")
    axis, index = p.axis(x), p.source.choice((0, -1, 2))
    return Step(lambda x: x.select(axis, index), (x,))


@kind()
def narrow(p: Pool) -> Step:
    x = p.tensor()
    axis, length = p.axis(x), p.source.choice((1, 2, 4))
    return Step(lambda x: x.narrow(axis, 1, length), (x,))


@kind()
def embedding(p: Pool) -> Step:
    module = nn.Embedding(50, 8)
    return Step(module, (p.tensor(1, 2, dtype="int64"),), module)


@kind()
def positions(p: Pool) -> Step:
    """A table of positions that the last axis must fit into."""
    module = nn.Embedding(20, 8)
    x = p.tensor(2, 3)
    return Step(lambda x: module(torch.arange(x.shape[-2])), (x,), module)


@kind()
def index_by_tensor(p: Pool) -> Step:
    x, i = p.tensor(where=lambda v: v.shape[0] >= 4), p.tensor(1, 2, dtype="int64")
    return Step(lambda x, i: x[i.clamp(0, 1)], (x, i))


@kind()
def gather(p: Pool) -> Step:
    x = p.tensor(1, 2)
    return Step(lambda x: x.gather(-1, x.argsort(-1)), (x,))


@kind()
def ranking(p: Pool) -> Step:
    x, count = p.tensor(), p.source.choice((1, 2, 3))
    return Step(lambda x: x.topk(count, -1), (x,))


@kind()
def sort(p: Pool) -> Step:
    return Step(lambda x: x.sort(-1), (p.tensor(),))


# -- products and layers -----------------------------------------------------------------------------------------------


@kind(3)
def linear(p: Pool) -> Step:
    x = p.tensor(where=lambda v: v.shape[-1] in (3, 4, 6, 8))
    module = nn.Linear(p.values[x].shape[-1], p.source.choice((4, 6, 8)))
    return Step(module, (x,), module)


@kind(2)
def matmul(p: Pool) -> Step:
    return Step(torch.matmul, (p.tensor(), p.tensor()))


@kind()
def gram(p: Pool) -> Step:
    return Step(lambda x: x @ x.transpose(-1, -2), (p.tensor(2, 3, 4),))


@kind()
def einsum(p: Pool) -> Step:
    return Step(lambda x, y: torch.einsum("bic,bjc->bij", x, y), (p.tensor(3), p.tensor(3)))


@kind()
def conv1d(p: Pool) -> Step:
    x = p.tensor(3)
    channels, s = p.values[x].shape[1], p.source
    if channels > 8:
        raise NoOperandError
    module = nn.Conv1d(channels, 4, s.choice((1, 2, 3)), s.choice((1, 2)), s.choice((0, 1)), s.choice((1, 2)))
    return Step(module, (x,), module)


@kind(2)
def conv2d(p: Pool) -> Step:
    x = p.tensor(4)
    channels, s = p.values[x].shape[1], p.source
    if channels > 8:
        raise NoOperandError
    module: nn.Module
    if s.random() < 0.25:
        module = nn.ConvTranspose2d(channels, 4, s.choice((2, 3)), 2, s.choice((0, 1)))
    else:
        module = nn.Conv2d(channels, s.choice((3, 4, 6)), s.choice((1, 3, 5)), s.choice((1, 2)), s.choice((0, 1, 2)))
    return Step(module, (x,), module)


POOLS = (nn.MaxPool2d(2), nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2), nn.MaxPool2d(2, ceil_mode=True), nn.AvgPool2d(3, 1))


@kind(2)
def pool2d(p: Pool) -> Step:
    return Step(p.source.choice(POOLS), (p.tensor(4),))


@kind()
def pool1d(p: Pool) -> Step:
    return Step(p.source.choice((nn.MaxPool1d(2), nn.AvgPool1d(3, 2))), (p.tensor(3),))


@kind()
def adaptive(p: Pool) -> Step:
    size = p.source.choice((1, 2, 3))
    return Step(lambda x: F.adaptive_avg_pool2d(x, size), (p.tensor(4),))


@kind()
def interpolate(p: Pool) -> Step:
    if p.source.random() < 0.5:
        return Step(lambda x: F.interpolate(x, scale_factor=2.0), (p.tensor(3, 4),))
    return Step(lambda x, y: F.interpolate(x, size=y.shape[2:]), (p.tensor(4), p.tensor(4)))


@kind(2)
def normalize(p: Pool) -> Step:
    x = p.tensor(2, 3, 4, where=lambda v: v.shape[-1] in (4, 6, 8) or v.dim() == 4)
    value = p.values[x]
    module = nn.BatchNorm2d(value.shape[1]).eval() if value.dim() == 4 else nn.LayerNorm(value.shape[-1])
    return Step(module, (x,), module)


@kind()
def group_norm(p: Pool) -> Step:
    x = p.tensor(3, 4, where=lambda v: v.shape[1] in (4, 6, 8))
    module = nn.GroupNorm(2, p.values[x].shape[1])
    return Step(module, (x,), module)


@kind()
def attention(p: Pool) -> Step:
    causal = p.source.random() < 0.5
    return Step(
        lambda x, y: F.scaled_dot_product_attention(x, y, y, is_causal=causal), (p.tensor(3, 4), p.tensor(3, 4))
    )


@kind()
def heads(p: Pool) -> Step:
    """Attention of two heads over the last axis."""
    x = p.tensor(3, where=lambda v: v.shape[-1] % 2 == 0)

    def function(x: Any) -> Any:
        y = x.view(x.shape[0], x.shape[1], 2, -1).transpose(1, 2)
        y = (y @ y.transpose(-2, -1)).softmax(-1) @ y
        return y.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1)

    return Step(function, (x,))


@kind()
def softmax(p: Pool) -> Step:
    x = p.tensor()
    axis = p.axis(x)
    return Step(lambda x: x.softmax(axis), (x,))


# -- reductions --------------------------------------------------------------------------------------------------------


@kind(3)
def reduce(p: Pool) -> Step:
    x = p.tensor()
    axis, keep = p.axis(x), p.source.random() < 0.5
    function = p.source.choice(
        (torch.sum, torch.mean, torch.amax, torch.amin, torch.std, torch.logsumexp, torch.argmax)
    )
    return Step(lambda x: function(x, axis, keepdim=keep), (x,))


@kind()
def reduce_axes(p: Pool) -> Step:
    keep = p.source.random() < 0.5
    return Step(lambda x: x.mean((-2, -1), keepdim=keep), (p.tensor(3, 4),))


@kind()
def best(p: Pool) -> Step:
    x = p.tensor()
    axis = p.axis(x)
    return Step(lambda x: tuple(x.max(axis)), (x,))


@kind()
def cumulate(p: Pool) -> Step:
    x = p.tensor()
    axis = p.axis(x)
    return Step(lambda x: x.cumsum(axis), (x,))


# -- tensors of computed sizes -----------------------------------------------------------------------------------------


@kind()
def arange(p: Pool) -> Step:
    x = p.tensor(dtype="any")
    size, step = p.size(x), p.source.choice((1, 1, 2))
    return Step(lambda x: torch.arange(0, size(x), step), (x,))


@kind(2)
def filled(p: Pool) -> Step:
    x = p.tensor(dtype="any")
    a, b = p.size(x), p.size(x)
    function = p.source.choice((torch.zeros, torch.ones))
    return Step(lambda x: function(a(x), b(x)), (x,))


@kind()
def mask_of_size(p: Pool) -> Step:
    x = p.tensor(2, 3)
    return Step(lambda x: torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool).tril(), (x,))


@kind()
def by_item(p: Pool) -> Step:
    """Rows of a number that an element has."""

    def function(x: Any) -> Any:
        number = x.flatten()[0].item()
        torch._check(number >= 0)
        return torch.zeros(number, 3)

    return Step(function, (p.tensor(dtype="int64"),))


@kind()
def nonzero(p: Pool) -> Step:
    return Step(torch.nonzero, (p.tensor(dtype="bool"),))


@kind()
def select_by_mask(p: Pool) -> Step:
    x = p.tensor()
    return Step(lambda x: x[x > 0], (x,))


def _cond(holds: Callable[[Any], Any], first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Any:
    """torch.cond where the program is exported; eagerly, torch would compile the bodies first."""

    def function(x: Any) -> Any:
        if torch.compiler.is_compiling():
            return torch.cond(holds(x), first, second, (x,))
        return first(x) if holds(x) else second(x)

    return function


@kind()
def cond_on_data(p: Pool) -> Step:
    return Step(_cond(lambda x: x.sum() > 0, lambda y: y.relu() + 1, lambda y: y.sin() * 2), (p.tensor(),))


@kind()
def cond_on_size(p: Pool) -> Step:
    x = p.tensor()
    axis = p.axis(x)
    return Step(_cond(lambda x: x.shape[axis] > 4, lambda y: y.sum(0), lambda y: y.amax(0).cos()), (x,))
