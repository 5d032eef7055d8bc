"""Padding of spatial axes, and of any axes."""

from __future__ import annotations

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
    3: ("f32[2,7,8,9]", "f32[2,10,9,12]"),
}
AMOUNTS = {1: "(1, 2)", 2: "(1, 0, 2, 3)", 3: "(0, 1, 2, 3, 1, 1)"}

MODULES = [
    *(module(f"ConstantPad{rank}d", f"{AMOUNTS[rank]}, 3.5", *INPUTS[rank]) for rank in (1, 2, 3)),
    *(module(f"ConstantPad{rank}d", "2, 0", *UNBATCHED[rank]) for rank in (1, 2, 3)),
    module("ConstantPad1d", "(-1, 4), 0.5", LINES, OTHER_LINES),
    module("ConstantPad2d", "(-1, 2, -3, -2), 0.5"),
    module("ConstantPad2d", "(1, 2, 3, 4), 1", "i64[9,8]", "i64[3,5]"),
    module("ConstantPad3d", "(1, 1, -2, 0, 0, 3), 1", "f16[2,7,8,9]", "f16[3,6,5,4]"),
    *(module(f"ReflectionPad{rank}d", AMOUNTS[rank], *INPUTS[rank]) for rank in (1, 2, 3)),
    *(module(f"ReflectionPad{rank}d", "2", *UNBATCHED[rank]) for rank in (1, 2, 3)),
    module("ReflectionPad2d", "(-1, 2, 3, -1)"),
    *(module(f"ReplicationPad{rank}d", AMOUNTS[rank], *INPUTS[rank]) for rank in (1, 2, 3)),
    *(module(f"ReplicationPad{rank}d", "2", *UNBATCHED[rank]) for rank in (1, 2, 3)),
    module("ReplicationPad2d", "(-1, 30, 3, -1)"),
    module("ZeroPad2d", "2"),
    module("ZeroPad2d", "(1, 2, 0, 3)", *UNBATCHED[2]),
    module("ZeroPad2d", "(-1, 2, -4, 3)"),
    *(module(f"CircularPad{rank}d", AMOUNTS[rank], *INPUTS[rank]) for rank in (1, 2, 3)),
]

FUNCTIONS = [
    function("F.pad(x, (1, 2))"),
    function("F.pad(x, (1, 2, 3, 0), value=2.5)"),
    function("F.pad(x, (1, 2, 3, 0, 1, 1, 2, 0))"),
    function("F.pad(x, (-1, 2, 3, -2))"),
    function("F.pad(x, (0, 1))", "i64[5]", "i64[7]"),
    function("F.pad(x, (0, 1, 2, 2))", "bool[5,4]", "bool[7,9]"),
    function("F.pad(x, (1, 2), mode='reflect')", LINES, OTHER_LINES),
    function("F.pad(x, (1, 2), mode='reflect')", *UNBATCHED[1]),
    function("F.pad(x, (1, 2, 15, 0), mode='reflect')"),
    function("F.pad(x, (1, 2, 3, 0), mode='reflect')", *UNBATCHED[2]),
    function("F.pad(x, (1, 2, 3, 0, 1, 1), mode='reflect')", VOLUMES, OTHER_VOLUMES),
    function("F.pad(x, (1, 2), mode='replicate')", LINES, OTHER_LINES),
    function("F.pad(x, (1, 2, 33, -2), mode='replicate')"),
    function("F.pad(x, (1, 2, 3, 0, 1, 1), mode='replicate')", *UNBATCHED[3]),
    function("F.pad(x, (1, 2), mode='circular')", LINES, OTHER_LINES),
    function("F.pad(x, (17, 2, 3, 0), mode='circular')"),
    function("F.pad(x, (1, 2, 3, 0, 1, 1), mode='circular')", VOLUMES, OTHER_VOLUMES),
    function("F.pad(x, (0, y.size(0), 1, 0))", f"{IMAGES} f32[5]", f"{OTHERS} f32[3]"),
    function("F.pad(x, (y.size(0), y.size(1)), mode='reflect')", "f32[1,3,16] f32[5,2]", "f32[2,3,20] f32[3,4]"),
    function("F.pad(x, (0, 32 - x.size(3) % 32, 0, 32 - x.size(2) % 32))"),
    function("F.pad(x, (0, y.size(0) - 4))", f"{IMAGES} f32[5]", f"{OTHERS} f32[3]"),
    function("F.pad(x, (x.size(3) - 1, 1, x.size(2) // 2, 0), mode='reflect')"),
    function("F.pad(x, (x.size(3) // 2, 0, 0, x.size(2)), mode='circular')"),
    function("F.pad(x, (-x.size(2) // 4, 2, 0, 0), mode='replicate')", "f16[2,3,8,9]", "f16[1,3,12,10]"),
    function("F.pad(F.pad(x, (0, 1, 0, 1)), (-1, -1, -1, 0))", "i64[4,5]", "i64[6,4]"),
]

CASES = MODULES + FUNCTIONS
