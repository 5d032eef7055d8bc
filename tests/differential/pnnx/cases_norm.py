"""Normalization: modules, which have their channels, and functions, which have them from the weights."""

from __future__ import annotations

from tests.differential.pnnx.case import Case

ROWS, SERIES, IMAGES, VOLUMES = "f32[3,4]", "f32[3,4,5]", "f32[2,4,5,6]", "f32[2,4,3,5,6]"
OTHERS = {ROWS: "f32[5,4]", SERIES: "f32[2,4,7]", IMAGES: "f32[3,4,8,7]", VOLUMES: "f32[1,4,6,2,7]"}


def module(text, inputs, others=None):
    return Case(f"nn.{text} {inputs}", "m(x)", inputs, others or OTHERS[inputs], {"m": f"nn.{text}"})


def function(text, inputs, others):
    return Case(f"{text} {inputs}", text, inputs, others)


CASES = [
    module("BatchNorm1d(4)", ROWS),
    module("BatchNorm1d(4, eps=1e-3, affine=False)", SERIES),
    module("BatchNorm1d(4)", "f32[0,4]", "f32[3,4]"),
    module("BatchNorm2d(4)", IMAGES),
    module("BatchNorm2d(4, affine=False)", IMAGES),
    module("BatchNorm3d(4)", VOLUMES),
    module("BatchNorm3d(4, momentum=None)", VOLUMES),
    module("BatchNorm3d(4, affine=False)", VOLUMES),
    function("F.batch_norm(x, y, z)", "f32[3,4,5] f32[4] f32[4]", "f32[2,4,7] f32[4] f32[4]"),
    function("F.batch_norm(x, y, z, y, z)", "f32[3,4] f32[4] f32[4]", "f32[2,5] f32[5] f32[5]"),
    function("F.batch_norm(x, y, z, z, eps=1e-3)", "f64[3,4,5,2] f64[4] f64[4]", "f64[2,4,7,2] f64[4] f64[4]"),
    module("GroupNorm(2, 4)", IMAGES),
    module("GroupNorm(1, 4)", ROWS),
    module("GroupNorm(2, 4)", VOLUMES),
    function("F.group_norm(x, 2)", "f32[3,4,5]", "f32[2,6,7]"),
    function("F.group_norm(x, 2, y, z)", "f32[3,4] f32[4] f32[4]", "f32[2,6] f32[6] f32[6]"),
    function("F.group_norm(x, 3, y, eps=0.1)", "f32[3,6,5] f32[6]", "f32[2,9,7] f32[9]"),
    module("InstanceNorm1d(4)", SERIES),
    module("InstanceNorm1d(4, affine=True)", SERIES),
    module("InstanceNorm1d(4, affine=True)", "f32[4,7]", "f32[4,9]"),
    module("InstanceNorm1d(4, track_running_stats=True)", SERIES),
    module("InstanceNorm2d(4, affine=True, track_running_stats=True)", IMAGES),
    module("InstanceNorm2d(4)", IMAGES),
    module("InstanceNorm2d(4)", "f32[4,5,6]", "f32[4,7,8]"),
    module("InstanceNorm2d(9)", IMAGES),
    module("InstanceNorm3d(4)", VOLUMES),
    module("InstanceNorm3d(4, affine=True)", VOLUMES),
    module("InstanceNorm3d(4)", "f32[4,3,5,6]", "f32[4,2,5,7]"),
    function("F.instance_norm(x)", "f32[3,4,5]", "f32[2,6,7]"),
    function("F.instance_norm(x, weight=y, bias=z)", "f32[3,4,5] f32[4] f32[4]", "f32[2,6,7] f32[6] f32[6]"),
    function("F.instance_norm(x, y, z, z, y)", "f32[3,4,5,2] f32[4] f32[4]", "f32[2,6,7,2] f32[6] f32[6]"),
    module("LayerNorm(5)", SERIES, "f32[2,6,5]"),
    module("LayerNorm((4, 5), elementwise_affine=False)", SERIES, "f32[2,4,5]"),
    module("LayerNorm([5, 6], eps=1e-3)", IMAGES, "f32[1,2,5,6]"),
    module("LayerNorm(4, bias=False)", ROWS),
    module("LayerNorm(4)", "f32[4]", "f32[4]"),
    module("LayerNorm(4)", "f32[0,4]", "f32[3,4]"),
    function("F.layer_norm(x, (5,))", "f32[3,4,5]", "f32[2,6,5]"),
    function("F.layer_norm(x, (4, 5), y, z)", "f32[3,4,5] f32[4,5] f32[4,5]", "f32[2,4,5] f32[4,5] f32[4,5]"),
    function("F.layer_norm(x, (5,), None, y)", "f64[3,4,5] f64[5]", "f64[2,6,5] f64[5]"),
    function("F.layer_norm(x, (5,), y, eps=0.1)", "f16[3,5] f16[5]", "f16[2,5] f16[5]"),
    function("F.layer_norm(x, x.shape[1:])", "f32[3,4,5]", "f32[2,4,5]"),
    module("RMSNorm(5)", SERIES, "f32[2,6,5]"),
    module("RMSNorm((4, 5), eps=1e-3, elementwise_affine=False)", SERIES, "f32[2,4,5]"),
    module("RMSNorm([5, 6], elementwise_affine=True)", IMAGES, "f32[1,2,5,6]"),
    function("F.rms_norm(x, (5,))", "f32[3,4,5]", "f32[2,6,5]"),
    function("F.rms_norm(x, (4, 5), y)", "f32[3,4,5] f32[4,5]", "f32[2,4,5] f32[4,5]"),
    function("F.rms_norm(x, (5,), y, eps=0.1)", "f16[3,5] f16[5]", "f16[2,5] f16[5]"),
    function("F.normalize(x), F.normalize(x, p=1.0, dim=-1), F.normalize(x, dim=0)", "f32[3,4,5]", "f32[2,6,7]"),
    function("F.normalize(x, dim=0, eps=1e-3)", "f64[5]", "f64[7]"),
    function("F.normalize(x, p=2, dim=(1, 2))", "f32[3,4,5]", "f32[2,6,7]"),
    function("F.normalize(x, p=3.0)", "c64[3,4]", "c64[2,5]"),
    function("F.pairwise_distance(x, y)", "f32[3,4] f32[3,4]", "f32[2,5] f32[2,5]"),
    function("F.pairwise_distance(x, y, p=1.0, keepdim=True)", "f32[3,4] f32[3,4]", "f32[2,5] f32[2,5]"),
    function("F.pairwise_distance(x, y, 2, 1e-3)", "f32[2,3,4] f32[3,4]", "f32[5,2,6] f32[2,6]"),
    function("F.pairwise_distance(x, y)", "f32[3,4] f32[1,4]", "f32[2,5] f32[1,5]"),
    function("F.pairwise_distance(x, y)", "f32[4] f64[4]", "f32[5] f64[5]"),
    function("F.pairwise_distance(x, y, keepdim=True)", "f16[4] f16[3,4]", "f16[5] f16[2,5]"),
]
