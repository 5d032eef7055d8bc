"""Models that exposed defects in the newest outside tests, with what their README files state as right.

The kinds of defects are covered by the test families of `docs/dev/soundness.md`; these are the files themselves.
"""

from __future__ import annotations

from typing import Any

import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from tests.vectors import ROOT

FOLDER = ROOT / "findings3"

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="findings are not there: set SHAPEINF_CONFORMANCE to the folder that holds them"
)

# Model, options, and the types of tensors.
TYPES: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("fuzz_05_rank_not_propagated_back/ucfm.onnx", {}, {"counts": "int64[2]"}),
    ("onnx_03_loop_zero_trips/lz_neg.onnx", {}, {"z": "float32[0, N, M]"}),
    ("onnx_03_loop_zero_trips/lz_zero_typed.onnx", {}, {"z": "float32[0, N, M]", "cc": "float32[0, N, M]"}),
    ("onnx_10_small_unknowns/p_matmul_shape.onnx", {}, {"y": "float32[N, 2*M]"}),
    ("onnx_10_small_unknowns/p_trilu_gathersz.onnx", {}, {"y": "float32[M, N, M]"}),
    ("onnx_10_small_unknowns/z_nonzero.onnx", {"bind": {"n": 0}, "min_dim": 0}, {"y": "int64[2, 0]"}),
    ("other_01_branch_condition_not_assumed/model.onnx", {}, {"y": "float32[n, 8]"}),
    ("other_03_float_constants_not_folded/model.pbtxt", {}, {"y:0": "complex64[129]"}),
    ("interop_02_nnef_extent_builtin/model.nnef", {}, {"y": "float32[2, 5]"}),
    ("interop_03_nnef_array_lvalue/model.nnef", {}, {"y": "float32[1, 5]"}),
    ("field_03_bound_not_used/model.onnx", {}, {"y": "float32[2*n, 8]"}),
    (
        "field_04_reshape_ceil_half/patches.onnx",
        {},
        {"y": "float32[batch, height//16 - height//32, 2, width//16 - width//32, 2, 16]"},
    ),
]


@pytest.mark.parametrize(("name", "options", "types"), TYPES, ids=[name for name, *_ in TYPES])
def test_types(name: str, options: dict[str, Any], types: dict[str, str]) -> None:
    result = infer_shapes(FOLDER / name, **options)
    assert {tensor: str(result.tensors[tensor]) for tensor in types} == types
    assert result.diagnostics == []


# Model, the dim of `y`, and its size in onnxruntime at sizes of n or h; a bounded unknown must hold it.
SIZES: list[tuple[str, str, dict[int, int]]] = [
    ("fuzz_01_int_wrap_of_symbolic_sizes/add_int32.onnx", "n", dict.fromkeys((1, 5, 100), 0)),
    ("fuzz_01_int_wrap_of_symbolic_sizes/add_int64.onnx", "n", dict.fromkeys((1, 5, 100), 0)),
    ("fuzz_02_float_contents_one_ulp/levels_base_7.onnx", "n", {49: 2, 343: 3, 2401: 4, 16807: 5}),
    ("fuzz_02_float_contents_one_ulp/log49_log7_float32.onnx", "", {0: 2}),
    ("fuzz_02_float_contents_one_ulp/mul_reciprocal_float16.onnx", "", {0: 1}),
    ("fuzz_02_float_contents_one_ulp/float16_size.onnx", "n", {1541: 155}),
    ("fuzz_02_float_contents_one_ulp/range_element.onnx", "", {0: 2}),
]


@pytest.mark.parametrize(("name", "dim", "sizes"), SIZES, ids=[name for name, *_ in SIZES])
def test_sizes_that_numbers_decide(name: str, dim: str, sizes: dict[int, int]) -> None:
    symbolic = infer_shapes(FOLDER / name)
    shapes = [symbolic.tensors[name].shape for name in symbolic.graph.inputs]
    names = {str(symbol) for shape in shapes for d in shape for symbol in _symbols(d)}
    for n, size in sizes.items():
        bound = infer_shapes(FOLDER / name, bind=dict.fromkeys(names, n) if dim else None)
        for result in (symbolic, bound):
            inferred = result.tensors["y"].shape[0]
            if isinstance(inferred, int):
                assert inferred == size
            elif not any(symbol.is_anonymous for symbol in inferred.symbols()):
                assert evaluate(inferred, dict.fromkeys(names, n)) == size
            else:
                assert size in result.interval(inferred)


