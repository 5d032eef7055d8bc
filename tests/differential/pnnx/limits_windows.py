"""Windows, padding, resizing and operators on images at the limits of their sizes."""

from __future__ import annotations

from tests.differential.pnnx.limits import Limit

PLANES = ("f32[1,3,?,?]", "f32[?,2,5,5]", "f32[2,?,5,5]", "f32[?,5,4]", "f32[5,5]", "f32[1,1,1,5,5]")
LINES = ("f32[1,3,?]", "f32[?,3,6]", "f32[2,?,6]", "f32[?,6]", "f32[6]", "f32[1,1,3,6]")
VOLUMES = ("f32[1,2,4,?,?]", "f32[1,?,5,5,5]", "f32[?,5,5,5]", "f32[5,5,5]")
SHAPES = {1: LINES, 2: PLANES, 3: VOLUMES}
SMALL = tuple(range(5))


def listed(value, rank):
    """The text of a list with a value for each axis."""
    return "(" + ",".join([str(value)] * rank) + ")"


def pools(kind, attributes, expression, ranks=(1, 2, 3)):
    """A pool with 1, 2 and 3 spatial axes; numbers in `attributes` stand for all axes."""
    return [
        Limit(
            f"F.{kind}{rank}d $input=0 " + " ".join(f"{name}={listed(v, rank)}" for name, v in attributes.items()),
            f"F.{kind}{rank}d({expression})",
            SHAPES[rank],
            SMALL,
        )
        for rank in ranks
    ]


def ceil_pools(kind, attributes, expression, ranks=(1, 2, 3)):
    """As `pools`, in ceil mode."""
    return [
        Limit(
            f"{limit.operator} ceil_mode=True",
            limit.expression.removesuffix(")") + ", ceil_mode=True)",
            limit.inputs,
            limit.sizes,
        )
        for limit in pools(kind, attributes, expression, ranks)
    ]


WINDOWS = [
    *pools("max_pool", {"kernel_size": 3, "stride": 2, "padding": 1}, "x, 3, 2, 1"),
    *pools("max_pool", {"kernel_size": 2, "dilation": 3}, "x, 2, dilation=3"),
    *ceil_pools("max_pool", {"kernel_size": 3, "stride": 2}, "x, 3, 2"),
    *ceil_pools("max_pool", {"kernel_size": 3, "stride": 5, "padding": 1}, "x, 3, 5, 1"),
    *ceil_pools("max_pool", {"kernel_size": 4, "stride": 1, "padding": 2}, "x, 4, 1, 2"),
    *pools("max_pool", {"kernel_size": 3, "padding": 2}, "x, 3, padding=2"),
    *pools("max_pool", {"kernel_size": 2, "padding": 2, "dilation": 3}, "x, 2, padding=2, dilation=3"),
    *pools("avg_pool", {"kernel_size": 3}, "x, 3"),
    *pools("avg_pool", {"kernel_size": 3, "padding": 1}, "x, 3, padding=1"),
    *ceil_pools("avg_pool", {"kernel_size": 3, "stride": 2, "padding": 1}, "x, 3, 2, 1"),
    *ceil_pools("avg_pool", {"kernel_size": 2, "stride": 5}, "x, 2, 5"),
    *pools("avg_pool", {"kernel_size": 3, "padding": 2}, "x, 3, padding=2"),
    *pools("lp_pool", {"kernel_size": 2}, "x, 2, 2"),
    *ceil_pools("lp_pool", {"kernel_size": 3, "stride": 2}, "x, 2, 3, 2"),
    *pools("adaptive_avg_pool", {"output_size": 2}, "x, 2"),
    *pools("adaptive_max_pool", {"output_size": 2}, "x, 2"),
    Limit(
        "F.max_pool2d $input=0 kernel_size=(2,2) return_indices=True",
        "F.max_pool2d(x, 2, return_indices=True)",
        PLANES,
        SMALL,
        2,
    ),
]

