"""The cost rules of layers, images, losses and quantization that are no functions of PNNX."""

from __future__ import annotations

from functools import partial

from opdefs.pnnx.dialect import pnnx
from opdefs.pnnx.names import function_name
from opdefs.rules import cost_elements as elements
from opdefs.rules import cost_layers as layers
from opdefs.rules import cost_products as products
from opdefs.torch.dialect import torch
from opdefs.torch.images import upsampling
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import CostContext, OpCost

NORMS = ("_native_batch_norm_legit.default", "_native_batch_norm_legit.no_stats", "native_batch_norm.default")
PREFIX = "quantized_decomposed"

# -- convolutions and normalizations -----------------------------------------------------------------------------------


@torch.cost("aten.convolution.default", "aten._convolution.default", "aten._convolution.deprecated")
def convolution(c: CostContext) -> OpCost:
    """By the weight."""
    rule = products.transposed_convolution if c.attribute("transposed", False) else products.convolution
    return rule()(c)


@torch.cost("aten.conv_tbc.default")
def convolution_of_sequences(c: CostContext) -> OpCost:
    """A weight [K, C, O]: K*C multiply-accumulates for each element of the output."""
    return products.contraction(c, c.result, c.product(*c.input(1)[:2]), biased=True)


torch.cost("aten.native_layer_norm.default", "aten.native_group_norm.default")(elements.normalization())
torch.cost("aten._fused_rms_norm.default")(elements.normalization(3, 1, None))
torch.cost("aten._native_batch_norm_legit_no_training.default", "aten._batch_norm_no_update.default")(
    elements.element_cost(2)
)
torch.cost(
    *(f"aten.{name}" for name in NORMS),
    *(f"aten.{name}.default" for name in ("_native_batch_norm_legit_functional", "_batch_norm_with_update")),
    "aten._batch_norm_with_update_functional.default",
    "aten.instance_norm.default",
)(elements.normalization(5, 1, 2))
torch.cost("aten._weight_norm.default", "aten._weight_norm_interface.default")(elements.input_cost(4))
torch.cost("aten.native_dropout.default", "aten.max_unpool2d.default", "aten.max_unpool3d.default")(elements.movement)

# -- attention, recurrence, tables -------------------------------------------------------------------------------------

_ATTENTION = pnnx.cost_rule("", "F.scaled_dot_product_attention", 1)
if _ATTENTION is not None:
    torch.cost(
        *(f"aten._scaled_dot_product_{kind}.default" for kind in ("flash_attention_for_cpu", "attention_math")),
        *(f"aten._scaled_dot_product_{kind}_attention.default" for kind in ("efficient", "flash")),
    )(_ATTENTION)


@torch.cost("aten._native_multi_head_attention.default")
def native_multi_head_attention(c: CostContext) -> OpCost:
    """The projections of query, key, value and output with their biases, and attention of all heads."""
    q, k, v = (c.input(index) for index in range(3))
    embed, heads = c.integer("embed_dim"), max(c.integer("num_head"), 1)
    size = embed // heads
    dense = layers.attention(c, c.product(q[0], heads), q[1], k[1], size, size)
    rows = [c.elements(shape) for shape in (q, k, v, q)]
    return OpCost(
        macs=c.sum(dense.macs, *(c.product(embed, row) for row in rows)), operations=c.sum(dense.operations, *rows)
    )


@torch.cost(*(f"aten.{name}.{form}" for name in ("rnn_tanh", "rnn_relu", "gru", "lstm") for form in ("input", "data")))
def recurrent(c: CostContext) -> OpCost:
    """Each step: the products of all weights, their biases, and the operations of the cells."""
    shapes = [value.shape for value in c.types[2:] if isinstance(value, TensorType)]
    if function_name(c.op_def.name) != "lstm":  # the state in front of the weights
        shapes.append(c.input(2 if c.op_def.name.endswith("data") else 1))
    state = [shape for shape in shapes if len(shape) == 3][-1]
    return _steps(c, shapes, c.product(state[0], state[2]))


@torch.cost(*(f"aten.{name}_cell.default" for name in ("rnn_tanh", "rnn_relu", "gru", "lstm")))
def cell(c: CostContext) -> OpCost:
    """As a step of `recurrent`."""
    first = 1 if "lstm" in c.op_def.name else 2
    shapes = [c.input(index) for index in range(first, first + 4) if c.has_input(index)]
    return _steps(c, shapes, c.result[-1])


