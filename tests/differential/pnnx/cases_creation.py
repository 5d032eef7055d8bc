"""Tensors that are created: constants, ranges, random numbers, and those of the size of another one."""

from __future__ import annotations

from tests.differential.pnnx.case import Case


def case(forward, inputs="f32[2,3]", others="f32[4,5]", open=()):
    return Case(f"{forward} {inputs}", forward, inputs, others, open=open)


CREATORS = ["zeros", "ones", "empty", "randn"]

CASES = [
    *(case(f"torch.{name}(x.size(0), 3)") for name in CREATORS),
    *(case(f"torch.{name}((2, x.size(1), x.size(0)), dtype=torch.float16)") for name in CREATORS),
    *(case(f"torch.{name}(x.shape) + x") for name in CREATORS),
    *(case(f"torch.{name}_like(x)") for name in CREATORS),
    *(case(f"torch.{name}_like(x, dtype=torch.float64)", "i64[2,3]", "i64[0,5]") for name in CREATORS),
    *(case(f"torch.{name}(x.size(0), dtype=torch.long)") for name in CREATORS[:3]),
    case("x + torch.zeros(2, 3)", others=""),
    case("torch.zeros(2, 3, dtype=torch.int32) + x", others=""),
    case("torch.full((2, x.size(0)), 1.5)"),
    case("torch.full((x.size(1), 3), 7)"),
    case("torch.full((x.size(1),), 3, dtype=torch.float64)"),
    case("torch.full(x.shape, 3.5, dtype=x.dtype)", "f16[2,3]", "f16[4,5]"),
    case("torch.full_like(x, 3)"),
    case("torch.full_like(x, 3.5)", "i64[2,3]", "i64[4,5]"),
    case("torch.full_like(x, 3, dtype=torch.int32)"),
    *(case(f"x.new_{name}((2, x.size(0)))") for name in CREATORS[:3]),
    *(case(f"x.new_{name}(x.size(1), dtype=torch.int32)", "f16[2,3]", "f16[4,5]") for name in CREATORS[:3]),
    *(case(f"x.new_{name}(x.shape)", "i64[2,3]", "i64[0,5]") for name in CREATORS[:3]),
    case("torch.arange(x.size(0))"),
    case("torch.arange(1, x.size(1), 2)"),
    case("torch.arange(x.size(1), 0, -1)"),
    case("torch.arange(0, x.size(1), 0.5)"),
    case("torch.arange(x.size(0), dtype=torch.float32)"),
    case("torch.arange(x.size(0), x.size(0) + x.size(1))"),
    case("torch.arange(1, x.size(1), dtype=torch.int32)"),
    case("torch.arange(0, 7, 2) + x.size(0)"),
    case("torch.arange(x.size(0), device=x.device).unsqueeze(0).expand(x.size(1), -1)"),
    case("x[:, torch.arange(x.size(1) - 1)]"),
    case("x.view(x.size(0), -1) + torch.ones(x.size(1))"),
    case("torch.zeros(1) + x.size(0)"),
    case("torch.arange(2, x.size(1), 0.25, dtype=torch.int32)"),
    case("torch.arange(x.size(1) // 2)"),
    case("torch.arange(0, x.size(0) * x.size(1), x.size(1))"),
    case("torch.arange(x.size(1) - 1, -1, -1)"),
    case("torch.zeros(x.size(0), x.size(1) // 2, dtype=torch.bool)"),
    case("torch.full((x.size(0),), float('-inf'))"),
    case("torch.full((x.size(0), x.size(1)), -1, dtype=torch.int32)"),
    case("torch.full((2, 2), x.size(0))"),
    case("torch.full((x.size(0), 2), x.size(1) / 2)"),
    case("torch.zeros_like(x[:, 1:]) + 1"),
    case("torch.empty(0, x.size(0))"),
    case("x.expand(2, x.size(0), x.size(1)) + torch.arange(x.size(1))"),
]
