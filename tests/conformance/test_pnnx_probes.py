"""Probes of pnnx's defects: networks are inferred as torch would run them, and malformed ones rejected."""

from __future__ import annotations

import pytest

from shapeinf import diff, infer_shapes
from tests.vectors import ROOT, vectors

FOLDER = ROOT / "pnnx" / "probe"
NETWORKS = sorted(path.name.removesuffix(".pnnx.param") for path in FOLDER.glob("*.param"))
EXPRESSIONS = vectors("pnnx/pnnx_expr.json")
MALFORMED = {
    case["file"].removesuffix(".pnnx.param")
    for case in (EXPRESSIONS or {}).get("real_expressions", ())
    if not case["parses"]
}
"""Networks with an expression that pnnx wrote incorrectly."""
SIZES = {
    "bc_dyn": [({"0": [4, 3, 9], "1": [3, 1]}, {"2": [4, 3, 9]}), ({"0": [1, 3, 1], "1": [3, 1]}, {"2": [1, 3, 1]})],
    "ceilint": [({"0": [1, 2, 5, 7]}, {"1": [1, 2, 13, 4]}), ({"0": [1, 2, 50, 1]}, {"1": [1, 2, 13, 4]})],
    "negfloor": [({"0": [7, 8]}, {"2": [8, 7]}), ({"0": [6, 5]}, {"2": [6, 5]})],
    "noopreshape": [({"0": [3, 5]}, {"2": [5, 3]}), ({"0": [1, 4]}, {"2": [4, 1]})],
    "permq": [({"0": [3, 5]}, {"1": [5, 3], "2": [1, 3, 5], "3": [1, 1, 3, 5], "4": [1, 1, 6, 10]})],
    "sameq": [({"0": [3, 5]}, {"0": [3, 5]})],
    "shape_cat": [({"0": [3, 5]}, {"0": [3, 5]})],
}
"""Sizes of inputs, and the results in torch, for the arithmetic as written in the file."""


def test_the_probes_are_there():
    if not NETWORKS:
        pytest.skip(f"{FOLDER.name} is not there: set SHAPEINF_CONFORMANCE to the folder that holds it")
    assert EXPRESSIONS is not None


def read(name):
    return (FOLDER / f"{name}.pnnx.param").read_text(encoding="utf8")


@pytest.mark.parametrize("name", NETWORKS)
def test_annotations_hold(name):
    """Each annotated number is inferred if all sizes are known; nothing contradicts an annotation."""
    result = infer_shapes(read(name), declared="check")
    if name in MALFORMED:
        (error,) = [d for d in result.diagnostics if d.severity == "error"]
        assert "malformed" in error.message
        return
    assert [str(d) for d in result.diagnostics] == []
    for value, declared in result.graph.declared.items():
        inferred = result.tensors[value]
        assert inferred.dtype == declared.dtype
        assert inferred.shape.rank == len(declared.dims)
        if not any(None in result.graph.declared[x].dims for x in result.graph.inputs):
            assert inferred.shape.dims == declared.dims


@pytest.mark.parametrize("name", [name for name in NETWORKS if name in SIZES])
def test_sizes_of_runs(name):
    for inputs, outputs in SIZES[name]:
        result = infer_shapes(read(name), inputs=inputs)
        assert {value: list(result.tensors[value].shape) for value in outputs} == outputs
        symbolic = infer_shapes(read(name))
        sizes = {
            f"pnnx_input_{i}.shape[{axis}]": size
            for i, value in enumerate(symbolic.graph.inputs)
            for axis, size in enumerate(inputs[value])
            if not isinstance(symbolic.tensors[value].shape[axis], int)
        }
        shapes = symbolic.program()(sizes)
        assert {value: [int(size) for size in shapes[value].reshape(-1)] for value in outputs} == outputs


@pytest.mark.parametrize("name", [name for name in ("sameq", "shape_cat") if name in NETWORKS])
def test_a_deleted_slice_leaves_the_input_as_the_output(name):
    result = infer_shapes(read(name))
    assert result.graph.outputs == result.graph.inputs
    assert not result.graph.nodes
    assert result.memory().peak.at(**{f"pnnx_input_0.shape[{axis}]": 4 for axis in (0, 1)}).bytes == 0


@pytest.mark.skipif(not (ROOT / "pnnx" / "nets" / "views.pnnx.param").exists(), reason="the network is not there")
def test_diff_reports_the_deleted_slice():
    """The slice `x[::, 1:-1]` remains in a static trace; a dynamic trace returns `x`."""
    static, dynamic = (ROOT / "pnnx" / "nets" / f"{name}.pnnx.param" for name in ("views", "views_dyn"))
    differences = diff(static, dynamic)
    assert [(d.part, d.name) for d in differences] == [("input", "0"), ("output", "outputs[5] (7, 0)")]
    assert differences[1].before == "float32[1, 3, 6]"
    assert differences[1].after == "float32[1, pnnx_input_0.shape[1], pnnx_input_0.shape[2]]"
