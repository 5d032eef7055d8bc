"""Files that exposed defects in tests of others, with the correct results.

Each kind of defect is covered by the test families in `docs/dev/soundness.md`; these are the files themselves.
Expected numbers are from runs of the runtime.
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from shapeinf import infer_shapes
from shapeinf.cli.main import main
from shapeinf.errors import ShapeInferenceError
from tests.vectors import ROOT

FOLDER = ROOT / "findings"
TRACT = FOLDER / "23_tract_dialect"

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="findings are not there: set SHAPEINF_CONFORMANCE to the folder that holds them"
)

REFUSED = {
    "nested_flat": "needs 'extension KHR_enable_operator_expressions;'",
    "tractwrites_sym_name": "'<Sym0>' is not declared",  # nor does tract read it again
}
BROKEN = {"deconv_g4_IO", "deconv_g4_tr", "deconv_nnef"}
"""Filters whose axes are not in tract's order, which tract rejects as well."""


def errors(result):
    return [diagnostic for diagnostic in result.diagnostics if diagnostic.severity == "error"]


ENDLESS = (
    "02_recursion_dim_param/model.onnx",
    "09_floor_tower_hang/model30.onnx",
    "13_peak_blowup/model.onnx",
    "14_tract_asserts_hang/model.nnef",
    "18_terminal_escape/model.onnx",
    "19_csv_formula/model.onnx",
)


@pytest.mark.parametrize("name", ENDLESS)
def test_queries_of_hard_files_terminate(name):
    result = infer_shapes(FOLDER / name)
    texts = [str(shape) for shape in result.tensors.values()]
    assert max(map(len, texts)) < 20_000
    assert str(result.contract)
    assert str(result.memory().peak)


def test_an_external_location_that_is_no_path():
    with pytest.raises(ShapeInferenceError, match="location"):
        infer_shapes(FOLDER / "17_external_data_nul" / "model.onnx")


def test_a_pool_larger_than_its_input():
    """All queries return the same verdict, that of onnxruntime."""
    ort = pytest.importorskip("onnxruntime")
    path = FOLDER / "mini_pool.onnx"
    result, session = infer_shapes(path), ort.InferenceSession(str(path))
    assert not errors(result)
    (value,) = session.get_inputs()
    for size in range(1, 9):
        (real,) = session.run(
            None, {value.name: np.zeros([d if isinstance(d, int) else size for d in value.shape], "f")}
        )
        assert result.contract.check(H=size).verdict is True
        assert tuple(result.program()(H=size)["y"].ravel()) == real.shape
        assert result.memory().peak.at(H=size).bytes >= real.nbytes


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("18_terminal_escape", ("--html", "page.html")),
        ("19_csv_formula", ("--bind", "N=4,M=3", "--export", "table.csv")),
    ],
)
def test_names_of_a_file_reach_neither_terminal_nor_table_as_they_are(name, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(main, ["memory", str(FOLDER / name / "model.onnx"), *options])
    assert answer.exception is None or isinstance(answer.exception, SystemExit)
    assert answer.output
    assert not [c for c in answer.output if c != "\n" and not c.isprintable()]
    for table in tmp_path.glob("*.csv"):
        assert not [line for line in table.read_text(encoding="utf-8").splitlines() if line[:1] in "=+-@\t"]


TRACT_DOCUMENTS = sorted({path.name for path in TRACT.glob("*") if path.suffix != ".json"})


@pytest.mark.parametrize("name", TRACT_DOCUMENTS)
def test_documents_of_tract(name):
    stem = name.removesuffix(".nnef")
    if stem in REFUSED:
        with pytest.raises(ShapeInferenceError) as refused:
            infer_shapes(TRACT / name)
        assert REFUSED[stem] in str(refused.value)
        return
    result = infer_shapes(TRACT / name)
    assert bool(errors(result)) is (stem in BROKEN)
    truth = TRACT / f"{name}.tr.json"
    if truth.exists():
        store = json.loads(truth.read_text(encoding="utf-8"))["facts"]
        ours = [",".join(map(str, result.tensors[output].shape)) for output in result.graph.outputs]
        assert [line.rpartition(",")[0] for line in store] == ours
