"""Resizing by sizes and by scales."""

from __future__ import annotations

from tests.differential.pnnx.images import IMAGES, LINES, OTHER_LINES, OTHER_VOLUMES, OTHERS, VOLUMES, function, module

MODULES = [
    module("Upsample", "scale_factor=2"),
    module("Upsample", "scale_factor=(1.5, 2.25), mode='bilinear', align_corners=True"),
    module("Upsample", "scale_factor=0.7, mode='bicubic'", open=("nn.Upsample",)),  # 0.7 * 90 is 62 in float64
    module("Upsample", "size=(7, 9), mode='bilinear'"),
    module("Upsample", "size=11"),
    module("Upsample", "scale_factor=1.3, mode='linear'", LINES, OTHER_LINES),
    module("Upsample", "size=5, mode='nearest'", LINES, OTHER_LINES),
    module("Upsample", "scale_factor=(1, 2, 0.5), mode='trilinear', align_corners=True", VOLUMES, OTHER_VOLUMES),
    module("Upsample", "scale_factor=1.7, recompute_scale_factor=True", others=""),
    module("UpsamplingNearest2d", "scale_factor=2"),
    module("UpsamplingNearest2d", "size=(9, 8)"),
    module("UpsamplingNearest2d", "scale_factor=(1.5, 0.25)", "u8[1,3,16,17]", "u8[2,3,21,24]"),
    module("UpsamplingBilinear2d", "scale_factor=1.5"),
    module("UpsamplingBilinear2d", "size=(9, 8)", "f64[1,3,16,17]", "f64[2,3,21,24]"),
    module("UpsamplingBilinear2d", "scale_factor=(3, 0.3)"),
]

FUNCTIONS = [
    function("F.interpolate(x, scale_factor=2)"),
    function("F.interpolate(x, scale_factor=(0.5, 1.75), mode='bilinear')"),
    function("F.interpolate(x, scale_factor=0.6, mode='bicubic', align_corners=False)"),
    function("F.interpolate(x, scale_factor=1.1, mode='nearest-exact')"),
    function("F.interpolate(x, size=(5, 6))"),
    function("F.interpolate(x, size=(5, 6), mode='area')"),
    function("F.interpolate(x, size=12, mode='linear', align_corners=True)", LINES, OTHER_LINES),
    function("F.interpolate(x, scale_factor=2.4)", LINES, OTHER_LINES),
    function("F.interpolate(x, scale_factor=(1, 2, 1.5), mode='trilinear')", VOLUMES, OTHER_VOLUMES),
    function("F.interpolate(x, size=(3, 4, 5))", VOLUMES, OTHER_VOLUMES),
    function("F.interpolate(x, scale_factor=1.6, recompute_scale_factor=True)", others=""),
    function("F.interpolate(x, size=(x.size(2) * 2, x.size(3)))"),
    function("F.interpolate(x, size=y.shape[2:], mode='bilinear')", f"{IMAGES} f32[1,2,3,4]", f"{OTHERS} f32[1,2,5,6]"),
    function("F.interpolate(x, size=(y.size(0), 9))", f"{IMAGES} f32[3]", f"{OTHERS} f32[5]"),
    function("F.interpolate(x, size=(x.size(2) // 2, x.size(3) // 3), mode='bilinear')"),
    function("F.interpolate(x, size=x.size(2) * 3, mode='linear')", LINES, OTHER_LINES),
    function("F.interpolate(x, size=x.size(2) + 1)", "f32[1,3,9,9]", "f32[2,3,12,12]"),
    function("F.interpolate(F.max_pool2d(x, 3, 2, 1), size=x.shape[2:], mode='bilinear', align_corners=True)"),
    function("F.interpolate(F.interpolate(x, scale_factor=0.5), scale_factor=2)"),
    function("F.interpolate(x, size=y.shape[2:], mode='area')", f"{IMAGES} f32[1,2,3,4]", f"{OTHERS} f32[1,2,5,6]"),
    function("F.interpolate(x, size=y.shape[2:])", f"{VOLUMES} f32[1,2,3,4,5]", f"{OTHER_VOLUMES} f32[1,2,5,6,4]"),
    function("F.interpolate(x, scale_factor=1/3)", others=""),
    function("F.interpolate(x, scale_factor=(2/3, 4/3))", "f32[1,3,16,17]", "f32[1,3,21,24]"),
    function("F.interpolate(x, scale_factor=0.3)", "f64[1,3,16,17]", "f64[1,3,21,24]"),
    function("F.upsample(x, scale_factor=2)"),
    function("F.upsample(x, size=(5, 6), mode='bilinear')"),
    function("F.upsample_nearest(x, scale_factor=3)"),
    function("F.upsample_nearest(x, size=(5, 6))"),
    function("F.upsample_bilinear(x, scale_factor=2)"),
    function("F.upsample_bilinear(x, size=(5, 6))"),
]

CASES = MODULES + FUNCTIONS
