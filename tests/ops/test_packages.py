"""Third-party operator packages: a defect is reported by name and affects nothing else."""

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from shapeinf.ops.registry import ENTRY_POINTS, InstalledDialects, OpRegistry

ROOT = Path(__file__).parents[2]

BASE = "from shapeinf.ops import Dialect\ntoy = Dialect('toy')\n@toy('Same')\ndef same(c, x):\n    return x\n"
MODULES = {
    "toy_base": BASE,
    "toy_more": "from toy_base import toy\n@toy('More')\ndef more(c, x):\n    return x\n",
    "toy_broken": "import there_is_no_such_module\n",
    "toy_failing": "raise SystemError('out of order')\n",
    "toy_twice": "from toy_base import toy\n@toy('Same')\ndef again(c, x):\n    return x\n",
    "toy_other": "from shapeinf.ops import Dialect\nother = Dialect('other')\nsecond = Dialect('toy')\n",
}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda **entries: InstalledDialects(
        EntryPoint(name.replace("_", "."), value, ENTRY_POINTS) for name, value in entries.items()
    )
    for name in MODULES:
        sys.modules.pop(name, None)


def test_additions_to_a_dialect_are_loaded_with_it(installed):
    dialects = installed(toy="toy_base:toy", toy_more="toy_more:toy")
    assert [op for _, op, _ in dialects.get("toy")] == ["More", "Same"]
    assert dialects.problems("toy") == []


WRONG = {
    "toy_broken:toy": "cannot be loaded: ModuleNotFoundError: No module named 'there_is_no_such_module'",
    "toy_failing:toy": "cannot be loaded: SystemError: out of order",
    "toy_missing:toy": "cannot be loaded: ModuleNotFoundError: No module named 'toy_missing'",
    "toy_twice:toy": "cannot be loaded: OpDefError: toy has two rules for .Same since version 1",
    "toy_base:tooy": "cannot be loaded: AttributeError: module 'toy_base' has no attribute 'tooy'",
    "toy_other": "is an object of the type module, not a Dialect",
    "toy_other:other": "is the dialect 'other', but has the name of 'toy'",
    "toy_other:second": "is not used: it defines a second dialect 'toy' instead of adding to the existing one",
}


@pytest.mark.parametrize("value", WRONG)
def test_a_broken_package_is_named_and_the_others_work(installed, value):
    dialects = installed(toy="toy_base:toy", toy_a=value, toy_more="toy_more:toy")
    assert [op for _, op, _ in dialects.get("toy")] == ["More", "Same"]
    assert dialects.problems("toy") == [f"the entry point 'toy.a' {WRONG[value]}"]


def test_a_broken_dialect_is_named(installed):
    dialects = installed(toy="toy_broken:toy")
    assert dialects.get("toy") is None
    (problem,) = dialects.problems("toy")
    assert "the entry point 'toy' cannot be loaded" in problem


def test_an_addition_to_no_dialect_is_named(installed):
    dialects = installed(toy="toy_base:toy", tooy_more="toy_more:toy")
    (problem,) = dialects.problems("toy")
    assert problem.startswith("the entry point 'tooy.more' is not used: no installed package has a dialect 'tooy'")


def test_an_interrupted_load_is_repeated_the_next_time(installed, monkeypatch):
    dialects = installed(toy="toy_base:toy")
    with monkeypatch.context() as patched:
        patched.setattr(EntryPoint, "load", lambda entry: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            dialects.get("toy")
    assert dialects.get("toy").name == "toy"


def test_a_module_that_is_loaded_again_brings_its_rules_again(installed):
    import importlib

    dialects = installed(toy="toy_base:toy", toy_more="toy_more:toy")
    toy = dialects.get("toy")
    importlib.reload(sys.modules["toy_more"])
    assert [op for _, op, _ in toy] == ["More", "Same"]


def test_a_registry_without_packages_has_none():
    assert OpRegistry().dialect("toy") is None
    assert OpRegistry().problems("toy") == []


# -- packages that are really installed: metadata on the path, a process of its own

CHILD = """
import json, sys
from onnx import helper
from shapeinf import infer_shapes
def model(op, domain):
    node = helper.make_node(op, ["x"], ["y"], domain=domain)
    values = [helper.make_tensor_value_info("x", 1, ["n", 3]), helper.make_empty_tensor_value_info("y")]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    return helper.make_model(helper.make_graph([node], "g", values[:1], values[1:]), opset_imports=imports)
for op, domain in ("Relu", ""), ("Same", "com.acme"):
    result = infer_shapes(model(op, domain))
    print(json.dumps([str(result.tensors["y"].shape), [f"{d.code}: {d.message}" for d in result.diagnostics]]))
"""


def answers(folder, **entries):
    """The output of a fresh process for a standard operator and for one of a package with these entry points."""
    lines = "\n".join(f"{name.replace('_', '.')} = {value}" for name, value in entries.items())
    rule = "from opdefs.onnx import onnx\n@onnx('Same', domain='com.acme')\ndef same(c, x):\n    return x\n"
    (folder / "acme_shapes.py").write_text(rule)
    (folder / "acme_broken.py").write_text("1 / 0\n")
    info = folder / "acme_shapes-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-shapes\nVersion: 2.1\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{lines}\n")
    path = os.pathsep.join([str(folder), str(ROOT), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        capture_output=True,
        text=True,
        check=True,
        env=env,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_package_adds_operators(tmp_path):
    assert answers(tmp_path, onnx_acme="acme_shapes:onnx") == [["[n, 3]", []], ["[n, 3]", []]]


def test_a_broken_package_disables_nothing_else(tmp_path):
    standard, own = answers(tmp_path, onnx_acme="acme_broken:onnx")
    name = "S401: the entry point 'onnx.acme' of the package acme-shapes 2.1"
    expected = f"{name} cannot be loaded: ZeroDivisionError: division by zero"
    assert standard == ["[n, 3]", [expected]]
    assert own[0] == "?"
    assert own[1][0] == expected


def test_a_package_under_another_name_is_named_where_operators_are_missing(tmp_path):
    standard, own = answers(tmp_path, acme="acme_shapes:onnx")
    assert standard == ["[n, 3]", []]
    assert own[1][0].startswith("S402: the entry point 'acme' of the package acme-shapes 2.1 is not in use")
    assert "named 'onnx.NAME'" in own[1][0]
