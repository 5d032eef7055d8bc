"""Shuffles, patches, sampling grids, and normalization over neighboring channels."""

from __future__ import annotations

from tests.differential.pnnx.images import IMAGES, LINES, OTHER_LINES, OTHERS, VOLUMES, function, module

DEEP, OTHER_DEEP = "f32[1,18,4,5]", "f32[2,18,6,3]"
FINE, OTHER_FINE = "f32[1,2,6,9]", "f32[2,2,12,3]"

SHUFFLES = [
    module("PixelShuffle", "3", DEEP, OTHER_DEEP),
    module("PixelShuffle", "3", "f32[18,4,5]", "f32[36,6,3]"),
    module("PixelShuffle", "2", "i64[2,3,8,4,5]", "i64[3,2,4,6,3]"),
    module("PixelUnshuffle", "3", FINE, OTHER_FINE),
    module("PixelUnshuffle", "3", "f16[2,6,9]", "f16[5,3,3]"),
    module("PixelUnshuffle", "1", FINE, OTHER_FINE),
    module("ChannelShuffle", "3", DEEP, OTHER_DEEP),
    module("ChannelShuffle", "2", "f32[3,4,5]", "f32[2,6,5]"),
    module("ChannelShuffle", "2", "f64[2,4,5,6,2]", "f64[1,6,5,6,3]"),
    function("F.pixel_shuffle(x, 3)", DEEP, OTHER_DEEP),
    function("F.pixel_shuffle(x, 2)", "u8[2,3,8,4,5]", "u8[3,2,4,6,3]"),
    function("F.pixel_shuffle(x, 1)", DEEP, OTHER_DEEP),
    function("F.pixel_unshuffle(x, 3)", FINE, OTHER_FINE),
    function("F.pixel_shuffle(F.pixel_unshuffle(x, 3), 3)", FINE, OTHER_FINE),
    function("F.pixel_unshuffle(x, 2)", "bool[3,6,8]", "bool[2,2,4]"),
    function("F.pixel_unshuffle(x, 2)", "f32[2,3,1,6,8]", "f32[1,2,3,4,6]"),
]

PATCHES = [
    module("Unfold", "3"),
    module("Unfold", "(2, 3), dilation=(2, 1), padding=(1, 0), stride=(2, 3)"),
    module("Unfold", "3, padding=1, stride=2", "f64[3,16,17]", "f64[3,21,24]"),
    function("F.unfold(x, 3)"),
    function("F.unfold(x, (2, 3), dilation=(2, 1), padding=(1, 0), stride=(2, 3))"),
    function("F.unfold(x, 4, stride=4)", "f32[2,8,8]", "f32[3,12,16]"),
    function("F.unfold(x, 3, padding=1).view(x.size(0), 3, 9, x.size(2), x.size(3))"),
    module("Fold", "(6, 8), (2, 3)", "f32[2,12,30]", "f32[1,24,30]"),
    module("Fold", "9, 3, stride=3", "f64[18,9]", "f64[9,9]"),
    module("Fold", "(6, 8), (2, 3), padding=1, dilation=(1, 2), stride=2", "f32[2,12,12]", "f32[3,6,12]"),
    function("F.fold(x, (6, 8), (2, 3))", "f32[2,12,30]", "f32[1,24,30]"),
    function("F.fold(x, 9, 3, stride=3)", "f32[18,9]", "f32[27,9]"),
    function("F.fold(x, (6, 8), (2, 3), padding=1, dilation=(1, 2), stride=2)", "f32[2,12,12]", "f32[3,6,12]"),
    function("F.fold(F.unfold(x, 3, stride=3), (x.size(2), x.size(3)), 3, stride=3)", "f32[1,2,9,12]", "f32[2,2,6,15]"),
]

SAMPLING = [
    function("F.grid_sample(x, y)", f"{IMAGES} f32[1,5,6,2]", f"{OTHERS} f32[2,7,8,2]"),
    function(
        "F.grid_sample(x, y, mode='nearest', padding_mode='border', align_corners=True)",
        f"{IMAGES} f32[1,5,6,2]",
        f"{OTHERS} f32[2,7,8,2]",
    ),
    function("F.grid_sample(x, y)", f"{VOLUMES} f32[1,5,6,4,3]", "f32[2,2,6,7,8] f32[2,1,7,8,3]"),
    function("F.grid_sample(x, y.permute(0, 2, 3, 1))", f"{IMAGES} f32[1,2,5,6]", f"{OTHERS} f32[2,2,7,8]"),
    function(
        "F.grid_sample(x, F.affine_grid(y, (x.size(0), x.size(1), 2 * x.size(2), x.size(3) // 2)))",
        f"{IMAGES} f32[1,2,3]",
        f"{OTHERS} f32[2,2,3]",
    ),
    function("F.affine_grid(x, (1, 3, 7, 8))", "f32[1,2,3]", ""),
    function("F.affine_grid(x, (2, 3, 5, 7, 8), align_corners=True)", "f64[2,3,4]", ""),
    function("F.affine_grid(x, y.size())", f"f32[1,2,3] {IMAGES}", f"f32[2,2,3] {OTHERS}"),
    function("F.affine_grid(x, y.size(), align_corners=False)", f"f32[1,3,4] {VOLUMES}", "f32[2,3,4] f32[2,2,6,7,8]"),
]

NORMALIZATION = [
    module("LocalResponseNorm", "3"),
    module("LocalResponseNorm", "2, alpha=0.001, k=2.0", LINES, OTHER_LINES),
    module("LocalResponseNorm", "2", VOLUMES, "f32[2,2,6,7,8]"),
    function("F.local_response_norm(x, 2)"),
    function("F.local_response_norm(x, 2)", "i64[2,3,4]", "i64[3,5,4]"),
    function("F.local_response_norm(x, 3, alpha=0.001, beta=0.5, k=2.0)", "f64[2,3,4]", "f64[3,3,5]"),
    function("F.local_response_norm(x, 3)", VOLUMES, "f32[2,2,6,7,8]"),
]

CASES = SHUFFLES + PATCHES + SAMPLING + NORMALIZATION
