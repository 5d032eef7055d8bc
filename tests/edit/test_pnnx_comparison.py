"""Networks of PNNX compared: two traces of one network, and a trace with the export of the network to ONNX."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapeinf import diff, infer_shapes

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "pnnx"


def differences(before, after, **options):
    first, second = (infer_shapes(str(FOLDER / name), **options) for name in (before, after))
    return diff(first, second)


def shapes_by_name(reported):
    return {(d.part, d.name): (d.before, d.after) for d in reported}


def test_two_traces_of_one_network_differ_in_their_input_only():
    static, dynamic = (
        "float32[1, 3, 16, 20]",
        "float32[pnnx_input_0.shape[0], 3, pnnx_input_0.shape[2], pnnx_input_0.shape[3]]",
    )
    assert shapes_by_name(differences("cnn.pnnx.param", "cnn_dyn.pnnx.param")) == {("input", "0"): (static, dynamic)}
    assert shapes_by_name(differences("cnn_dyn.pnnx.param", "cnn.pnnx.param")) == {("input", "0"): (dynamic, static)}
    assert not differences("cnn_dyn.pnnx.param", "cnn_dyn.pnnx.param")


def test_slices_that_pnnx_deletes_change_outputs():
    """In a trace at two sizes pnnx takes `?` for `?`: `y[:, 1:]` and `x[:, ::2]` return their inputs."""
    reported = shapes_by_name(differences("slices.pnnx.param", "slices_dyn.pnnx.param"))
    outputs = {name: shapes for (part, name), shapes in reported.items() if part == "output"}
    n, s = "pnnx_input_0.shape[0]", "pnnx_input_0.shape[1]"
    assert outputs["outputs[0] (6, 4)"] == ("float32[1, 8, 5]", f"float32[{n}, 8, {s}]")
    assert outputs["outputs[2] (8, 0)"] == ("float32[1, 3, 8]", f"float32[{n}, {s}, 8]")
    assert "outputs[3] (11, 8)" not in outputs
    removed = {name for (part, name), shapes in reported.items() if part == "tensor" and shapes[1] is None}
    assert removed == {"3 of Tensor.slice_4", "4 of Tensor.slice_6"}


@pytest.mark.parametrize("options", [{}, {"declared": "ignore"}])
def test_a_trace_at_one_size_and_an_export(options):
    """Values correspond by position, and all but the inputs are compared at the traced sizes."""
    assert shapes_by_name(differences("cnn.pnnx.param", "cnn.onnx", **options)) == {
        ("input", "inputs[0] (0, x)"): ("float32[1, 3, 16, 20]", "float32[n, 3, h, w]")
    }


def test_two_inputs_and_an_export():
    reported = shapes_by_name(differences("slices.pnnx.param", "slices.onnx", declared="ignore"))
    assert reported == {
        ("input", "inputs[0] (0, x)"): ("float32[1, 6, 8]", "float32[n, s, 8]"),
        ("input", "inputs[1] (1, m)"): ("float32[1, 5, 8]", "float32[n, t, 8]"),
    }


def test_the_dims_of_a_dynamic_trace_have_no_names():
    reported = shapes_by_name(differences("cnn_dyn.pnnx.param", "cnn.onnx"))
    assert {name: shapes for (part, name), shapes in reported.items() if part != "condition"} == {
        name: ("no name", name) for name in "nhw"
    }


def test_a_wrong_dynamic_trace_and_an_export():
    reported = shapes_by_name(differences("slices_dyn.pnnx.param", "slices.onnx", declared="ignore"))
    outputs = {name.partition(" ")[0]: shapes for (part, name), shapes in reported.items() if part == "output"}
    assert outputs["outputs[0]"] == ("float32[pnnx_input_0.shape[0], 8, pnnx_input_0.shape[1]]", "float32[n, 8, s - 1]")
    assert outputs["outputs[2]"][1] == "float32[n, (s + 1)//2, 8]"


def test_named_axes_of_both_are_equal():
    sizes = [["n", 3, "h", "w"]]
    reported = differences("cnn_dyn.pnnx.param", "cnn.onnx", inputs=sizes)
    assert [d.part for d in reported if d.part not in ("condition",)] == []
    assert differences("cnn.pnnx.param", "cnn_dyn.pnnx.param", inputs=sizes) == []


def test_relations_of_open_axes_are_in_the_contract():
    contract = infer_shapes(str(FOLDER / "slices_dyn.pnnx.param")).contract
    assert any("pnnx_input_0.shape[1] == pnnx_input_1.shape[1]" in p.text for p in contract.preconditions)
