"""Reshapes, permutations, and axes of size 1."""

from __future__ import annotations

from tests.differential.pnnx.case import Case


def case(forward, inputs="f32[2,3,4]", others="f32[3,5,7]", open=()):
    return Case(f"{forward} {inputs}", forward, inputs, others, open=open)


UNITS, OTHER_UNITS = "f32[1,3,1,4]", "f32[1,5,1,7]"

CASES = [
    case("torch.squeeze(x)", UNITS, OTHER_UNITS, ("torch.squeeze",)),
    case("torch.squeeze(x)", "f32[2,3]", "f32[4,5]", ("torch.squeeze",)),
    case("torch.squeeze(x, 0)", UNITS, OTHER_UNITS, ("torch.squeeze",)),
    case("torch.squeeze(x, -2)", UNITS, OTHER_UNITS, ("torch.squeeze",)),
    case("torch.squeeze(x, 1)", UNITS, OTHER_UNITS, ("torch.squeeze",)),
    case("torch.squeeze(x, (0, 2))", UNITS, OTHER_UNITS, ("torch.squeeze",)),
    case("torch.squeeze(x, (1, -2))", "i64[1,3,1,4]", "i64[1,5,1,7]", ("torch.squeeze",)),
    case("torch.squeeze(torch.unsqueeze(x, 1), 1) * 2"),
    case("torch.unsqueeze(x, 0)"),
    case("torch.unsqueeze(x, -1)", "i64[2,3]", "i64[0,5]"),
    case("torch.unsqueeze(x, 2)", "f16[2,3]", "f16[4,5]"),
    case("torch.flatten(x)"),
    case("torch.flatten(x, 1)"),
    case("torch.flatten(x, 0, 1)", "i64[2,3,4]", "i64[0,5,7]"),
    case("torch.flatten(x, -2, -1)"),
    case("torch.flatten(x, 1, 1)"),
    case("x.unflatten(1, (2, 3))", "f32[2,6]", "f32[5,6]"),
    case("x.unflatten(1, (2, -1))", "f32[2,6]", "f32[5,8]"),
    case("x.unflatten(-1, (-1, 2, 2))", "i32[3,8]", "i32[1,12]"),
    case("torch.transpose(x, 0, 1)"),
    case("torch.transpose(x, -1, 1)", "i64[2,3,4]", "i64[2,0,7]"),
    case("x.permute(2, 0, 1)"),
    case("x.permute(0, -1, 1)", "f16[2,3,4]", "f16[3,5,7]"),
    case("x.reshape(6, 4)", "f32[2,3,4]", ""),
    case("x.reshape(-1)"),
    case("x.reshape(2, -1, 3)", "f32[2,3,4]", "f32[4,3,2]"),
    case("x.reshape(x.size(0), -1)"),
    case("x.view(x.size(0) * x.size(1), x.size(2))"),
    case("x.view(x.size(1) // 2, -1, x.size(0))", "f32[2,4,3]", "f32[3,6,5]"),
    case("x.reshape(x.shape[0], 2, x.shape[1] // 2, x.shape[2])", "f32[2,4,3]", "f32[3,6,5]"),
    case("x.reshape(0, 5)", "f32[0,5]", ""),
    case("x.reshape_as(y)", "f32[2,6] f32[3,4]", "f32[4,6] f32[2,12]"),
    case("x.expand(2, 3, 4)", "f32[3,1]", ""),
    case("x.expand(2, -1, 4)", "f32[3,1]", "f32[5,1]"),
    case("x.expand(-1, 3, -1, -1)", "f32[2,1,4,5]", "f32[3,1,7,6]"),
    case("x.expand(y.size(0), -1)", "f32[1,4] f32[3,2]", "f32[1,6] f32[5,4]"),
    case("x.expand(y.size(0), y.size(1), -1)", "i64[1,4] f32[3,2]", "i64[1,6] f32[5,4]"),
    case("x.expand_as(y)", "f32[3,1] f32[2,3,4]", "f32[5,1] f32[3,5,7]"),
    case("x.expand_as(y)", "f16[1] f32[2,3]", "f16[1] f32[4,0]"),
    case("x.swapaxes(0, 2)"),
    case("x.contiguous().view(x.size(0), -1)"),
    case("x.view(x.size(0), 2, -1).transpose(1, 2).reshape(x.size(0), -1)", "f32[2,4,3]", "f32[3,6,5]"),
    case("x.reshape(x.size(0), x.size(1) * x.size(2), 1)", "i64[2,3,4]", "i64[3,5,7]"),
    case("x.reshape(-1, x.size(2)).unsqueeze(0)"),
    case("x.flatten(0, 1).unflatten(0, (x.size(0), -1))"),
    case("x.reshape(x.size(0) // 2, 2, -1)", "f32[4,3,4]", "f32[6,5,7]"),
    case("x.permute(1, 0).reshape(-1, 2)", "f32[2,3]", "f32[4,5]"),
    case("torch.flatten(x)", "f32[3]", "f32[5]"),
    case("x.expand(y.shape)", "f32[1,4] f32[3,4]", "f32[1,6] f32[5,6]"),
    case("x.expand(2, x.size(0), 4)", "f32[3,1]", "f32[5,1]"),
    case("x.unsqueeze(1).expand(-1, 4, -1).reshape(x.size(0) * 4, -1)", "f32[2,3]", "f32[5,7]"),
    case("x.view(x.size(0), -1, 2, 2).permute(0, 2, 1, 3).flatten(2)", "f32[2,12]", "f32[3,8]"),
    case("torch.transpose(x, 0, 0)", "bool[2,3]", "bool[4,5]"),
    case("torch.squeeze(x, -1)", "f32[1]", ""),
    case("torch.squeeze(x, 0)", "f32[2,3]", "f32[4,3]", ("torch.squeeze",)),
]
