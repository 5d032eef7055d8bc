"""Weights packed into blocks of bytes, and the experts of a mixture: products, gathering, routing.

The bytes of a row depend on the format (PackedWeightFormats.md of ONNX Runtime), so they are not constrained.
"""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.microsoft.quantized_products import project
from opdefs.onnx.cast import dtype_name
from opdefs.rules.operands import require_single
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@onnx("MatMulPacked", domain=MS)
def matmul_packed(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    scale: Shape | None = None,
    *,
    K: int,  # noqa: N803
    N: int,  # noqa: N803
) -> Shape:
    """[*S, K], packed weights [N, bytes], a scalar scale -> [*S, N]."""
    c.merge(c.require_rank(b, 2, "B")[0], N, "B must have N rows")
    require_single(c, scale, "global_scale must have exactly one element")
    return project(c, a, K, N)


@onnx("GatherPacked", domain=MS)
def gather_packed(
    c: InferenceContext,
    data: Shape,
    indices: Shape,
    *,
    K: int,  # noqa: N803
    output_dtype: int = 16,
) -> TensorType:
    """A packed table [V, bytes], indices [*I] -> [*I, K] in the type `output_dtype`."""
    c.require_rank(data, 2, "data")
    dtype = dtype_name(output_dtype)
    return TensorType(dtype, c.unknown_shape() if indices.dims is None else Shape((*indices.dims, K)))


@onnx("MoEPacked", domain=MS)
def packed_mixture_of_experts(
    c: InferenceContext,
    x: Shape,
    router: Shape,
    gate: Shape,
    up: Shape | None,
    down: Shape,
    weights: Shape | None = None,
) -> Shape:
    """[*T, H] tokens, [T, E] scores, packed weights [E, I, bytes] twice, [E, H, bytes] -> the shape of the tokens."""
    rows, experts = c.require_rank(router, 2, "router_probs")
    if weights is not None:
        c.merge(router, weights, "router_weights must have the shape of router_probs")
    inner = _constrain_expert_rows(c, gate, "gate_experts_weights", experts)
    hidden = _constrain_expert_rows(c, down, "down_experts_weights", experts)
    if up is not None:
        message = "up_experts_weights must have the rows of gate_experts_weights"
        c.merge(_constrain_expert_rows(c, up, "up_experts_weights", experts), inner, message)
    if x.dims == ():
        c.fail("the input must have rank 1 or more", x)
    if x.dims is not None:
        c.merge(x[-1], hidden, "down_experts_weights must have a row for each feature of the input")
        c.merge(rows, c.numel(x[:-1]), "router_probs must have one row per token")
    return x


def _constrain_expert_rows(c: InferenceContext, v: Shape, name: str, experts: DimSize) -> DimSize:
    """The number of rows of packed weights [E, rows, bytes]."""
    count, rows, _ = c.require_rank(v, 3, name)
    c.merge(count, experts, f"{name} must have one entry per expert")
    return rows


@onnx("MoEGroupRouter", domain=MS)
def group_router(
    c: InferenceContext, logits: Shape, bias: Shape, projection: Shape | None = None
) -> tuple[Shape, Shape, Shape]:
    """[*T, E], a bias [E] -> [T, E] three times; with a projection [E, W], the input is [T, W]."""
    experts = c.require_rank(bias, 1, "expert_bias")[0]
    if projection is not None:
        rows, width = c.require_rank(logits, 2, "logits")
        message = "projection_weight must be [experts, width]"
        c.merge(c.require_rank(projection, 2, "projection_weight"), Shape((experts, width)), message)
    elif logits.dims is not None and len(logits.dims) < 2:
        c.fail("logits must have rank 2 or more", logits)
    elif logits.dims is None:
        rows = c.fresh("tokens")
    else:
        experts = c.merge(logits[-1], experts, "expert_bias must have one value per expert")
        rows = c.numel(logits[:-1])
    scores = Shape((rows, experts))
    return scores, scores, scores


@onnx("RouterGateUpProj", domain=MS)
def router_and_gate(c: InferenceContext, x: Shape, w: Shape, *, router_size: int) -> tuple[Shape, Shape]:
    """[*S, K], weights [K, router_size + 2*I] -> [*S, router_size], [*S, I]."""
    if router_size < 1:
        c.fail("router_size must be at least 1", router_size)
    inner, columns = c.require_rank(w, 2, "W")
    halves = columns - router_size
    c.at_least(halves, 0, "W must have at least router_size columns")
    c.divisible(halves, 2, "the columns of W behind the router must be two equal halves")
    return project(c, x, inner, router_size), project(c, x, inner, halves // 2)
