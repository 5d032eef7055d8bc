"""Families of nodes that are layers of networks: convolutions, pools, norms, products, recurrent and quantized ones."""

from __future__ import annotations

import numpy as np

from tests.differential.random_graphs.eager import MS, Refused
from tests.differential.random_graphs.net import Net


def _window(n: Net, count: int, high: int = 3) -> dict[str, object]:
    draw = n.draw
    attributes: dict[str, object] = {"kernel_shape": [draw.randint(1, high) for _ in range(count)]}
    if draw.random() < 0.6:
        attributes["strides"] = [draw.choice((1, 2, 3)) for _ in range(count)]
    if draw.random() < 0.3:
        attributes["auto_pad"] = draw.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    elif draw.random() < 0.7:
        attributes["pads"] = [draw.choice((0, 1)) for _ in range(2 * count)]
    return attributes


def _image(n: Net) -> str:
    return n.pick(lambda a: a.dtype == np.float32 and a.ndim in (3, 4, 5) and a.shape[1] > 0 and a.size > 0)


def conv(n: Net) -> None:
    x = _image(n)
    channels, spatial = n.shape(x)[1], len(n.shape(x)) - 2
    window = _window(n, spatial)
    if n.draw.random() < 0.3:
        window["dilations"] = [n.draw.choice((1, 2)) for _ in range(spatial)]
    group = n.draw.choice((1, 1, channels))
    out = group * n.draw.choice((1, 2, 4))
    w = n.weight(out, channels // group, *window["kernel_shape"])  # type: ignore[misc]
    bias = [n.weight(out)] if n.draw.random() < 0.4 else []
    n.add("Conv", x, w, *bias, group=group, **window)


def conv_transpose(n: Net) -> None:
    x = _image(n)
    channels, spatial = n.shape(x)[1], len(n.shape(x)) - 2
    window = _window(n, spatial)
    if window.get("auto_pad") == "VALID":
        window.pop("auto_pad")
    w = n.weight(channels, n.draw.choice((1, 2)), *window["kernel_shape"])  # type: ignore[misc]
    n.add("ConvTranspose", x, w, **window)


def pool(n: Net) -> None:
    x = _image(n)
    window = _window(n, len(n.shape(x)) - 2)
    op = n.draw.choice(("MaxPool", "AveragePool", "LpPool"))
    if op != "LpPool" and n.opset >= 10 and "auto_pad" not in window:
        window["ceil_mode"] = n.draw.randrange(2)
    if op == "MaxPool" and n.draw.random() < 0.3:
        n.split(op, 2, x, **window)
    else:
        n.add(op, x, **window)


def global_pool(n: Net) -> None:
    n.add(n.draw.choice(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")), _image(n))


def norm(n: Net) -> None:
    x = _image(n)
    channels = n.shape(x)[1]
    op = n.draw.choice(("BatchNormalization", "InstanceNormalization", "LRN", "GroupNormalization"))
    if op == "LRN":
        n.add(op, x, size=3)
    elif op == "GroupNormalization":
        n.add(op, x, n.weight(channels), n.weight(channels), num_groups=n.draw.choice((1, channels)))
    else:
        n.add(op, x, *(n.weight(channels) for _ in range(4 if op.startswith("Batch") else 2)))


def layer_norm(n: Net) -> None:
    x = n.floats(least=1)
    axis = n.axis(x)
    scale = n.weight(*n.shape(x)[axis:])
    if n.draw.random() < 0.3:
        n.add("SimplifiedLayerNormalization", x, n.weight(n.shape(x)[-1]), axis=-1)
    else:
        n.split("LayerNormalization", n.draw.choice((1, 1, 3)), x, scale, axis=axis)


def soft_max(n: Net) -> None:
    x = n.floats(least=1)
    n.add(n.draw.choice(("Softmax", "LogSoftmax", "Hardmax")), x, axis=n.axis(x) if n.opset >= 11 else 1)


def lp_norm(n: Net) -> None:
    n.add("LpNormalization", n.floats(least=1))


def mat_mul(n: Net) -> None:
    x = n.floats(least=1)
    inner = n.shape(x)[-1]
    if n.draw.random() < 0.5:
        n.add("MatMul", x, n.weight(inner, n.draw.choice((1, 2, 4, 5))))
    else:
        n.add("MatMul", x, n.pick(lambda a: a.dtype == np.float32 and (a.shape[-2:-1] or a.shape) == (inner,)))


def gemm(n: Net) -> None:
    x = n.floats(rank=2)
    left, right, wide = n.draw.randrange(2), n.draw.randrange(2), n.draw.choice((1, 3, 4))
    rows, inner = n.shape(x)[::-1] if left else n.shape(x)
    w = n.weight(*((wide, inner) if right else (inner, wide)))
    c = n.draw.choice(((), (wide,), (1, wide), (rows, 1), (1,)))
    with_c = [n.weight(*c)] if n.draw.random() < 0.6 else [n.known(0.0, np.float32)]
    n.add("Gemm", x, w, *with_c, transA=left, transB=right)


def einsum(n: Net) -> None:
    x = n.floats(least=2)
    rank = len(n.shape(x))
    letters = "abcdefgh"[:rank]
    output = "".join(n.draw.sample(letters, n.draw.randint(1, rank)))
    if n.draw.random() < 0.4:
        n.add("Einsum", x, equation=f"{letters}->{output}")
    elif n.draw.random() < 0.5:
        n.add("Einsum", x, n.weight(n.shape(x)[-1], 3), equation=f"...{letters[-1]},{letters[-1]}z->...z")
    else:
        n.add("Einsum", x, n.weight(n.shape(x)[-1], 3), equation=f"{letters},{letters[-1]}z->{output}z")


def resize(n: Net) -> None:
    x = n.floats(rank=4)
    scales = [1.0, 1.0, n.draw.choice((1.0, 2.0, 3.0, 0.5, 1.5)), n.draw.choice((1.0, 2.0, 0.5))]
    mode = n.draw.choice(("nearest", "linear"))
    if n.opset < 9:
        n.add("Upsample", x, scales=scales, mode=mode)
    elif n.opset == 9 or n.opset == 10:
        n.add("Upsample" if n.opset == 9 else "Resize", x, n.known(scales, np.float32), mode=mode)
    elif n.draw.random() < 0.5:
        sizes = [*n.shape(x)[:2], n.draw.choice((3, 6)), n.draw.choice((2, 7))]
        if n.draw.random() < 0.6:
            front = n.add("Slice", n.add("Shape", x), n.known([0]), n.known([2]))
            target = n.add("Concat", front, n.known(sizes[2:]), axis=0)
        else:
            target, mode = n.known(sizes), "nearest"  # onnxruntime interpolates at most two axes
        n.add("Resize", x, *_no_regions(n), target, mode=mode)
    else:
        region = [] if n.opset < 13 else [""]
        n.add("Resize", x, *(region or [n.known([], np.float32)]), n.known(scales, np.float32), mode=mode)


def _no_regions(n: Net) -> list[str]:
    """Absent regions of interest and scales, which are empty tensors in opset 11."""
    return ["", ""] if n.opset >= 13 else [n.known([], np.float32), n.known([], np.float32)]


def recurrent(n: Net) -> None:
    x = n.floats(rank=3)
    op, gates = n.draw.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    direction = n.draw.choice(("forward", "reverse", "bidirectional"))
    ways, hidden = (2 if direction == "bidirectional" else 1), n.draw.choice((1, 3))
    batch, width = n.shape(x)[1:]
    w, r = n.weight(ways, gates * hidden, width), n.weight(ways, gates * hidden, hidden)
    more: list[str] = []
    if n.draw.random() < 0.4:
        more = [n.weight(ways, 2 * gates * hidden)]
    if n.draw.random() < 0.2:
        more = [*(more or [""]), n.constant(np.full(batch, 1, np.int32))]
    n.split(
        op, n.draw.choice((1, 2, 3 if op == "LSTM" else 2)), x, w, r, *more, hidden_size=hidden, direction=direction
    )


def quantized(n: Net) -> None:
    x = n.floats()
    scale, zero = n.known(0.1, np.float32), n.known(3, np.uint8)
    q = n.add("QuantizeLinear", x, scale, zero)
    if n.draw.random() < 0.5:
        n.add("DequantizeLinear", q, scale, zero)
    elif len(n.shape(x)) >= 2:
        n.add("MatMulInteger", q, n.weight(n.shape(x)[-1], 2, dtype=np.uint8))


def quantized_by_axis(n: Net) -> None:
    if n.opset < 13:
        raise Refused("no axes yet")
    x = n.floats(least=1)
    axis = n.axis(x)
    size = n.shape(x)[axis]
    scale, zero = n.weight(size), n.weight(size, dtype=np.uint8)
    n.add("DequantizeLinear", n.add("QuantizeLinear", x, scale, zero, axis=axis), scale, zero, axis=axis)


def quantized_layer(n: Net) -> None:
    scale, zero = n.known(0.1, np.float32), n.known(3, np.uint8)
    x = n.add("QuantizeLinear", n.floats(least=2), scale, zero)
    inner = n.shape(x)[-1]
    n.add("QLinearMatMul", x, scale, zero, n.weight(inner, 3, dtype=np.uint8), scale, zero, scale, zero)


def dynamically_quantized(n: Net) -> None:
    n.split("DynamicQuantizeLinear", 3, n.floats(least=1))


# -- ONNX Runtime's own ----------------------------------------------------------------------------------------------


def gelu(n: Net) -> None:
    x = n.floats(least=1)
    op = n.draw.choice(("Gelu", "FastGelu", "QuickGelu", "BiasGelu"))
    bias = [n.weight(n.shape(x)[-1])] if op == "BiasGelu" or (op == "FastGelu" and n.draw.random() < 0.5) else []
    n.add(op, x, *bias, domain=MS)


def fused_mat_mul(n: Net) -> None:
    x = n.floats(least=2)
    left, right = n.draw.randrange(2), n.draw.randrange(2)
    inner = n.shape(x)[-2 if left else -1]
    w = n.weight(*((3, inner) if right else (inner, 3)))
    n.add("FusedMatMul", x, w, transA=left, transB=right, domain=MS)


def skip_norm(n: Net) -> None:
    x = n.floats(rank=3)
    wide = n.shape(x)[-1]
    op = n.draw.choice(("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"))
    n.add(op, x, n.like(x), n.weight(wide), domain=MS)


def packed_attention(n: Net) -> None:
    x = n.floats(rank=3)
    wide = n.shape(x)[-1]
    heads = n.draw.choice([h for h in (1, 2, 3) if wide % h == 0])
    if n.draw.random() < 0.5:
        n.add("Attention", x, n.weight(wide, 3 * wide), n.weight(3 * wide), num_heads=heads, domain=MS)
    else:
        n.add("MultiHeadAttention", x, n.like(x), n.like(x), num_heads=heads, domain=MS)


def rotary(n: Net) -> None:
    x = n.floats(rank=4)
    batch, _, length, wide = n.shape(x)
    cos, sin = n.weight(16, wide // 2), n.weight(16, wide // 2)
    n.add("RotaryEmbedding", x, n.constant(np.zeros((batch, length), np.int64)), cos, sin, domain=MS)


def own_math(n: Net) -> None:
    x = n.floats(least=2)
    op = n.draw.choice(("Inverse", "Trilu", "ExpandDims", "QuickGelu", "Unique", "FusedGemm"))
    if op == "Inverse":
        n.add(op, n.add("FusedMatMul", x, x, transB=1, domain=MS), domain=MS)
    elif op == "ExpandDims":
        n.add(op, x, n.known(n.draw.choice((0, -1, 1)), np.int32), domain=MS)
    elif op == "FusedGemm":
        y = n.floats(rank=2)
        n.add(op, y, n.weight(n.shape(y)[1], 3), n.weight(3), domain=MS, activation="Relu")
    elif op == "Unique":
        n.split(op, 3, n.floats(rank=1), domain=MS)
    else:
        n.add(op, x, domain=MS)


def attention(n: Net) -> None:
    if n.opset < 23:
        raise Refused("not there yet")
    q = n.floats(rank=4)
    n.add("Attention", q, n.like(q), n.like(q))


FAMILIES = (
    *(conv, conv, conv, conv_transpose, pool, pool, global_pool, norm, norm, layer_norm, soft_max, lp_norm),
    *(mat_mul, mat_mul, gemm, einsum, resize, recurrent, recurrent, quantized, quantized_by_axis, quantized_layer),
    *(dynamically_quantized, gelu, fused_mat_mul, skip_norm, packed_attention, rotary, own_math, attention),
)
