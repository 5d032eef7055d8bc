"""The body of an autocast, with the conversions that torch makes as nodes.

Source: torch's lists of functions of the CPU that take their floats in the lower type, or in float32
(https://docs.pytorch.org/docs/stable/amp.html), compared with torch 2.13; other devices have more of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from opdefs.pnnx.names import function_name
from shapeinf.graph import Graph, InputReference, Node, NodeKind

AUTOCAST = "torch.autocast"
"""The operator of a conversion."""

_PRODUCTS = (
    *("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm"),
    *("linalg_vecdot", "linalg_multi_dot", "scaled_dot_product_attention"),
)
_CONVOLUTIONS = ("convolution", *(f"conv{kind}{rank}d" for kind in ("", "_transpose") for rank in (1, 2, 3)))
_LOWERED = frozenset((*_PRODUCTS, *_CONVOLUTIONS, "prelu", "lstm", "rnn_tanh", "rnn_relu"))
"""The functions that take their floats in the lower type."""

_LOSSES = (
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "nll_loss", "nll_loss_nd", "nll_loss2d", "kl_div"),
    *("cross_entropy_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "soft_margin_loss"),
    *("poisson_nll_loss", "hinge_embedding_loss", "cosine_embedding_loss", "triplet_margin_loss"),
    *("multilabel_margin_loss", "multi_margin_loss", "margin_ranking_loss", "ctc_loss"),
)
_IMAGES = (
    *("avg_pool3d", "max_pool3d", "adaptive_avg_pool3d", "grid_sampler", "reflection_pad1d", "reflection_pad2d"),
    *("replication_pad1d", "replication_pad2d", "replication_pad3d", "adaptive_max_pool3d"),
    *("fractional_max_pool2d", "fractional_max_pool3d", "max_unpool2d", "max_unpool3d"),
)
_MATRICES = (
    *("trace", "cdist", "cholesky", "inverse", "pinverse", "linalg_inv", "linalg_qr", "linalg_svd", "linalg_solve"),
    *("linalg_eigh", "linalg_eig", "linalg_eigvals", "linalg_eigvalsh", "linalg_cholesky", "linalg_cholesky_ex"),
    *("linalg_cond", "linalg_matrix_rank", "linalg_svdvals", "linalg_householder_product", "linalg_tensorinv"),
    *("linalg_tensorsolve", "linalg_lstsq", "linalg_inv_ex", "cholesky_inverse", "cholesky_solve", "geqrf", "qr"),
    *("svd", "triangular_solve", "orgqr", "ormqr", "_lu_with_info"),
)
_NUMBERS = ("prod", "quantile", "nanquantile", "polar", "view_as_complex")
_TRANSFORMS = (
    "stft",
    *(f"fft_{inverse}{kind}{axes}" for inverse in ("", "i") for kind in ("fft", "rfft") for axes in ("", "2", "n")),
    *("fft_hfft", "fft_ihfft"),
)
_RAISED = frozenset((*_LOSSES, *_IMAGES, *_MATRICES, *_NUMBERS, *_TRANSFORMS))
"""The functions that take their floats in float32."""
_RAISED_PADS = {"reflect": (2, 4), "replicate": (2, 4, 6)}
"""By mode the numbers of amounts of pads that do so."""


def convert_operands(body: Graph, dtype: object) -> Graph:
    """The body with a conversion of each tensor that one of these functions takes."""
    converted: dict[tuple[str, object], str] = {}
    nodes: list[Node] = []
    for node in body.nodes:
        target = _target(node, dtype)
        if target is None:
            nodes.append(node)
            continue
        kind = NodeKind(AUTOCAST, "", {"self": InputReference(0), "dtype": target})
        for name in node.inputs:
            if name and (name, target) not in converted:
                result = converted[name, target] = f"{name}.{'autocast' if target == dtype else 'float32'}"
                nodes.append(Node(kind, (name,), (result,), result))
        inputs = tuple([converted[name, target] if name else "" for name in node.inputs])
        nodes.append(Node(node.kind, inputs, node.outputs, node.name))
    return attrs.evolve(body, nodes=nodes)


def _target(node: Node, dtype: object) -> object:
    """The type in which a function takes its floats; None for one that takes them as they are."""
    name, attributes = function_name(node.op), node.kind.attrs
    if name in _LOWERED or (name == "einsum" and _contracts(str(attributes.get("equation")))):
        return dtype
    amounts = attributes.get("pad")
    raised = name == "pad" and isinstance(amounts, tuple) and len(amounts) in _RAISED_PADS.get(_mode(attributes), ())
    return "torch.float" if raised or name in _RAISED else None


def _contracts(equation: str) -> bool:
    """Whether the equation of two operands sums products over an axis of both: other products are not lowered.

    >>> [_contracts(text) for text in ("ij,jk->ik", "i,i", "ij,kl->ijkl", "ij->i")]
    [True, True, False, False]
    """
    operands, arrow, result = equation.partition("->")
    first, comma, second = operands.partition(",")
    common = {letter for letter in first if letter.isalpha() and letter in second}
    return bool(comma) and "," not in second and bool(common.difference(result) if arrow else common)


def _mode(attributes: Mapping[str, object]) -> str:
    mode = attributes.get("mode")
    return mode if isinstance(mode, str) else ""