def _steps(c: CostContext, shapes: list[Shape], units: DimSize) -> OpCost:
    """The cost of all steps of all items; `shapes` has the weights, of rank 2, and the biases, of rank 1."""
    steps = c.product(*c.input(0)[:-1])
    kind = function_name(c.op_def.name).partition("_")[0].upper()
    weights = c.sum(*(c.elements(shape) for shape in shapes if len(shape) == 2))
    biases = c.sum(*(c.elements(shape) for shape in shapes if len(shape) == 1))
    own = c.product(layers.CELLS[kind][1], units)
    return OpCost(macs=c.product(steps, weights), operations=c.product(steps, c.sum(own, biases)))


@torch.cost(
    *(f"aten.embedding_bag.{kind}" for kind in ("default", "padding_idx")),
    "aten._embedding_bag.default",
    "aten._embedding_bag_forward_only.default",
)
def embedding_bag(c: CostContext) -> OpCost:
    """A row of the table for each index, which is added to its bag."""
    added = c.product(*c.input(1), c.input(0)[1])
    return OpCost(operations=added, partial={0: added})


def _taps(mode: str, c: CostContext) -> int:
    """How many values along each axis a mode weighs."""
    return elements.taps_of_mode(mode)


# -- images ------------------------------------------------------------------------------------------------------------

torch.cost("aten._pad_circular.default", "aten._pad_enum.default", "aten.fliplr.default", "aten.flipud.default")(
    elements.movement
)
torch.cost("aten.unfold.default", "aten.unfold_copy.default")(elements.movement)
for _name, _mode in upsampling():
    torch.cost(_name)(elements.interpolation(elements.spatial_axes, partial(_taps, _mode)))
torch.cost(*(f"aten.grid_sampler{rank}.default" for rank in ("", "_2d", "_3d")))(
    elements.interpolation(elements.spatial_axes, lambda c: 4 if c.integer("interpolation_mode") == 2 else 2)
)

# -- activations and losses --------------------------------------------------------------------------------------------

torch.cost(
    *(f"aten.{name}.default" for name in ("log_sigmoid_forward", "_prelu_kernel", "rrelu_with_noise")),
    *(f"aten.{name}.default" for name in ("rrelu_with_noise_", "rrelu_with_noise_functional")),
)(elements.elementwise)
torch.cost(
    *(f"aten.{name}_loss.default" for name in ("l1", "mse", "smooth_l1", "huber", "soft_margin", "hinge_embedding")),
    *(f"aten.{name}_loss.default" for name in ("poisson_nll", "margin_ranking", "triplet_margin", "multi_margin")),
    *("aten.kl_div.default", "aten.multilabel_margin_loss.default", "aten.multilabel_margin_loss_forward.default"),
)(elements.input_cost(3))
torch.cost("aten.binary_cross_entropy.default", "aten.binary_cross_entropy_with_logits.default")(elements.input_cost(5))
torch.cost("aten.cosine_similarity.default", "aten.cosine_embedding_loss.default")(elements.input_cost(6))
torch.cost("aten.cross_entropy_loss.default")(elements.input_cost(elements.SOFTMAX + 1))
torch.cost(
    *(f"aten.{name}.default" for name in ("nll_loss", "nll_loss_nd", "nll_loss2d", "nll_loss_forward")),
    "aten.nll_loss2d_forward.default",
)(elements.input_cost(2, 1))


@torch.cost("aten.bilinear.default")
def bilinear(c: CostContext) -> OpCost:
    """A product of each matrix of the weight with both vectors."""
    weight = c.input(2)
    return products.contraction(c, c.result, c.sum(c.product(weight[1], weight[2]), weight[2]), c.has_input(3))


# -- quantization ------------------------------------------------------------------------------------------------------

torch.cost(
    *(f"{PREFIX}.{kind}quantize_per_tensor.{form}" for kind in ("", "de") for form in ("default", "tensor", "tensor2")),
    *(f"{PREFIX}.{kind}quantize_per_{form}.default" for kind in ("", "de") for form in ("channel", "token")),
    *(f"{PREFIX}.{kind}quantize_per_channel_group.default" for kind in ("", "de")),
    f"{PREFIX}.fake_quant_per_channel.default",
    *(
        f"aten.fake_quantize_per_{kind}_affine{mask}.default"
        for kind in ("tensor", "channel")
        for mask in ("", "_cachemask")
    ),
    "aten.fake_quantize_per_tensor_affine.tensor_qparams",
)(elements.element_cost(2))
torch.cost(f"{PREFIX}.convert_element_type.no_fuse")(elements.movement)
torch.cost(
    *(f"{PREFIX}.choose_qparams{kind}.tensor" for kind in ("", "_symmetric")),
    *(f"{PREFIX}.choose_qparams_per_token{kind}.default" for kind in ("", "_asymmetric")),
    f"{PREFIX}._choose_qparams_per_token_asymmetric_impl.default",
)(elements.input_cost(2))
