"""The pytest plugin as users have it: found by its entry point, without a cost until a test uses it.

The runs are processes of their own: pytester forgets the modules that a run in this process imports, and extension
modules cannot be imported twice.
"""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
CONVNET = str(ROOT / "examples" / "convnet.onnx")


@pytest.fixture
def environment(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with the metadata of an installed distribution, whether or not this one is installed anew."""
    metadata = pytester.mkdir("site") / "shapeinf_like-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: shapeinf-like\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text("[pytest11]\nshapeinf = shapeinf.pytest_plugin\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(metadata.parent), str(ROOT)]))
    return pytester


def run(environment: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    """A run without the plugins of this environment but ours."""
    environment.makepyfile(test)
    others = [entry.name for entry in entry_points(group="pytest11") if entry.name != "shapeinf"]
    return environment.runpytest_subprocess(*(word for name in others for word in ("-p", f"no:{name}")), *options)


USED = f"""
import onnx
from shapeinf import Shape

def test_passes(assert_shapes, shapeinf_check):
    result = assert_shapes({CONVNET!r}, {{"mask": "float32[1..8, 1, ?, width]"}}, dims={{"batch": "1..8"}})
    assert result.coverage.known == 7
    assert shapeinf_check({CONVNET!r}, ignore=["S1"]) == []

def test_shapes_differ(assert_shapes):
    assert_shapes({CONVNET!r}, {{"half": "[batch, 8, 16, width//2]"}}, bind={{"height": 64}})

def test_check_fails(shapeinf_check):
    shapeinf_check(onnx.parser.parse_model('''
        <ir_version: 8, opset_import: ["": 18]>
        g (float[n, 3] x, float[4, 5] w) => (float[n, 5] y) {{ [product] y = MatMul(x, w) }}
    '''))

def test_sizes_differ():
    assert Shape((1, 2, 3)) == (1, 2, 4)

def test_ranks_differ():
    assert (1, 2) == Shape((1, 2, 3))

def test_a_list():
    assert Shape((1, 2)) == [1, 2]

def test_unknown_ranks():
    assert Shape.unknown() == Shape.unknown()
"""


def test_failures_say_what_differs_and_why(environment: pytest.Pytester) -> None:
    result = run(environment, USED)
    result.assert_outcomes(passed=1, failed=6)
    result.stdout.fnmatch_lines(
        [
            "E*expected  [[]batch, 8, 16, width//2[]]",
            "E*inferred  float32[[]batch, 8, 32, width//2[]]",
            "E*axis 2 is 32, not 16",
            "E*half.shape[[]2[]] = 32 by MaxPool (version 18) half/MaxPool from *",
            "E*1 error*",
            "E*error[[]S101[]]: *3, 4*",
            "E*--> product *MatMul*",
            "E*axis 2: 3 == 4",
            "E*the ranks are 2 and 3",
            "E*a shape equals a tuple of its dims, not a list",
            "E*a shape of unknown rank equals only itself",
        ]
    )
    result.stdout.no_fnmatch_line("*testing/models.py*")


UNUSED = """
import sys

def test_imports(pytestconfig):
    assert pytestconfig.pluginmanager.has_plugin("shapeinf")
    assert not {"shapeinf.api", "onnx", "numpy", "networkx", "attrs"} & set(sys.modules)
"""


def test_a_run_without_a_model_imports_nothing(environment: pytest.Pytester) -> None:
    run(environment, UNUSED).assert_outcomes(passed=1)


SWITCHED_OFF = """
def test_functions_are_there(request):
    assert not request.config.pluginmanager.has_plugin("shapeinf")
    from shapeinf.testing import assert_shapes

def test_fixtures_are_not(assert_shapes):
    pass
"""


def test_the_plugin_can_be_switched_off(environment: pytest.Pytester) -> None:
    result = run(environment, SWITCHED_OFF, "-p", "no:shapeinf")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["E*fixture 'assert_shapes' not found"])


def test_the_entry_point_of_the_package_is_the_one_tested_here() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nshapeinf = "shapeinf.pytest_plugin"\n' in text
