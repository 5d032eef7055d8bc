"""`patched`: where code looks a function up, it gets the one of shapeinf, and afterwards the original one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import onnx
import onnx.shape_inference
import pytest

from shapeinf.compat import onnx as functions
from shapeinf.compat import onnxruntime as tool
from shapeinf.compat import patched

ORIGINAL = onnx.shape_inference.infer_shapes
SELECTED = '<ir_version: 8, opset_import: ["" : 17]> g (float[n, 4] x) => (int64[?, ?] y) { y = NonZero(x) }'
ROOT = Path(tool.__file__).parents[2]


@pytest.fixture
def user() -> Iterator[ModuleType]:
    """A module that has imported a function of onnx by name."""
    module = sys.modules["module_of_a_user"] = ModuleType("module_of_a_user")
    exec("from onnx.shape_inference import infer_shapes as infer, infer_shapes_path", vars(module))
    yield module
    del sys.modules["module_of_a_user"]


def named(infer: object) -> bool:
    """Whether this function writes a name for a size that depends on data, as shapeinf does."""
    model = onnx.parser.parse_model(SELECTED)
    assert callable(infer)
    return [d.dim_param for d in infer(model).graph.output[0].type.tensor_type.shape.dim] == ["", "y_count"]


def test_functions_of_onnx_by_every_name(user: ModuleType) -> None:
    assert not named(onnx.shape_inference.infer_shapes)
    with patched():
        assert named(onnx.shape_inference.infer_shapes)
        assert named(user.infer)
        exec("from onnx.shape_inference import infer_shapes as later", vars(user))
        assert named(user.later)
    for function in (onnx.shape_inference.infer_shapes, user.infer, user.later):
        assert function is ORIGINAL
    assert user.infer_shapes_path is onnx.shape_inference.infer_shapes_path


def test_names_of_the_drop_in_module_stay(user: ModuleType) -> None:
    exec("from shapeinf.compat.onnx import infer_shapes as own", vars(user))
    with patched():
        assert user.own is functions.infer_shapes
    assert user.own is functions.infer_shapes
    assert named(user.own)


def test_names_are_restored_after_an_exception(user: ModuleType) -> None:
    with pytest.raises(ZeroDivisionError), patched():
        raise ZeroDivisionError
    assert user.infer is onnx.shape_inference.infer_shapes is ORIGINAL


def test_nested_and_repeated_use() -> None:
    for _ in range(2):
        with patched():
            with patched():
                assert named(onnx.shape_inference.infer_shapes)
            assert named(onnx.shape_inference.infer_shapes)
        assert onnx.shape_inference.infer_shapes is ORIGINAL


def test_the_last_of_overlapping_threads_restores() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with patched():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    with patched():
        thread.start()
        inside.wait(60)
    assert named(onnx.shape_inference.infer_shapes)
    leave.set()
    thread.join()
    assert onnx.shape_inference.infer_shapes is ORIGINAL


def test_a_name_that_was_replaced_meanwhile_stays(user: ModuleType) -> None:
    with patched():
        user.infer = len
    assert user.infer is len


def test_a_schema_of_your_own_is_inferred_by_onnx_inside() -> None:
    """The function of onnx that `infer_node_outputs` falls back on is the original one."""
    parameter = onnx.defs.OpSchema.FormalParameter
    own = onnx.defs.OpSchema(
        "Own", "my", 1, inputs=[parameter("a", "tensor(float)")], outputs=[parameter("b", "tensor(float)")]
    )
    node = onnx.helper.make_node("Own", ["x"], ["y"], domain="my")
    types = {"x": onnx.helper.make_tensor_type_proto(1, [2])}
    with patched():
        assert list(onnx.shape_inference.infer_node_outputs(own, node, types)) == ["y"]


# -- onnxruntime


def test_the_class_of_onnxruntime_and_its_subclasses() -> None:
    pytest.importorskip("sympy")
    module = pytest.importorskip("onnxruntime.tools.symbolic_shape_infer")
    helper = pytest.importorskip("onnxruntime.transformers.shape_infer_helper")
    owners = (module.SymbolicShapeInference, helper.SymbolicShapeInferenceHelper)
    before = [[owner.infer_shapes, owner._preprocess, owner._infer_impl] for owner in owners]
    modules = {name: sys.modules.get(name) for name in ("symbolic_shape_infer", module.__name__)}
    model = onnx.parser.parse_model(SELECTED)
    with patched():
        for owner in owners:
            assert named(owner.infer_shapes)
        inference = helper.SymbolicShapeInferenceHelper(model)
        assert inference.infer({"n": 3})
        assert inference.get_edge_shape("x") == [3, 4]
        assert inference.get_edge_shape("y") == [2, "y_count"]
    assert [[owner.infer_shapes, owner._preprocess, owner._infer_impl] for owner in owners] == before
    assert {name: sys.modules.get(name) for name in modules} == modules


WITHOUT_SYMPY = """
import sys
sys.modules["sympy"] = None
import onnx
from shapeinf.compat import patched
with patched():
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference
    from onnxruntime.quantization.shape_inference import quant_pre_process
    quant_pre_process("m.onnx", "o.onnx")
try:
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference
except ImportError:
    print("not installed")
print([d.dim_param for d in onnx.load("o.onnx").graph.output[0].type.tensor_type.shape.dim])
"""


def test_sympy_is_not_needed(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime.quantization")
    onnx.save(onnx.parser.parse_model(SELECTED), tmp_path / "m.onnx")
    printed = subprocess.run(
        [sys.executable, "-c", WITHOUT_SYMPY],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.splitlines()[-2:] == ["not installed", "['', 'y_count']"]
