"""Layers and products that pnnx no longer writes, or not with these arguments, and those that torch rejects.

Each line of a network comes with the same call in torch; a slow test runs these calls.
"""

import attrs
import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from shapeinf.lattice.dtypes import SHORT_NAMES
from tests.differential.pnnx.case import parse_types
from tests.differential.pnnx.record import describe, tensor_of

SHORT = {name: short for short, name in SHORT_NAMES.items()}


@attrs.frozen
class Line:
    """An operator with its arguments, the call in torch, and the types of its inputs `x`, `y`, `z`, `u` and outputs."""

    text: str
    call: str
    inputs: str
    outputs: str = ""

    def __str__(self):
        return f"{self.text} {self.inputs}"

    @property
    def types(self):
        """(element type, sizes) of the inputs, and of the outputs."""
        return [parse_types(text) for text in (self.inputs, self.outputs)]

    @property
    def param(self):
        """The network of this operator."""
        inputs, outputs = self.types
        type_, _, arguments = self.text.partition(" ")
        blobs = [str(i) for i in range(len(inputs) + max(1, len(outputs)))]
        results = blobs[len(inputs) :]
        lines = [
            *(f"pnnx.Input in{i} 0 1 {i}" for i in range(len(inputs))),
            f"{type_} op {len(inputs)} {len(results)} {' '.join(blobs)} {arguments}",
            f"pnnx.Output out {len(results)} 0 {' '.join(results)}",
        ]
        return f"7767517\n{len(lines)} {len(blobs)}\n" + "\n".join(lines) + "\n"

    def infer(self, symbolic=False):
        """The result for these inputs, and the values of its symbols: a name for each size, if `symbolic`."""
        specs, binding = {}, {}
        for i, (dtype, dims) in enumerate(self.types[0]):
            names = [f"in{i}_{axis}" if symbolic and size else str(size) for axis, size in enumerate(dims)]
            binding |= {name: size for name, size in zip(names, dims, strict=True) if not name.isdigit()}
            specs[str(i)] = f"{dtype}[{','.join(names)}]"
        return infer_shapes(self.param, inputs=specs), binding


TRANSPOSED = "nn.ConvTranspose2d in_channels=3 out_channels=4 kernel_size=3 stride=2"

