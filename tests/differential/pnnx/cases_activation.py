"""Activations and dropouts: modules, functions, other element types, and axes."""

from __future__ import annotations

from tests.differential.pnnx.case import Case

FEATURES, OTHERS = "f32[2,4,6]", "f32[3,6,5]"

ELEMENTWISE = {
    "CELU(alpha=0.5)": "celu",
    "ELU(0.7)": "elu",
    "GELU(approximate='tanh')": "gelu",
    "Hardshrink(0.3)": "hardshrink",
    "Hardsigmoid()": "hardsigmoid",
    "Hardswish()": "hardswish",
    "Hardtanh(-0.5, 0.5)": "hardtanh",
    "LeakyReLU(0.2)": "leaky_relu",
    "LogSigmoid()": "logsigmoid",
    "Mish()": "mish",
    "RReLU(0.1, 0.4)": "rrelu",
    "ReLU(inplace=True)": "relu",
    "ReLU6()": "relu6",
    "SELU()": "selu",
    "SiLU()": "silu",
    "Sigmoid()": "sigmoid",
    "Softplus(2, 10)": "softplus",
    "Softshrink(0.4)": "softshrink",
    "Softsign()": "softsign",
    "Tanh()": "tanh",
    "Tanhshrink()": "tanhshrink",
}
"""A module and the function that computes the same."""


def module(text, inputs=FEATURES, others=OTHERS):
    return Case(f"nn.{text} {inputs}", "m(x)", inputs, others, {"m": f"nn.{text}"})


def function(text, inputs=FEATURES, others=OTHERS):
    return Case(f"{text} {inputs}", text, inputs, others)


CASES = [
    *(module(text) for text in ELEMENTWISE),
    *(
        Case(
            f"F.{name}",
            f"F.{name}(x), F.{name}(y), F.{name}(z)",
            "f32[2,4,6] f64[5] f16[1,3]",
            "f32[3,5,6] f64[7] f16[0,3]",
        )
        for name in ELEMENTWISE.values()
    ),
    *(
        function(f"F.{name}(x)", "i64[2,5]", "i64[3,7]")
        for name in ("sigmoid", "tanh", "relu", "relu6", "hardtanh", "softsign", "tanhshrink")
    ),
    *(function(f"F.{name}(x)", "bool[2,5]", "bool[3,7]") for name in ("sigmoid", "tanh")),
    function("F.relu(x), F.relu6(x), F.sigmoid(y)", "u8[3,4] i32[5]", "u8[2,4] i32[6]"),
    function("F.sigmoid(x), F.tanh(x), F.silu(x)", "c64[3,4]", "c64[2,4]"),
    function("F.hardtanh(x, 0.5, 2.5), F.elu(x, alpha=2), F.leaky_relu(x, 0.3), F.celu(x, 2.0)"),
    function("F.softplus(x, beta=3, threshold=4), F.hardshrink(x, 0.1), F.softshrink(x, 0.2), F.rrelu(x, 0.1, 0.2)"),
    function("F.gelu(x, approximate='tanh'), torch.relu(x), torch.sigmoid(x), torch.tanh(x), x.relu(), x.sigmoid()"),
    # halves of an axis
    *(module(f"GLU({dim})", "f32[2,4,6]", "f32[4,8,6]") for dim in ("", "0", "dim=1", "-2")),
    function("F.glu(x), F.glu(x, 1), F.glu(x, -3)", "f32[2,4,6]", "f32[4,8,6]"),
    function("F.glu(x)", "f16[6]", "f16[0]"),
    # along an axis
    *(module(f"{name}(dim={dim})") for name in ("Softmax", "LogSoftmax", "Softmin") for dim in (-1, 0, 1)),
    module("Softmax()", "f32[2,3]", "f32[4,3]"),
    module("Softmax()", "f32[2,3,4]", "f32[4,3,2]"),
    module("LogSoftmax()", "f32[5]", "f32[7]"),
    module("Softmax2d()", "f32[2,3,4,5]", "f32[1,4,6,7]"),
    module("Softmax2d()", "f32[3,4,5]", "f32[4,6,7]"),
    function("F.softmax(x, dim=1), F.log_softmax(x, dim=-2), F.softmin(x, dim=0)"),
    function("F.softmax(x), F.log_softmax(x), F.softmin(x)"),
    function("F.softmax(x, -1), F.log_softmax(x, 1)", "f16[2,0,3]", "f16[1,0,5]"),
    function("F.softmax(x, 1, dtype=torch.float64), F.log_softmax(x, -1, dtype=torch.float64)"),
    function("F.softmin(x, -1, dtype=torch.float64)"),
    function("torch.softmax(x, 0), x.log_softmax(-1), x.softmax(1, torch.float16)"),
    # a weight for each channel
    module("PReLU()"),
    module("PReLU(4)", "f32[2,4,6]", "f32[3,4,5]"),
    module("PReLU(num_parameters=5, init=0.1)", "f32[3,5]", "f32[2,5]"),
    module("PReLU()", "f32[7]", "f32[9]"),
    function("F.prelu(x, y)", "f32[2,4,6] f32[4]", "f32[3,4,5] f32[4]"),
    function("F.prelu(x, y)", "f32[2,4,6] f32[1]", "f32[3,5,5] f32[1]"),
    function("F.prelu(x, y)", "f64[2,4] f64[4]", "f64[3,5] f64[5]"),
    function("F.prelu(x, y)", "f32[6] f32[1]", "f32[3] f32[1]"),
    # thresholds
    module("Threshold(0.1, 20)"),
    function("F.threshold(x, 0.1, 2.0), F.threshold(y, 1, 7)", "f32[2,3] i64[4]", "f32[5,3] i64[2]"),
    # of dropouts pnnx leaves nothing
    *(module(f"{name}(0.4)") for name in ("Dropout", "AlphaDropout", "FeatureAlphaDropout")),
    module("Dropout1d()"),
    module("Dropout2d(0.3)", "f32[2,3,4,5]", "f32[1,2,3,4]"),
    module("Dropout3d()", "f32[2,3,2,4,5]", "f32[1,2,3,4,1]"),
    function("F.dropout(x, 0.3, training=True), F.dropout(x, training=False), F.dropout(x, 0.3)"),
    function("F.dropout2d(x, 0.3, True), F.dropout2d(x, training=False)", "f32[2,3,4,5]", "f32[1,2,5,6]"),
    function("F.dropout3d(x, 0.3, True), F.dropout3d(x, training=False)", "f32[2,3,4,5,2]", "f32[1,2,5,6,3]"),
    function("F.alpha_dropout(x, 0.3, True), F.alpha_dropout(x)"),
    function("F.feature_alpha_dropout(x, 0.3, True), F.feature_alpha_dropout(x)"),
]
