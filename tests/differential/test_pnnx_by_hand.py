"""Operators that pnnx cannot convert without torchvision or old quantized modules, and damaged attributes.

The lines are as the passes of pnnx for these modules write them; the shapes are those of the documentation of torch and
torchvision.
"""

import pytest

from shapeinf import infer_shapes
from tests.differential.pnnx.limits import Limit

CONV = (
    "bias=True dilation=(1,1) groups=1 in_channels=3 kernel_size=(3,2) out_channels=8 padding=(1,0) stride=(2,1) "
    "@bias=(8)f32 @weight=(8,3,3,2)"
)
SCALES = "@weight.q_per_channel_scales=(8)f64 @weight.q_per_channel_zero_points=(8)i64"
QUANTIZED = f"{CONV}null padding_mode=zeros scale=0.1 zero_point=64"
REGIONS = "aligned=True output_size=(7,5) sampling_ratio=-1 spatial_scale=0.25"

SHAPES = [
    (f"nn.quantized.Conv2d {QUANTIZED}", "null[1,3,16,17]", [1, 8, 8, 16]),
    (f"nn.quantized.Conv2d {QUANTIZED} {SCALES}", "i8[4,3,7,2]", [4, 8, 4, 1]),
    (f"nn.quantized.Conv2d {QUANTIZED}", "null[1,4,16,17]", None),
    (f"nn.intrinsic.quantized.ConvReLU2d {QUANTIZED} {SCALES}", "null[2,3,16,17]", [2, 8, 8, 16]),
    (f"nn.intrinsic.quantized.ConvReLU2d {QUANTIZED} {SCALES}", "u8[1,3,9,9]", [1, 8, 5, 8]),
    (f"nn.intrinsic.quantized.ConvReLU2d {QUANTIZED}", "null[1,3,9,1]", None),
    (f"torchvision.ops.DeformConv2d {CONV}f32", "f32[1,3,16,17] f32[1,12,8,16]", [1, 8, 8, 16]),
    (f"torchvision.ops.DeformConv2d {CONV}f32", "f32[2,3,16,17] f32[2,24,8,16] f32[2,12,8,16]", [2, 8, 8, 16]),
    (f"torchvision.ops.DeformConv2d {CONV}f32", "f32[1,3,16,17] f32[1,12,8,15]", None),
    (f"torchvision.ops.DeformConv2d {CONV}f32", "f32[1,3,16,17] f32[1,10,8,16]", None),
    (f"torchvision.ops.RoIAlign {REGIONS}", "f32[2,3,16,17] f32[9,5]", [9, 3, 7, 5]),
    (f"torchvision.ops.RoIAlign {REGIONS}", "f16[1,8,4,4] f16[0,5]", [0, 8, 7, 5]),
    (f"torchvision.ops.RoIAlign {REGIONS}", "f32[2,3,16,17] f32[9,4]", None),
]


def run(operator, inputs):
    limit = Limit(operator, "", (inputs,))
    (sizes,) = limit.runs()
    return infer_shapes(limit.param(sizes), declared="ignore")


@pytest.mark.parametrize(("operator", "inputs", "shape"), SHAPES)
def test_shapes(operator, inputs, shape):
    result = run(operator, inputs)
    (output,) = result.graph.outputs
    errors = [d for d in result.diagnostics if d.severity == "error"]
    assert bool(errors) == (shape is None)
    if shape is not None:
        assert list(result.tensor(output).shape) == shape


SCALES_OF_AXES = [
    ("5.000000e+00", 16, (80, 80)),
    ("0.7", 10, (7, 7)),
    ("0.7", 90, (62, 62)),  # 62.99999999999999 in float64
    ("1.15", 100, (114, 114)),
    ("3.333333e-01", 10, (3, 3)),
    ("3.333333e-01", 9, (2, 3)),  # 3 for the 1/3 of torch, 2 for the digits in the file
    ("0.333333343", 9, (3, 3)),
    ("2.00884962", 113, (226, 227)),  # torch returns 226 for 227/113, and 227 for the next float32
]


@pytest.mark.parametrize(("scale", "size", "bounds"), SCALES_OF_AXES)
def test_scales_are_numbers_of_float64_that_a_file_rounds(scale, size, bounds):
    result = run(f"F.interpolate scale_factor=({scale},1.0) mode=nearest", f"f32[1,3,{size},4]")
    inferred = result.engine.inference.store.interval(result.tensor(result.graph.outputs[0]).shape[2])
    assert (inferred.lo, inferred.hi) == bounds


DAMAGED = [
    "nn.Conv2d in_channels=3 out_channels=foo kernel_size=(3,3)",
    "nn.Conv2d in_channels=3 out_channels=4 kernel_size=hello",
    "nn.Conv2d in_channels=3 out_channels=4 kernel_size=(3,3) groups=0",
    "nn.Conv2d in_channels=3 out_channels=4 kernel_size=(3,3) groups=2",
    "nn.Conv2d in_channels=3 out_channels=4 kernel_size=(3,3) padding=(a,b)",
    "nn.Conv2d in_channels=3 out_channels=4 kernel_size=(3,3) padding=same stride=(2,2)",
    "nn.Conv2d in_channels=3 out_channels=4 kernel_size=(3,3) padding_mode=mirror padding=1",
    "nn.Conv2d in_channels=3 out_channels=4 kernel_size=(3,3) stride=(0,1)",
    "nn.ConvTranspose2d in_channels=3 out_channels=4 kernel_size=(3,3) output_padding=(1,1)",
    "nn.MaxPool2d kernel_size=(2,2,2)",
    "nn.MaxPool2d kernel_size=()",
    "nn.MaxPool2d kernel_size=(2,2) ceil_mode=abc",
    "nn.AvgPool2d kernel_size=(2,2) divisor_override=0",
    "nn.AdaptiveAvgPool2d output_size=(-1,2)",
    "nn.AdaptiveMaxPool2d output_size=(x,2)",
    "nn.MaxUnpool2d kernel_size=(2,2)",
    "F.pad pad=(1,2,3)",
    "F.pad pad=(a,b)",
    "F.pad pad=(1,2) mode=mirror",
    "F.interpolate scale_factor=(abc,2)",
    "F.interpolate scale_factor=(2.0,-1.0)",
    "F.interpolate scale_factor=(2.0,2.0) size=(3,4)",
    "F.interpolate size=(1,2,3)",
    "nn.Upsample size=abc",
    "nn.Upsample",
    "nn.PixelShuffle upscale_factor=0",
    "nn.PixelUnshuffle downscale_factor=(2,2)",
    "nn.ChannelShuffle groups=2",
    "nn.LocalResponseNorm size=0",
    "F.unfold kernel_size=(2,2) padding=(1,2,3)",
]


@pytest.mark.parametrize("operator", DAMAGED)
def test_damaged_attributes_are_errors(operator):
    result = run(operator, "f32[1,3,16,16]")
    assert [d.severity for d in result.diagnostics].count("error") == 1
    assert result.tensor(result.graph.outputs[0]).shape.dims is None
