"""Rules of tract's operations on graphs of one node; expected types are those of tract's own `output_facts`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opdefs.nnef import nnef
from opdefs.nnef.library import library
from shapeinf import infer_shapes
from shapeinf.errors import ShapeError
from shapeinf.formats.nnef.files.datum_types import dtype_of
from shapeinf.formats.nnef.versions import TRACT
from shapeinf.graph import DeclaredType, Graph, InputContents, Node
from shapeinf.lattice import PartialTensor, Shape
from tests.conformance.tract_types import difference, pieces

NOT_NODES = {"tract_core_external", "tract_core_scan"}
"""Readers turn the first into graph inputs; the second has the rules of `tract_recurrent`."""


def ints(*values, dtype="int64"):
    """A known vector."""
    return PartialTensor(dtype, Shape((len(values),)), values)


def scalar(value, dtype="int64"):
    """A known number."""
    return PartialTensor(dtype, Shape(()), (value,))


def inferred(op, inputs, attributes, outputs=1, before=(), version=TRACT):
    """The result for one node. Inputs are types, known tensors, or None; InputContents may name further ones."""
    graph = Graph("g", "nnef", {"": version}, nodes=list(before))
    names = []
    for i, spec in enumerate(inputs):
        names.append("" if spec is None else f"x{i}")
        if isinstance(spec, PartialTensor):
            graph.constants[f"x{i}"] = spec
        elif isinstance(spec, str) and spec.startswith("="):
            names[-1] = spec[1:]
        elif spec is not None:
            *dims, dtype = pieces(spec)
            graph.inputs.append(f"x{i}")
            dims = tuple(int(d) if d.isdigit() else d.replace("/", "//") for d in dims)
            graph.declared[f"x{i}"] = DeclaredType(dtype_of(dtype), dims)
    graph.outputs = [f"y{i}" for i in range(outputs)]
    graph.nodes.append(Node.make(op, tuple(names), tuple(graph.outputs), attributes))
    return infer_shapes(graph, mode="strict")


def shape_of(axis):
    """A preceding node that computes `size` from an axis of the first input."""
    return (Node.make("shape_of_axis", ("x0",), ("size",), {"axis": axis}),)


SDPA = {"is_causal": False, "datum_type": "f32", "acc_datum_type": "f32"}
STEPS = {"stride": (2, 2), "padding": ((0, 0), (0, 0))}
SCALES, SIZES = ints(1.0, 2.5, dtype="float32"), ints(3.0, 5.0, dtype="float32")

CASES = [
    ("tract_core_erf", ["2,S,f16"], {}, ["2,S,f16"]),
    ("tract_core_is_inf", ["2,S,f16"], {}, ["2,S,bool"]),
    ("tract_core_bitand", ["S,3,i32", "S,i32"], {}, ["S,3,i32"]),
    ("tract_core_cast", ["S,f32"], {"to": "i8"}, ["S,i8"]),
    ("tract_core_cast", ["S,f32"], {"to": "TDim"}, ["S,i64"]),
    ("tract_core_softmax", ["S,4,f32"], {"axes": (1,), "exp": "libc"}, ["S,4,f32"]),
    ("tract_core_rms_norm", ["S,4,f16"], {"axis": 1, "eps": 1e-6}, ["S,4,f16"]),
    ("tract_core_scaled_rms_norm", ["S,4,f16", "4,f32"], {"axis": 1, "out_dt": "f32"}, ["S,4,f32"]),
    ("tract_core_shape_of", ["B,S,f32"], {}, ["2,i64"]),
    ("tract_core_range", [scalar(0), scalar(6), scalar(2)], {}, ["3,i64"]),
    ("tract_core_range", [scalar(6), scalar(0), scalar(-4)], {}, ["2,i64"]),
    ("tract_core_range", [scalar(0.0, "float32"), scalar(1.0, "float32"), scalar(0.25, "float32")], {}, ["4,f32"]),
    ("tract_core_broadcast", ["1,4,f32"], {"shape": (3, 4)}, ["3,4,f32"]),
    ("tract_core_broadcast", ["4,f32"], {"shape": (3, 1)}, ["3,4,f32"]),
    ("tract_core_broadcast", [scalar(0.5, "float32"), ints(2, 3)], {"shape": (InputContents(1), 7)}, ["2,3,7,f32"]),
    ("tract_core_force_eval", ["2,f32", "3,f16"], {"slots": (1, 0)}, ["3,f16", "2,f32"]),
    ("tract_core_downsample", ["S,4,f32"], {"axis": 0, "stride": 2, "modulo": 0}, ["(S+1)/2,4,f32"]),
    ("tract_core_downsample", ["2*S,4,f32"], {"axis": 0, "stride": 2, "modulo": 1}, ["S,4,f32"]),
    ("tract_core_downsample", ["10,f32"], {"axis": 0, "stride": 3, "modulo": 2}, ["3,f32"]),
    ("tract_core_dyn_slice", ["9,S,f32"], {"start": 2, "end": 5, "len": 3, "axis": 0}, ["3,S,f32"]),
    ("tract_core_gather", ["S,4,f16", "2,3,i64"], {"axis": 0}, ["2,3,4,f16"]),
    ("tract_core_gather", [ints(5, 6, 7), ints(2)], {"axis": 0}, ["1,i64"]),
    ("tract_core_gather", ["S,4,u8", "2,i64"], {"axis": 1, "datum_type": "f16"}, ["S,2,f16"]),
    ("tract_core_gather_elements", ["S,4,f16", "2,3,i64"], {"axis": 0}, ["2,3,f16"]),
    ("tract_core_gather_nd", ["B,4,5,f32", "B,2,1,i64"], {"batch_dims": 1}, ["B,2,5,f32"]),
    ("tract_core_scatter_elements", ["S,4,f32", "2,3,i64", "2,3,f32"], {"axis": 0, "reduction": "none"}, ["S,4,f32"]),
    ("tract_core_scatter_nd", ["S,4,f32", "3,1,i64", "3,4,f32"], {"reduction": "add"}, ["S,4,f32"]),
    ("tract_core_topk", ["S,9,f16"], {"k": 3, "axis": 1, "largest": True}, ["S,3,f16", "S,3,i64"]),
    ("tract_core_trilu", ["S,S,f16", scalar(0)], {"upper": True}, ["S,S,f16"]),
    ("tract_core_one_hot", ["S,4,i64"], {"axis": 1, "dim": 7, "value_off": 0.0, "value_on": 1.0}, ["S,7,4,f32"]),
    ("tract_core_one_hot", ["S,4,i64"], {"axis": 2, "dim": 7, "value_off": 0.0, "value_on": 1.0}, ["S,4,7,f32"]),
    ("tract_onnx_non_zero", ["2,3,f32"], {"count_symbol": "n"}, ["2,n,i64"]),
    ("tract_onnx_non_zero", [ints(0, 3, 4)], {"count_symbol": ""}, ["1,2,i64"]),
    ("tract_core_argmax_reduce_last", ["S,4,f32"], {"axes": (1,)}, ["S,1,i64"]),
    ("tract_core_product_reduce", ["S,4,f16"], {"axes": (0,)}, ["1,4,f16"]),
    ("tract_core_einsum", ["B,S,8,f32", "8,5,f32"], {"expr": "bsk,kn->bns", "acc": "f32", "output": ""}, ["B,5,S,f32"]),
    ("tract_core_einsum", ["S,1,f16", "S,4,f16"], {"expr": "ij,ij->i", "acc": "f32", "output": ""}, ["S,f32"]),
    (
        "tract_core_einsum_q",
        [*(None,) * 7, "S,3,i8", "3,4,i8"],
        {"expr": "mk,kn,,,,,,,->mn", "acc": "i32", "output": "qi8(z:0 s:1)"},
        ["S,4,i8"],
    ),
    ("tract_core_matmul", ["B,3,K,f32", "1,K,4,f32"], {"axes": (1, 2, 1, 2, 2, 1)}, ["B,4,3,f32"]),
    ("tract_core_qmatmul", ["3,K,i8", "K,4,i8"], {"axes": (0, 1, 0, 1, 0, 1), "output_type": "i32"}, ["3,4,i32"]),
    ("tract_core_fft", ["S,128,2,f32"], {"axis": 1, "inverse": False}, ["S,128,2,f32"]),
    ("tract_core_stft", ["1,100,2,f32"], {"axis": 1, "frame": 16, "stride": 8}, ["1,11,16,2,f32"]),
    ("tract_core_complex_to_inner_dim", ["S,ComplexF32"], {}, ["S,2,f32"]),
    ("tract_core_inner_dim_to_complex", ["S,2,f64"], {}, ["S,ComplexF64"]),
    ("tract_core_resize", ["2,4,f16", SCALES], {}, ["2,10,f16"]),
    ("tract_core_resize", ["B,2*S,f16", SCALES], {}, ["B,5*S,f16"]),
    ("tract_core_resize", ["2,4,f16", None, SIZES], {}, ["3,5,f16"]),
    ("tract_core_grid_sample", ["B,3,8,8,f32", "B,5,6,2,f32"], {}, ["B,3,5,6,f32"]),
    ("tract_core_gru_epilogue", ["B,12,f32", "B,12,f32", "B,4,f32"], {"hidden": 4}, ["B,4,f32"]),
    ("tract_core_lstm_epilogue", ["B,16,f32", "B,4,f32"], {"hidden": 4}, ["B,4,f32", "B,4,f32"]),
    (
        "tract_core_gru_seq",
        ["B,T,5,f32", "12,5,f32", "12,4,f32", None, "B,1,4,f32"],
        {"hidden": 4, "chunk": 1, "emit_y": 1},
        ["B,T,4,f32", "B,1,4,f32"],
    ),
    (
        "tract_core_gru_seq",
        ["B,T,5,f32", "3,5,f32", "3,1,f32", None, "B,1,1,f32"],
        {"hidden": 1, "emit_y": 0},
        ["B,0,1,f32"],
    ),
    ("tract_transformers_sdpa", ["B,S,8,f16", "B,P,8,f16", "B,P,5,f16"], SDPA, ["B,S,5,f16"]),
    ("tract_transformers_sdpa", ["B,6,S,8,f16", "B,2,P,8,f16", "B,2,P,5,f16", "S,P,f16"], SDPA, ["B,6,S,5,f16"]),
    ("tract_transformers_scaled_masked_softmax", ["B,S,S,f16", "S,S,bool"], {"scale": 0.5}, ["B,S,S,f16"]),
    ("tract_transformers_apply_rope", ["B,S,64,f16", "S,64,f16", "S,64,f16"], {}, ["B,S,64,f16"]),
    (
        "tract_transformers_gdn_recurrent",
        ["B,S,2,8,f16", "B,S,2,8,f16", "B,S,6,8,f16", "B,S,6,f32", "B,S,6,f16", "B,6,8,8,f32"],
        {},
        ["B,S,6,8,f16", "B,6,8,8,f32"],
    ),
    ("tract_qwen35_causal_conv1d_update", ["B,6,S,f16", "6,4,f16", "B,6,4,f32"], {}, ["B,6,S,f16", "B,6,4,f32"]),
    ("tract_qwen35_causal_conv1d_update", ["1,1,4,f16", "4,4,f16", "4,4,f16"], {}, ["1,1,4,f16", "4,4,f16"]),
    ("tract_onnx_ml_direct_lookup", ["S,i64", "9,f32", scalar(0.0, "float32")], {}, ["S,f32"]),
    ("tract_onnx_ml_reverse_lookup", ["S,f32", "9,f32"], {"fallback": 0}, ["S,i32"]),
    ("tract_onnx_ml_tree_ensemble_classifier", ["S,8,f32", "9,u32", "9,u32", "9,u32"], {"n_classes": 4}, ["S,4,f32"]),
    ("tract_onnx_multinomial", ["S,8,f32"], {"dtype": 7, "sample_size": 3}, ["S,3,i64"]),
    ("tract_onnx_random", [], {"datum_type": "f64", "shape": (2, 3)}, ["2,3,f64"]),
    ("tract_pulse_delay", ["1,8,f32"], {"axis": 1, "delay": 4, "overlap": 2}, ["1,10,f32"]),
    ("tract_pulse_pulse_pad", ["1,8,f32"], {"axis": 1, "before": 1, "after": 2}, ["1,8,f32"]),
    ("tract_scan_chunk", ["S,4,f32"], {"axis": 0, "chunk": -2}, ["2,4,f32"]),
    ("tract_scan_full", ["1,4,f32", "S,4,f32"], {"axis": 0, "axes": (0,), "chunks": (1,)}, ["S,4,f32"]),
    ("tract_scan_full", ["3,4,f32", "S,4,f32"], {"axis": 0, "axes": (0,), "chunks": (-2,)}, ["3*((S+1)/2),4,f32"]),
    ("tract_scan_full", ["4,f32", "8,f32", "4,f32"], {"axis": 0, "axes": (0, 0), "chunks": (2, 1)}, ["16,f32"]),
    ("slice", ["9,S,f32"], {"axes": (1,), "begin": (2,), "end": (5,), "stride": ()}, ["9,3,f32"]),
    # an end of 0 is that of the axis behind a begin of 1 or more, with any stride
    *(
        ("slice", ["9,S,f32"], {"axes": (0,), "begin": (begin,), "end": (0,), "stride": (step,)}, [f"{size},S,f32"])
        for begin, step, size in ((0, 1, 0), (0, 2, 0), (1, 1, 8), (9, 1, 0), (3, 2, 3))
    ),
    *((op, ["B,S,f16"], {}, ["B,S,f16"]) for op in ("square", "recip", "tract_core_gelu_approx")),
    ("tract_core_pow_const", ["B,S,i32"], {"exponent": 2.0}, ["B,S,i32"]),
    *((f"tract_{kind}_cumsum", ["B,S,f32"], {"axis": 1}, ["B,S,f32"]) for kind in ("core", "pulse")),
    ("tract_extra_exp_mean_norm", ["B,S,4,f32", "B,4,f32"], {"axis": 1}, ["B,S,4,f32"]),
    ("tract_extra_exp_unit_norm", ["B,S,4,f32", "B,4,f32"], {"axis": 1, "complex": False}, ["B,S,4,f32"]),
    ("tract_extra_exp_unit_norm", ["B,S,4,2,f32", "B,4,f32"], {"axis": 1, "complex": True}, ["B,S,4,2,f32"]),
    ("tract_onnx_resize", ["2,4,f32", SCALES], {}, ["2,10,f32"]),
    ("tract_onnx_grid_sample", ["2,3,8,8,f32", "2,5,6,2,f32"], {}, ["2,3,5,6,f32"]),
    (
        "tract_transformers_dyn_kv_cache",
        ["B,2,5,8,f32"],
        {"axis": 2, "past_sequence_shape": (1, 2, 9, 8), "input_sequence_shape": (1, 2, 5, 8)},
        ["1,2,14,8,f32"],
    ),
    ("tract_transformers_quantized_kv_sdpa", ["B,6,S,8,f16", *["B,2,P,8,f16"] * 2], {"axis": 2}, ["B,6,S,8,f16"]),
    ("tract_transformers_window_kv_sdpa", ["B,2,S,8,f32", *["B,2,S,8,f32"] * 2], {"axis": 2}, ["B,2,S,8,f32"]),
    ("tract_moe_ffn", ["B,S,8,f16", "4,8,f32", "4,8,6,f32", "4,6,8,f32"], {"k": 2}, ["B,S,8,f16"]),
    (
        "tract_moe_ffn",
        ["S,8,f32", "4,8,f32", "4,6,8,f32", "4,8,6,f32"],
        {"k": 2, "expert_layout": "linear"},
        ["S,8,f32"],
    ),
    # a letter of the result alone is 1; a letter of one operand alone is left out
    ("tract_core_einsum", ["1,S,8,f32", "1,5,8,f32"], {"expr": "amk,cnk->bmn", "acc": "f32"}, ["1,S,5,f32"]),
    ("tract_core_einsum", ["B,S,f32"], {"expr": "ij->ijz", "acc": "f32"}, ["B,S,1,f32"]),
    # filters are [K, C/groups, ...], also those of deconvolutions; without groups each of K is one
    *(
        ("deconv", ["1,8,8,8,f32", f"{k},{c},2,2,f32"], {"groups": g, **STEPS}, [f"1,{k},16,16,f32"])
        for k, c, g in ((12, 8, 1), (12, 4, 2), (12, 2, 4), (16, 1, 8), (8, 1, 8), (8, 1, 0), (4, 2, 0), (1, 8, 0))
    ),
    ("conv", ["1,8,8,8,f32", "4,2,2,2,f32"], {"groups": 0, **STEPS}, ["1,4,4,4,f32"]),
    ("deconv", ["1,8,8,8,f32", "6,8,2,2,f32"], {**STEPS, "output_shape": (17, 16)}, ["1,6,17,16,f32"]),
    ("pad", ["B,S,f32"], {"padding": ((1, 1), (0, 0)), "border": "replicated"}, ["B+2,S,f32"]),
    (
        "tract_core_qconv",
        ["1,4,S,i8", "6,2,3,i8", "6,i32", None],
        {"group": 2, "padding": ((0, 0),), "stride": (1,), "dilation": (1,), "border": "constant"},
        ["1,6,S-2,?"],
    ),
    (
        "tract_core_qconv",
        ["1,4,S,i8", "6,2,3,i8", "6,i32", None],
        {"groups": 2, "padding": ((0, 0),), "stride": (1,), "output_dt": "i32"},
        ["1,6,S-2,i32"],
    ),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "expected"), CASES, ids=lambda v: str(v)[:60])
def test_shapes(op, inputs, attributes, expected):
    result = inferred(op, inputs, attributes, len(expected))
    wrong = [difference(dump, result.tensors[f"y{i}"], result.engine.store) for i, dump in enumerate(expected)]
    assert wrong == [None] * len(expected)


AFTER_AN_AXIS = [
    ("tract_core_range", ["3,S,f32", scalar(0), "=size", scalar(1)], {}, "S,i64"),
    ("tract_core_range", ["3,S,f32", scalar(1), "=size", scalar(2)], {}, "S/2,i64"),
    ("tract_core_broadcast", ["3,1,f32", "=size"], {"shape": (1, 3, InputContents(1))}, "1,3,1,f32"),
    ("tract_core_broadcast", ["S,1,f32", "=size"], {"shape": (InputContents(1), 4)}, "S,4,f32"),
    ("tract_core_topk", ["9,S,f32", "=size"], {"k": InputContents(1), "axis": 0}, "S,S,f32"),
    ("tract_core_one_hot", ["9,S,f32", "=size"], {"dim": InputContents(1), "axis": 0}, "S,9,S,f32"),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "expected"), AFTER_AN_AXIS, ids=lambda v: str(v)[:60])
def test_sizes_that_are_values(op, inputs, attributes, expected):
    # The node before reads the first input; operations that have no use for it get the others only.
    axis = 0 if inputs[0].startswith("S") else 1
    graph = inferred("copy", [inputs[0]], {}, before=shape_of(axis)).graph
    names = ["x0"] if op != "tract_core_range" else []
    for i, spec in enumerate(inputs[1:], 1):
        if isinstance(spec, PartialTensor):
            graph.constants[f"x{i}"] = spec
        names.append("size" if isinstance(spec, str) else f"x{i}")
    graph.nodes = [*graph.nodes, Node.make(op, tuple(names), ("z",), attributes)]
    result = infer_shapes(graph, mode="strict")
    assert difference(expected, result.tensors["z"], result.engine.store) is None


WITHOUT_THEIR_VALUES = [
    # sizes that tensors give: not known, or of tensors of unknown rank
    ("tract_core_topk", ["3,S,f32", "1,i64"], {"k": InputContents(1), "axis": 1}, (3, None)),
    ("tract_core_topk", ["3,S,f32", "i64"], {"k": (InputContents(1),), "axis": 1}, (3, None)),
    ("tract_core_one_hot", ["3,S,f32", "i64"], {"dim": InputContents(1), "axis": 0}, (None, 3, "S")),
    ("tract_core_dyn_slice", ["9,S,f32", "i64"], {"start": InputContents(1), "end": 5, "len": 3, "axis": 0}, (3, "S")),
    ("tract_core_broadcast", ["4,f32", "2,i64"], {"shape": (InputContents(1), 4)}, (None, None, 4)),
    ("slice", ["9,S,f32", "i64"], {"axes": (0,), "begin": (InputContents(1),), "end": (5,)}, (None, "S")),
    ("tile", ["9,S,f32", "i64"], {"repeats": (InputContents(1), 1)}, (None, "S")),
    ("reshape", ["9,S,f32", "i64"], {"shape": (3, InputContents(1), 3)}, (3, None, 3)),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "expected"), WITHOUT_THEIR_VALUES, ids=lambda v: str(v)[:60])
def test_a_size_that_is_not_known_costs_no_rank(op, inputs, attributes, expected):
    outputs = 2 if op.endswith("topk") else 1
    shape = inferred(op, inputs, attributes, outputs).tensors["y0"].shape
    assert len(shape) == len(expected)
    for dim, known in zip(shape, expected, strict=True):
        assert known is None or str(dim) == str(known), (shape, expected)


def test_an_attribute_that_no_rule_can_do_without_is_not_known():
    result = inferred("matmul", ["3,3,f32", "3,3,f32", "bool"], {"transposeA": InputContents(2)})
    assert result.tensors["y0"].shape.dims is None


@pytest.mark.parametrize("op", ["max_reduce", "unsqueeze", "squeeze", "concat", "tract_core_softmax"])
def test_axes_from_the_end_are_warnings(op):
    attribute = {"axis": -1} if op == "concat" else {"axes": (-1,)}
    result = inferred(op, ["S,1,f32"], attribute)
    (warning,) = result.diagnostics
    assert warning.severity == "warning" and "counts from the end" in warning.message
    assert result.tensors["y0"].shape.rank == {"unsqueeze": 3, "squeeze": 1}.get(op, 2)


BROKEN = [
    ("tract_transformers_quantized_kv_sdpa", ["1,5,2,8,f32", *["1,2,2,8,f32"] * 2], {"axis": 2}),
    ("tract_extra_exp_mean_norm", ["2,3,4,f32", "2,5,f32"], {"axis": 1}),
    ("tract_extra_exp_unit_norm", ["2,3,4,3,f32", "2,4,f32"], {"axis": 1, "complex": True}),
    ("tract_moe_ffn", ["2,8,f32", "4,8,f32", "4,8,6,f32", "4,6,7,f32"], {"k": 2}),
    ("tract_moe_ffn", ["2,8,f32", "8,5,f32", "4,8,6,f32", "4,6,8,f32"], {"k": 2}),
    ("tract_moe_ffn", ["2,8,f32", "4,8,f32", "4,8,6,f32", "4,6,8,f32"], {"k": 5}),
    ("deconv", ["1,8,8,8,f32", "8,12,2,2,f32"], {"groups": 1, **STEPS}),
    ("deconv", ["1,8,8,8,f32", "12,2,2,2,f32"], {"groups": 2, **STEPS}),
    ("deconv", ["1,8,8,8,f32", "12,1,2,2,f32"], {"groups": 8, **STEPS}),
    ("deconv", ["1,8,8,8,f32", "6,2,2,2,f32"], {"groups": 0, **STEPS}),
    ("tract_core_cast", ["S,f32"], {"to": "f33"}),
    ("tract_core_broadcast", ["3,f32"], {"shape": (4,)}),
    ("tract_core_force_eval", ["2,f32"], {"slots": (1,)}),
    ("tract_core_downsample", ["9,f32"], {"axis": 0, "stride": 0}),
    ("tract_core_topk", ["9,f32"], {"k": 10, "axis": 0}),
    ("tract_core_topk", ["9,f32"], {"k": -1, "axis": 0}),
    ("tract_core_one_hot", ["9,f32"], {"dim": (1, 2), "axis": 0}),
    ("tract_core_einsum", ["2,3,f32", "4,5,f32"], {"expr": "mk,kn->mn", "acc": "f32"}),
    ("tract_core_einsum", ["2,3,f32"], {"expr": "mk,kn->mn", "acc": "f32"}),
    ("tract_core_matmul", ["2,3,f32", "4,5,f32"], {"axes": (0, 1, 0, 1, 0, 1)}),
    ("tract_core_stft", ["1,10,2,f32"], {"axis": 1, "frame": 16, "stride": 8}),
    ("tract_core_resize", ["2,4,f32"], {}),
    ("tract_core_resize", ["2,4,f32", SCALES, SIZES], {}),
    ("tract_core_grid_sample", ["1,3,8,8,f32", "1,5,6,3,f32"], {}),
    ("tract_core_gru_epilogue", ["2,12,f32", "2,12,f32", "2,5,f32"], {"hidden": 4}),
    ("tract_transformers_sdpa", ["1,5,2,8,f32", "1,2,2,8,f32", "1,2,2,8,f32"], SDPA),
    ("tract_transformers_sdpa", ["2,8,f32", "2,8,f32", "2,8,f32"], SDPA),
    ("tract_transformers_scaled_masked_softmax", ["2,3,f32", "4,3,bool"], {"scale": 1.0}),
    ("tract_qwen35_causal_conv1d_update", ["1,6,4,f16", "6,4,f16", "2,6,4,f16"], {}),
    ("tract_scan_next", ["2,4,f32", "2,5,f32"], {}),
    ("tract_scan_full", ["4,f32", "8,f32", "3,f32"], {"axis": 0, "axes": (0, 0), "chunks": (2, 1)}),
]


@pytest.mark.parametrize(("op", "inputs", "attributes"), BROKEN, ids=lambda v: str(v)[:60])
def test_violated_constraints(op, inputs, attributes):
    with pytest.raises(ShapeError):
        inferred(op, inputs, attributes, version=TRACT)


@pytest.mark.parametrize("op", ["tract_resource_get", "tract_core_submodel"])
def test_other_files(op):
    attributes = {"label": "a", "key": "$.b"}
    assert inferred(op, [], attributes).tensors["y0"].shape.dims is None


def test_every_operation_has_a_rule_with_its_names():
    for fragment in library("tract"):
        if not fragment.name.startswith("tract_") or fragment.name in NOT_NODES:
            continue
        op_def = nnef.lookup("", fragment.name, TRACT)
        assert op_def.rule is not None, fragment.name
        declared = {p.name for p in fragment.parameters}
        grouped = {"border", "padding", "stride", "dilation"} if op_def.rule.groups else set()
        assert set(op_def.rule.attributes) | grouped <= declared, fragment.name
        required = [p for p in op_def.inputs if not p.optional]
        assert len(op_def.rule.params) >= len(required) or op_def.rule.variadic, fragment.name


VALUES = {
    "integer": (0, 1, -1, 7, (2,), 10**30),
    "integer[]": ((), (0,), (1, 0), (-1, 5), (0, 1, 0, 1, 0, 1), 3),
    "string": ("f32", "", "ij,jk->ik", "i,,->", "->>", "ab"),
    "scalar": (0.5, 0, float("inf")),
    "scalar[]": ((), (1.0,)),
    "logical": (True, False),
    "(integer, integer)[]": ((), ((0, 1),), ((1, -9), (0, 0))),
}
SHAPES = st.one_of(
    st.none(),
    st.lists(st.one_of(st.integers(0, 4), st.sampled_from(["S", "2*S", "B"]), st.none()), max_size=5).map(tuple),
)
PLAIN = [
    fragment for fragment in library("tract") if fragment.name.startswith("tract_") and fragment.name not in NOT_NODES
]


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_no_input_makes_a_rule_fail(data):
    """Whatever the inputs and attributes are, a rule returns shapes, reports a violation, or leaves sizes unknown."""
    fragment = data.draw(st.sampled_from(PLAIN))
    definition = nnef.lookup("", fragment.name, TRACT)
    graph = Graph("g", "nnef", {"": TRACT})
    names = []
    for i, arg in enumerate(definition.inputs):
        for j in range(data.draw(st.integers(0, 3)) if arg.variadic else 1):
            name = f"x{i}.{j}"
            dims = data.draw(SHAPES)
            dtype = data.draw(st.sampled_from(["float32", "int64", None]))
            if arg.optional and data.draw(st.booleans()):
                name = ""
            elif data.draw(st.integers(0, 4)) == 0:
                graph.constants[name] = data.draw(st.sampled_from([scalar(0), scalar(-3), ints(), ints(1, 2), SCALES]))
            else:
                graph.inputs.append(name)
                graph.declared[name] = DeclaredType(dtype, dims)
            names.append(name)
    attributes = {}
    for parameter in fragment.parameters:
        if str(parameter.type) in VALUES:
            attributes[parameter.name] = data.draw(st.sampled_from(VALUES[str(parameter.type)]))
    outputs = tuple(f"y{i}" for i in range(len(definition.outputs)))
    graph.nodes = [Node.make(fragment.name, tuple(names), outputs, attributes)]
    graph.outputs = list(outputs)
    result = infer_shapes(graph)
    assert [str(d) for d in result.diagnostics if d.code == "S301"] == []
