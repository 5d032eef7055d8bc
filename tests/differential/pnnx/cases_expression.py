"""Expressions: every function on tensors, element types, and sizes that a traced network computes."""

from __future__ import annotations

from shapeinf.formats.pnnx.expression import functions
from tests.differential.pnnx.case import Case

F, G = "f32[2,3,8,12]", "f32[3,3,10,16]"
SAME, OTHER = f"{F} {F}", f"{G} {G}"

# pnnx writes log1p and expm1 in a form that does not parse; the casts are Tensor.to, the bitwise ones methods.
UNARY = [name for name in functions.UNARY if name not in ("int", "log1p", "expm1") and not name.startswith("torch.")]
BINARY = functions.BINARY[: functions.BINARY.index("and")]


def unary(name, dtype="f32"):
    return Case(f"{name} {dtype}", f"torch.{name}(x) * 2", f"{dtype}[2,3]", f"{dtype}[5,7]")


def binary(name, a="f32[2,3]", b="f32[2,3]", c="f32[5,7]", d="f32[5,7]"):
    return Case(f"{name} {a} {b}", f"torch.{name}(torch.add(x, 1), y)", f"{a} {b}", f"{c} {d}")


def size(name, forward, inputs=F, others=G):
    """A network with a size that is computed from those of its inputs; pnnx writes an expression for it."""
    return Case(name, forward, inputs, others)


CASES = [
    *(unary(name) for name in UNARY),
    *(unary(name, "i64") for name in ("abs", "neg", "sign", "square", "sqrt", "exp", "reciprocal", "floor", "round")),
    *(unary(name, "f16") for name in ("abs", "sqrt", "round", "tanh")),
    *(binary(name) for name in BINARY),
    *(
        Case(f"{name} i64", f"torch.{name}(x, y + 1)", "i64[2,3] i64[1,3]", "i64[5,3] i64[1,3]")
        for name in ("div", "floor_divide", "remainder")
    ),
    *(binary(name, "i32[2,1]", "f16[3]", "i32[5,1]", "f16[4]") for name in ("add", "mul", "maximum", "atan2", "pow")),
    *(binary(name, "f64[2,3]", "f32[1,1]", "f64[5,3]", "f32[1,1]") for name in ("sub", "fmod")),
    Case("bitwise", "(x & 3) | (x << 1) ^ (x >> 2)", "i64[3,4]", "i64[5,6]"),
    Case("bitwise bool", "(x & y) | (x ^ y)", "bool[2,3] bool[3]", "bool[4,3] bool[3]"),
    Case("u8 and i8", "x + y * 2", "u8[2,3] i8[2,3]", "u8[4,3] i8[4,3]"),
    Case("half and a number", "x * 0.1 + 3", "f16[2,3]", "f16[4,3]"),
    Case("i32 and a float", "x * 0.5 - y", "i32[2,3] i32[3]", "i32[4,3] i32[3]"),
    Case("bool and an int", "x + 1 + y", "bool[2,3] bool[2,3]", "bool[4,3] bool[4,3]"),
    Case("complex number", "x * (1 + 2j) + y", "c64[2,3] f32[3]", "c64[4,3] f32[3]"),
    Case("complex abs", "torch.abs(x * 2) + 1", "c64[2,3]", "c64[4,3]"),
    Case("long, float, bool", "(x.float() * 2, (y * 2).long() + 1)", "i64[2,3] f32[2,3]", "i64[4,3] f32[4,3]"),
    Case(
        "nested",
        "(x + y * z) * torch.sqrt(torch.abs(x - y)) / (z + 1e-5)",
        "f32[2,3] f32[3] f32[2,1]",
        "f32[4,3] f32[3] f32[4,1]",
    ),
    Case("ranks", "x * y + z", "f32[2,3,4] f32[4] f32[3,1]", "f32[5,3,6] f32[6] f32[3,1]"),
    Case("empty", "x * 2 + y", "f32[0,3] f32[1,3]", "f32[0,3] f32[1,3]"),
    size("reshape", "x.reshape(x.size(0), x.size(1) * x.size(2), -1)"),
    size("half of a size", "x.reshape(x.size(0), x.size(1), x.size(2) // 2, -1)"),
    size("groups", "x.view(x.size(0), x.size(1), x.size(2) // 2, 2, x.size(3) // 4, 4).flatten(3)"),
    size("negative axis", "x.reshape(x.size(-4), -1, x.size(-1) * 2)"),
    size("zeros", "torch.zeros(x.size(0) + 1, x.size(2) * x.size(3) - 2) + x.size(1)"),
    size("arange", "torch.arange(x.size(3) * 2 - 1)"),
    size("slice", "x[:, :, : x.size(2) // 2, x.size(3) // 4 :]"),
    size("remainder of a size", "torch.ones(x.size(2) % 3 + 1, x.size(3) % 5 + 1)"),
    size("number over a tensor", "x * x.size(1) + x.size(3) / 2"),
    size("negative floor", "torch.ones(-(-x.size(2) // 3), x.size(0))"),
    size("expand", "torch.ones(1, 1).expand(x.size(0) * 2, x.size(3))"),
    size(
        "pixel shuffle by hand",
        "x.view(x.size(0), x.size(1), x.size(2) // 2, 2, x.size(3) // 2, 2)"
        ".permute(0, 1, 3, 5, 2, 4).reshape(x.size(0), x.size(1) * 4, x.size(2) // 2, x.size(3) // 2)",
    ),
    size("interpolate", "F.interpolate(x, size=(x.size(2) * 2, x.size(3) + 3))"),
    size("adaptive size", "F.adaptive_avg_pool2d(x, (x.size(2) // 2, x.size(3) // 3))"),
    size("two inputs", "y.reshape(x.size(0) * x.size(1), y.size(2), -1) + 1", SAME, OTHER),
    size("pad by sizes", "F.pad(x, (0, x.size(2) // 2, 1, x.size(3) - x.size(2)))"),
]
