"""Concatenation, splits into parts, and repetition."""

from __future__ import annotations

from tests.differential.pnnx.case import Case


def case(forward, inputs="f32[2,3,4]", others="f32[3,5,7]", open=()):
    return Case(f"{forward} {inputs}", forward, inputs, others, open=open)


PAIR, OTHER_PAIR = "f32[2,3,4] f32[2,5,4]", "f32[3,4,6] f32[3,2,6]"

CASES = [
    case("torch.cat((x, y), 1)", PAIR, OTHER_PAIR),
    case("torch.cat((x, y), -2)", PAIR, OTHER_PAIR),
    case("torch.cat((x, y, x), 1)", PAIR, OTHER_PAIR),
    case("torch.cat((x, y), 0)", "f16[2,3] f64[4,3]", "f16[1,5] f64[0,5]"),
    case("torch.cat((x, y), 0)", "i64[2,3] f32[4,3]", "i64[1,5] f32[2,5]"),
    case("torch.cat((x, y), -1)", "bool[4] i32[3]", "bool[7] i32[1]"),
    case("torch.cat((x, y), 1)", "f32[0] f32[2,3]", ""),
    case("torch.stack((x, y), 0)", "f32[2,3] f32[2,3]", "f32[4,5] f32[4,5]"),
    case("torch.stack((x, y, x), -1)", "f32[2,3] f32[2,3]", "f32[4,5] f32[4,5]"),
    case("torch.stack((x, y), 1)", "i64[2,3] f16[2,3]", "i64[4,0] f16[4,0]"),
    case("torch.chunk(x, 2, 1)", "f32[2,7,4]", "f32[3,9,7]"),
    case("torch.chunk(x, 3, -1)", "f32[2,3,7]", "f32[3,5,8]"),
    case("torch.chunk(x, 4, 0)", "f32[7,3]", "f32[8,2]"),
    case("torch.chunk(x, 1, 0)"),
    case("torch.chunk(x, 5, 1)", "i64[2,4]", ""),
    case("torch.split(x, 2, 1)", "f32[2,5,4]", "f32[3,6,7]"),
    case("torch.split(x, 3, -1)", "f32[2,7]", "f32[3,9]"),
    case("torch.split(x, (1, 2), 1)", "f32[2,3,4]", "f32[3,3,7]"),
    case("torch.split(x, [2, 1, 1], -1)", "i32[2,3,4]", "i32[5,7,4]"),
    case("torch.split(x, [0, 4], 2)", "f32[2,3,4]", "f32[5,7,4]"),
    case("torch.split(x, 4)[0] + 1", "f32[6,3]", "f32[7,2]"),
    case("torch.tensor_split(x, 3, 1)", "f32[2,7]", "f32[4,8]"),
    case("torch.tensor_split(x, 4, -1)", "f32[2,3]", "f32[4,9]"),
    case("torch.tensor_split(x, (2, 4), 1)", "f32[2,7]", "f32[4,3]"),
    case("torch.tensor_split(x, (-2, 5), 0)", "f32[6,2]", "f32[9,3]"),
    case("torch.unbind(x, 0)", "f32[3,4,5]", "f32[3,2,7]"),
    case("torch.unbind(x, -1)", "f16[4,5,2]", "f16[3,1,2]"),
    case("torch.unbind(x, 1)[1] * 2", "i64[4,5,2]", "i64[3,5,6]"),
    case("x.repeat(2, 1, 3)"),
    case("x.repeat(2, 1, 3, 1)", "i64[3,4]", "i64[0,5]"),
    case("x.repeat(3, 0, 2)"),
    case("x.repeat(y.size(0), 1)", "f32[3] f32[2,5]", "f32[5] f32[4,1]"),
    case("torch.tile(x, (2, 3))"),
    case("torch.tile(x, (2, 1, 3, 2))"),
    case("torch.tile(x, (3,))", "f16[2,1]", "f16[1,4]"),
    case("x.repeat_interleave(2)"),
    case("x.repeat_interleave(3, 1)"),
    case("x.repeat_interleave(2, dim=-1)", "bool[3,4]", "bool[5,0]"),
    case("torch.repeat_interleave(x, y, dim=1)", "f32[2,3] i64[3]", "f32[4,5] i64[5]", ("torch.repeat_interleave",)),
    case("torch.repeat_interleave(x, y)", "f32[3] i64[3]", "f32[5] i64[5]", ("torch.repeat_interleave",)),
    case("torch.roll(x, 1, 0)"),
    case("torch.roll(x, (1, -2), (0, 2))"),
    case("torch.roll(x, 3)"),
    case("torch.flip(x, (0,))"),
    case("torch.flip(x, (-1, 0))", "i64[2,3]", "i64[0,5]"),
    case("torch.cat((x[:, 1:3], x[:, :2]), 1)", "f32[2,5]", "f32[3,6]"),
    case("torch.cat([x, x.new_zeros(x.size(0), 1)], 1)", "f32[2,5]", "f32[3,6]"),
    case("torch.stack(torch.unbind(x, 1), 0)", "f32[2,3]", "f32[5,3]"),
    case("torch.cat(torch.chunk(x, 2, 1), 0)", "f32[2,4]", "f32[5,6]"),
    case("torch.cat(torch.split(x, 2, 1)[::-1], 1)", "f32[2,3]", "f32[5,4]"),
    case("torch.chunk(x, 3, 1)[2] * 2", "f32[2,9]", "f32[5,7]"),
    case("x.repeat(1, x.size(0))", "f32[2,4]", "f32[5,6]"),
    case("x.tile(x.size(1), 1)", "f32[2,4]", "f32[5,6]"),
    case("x.repeat_interleave(x.size(0), 1)", "f32[2,4]", "f32[5,6]"),
    case("torch.roll(x, x.size(0) // 2, 0)", "f32[2,4]", "f32[5,6]"),
]
