"""Multiply-accumulates of networks of PNNX against torch's own flop counter, at sizes that pnnx has not seen.

torch counts the products that its operators run, two floating-point operations for each multiply-accumulate.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from tests.cost.record_torch import FAMILIES, RECORDED
from tests.differential.pnnx.case import parse_types
from tests.differential.pnnx.families import FAMILIES as CASES

NETWORKS = Path(__file__).parents[1] / "differential" / "pnnx" / "recorded"
COUNTS = json.loads(RECORDED.read_text(encoding="utf-8"))

MERGED = ("cross-attention",)
"""Networks with equal calls of a module, which pnnx merges: they run fewer products than torch."""
RESAMPLED = ("F.interpolate", "F.upsample", "F.upsample_bilinear", "nn.Upsample", "F.grid_sample", "F.affine_grid")
"""Operators whose interpolation torch does not count."""
VECTORS = "torch does not count products with a vector"
PAIRS = "torch contracts pair by pair, in an order that it chooses"
DIFFERENT = {
    "Gated": VECTORS,
    "F.linear(x, y) f32[3,6] f32[6]": VECTORS,
    "F.linear(x, y) f32[6] f32[6]": VECTORS,
    "torch.matmul(x, y) f32[4] f32[4]": VECTORS,
    "torch.matmul(x, y) f64[2,3,4] f64[4]": VECTORS,
    "torch.mv(x, y) f32[3,4] f32[4]": VECTORS,
    "torch.mv(x, y) f64[1,1] f64[1]": VECTORS,
    "x.mv(y) i64[3,4] i64[4]": VECTORS,
    "torch.einsum('i,ij,j->', x, y, z) f32[3] f32[3,4] f32[4]": PAIRS,
}
"""Networks whose count differs, and the convention; each is no less than that of torch."""


def cost_of(param, sizes):
    """The cost with a symbol for each axis, at the sizes of a run."""
    traced = infer_shapes(param)
    shapes = {
        blob: [f"in{i}_{axis}" for axis in range(len(dims))]
        for i, (blob, dims) in enumerate(zip(traced.graph.inputs, sizes, strict=True))
    }
    least = min([1, *(size for dims in sizes for size in dims)])
    cost = infer_shapes(param, inputs=shapes, declared="ignore", min_dim=least).cost()
    names = {f"in{i}_{axis}": size for i, dims in enumerate(sizes) for axis, size in enumerate(dims)}
    labels = set(cost.labels.values())
    return cost.at({name: size for name, size in names.items() if name in labels})


@pytest.mark.parametrize("family", FAMILIES)
def test_products_are_those_that_torch_counts(family):
    records = json.loads((NETWORKS / f"{family}.json").read_text(encoding="utf-8"))
    compared, wrong = 0, []
    for case in CASES[family]:
        for run in COUNTS.get(f"{family}/{case.name}", ()):
            kind = "dynamic" if "dynamic" in records[case.name] else "static"
            at = cost_of(records[case.name][kind]["param"], [dims for _, dims in parse_types(run["inputs"])])
            if any(size == 0 for _, dims in parse_types(run["inputs"]) for size in dims):
                continue  # how an empty axis broadcasts is not decided for all sizes
            ours, theirs = 2 * sum(n.macs for n in at.nodes if n.op not in RESAMPLED), sum(run["flops"].values())
            compared += 1
            if not (
                ours > theirs if case.name in DIFFERENT else ours < theirs if case.name in MERGED else ours == theirs
            ):
                wrong.append(f"{case.name} at {run['inputs']}: {ours}, torch {run['flops']}, {at.uncounted}")
    assert compared and not wrong, "\n".join(wrong)
