"""The body of an autocast, with the conversions that torch makes as nodes.

Source: torch's list of functions of the CPU that take their floats in the lower type
(https://docs.pytorch.org/docs/stable/amp.html); other devices have more of them.
"""

from __future__ import annotations

import attrs

from opdefs.pnnx.names import function_name
from shapeinf.graph import Graph, InputReference, Node, NodeKind

AUTOCAST = "torch.autocast"
"""The operator of a conversion."""

_PRODUCTS = (
    *("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm"),
    *("linalg_vecdot", "scaled_dot_product_attention"),
)
_CONVOLUTIONS = ("convolution", *(f"conv{kind}{rank}d" for kind in ("", "_transpose") for rank in (1, 2, 3)))
_LOWERED = frozenset((*_PRODUCTS, *_CONVOLUTIONS, "prelu"))
"""The functions that take their floats in the lower type."""


def convert_operands(body: Graph, dtype: object) -> Graph:
    """The body with a conversion of each tensor that one of these functions takes."""
    kind = NodeKind(AUTOCAST, "", {"self": InputReference(0), "dtype": dtype})
    converted: dict[str, str] = {}
    nodes: list[Node] = []
    for node in body.nodes:
        if function_name(node.op) not in _LOWERED:
            nodes.append(node)
            continue
        for name in node.inputs:
            if name and name not in converted:
                converted[name] = f"{name}.autocast"
                nodes.append(Node(kind, (name,), (converted[name],), converted[name]))
        inputs = tuple([converted[name] if name else "" for name in node.inputs])
        nodes.append(Node(node.kind, inputs, node.outputs, node.name))
    return attrs.evolve(body, nodes=nodes)
