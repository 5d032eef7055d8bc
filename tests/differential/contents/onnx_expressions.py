"""Expressions between a size and a shape in ONNX operators: the sizes of a tensor, computed from those of another.

Each text is a call of operators by name; lists and numbers are constants. `s` is the shape of the input `x`, `n` and
`m` are its sizes as vectors of one element, `f` and `g` the same ones in float32.
"""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper

OPSET = 25
SIZES = ((7, 3), (48, 5), (49, 2), (161, 4), (343, 6), (640, 9))
"""Sizes of `x`; 49 and 343 are powers of 7."""

TEXTS = """
add: Add(n, m)
subtract: Sub(n, m)
product: Mul(n, m)
division: Div(n, [4])
negated division: Neg(Div(Neg(n), [4]))
remainder: Mod(n, [32])
remainder as in C: Mod(n, [32], fmod=1)
padding to a multiple: Mod(Sub([32], Mod(n, [32])), [32])
power: Pow(m, [2])
absolute: Abs(Sub(m, n))
sign: Add(Sign(Sub(n, m)), [3])
maximum: Max(n, m, [100])
minimum: Min(n, [100])
clip: Clip(n, 10, 200)
sum of floats: Sum(f, g, [1.0])
mean of two: Mean(f, g)
mean of three: Mean(f, g, [2.0])
sum of all: ReduceSum(s)
product of all: ReduceProd(s)
largest: ReduceMax(s)
smallest: ReduceMin(s)
mean of all: ReduceMean(s)
mean of floats: ReduceMean(Cast(s, to=1))
sum of squares: ReduceSumSquare(s)
sum of absolutes: ReduceL1(s)
norm: ReduceL2(Cast(s, to=1))
logarithm of sum: Mul(ReduceLogSum(Cast(s, to=1)), [10.0])
running sum: Gather(CumSum(s, 0), [1])
running sum from the end: Gather(CumSum(s, 0, reverse=1), [0])
exclusive running sum: Gather(CumSum(s, 0, exclusive=1), [1])
matrix product: MatMul(s, [[1, 0], [1, 2]])
dot: MatMul(s, [2, 3])
float matrix product: MatMul(Cast(s, to=1), [[0.5, 1.0], [2.0, 3.0]])
gemm: Gemm(Cast(Unsqueeze(s, [0]), to=1), [[1.0, 0.0], [3.0, 2.0]], [1.0, 2.0])
einsum: Einsum(Cast(s, to=1), [1.0, 10.0], equation='i,i->')
outer: Einsum(f, g, equation='i,j->ij')
shift right: Cast(BitShift(Cast(n, to=13), Cast([1], to=13), direction='RIGHT'), to=7)
shift left: Cast(BitShift(Cast(m, to=12), Cast([3], to=12), direction='LEFT'), to=7)
low bits: BitwiseAnd(n, [15])
without low bits: BitwiseAnd(Add(n, [31]), [-32])
or: BitwiseOr(n, [8])
xor: BitwiseXor(n, [5])
inverted: Neg(BitwiseNot(n))
half: Mul(f, [0.5])
quotient: Div(f, [3.0])
ceil: Ceil(Div(f, [4.0]))
floor: Floor(Div(f, [2.5]))
round: Round(Div(f, [8.0]))
remainder of floats: Mod(f, [6.0], fmod=1)
square root: Ceil(Sqrt(f))
reciprocal: Mul(Reciprocal(f), [1000.0])
exponential: Exp(g)
logarithm: Mul(Log(f), [10.0])
next power of two: Pow([2.0], Ceil(Div(Log(f), [0.6931471805599453])))
float power: Pow(f, [0.8])
hyperbolic tangent: Mul(Tanh(Div(f, [100.0])), [50.0])
sine: Add(Mul(Sin(f), [10.0]), [11.0])
cosine: Add(Mul(Cos(f), [10.0]), [11.0])
arctangent: Mul(Atan(f), [20.0])
sigmoid: Mul(Sigmoid(Div(f, [100.0])), [50.0])
softplus: Softplus(g)
error function: Mul(Erf(Div(f, [500.0])), [50.0])
hyperbolic sine: Sinh(g)
relu: Relu(Sub(f, [5.0]))
double: Mul(Cast(n, to=11), Cast([1.5], to=11))
half precision: Mul(Cast(m, to=10), Cast([3.0], to=10))
where: Where(Greater(n, [100]), n, [100])
even: Where(Equal(Mod(n, [2]), [0]), Div(n, [2]), Div(Add(n, [1]), [2]))
greater: Add(Cast(Greater(n, [50]), to=7), [1])
not greater: Add(n, Cast(Not(Greater(m, [4])), to=7))
less or equal: Add(Cast(LessOrEqual(n, [49]), to=7), [1])
and: Add(Cast(And(Greater(n, [10]), Less(m, [5])), to=7), [1])
or of conditions: Add(Cast(Or(Greater(n, [100]), Less(m, [4])), to=7), [1])
xor of conditions: Add(Cast(Xor(Greater(n, [100]), Less(m, [4])), to=7), [1])
is infinite: Add(Cast(IsInf(f), to=7), n)
is not a number: Add(Cast(IsNaN(f), to=7), n)
arg max: Add(ArgMax(s, axis=0), [1])
arg min: Add(ArgMin(s, axis=0, keepdims=0), [1])
last arg max: Add(ArgMax([3, 7, 7], axis=0, select_last_index=1), m)
largest two: Gather(TopK(Concat(s, [100], axis=0), [2], outputs=2)[0], [1])
position of largest: Add(TopK(Concat(s, [100], axis=0), [1], outputs=2)[1], [1])
smallest by top k: TopK(Concat(s, [100], axis=0), [1], largest=0, outputs=2)[0]
unique: Shape(Unique(Concat(n, [49], m, [49], axis=0)))
unique counts: Gather(Unique(Concat(n, [49], m, [49], axis=0), sorted=0, outputs=4)[3], [0])
unique of a constant: Shape(Unique([3, 1, 3]))
non zero: Shape(NonZero(Sub(s, [49, 2])))
compress: Compress(Concat(s, [5], axis=0), Cast([1, 0, 1], to=9))
one hot: ReduceSum(Mul(OneHot([1], 2, [0, 1]), s))
gather: Gather(s, [1])
gather elements: GatherElements(s, [1, 0])
gather nd: GatherND(s, [[1]])
batched gather nd: GatherND(Unsqueeze(s, [0]), [[1]], batch_dims=1)
scatter: Mul(ScatterElements(s, [0], [9]), [1, 2])
scatter add: ScatterElements(s, [0, 0], [9, 1], reduction='add')
scatter nd: ScatterND(s, [[1]], [9])
scatter nd max: ScatterND(s, [[0]], [100], reduction='max')
triangle: ReduceSum(Trilu(Concat(Unsqueeze(s, [0]), [[1, 2]], axis=0)), [0])
diagonal by eye: ReduceSum(Mul(EyeLike([[1, 1], [1, 1]]), s), [0])
reverse sequence: ReverseSequence(Concat(Unsqueeze(s, [0]), [[1, 2]], axis=0), [2, 1], batch_axis=0, time_axis=1)
slice: Slice(s, [0], [1])
backward slice: Slice(s, [-1], [-9], [0], [-1])
split: Split(s, num_outputs=2, outputs=2)[1]
concat: Concat(s, [7], axis=0)
flatten: Flatten(Unsqueeze(s, [0]))
transpose: Transpose(Concat(Unsqueeze(s, [0]), [[1, 2]], axis=0))
tile: Tile(m, [3])
expand: Expand(m, [3])
pad: Pad(m, [1, 1], 4)
range: Range(Squeeze(m), Add(Squeeze(m), 10), 3)
reshape: Reshape(s, [1, 2])
constant of shape: ConstantOfShape([2])
size: Size(x)
dropout: Dropout(f)
bit cast: BitCast(BitCast(Cast(n, to=6), to=1), to=6)
text and back: Cast(Cast(n, to=8), to=7)
joined text: Cast(StringConcat(Cast(m, to=8), Cast([1], to=8)), to=7)
text in a condition: Where(Equal(Cast(m, to=8), Cast([4], to=8)), n, [1])
split text: Cast(Gather(Squeeze(StringSplit(Cast(n, to=8), delimiter=',', outputs=2)[0], [0]), [0]), to=7)
item of a sequence: SequenceAt(SequenceConstruct(n, m), 1)
concatenated sequence: ConcatFromSequence(SequenceConstruct(n, m), axis=0)
stacked sequence: Reshape(ConcatFromSequence(SequenceConstruct(Squeeze(n), Squeeze(m)), axis=0, new_axis=1), [-1])
item that is inserted: SequenceAt(SequenceInsert(SequenceConstruct(n), m, 0), 0)
rest of a sequence: SequenceAt(SequenceErase(SequenceConstruct(n, m), 0), 0)
split into a sequence: SequenceAt(SplitToSequence(s, axis=0), 1)
split into scalars: SequenceAt(SplitToSequence(s, axis=0, keepdims=0), -1)
split by sizes: SequenceAt(SplitToSequence(s, [1, 1], axis=0), 0)
length of a sequence: Add(SequenceLength(SequenceConstruct(n, m)), n)
""".strip().splitlines()

