"""Calls of PNNX operators with known contents, and torch's results as `python -m ...torch_cases` records them.

Each case is a call of torch over the inputs `a`, `b` and `d`, and the attributes of the operator.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import attrs
import numpy as np

from tests.differential.contents.rules import Case

RECORDED = Path(__file__).parent / "torch_cases.json"


def i64(*values):
    return np.array(values, np.int64)


def f32(*values):
    return np.array(values, np.float32)


def one(value, dtype=np.int64):
    return np.array(value, dtype)


SIZES = i64(3, 7, 640, 33)
GRID = i64([5, 1, 4], [2, 6, 3])
SIGNED = i64([7, -7, 0], [3, 12, -1])
FLOATS = f32(2.5, -2.5, 0.0, 7.0)
POSITIVE = f32(0.5, 1.0, 3.0, 49.0)
FLAGS = np.array([True, False, True, False])


@attrs.frozen
class TorchCase:
    """A call of an operator, and the text of the same call of torch."""

    op: str
    call: str
    inputs: tuple = ()
    attributes: dict = attrs.field(factory=dict)
    outputs: int = 1

    def __str__(self):
        return f"{self.op} {self.call} of {', '.join(f'{x.dtype}{x.tolist()}' for x in self.inputs)}"

    def rule_case(self):
        return Case(self.op, self.inputs, self.attributes, outputs=self.outputs)


def case(op, call, *inputs, outputs=1, **attributes):
    return TorchCase(op, call, inputs, attributes, outputs)


REDUCTIONS = [
    *(case(f"torch.{f}", f"torch.{f}(a, 0)", x, dim=0) for f in ("sum", "prod", "amax", "amin") for x in (GRID, SIZES)),
    *(
        case(f"torch.{f}", f"torch.{f}(a)", x)
        for f in ("sum", "prod", "max", "min", "argmax", "argmin")
        for x in (GRID[:1], FLOATS)
    ),
    *(case(f"torch.{f}", f"torch.{f}(a, 1, keepdim=True)", GRID, dim=1, keepdim=True) for f in ("argmax", "argmin")),
    *(case(f"torch.{f}", f"torch.{f}(a, 1)", GRID, outputs=2, dim=1) for f in ("max", "min")),
    *(case(f"torch.{f}", f"torch.{f}(a, 1)", GRID, dim=1) for f in ("cumsum", "cumprod")),
    case("torch.cumsum", "torch.cumsum(a, 0)", f32(1, 2, 0.5), dim=0),
    case("torch.mean", "torch.mean(a, 0)", f32([1, 2], [4, 3]), dim=0),
    case("torch.mean", "torch.mean(a)", f32(0.1, 0.2, 0.4)),
    case("torch.norm", "torch.norm(a)", f32(3, 4)),
    case("torch.norm", "torch.norm(a, 2, 0)", f32([3, 1], [4, 1]), p=2, dim=0),
    case("torch.topk", "torch.topk(a, 2)", GRID, outputs=2, k=2),
    case("torch.topk", "torch.topk(a, 1, 0, largest=False)", GRID, outputs=2, k=1, dim=0, largest=False),
]

PRODUCTS = [
    case("torch.matmul", "torch.matmul(a, b)", SIZES, i64(1, 2, 0, 3)),
    case("torch.matmul", "torch.matmul(a, b)", GRID, GRID.T.copy()),
    case("torch.matmul", "torch.matmul(a, b)", f32([3.3, 7.1]), f32([0.1, 1], [0.2, -1])),
    case("torch.mm", "torch.mm(a, b)", GRID, GRID.T.copy()),
    case("torch.mv", "torch.mv(a, b)", GRID, i64(1, 2, 3)),
    case("torch.bmm", "torch.bmm(a, b)", GRID[None], GRID.T.copy()[None]),
    case("torch.einsum", "torch.einsum('ij,j->i', a, b)", GRID, i64(1, 2, 3), equation="ij,j->i"),
    case("torch.t", "torch.t(a)", GRID),
]

PLACES = [
    case("torch.gather", "torch.gather(a, 1, b)", GRID, i64([0, 2], [1, 1]), dim=1),
    case("torch.scatter_add", "torch.scatter_add(a, 0, b, d)", SIZES, i64(1, 1), i64(10, 20), dim=0),
    case("torch.masked_select", "torch.masked_select(a, b)", SIZES, FLAGS),
    case("Tensor.masked_fill", "a.masked_fill(b, 9)", SIZES, FLAGS, value=9),
    case("torch.diag", "torch.diag(a, 1)", i64(3, 7), diagonal=1),
    case("torch.diag", "torch.diag(a, -1)", GRID, diagonal=-1),
    case("torch.index_select", "torch.index_select(a, 1, b)", GRID, i64(2, 0), dim=1),
    case("Tensor.index", "a[b]", SIZES, i64(3, -1)),
    case("torch.repeat_interleave", "torch.repeat_interleave(a, 2)", SIZES, repeats=2),
    case("torch.repeat_interleave", "torch.repeat_interleave(a, b, 0)", SIZES, i64(1, 0, 2, 1), dim=0),
    case("torch.roll", "torch.roll(a, 1, 0)", SIZES, shifts=(1,), dims=(0,)),
    case("torch.flip", "torch.flip(a, (0,))", SIZES, dims=(0,)),
    case("torch.tile", "torch.tile(a, (2,))", SIZES, dims=(2,)),
    case("Tensor.repeat", "a.repeat(2, 1)", SIZES, sizes=(2, 1)),
    case("Tensor.expand", "a.expand(2, 4)", SIZES, sizes=(2, 4)),
    case("Tensor.expand_as", "a.expand_as(b)", i64(3), SIZES),
    case("torch.cat", "torch.cat((a, b), 0)", SIZES, i64(1), dim=0),
    case("aten::cat", "torch.cat((a, b), 0)", SIZES, i64(1), dim=0),
    case("torch.stack", "torch.stack((a, b), 1)", SIZES, SIZES, dim=1),
    case("Tensor.reshape", "a.reshape(3, -1)", GRID, shape=(3, -1)),
    case("Tensor.reshape_as", "a.reshape_as(b)", GRID, GRID.T.copy()),
    case("Tensor.permute", "a.permute(1, 0)", GRID, dims=(1, 0)),
    case("Tensor.unflatten", "a.unflatten(0, (2, 2))", SIZES, dim=0, sizes=(2, 2)),
    case("torch.flatten", "torch.flatten(a)", GRID),
    case("torch.squeeze", "torch.squeeze(a)", i64([3], [7])),
    case("torch.unsqueeze", "torch.unsqueeze(a, 1)", SIZES, dim=1),
    case("torch.transpose", "torch.transpose(a, 0, 1)", GRID, dim0=0, dim1=1),
    case("Tensor.select", "a.select(0, 1)", GRID, dim=0, index=1),
    case("Tensor.slice", "a[1:4:2]", SIZES, dim=0, start=1, end=4, step=2),
    case("Tensor.slice_copy", "torch.slice_scatter(a, b, 0, 1, 4, 2)", SIZES, i64(9, 8), dim=0, start=1, end=4, step=2),
    case(
        "torch.slice_scatter", "torch.slice_scatter(a, b, 0, 1, 4, 2)", SIZES, i64(9, 8), dim=0, start=1, end=4, step=2
    ),
    case("Tensor.index_put", "a.clone().index_put((b,), d)", SIZES, i64(3, 0), i64(9, 8)),
    case("Tensor.index_put", "a.clone().index_put((b,), d, True)", SIZES, i64(3, 3), i64(9, 8), accumulate=True),
    case("aten::new_full", "a.new_full((2, 3), 4)", SIZES, i64(2, 3), one(4)),
    case("Tensor.size", "torch.tensor(a.size())", GRID),
    case("Tensor.size", "torch.tensor(a.size(1))", GRID, dim=1),
    case("torch.narrow", "torch.narrow(a, 0, 1, 2)", SIZES, dim=0, start=1, length=2),
    case("torch.chunk", "torch.chunk(a, 2)", SIZES, outputs=2, chunks=2),
    case("torch.split", "torch.split(a, 3)", SIZES, outputs=2, split_size_or_sections=3),
    case("torch.tensor_split", "torch.tensor_split(a, 2)", SIZES, outputs=2, sections=2),
    case("torch.unbind", "torch.unbind(a)", GRID, outputs=2),
]

ELEMENTS = [
    *(
        case(f"torch.bitwise_{f}", f"torch.bitwise_{f}(a, {m})", SIGNED, other=m)
        for f in ("and", "or", "xor")
        for m in (6, 90, -8)
    ),
    *(case(f"torch.bitwise_{f}_shift", f"torch.bitwise_{f}_shift(a, 3)", SIGNED, other=3) for f in ("left", "right")),
    case("torch.bitwise_not", "torch.bitwise_not(a)", SIGNED),
    *(case(f"torch.{f}", f"torch.{f}(a, 7)", SIZES, other=7) for f in ("eq", "ne", "gt", "ge", "le", "lt")),
    *(case(f"torch.logical_{f}", f"torch.logical_{f}(a, b)", FLAGS, FLAGS[::-1].copy()) for f in ("and", "or", "xor")),
    case("torch.logical_not", "torch.logical_not(a)", FLAGS),
    case("torch.clamp", "torch.clamp(a, 5, 100)", SIZES, min=5, max=100),
    case("torch.where", "torch.where(a, b, d)", FLAGS, SIZES, SIZES * 2),
    *(
        case(f"aten::{f}", f"torch.{f}(a, b)", x, y)
        for f in ("add", "sub", "mul", "div")
        for x, y in ((SIGNED, i64(2, 4, 5)), (FLOATS, f32(2, 4, 0.5, 3)))
    ),
    *(case(f"aten::{f}", f"torch.{f}(a)", POSITIVE) for f in ("log", "sqrt", "tanh", "sigmoid", "erf")),
    case("aten::relu", "torch.relu(a)", SIGNED),
    case("aten::relu6", "torch.nn.functional.relu6(a)", FLOATS),
    case("aten::prod", "torch.prod(a)", GRID),
    case("aten::numel", "torch.tensor(a.numel())", GRID),
    *(
        case(f"aten::{f}", f"torch.tensor({p}(a))", x)
        for f, p, x in (("Int", "int", one(7)), ("Bool", "bool", one(7)), ("IntImplicit", "int", one(7)))
    ),
    case("aten::Float", "torch.tensor(float(a), dtype=torch.float64)", one(7)),
    case("prim::NumToTensor", "a.clone()", one(7)),
    case("torch.clone", "a.clone()", SIZES),
    case("torch.positive", "torch.positive(a)", SIZES),
    case("Tensor.to", "a.to(torch.float)", SIZES, dtype="torch.float"),
    case("Tensor.type_as", "a.type_as(b)", SIZES, FLOATS),
    case("Tensor.fill", "a.clone().fill_(4)", SIZES, value=4),
    *(case(f"Tensor.new_{f}", f"a.new_{f}((2, 2))", SIZES, size=(2, 2)) for f in ("ones", "zeros")),
    *(case(f"torch.{f}_like", f"torch.{f}_like(a)", SIZES) for f in ("ones", "zeros")),
    case("torch.full_like", "torch.full_like(a, 4)", SIZES, fill_value=4),
    *(case(f"torch.{f}", f"torch.{f}(2, 2)", size=(2, 2)) for f in ("ones", "zeros")),
    case("torch.full", "torch.full((2, 2), 4)", size=(2, 2), fill_value=4),
    case("torch.arange", "torch.arange(2, 11, 3)", start=2, end=11, step=3),
    *(
        case("pnnx.Expression", text, x, expr=expression)
        for text, expression, x in (
            ("torch.log(a)", "log(@0)", POSITIVE),
            ("torch.exp(a)", "exp(@0)", f32(0.0, 0.5, 3.0)),
            ("torch.pow(a, 0.5)", "pow(@0,0.5)", POSITIVE),
            ("(a * 3 + 1) // 2", "floor_divide(add(mul(@0,3),1),2)", SIZES),
            ("(a & 6) | 8", "or(and(@0,6),8)", SIZES),
        )
    ),
]

CASES = [*REDUCTIONS, *PRODUCTS, *PLACES, *ELEMENTS]


def run(case):
    """[element type, sizes, elements] of each result of torch."""
    import torch

    values = dict(zip("abd", map(torch.from_numpy, case.inputs), strict=False))
    result = eval(case.call, {"torch": torch}, values)
    results = result if isinstance(result, (tuple, list)) else [result]
    return [[str(r.dtype).removeprefix("torch."), list(r.shape), r.reshape(-1).tolist()] for r in results]


def main():
    records = {}
    for case in CASES:
        try:
            records[str(case)] = run(case)
        except Exception as error:
            sys.exit(f"{case}: {error}")
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(record)}" for name, record in records.items())
    RECORDED.write_text("{\n" + lines + "\n}\n", encoding="utf8")
    print(len(records))


if __name__ == "__main__":
    main()
