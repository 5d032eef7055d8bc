"""Flat graphs of many operations: shapes as the `nnef` package infers them.

Operations with known defects of the package are not drawn: `linear` of a rank above 2, `add_n` with broadcasting, the
operations on regions, a singular bias of a convolution, slices and samples with a stride, unsorted axes to unsqueeze.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapeinf import infer_shapes

package = pytest.importorskip("nnef", reason="the nnef package is the oracle of these tests")

UNARY = ("relu", "sigmoid", "tanh", "softmax", "neg", "abs", "exp", "sqr", "copy", "softplus", "gelu", "floor")
BINARY = ("add", "sub", "mul", "div", "min", "max", "pow")
REDUCE = ("sum_reduce", "mean_reduce", "max_reduce", "min_reduce")


class Drawn:
    """A document that grows by operations whose operands fit, with the package's shapes."""

    def __init__(self, draw):
        self.draw = draw
        self.inputs = []
        self.lines = []
        self.shapes = {}

    def choice(self, *choices):
        return self.draw(st.sampled_from(choices))

    def flags(self, count):
        return self.draw(st.lists(st.booleans(), min_size=count, max_size=count))

    def source(self):
        rank = self.draw(st.integers(2, 5))
        shape = [self.choice(1, 2, 3, 4, 6, 8, 9) for _ in range(rank)]
        self.inputs.append(self.add(f"external<scalar>(shape = {shape})", shape))

    def variable(self, shape):
        return self.add(f"variable<scalar>(shape = {shape}, label = 'v{len(self.shapes)}')", list(shape))

    def add(self, right, *shapes):
        names = [f"t{len(self.shapes) + i}" for i in range(len(shapes))]
        left = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
        self.lines.append(f"    {left} = {right};")
        self.shapes.update(zip(names, shapes, strict=True))
        return names[0]

    def grow(self):
        """Add an operation on an existing tensor; not on one cut to a vector: many need a matrix."""
        x = self.choice(*(name for name, shape in self.shapes.items() if len(shape) > 1))
        getattr(self, self.choice(*STEPS))(x, self.shapes[x])

    def unary(self, x, shape):
        self.add(f"{self.choice(*UNARY)}({x})", shape)

    def binary(self, x, shape):
        other = [d if keep else 1 for d, keep in zip(shape, self.flags(len(shape)), strict=True)]
        cut = self.draw(st.integers(1, len(shape)))
        y = self.variable(other[:cut])
        first, second = self.choice((x, y), (y, x))
        self.add(f"{self.choice(*BINARY)}({first}, {second})", shape)

    def reduction(self, x, shape):
        axes = [i for i, chosen in enumerate(self.flags(len(shape))) if chosen]
        if axes:
            self.add(
                f"{self.choice(*REDUCE)}({x}, axes = {axes})", [1 if i in axes else d for i, d in enumerate(shape)]
            )

    def window(self, spatial):
        """Padding, stride and dilation for windows, with their output extents."""
        size = [self.choice(1, 2, 3) for _ in spatial]
        stride = [self.choice(1, 1, 2, 3) for _ in spatial]
        dilation = [self.choice(1, 1, 2) for _ in spatial]
        padding = [(self.choice(0, 1, 2), self.choice(0, 1)) for _ in spatial]
        if self.draw(st.booleans()):
            return (
                size,
                f"stride = {stride}, dilation = {dilation}, padding = []",
                [-(-d // s) for d, s in zip(spatial, stride, strict=True)],
            )
        room = [d + p + q - (f - 1) * g - 1 for d, f, g, (p, q) in zip(spatial, size, dilation, padding, strict=True)]
        if min(room) < 0:
            return None
        extents = [r // s + 1 for r, s in zip(room, stride, strict=True)]
        return size, f"stride = {stride}, dilation = {dilation}, padding = {padding}", extents

    def convolution(self, x, shape):
        drawn = self.window(shape[2:]) if len(shape) > 2 else None
        if drawn is None:
            return
        size, attributes, extents = drawn
        groups = self.choice(*(g for g in (1, 2, 3) if shape[1] % g == 0))
        channels = groups * self.choice(1, 2)
        weights = self.variable([channels, shape[1] // groups, *size])
        bias = self.variable([1, channels])
        call = f"conv({x}, {weights}, {bias}, {attributes}, groups = {groups}, border = 'constant')"
        self.add(call, [shape[0], channels, *extents])

    def pooling(self, x, shape):
        drawn = self.window(shape)
        if drawn is not None:
            size, attributes, extents = drawn
            self.add(
                f"{self.choice('max_pool', 'avg_pool', 'box')}({x}, size = {size}, {attributes}, border = 'ignore')",
                extents,
            )

    def moving(self, x, shape):
        axes = self.draw(st.permutations(range(len(shape))))
        self.add(f"transpose({x}, axes = {list(axes)})", [shape[a] for a in axes])

    def flattening(self, x, shape):
        volume = 1
        for d in shape[1:]:
            volume *= d
        self.add(f"reshape({x}, shape = [0, -1])", [shape[0], volume])

    def joining(self, x, shape):
        axis = self.draw(st.integers(0, len(shape) - 1))
        other = [self.choice(1, 2, 3) if i == axis else d for i, d in enumerate(shape)]
        y = self.variable(other)
        joined = [d + other[i] if i == axis else d for i, d in enumerate(shape)]
        self.add(f"concat([{x}, {y}], axis = {axis})", joined)

    def parting(self, x, shape):
        axis = self.draw(st.integers(0, len(shape) - 1))
        if shape[axis] % 3 == 0:
            parts = [[d // 3 * r if i == axis else d for i, d in enumerate(shape)] for r in (1, 2)]
            self.add(f"split({x}, axis = {axis}, ratios = [1, 2])", *parts)

    def slicing(self, x, shape):
        axis = self.draw(st.integers(0, len(shape) - 1))
        begin = self.draw(st.integers(0, shape[axis] - 1))
        end = self.draw(st.integers(begin + 1, shape[axis]))
        self.add(
            f"slice({x}, axes = [{axis}], begin = [{begin}], end = [{end}])",
            [end - begin if i == axis else d for i, d in enumerate(shape)],
        )

    def product(self, x, shape):
        columns = self.choice(1, 4, 5)
        y = self.variable([*shape[:-2], shape[-1], columns])
        self.add(f"matmul({x}, {y})", [*shape[:-1], columns])

    def axes(self, x, shape):
        if 1 in shape and len(shape) > 2:
            axis = shape.index(1)
            self.add(f"squeeze({x}, axes = [{axis}])", [d for i, d in enumerate(shape) if i != axis])
        elif len(shape) < 6:
            axis = self.draw(st.integers(0, len(shape)))
            self.add(f"unsqueeze({x}, axes = [{axis}])", [*shape[:axis], 1, *shape[axis:]])

    def growing(self, x, shape):
        if max(shape) < 200:
            repeats = [self.choice(1, 1, 2) for _ in shape]
            self.add(f"tile({x}, repeats = {repeats})", [d * r for d, r in zip(shape, repeats, strict=True)])

    def document(self):
        *_, last = self.shapes
        names = ", ".join(self.inputs)
        body = "\n".join(self.lines)
        return f"version 1.0;\n\ngraph g( {names} ) -> ( result )\n{{\n{body}\n    result = copy({last});\n}}\n"


STEPS = (
    *("unary", "binary", "reduction", "convolution", "pooling", "moving", "flattening", "joining", "parting"),
    *("slicing", "product", "axes", "growing"),
)


@st.composite
def documents(draw, most):
    drawn = Drawn(draw)
    for _ in range(draw(st.integers(1, 2))):
        drawn.source()
    for _ in range(draw(st.integers(1, most))):
        drawn.grow()
    return drawn.document()


def check(text):
    graph = package.parse_string(text)
    package.infer_shapes(graph)
    result = infer_shapes(text)
    assert not [d for d in result.diagnostics if d.severity == "error"], (text, result.diagnostics)
    assert {name: list(info.shape) for name, info in result.tensors.items()} == {
        name: tensor.shape for name, tensor in graph.tensors.items()
    }, text


@given(documents(12))
def test_flat_graphs_have_the_shapes_of_the_package(text):
    check(text)


@pytest.mark.slow
@settings(max_examples=3000)
@given(documents(60))
def test_large_flat_graphs_have_the_shapes_of_the_package(text):
    check(text)