def _symbols(dim: Any) -> tuple[Any, ...]:
    return () if isinstance(dim, int) else tuple(dim.symbols())


# Model, sizes, and whether onnxruntime runs at them.
VERDICTS: list[tuple[str, dict[str, int], bool]] = [
    *(("rules_02_quantize_scale_symbolic/dequantize.onnx", {"n": n}, n in (1, 4)) for n in (1, 2, 4)),
    *(("rules_02_quantize_scale_symbolic/quantize.onnx", {"n": n}, n in (1, 4)) for n in (1, 2, 4)),
    *(("rules_03_length_of_repeats_and_pads/tile.onnx", {"n": n}, n == 2) for n in (1, 2, 3, 4)),
    *(("fuzz_03_resize_to_zero_false_yes/sizes.onnx", {"h": h, "w": 4}, h > 1) for h in (1, 2, 3)),
    *(("fuzz_04_pad_crop_then_fill/edge_-1_2.onnx", {"n": n}, n > 1) for n in (1, 2, 3)),
    *(("fuzz_04_pad_crop_then_fill/edge_1_-1.onnx", {"n": n}, n != 1) for n in (0, 1, 2, 3)),
    *(("fuzz_04_pad_crop_then_fill/reflect_-1_2.onnx", {"n": n}, False) for n in (1,)),
    *(("fuzz_04_pad_crop_then_fill/reflect_2_-3.onnx", {"n": n}, False) for n in (1, 2, 3)),
    *(("fuzz_06_convtranspose_empty/model.onnx", {"n": n}, n > 0) for n in (0, 1, 2)),
    ("onnx_13_gqa_missing_precondition/gqa_mask.onnx", {"b": 2, "s": 8, "P": 1, "T": 2}, False),
    ("onnx_13_gqa_missing_precondition/gqa_mask.onnx", {"b": 2, "s": 1, "P": 3, "T": 4}, True),
    ("onnx_13_gqa_missing_precondition/gqa_mask.onnx", {"b": 1, "s": 4, "P": 0, "T": 4}, True),
]


@pytest.mark.parametrize(("name", "sizes", "runs"), VERDICTS, ids=[f"{name} {sizes}" for name, sizes, _ in VERDICTS])
def test_check_says_yes_where_onnxruntime_runs(name: str, sizes: dict[str, int], runs: bool) -> None:
    assert infer_shapes(FOLDER / name).contract.check(sizes).verdict is runs


def test_a_wrong_length_that_is_known_is_an_error() -> None:
    result = infer_shapes(FOLDER / "rules_03_length_of_repeats_and_pads/tile_static.onnx")
    assert [d.severity for d in result.diagnostics] == ["error"]


def test_the_bias_of_a_convolution_has_one_element_or_one_for_each_channel() -> None:
    path = FOLDER / "rules_01_nnef_bias_contract/model.nnef"
    contract = infer_shapes(path, inputs={"b": "[1, n]"}).contract
    assert [n for n in range(1, 6) if contract.check({"n": n}).verdict] == [1, 4]
    assert [str(precondition.text) for precondition in contract] == ["n == 4 or n == 1"]


def test_a_numeral_is_a_name() -> None:
    result = infer_shapes(FOLDER / "onnx_05_numeric_dim_param/num_dim.onnx")
    assert not isinstance(result.tensors["x"].shape[0], int)
    assert [d.code for d in result.diagnostics] == ["S110"]


def test_a_sequence_stays_one_after_an_error() -> None:
    result = infer_shapes(FOLDER / "onnx_11_sequence_error_becomes_tensor/err_seqins.onnx")
    assert (result.tensors["t"].kind, result.tensors["t"].dtype) == ("sequence", "float32")


def test_two_forms_of_a_clip_are_one_dim() -> None:
    result = infer_shapes(FOLDER / "other_02_clip_order_not_canonical/model.onnx")
    assert result.tensors["p"].shape[0] is result.tensors["q"].shape[0]


def test_decoded_text_has_the_batch() -> None:
    result = infer_shapes(FOLDER / "other_04_ctc_batch/model.pbtxt")
    assert result.tensors["text:0"].shape[0] is result.tensors["x:0"].shape[1]


def test_the_value_behind_a_loop_is_not_that_of_each_trip() -> None:
    result = infer_shapes(FOLDER / "other_07_v1_loop_symbol_verify/model.pbtxt")
    assert result.tensors["while/Switch_1:1"].shape[0] is not result.tensors["while/Exit_1:0"].shape[0]
