"""Slices, selections along an axis, and assignments to them."""

from __future__ import annotations

from tests.differential.pnnx.case import Case


def case(forward, inputs="f32[5,6,7]", others="f32[8,9,10]", open=()):
    return Case(f"{forward} {inputs}", forward, inputs, others, open=open)


CASES = [
    case("x[1:]"),
    case("x[:, 1:4]"),
    case("x[:, :, -3:]"),
    case("x[:, :-1]"),
    case("x[:, 1::2]"),
    case("x[..., ::3]"),
    case("x[1:100]"),
    case("x[-100:3]"),
    case("x[4:2]"),
    case("x[-2:-4]"),
    case("x[1:4, 2:, ::2]"),
    case("x[1:4, :, 1:-1:2]", "i64[5,6,7]", "i64[8,9,10]"),
    case("x[0]"),
    case("x[:, -1]"),
    case("x[:, 2, 1:]"),
    case("x[1, 2, 3]"),
    case("x[..., 2, 1:4]"),
    case("x[None, 1:, 0, ..., None]"),
    case("x[1:, 0] + x[:-1, 1]"),
    case("x.select(1, 2)"),
    case("x.select(-1, -2)", "bool[5,6,7]", "bool[8,9,10]"),
    case("x[:, : x.size(0)]"),
    case("x[:, x.size(0) - 1 :]"),
    case("x[: y.size(0), 1:]", "f32[5,6] f32[2,3]", "f32[9,8] f32[4,1]"),
    case("x[: y.size(0), : y.size(1)]", "f32[5,6] f32[2,3]", "f32[9,8] f32[4,1]"),
    case("x[y.size(0) :, y.size(1), :-1]", "f32[5,6,4] f32[2,3]", "f32[9,8,5] f32[4,1]"),
    case("x[1 : y.size(0) : 2]", "f32[5,6] f32[4,3]", "f32[9,8] f32[7,1]"),
    case("x[: x.size(0) // 2, x.size(1) // 2 :]"),
    case("x[-y.size(0) :, 1:3]", "f32[5,6] f32[2,3]", "f32[9,8] f32[4,1]"),
    case("torch.narrow(x, 1, 2, 3)"),
    case("torch.narrow(x, -1, -3, 2)"),
    case("x.narrow(0, 1, y.size(0))", "f32[5,6] f32[2,3]", "f32[9,8] f32[4,1]"),
    case("torch.as_strided(x, (2, 3), (1, 2))"),
    case("torch.as_strided(x, (3, 4, 2), (3, 1, 0), 2)", "f16[5,6]", "f16[7,8]"),
    case("torch.slice_scatter(x, y, 1, 2, 4)", "f32[5,6] f32[5,2]", "f32[7,8] f32[7,2]"),
    case("torch.slice_scatter(x, y, 0, 1, -1, 2)", "f32[6,2] f32[2,2]", "f32[6,3] f32[2,3]"),
    case("torch.slice_scatter(x, y)", "f32[6,2] f32[6,2]", "f32[5,3] f32[5,3]"),
    case("[t := x.clone(), t[:, 1:3].copy_(y), t * 2][2]", "f32[5,6] f32[5,2]", "f32[7,8] f32[7,2]"),
    case("[t := x.clone(), t[1].fill_(3), t * 2][2]", "f32[5,6]", "f32[7,8]"),
    case("[t := x.clone(), t[1:3, 2].copy_(y[:, 0]), t * 2][2]", "f32[5,6] f32[2,2]", "f32[7,8] f32[2,2]"),
    case("x[1:4][:, 2:][..., -2:]"),
    case("x[:, 0, 1:5:2]", "f16[5,6,7]", "f16[8,9,10]"),
    case("x[-1, :, -3:-1]", "i32[5,6,7]", "i32[8,9,10]"),
    case("x[:, -1:, x.size(0) // 2]"),
    case("x[:, x.size(0) // 2]", "f32[5,6,7]", "f32[8,9,10]"),
    case("x[x.size(0) - 2]", "f32[5,6,7]", "f32[8,9,10]"),
    case("x[:, : x.size(1) - 1, 1 : x.size(2) - 1]"),
    case("x[:, : -x.size(0)]", "f32[2,6,7]", "f32[3,9,10]"),
    case("x[x.size(0) // 2 :: 2]"),
    case("x.select(0, y.size(0))", "f32[5,6] f32[2,3]", "f32[9,8] f32[4,1]"),
    case("torch.narrow(x, 0, y.size(0), y.size(1))", "f32[5,6] f32[2,3]", "f32[9,8] f32[4,1]"),
    case("x.as_strided((x.size(0), 2), (1, 1))", "f32[5,6]", "f32[7,8]"),
    case("[t := x.clone(), t[..., -1].copy_(y), t * 2][2]", "f32[5,6] f32[5]", "f32[7,8] f32[7]"),
    case("[t := x.clone(), t[: y.size(0)].copy_(y), t * 2][2]", "f32[5,6] f32[2,6]", "f32[7,8] f32[3,8]"),
]