OPSETS = {"bit cast": 26}
"""The opsets of expressions with newer operators."""

EXPRESSIONS = dict(line.split(": ", 1) for line in TEXTS)

UNKNOWN = {}
"""Expressions whose size is unknown by nature, with the reason."""


class _Builder(dict):
    """The names of an expression: values, and functions that add a node of an operator."""

    def __init__(self):
        super().__init__(x="x", s="s", n="n", m="m", f="f", g="g")
        self.nodes, self.constants = [], []
        self.constant(np.array([0]), "first")
        self.constant(np.array([1]), "second")
        self.node("Shape", "x", name="s")
        for name, position, number in (("n", "first", "f"), ("m", "second", "g")):
            self.node("Gather", "s", position, name=name)
            self.node("Cast", name, name=number, to=1)

    def __missing__(self, op):
        if not op[0].isupper():
            raise KeyError(op)
        return lambda *operands, **attributes: self.node(op, *operands, **attributes)

    def constant(self, value, name=None):
        array = np.asarray(value)
        array = array.astype(np.float32) if array.dtype == np.float64 else array
        self.constants.append(numpy_helper.from_array(array, name or f"c{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op, *operands, name=None, outputs=1, **attributes):
        inputs = [o if isinstance(o, str) else self.constant(o) for o in operands]
        names = [name or f"v{len(self.nodes)}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names if outputs > 1 else names[0]


def model(name):
    """The model of an expression: a tensor `y` with the computed sizes, `size` the sizes themselves."""
    builder = _Builder()
    value = eval(EXPRESSIONS[name], {}, builder)
    builder.node("Cast", value, name="number", to=7)
    builder.node("Reshape", "number", [-1], name="size")
    builder.node("ConstantOfShape", "size", name="y")
    graph = helper.make_graph(
        builder.nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, ["n", "m"])],
        [helper.make_empty_tensor_value_info("size"), helper.make_empty_tensor_value_info("y")],
        builder.constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSETS.get(name, OPSET))], ir_version=10)
