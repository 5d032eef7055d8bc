"""Convolutions and transposed convolutions."""

from __future__ import annotations

from tests.differential.pnnx.images import IMAGES, LINES, OTHER_LINES, OTHER_VOLUMES, OTHERS, VOLUMES, function, module

CHANNELS, OTHER_CHANNELS = "f32[1,4,7,9]", "f32[2,4,10,12]"


def weighted(forward, image, other, weights):
    """A function of an input and of weights, which do not change."""
    return function(forward, f"{image} {weights}", f"{other} {weights}")


CONVOLUTIONS = [
    module("Conv2d", "3, 8, 3"),
    module("Conv2d", "3, 8, 3", "f32[3,16,17]", "f32[3,21,24]"),
    module("Conv2d", "3, 8, (3, 5), stride=(2, 3), padding=(1, 0), dilation=(1, 2)"),
    module("Conv2d", "3, 6, 3, padding='same', groups=3, bias=False"),
    module("Conv2d", "3, 6, (2, 4), padding='same', dilation=2"),
    module("Conv2d", "3, 6, 3, padding='valid', stride=2"),
    module("Conv2d", "3, 6, 3, padding=2, padding_mode='reflect'"),
    module("Conv2d", "3, 6, 3, padding=(1, 2), padding_mode='replicate', stride=2"),
    module("Conv2d", "3, 6, 3, padding=2, padding_mode='circular'"),
    module("Conv2d", "3, 6, 4, padding='same', padding_mode='reflect'"),
    module("Conv1d", "4, 6, 3, stride=2, padding=1", LINES, OTHER_LINES),
    module("Conv1d", "4, 6, 4, padding='same'", LINES, OTHER_LINES),
    module("Conv1d", "4, 6, 3, padding=3, padding_mode='circular', groups=2", LINES, OTHER_LINES),
    module("Conv1d", "4, 6, 3", "f32[4,19]", "f32[4,24]"),
    module("Conv3d", "2, 4, 3, padding=1, stride=(1, 2, 3)", VOLUMES, OTHER_VOLUMES),
    module("Conv3d", "2, 4, (1, 2, 3), bias=False", "f32[2,7,8,9]", "f32[2,10,9,12]"),
    module("Conv3d", "2, 4, 3, padding=1, padding_mode='replicate'", VOLUMES, OTHER_VOLUMES),
    weighted("F.conv1d(x, y, z, stride=2, padding=1)", LINES, OTHER_LINES, "f32[6,4,3] f32[6]"),
    weighted("F.conv1d(x, y, padding='same')", LINES, OTHER_LINES, "f32[6,4,4]"),
    weighted("F.conv2d(x, y, stride=2, padding=1)", IMAGES, OTHERS, "f32[8,3,3,3]"),
    weighted("F.conv2d(x, y, padding='valid', groups=3)", IMAGES, OTHERS, "f32[6,1,3,2]"),
    weighted("F.conv2d(x, y, z, dilation=(2, 1))", "f64[3,16,17]", "f64[3,21,24]", "f64[8,3,3,3] f64[8]"),
    weighted("F.conv3d(x, y, stride=2)", VOLUMES, OTHER_VOLUMES, "f32[4,2,3,2,1]"),
    weighted("F.conv3d(x, y, z, padding='same')", VOLUMES, OTHER_VOLUMES, "f32[4,2,3,2,1] f32[4]"),
    function("F.conv2d(x, y)", "f32[1,3,16,17] f32[8,3,3,3]", "f32[2,5,21,24] f32[6,5,4,5]"),
    function("F.conv1d(x, y, padding='same', groups=2)", "f32[1,4,9] f32[6,2,4]", "f32[2,4,12] f32[4,2,3]"),
    module("Conv2d", "3, 3, 1, groups=3, bias=False, dtype=torch.float64", "f64[1,3,1,4]", "f64[2,3,3,1]"),
    module(
        "Conv2d", "3, 4, 3, padding=(2, 1), padding_mode='reflect', dilation=2, stride=2", "f32[3,9,8]", "f32[3,12,9]"
    ),
]

TRANSPOSED = [
    module("ConvTranspose1d", "4, 6, 3", LINES, OTHER_LINES),
    module("ConvTranspose1d", "4, 6, 5, stride=3, padding=1, output_padding=2, dilation=2", LINES, OTHER_LINES),
    module("ConvTranspose1d", "4, 6, 3, stride=2, groups=2", "f32[4,9]", "f32[4,11]"),
    module("ConvTranspose2d", "4, 6, 3", CHANNELS, OTHER_CHANNELS),
    module(
        "ConvTranspose2d",
        "4, 6, (3, 2), stride=(2, 3), padding=(1, 0), output_padding=(1, 2), bias=False",
        CHANNELS,
        OTHER_CHANNELS,
    ),
    module("ConvTranspose2d", "4, 6, 3, groups=2, dilation=2, padding=3", "f32[4,7,9]", "f32[4,10,12]"),
    module("ConvTranspose2d", "4, 6, 3, stride=2", "f32[2,4,9,9]", forward="m(x, output_size=(20, 19))", others=""),
    module(
        "ConvTranspose2d",
        "4, 6, 3, stride=2",
        CHANNELS,
        OTHER_CHANNELS,
        "m(x, output_size=(2 * x.size(2) + 2, 2 * x.size(3) + 1))",
    ),
    module("ConvTranspose1d", "4, 6, 3, stride=3", LINES, OTHER_LINES, "m(x, output_size=[3 * x.size(2) + 1])"),
    module("ConvTranspose3d", "2, 4, 3, stride=2, padding=1, output_padding=1", VOLUMES, OTHER_VOLUMES),
    module("ConvTranspose3d", "2, 4, (1, 2, 3), bias=False", "f32[2,7,8,9]", "f32[2,10,9,12]"),
    weighted("F.conv_transpose1d(x, y, z, stride=2, padding=1)", LINES, OTHER_LINES, "f32[4,6,3] f32[6]"),
    weighted("F.conv_transpose1d(x, y, groups=2, output_padding=1, stride=3)", LINES, OTHER_LINES, "f32[4,3,2]"),
    weighted("F.conv_transpose2d(x, y, stride=2)", CHANNELS, OTHER_CHANNELS, "f32[4,6,3,2]"),
    weighted("F.conv_transpose2d(x, y, z, 1, (1, 0), 0, 2, (2, 3))", CHANNELS, OTHER_CHANNELS, "f32[4,3,3,2] f32[6]"),
    weighted("F.conv_transpose3d(x, y, stride=(1, 2, 1))", VOLUMES, OTHER_VOLUMES, "f32[2,4,3,2,1]"),
    weighted(
        "F.conv_transpose3d(x, y, z, output_padding=(0, 1, 0), stride=(1, 2, 1))",
        "f32[2,5,4,3]",
        "f32[2,5,6,7]",
        "f32[2,4,3,2,1] f32[4]",
    ),
]

CASES = CONVOLUTIONS + TRANSPOSED