ACCEPTED = [
    # dropouts
    *(
        Line(f"nn.{name} p=0.5", f"nn.{name}(0.5)(x)", "f32[2,3,4]", "f32[2,3,4]")
        for name in ("Dropout", "Dropout1d", "AlphaDropout", "FeatureAlphaDropout")
    ),
    Line("nn.Dropout2d p=0.5", "nn.Dropout2d()(x)", "f32[2,3,4,5]", "f32[2,3,4,5]"),
    Line("nn.Dropout3d p=0.5", "nn.Dropout3d()(x)", "f32[2,3,4,5,1]", "f32[2,3,4,5,1]"),
    *(
        Line(f"F.{name} p=0.5 training=False $input=0", f"F.{name}(x, training=False)", "f64[2,0,4]", "f64[2,0,4]")
        for name in ("dropout", "dropout1d", "alpha_dropout", "feature_alpha_dropout")
    ),
    Line("F.dropout2d p=0.1 training=True $input=0", "F.dropout2d(x, 0.1, True)", "f32[2,3,4,5]", "f32[2,3,4,5]"),
    Line("F.dropoutnd p=0.1 training=True $input=0", "torch.feature_dropout(x, 0.1, True)", "f32[2,3,4]", "f32[2,3,4]"),
    # activations
    Line("F.softmax dim=-1 dtype=torch.float $input=0", "F.softmax(x, -1, dtype=torch.float)", "f64[2,3]", "f32[2,3]"),
    Line("F.softmax dim=0 dtype=torch.half $input=0", "F.softmax(x, 0, dtype=torch.half)", "i64[3]", "f16[3]"),
    Line(
        "F.log_softmax dim=1 dtype=torch.double $input=0",
        "F.log_softmax(x, 1, dtype=torch.double)",
        "u8[1,4]",
        "f64[1,4]",
    ),
    Line("F.softmin dim=1 dtype=None $input=0", "F.softmin(x, 1)", "f16[2,4]", "f16[2,4]"),
    Line("F.softmax dim=None $input=0", "F.softmax(x)", "f32[2,4]", "f32[2,4]"),
    *(
        Line(f"F.{name} dim={dim} $input=0", f"F.{name}(x, {dim})", "f32[]", "f32[]")
        for name in ("softmax", "log_softmax", "softmin")
        for dim in (-1, 0)
    ),
    *(Line(f"F.{name} $input=0", f"F.{name}(x)", "f32[]", "f32[]") for name in ("relu", "silu", "sigmoid", "gelu")),
    Line("nn.ReLU inplace=True", "nn.ReLU(inplace=True)(x)", "i64[0]", "i64[0]"),
    Line("nn.Sigmoid", "nn.Sigmoid()(x)", "i32[2,1]", "f32[2,1]"),
    Line("nn.Threshold threshold=1 value=2", "nn.Threshold(1, 2)(x)", "i64[2,1]", "i64[2,1]"),
    Line("nn.GLU", "nn.GLU()(x)", "f64[3,8]", "f64[3,4]"),
    Line("nn.PReLU num_parameters=1", "nn.PReLU()(x)", "f32[]", "f32[]"),
    Line("F.prelu", "F.prelu(x, y)", "f32[2,1] f32[1]", "f32[2,1]"),
    Line("F.prelu", "F.prelu(x, y)", "f32[2,3] f32[]", "f32[2,3]"),
    # normalization
    Line("nn.GroupNorm affine=False num_groups=2", "nn.GroupNorm(2, 4, affine=False)(x)", "f32[2,4,3]", "f32[2,4,3]"),
    Line("nn.BatchNorm1d num_features=4", "nn.BatchNorm1d(4).eval()(x)", "f32[0,4]", "f32[0,4]"),
    Line("F.batch_norm", "F.batch_norm(x, y, z)", "f32[2,3] f32[3] f32[3]", "f32[2,3]"),
    Line(
        "F.instance_norm use_input_stats=False $input=0 $running_mean=1 $running_var=2",
        "F.instance_norm(x, y, z, use_input_stats=False)",
        "f32[2,3,1] f32[3] f32[3]",
        "f32[2,3,1]",
    ),
    Line("nn.InstanceNorm2d num_features=7", "nn.InstanceNorm2d(7)(x)", "f32[2,4,3,5]", "f32[2,4,3,5]"),
    Line("nn.LayerNorm normalized_shape=4 elementwise_affine=False", "F.layer_norm(x, (4,))", "f32[2,4]", "f32[2,4]"),
    Line(
        "F.layer_norm normalized_shape=(4) $input=0 $bias=1",
        "F.layer_norm(x, (4,), None, y)",
        "f32[2,4] f32[4]",
        "f32[2,4]",
    ),
    Line("F.normalize dim=(0,-1) $input=0", "F.normalize(x, dim=(0, -1))", "f32[2,3,4]", "f32[2,3,4]"),
    Line("F.pairwise_distance $x1=0 $x2=1", "F.pairwise_distance(x, y)", "f32[2,1,4] f32[3,1]", "f32[2,3]"),
    Line("F.pairwise_distance keepdim=True", "F.pairwise_distance(x, y, keepdim=True)", "f32[] f32[]", "f32[]"),
    Line("F.pairwise_distance $x1=0 $x2=1", "F.pairwise_distance(x, y)", "i64[2,4] i64[2,4]", "f32[2]"),
    # linear layers
    Line("nn.Linear in_features=4 out_features=3 bias=True", "nn.Linear(4, 3)(x)", "f32[4]", "f32[3]"),
    Line("F.linear", "F.linear(x, y, z)", "f32[2,4] f32[3,4] f32[3]", "f32[2,3]"),
    Line("F.linear", "F.linear(x, y, z)", "f32[2,5,4] f32[3,4] f32[]", "f32[2,5,3]"),
    Line("F.linear", "F.linear(x, y)", "i64[0,4] i64[3,4]", "i64[0,3]"),
    *(
        Line(
            f"{TRANSPOSED} output_padding=1 output_size={size}",
            f"nn.ConvTranspose2d(3, 4, 3, stride=2)(x, output_size={size})",
            "f32[2,3,5,5]",
            "f32[2,4,12,11]",
        )
        for size in ("(12,11)", "(2,4,12,11)")
    ),
    Line("nn.Embedding num_embeddings=9 embedding_dim=3 @weight=(9,3)f32", "nn.Embedding(9, 3)(x)", "i64[]", "f32[3]"),
    Line("F.embedding", "F.embedding(x, y)", "i32[2,0] f16[4,3]", "f16[2,0,3]"),
    # recurrent layers and attention
    Line("nn.LSTM input_size=6 hidden_size=4", "nn.LSTM(6, 4)(x)", "f32[7,3,6]", "f32[7,3,4] f32[1,3,4] f32[1,3,4]"),
    Line(
        "nn.GRU input_size=6 hidden_size=4 num_layers=2",
        "nn.GRU(6, 4, 2)(x, y)",
        "f32[7,6] f32[2,4]",
        "f32[7,4] f32[2,4]",
    ),
    Line(
        "nn.MultiheadAttention embed_dim=8 num_heads=2",
        "nn.MultiheadAttention(8, 2)(x, y, z)",
        "f32[3,2,8] f32[0,2,8] f32[0,2,8]",
        "f32[3,2,8] f32[2,3,0]",
    ),
    Line(
        "F.scaled_dot_product_attention $query=0 $key=1 $value=2 $attn_mask=3",
        "F.scaled_dot_product_attention(x, y, z, u)",
        "f32[2,4,3,8] f32[2,4,5,8] f32[2,4,5,6] f32[4,1,5]",
        "f32[2,4,3,6]",
    ),
    Line(
        "F.scaled_dot_product_attention enable_gqa=True",
        "F.scaled_dot_product_attention(x, y, z, enable_gqa=True)",
        "f32[2,8,3,8] f32[2,2,5,8] f32[2,4,5,6]",
        "f32[2,8,3,6]",
    ),
    Line(
        "F.scaled_dot_product_attention",
        "F.scaled_dot_product_attention(x, y, z)",
        "f32[1,0,3] f32[2,4,3] f32[2,4,5]",
        "f32[1,0,5]",
    ),
    # products
    Line("torch.matmul", "torch.matmul(x, y)", "f32[5,1,2,3] f32[4,3,1]", "f32[5,4,2,1]"),
    Line("torch.addmm", "torch.addmm(x, y, z)", "f32[] f32[2,3] f32[3,4]", "f32[2,4]"),
    Line("torch.baddbmm", "torch.baddbmm(x, y, z)", "f32[4] f32[5,2,3] f32[5,3,4]", "f32[5,2,4]"),
    Line("torch.t", "torch.t(x)", "f32[]", "f32[]"),
    Line("torch.cross dim=None", "torch.cross(x, y)", "f32[3,3] f32[3,3]", "f32[3,3]"),
    Line("torch.cross dim=-1 $input=0 $other=1", "torch.cross(x, y, dim=-1)", "f32[1,4,3] f32[2,1,3]", "f32[2,4,3]"),
    Line("torch.cross dim=None", "torch.cross(x, y)", "f32[2,3,3] f32[2,3,1]", "f32[2,3,3]"),
    *(
        Line(f"torch.einsum equation={equation}", f"torch.einsum('{equation}', {arguments})", inputs, outputs)
        for equation, arguments, inputs, outputs in (
            ("...ij,...jk->...ik", "x, y", "f32[2,1,3,4] f32[5,4,6]", "f32[2,5,3,6]"),
            ("...ij->...ji", "x", "f32[2,3,4]", "f32[2,4,3]"),
            ("...i->i", "x", "f32[2,3,4]", "f32[4]"),
            ("b...,b->...", "x, y", "f32[2,3,4] f32[2]", "f32[3,4]"),
            ("bii->bi", "x", "f32[2,3,3]", "f32[2,3]"),
            ("zBa", "x", "f32[2,3,4]", "f32[3,4,2]"),
            ("i...j,j...k", "x, y", "f32[2,5,3] f32[3,1,4]", "f32[5,2,4]"),
            ("ij,ij->i", "x, y", "f32[2,1] f32[2,5]", "f32[2]"),
            (",i->i", "x, y", "f32[] f32[3]", "f32[3]"),
            ("i,j,k->kji", "x, y, z", "f32[2] f32[3] f32[4]", "f32[4,3,2]"),
        )
    ),
    # quantized tensors, which files list as integers
    Line(
        "torch.quantize_per_tensor scale=0.1 zero_point=2 dtype=torch.quint8 $input=0",
        "torch.quantize_per_tensor(x, 0.1, 2, torch.quint8)",
        "f32[2,3]",
        "u8[2,3]",
    ),
    Line(
        "nn.quantized.Quantize dtype=torch.qint8",
        "torch.quantize_per_tensor(x, 0.1, 2, torch.qint8)",
        "f32[2]",
        "i8[2]",
    ),
    Line(
        "nn.quantized.Quantize dtype=torch.qint32",
        "torch.quantize_per_tensor(x, 0.1, 2, torch.qint32)",
        "f32[2]",
        "i32[2]",
    ),
    *(
        Line(
            f"{type_} $input=0", "torch.dequantize(torch.quantize_per_tensor(x, 0.1, 2, torch.quint8))", inputs, inputs
        )
        for type_ in ("torch.dequantize", "nn.quantized.DeQuantize")
        for inputs in ("f32[2,3]", "f32[]")
    ),
]
"""Calls that torch accepts."""

