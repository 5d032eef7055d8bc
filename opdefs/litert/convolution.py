"""Temporaries of convolutions: patches of the input as rows (im2col), the quantized input of a hybrid kernel, sums."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.litert.kernels import input_as_bytes, is_hybrid, litert, stored_words, words
from opdefs.rules.operands import is_unit
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext, Temporary

STRIDES = ("stride_w", "stride_h", "stride_d")
DILATIONS = ("dilation_w_factor", "dilation_h_factor", "dilation_d_factor")


@litert.temporaries("CONV_2D")
def conv_2d(c: LiteRtContext) -> Sequence[Temporary]:
    """Patches unless each is one element; weights in another order, kept, for more than one thread (`conv.cc`)."""
    weights, output = c.input(1), c.output()
    hybrid = is_hybrid(c, 1, integers=("uint8", "int8", "int4"))
    is_threaded = (
        c.options.threads != 1 and not hybrid and not _is_dilated(c) and (1 in c.known or c.dtype(1) != "float32")
    )
    temporaries: list[Temporary] = []
    transposes = is_threaded and c.dtype(0) == "float32"
    if not transposes and _has_patches(c, weights[1:3]):
        width = 1 if hybrid else c.width(0)
        temporaries.append(Temporary(c.product(width, *output[:3], *weights[1:])))
    if transposes:
        temporaries.append(stored_words(c, *weights))
    if hybrid:
        temporaries += _hybrid_conv_2d(c)
    return temporaries


def _hybrid_conv_2d(c: LiteRtContext) -> list[Temporary]:
    """Zero points and sums too where filters have different scales, and for groups."""
    source, weights, output = c.input(0), c.input(1), c.output()
    if not isinstance(source[3], int):
        raise NotKnown("the number of channels decides whether sums of filters are kept")
    rows = c.product(*source[:3], source[3] // weights[3])
    temporaries = [input_as_bytes(c), words(c, rows), words(c, weights[0], *output[:3])]
    if source[3] != weights[3] or (c.dtype(1) != "uint8" and len(set(c.scales.get(1, ()))) > 1):
        temporaries += [words(c, rows), stored_words(c, weights[0])]
    return temporaries


@litert.temporaries("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(c: LiteRtContext) -> Sequence[Temporary]:
    """The quantized input, its scales and zero points, of a hybrid kernel (`depthwise_conv.cc`)."""
    if not is_hybrid(c, 1, integers=("int8",)):
        return ()
    batch = c.input(0)[0]
    return [input_as_bytes(c), words(c, batch), words(c, batch)]


@litert.temporaries("CONV_3D")
def conv_3d(c: LiteRtContext) -> Sequence[Temporary]:
    """Patches unless each is one element (`conv3d.cc`)."""
    weights = c.input(1)
    return [words(c, *c.output()[:4], *weights[:4])] if _has_patches(c, weights[:3]) else ()


@litert.temporaries("TRANSPOSE_CONV")
@litert.temporaries("Convolution2DTransposeBias", domain="custom")
def transpose_conv(c: LiteRtContext) -> Sequence[Temporary]:
    """Products before they are added (col2im) and weights in another order, on the heap (`transpose_conv.cc`)."""
    weights, source = c.input(1), c.input(2)
    dtype = c.dtype(2)
    temporaries = [
        Temporary(c.product(4, *source[1:3], *weights[:3]), "heap"),
        Temporary(c.product(c.width(1), *weights), "heap"),
    ]
    if dtype in ("uint8", "int8", "int16"):
        width = {"INT64": 8, "INT32": 4}.get(c.text("quantized_bias_type"), 8 if dtype == "int16" else 4)
        temporaries.append(Temporary(c.product(width, *c.output()), "heap"))
    if is_hybrid(c, 1, 2, ("int8",)):
        rows = c.product(*source[:3])
        temporaries += [input_as_bytes(c, 2), words(c, rows), words(c, rows)]
    return temporaries


@litert.temporaries("CONV_3D_TRANSPOSE")
def conv_3d_transpose(c: LiteRtContext) -> Sequence[Temporary]:
    """Products before they are added, on the heap, without dilation (`conv3d_transpose.cc`)."""
    if _is_dilated(c):
        return ()
    return [Temporary(c.product(4, *c.input(2)[1:4], *c.input(1)[:4]), "heap")]


def _has_patches(c: LiteRtContext, window: Sequence[DimSize]) -> bool:
    """Whether the kernel reads more than one element of a channel, or not each of them."""
    strides = any(c.integer(name, 1) != 1 for name in STRIDES)
    return strides or _is_dilated(c) or not all(map(is_unit, window))


def _is_dilated(c: LiteRtContext) -> bool:
    return any(c.integer(name, 1) != 1 for name in DILATIONS)