CONVOLUTIONS = [
    Limit("F.conv1d $input=0 $weight=1", "F.conv1d(x, y)", ("f32[1,?,?] f32[2,3,3]", "f32[1,3,?] f32[?,3,2]")),
    Limit("F.conv1d $input=0 $weight=1 groups=2", "F.conv1d(x, y, groups=2)", ("f32[1,?,5] f32[?,2,3]",)),
    Limit("F.conv1d $input=0 $weight=1 padding=same", "F.conv1d(x, y, padding='same')", ("f32[1,2,?] f32[2,2,?]",)),
    Limit(
        "F.conv2d $input=0 $weight=1 padding=(1,1) dilation=(2,2) stride=(2,2)",
        "F.conv2d(x, y, padding=1, dilation=2, stride=2)",
        ("f32[1,2,?,?] f32[2,2,3,3]", "f32[?,4,5] f32[2,2,3,3]", "f32[1,1,4,5] f32[2,1,?,2]", "f32[4,5] f32[1,1,1,1]"),
    ),
    Limit("F.conv3d $input=0 $weight=1", "F.conv3d(x, y)", ("f32[?,2,?,3,4] f32[2,2,2,2,2]",)),
    Limit("F.conv2d $input=0 $weight=1 $bias=2", "F.conv2d(x, y, z)", ("f32[1,2,3,4] f32[?,2,2,2] f32[?]",)),
    Limit(
        "F.conv_transpose1d $input=0 $weight=1 padding=(2) stride=(2)",
        "F.conv_transpose1d(x, y, padding=2, stride=2)",
        ("f32[1,?,?] f32[2,3,3]", "f32[1,3,?] f32[3,2,?]"),
    ),
    Limit(
        "F.conv_transpose2d $input=0 $weight=1 groups=2 output_padding=(1,1) dilation=(2,2) padding=(3,3)",
        "F.conv_transpose2d(x, y, groups=2, output_padding=1, dilation=2, padding=3)",
        ("f32[1,?,3,?] f32[?,1,3,3]", "f32[?,3,4] f32[2,2,3,3]", "f32[?,2,3,4] f32[2,2,3,3]"),
    ),
    Limit(
        "F.conv_transpose2d $input=0 $weight=1 output_padding=(1,1)",
        "F.conv_transpose2d(x, y, output_padding=1)",
        ("f32[1,2,3,?] f32[2,1,3,3]",),
    ),
    *(
        Limit(
            f"nn.Conv1d in_channels=2 out_channels=3 kernel_size=(4) padding={padding} padding_mode={mode}",
            f"nn.Conv1d(2, 3, 4, padding={padding if padding.isdigit() else repr(padding)}, padding_mode='{mode}')(x)",
            ("f32[1,2,?]", "f32[?,2,5]", "f32[?,5]"),
        )
        for mode in ("reflect", "replicate", "circular")
        for padding in ("2", "same", "0")
    ),
]

PADDING = [
    Limit(
        f"F.pad $input=0 mode={mode} pad=({','.join(map(str, pad))})",
        f"F.pad(x, {pad}, mode='{mode}')",
        ("f32[1,3,?]", "f32[?,3,4]", "f32[2,?,4]", "f32[?,4]", "f32[?]", "f32[1,2,?,?]"),
        SMALL,
    )
    for mode in ("constant", "reflect", "replicate", "circular")
    for pad in ((2, 1), (-1, 2), (2, -1), (-3, 2), (-2, -1), (0, 0), (1, 2, 3, 1))
    if mode != "circular" or -3 not in pad
] + [
    Limit(
        f"F.pad $input=0 mode={mode} pad=({','.join(map(str, pad))})",
        f"F.pad(x, {pad}, mode='{mode}')",
        ("f32[1,2,?,?]", "f32[?,2,3,3]", "f32[1,?,4,4]", "f32[?,?,4]", "f32[2,3]", "f32[1,1,1,4,4]"),
        SMALL,
    )
    for mode in ("constant", "reflect", "replicate", "circular")
    for pad in ((2, 1, 0, -1), (-1, -1, -2, 3))
    if (mode, pad[0]) != ("circular", -1)  # torch copies overlapping elements, or refuses
]

SIZES = [
    *(
        Limit(f"F.interpolate $input=0 mode={mode} {text}", f"F.interpolate(x, mode='{mode}', {arguments})", shapes)
        for mode, shapes in (
            ("nearest", ("f32[1,2,?]", "f32[?,2,3]", "f32[1,?,3]", "f32[?,3]")),
            ("bilinear", ("f32[1,2,?,?]", "f32[?,2,3,2]", "f32[1,?,2,3]", "f32[1,2,3]", "f32[1,2,3,4,5]")),
            ("area", ("f32[1,2,?,?]", "f32[?,2,3,2]", "f32[1,?,2,3]", "f32[2,3]")),
        )
        for text, arguments in (
            ("size=3", "size=3"),
            ("scale_factor=0.4", "scale_factor=0.4"),
            ("scale_factor=1.5", "scale_factor=1.5"),
        )
    ),
    Limit(
        "F.interpolate $input=0 mode=nearest size=(3,4)",
        "F.interpolate(x, size=(3, 4))",
        ("f32[1,2,?,?]", "f32[1,2,3]", "f32[1,2,3,4,5]"),
    ),
    Limit(
        "F.interpolate $input=0 mode=bilinear scale_factor=(0.29,0.57)",
        "F.interpolate(x, scale_factor=(0.29, 0.57), mode='bilinear')",
        ("f32[1,1,?,?]",),
        (1, 2, 4, 7, 50, 100, 200),
        rounded=True,
    ),
]

