"""The axis rules of layers, images, losses and quantization that are no functions of PNNX."""

from __future__ import annotations

from opdefs.pnnx.axis_rules import normalized
from opdefs.pnnx.dialect import pnnx
from opdefs.rules.axis_uses import all_but, attribute_axis, items_at, mixed, rank_of, separate, trailing, windows
from opdefs.torch.dialect import torch
from opdefs.torch.images import upsampling
from shapeinf.ops.axes import AxisContext, AxisUse

PREFIX = "quantized_decomposed"
RECURRENT = ("rnn_tanh", "rnn_relu", "gru", "lstm")

torch.axes(
    *("aten.convolution.default", "aten._convolution.default", "aten._convolution.deprecated"),
    "aten.native_group_norm.default",
)(windows(channels=AxisUse.MIXED))
torch.axes("aten.conv_tbc.default")(all_but(lambda c: (0, 2)))
torch.axes("aten.native_layer_norm.default", "aten._fused_rms_norm.default")(all_but(normalized))
torch.axes(
    "aten._native_batch_norm_legit_no_training.default",
    "aten._batch_norm_no_update.default",
    "aten.native_dropout.default",
)(separate)
torch.axes(
    *(f"aten._native_batch_norm_legit.{kind}" for kind in ("default", "no_stats")),
    *(f"aten.{name}.default" for name in ("_native_batch_norm_legit_functional", "native_batch_norm")),
    *(f"aten._batch_norm_with_update{kind}.default" for kind in ("", "_functional")),
)(all_but(lambda c: range(0, rank_of(c), 1) if c.attribute("training", True) else ()))
torch.axes("aten.max_unpool2d.default", "aten.max_unpool3d.default")(mixed)
torch.axes("aten.instance_norm.default")(windows(channels=AxisUse.SEPARATE))
torch.axes("aten._weight_norm.default", "aten._weight_norm_interface.default")(mixed)
torch.axes(
    *(f"aten._scaled_dot_product_{kind}.default" for kind in ("flash_attention_for_cpu", "attention_math")),
    *(f"aten._scaled_dot_product_{kind}_attention.default" for kind in ("efficient", "flash")),
)(trailing(2))
torch.axes("aten._native_multi_head_attention.default")(items_at((0, 0, 3), (1, 0, 3), (2, 0, 3)))


@torch.axes(*(f"aten.{name}.input" for name in RECURRENT))
def recurrent(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The states have the items on axis 1, the input with `batch_first` on axis 0."""
    if rank_of(c, position) != 3:
        return AxisUse.MIXED
    item = 0 if position == 0 and c.attribute("batch_first") is True else 1
    return AxisUse.ALIGNED if axis == item else AxisUse.MIXED


torch.axes(*(f"aten.{name}.data" for name in RECURRENT))(mixed)
torch.axes(*(f"aten.{name}_cell.default" for name in ("rnn_tanh", "rnn_relu", "gru")))(items_at((0, 0, 2), (1, 0, 2)))
torch.axes("aten.lstm_cell.default")(items_at((0, 0, 2), (5, 0, 2), (6, 0, 2)))
torch.axes(
    *(f"aten.embedding_bag.{kind}" for kind in ("default", "padding_idx")),
    *("aten._embedding_bag.default", "aten._embedding_bag_forward_only.default"),
)(mixed)

_PAD = pnnx.axis_rule("", "F.pad", 1)
if _PAD is not None:
    torch.axes("aten._pad_circular.default", "aten._pad_enum.default")(_PAD)
torch.axes("aten.fliplr.default")(all_but(lambda c: (1,)))
torch.axes("aten.flipud.default")(all_but(lambda c: (0,)))
torch.axes("aten.unfold.default", "aten.unfold_copy.default")(all_but(attribute_axis("dimension")))
torch.axes(*(name for name, _ in upsampling()))(windows(channels=AxisUse.SEPARATE))
torch.axes(*(f"aten.grid_sampler{rank}.default" for rank in ("", "_2d", "_3d")))(items_at((0, 0, None), (1, 0, None)))

torch.axes(
    *(f"aten.{name}.default" for name in ("log_sigmoid_forward", "_prelu_kernel", "rrelu_with_noise", "bilinear")),
    *(f"aten.{name}.default" for name in ("rrelu_with_noise_", "rrelu_with_noise_functional")),
    *(f"aten.{name}_loss.default" for name in ("l1", "mse", "smooth_l1", "huber", "soft_margin", "hinge_embedding")),
    *(f"aten.{name}_loss.default" for name in ("poisson_nll", "margin_ranking", "triplet_margin", "multi_margin")),
    *("aten.kl_div.default", "aten.multilabel_margin_loss.default", "aten.multilabel_margin_loss_forward.default"),
    *("aten.binary_cross_entropy.default", "aten.binary_cross_entropy_with_logits.default"),
    *("aten.cosine_similarity.default", "aten.cosine_embedding_loss.default", "aten.cross_entropy_loss.default"),
    *(f"aten.{name}.default" for name in ("nll_loss", "nll_loss_nd", "nll_loss2d", "nll_loss_forward")),
    "aten.nll_loss2d_forward.default",
)(separate)
torch.axes(*(f"aten.{name}ctc_loss.{form}" for name, form in (("", "IntList"), ("", "Tensor"), ("_", "Tensor"))))(mixed)
torch.axes("aten._ctc_loss.default")(mixed)

torch.axes(
    *(f"{PREFIX}.{kind}quantize_per_tensor.{form}" for kind in ("", "de") for form in ("default", "tensor", "tensor2")),
    *(f"{PREFIX}.{kind}quantize_per_{form}.default" for kind in ("", "de") for form in ("channel", "token")),
    *(f"{PREFIX}.fake_quant_per_channel.default", f"{PREFIX}.convert_element_type.no_fuse"),
    *(f"{PREFIX}.choose_qparams_per_token{kind}.default" for kind in ("", "_asymmetric")),
    f"{PREFIX}._choose_qparams_per_token_asymmetric_impl.default",
    *(
        f"aten.fake_quantize_per_{kind}_affine{mask}.default"
        for kind in ("tensor", "channel")
        for mask in ("", "_cachemask")
    ),
    "aten.fake_quantize_per_tensor_affine.tensor_qparams",
)(separate)
torch.axes(*(f"{PREFIX}.{kind}quantize_per_channel_group.default" for kind in ("", "de")))(trailing(1))
torch.axes(*(f"{PREFIX}.choose_qparams{kind}.tensor" for kind in ("", "_symmetric")))(mixed)
