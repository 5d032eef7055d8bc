"""Operators of torch's own that pnnx keeps, `aten::NAME`, with the same calls in torch, which cannot run the networks.

The expected types are those of the calls; a slow test runs these.
"""

from __future__ import annotations

import re

import attrs
import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from shapeinf.lattice.dtypes import SHORT_NAMES
from tests.differential.pnnx.case import parse_types
from tests.differential.pnnx.record import DTYPES

SHORT = {name: short for short, name in SHORT_NAMES.items()}


@attrs.frozen
class Call:
    """An operator with its arguments as expressions, inputs `x` and `y`, the call in torch, and the outputs."""

    operator: str
    arguments: tuple[str, ...]
    inputs: str
    call: str
    outputs: str = ""

    def __str__(self):
        return self.call or f"{self.operator}({', '.join(self.arguments)})"

    @property
    def types(self):
        """(element type, sizes) of the inputs, and of the outputs."""
        return [parse_types(text) for text in (self.inputs, self.outputs)]

    @property
    def param(self):
        """The network: an expression for each argument that is not an input, the operator, the items of its list."""
        inputs, outputs = self.types
        lines = [f"pnnx.Input in{i} 0 1 {i}" for i in range(len(inputs))]
        blobs = []
        for number, text in enumerate(self.arguments):
            blobs.append(text[1:] if re.fullmatch(r"@\d", text) else f"a{number}")
            if blobs[-1] == f"a{number}":
                used = [str(i) for i in range(len(inputs))] if "@" in text else []
                lines.append(f"pnnx.Expression e{number} {len(used)} 1 {' '.join(used)} a{number} expr={text}")
        lines.append(f"{self.operator} op {len(blobs)} 1 {' '.join(blobs)} r")
        results = [f"r{i}" for i in range(len(outputs))] if len(outputs) > 1 else ["r"]
        if len(outputs) > 1:
            lines.append(f"prim::ListUnpack items 1 {len(results)} r {' '.join(results)}")
        lines.append(f"pnnx.Output out {len(results)} 0 {' '.join(results)}")
        return f"7767517\n{len(lines)} 0\n" + "\n".join(lines) + "\n"

    def infer(self, symbolic=False):
        """The result for these inputs, and the values of its symbols: a name for each size, if `symbolic`."""
        specs, binding = {}, {}
        for i, (dtype, dims) in enumerate(self.types[0]):
            names = [f"in{i}_{axis}" if symbolic else str(size) for axis, size in enumerate(dims)]
            binding |= dict(zip(names, dims, strict=True)) if symbolic else {}
            specs[str(i)] = f"{dtype}[{','.join(names)}]"
        return infer_shapes(self.param, inputs=specs), binding


CALLS = [
    Call(
        "aten::broadcast_tensors",
        ("[@0,@1]",),
        "f32[2,1,3] f16[4,1]",
        "torch.broadcast_tensors(x, y)",
        "f32[2,4,3] f16[2,4,3]",
    ),
    Call("aten::new_full", ("@0", "[size(@0,1),5]", "2.5"), "f16[2,7]", "x.new_full((x.size(1), 5), 2.5)", "f16[7,5]"),
    Call("aten::unfold", ("@0", "1", "3", "2"), "f32[2,7,4]", "x.unfold(1, 3, 2)", "f32[2,3,4,3]"),
    Call("aten::unfold", ("@0", "-1", "2", "1"), "i64[5]", "x.unfold(-1, 2, 1)", "i64[4,2]"),
    Call("aten::unfold", ("@0", "0", "4", "3"), "f32[4,2]", "x.unfold(0, 4, 3)", "f32[1,2,4]"),
    Call(
        "aten::unsafe_chunk",
        ("@0", "3", "-1"),
        "f32[2,7]",
        "torch.unsafe_chunk(x, 3, -1)",
        "f32[2,3] f32[2,3] f32[2,1]",
    ),
    Call("aten::unsafe_chunk", ("@0", "2"), "i64[5,3]", "torch.unsafe_chunk(x, 2)", "i64[3,3] i64[2,3]"),
    Call("aten::unsafe_split", ("@0", "4", "1"), "f32[2,6]", "torch.unsafe_split(x, 4, 1)", "f32[2,4] f32[2,2]"),
    Call("aten::where", ("@0", "@1", "2"), "bool[3,1] f16[4]", "torch.where(x, y, 2)", "f16[3,4]"),
]