IMAGES = [
    Limit(
        "F.pixel_shuffle $input=0 upscale_factor=2", "F.pixel_shuffle(x, 2)", ("f32[?,?,3]", "f32[1,?,2,2]", "f32[4,4]")
    ),
    Limit(
        "F.pixel_unshuffle $input=0 downscale_factor=2",
        "F.pixel_unshuffle(x, 2)",
        ("f32[?,?,?]", "f32[?,2,4,2]", "f32[4,4]"),
        SMALL,
    ),
    Limit("nn.ChannelShuffle groups=2", "nn.ChannelShuffle(2)(x)", ("f32[?,?,3]", "f32[2,4]", "f32[1,?,2,2]")),
    Limit(
        "F.unfold $input=0 kernel_size=(2,3) padding=(1,0) stride=(2,1) dilation=(1,2)",
        "F.unfold(x, (2, 3), (1, 2), (1, 0), (2, 1))",
        ("f32[1,2,?,?]", "f32[?,2,4,5]", "f32[1,?,4,5]", "f32[?,4,5]", "f32[6,6]"),
    ),
    Limit(
        "F.fold $input=0 output_size=(3,4) kernel_size=(2,2)",
        "F.fold(x, (3, 4), 2)",
        ("f32[1,?,6]", "f32[2,4,?]", "f32[?,4,6]", "f32[?,6]", "f32[4]"),
        tuple(range(10)),
    ),
    Limit(
        "F.fold $input=0 output_size=(3,1) kernel_size=(2,2)", "F.fold(x, (3, 1), 2)", ("f32[1,4,?]",), tuple(range(4))
    ),
    Limit(
        "nn.MaxUnpool2d kernel_size=(2,2) padding=(0,0) stride=(2,2)",
        "nn.MaxUnpool2d(2)(x, y * 0)",
        (
            "f32[1,2,?,?] i64[1,2,?,?]",
            "f32[?,2,3,3] i64[2,2,3,3]",
            "f32[2,?,3,3] i64[2,2,3,3]",
            "f32[2,3,3] i64[2,3,3]",
        ),
        (0, 1, 2),
    ),
    Limit(
        "nn.MaxUnpool2d kernel_size=(3,2) padding=(1,0) stride=(2,3)",
        "nn.MaxUnpool2d((3, 2), (2, 3), (1, 0))(x, y * 0)",
        ("f32[1,2,2,?] i64[1,2,2,?]", "f32[1,2,?,2] i64[1,2,?,2]", "f32[3,3] i64[3,3]"),
        (1, 2, 3),
    ),
    Limit(
        "F.grid_sample $input=0 $grid=1",
        "F.grid_sample(x, y)",
        (
            "f32[1,2,?,3] f32[1,?,4,2]",
            "f32[?,2,3,4] f32[?,3,4,2]",
            "f32[1,?,3,4] f32[1,3,4,?]",
            "f32[1,2,3,4] f32[1,2,3]",
            "f32[1,2,3,4,5] f32[1,2,3,4,?]",
            "f32[1,2,3] f32[1,2,1]",
        ),
        SMALL,
    ),
    Limit(
        "F.affine_grid $theta=0 size=(2,3,4,5)",
        "F.affine_grid(x, (2, 3, 4, 5))",
        ("f32[?,2,3]", "f32[2,?,3]", "f32[2,2,?]", "f32[2,3]"),
        SMALL,
    ),
    Limit("F.affine_grid $theta=0 size=(1,1,1,2,0)", "F.affine_grid(x, (1, 1, 1, 2, 0))", ("f32[1,3,4]",)),
    Limit(
        "F.local_response_norm $input=0 size=2",
        "F.local_response_norm(x, 2)",
        ("f32[2,?,?]", "f32[?,3]", "f32[1,?,2,2]"),
    ),
]

LIMITS = WINDOWS + CONVOLUTIONS + PADDING + SIZES + IMAGES