SIZES = "num_features=4 affine=True"
LSTM = "nn.LSTM input_size=6 hidden_size=4"
HEADS = "nn.MultiheadAttention embed_dim=8 num_heads=2"
DOT = "F.scaled_dot_product_attention"

REJECTED = [
    Line("nn.GLU dim=-1", "nn.GLU()(x)", "f32[2,5]"),
    Line("F.glu dim=2", "F.glu(x, 2)", "f32[2,4]"),
    Line("F.glu dim=-1", "F.glu(x)", "f32[]"),
    Line("F.softmax dim=2", "F.softmax(x, 2)", "f32[2,4]"),
    Line("F.log_softmax dim=1", "F.log_softmax(x, 1)", "f32[]"),
    Line("nn.Softmax2d", "nn.Softmax2d()(x)", "f32[2,4]"),
    Line("nn.PReLU num_parameters=4", "nn.PReLU(4)(x)", "f32[2,3]"),
    Line("nn.PReLU num_parameters=4", "nn.PReLU(4)(x)", "f32[4]"),
    Line("F.prelu", "F.prelu(x, y)", "f32[2,3] f32[2]"),
    Line("F.prelu", "F.prelu(x, y)", "f32[2,3] f32[1,1]"),
    Line(f"nn.BatchNorm1d {SIZES}", "nn.BatchNorm1d(4).eval()(x)", "f32[2,4,3,3]"),
    Line(f"nn.BatchNorm2d {SIZES}", "nn.BatchNorm2d(4).eval()(x)", "f32[2,4,3]"),
    Line(f"nn.BatchNorm3d {SIZES}", "nn.BatchNorm3d(4).eval()(x)", "f32[2,4,3,3]"),
    Line(f"nn.BatchNorm2d {SIZES}", "nn.BatchNorm2d(4).eval()(x)", "f32[2,3,3,3]"),
    Line("F.batch_norm", "F.batch_norm(x, y, z)", "f32[2,3] f32[3] f32[4]"),
    Line("nn.GroupNorm num_groups=2 num_channels=4", "nn.GroupNorm(2, 4)(x)", "f32[2,6]"),
    Line("nn.GroupNorm num_groups=2", "nn.GroupNorm(2, 4, affine=False)(x)", "f32[2,5]"),
    Line("F.group_norm num_groups=2", "F.group_norm(x, 2)", "f32[2,5,3]"),
    Line("F.group_norm num_groups=2", "F.group_norm(x, 2)", "f32[2]"),
    Line("F.group_norm num_groups=2", "F.group_norm(x, 2)", "f32[1,2,1]"),
    Line("F.group_norm num_groups=2", "F.group_norm(x, 2, y)", "f32[2,4] f32[2]"),
    Line(f"nn.InstanceNorm1d {SIZES}", "nn.InstanceNorm1d(4, affine=True)(x)", "f32[2,3,5]"),
    Line("nn.InstanceNorm1d num_features=4", "nn.InstanceNorm1d(4)(x)", "f32[2,4,1]"),
    Line("nn.InstanceNorm2d num_features=4", "nn.InstanceNorm2d(4)(x)", "f32[4,3]"),
    Line("F.instance_norm", "F.instance_norm(x)", "f32[2,3,1,1]"),
    Line("nn.LayerNorm normalized_shape=(4)", "nn.LayerNorm(4)(x)", "f32[4,3]"),
    Line("nn.LayerNorm normalized_shape=(4,3)", "nn.LayerNorm((4, 3))(x)", "f32[3]"),
    Line("F.layer_norm normalized_shape=(3) $input=0 $weight=1", "F.layer_norm(x, (3,), y)", "f32[4,3] f32[4]"),
    Line("nn.RMSNorm normalized_shape=(4)", "nn.RMSNorm(4)(x)", "f32[4,3]"),
    Line("F.normalize dim=2", "F.normalize(x, dim=2)", "f32[4,3]"),
    Line("F.pairwise_distance", "F.pairwise_distance(x, y)", "f32[4,3] f32[4,2]"),
    Line("nn.Linear in_features=4 out_features=3", "nn.Linear(4, 3)(x)", "f32[2,3]"),
    Line("F.linear", "F.linear(x, y)", "f32[2,3] f32[3,2]"),
    Line("F.linear", "F.linear(x, y)", "f32[2,3] f32[3,2,3]"),
    Line("F.linear", "F.linear(x, y, z)", "f32[2,3] f32[4,3] f32[3]"),
    Line("F.linear", "F.linear(x, y, z)", "f32[2,5,3] f32[3] f32[1]"),
    Line("F.embedding", "F.embedding(x, y)", "i64[2,3] f32[4]"),
    Line(LSTM, "nn.LSTM(6, 4)(x)", "f32[7,5]"),
    Line(LSTM, "nn.LSTM(6, 4)(x)", "f32[0,6]"),
    Line("nn.GRU input_size=6 hidden_size=4 batch_first=True", "nn.GRU(6, 4, batch_first=True)(x)", "f32[2,0,6]"),
    Line(LSTM, "nn.LSTM(6, 4)(x)", "f32[7,5,5,6]"),
    Line(LSTM, "nn.LSTM(6, 4)(x, (y, z))", "f32[7,3,6] f32[1,3,4] f32[1,2,4]"),
    Line(LSTM, "nn.LSTM(6, 4)(x, (y, z))", "f32[7,3,6] f32[2,3,4] f32[1,3,4]"),
    Line(LSTM, "nn.LSTM(6, 4)(x, y)", "f32[7,3,6] f32[1,3,4]"),
    Line(f"{LSTM} proj_size=4", "nn.LSTM(6, 4, proj_size=4)(x)", "f32[7,3,6]"),
    Line(
        "nn.GRU input_size=6 hidden_size=4 bidirectional=True",
        "nn.GRU(6, 4, bidirectional=True)(x, y)",
        "f32[7,3,6] f32[1,3,4]",
    ),
    Line(
        "nn.RNN input_size=6 hidden_size=4 batch_first=True",
        "nn.RNN(6, 4, batch_first=True)(x, y)",
        "f32[7,3,6] f32[1,3,4]",
    ),
    Line(HEADS, "nn.MultiheadAttention(8, 2)(x, x, x)", "f32[3,2,7]"),
    Line(HEADS, "nn.MultiheadAttention(8, 2)(x, x, x)", "f32[3,2,2,8]"),
    Line(HEADS, "nn.MultiheadAttention(8, 2)(x, y, y)", "f32[3,2,8] f32[5,3,8]"),
    Line(HEADS, "nn.MultiheadAttention(8, 2)(x, y, z)", "f32[3,2,8] f32[5,2,8] f32[4,2,8]"),
    Line(f"{HEADS} $attn_mask=1", "nn.MultiheadAttention(8, 2)(x, x, x, attn_mask=y)", "f32[3,2,8] f32[3,2]"),
    Line(f"{HEADS} $attn_mask=1", "nn.MultiheadAttention(8, 2)(x, x, x, attn_mask=y)", "f32[3,2,8] f32[2,3,3]"),
    Line("nn.MultiheadAttention embed_dim=8 num_heads=3", "nn.MultiheadAttention(8, 3)(x, x, x)", "f32[3,2,8]"),
    Line(DOT, f"{DOT}(x, y, z)", "f32[2,3,8] f32[2,5,7] f32[2,5,7]"),
    Line(DOT, f"{DOT}(x, y, z)", "f32[2,3,8] f32[2,5,8] f32[2,4,8]"),
    Line(DOT, f"{DOT}(x, y, z)", "f32[2,4,3,8] f32[2,2,5,8] f32[2,2,5,8]"),
    Line(f"{DOT} enable_gqa=True", f"{DOT}(x, y, z, enable_gqa=True)", "f32[2,4,3,8] f32[2,3,5,8] f32[2,4,5,8]"),
    Line(DOT, f"{DOT}(x, y, z, u)", "f32[2,3,8] f32[2,5,8] f32[2,5,8] f32[3,4]"),
    Line("torch.matmul", "torch.matmul(x, y)", "f32[2,3] f32[2,3]"),
    Line("torch.matmul", "torch.matmul(x, y)", "f32[] f32[2,3]"),
    Line("torch.matmul", "torch.matmul(x, y)", "f32[2,2,3] f32[3,3,4]"),
    Line("torch.mm", "torch.mm(x, y)", "f32[2,2,3] f32[3,4]"),
    Line("torch.mv", "torch.mv(x, y)", "f32[2,3] f32[2]"),
    Line("torch.bmm", "torch.bmm(x, y)", "f32[1,2,3] f32[2,3,4]"),
    Line("torch.bmm", "torch.bmm(x, y)", "f32[2,2,3] f32[2,2,4]"),
    Line("torch.addmm", "torch.addmm(x, y, z)", "f32[3] f32[2,3] f32[3,4]"),
    Line("torch.baddbmm", "torch.baddbmm(x, y, z)", "f32[2,2,4] f32[1,2,3] f32[1,3,4]"),
    Line("torch.einsum equation=ij,jk->ik", "torch.einsum('ij,jk->ik', x)", "f32[2,3]"),
    Line("torch.einsum equation=ij->ik", "torch.einsum('ij->ik', x)", "f32[2,3]"),
    Line("torch.einsum equation=ij->ii", "torch.einsum('ij->ii', x)", "f32[2,3]"),
    Line("torch.einsum equation=ii->i", "torch.einsum('ii->i', x)", "f32[1,3]"),
    Line("torch.einsum equation=ij,jk", "torch.einsum('ij,jk', x, y)", "f32[2,3] f32[2,3]"),
    Line("torch.einsum equation=i", "torch.einsum('i', x)", "f32[2,3]"),
    Line("torch.cross dim=None", "torch.cross(x, y)", "f32[4,2] f32[4,2]"),
    Line("torch.cross dim=0", "torch.cross(x, y, dim=0)", "f32[2,3] f32[2,3]"),
    Line("torch.cross dim=1", "torch.cross(x, y, dim=1)", "f32[2,3] f32[3]"),
    Line("torch.t", "torch.t(x)", "f32[2,3,4]"),
]
"""Calls that torch rejects."""

