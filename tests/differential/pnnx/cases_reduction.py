"""Reductions of axes, and running totals."""

from __future__ import annotations

from tests.differential.pnnx.combine import combine

X, OTHERS = "f32[2,3,5,7]", "f32[4,3,6,9]"
OVER_AXES = ("sum", "mean", "amax", "amin")
PAIRS = ("max", "min")
OVER_ONE_AXIS = ("prod", "argmax", "argmin", *PAIRS)
DEVIATIONS = ("std", "var")


def calls(names, *arguments):
    """Calls of functions; those of an axis that have two results are unpacked."""
    pairs = [name in PAIRS and any("dim" in a for a in arguments) for name in names]
    return [
        f"{'*' * pair}torch.{name}(x{', ' * bool(a)}{a})"
        for name, pair in zip(names, pairs, strict=True)
        for a in arguments
    ]


def of_type(name, dtype, *forwards):
    return combine(name, f"{dtype}[2,3]", f"{dtype}[4,3]", *forwards)


# pnnx leaves `prod`, `std` and `var` of all axes, which `tests/differential/test_pnnx_leftovers.py` has
ALL = calls((*OVER_AXES, "argmax", "argmin", *PAIRS, "norm"), "")
ROWS = calls((*OVER_AXES, *OVER_ONE_AXIS), "dim=1")
SCALARS = ("sum", "prod", "argmax", "cumsum", "amax")
TOTALS = calls(("cumsum", "cumprod"), "dim=0")

CASES = [
    combine(
        "axes",
        X,
        OTHERS,
        *calls(OVER_AXES, "dim=1", "dim=(0, -1), keepdim=True", "dim=(2,), keepdim=False", "dim=(-2, 1)"),
    ),
    combine(
        "one axis",
        X,
        OTHERS,
        *calls(OVER_ONE_AXIS, "dim=1", "dim=-1, keepdim=True", "dim=0, keepdim=True", "dim=-2"),
    ),
    combine("all axes", X, OTHERS, *ALL),
    combine("all axes", "f32[5]", "f32[8]", *ALL),
    combine("no axes", X, OTHERS, *calls(OVER_AXES, "dim=()", "dim=(), keepdim=True")),
    combine(
        "axes None",
        X,
        OTHERS,
        *calls(("sum", "mean"), "dim=None, keepdim=True", "dim=None"),
        *calls(("argmax", "argmin"), "dim=None, keepdim=True", "dim=None"),
    ),
    combine("one axis", "f32[1,3]", "f32[4,3]", *calls((*OVER_AXES, *OVER_ONE_AXIS), "dim=0"), *TOTALS),
    combine("empty", "f32[0,3]", "f32[4,3]", *calls(("sum", "mean"), "", "dim=0"), *ROWS, *TOTALS),
    *(
        of_type(
            "integers",
            dtype,
            *calls(("sum", "prod"), "dim=1", "dim=1, keepdim=True, dtype=torch.float64"),
            *calls(("sum",), "", "dtype=torch.float32"),
            *calls(("amax", "argmax", "max", "min"), "dim=1"),
            *calls(("amin", "argmin"), ""),
            *TOTALS,
            *calls(("cumsum", "cumprod"), "dim=-1, dtype=torch.float64", "dim=1, dtype=torch.int16"),
            "torch.logsumexp(x, dim=1)",
        )
        for dtype in ("i32", "u8")
    ),
    of_type(
        "booleans",
        "bool",
        *calls(("sum", "prod"), "dim=1"),
        "torch.sum(x)",
        *calls(("max", "min"), "dim=1"),
        *calls(("amax", "amin"), "dim=1"),
        *TOTALS,
    ),
    *(
        of_type(
            "floats",
            dtype,
            *ROWS,
            *TOTALS,
            *calls(("sum", "mean", "prod"), "dim=1, dtype=torch.float32"),
            *calls(("sum", "mean"), "dtype=torch.float64"),
            *calls((*DEVIATIONS, "norm", "logsumexp"), "dim=1"),
            "torch.norm(x)",
        )
        for dtype in ("f16", "bf16", "f64")
    ),
    of_type(
        "complex numbers",
        "c64",
        *calls(("sum", "mean"), "dim=1", ""),
        "torch.prod(x, dim=1)",
        *calls((*DEVIATIONS, "norm"), "dim=1"),
        *TOTALS,
    ),
    # of `correction`, pnnx writes `unbiased=2` for var, which torch does not take
    combine(
        "std",
        X,
        OTHERS,
        *calls(
            ("std",),
            "dim=1",
            "dim=(1, 2), unbiased=False, keepdim=True",
            "dim=-1, correction=0",
            "dim=(0, 3), correction=2, keepdim=True",
            "dim=None, correction=0",
            "dim=None, correction=1, keepdim=True",
            "dim=(), correction=1",
            "dim=(2,), correction=0",
        ),
    ),
    combine(
        "var",
        X,
        OTHERS,
        *calls(("var",), "dim=1", "dim=(1, 2), unbiased=False, keepdim=True", "dim=(0, -1)", "dim=(), keepdim=True"),
    ),
    combine(
        "norm",
        X,
        OTHERS,
        *calls(
            ("norm",),
            "p=2, dim=1",
            "p=2, dim=(1, 2), keepdim=True",
            "p=1, dim=-1",
            "dim=(0, 3)",
            "p='fro', dim=(1, 3), keepdim=True",
            "p=2, dim=()",
            "p=2, dim=1, dtype=torch.float64",
            "p=3",
            "p='fro'",
            "dim=(), keepdim=True, p='fro'",
        ),
    ),
    combine("logsumexp", X, OTHERS, *calls(("logsumexp",), "dim=1", "dim=(0, -1), keepdim=True", "dim=(-2,)")),
    combine("running totals", X, OTHERS, *calls(("cumsum", "cumprod"), "dim=0", "dim=-1", "dim=2")),
    combine(
        "scalars",
        "f32[4]",
        "f32[6]",
        *(f"torch.{n}(x.sum(), dim=0)" for n in ("sum", "prod", "argmax", "cumsum", "amax")),
    ),
    combine(
        "results",
        X,
        OTHERS,
        "torch.max(x, dim=1)[0] + 1",
        "torch.min(x, dim=1)[1]",
        "x.reshape(x.size(0), -1).sum(1) + x.size(1)",
        "(x > 0.5).sum(1)",
        "(x * 2).argmax(2) + 1",
    ),
]
