"""OpenVINO, the second runtime for ONNX models, agrees too. Needs the extra `openvino`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from shapeinf import InferenceOptions
from shapeinf.cli import main
from shapeinf.errors import MissingPackageError
from shapeinf.runtime import Verification, verify
from tests.engine.runtime import parsed
from tests.runtime.cases import CHOICE, ENDLESS, MATMUL, VERIFIED
from tests.runtime.corpus import MISSING, TRUTHS, corpus_cases, model_name, runs

REFUSED = {
    "keras_cnn.tf+qop": "QLinearMatMul",  # its translation fails
    "keras_rnn.tf": "Loop",  # the initial state of an axis that grows must be static there
    "resnet18.ts+ortall": "com.microsoft.nchwc.Conv",  # operators of onnxruntime's optimizer
    "resnet18.ts+qop": "com.microsoft.QGemm",
    "sequence_ops.os": "SplitToSequence",  # sequences are supported in few forms
    "sk_columns.sk": "output_probability",  # outputs that are sequences of maps
    "sk_onehot_str.sk": "ai.onnx.ml.OneHotEncoder",
    "sk_poly_rf.sk": "ReduceProd",  # refuses the element type of its constant axes
    "sk_scaler_pca_logreg.sk": "output_probability",
    "sk_tfidf.sk": "output_probability",
    "sk_voting.sk": "ai.onnx.ml.Normalizer",
    "stft_mel_center.dyn": "ReduceSum",
    "tf_while_map.tf": "Loop",
}
"""Models of the corpus that OpenVINO 2026.4 does not read, with a part of its message."""

MAX_SKIPPED = 7
"""Tensors of a model that OpenVINO has under no name, or as an output of a body: constants, unused outputs."""


def openvino_verify(text: str, **options: Any) -> Verification:
    pytest.importorskip("openvino", reason="openvino is not installed: no second runtime agrees")
    return verify(parsed(text), runtime="openvino", **options)


@pytest.mark.parametrize(
    ("text", "expected"),  # tensors, exact, bounded, outputs in buffers
    [
        *VERIFIED,
        pytest.param("g (double[n] x) => (int64[n] y) { y = Cast<to = 7>(x) }", (1, 1, 0, 1), id="64 bits"),
    ],
)
def test_models_are_verified(text: str, expected: tuple[int, int, int, int]) -> None:
    verification = openvino_verify(text)
    assert verification.ok, str(verification)
    run = verification.runs[0]
    assert (run.tensors, run.exact, run.bounded, run.bound) == expected, str(verification)
    assert verification.runtime.startswith("openvino 2")


@pytest.mark.parametrize("sizes", [{"batch": 1, "seq": 1}, {"batch": 7, "seq": 2}, {"batch": 0, "seq": 3}])
def test_sizes(sizes: dict[str, int]) -> None:
    assert openvino_verify(MATMUL, at=[sizes]).ok


def test_a_false_declaration_is_a_mismatch() -> None:
    x = np.array([0.0, 1.0, 2.0], np.float32)
    text = CHOICE.replace("float[1, m] y", "float[1, 3] y")
    mismatches = openvino_verify(text, arrays={"x": x}).mismatches
    assert {(mismatch.tensor, mismatch.by) for mismatch in mismatches} >= {("y", "bound"), ("y", "symbolic")}
    assert any("float32[1, 2] in the runtime, float32[1, 3] by inference" in str(m) for m in mismatches)
    assert openvino_verify(text, arrays={"x": x}, options=InferenceOptions(declared="ignore")).ok


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("g (float[n] x) => (float[n] y) { y = my.Own(x) }", "my.Own"),
        ("g (float[2] x, float[3] z) => (float[2] y) { y = Add(x, z) }", "shape"),
        ("g (string[n] x) => (int64[1] y) { y = Shape(x) }", "input x has element type string"),
    ],
)
def test_a_refused_model_is_not_verified(text: str, message: str) -> None:
    verification = openvino_verify(text)
    assert not verification.ok and verification.refused
    assert message in verification.runs[0].refused


def test_a_tensor_without_a_name_is_listed() -> None:
    text = """g (float[n, 2] x) => (float[n] y) { s = SplitToSequence<axis = 1, keepdims = 0>(x)
        i = Constant<value = int64 {1}>() y = SequenceAt(s, i) }"""
    run = openvino_verify(text).runs[0]
    assert run.ok and run.tensors == 1
    assert {skipped.tensor for skipped in run.skipped} == {"s", "i"}


def test_a_run_that_takes_too_long_is_refused() -> None:
    """In a separate process, since OpenVINO does not cancel a loop, which continues in its thread."""
    pytest.importorskip("openvino", reason="openvino is not installed: no second runtime agrees")
    program = f"""
import os
from shapeinf.runtime import verify
from tests.engine.runtime import parsed
print(verify(parsed({ENDLESS!r}), runtime="openvino", timeout=0.2).runs[0].refused, flush=True)
os._exit(0)
"""
    root = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join([str(root), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.stdout == "stopped after 0.2 seconds\n", done.stderr


def test_the_command_line(tmp_path: Path) -> None:
    pytest.importorskip("openvino", reason="openvino is not installed: no second runtime agrees")
    path = tmp_path / "model.onnx"
    path.write_bytes(parsed(MATMUL).SerializeToString())
    result = CliRunner().invoke(main, ["verify", str(path), "--runtime", "openvino", "--bind", "batch=2,seq=5"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("openvino 2") and result.output.endswith("verified\n")


def test_without_the_package_the_error_has_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'shapeinf\[openvino\]'"):
        verify(parsed(MATMUL), runtime="openvino")


@pytest.mark.skipif(not TRUTHS, reason=MISSING)
@pytest.mark.parametrize("path", corpus_cases(6))
def test_every_tensor_of_the_corpus_has_its_inferred_type(path: Path) -> None:
    """Real runs on OpenVINO's CPU device, with dynamic dims, at the three bindings of the reference data."""
    pytest.importorskip("openvino", reason="openvino is not installed: no second runtime agrees")
    refused = REFUSED.get(model_name(path))
    for model, binding, arrays, tensors in runs(path):
        verification = verify(model, at=[binding], arrays=arrays, runtime="openvino")
        run = verification.runs[0]
        if refused is not None:
            assert refused in run.refused and not run.mismatches, str(verification)
            continue
        assert verification.ok, str(verification)
        assert run.tensors >= tensors - MAX_SKIPPED and len(run.skipped) <= MAX_SKIPPED
        assert run.unknown == 0, "an element type or a rank is not known"
