"""Gathering, scattering, masks, element types, copies."""

from __future__ import annotations

from tests.differential.pnnx.case import Case


def case(forward, inputs="f32[5,6,7]", others="f32[8,9,10]", open=()):
    return Case(f"{forward} {inputs}", forward, inputs, others, open=open)


MASKED = ("Tensor.index",)

CASES = [
    case("x[y]", "f32[5,6,7] i64[3]", "f32[4,9,10] i64[6]"),
    case("x[y]", "f32[5,6,7] i64[3,2]", "f32[4,9,10] i64[6,1]"),
    case("x[:, y]", "f16[5,6,7] i64[3]", "f16[4,9,10] i64[6]"),
    case("x[..., y]", "f32[5,6,7] i64[3]", "f32[4,9,10] i64[6]"),
    case("x[y, z]", "f32[5,6,7] i64[3] i64[3]", "f32[4,9,10] i64[6] i64[6]"),
    case("x[:, y, z]", "f32[5,6,7] i64[3,1] i64[2]", "f32[4,9,10] i64[6,1] i64[4]"),
    case("x[y, :, z]", "f32[5,6,7] i64[3] i64[3]", "f32[4,9,10] i64[6] i64[6]"),
    case("x[y, :, z]", "f32[5,6,7,2] i64[3] i64[4,1]", "f32[4,9,10,3] i64[2] i64[1,1]"),
    case("x[x > 0.5]", "f32[5,6]", "f32[4,9]", MASKED),
    case("x[y]", "f32[5,6,7] bool[5,6]", "f32[8,9,10] bool[8,9]", MASKED),
    case("x[:, y]", "f32[5,6,7] bool[6]", "f32[8,9,10] bool[9]", MASKED),
    case("x[y, z]", "f32[5,6,7] bool[5] i64[1]", "f32[8,9,10] bool[8] i64[1]", MASKED),
    case("x[[0, 2, 1]]"),
    case("x[:, [1, 3]]"),
    case("x[y][:, 1:]", "i32[5,6] i64[0]", "i32[4,9] i64[3]"),
    case("torch.index_put(x, (y,), z)", "f32[5,6] i64[3] f32[3,6]", "f32[8,9] i64[2] f32[2,9]"),
    case("torch.index_put(x, (y,), z, accumulate=True)", "f32[5,6] i64[3] f32[1]", "f32[8,9] i64[2] f32[1]"),
    case("[t := x.clone(), t.__setitem__(t > 0.5, 0), t + 1][2]", "f32[5,6]", "f32[4,9]"),
    case("[t := x.clone(), t.__setitem__((slice(None), y), z), t + 1][2]", "f32[5,6] i64[2] f32[5,2]", ""),
    case("torch.gather(x, 1, y)", "f32[5,6] i64[4,2]", "f32[8,9] i64[8,12]"),
    case("torch.gather(x, -1, y)", "i32[5,6] i64[5,7]", "i32[8,9] i64[0,3]"),
    case("torch.gather(x, 0, y)", "f16[5,6,2] i64[4,2,1]", "f16[8,9,3] i64[9,2,3]"),
    case("torch.index_select(x, 0, y)", "f32[5,6] i64[2]", "f32[8,9] i64[5]"),
    case("torch.index_select(x, -1, y)", "f32[5,6] i64[2]", "f32[8,9] i64[5]"),
    case("x.index_select(1, y)", "i64[5,6,7] i32[4]", "i64[8,9,10] i32[0]"),
    case("torch.masked_select(x, y)", "f32[5,6] bool[5,6]", "f32[8,9] bool[8,9]", ("torch.masked_select",)),
    case("torch.masked_select(x, y)", "f32[5,1] bool[6]", "f32[8,1] bool[3]", ("torch.masked_select",)),
    case("x.masked_fill(y, 0.5)", "f32[5,6] bool[5,6]", "f32[8,9] bool[8,9]"),
    case("x.masked_fill(y, -1)", "i64[5,6] bool[6]", "i64[8,9] bool[9]"),
    case("x.masked_fill(y == 0, float('-inf'))", "f16[5,6] i64[5,1]", "f16[8,9] i64[8,1]"),
    case("torch.masked_fill(x, y, 1.0)", "f32[5,1] bool[2,1,6]", "f32[8,1] bool[3,1,4]"),
    case("torch.scatter_add(x, 0, y, z)", "f32[5,6] i64[2,6] f32[2,6]", "f32[8,9] i64[4,3] f32[4,4]"),
    case("torch.scatter_add(x, -1, y, z)", "i64[5,6] i64[2,3] i64[2,6]", "i64[8,9] i64[4,3] i64[4,4]"),
    case("torch.diag(x)", "f32[5]", "f32[8]"),
    case("torch.diag(x)", "f32[5,6]", "f32[8,7]"),
    case("torch.diag(x, 2)", "i64[3]", "i64[5]"),
    case("torch.diag(x, -1)", "f32[5,6]", "f32[8,7]"),
    case("torch.diag(x, 1)", "f32[5,6]", "f32[8,7]"),
    case("x.to(torch.float16)", "f32[5,6]", "f32[4,9]"),
    case("x.to(torch.int32) + 1", "f32[5,6]", "f32[4,9]"),
    case("x.double()", "i64[5,6]", "i64[4,9]"),
    case("x.bool()", "i64[5,6]", "i64[4,9]"),
    case("x.to(y.dtype)", "i64[5,6] f16[2]", "i64[4,9] f16[1]"),
    case("x.to(y)", "i64[5,6] f16[2]", "i64[4,9] f16[1]"),
    case("x.type_as(y)", "f32[5,6] i64[2]", "f32[4,9] i64[1]"),
    case("x.type_as(y) + y", "i32[5,2] f16[2]", "i32[4,1] f16[1]"),
    case("x.clone()"),
    case("x.clone() * 2", "i64[5]", "i64[0]"),
    case("torch.clone(x, memory_format=torch.preserve_format) + 1"),
    case("[t := x.clone(), t.copy_(y), t * 2][2]", "f32[5,6] f32[6]", "f32[4,3] f32[3]"),
    case("[t := x.clone(), t.copy_(y), t * 2][2]", "f32[5,6] i64[5,6]", "f32[4,3] i64[4,3]"),
    case("[t := x.clone(), t.fill_(2), t * 2][2]", "f32[5,6]", "f32[4,3]"),
    case("torch.positive(x)"),
    case("torch.positive(x)", "i64[5]", "i64[0]"),
]