PARTS = ("aten::unsafe_chunk", "aten::unsafe_split")
"""Operators whose number of parts is unknown for symbolic sizes."""

VALUES = [
    ("aten::numel", "@0", "f32[2,3,4]", "int64", 24),
    ("aten::numel", "@0", "f32[]", "int64", 1),
    ("aten::Int", "7.9", "f32[2]", "int64", 7),
    ("aten::Int", "size(@0,1)", "f32[2,9]", "int64", 9),
    ("aten::Bool", "3", "f32[2]", "bool", True),
    ("prim::NumToTensor", "size(@0,0)", "f32[5]", "int64", 5),
    ("prim::NumToTensor", "2.5", "f32[5]", "float64", 2.5),
]

REJECTED = [
    Call("aten::unfold", ("@0", "1", "8", "2"), "f32[2,7,4]", "x.unfold(1, 8, 2)"),
    Call("aten::unfold", ("@0", "1", "3", "0"), "f32[2,7,4]", "x.unfold(1, 3, 0)"),
    Call("aten::unfold", ("@0", "3", "3", "1"), "f32[2,7,4]", "x.unfold(3, 3, 1)"),
    Call("aten::unsafe_chunk", ("@0", "0", "0"), "f32[2,7]", "torch.unsafe_chunk(x, 0, 0)"),
    Call("aten::new_full", ("@0", "[-2]", "1"), "f32[2,7]", "x.new_full((-2,), 1)"),
    Call("aten::broadcast_tensors", ("[@0,@1]",), "f32[2] f32[3]", "torch.broadcast_tensors(x, y)"),
]


def errors(result):
    return [d.message for d in result.diagnostics if d.severity == "error"]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_the_outputs_are_those_of_torch(call, symbolic):
    result, binding = call.infer(symbolic and call.operator not in PARTS)
    assert not errors(result)
    tensors = [result.tensors[name] for name in result.graph.outputs]
    assert [(SHORT.get(t.dtype), [evaluate(d, binding) for d in t.shape]) for t in tensors] == call.types[1]


@pytest.mark.parametrize(("operator", "argument", "inputs", "dtype", "value"), VALUES)
def test_numbers(operator, argument, inputs, dtype, value):
    result, _ = Call(operator, (argument,), inputs, "").infer()
    number = result.engine.inference.type_of(result.engine.inference.compiled.slots["r"])
    assert (number.dtype, number.shape.dims, number.elements) == (dtype, (), (value,))


@pytest.mark.parametrize("call", REJECTED, ids=str)
def test_what_torch_rejects_is_an_error(call):
    assert errors(call.infer()[0])


def test_unknown_arguments_leave_the_output_unknown():
    for operator, arguments in (("unfold", ("@0", "0", "@1", "1")), ("unsafe_chunk", ("@0", "@1")), ("numel", ("@0",))):
        result, _ = Call(f"aten::{operator}", arguments, "f32[4,4] i64[]", "").infer()
        assert not errors(result)


@pytest.mark.parametrize(("indexing", "shape"), [("ij", (3, 4)), ("xy", (4, 3))])
def test_a_text_is_an_argument(indexing, shape):
    """PNNX writes the indexing of `torch.meshgrid` as an expression; the shapes are those of its documentation."""
    result, _ = Call("aten::meshgrid", ("[@0,@1]", indexing), "f32[3] f32[4]", "").infer()
    assert not errors(result) and result.tensors["r"].dtype == "float32"
    assert result.tensors["r"].shape.dims == shape


@pytest.mark.slow
@pytest.mark.parametrize("call", [*CALLS, *REJECTED], ids=str)
def test_torch_computes_these_types(call):
    torch = pytest.importorskip("torch")
    inputs, outputs = call.types
    operands = [torch.ones(dims).to(getattr(torch, DTYPES[dtype])) for dtype, dims in inputs]
    names = {"torch": torch, **dict(zip("xy", operands, strict=False))}
    if not outputs:
        with pytest.raises((RuntimeError, IndexError)):
            eval(call.call, names)
        return
    value = eval(call.call, names)
    values = value if isinstance(value, (tuple, list)) else [value]
    assert [(SHORT[str(t.dtype).removeprefix("torch.")], list(t.shape)) for t in values] == outputs
