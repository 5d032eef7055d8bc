"""Comparisons, connectives, bitwise operations, limits and selection by a condition."""

from __future__ import annotations

from tests.differential.pnnx.combine import combine

X, OTHERS = "f32[2,3,5]", "f32[4,3,7]"
PAIR, OTHER_PAIR = f"{X} f32[3,1]", f"{OTHERS} f32[3,1]"
COMPARISONS = tuple(f"torch.{name}" for name in ("eq", "ne", "gt", "ge", "lt", "le"))
CONNECTIVES = tuple(f"torch.logical_{name}" for name in ("and", "or", "xor"))
BITWISE = tuple(f"torch.bitwise_{name}" for name in ("and", "or", "xor"))
SHIFTS = ("torch.bitwise_left_shift", "torch.bitwise_right_shift")


def each(names, *arguments):
    return [f"{name}({a})" for name in names for a in arguments]


def of_types(name, dtypes, *forwards):
    """x [2, 3] and y [3] of these element types."""
    texts = [" ".join(f"{dtype}[{dims}]" for dtype, dims in zip(dtypes, (f"{n},3", "3"), strict=False)) for n in (2, 4)]
    return combine(name, *texts, *forwards)


CASES = [
    combine("comparisons", PAIR, OTHER_PAIR, *each(COMPARISONS, "x, y", "x, 0.5", "y, 1")),
    combine("equations", "f32[3,1] f32[1,5]", "f32[4,1] f32[1,7]", *each(COMPARISONS, "x, y")),
    *(
        of_types("comparisons", dtypes, *each(COMPARISONS, "x, y"), *each(COMPARISONS[:3], "x, 1", "x, 2.5"))
        for dtypes in (("f16", "i32"), ("i64", "i64"), ("bool", "u8"))
    ),
    of_types("equality", ("c64", "c64"), *each(COMPARISONS[:2], "x, y")),
    combine("comparisons with scalars", X, OTHERS, "x > x.mean()", "x.mean() <= x", "torch.eq(x.sum(), x.amax())"),
    *(
        of_types("connectives", dtypes, *each(CONNECTIVES, "x, y"), "torch.logical_not(x)")
        for dtypes in (("bool", "bool"), ("f32", "i64"))
    ),
    *(
        of_types("bitwise", dtypes, *each(BITWISE, "x, y"), "torch.bitwise_not(x)")
        for dtypes in (("bool", "bool"), ("i32", "i64"), ("u8", "i8"), ("bool", "i16"))
    ),
    *(of_types("bitwise of numbers", (dtype,), *each(BITWISE, "x, 3")) for dtype in ("i32", "u8")),
    *(
        of_types("shifts", dtypes, *each(SHIFTS, "x, y", "x, 2"))
        for dtypes in (("i32", "i32"), ("u8", "i64"), ("i64", "i64"))
    ),
    combine("limits", X, OTHERS, *each(("torch.clamp",), "x, 0, 1", "x, min=0.2", "x, max=0.2", "x, None, 3")),
    *(
        of_types("limits", (dtype,), *each(("torch.clamp",), "x, 0, 2", "x, 0.5, 2", "x, max=2.5", "x, min=0.5"))
        for dtype in ("i64", "i32", "f16")
    ),
    combine(
        "limits that are tensors",
        f"{PAIR} f32[5]",
        f"{OTHER_PAIR} f32[7]",
        *each(("torch.clamp",), "x, y", "x, max=y", "x, y, z", "y, x"),
    ),
    *(
        of_types("limits that are tensors", dtypes, *each(("torch.clamp",), "x, y", "x, max=y", "y, x, x"))
        for dtypes in (("i32", "f16"), ("f16", "f64"))
    ),
    combine(
        "selection",
        PAIR,
        OTHER_PAIR,
        *each(
            ("torch.where",),
            "x > 0.5, x, y",
            "x > 0.5, y, x",
            "y > 0.5, x, 0.0",
            "x > 0.5, 1, x",
            "x > 0.5, 1.0, 2.0",
            "x > 0.5, 1, 2",
            "x > 0.5, y, x.sum()",
        ),
    ),
    of_types("selection", ("bool", "i64"), *each(("torch.where",), "x, y, 2", "x, y, 2.5")),
    *(
        combine(
            "selection",
            f"bool[2,1] {first}[3] {second}[1]",
            f"bool[4,1] {first}[5] {second}[1]",
            "torch.where(x, y, z)",
        )
        for first, second in (("f16", "f64"), ("i32", "f16"))
    ),
    combine("larger and smaller", PAIR, OTHER_PAIR, *each(("torch.max", "torch.min"), "x, y", "y, x")),
    *(
        of_types("larger and smaller", dtypes, *each(("torch.max", "torch.min"), "x, y"))
        for dtypes in (("i32", "f16"), ("f16", "f64"), ("i64", "u8"))
    ),
    *(of_types("lgamma", (dtype,), "torch.lgamma(x)") for dtype in ("f32", "i64", "f64", "f16", "bool")),
    combine("limits of sizes", X, OTHERS, "torch.clamp(x, max=x.size(0))"),
]
