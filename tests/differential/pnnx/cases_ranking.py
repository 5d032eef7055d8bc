"""The largest elements along an axis."""

from __future__ import annotations

from tests.differential.pnnx.combine import combine

X, OTHERS = "f32[4,5,9]", "f32[6,5,11]"

CASES = [
    combine(
        "topk",
        X,
        OTHERS,
        "*torch.topk(x, 3)",
        "*torch.topk(x, k=2, dim=0)",
        "*torch.topk(x, k=4, dim=1, largest=False)",
        "*torch.topk(x, k=1, dim=-2, sorted=False)",
        "*torch.topk(x, k=0)",
        "torch.topk(x, 2)[0]",
        "torch.topk(x, 2)[1]",
        "*torch.topk(x, x.size(1) - 1, dim=2)",
        "*torch.topk(x, x.size(0) // 2, dim=0)",
        "*torch.topk(x, x.size(0), dim=0)",
    ),
    combine("topk", "i32[5]", "i32[6]", "*torch.topk(x, 2)"),
    combine("topk", "f16[5,3]", "f16[6,3]", "*torch.topk(x, 2)"),
    combine("topk", "f64[5,1]", "f64[6,1]", "*torch.topk(x, 1)", "*torch.topk(x.sum(), 1)"),
]
