"""Rules called with arbitrary inputs: an outcome or a typed error, in bounded time."""

import random

import pytest

from shapeinf import ShapeInferenceError
from shapeinf.graph import DeclaredType, FunctionReference
from shapeinf.lattice import HandleType, OptionalType, PartialTensor, SequenceType, Shape, ShapeStore, TensorType
from shapeinf.ops import default_registry
from shapeinf.ops.run import Call

DTYPES = ("float32", "float32", "int64", "int64", "int32", "bool", "string", "uint8", "float16", "complex64", None)
SHAPES = ((), (1,), (2,), (3,), (4,), (0,), (2, 2), (1, 1), (8,))
INTS = (0, 1, -1, 2, 3, -2, 4, 5, 7, 100, -5, 2**40, -(2**63))
FLOATS = (0.0, 1.0, -1.0, 0.5, 2.5, 1e30, float("inf"), float("nan"))
WORDS = ("x", "", "NOTSET", "SAME_UPPER", "VALID", "ij,jk->ik", "i...,j", "nearest", "bidirectional", "reverse")
ELEMENTS = {
    **dict.fromkeys(("float32", "float16"), FLOATS),
    **dict.fromkeys(("uint8", "int32"), (0, 1, 2, 3, 7, 100)),
    **{"int64": (*INTS, 2**63 - 1), "bool": (False, True), "string": ("", "a", "b,c", "i->i")},
}


class Draw(random.Random):
    """Types and attributes."""

    handles = False

    def dim(self, store):
        scope = store.scope
        n, kind = scope.symbol(self.choice("nmk")), self.random()
        if kind < 0.45:
            return self.choice((0, 1, 1, 2, 3, 4, 5, 8, 16, 64))
        if kind < 0.75:
            return n
        if kind < 0.85:
            return scope.fresh("unknown", 0, self.choice((None, 3)))
        return n * self.choice((1, 2, 3)) + self.choice((-1, 0, 1, 2)) if kind < 0.95 else n // 2

    def tensor(self, store):
        dtype, kind = self.choice(DTYPES), self.random()
        if kind < 0.07:
            return PartialTensor(dtype, Shape.unknown(), None)
        if kind < 0.6 or dtype not in ELEMENTS:
            return PartialTensor(
                dtype, Shape(self.dim(store) for _ in range(self.choice((0, 1, 1, 2, 2, 3, 3, 4, 4, 5)))), None
            )
        dims = self.choice(SHAPES)
        count = dims[0] * dims[-1] if len(dims) == 2 else sum(dims) if dims else 1
        return PartialTensor(dtype, Shape(dims), [self.element(store, dtype) for _ in range(count)])

    def element(self, store, dtype):
        if self.random() < 0.2:
            return None
        return store.scope.symbol("n") if dtype == "int64" and self.random() < 0.25 else self.choice(ELEMENTS[dtype])

    def type(self, store):
        kind = self.random()
        if kind < 0.06 and not self.handles:
            return None
        if self.handles:  # TensorFlow has no sequences
            return self.handle(store) if kind < 0.12 else self.tensor(store)
        if kind < 0.12:
            return SequenceType(self.tensor(store), self.choice((None, 0, 1, 2, store.scope.symbol("n"))))
        return OptionalType(self.tensor(store)) if kind < 0.14 else self.tensor(store)

    def declared_shape(self):
        sizes = [self.choice((None, 0, 1, 2, 3, 64, 2**40)) for _ in range(self.choice((0, 1, 2, 3, 4)))]
        return DeclaredType(dims=None if self.random() < 0.1 else tuple(sizes))

    def handle(self, store):
        values = self.choice((None, (), (self.tensor(store),), (self.tensor(store), self.tensor(store))))
        length = self.choice((None, 0, 2, self.dim(store)))
        return HandleType(
            self.choice(("resource", "variant", "float32")),
            Shape([self.dim(store)] * self.choice((0, 0, 1))),
            values,
            length,
        )

    def attribute(self, defined):
        if defined.allowed and self.random() < 0.8:
            value = self.choice(defined.allowed)
            return (value,) if defined.type.startswith("list(") else value
        several = range(self.choice((0, 1, 2, 2, 3, 4, 4, 8)))
        return {
            "int": lambda: self.choice(INTS),
            "float": lambda: self.choice(FLOATS),
            "string": lambda: self.choice((*WORDS, defined.default or "x")),
            "ints": lambda: tuple(self.choice((0, 1, 1, 2, 2, 3, -1, -2, self.choice(INTS))) for _ in several),
            "floats": lambda: tuple(self.choice(FLOATS) for _ in several),
            "strings": lambda: tuple(self.choice("abc") for _ in several),
            "tensor": lambda: self.tensor(ShapeStore()),
            "bool": lambda: self.choice((False, True)),
            "type": lambda: self.choice(DTYPES[:-1]),
            "shape": lambda: self.declared_shape(),
            "list(int)": lambda: tuple(self.choice((0, 1, 1, 2, 2, 3, -1, -2, self.choice(INTS))) for _ in several),
            "list(float)": lambda: tuple(self.choice(FLOATS) for _ in several),
            "list(string)": lambda: tuple(self.choice("abc") for _ in several),
            "list(bool)": lambda: tuple(self.choice((False, True)) for _ in several),
            "list(type)": lambda: tuple(self.choice(DTYPES[:-1]) for _ in several),
            "list(shape)": lambda: tuple(self.declared_shape() for _ in several),
            "func": lambda: FunctionReference(("", self.choice("fg"), "")),
            "list(func)": lambda: tuple(FunctionReference(("", "f", "")) for _ in several),
        }.get(defined.type, lambda: defined.default)()


def operators(dialect):
    """The operators with a rule and without bodies."""
    definitions = default_registry().dialect(dialect)
    defined = ((definitions.lookup(*key), key[2]) for key in sorted(set(definitions)))
    return [(d, v) for d, v in defined if d is not None and not any(a.type == "graph" for a in d.attributes.values())]


@pytest.mark.parametrize("times", [20_000, pytest.param(600_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dialect", ["onnx", "nnef", "tf"])
def test_an_outcome_or_an_error_of_ours(dialect, times):
    draw, known, outcomes = Draw(times), operators(dialect), 0
    draw.handles = dialect == "tf"
    for _ in range(times):
        op_def, version = draw.choice(known)
        store, arity = ShapeStore(), len(op_def.inputs)
        inputs = [draw.type(store) for _ in range(draw.choice((0, 1, arity, arity, arity, arity + 1, arity + 2)))]
        if inputs and draw.random() < 0.4:  # equal operands are more likely to fit
            inputs = [inputs[0] if draw.random() < 0.6 else value for value in inputs]
        wanted = [a for a in op_def.attributes.values() if a.required or draw.random() < 0.5]
        attrs = {a.name: draw.attribute(a) for a in wanted if a.name.isidentifier()}
        attrs = {name: value for name, value in attrs.items() if value is not None}
        outputs = (True,) * draw.choice((1, 1, len(op_def.outputs) or 1, 3))
        try:
            outcome = Call(op_def, attrs, version, outputs).run(inputs, store, "node")
        except ShapeInferenceError:
            continue
        except Exception as error:
            raise AssertionError(f"{op_def.name} (version {version}) of {inputs} with {attrs}: {error!r}") from error
        outcomes += 1
        assert all(isinstance(output, (TensorType, SequenceType)) for output in outcome.types)
    assert outcomes > times / 10
