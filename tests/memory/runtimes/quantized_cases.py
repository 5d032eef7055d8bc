"""Cases of operators on 8-bit integers, and on blocks of few bits, at random sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.memory.runtimes.case_maker import ALL, SCALE, ZERO_U8, Maker
from tests.memory.runtimes.kernel_models import MS, Case, Input


def quantized_where(m: Maker, a: int, b: int, c: int) -> list[Input]:
    scale, zero = m.k(SCALE), m.k(ZERO_U8)
    x, y = m.x(a, b, c, dtype="uint8"), m.x(c, dtype="uint8")
    return [m.x(b, 1, dtype="bool"), x, scale, zero, y, scale, zero, scale, zero]


def quantized_operands(m: Maker, x: Input, w: Input, zero: Any = None) -> list[Input]:
    scale, zero_x = m.k(SCALE), m.k(np.array(3, x.array.dtype))
    zero_w = m.k(np.array(0, w.array.dtype) if zero is None else zero)
    return [x, scale, zero_x, w, scale, zero_w, scale, zero_x]


def quantized_convolution(m: Maker) -> Iterator[Case]:
    n, h, w = m.size(2, 4), *m.sizes(20, 30)
    c, f = 4 * m.size(2, 6), 8 * m.size(2, 5)
    for kind in ("int8", "uint8"):
        for channels, filters in ((c, f), (c + 1, f), (c, f + 1)):
            x, weight = m.x(n, channels, h, w, dtype="uint8"), m.w(filters, channels, 3, 3, dtype=kind)
            label = f"{kind} {'odd ' * (channels % 2)}{'oddfilters' * (filters % 2)}"
            yield Case(f"QLinearConv {label}", "QLinearConv", quantized_operands(m, x, weight), {"pads": [1] * 4})
            yield Case(f"ConvInteger {label}", "ConvInteger", [x, weight], {"strides": [2, 2]})
        x = m.x(n, c, h, w, dtype="uint8")
        for groups in (16, c):
            own = m.x(n, groups, h, w, dtype="uint8")
            depthwise = quantized_operands(m, own, m.w(groups, 1, 3, 3, dtype=kind))
            yield Case(f"QLinearConv depthwise {kind} {groups}", "QLinearConv", depthwise, {"group": groups})
        double = quantized_operands(m, x, m.w(2 * c, 1, 3, 3, dtype=kind))
        yield Case(f"QLinearConv multiplier {kind}", "QLinearConv", double, {"group": c})
        yield Case(
            f"QLinearConv groups {kind}",
            "QLinearConv",
            quantized_operands(m, x, m.w(f, c // 2, 3, 3, dtype=kind)),
            {"group": 2},
        )
        one = quantized_operands(m, x, m.w(f, c, 1, 1, dtype=kind))
        yield Case(f"QLinearConv 1x1 {kind}", "QLinearConv", one)
        yield Case(f"QLinearConv 1x1 stride {kind}", "QLinearConv", one, {"strides": [2, 1]})
        variable = quantized_operands(m, x, m.x(f, c, 3, 3, dtype=kind))
        yield Case(f"QLinearConv variable {kind}", "QLinearConv", variable)
        line = quantized_operands(m, m.x(n, c, h * w, dtype="uint8"), m.w(f, c, 3, dtype=kind))
        yield Case(f"QLinearConv 1d {kind}", "QLinearConv", line)
        for groups in (1, 2):
            cube = quantized_operands(m, m.x(n, c, 5, 6, 7, dtype="uint8"), m.w(f, c // groups, 3, 3, 3, dtype=kind))
            yield Case(f"QLinearConv 3d {kind} {groups}", "QLinearConv", cube, {"group": groups})
        for channels in (c, c + 1):
            last = quantized_operands(m, m.x(n, h, w, channels, dtype="uint8"), m.w(f, channels, 3, 3, dtype=kind))
            yield Case(f"QLinearConv last {kind} {channels % 2}", "QLinearConv", last, {"channels_last": 1}, domain=MS)
        last = quantized_operands(m, m.x(n, h, w, 16, dtype="uint8"), m.w(16, 1, 3, 3, dtype=kind))
        attributes = {"channels_last": 1, "group": 16}
        yield Case(f"QLinearConv last depthwise {kind}", "QLinearConv", last, attributes, domain=MS)
    signed = quantized_operands(m, m.x(n, c, h, w, dtype="int8"), m.w(f, c, 3, 3, dtype="int8"))
    yield Case("QLinearConv signed", "QLinearConv", signed)
    x, weight = m.x(n, c, h, w, dtype="uint8"), m.w(f, c, 3, 3, dtype="int8")
    shifted = quantized_operands(m, x, weight, np.arange(f).astype(np.int8))
    shifted[4] = m.k(np.full(f, 0.02, np.float32))
    yield Case("QLinearConv shifted", "QLinearConv", shifted)


def quantized_products(m: Maker) -> Iterator[Case]:
    a, b, depth, columns = m.sizes(5, 40, 50, 60)
    scale, zero = m.k(SCALE), m.k(ZERO_U8)
    for kind in ("int8", "uint8"):
        for make in (m.w, m.x):
            w = make(depth, columns, dtype=kind)
            label = f"{kind} {'constant' if w.constant else 'variable'}"
            x = m.x(a, b, depth, dtype="uint8")
            yield Case(f"MatMulInteger {label}", "MatMulInteger", [x, w])
            yield Case(f"MatMulIntegerToFloat {label}", "MatMulIntegerToFloat", [x, w, scale, scale], domain=MS)
            yield Case(f"QLinearMatMul {label}", "QLinearMatMul", quantized_operands(m, x, w))
            zero_w = m.k(np.array(0, kind))
            row = m.x(b, depth, dtype="uint8")
            gemm = [row, scale, zero, w, scale, zero_w, m.k(np.zeros(columns, np.int32))]
            yield Case(f"QGemm {label}", "QGemm", gemm, domain=MS)
            yield Case(f"QGemm quantized {label}", "QGemm", [*gemm, scale, zero], domain=MS)
            turned = [*gemm[:3], make(columns, depth, dtype=kind), *gemm[4:]]
            yield Case(f"QGemm transposed {label}", "QGemm", turned, {"transB": 1}, domain=MS)
            dynamic = [m.x(a, b, depth), w, scale, zero_w]
            yield Case(f"DynamicQuantizeMatMul {label}", "DynamicQuantizeMatMul", dynamic, domain=MS)
    yield Case(
        "MatMulInteger signed", "MatMulInteger", [m.x(b, depth, dtype="int8"), m.w(depth, columns, dtype="int8")]
    )
    x = m.x(a, b, depth, dtype="uint8")
    pair = [x, scale, zero]
    yield Case("QLinearAdd", "QLinearAdd", [*pair, *pair, scale, zero], domain=MS)
    yield Case("QLinearMul", "QLinearMul", [*pair, *pair, scale, zero], domain=MS)
    yield Case("QLinearSigmoid", "QLinearSigmoid", [*pair, scale, zero], domain=MS)
    yield Case("QLinearLeakyRelu", "QLinearLeakyRelu", [*pair, scale, zero], domain=MS)
    yield Case("QLinearConcat", "QLinearConcat", [scale, zero, *[x, scale, zero] * 2], {"axis": 1}, domain=MS)
    for axis in (1, 2):
        attributes = {"axis": axis, "opset": 13}
        yield Case(f"QLinearSoftmax {axis}", "QLinearSoftmax", [*pair, scale, zero], attributes, domain=MS)
    yield Case("QuantizeLinear", "QuantizeLinear", [m.x(a, b), scale, zero])
    yield Case("DequantizeLinear", "DequantizeLinear", [x, scale, zero])
    yield Case("DynamicQuantizeLinear", "DynamicQuantizeLinear", [m.x(a, b)], outputs=ALL)


def blocks(m: Maker, columns: int) -> Iterator[Case]:
    chosen = [(bits, block, level) for bits in (2, 4, 8) for level in (0, 1, 4) for block in (32, 128)]
    for bits, block, level in (*chosen, (4, 16, 0), (4, 256, 4), (2, 256, 4)):
        depth = 256 * m.size(1, 3)
        count = depth // block
        attributes = {"K": depth, "N": columns, "bits": bits, "block_size": block, "accuracy_level": level}
        x, half = m.x(m.size(2, 5), 20, depth), m.x(m.size(2, 5), 20, depth, dtype="float16")
        zeros = m.w(columns * -(-count * bits // 8), dtype="uint8")
        for make in (m.w, m.x):
            w, scales = make(columns, count, block * bits // 8, dtype="uint8"), make(columns * count)
            label = f"MatMulNBits {bits} {block} {level} {'constant' if w.constant else 'variable'}"
            for extra in ((), (zeros,), (None, None, m.w(columns))):
                name = f"{label} {len(extra)}"
                yield Case(name, "MatMulNBits", [x, w, scales, *extra], attributes, domain=MS)
        w, scales = m.w(columns, count, block * bits // 8, dtype="uint8"), m.w(columns * count, dtype="float16")
        yield Case(f"MatMulNBits half {bits} {block} {level}", "MatMulNBits", [half, w, scales], attributes, domain=MS)
