"""Archives that an exporter of torch modules wrote for tract, with the shapes in torch."""

import json

import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from tests.vectors import ROOT

FOLDER = ROOT / "nnef_torch"
DATA = ("nonzero", "masked_select", "unique")
"""Archives whose shapes depend on data; only ranks are compared."""

NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def test_archives_exist():
    if not NAMES:
        pytest.skip("nnef_torch is not there: set SHAPEINF_CONFORMANCE to the folder that holds it")


def sizes_of(truth):
    """The sizes of the symbols of a document when torch ran."""
    axes = (
        (int(name[2:]), int(axis), symbol) for name, of in truth["dynamic_axes"].items() for axis, symbol in of.items()
    )
    return {symbol: truth["inputs"][index][axis] for index, axis, symbol in axes}


@pytest.mark.parametrize("name", NAMES)
def test_shapes_are_those_of_torch(name):
    truth = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    result = infer_shapes(FOLDER / f"{name}.nnef.tgz")
    sizes = sizes_of(truth)
    assert [d for d in result.diagnostics if d.severity == "error"] == []
    for output, shape in zip(result.graph.outputs, truth["outputs"], strict=False):
        inferred = result.tensors[output].shape
        assert len(inferred) == len(shape)
        if not any(word in name for word in DATA):
            assert [evaluate(dim, sizes) for dim in inferred] == shape, (output, inferred)
