"""Attention: the module with one to three inputs, masks and weights, and the function."""

from __future__ import annotations

from tests.differential.pnnx.case import Case

THREE = "f32[3,2,8] f32[5,2,8] f32[5,2,8]"
THREE_OTHERS = "f32[4,3,8] f32[6,3,8] f32[6,3,8]"


def layer(arguments, forward, inputs, others):
    modules = {"m": f"nn.MultiheadAttention({arguments})"}
    return Case(f"MultiheadAttention({arguments}) {forward} {inputs}", forward, inputs, others, modules)


def function(text, inputs, others):
    return Case(f"{text} {inputs}", text, inputs, others)


def dot(arguments, inputs, others):
    return function(f"F.scaled_dot_product_attention({arguments})", inputs, others)


CASES = [
    layer("8, 2", "m(x, x, x)", "f32[3,2,8]", "f32[5,4,8]"),
    layer("8, 2, batch_first=True", "m(x, x, x)[0]", "f32[3,2,8]", "f32[5,4,8]"),
    layer("8, 2, batch_first=True, bias=False", "m(x, x, x, need_weights=False)[0]", "f32[3,2,8]", "f32[5,4,8]"),
    layer("8, 2", "m(x, y, y)", "f32[3,2,8] f32[5,2,8]", "f32[4,3,8] f32[6,3,8]"),
    layer("8, 2", "m(x, y, z)", THREE, THREE_OTHERS),
    layer(
        "8, 4, batch_first=True", "m(x, y, z)", "f32[2,3,8] f32[2,5,8] f32[2,5,8]", "f32[3,4,8] f32[3,6,8] f32[3,6,8]"
    ),
    layer("8, 2, kdim=5, vdim=6", "m(x, y, z)", "f32[3,2,8] f32[5,2,5] f32[5,2,6]", "f32[4,3,8] f32[6,3,5] f32[6,3,6]"),
    layer("8, 2, kdim=5, vdim=5", "m(x, y, y)", "f32[3,2,8] f32[5,2,5]", "f32[4,3,8] f32[6,3,5]"),
    layer("8, 2", "m(x, y, z, average_attn_weights=False)", THREE, THREE_OTHERS),
    layer("8, 2", "m(x, y, z, need_weights=False)[0]", THREE, THREE_OTHERS),
    layer("8, 2, add_bias_kv=True", "m(x, y, z)", THREE, THREE_OTHERS),
    layer("8, 2, add_zero_attn=True", "m(x, y, z)", THREE, THREE_OTHERS),
    layer("8, 2, add_zero_attn=True, add_bias_kv=True", "m(x, x, x)", "f32[3,2,8]", "f32[5,4,8]"),
    layer("8, 2", "m(x, x, x)", "f32[3,8]", "f32[5,8]"),
    layer("8, 2", "m(x, y, z)", "f32[3,8] f32[5,8] f32[5,8]", "f32[2,8] f32[4,8] f32[4,8]"),
    layer("8, 2, batch_first=True", "m(x, y, y, need_weights=False)[0]", "f32[3,8] f32[5,8]", "f32[2,8] f32[4,8]"),
    layer("8, 2", "m(x, x, x, attn_mask=y)", "f32[3,2,8] f32[3,3]", "f32[5,4,8] f32[5,5]"),
    layer("8, 2", "m(x, x, x, attn_mask=y)[0]", "f32[3,2,8] f32[4,3,3]", "f32[5,4,8] f32[8,5,5]"),
    layer(
        "8, 2, batch_first=True",
        "m(x, y, y, attn_mask=z)",
        "f32[2,3,8] f32[2,5,8] f32[3,5]",
        "f32[1,4,8] f32[1,6,8] f32[4,6]",
    ),
    layer(
        "8, 2, batch_first=True",
        "m(x, y, z, attn_mask=u)",
        "f32[2,3,8] f32[2,5,8] f32[2,5,8] f32[3,5]",
        "f32[1,4,8] f32[1,6,8] f32[1,6,8] f32[4,6]",
    ),
    layer(
        "8, 2, batch_first=True",
        "m(x, x, x, attn_mask=y, need_weights=False)[0]",
        "f32[2,3,8] f32[3,3]",
        "f32[1,4,8] f32[4,4]",
    ),
    dot("x, y, z", "f32[2,4,3,8] f32[2,4,5,8] f32[2,4,5,6]", "f32[3,2,4,8] f32[3,2,6,8] f32[3,2,6,5]"),
    dot("x, y, z", "f32[2,3,8] f32[2,5,8] f32[2,5,6]", "f32[3,4,8] f32[3,6,8] f32[3,6,5]"),
    dot("x, y, z", "f32[3,8] f32[5,8] f32[5,6]", "f32[4,8] f32[6,8] f32[6,5]"),
    dot("x, y, z, is_causal=True", "f32[2,4,3,8] f32[2,4,5,8] f32[2,4,5,6]", "f32[3,2,4,8] f32[3,2,6,8] f32[3,2,6,5]"),
    dot("x, x, x, scale=0.3", "f32[2,4,3,8]", "f32[3,2,4,8]"),
    dot("x, y, y, attn_mask=z", "f32[2,4,3,8] f32[2,4,5,8] f32[3,5]", "f32[3,2,4,8] f32[3,2,6,8] f32[4,6]"),
    dot(
        "x, y, y, attn_mask=z, dropout_p=0.1",
        "f32[2,4,3,8] f32[2,4,5,8] bool[2,1,3,5]",
        "f32[3,2,4,8] f32[3,2,6,8] bool[3,1,4,6]",
    ),
    dot("x, y, y, enable_gqa=True", "f32[2,4,3,8] f32[2,2,5,8]", "f32[3,6,4,8] f32[3,2,6,8]"),
    dot("x, y, z, enable_gqa=True", "f32[2,6,3,8] f32[2,3,5,8] f32[2,3,5,8]", "f32[3,6,4,8] f32[3,3,6,8] f32[3,3,6,8]"),
    dot("x, y, y", "f32[2,4,3,8] f32[1,4,5,8]", "f32[3,2,4,8] f32[1,2,6,8]"),
    dot("x, y, y", "f64[2,1,4,3,8] f64[4,5,8]", "f64[3,1,2,4,8] f64[2,6,8]"),
    dot("x, y, y", "f16[2,4,0,8] f16[2,4,5,8]", "f16[3,2,4,8] f16[3,2,6,8]"),
    Case(
        "attention with heads by hand",
        "o((q(x).reshape(2, -1, 2, 4).transpose(1, 2) @ k(x).reshape(2, -1, 2, 4).permute(0, 2, 3, 1)).softmax(-1)"
        " @ v(x).reshape(2, -1, 2, 4).transpose(1, 2))",
        "f32[2,5,8]",
        "f32[2,7,8]",
        {name: "nn.Linear(4, 4)" if name == "o" else "nn.Linear(8, 8)" for name in "qkvo"},
    ),
]
