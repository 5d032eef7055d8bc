"""Costs of layers: recurrent cells, attention, transforms, small linear algebra."""

from __future__ import annotations

from opdefs.rules.cost_elements import SOFTMAX
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.ops import CostContext, OpCost

CELLS = {"RNN": (1, 1), "GRU": (3, 8), "LSTM": (4, 9)}
"""By cell: the number of gates, and of operations for each unit and step besides products and biases.

LSTM: 4 activations, 2 products and a sum for the cell, an activation and a product for the state. GRU: 3 activations,
the reset product, and `(1 - z)*n + z*h`.
"""


def recurrent(
    c: CostContext,
    cell: str,
    steps: DimSize,
    batch: DimSize,
    inputs: DimSize,
    units: DimSize,
    biases: int,
    directions: int = 1,
) -> OpCost:
    """One product of [inputs + units] by units for each gate and step; `biases` vectors are added to each gate."""
    gates, operations = CELLS[cell]
    runs = c.product(directions, steps, batch, units)
    macs = c.product(gates, runs, c.sum(inputs, units))
    return OpCost(macs=macs, operations=c.product(operations + gates * biases, runs))


def attention(
    c: CostContext,
    heads: DimSize,
    queries: DimSize,
    keys: DimSize,
    depth: DimSize,
    value_depth: DimSize,
    masks: int = 0,
) -> OpCost:
    """Scores, their scale, masks and softmax, and the sum of values; `heads` are those of the whole batch.

    The cost of the dense product: a causal mask does not lower it.
    """
    scores = c.product(heads, queries, keys)
    macs = c.sum(c.product(scores, depth), c.product(scores, value_depth))
    return OpCost(macs=macs, operations=c.product(SOFTMAX + 1 + masks, scores))


def transform(c: CostContext, count: DimSize, length: DimSize, real: bool = False) -> OpCost:
    """`count` fast Fourier transforms: `5*n*log2(n)` operations each for length n, half of that for real ones."""
    if not isinstance(length, int):
        raise NotKnown("the operations of a transform of symbolic length are not a polynomial: bind the length")
    operations = 5 * length * max(length - 1, 0).bit_length()
    return OpCost(operations=c.product(count, operations // 2 if real else operations))


def rotary(c: CostContext) -> OpCost:
    """Two products and a sum for each element of the first input."""
    return OpCost(operations=c.product(3, *c.input(0)))


def factorization(c: CostContext, thirds: int = 1) -> OpCost:
    """`thirds * n**3 / 3` multiply-accumulates for each square matrix; `thirds` is 1 for LU and for a determinant."""
    shape = c.input(0)
    cubes = c.product(thirds, *shape, shape[-1])
    return OpCost(macs=cubes // 3)


def linear_attention(c: CostContext) -> OpCost:
    """Attention over [B, S, heads*D] with a state [B, heads, D, Dv], counted step by step, also if computed in chunks.

    For each step and head: the outer product of key and value, the product of the query and the state, one of the key
    and the state where the update rule has `delta`, and a decay of the state where it is gated.
    """
    q, k, v = c.input(0), c.input(1), c.input(2)
    queries, keys = c.integer("q_num_heads"), c.integer("kv_num_heads")
    if not (len(q) == len(k) == len(v) == 3) or queries < 1 or keys < 1:
        raise NotKnown("the number of heads is unknown")
    rule = c.text("update_rule", "gated_delta")
    state = c.product(q[0], q[1], k[2] // keys, v[2] // keys)
    updates = keys * (2 if "delta" in rule else 1)
    decays = keys if "gated" in rule else 0
    return OpCost(macs=c.product(queries + updates, state), operations=c.product(decays, state))