DAMAGED = [
    Line("nn.Linear in_features=x out_features=3", "", "f32[2,3]"),
    Line("nn.Linear out_features=3", "", "f32[2,3]"),
    Line("nn.Linear in_features=3 out_features=-1", "", "f32[2,3]"),
    Line("nn.GLU dim=(1,2)", "", "f32[2,4]"),
    Line("F.softmax dim=1 dtype=torch.real", "", "f32[2,4]"),
    Line("F.softmax dim=one", "", "f32[2,4]"),
    Line("nn.PReLU num_parameters=-3", "", "f32[2,4]"),
    Line("nn.GroupNorm num_groups=0 num_channels=4", "", "f32[2,4]"),
    Line("F.group_norm num_groups=0", "", "f32[2,4]"),
    Line("nn.LayerNorm normalized_shape=()", "", "f32[2,4]"),
    Line("nn.LayerNorm normalized_shape=(a,4)", "", "f32[2,4]"),
    Line("nn.Embedding num_embeddings=3 embedding_dim=-2", "", "i64[2]"),
    Line(f"{TRANSPOSED} output_size=(13,11)", "", "f32[2,3,5,5]"),
    Line(f"{TRANSPOSED} output_size=(11,10)", "", "f32[2,3,5,5]"),
    Line(
        f"{TRANSPOSED} output_size=(4,11,11)",
        "",
        "f32[2,3,5,5]",
    ),
    Line("nn.LSTM input_size=6 hidden_size=4 num_layers=-1", "", "f32[7,6]"),
    Line("nn.LSTM input_size=6 hidden_size=0", "", "f32[7,6]"),
    Line(f"{LSTM} @weight_ih_l9=(16,6)f32", "", "f32[7,6]"),
    Line(f"{LSTM} @weight_ih_l0=(16,5)f32", "", "f32[7,6]"),
    Line(f"{LSTM} @weight_ih_l99999999999=(16,6)f32", "", "f32[7,6]"),
    Line(LSTM, "", "f32[7,6] f32[1,4] f32[1,4] f32[1,4]"),
    Line("nn.MultiheadAttention embed_dim=8 num_heads=0", "", "f32[7,8]"),
    Line("nn.MultiheadAttention embed_dim=-8 num_heads=2", "", "f32[7,8]"),
    Line(f"{HEADS} @out_proj.weight=(8,7)f32", "", "f32[7,8]"),
    Line("torch.einsum equation=i1->i", "", "f32[2,4]"),
    Line("torch.einsum equation=", "", "f32[2,4]"),
    Line("torch.einsum equation=......", "", "f32[2,4]"),
    Line("nn.quantized.Quantize dtype=torch.float", "", "f32[2]"),
    Line("nn.quantized.Quantize dtype=3", "", "f32[2]"),
    Line("nn.quantized.cat", "", ""),
]
"""Attributes and weights that contradict one another or are no numbers."""


