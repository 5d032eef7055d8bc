"""Temporaries of Fourier transforms and of detection."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from opdefs.litert.kernels import litert, words
from shapeinf.errors import NotKnown
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext, Temporary
from shapeinf.memory.runtimes.litert.planner import Storage

DOUBLE = 8


@litert.temporaries("RFFT2D")
def rfft2d(c: LiteRtContext) -> Sequence[Temporary]:
    """Work areas of one image (`rfft2d.cc`); the width of a transform is a power of two."""
    height, half = c.output()[-2:]
    if not isinstance(height, int) or not isinstance(half, int):
        raise NotKnown("the sizes of the transform are not known")
    width = 2 * (half - 1) if half > 1 else 1
    longest = max(height, width // 2)
    storage: Storage = "arena" if 1 in c.known else "heap"
    sizes = (
        4 * (2 + isqrt(longest)),
        DOUBLE * (longest // 2 + width // 4),
        DOUBLE * height,
        DOUBLE * height * (width + 2),
    )
    return [Temporary(size, storage) for size in sizes]


@litert.temporaries("TFLite_Detection_PostProcess", domain="custom")
def detection(c: LiteRtContext) -> Sequence[Temporary]:
    """Boxes and scores as floats (`detection_postprocess.cc`)."""
    return [words(c, c.input(0)[1], 4), words(c, *c.input(1)[1:3])]
