"""Recurrent layers: layers, directions, batches in front, projections, states, without a batch."""

from __future__ import annotations

from tests.differential.pnnx.case import Case

SERIES, OTHERS = "f32[7,3,6]", "f32[5,2,6]"


def layer(text, inputs=SERIES, others=OTHERS, forward="m(x)"):
    return Case(f"nn.{text} {forward} {inputs}", forward, inputs, others, {"m": f"nn.{text}"})


ARGUMENTS = (
    "6, 4",
    "6, 4, num_layers=2, bidirectional=True, batch_first=True",
    "6, 4, num_layers=3, bias=False",
    "6, 4, bidirectional=True, dropout=0.1, num_layers=2",
)

CASES = [
    *(layer(f"{kind}({arguments})") for kind in ("RNN", "GRU", "LSTM") for arguments in ARGUMENTS),
    *(
        layer(f"{kind}({arguments})", forward="m(x)[0]")
        for kind in ("RNN", "GRU", "LSTM")
        for arguments in ("6, 4, bidirectional=True", "6, 4, batch_first=True")
    ),
    *(layer(f"{kind}(6, 4)", "f32[7,6]", "f32[5,6]") for kind in ("RNN", "GRU")),
    layer("GRU(6, 4, 2, batch_first=True, bidirectional=True)", "f32[7,6]", "f32[5,6]"),
    layer("RNN(6, 4, nonlinearity='relu', batch_first=True)"),
    *(layer(f"{kind}(6, 4)", f"{SERIES} f32[1,3,4]", f"{OTHERS} f32[1,2,4]", "m(x, y)") for kind in ("RNN", "GRU")),
    *(
        layer(
            f"{kind}(6, 4, 2, bidirectional=True, batch_first=True)",
            "f32[3,7,6] f32[4,3,4]",
            "f32[2,5,6] f32[4,2,4]",
            "m(x, y)",
        )
        for kind in ("RNN", "GRU")
    ),
    *(layer(f"{kind}(6, 4)", "f32[7,6] f32[1,4]", "f32[5,6] f32[1,4]", "m(x, y)") for kind in ("RNN", "GRU")),
    layer("LSTM(6, 4)", f"{SERIES} f32[1,3,4] f32[1,3,4]", f"{OTHERS} f32[1,2,4] f32[1,2,4]", "m(x, (y, z))"),
    layer("LSTM(6, 4, 2)", f"{SERIES} f32[2,3,4] f32[2,3,4]", f"{OTHERS} f32[2,2,4] f32[2,2,4]", "m(x, (y, z))[0]"),
    layer("LSTM(6, 4, proj_size=3)"),
    layer("LSTM(6, 4, 2, bidirectional=True, batch_first=True, proj_size=2)"),
    layer(
        "LSTM(6, 4, proj_size=3, batch_first=True)",
        "f32[3,7,6] f32[1,3,3] f32[1,3,4]",
        "f32[2,5,6] f32[1,2,3] f32[1,2,4]",
        "m(x, (y, z))",
    ),
    # pnnx lists the states of these before the sequence, or only them, so that its program has other sizes than traced
    layer("LSTM(6, 4)", "f32[7,6]", ""),
    layer("LSTM(6, 4)", "f32[7,6] f32[1,4] f32[1,4]", "", "m(x, (y, z))"),
    layer("LSTM(6, 4, 2, batch_first=True, bidirectional=True)", "f32[7,6]", ""),
    layer("LSTM(6, 4, proj_size=3)", "f32[7,6]", ""),
    layer("GRU(6, 4)", SERIES, "", "m(x)[1]"),
    layer("LSTM(6, 4)", SERIES, "", "m(x)[1][1]"),
    layer("LSTM(6, 4, batch_first=True)", "f32[0,7,6]", "f32[2,5,6]"),
]
