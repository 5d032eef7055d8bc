"""Networks of layers and products: transformers, recurrent encoders, attention by hand, gates."""

from __future__ import annotations

from tests.differential.pnnx.case import Case

TOKENS = ("f32[2,5,8]", "f32[3,7,8]")
STEPS = ("f32[5,2,8]", "f32[7,3,8]")
TWO = ("f32[5,2,8] f32[4,2,8]", "f32[7,3,8] f32[6,3,8]")
WORDS = ("i64[2,5]", "i64[3,7]")
IMAGES = ("f32[2,4,5,6]", "f32[3,4,7,6]")

CASES = [
    Case("encoder layer", "m(x)", *TOKENS, {"m": "nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)"}),
    Case(
        "encoder layer, norm first",
        "m(x)",
        *STEPS,
        {"m": "nn.TransformerEncoderLayer(8, 2, 16, norm_first=True, activation='gelu')"},
    ),
    Case("decoder layer", "m(x, y)", *TWO, {"m": "nn.TransformerDecoderLayer(8, 2, 16)"}),
    Case("transformer", "m(x, y)", *TWO, {"m": "nn.Transformer(8, 2, 1, 1, 16)"}),
    Case(
        "recurrent classifier",
        "h(F.layer_norm(r(e(x))[0], (8,)).mean(1)).softmax(-1)",
        *WORDS,
        {
            "e": "nn.Embedding(20, 6)",
            "r": "nn.GRU(6, 4, 1, bidirectional=True, batch_first=True)",
            "h": "nn.Linear(8, 3)",
        },
    ),
    Case(
        "squeeze and excite",
        "x * F.sigmoid(b(F.relu(a(x.mean((2, 3)))))).reshape(x.shape[0], x.shape[1], 1, 1)",
        *IMAGES,
        {"a": "nn.Linear(4, 2)", "b": "nn.Linear(2, 4)"},
    ),
    Case(
        "attention by einsum",
        "torch.einsum('bhqk,bkhd->bqhd', torch.einsum('bqhd,bkhd->bhqk', x, y).softmax(-1), z)",
        "f32[2,3,2,4] f32[2,5,2,4] f32[2,5,2,6]",
        "f32[3,4,2,4] f32[3,6,2,4] f32[3,6,2,5]",
    ),
    Case(
        "self-attention",
        "o(F.scaled_dot_product_attention(*[t.reshape(x.shape[0], x.shape[1], 2, 4).transpose(1, 2)"
        " for t in q(x).chunk(3, -1)], is_causal=True).transpose(1, 2).reshape(x.shape[0], x.shape[1], 8))",
        *TOKENS,
        {"q": "nn.Linear(8, 24)", "o": "nn.Linear(8, 8)"},
    ),
    Case(
        "cross-attention",
        "F.scaled_dot_product_attention(*[t.unflatten(-1, (2, 4)).transpose(1, 2) for t in (q(x), k(y), k(y))])"
        ".transpose(1, 2).flatten(2)",
        "f32[2,5,8] f32[2,3,8]",
        "f32[3,7,8] f32[3,6,8]",
        {"q": "nn.Linear(8, 8)", "k": "nn.Linear(8, 8, bias=False)"},
    ),
    Case(
        "gated feed-forward",
        "(lambda a, b: o(F.silu(a) * b))(*g(n(x)).chunk(2, -1)) + x",
        *TOKENS,
        {"n": "nn.RMSNorm(8)", "g": "nn.Linear(8, 12)", "o": "nn.Linear(6, 8)"},
    ),
    Case("gated convolution", "F.glu(c(x), 1)", "f32[2,4,9]", "f32[1,4,13]", {"c": "nn.Conv1d(4, 12, 3)"}),
    Case(
        "tied embedding",
        "F.linear(F.normalize(n(e(x)), dim=-1), e.weight)",
        *WORDS,
        {"e": "nn.Embedding(20, 6)", "n": "nn.LayerNorm(6)"},
    ),
    Case(
        "four norms",
        "b(g(i(x))) + l(x)",
        *IMAGES,
        {"b": "nn.BatchNorm2d(4)", "g": "nn.GroupNorm(2, 4)", "i": "nn.InstanceNorm2d(4)", "l": "nn.LayerNorm(6)"},
    ),
    Case(
        "scores",
        "torch.baddbmm(torch.zeros(1), x, y.transpose(1, 2), beta=0, alpha=0.5).softmax(-1).bmm(y)",
        "f32[2,3,4] f32[2,5,4]",
        "f32[3,2,4] f32[3,6,4]",
    ),
    Case(
        "activations in a row",
        "p(c(x)).tanh() * F.hardswish(x) + F.hardtanh(x)",
        *IMAGES,
        {"p": "nn.PReLU(4)", "c": "nn.Conv2d(4, 4, 1)"},
    ),
    Case(
        "weights with a norm",
        "m(x)",
        "f32[3,4]",
        "f32[2,4]",
        {"m": "nn.utils.parametrizations.weight_norm(nn.Linear(4, 5))"},
    ),
]