def errors(result):
    return [d for d in result.diagnostics if d.severity == "error"]


def outputs(line, symbolic):
    """The element types and sizes of the outputs, without errors on the way."""
    result, binding = line.infer(symbolic)
    assert not errors(result)
    tensors = [result.tensors[name] for name in result.graph.outputs]
    return [(SHORT[t.dtype], [evaluate(d, binding) for d in t.shape]) for t in tensors]


@pytest.mark.parametrize("line", ACCEPTED, ids=str)
def test_the_outputs_are_those_of_torch(line):
    assert outputs(line, symbolic=False) == line.types[1]
    assert outputs(line, symbolic=True) == line.types[1]


@pytest.mark.parametrize("line", ACCEPTED, ids=str)
def test_inputs_of_unknown_rank(line):
    """What is known of the outputs is right."""
    result = infer_shapes(line.param)
    assert not errors(result)
    for name, (_, dims) in zip(result.graph.outputs, line.types[1], strict=True):
        inferred = result.tensors[name].shape
        if inferred.dims is not None:
            assert len(inferred.dims) == len(dims)
            assert all(size == d for size, d in zip(inferred.dims, dims, strict=True) if isinstance(size, int))


@pytest.mark.parametrize("line", REJECTED, ids=str)
def test_what_torch_rejects(line):
    assert [(d.node, d.code) for d in errors(line.infer()[0])] == [("op", "S101")]


