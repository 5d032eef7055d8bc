"""Cases of attention at random sizes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.memory.runtimes.case_maker import ALL, SCALE, ZERO_U8, Maker
from tests.memory.runtimes.kernel_models import MS, Case


def attention(m: Maker) -> Iterator[Case]:
    n, s, length, heads = m.size(2, 4), *m.sizes(50, 70), m.size(2, 4)
    d, e = 8 * m.size(1, 5), 8 * m.size(1, 5)
    width = heads * d
    h = {"num_heads": heads}
    yield from projected(m, n, s, heads, d)
    q, k, v = m.x(n, s, width), m.x(n, length, width), m.x(n, length, heads * e)
    op = "MultiHeadAttention"
    bias = m.x(2 * width + heads * e)
    yield Case("MHA", op, [q, k, v], h, domain=MS)
    yield Case("MHA bias", op, [q, k, v, bias], h, domain=MS)
    yield Case("MHA one query", op, [m.x(n, 1, width), k, v, bias], h, domain=MS)
    mask = m.k(np.ones((n, length), np.int32))
    yield Case("MHA mask", op, [q, k, v, None, mask], h, domain=MS)
    yield Case("MHA mask bias", op, [q, k, v, bias, mask], h, domain=MS)
    yield Case("MHA matrix mask", op, [q, k, v, None, m.k(np.ones((n, s, length), np.int32))], h, domain=MS)
    yield Case("MHA scores", op, [q, k, v, None, None, m.x(1, 1, s, length)], h, domain=MS)
    yield Case("MHA scores bias", op, [q, k, v, bias, None, m.x(n, heads, s, length)], h, domain=MS)
    whole = m.x(n, heads, length, d)
    yield Case("MHA heads", op, [q, whole, whole], h, domain=MS)
    yield Case("MHA heads bias", op, [q, whole, whole, m.x(3 * width)], h, domain=MS)
    past = m.x(n, heads, 9, d)
    own = m.x(n, s, width)
    yield Case("MHA past", op, [own, own, own, None, None, None, past, past], h, domain=MS, outputs=ALL)
    yield Case("MHA past bias", op, [own, own, own, m.x(3 * width), None, None, past, past], h, domain=MS, outputs=ALL)
    yield Case("MHA present", op, [q, k, v], h, domain=MS, outputs=ALL)
    yield Case("MHA causal", op, [own, own, own], {**h, "unidirectional": 1}, domain=MS)
    yield Case("MHA wide", op, [m.x(1, 300, 2 * 160), *[m.x(1, 700, 2 * 160)] * 2], {"num_heads": 2}, domain=MS)
    yield from grouped(m, n, s, heads, 16 * m.size(1, 3))
    yield from standard(m, n, s, length, heads)


def projected(m: Maker, n: int, s: int, heads: int, d: int) -> Iterator[Case]:
    width, h = heads * d, {"num_heads": heads}
    x, w, b = m.x(n, s, width), m.w(width, 3 * width), m.w(3 * width)
    mask = m.k(np.ones((n, s), np.int32))
    causal = {**h, "unidirectional": 1}
    past = m.x(2, n, heads, 7, d)
    yield Case("Attention", "Attention", [x, w, b], h, domain=MS)
    yield Case("Attention variable", "Attention", [x, m.x(width, 3 * width)], h, domain=MS)
    yield Case("Attention mask", "Attention", [x, w, b, mask], h, domain=MS)
    yield Case("Attention lengths", "Attention", [x, w, b, m.k(np.full(n, s, np.int32))], h, domain=MS)
    yield Case("Attention matrix", "Attention", [x, w, b, m.k(np.ones((n, s, s), np.int32))], h, domain=MS)
    yield Case("Attention causal", "Attention", [x, w, b], causal, domain=MS)
    yield Case("Attention causal mask", "Attention", [x, w, b, mask], causal, domain=MS)
    yield Case("Attention past", "Attention", [x, w, b, None, past], causal, domain=MS, outputs=("y0", "y1"))
    yield Case("Attention scores", "Attention", [x, w, b, None, None, m.x(n, heads, s, s)], h, domain=MS)
    sizes = [width, width, 2 * heads]
    wide = m.w(width, 2 * width + 2 * heads)
    attributes = {**h, "qkv_hidden_sizes": sizes}
    yield Case("Attention sizes", "Attention", [x, wide, m.w(2 * width + 2 * heads)], attributes, domain=MS)
    scale, zero = m.k(SCALE), m.k(ZERO_U8)
    for kind in ("int8", "uint8"):
        weight = m.w(width, 3 * width, dtype=kind)
        inputs = [m.x(n, s, width, dtype="uint8"), weight, b, scale, scale, None, zero, m.k(np.array(0, kind))]
        yield Case(f"QAttention {kind}", "QAttention", inputs, h, domain=MS)
        yield Case(f"QAttention {kind} mask", "QAttention", [*inputs[:5], mask, *inputs[6:]], causal, domain=MS)


def grouped(m: Maker, n: int, s: int, heads: int, d: int) -> Iterator[Case]:
    op, groups = "GroupQueryAttention", 2
    h = {"num_heads": 2 * heads, "kv_num_heads": groups}
    cache = m.x(n, groups, s + m.size(20, 40), d)
    lengths, total = m.k(np.full(n, s - 1, np.int32)), m.k(np.array(s, np.int32))
    q, k = m.x(n, s, 2 * heads * d), m.x(n, s, groups * d)
    rest = [cache, cache, lengths, total]
    table = [m.w(200, d // 2)] * 2
    yield Case("GQA", op, [q, k, k, *rest], h, domain=MS, outputs=ALL)
    yield Case("GQA rotary", op, [q, k, k, *rest, *table], {**h, "do_rotary": 1}, domain=MS, outputs=ALL)
    yield Case("GQA softcap", op, [q, k, k, *rest], {**h, "softcap": 2.0}, domain=MS, outputs=ALL)
    yield Case("GQA window", op, [q, k, k, *rest], {**h, "local_window_size": 8}, domain=MS, outputs=ALL)
    packed = m.x(n, s, (2 * heads + 2 * groups) * d)
    yield Case("GQA packed", op, [packed, None, None, *rest], h, domain=MS, outputs=ALL)
    rotary = {**h, "do_rotary": 1}
    yield Case("GQA packed rotary", op, [packed, None, None, *rest, *table], rotary, domain=MS, outputs=ALL)
    yield Case("GQA first", op, [q, k, k, None, None, lengths, total], h, domain=MS, outputs=ALL)
    q1, k1 = m.x(n, 1, 2 * heads * d), m.x(n, 1, groups * d)
    yield Case("GQA step", op, [q1, k1, k1, *rest], h, domain=MS, outputs=ALL)
    yield Case("GQA step softcap", op, [q1, k1, k1, *rest], {**h, "softcap": 2.0}, domain=MS, outputs=ALL)


def standard(m: Maker, n: int, s: int, length: int, heads: int) -> Iterator[Case]:
    d, e = 8 * m.size(1, 5), 8 * m.size(1, 5)
    q, k, v = m.x(n, 2 * heads, s, d), m.x(n, heads, length, d), m.x(n, heads, length, e)
    causal = {"is_causal": 1}
    for opset in (23, 24):
        name = f"Attention {opset}"
        yield Case(name, "Attention", [q, k, v], opset=opset)
        yield Case(f"{name} causal", "Attention", [q, k, v], causal, opset=opset)
        for dims in ((s, length), (n, 1, s, length), (n, 2 * heads, s, length)):
            label = f"{name} mask {len(dims)}"
            for attributes in ({}, causal):
                kind = "causal" * bool(attributes)
                yield Case(f"{label} {kind} {dims[:2]}", "Attention", [q, k, v, m.x(*dims)], attributes, opset=opset)
                flags = m.k(np.ones(dims, bool))
                yield Case(f"{label} bool {kind} {dims[:2]}", "Attention", [q, k, v, flags], attributes, opset=opset)
        past = [m.x(n, heads, 9, d), m.x(n, heads, 9, e)]
        yield Case(f"{name} past", "Attention", [q, k, v, None, *past], opset=opset, outputs=ALL)
        yield Case(f"{name} past causal", "Attention", [q, k, v, None, *past], causal, opset=opset, outputs=ALL)
        flat = {"q_num_heads": 2 * heads, "kv_num_heads": heads}
        rows = [m.x(n, s, 2 * heads * d), m.x(n, length, heads * d), m.x(n, length, heads * e)]
        yield Case(f"{name} flat", "Attention", rows, flat, opset=opset)
        yield Case(f"{name} scores", "Attention", [q, k, v], opset=opset, outputs=("y0", "", "", "y3"))
        half = [m.x(*x.array.shape, dtype="float16") for x in (q, k, v)]
        yield Case(f"{name} float16", "Attention", half, opset=opset)
        yield Case(f"{name} float16 causal", "Attention", half, causal, opset=opset)
    lengths = [None, None, None, m.k(np.full(n, length))]
    yield Case("Attention lengths", "Attention", [q, k, v, *lengths], opset=24)
    yield Case("Attention lengths causal", "Attention", [q, k, v, *lengths], causal, opset=24)
    rotary = [m.x(n, heads, s, d), m.x(n, s, d // 2), m.x(n, s, d // 2)]
    yield Case("RotaryEmbedding", "RotaryEmbedding", rotary, opset=23)
    positions = m.k(np.zeros((n, s), np.int64))
    inputs = [m.x(n, s, heads * d), positions, m.w(200, d // 2), m.w(200, d // 2)]
    yield Case("RotaryEmbedding microsoft", "RotaryEmbedding", inputs, domain=MS)
