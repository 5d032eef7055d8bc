"""The body of an autocast, with the conversions that torch makes as nodes.

Source: torch's lists of functions of the CPU that take their floats in the lower type, or in float32
(https://docs.pytorch.org/docs/stable/amp.html), compared with torch 2.13; other devices have more of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from opdefs.pnnx.names import function_name
from opdefs.torch.autocast_einsum import Sizes, lowered_operands
from shapeinf.graph import DeclaredType, Graph, InputReference, Node, NodeKind

AUTOCAST = "torch.autocast"
"""The operator of a conversion."""
_FLOAT = "torch.float"

_PRODUCTS = (
    *("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm", "linalg_pinv"),
    *("linalg_vecdot", "linalg_multi_dot", "scaled_dot_product_attention", "affine_grid_generator"),
)
_CONVOLUTIONS = (
    "convolution",
    "conv_tbc",
    *(f"conv{kind}{rank}d" for kind in ("", "_transpose") for rank in (1, 2, 3)),
)
_ACTIVATIONS = ("tanh", "relu", "tanh_cell", "relu_cell")
_LOWERED = frozenset((*_PRODUCTS, *_CONVOLUTIONS, "prelu", "lstm", *(f"rnn_{kind}" for kind in _ACTIVATIONS)))
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
        target, positions = _conversion(node, dtype, body.declared)
        if target is None:
            nodes.append(node)
            continue
        kind = NodeKind(AUTOCAST, "", {"self": InputReference(0), "dtype": target})
        inputs = list(node.inputs)
        for position in positions:
            name = inputs[position]
            if name and (name, target) not in converted:
                result = converted[name, target] = f"{name}.{'autocast' if target == dtype else 'float32'}"
                nodes.append(Node(kind, (name,), (result,), result))
            inputs[position] = converted[name, target] if name else ""
        nodes.append(Node(node.kind, tuple(inputs), node.outputs, node.name))
    return attrs.evolve(body, nodes=nodes)


def _conversion(node: Node, dtype: object, declared: Mapping[str, DeclaredType]) -> tuple[object, Iterable[int]]:
    """The type in which a function takes its floats, and the positions of these; None for one that takes all as given.

    The functions below the tables are composed of others, some of which are lowered.
    """
    name, attributes = function_name(node.op), node.kind.attrs
    everything = range(len(node.inputs))
    amounts = attributes.get("pad")
    if name == "pad" and isinstance(amounts, tuple) and len(amounts) in _RAISED_PADS.get(_mode(attributes), ()):
        return _FLOAT, everything
    if name in _LOWERED or name in _RAISED:
        return dtype if name in _LOWERED else _FLOAT, everything
    sizes = [_sizes(declared.get(operand)) for operand in node.inputs]
    if name == "einsum":
        return dtype, _lowered_positions(attributes, sizes)
    ranks = [None if size is None else len(size) for size in sizes]
    if name == "inner":
        return (None if 0 in ranks or ranks == [1, 1] else dtype), everything
    if name == "tensordot":
        summed = attributes.get("dims_self")
        return (None if isinstance(summed, tuple) and set(ranks) == {len(summed)} else dtype), everything
    if name == "chain_matmul":
        return (dtype if len(node.inputs) > 1 else None), everything
    if name in ("linalg_matrix_power", "matrix_power"):
        exponent = attributes.get("n")
        return {-1: _FLOAT, 0: None, 1: None}.get(exponent if isinstance(exponent, int) else 2, dtype), everything
    return None, ()


def _sizes(declared: DeclaredType | None) -> Sizes:
    return None if declared is None else declared.dims


def _lowered_positions(attributes: Mapping[str, object], sizes: Sequence[Sizes]) -> Iterator[int]:
    """The positions of the operands of an `einsum` that are lowered."""
    tensors, path = attributes.get("tensors"), attributes.get("path")
    listed = [item.input for item in tensors if isinstance(item, InputReference)] if isinstance(tensors, tuple) else []
    pairs = [number for number in path if isinstance(number, int)] if isinstance(path, tuple) else None
    for number in lowered_operands(str(attributes.get("equation")), pairs, [sizes[at] for at in listed]):
        if number < len(listed):
            yield listed[number]


def _mode(attributes: Mapping[str, object]) -> str:
    mode = attributes.get("mode")
    return mode if isinstance(mode, str) else ""