@pytest.mark.parametrize("line", DAMAGED, ids=str)
def test_an_error_is_reported(line):
    assert [d.node for d in errors(line.infer()[0])] == ["op"]


@pytest.mark.slow
@pytest.mark.parametrize("line", ACCEPTED, ids=str)
def test_torch_computes_these_types(line):
    pytest.importorskip("torch")
    results = [described for value in call(line) for described in flatten(describe(value))]
    stored = {"quint8": "u8", "qint8": "i8", "qint32": "i32"}
    assert [(stored.get(r["dtype"], r["dtype"]), r["shape"]) for r in results] == line.types[1]


@pytest.mark.slow
@pytest.mark.parametrize("line", REJECTED, ids=str)
def test_torch_rejects_these_calls(line):
    pytest.importorskip("torch")
    with pytest.raises((RuntimeError, ValueError, IndexError, AssertionError, AttributeError)):
        call(line)


def call(line):
    """What torch returns, as a list."""
    import torch
    from torch import nn
    from torch.nn import functional

    names = {"torch": torch, "nn": nn, "F": functional}
    tensors = [tensor_of(dtype, dims) for dtype, dims in line.types[0]]
    result = eval(line.call, names | dict(zip("xyzu", tensors, strict=False)))
    return list(result) if isinstance(result, tuple) else [result]


def flatten(described):
    """The tensors of a described value."""
    return [described] if described["kind"] == "tensor" else [t for item in described["items"] for t in flatten(item)]
