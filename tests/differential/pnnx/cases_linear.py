"""Linear layers and embeddings."""

from __future__ import annotations

from tests.differential.pnnx.case import Case


def module(text, inputs, others):
    return Case(f"nn.{text} {inputs}", "m(x)", inputs, others, {"m": f"nn.{text}"})


def function(text, inputs, others):
    return Case(f"{text} {inputs}", text, inputs, others)


CASES = [
    module("Linear(6, 8)", "f32[3,6]", "f32[5,6]"),
    module("Linear(6, 8, bias=False)", "f32[6]", "f32[6]"),
    module("Linear(6, 8)", "f32[2,3,6]", "f32[4,7,6]"),
    module("Linear(6, 1)", "f32[0,6]", "f32[3,6]"),
    module("Linear(6, 8)", "f32[2,3,4,6]", "f32[1,2,5,6]"),
    function("F.linear(x, y)", "f16[2,6] f16[4,6]", "f16[1,6] f16[5,6]"),
    function("F.linear(x, y)", "f32[3,6] f32[8,6]", "f32[5,7] f32[9,7]"),
    function("F.linear(x, y, z)", "f32[2,3,6] f32[8,6] f32[8]", "f32[4,5,7] f32[9,7] f32[9]"),
    function("F.linear(x, y)", "f32[6] f32[8,6]", "f32[7] f32[9,7]"),
    function("F.linear(x, y)", "f32[3,6] f32[6]", "f32[5,7] f32[7]"),
    function("F.linear(x, y)", "f32[6] f32[6]", "f32[7] f32[7]"),
    function("F.linear(x, y, z)", "f32[6] f32[8,6] f32[8]", "f32[7] f32[9,7] f32[9]"),
    function("F.linear(x, y, z)", "f32[3,6] f32[8,6] f32[1]", "f32[3,6] f32[7,6] f32[1]"),
    module("Embedding(20, 8)", "i64[3,4]", "i64[2,7]"),
    module("Embedding(20, 8, padding_idx=1)", "i64[5]", "i64[7]"),
    module("Embedding(20, 8, max_norm=1.0, scale_grad_by_freq=True, sparse=True)", "i32[2,3,4]", "i32[1,2,5]"),
    module("Embedding(20, 8)", "i64[0,3]", "i64[2,3]"),
    function("F.embedding(x, y)", "i64[3,4] f32[20,8]", "i64[2,7] f32[10,6]"),
    function("F.embedding(x, y, padding_idx=0)", "i32[3] f64[20,8]", "i32[2] f64[10,6]"),
    function("F.embedding(x, y, max_norm=2.0)", "i64[2,3,4] f16[20,8]", "i64[2,5,7] f16[10,6]"),
    function("F.embedding(x, y, scale_grad_by_freq=True, sparse=True)", "i64[3] f32[20,8]", "i64[2] f32[10,6]"),
    # chains
    Case(
        "mlp",
        "c(F.relu(b(F.gelu(a(x)))))",
        "f32[3,5,6]",
        "f32[2,7,6]",
        {"a": "nn.Linear(6, 8)", "b": "nn.Linear(8, 10)", "c": "nn.LayerNorm(10)"},
    ),
]
