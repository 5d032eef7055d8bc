"""Pooling: windows of a fixed size, and adaptive ones."""

from __future__ import annotations

from tests.differential.pnnx.case import Case
from tests.differential.pnnx.images import (
    IMAGES,
    INPUTS,
    LINES,
    OTHER_LINES,
    OTHER_VOLUMES,
    OTHERS,
    VOLUMES,
    function,
    module,
)

UNBATCHED = {
    1: ("f32[4,19]", "f32[4,24]"),
    2: ("f64[3,16,17]", "f64[3,21,24]"),
    3: ("f64[2,7,8,9]", "f64[2,10,9,12]"),
}


def each_rank(template, inputs=INPUTS):
    """The same pool of 1, 2 and 3 spatial axes; `{n}` in the template is their number."""
    return [function(template.format(n=rank), *inputs[rank]) for rank in inputs]


def modules(name, arguments, inputs=INPUTS, **options):
    """The same module of 1, 2 and 3 spatial axes."""
    return [module(f"{name}{rank}d", arguments, *inputs[rank], **options) for rank in inputs]


PLANES = {rank: INPUTS[rank] for rank in (1, 2)}

MAXIMA = [
    *modules("MaxPool", "2"),
    *modules("MaxPool", "3, stride=2, padding=1, ceil_mode=True"),
    *modules("MaxPool", "2, stride=3, dilation=2, ceil_mode=True", UNBATCHED),
    *modules("MaxPool", "2, stride=2, padding=1, return_indices=True"),
    module("MaxPool2d", "(3, 2), stride=(2, 3), padding=(1, 0), dilation=(1, 2)"),
    module("MaxPool2d", "(3, 2), (1, 5), (1, 1), ceil_mode=True", "f32[2,3,9,11]", "f32[1,3,14,16]"),
    *each_rank("F.max_pool{n}d(x, 2)"),
    *each_rank("F.max_pool{n}d(x, 3, stride=2, padding=1, ceil_mode=True)", inputs=UNBATCHED),
    *each_rank("F.max_pool{n}d(x, 3, stride=1, dilation=2)"),
    *each_rank("F.max_pool{n}d(x, 2, return_indices=True)"),
    function("F.max_pool2d(x, (2, 3), stride=(3, 2), padding=(1, 1), ceil_mode=True, return_indices=True)[1]"),
    module("MaxPool2d", "2", "f32[0,3,8,8]", ""),
    module("MaxPool2d", "3, stride=2, padding=1", "i64[1,3,8,9]", "i64[2,3,7,6]"),
    module("MaxPool1d", "3, stride=2", "f64[3,8]", "f64[2,9]"),
    function("F.max_pool2d(x, 1, 2)", "u8[2,3,8,9]", "u8[1,3,7,7]"),
    function("F.max_pool2d(F.max_pool2d(x, 3, 2, 1, ceil_mode=True), 3, 2, ceil_mode=True)"),
]

MEANS = [
    *modules("AvgPool", "2"),
    *modules("AvgPool", "3, stride=2, padding=1, ceil_mode=True, count_include_pad=False"),
    *modules("AvgPool", "2, stride=3, ceil_mode=True", UNBATCHED),
    module("AvgPool2d", "(3, 2), padding=(1, 0), divisor_override=4"),
    module("AvgPool3d", "(3, 2, 1), divisor_override=4, ceil_mode=True", VOLUMES, OTHER_VOLUMES),
    *each_rank("F.avg_pool{n}d(x, 2)"),
    *each_rank("F.avg_pool{n}d(x, 3, stride=2, padding=1, ceil_mode=True)"),
    *each_rank("F.avg_pool{n}d(x, 3, 4, count_include_pad=False)", inputs=UNBATCHED),
    function("F.avg_pool2d(x, (2, 3), stride=(3, 2), divisor_override=2)"),
]

NORMS = [
    *modules("LPPool", "2, 3", PLANES),
    *modules("LPPool", "2, 3, stride=2, ceil_mode=True", PLANES),
    module("LPPool1d", "1, 2", *UNBATCHED[1]),
    module("LPPool2d", "1.5, (2, 3), stride=(3, 1)"),
    *each_rank("F.lp_pool{n}d(x, 2, 3)", inputs=PLANES),
    *each_rank("F.lp_pool{n}d(x, 2, 3, stride=4, ceil_mode=True)", inputs=PLANES),
    function("F.lp_pool2d(x, 3, (2, 3), (1, 2))", *UNBATCHED[2]),
    function("F.lp_pool2d(x, 2, 2)", "i64[1,3,6,7]", "i64[2,3,5,4]"),
    function("F.avg_pool2d(x, 2)", "i64[1,3,6,7]", "i64[2,3,5,4]"),
]

ADAPTIVE = [
    *modules("AdaptiveAvgPool", "3"),
    *modules("AdaptiveAvgPool", "1", UNBATCHED),
    *modules("AdaptiveMaxPool", "3"),
    *modules("AdaptiveMaxPool", "2, return_indices=True"),
    *modules("AdaptiveMaxPool", "4", UNBATCHED),
    module("AdaptiveAvgPool2d", "(None, 5)"),
    module("AdaptiveAvgPool2d", "(4, None)", *UNBATCHED[2]),
    module("AdaptiveAvgPool3d", "(4, None, None)", VOLUMES, OTHER_VOLUMES),
    module("AdaptiveMaxPool2d", "(None, 5)"),
    module("AdaptiveMaxPool3d", "(None, 2, None), return_indices=True", VOLUMES, OTHER_VOLUMES),
    *each_rank("F.adaptive_avg_pool{n}d(x, 3)"),
    *each_rank("F.adaptive_max_pool{n}d(x, 3)"),
    *each_rank("F.adaptive_max_pool{n}d(x, 2, return_indices=True)", inputs=UNBATCHED),
    function("F.adaptive_avg_pool2d(x, (None, 5))"),
    function("F.adaptive_avg_pool3d(x, (4, None, None))", VOLUMES, OTHER_VOLUMES),
    function("F.adaptive_max_pool2d(x, (3, None))"),
    function("F.adaptive_max_pool2d(x, (x.size(2) // 2, 3))"),
    function("F.adaptive_avg_pool1d(x, x.size(2) - 4)", LINES, OTHER_LINES),
    function("F.adaptive_avg_pool1d(x, 0), F.adaptive_max_pool1d(x, 0)", LINES, OTHER_LINES),
    Case(
        "a computed size that becomes 0",  # a written 0 stands for None
        "F.adaptive_avg_pool2d(x, (x.size(2) // 2, x.size(3)))",
        "f32[1,3,4,5]",
        "f32[2,3,6,7]",
        third="f32[2,3,1,4]",
    ),
    function("F.adaptive_avg_pool2d(x, (y.size(2), y.size(3)))", f"{IMAGES} f32[1,2,3,4]", f"{OTHERS} f32[1,2,5,6]"),
]

CASES = MAXIMA + MEANS + NORMS + ADAPTIVE
