"""Whole networks, traced at one size, at two, and run at a third one that was never traced."""

from __future__ import annotations

from tests.differential.pnnx.case import Case


def images(channels=3, sizes=((1, 32, 32), (2, 48, 40), (3, 40, 56))):
    return [f"f32[{n},{channels},{h},{w}]" for n, h, w in sizes]


def rows(kind, *sizes):
    return [f"{kind}[{','.join(map(str, size))}]" for size in sizes]


TOKENS = rows("i64", (1, 7), (2, 9), (3, 12))
SEQUENCES = rows("f32", (1, 7, 8), (2, 9, 8), (3, 11, 8))
FIXED = images(sizes=((1, 16, 16), (2, 16, 16), (5, 16, 16)))

INPUTS = {
    "ResNet": images(),
    "MobileNet": images(),
    "UNet": images(),
    "Yolo": images(),
    "Encoder": [f"{text} {text}" for text in TOKENS],
    "Decoder": TOKENS,
    "CrossAttention": [
        f"{a} {b}" for a, b in zip(SEQUENCES, rows("f32", (1, 5, 8), (2, 6, 8), (3, 4, 8)), strict=True)
    ],
    "VisionTransformer": FIXED,
    "Windows": rows("f32", (1, 8, 8, 8), (2, 12, 16, 8), (1, 16, 4, 8)),
    "GruTagger": TOKENS,
    "Audio": rows("f32", (1, 1, 100), (2, 1, 133), (1, 1, 171)),
    "Generator": rows("f32", (1, 6), (3, 6), (4, 6)),
    "SuperResolution": images(sizes=((1, 8, 9), (2, 11, 12), (1, 13, 10))),
    "Pyramid": images(),
    "Dense": images(4, ((1, 12, 12), (2, 15, 14), (1, 17, 20))),
    "PointNet": rows("f32", (1, 10, 3), (2, 13, 3), (1, 17, 3)),
    "Video": rows("f32", (1, 3, 4, 16, 16), (2, 3, 5, 20, 24), (1, 3, 7, 18, 16)),
    "Autoencoder": rows("f32", (1, 4, 5), (3, 4, 5), (2, 4, 5)),
    "Gated": rows("f32", (1, 7, 6), (2, 9, 6), (3, 12, 6)),
    "Graph": ["f32[1,4,5] f32[1,4,4]", "f32[2,6,5] f32[2,6,6]", "f32[3,7,5] f32[3,7,7]"],
    "Mixer": FIXED,
    "Style": images(sizes=((1, 9, 10), (2, 12, 15), (1, 16, 11))),
    "Rotary": SEQUENCES,
    "Conformer": SEQUENCES,
}

CASES = [Case(name, "", inputs, others, network=name, third=third) for name, (inputs, others, third) in INPUTS.items()]
