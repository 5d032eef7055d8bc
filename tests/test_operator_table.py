"""The table of operators in the docs follows from the registry, and every operator has a rule."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import onnx.defs
import pytest

from opdefs.onnx.schemas import MICROSOFT
from opdefs.tf.schemas import names
from shapeinf.compilation import is_compiled
from shapeinf.ops import default_registry

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "operators.md"
TENSORFLOW = ROOT / "docs" / "operators-tensorflow.md"
PNNX = ROOT / "docs" / "operators-pnnx.md"
TFLITE = ROOT / "docs" / "operators-tflite.md"


def tool():
    spec = importlib.util.spec_from_file_location("make_operator_table", ROOT / "tools" / "make_operator_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_rule(operators):
    lookup = default_registry().dialect("onnx").lookup
    names = []
    for domain, name, version in operators:
        op_def = lookup(domain, name, version)
        if op_def is None or (op_def.rule is None and op_def.expand is None):
            names.append(f"{domain or 'ai.onnx'}.{name} since {version}")
    return names


def test_every_operator_of_the_installed_onnx_has_a_rule():
    schemas = onnx.defs.get_all_schemas_with_history()
    assert len(schemas) > 600
    assert not without_rule((s.domain, s.name, s.since_version) for s in schemas)


def test_every_operator_of_onnx_runtime_has_a_rule():
    assert len(list(MICROSOFT)) == 158
    assert not without_rule(MICROSOFT)


@pytest.mark.skipif(is_compiled(), reason="the tool reads the source of rules")
def test_the_table_is_not_stale():
    page = PAGE.read_text(encoding="utf-8")
    if f"registry and onnx {onnx.__version__};" not in page:
        pytest.skip(f"the table was made with another onnx than the installed {onnx.__version__}")
    assert page == tool().text(), "run: python tools/make_operator_table.py"


@pytest.mark.skipif(is_compiled(), reason="the tool reads the source of rules")
def test_the_table_of_tensorflow_is_not_stale():
    page = TENSORFLOW.read_text(encoding="utf-8")
    assert page == tool().tensorflow_text(), "run: python tools/make_operator_table.py"


def test_every_operator_of_tensorflow_is_in_its_table():
    words = set(re.findall(r"[\w>]+", TENSORFLOW.read_text(encoding="utf-8")))
    assert not [name for name in names() if name not in words]


@pytest.mark.skipif(is_compiled(), reason="the tool reads the source of rules")
def test_the_table_of_pnnx_is_not_stale():
    page = PNNX.read_text(encoding="utf-8")
    assert page == tool().pnnx_text(), "run: python tools/make_operator_table.py"


@pytest.mark.skipif(is_compiled(), reason="the tool reads the source of rules")
def test_the_table_of_tensorflow_lite_is_not_stale():
    page = TFLITE.read_text(encoding="utf-8")
    assert page == tool().tflite_text(), "run: python tools/make_operator_table.py"


@pytest.mark.skipif(is_compiled(), reason="the tool reads the source of rules")
@pytest.mark.parametrize(
    ("name", "reads", "contents", "back"),
    [
        ("Shape", False, "yes", False),
        ("Add", True, "yes", True),
        ("Reshape", True, "yes", True),
        ("Conv", False, "layer", True),
        ("Relu", True, "yes", False),
        ("Sigmoid", True, "yes", False),
        ("MatMul", True, "yes", True),
        ("TopK", True, "yes", True),
        ("Identity", False, "yes", False),
        ("Loop", True, "flow", True),
        ("LSTM", False, "layer", True),
    ],
)
def test_traits_of_rules_are_detected(name, reads, contents, back):
    lookup = default_registry().dialect("onnx").lookup
    summary = tool().summarize(lookup("", name, 0))
    assert (bool(summary.reads), summary.contents, summary.back) == (reads, contents, back)
