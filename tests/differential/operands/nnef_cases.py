"""Calls of NNEF's operations: version, name, shapes of inputs (None for an absent one), attributes."""

from __future__ import annotations

from typing import Any

from shapeinf.formats.nnef.versions import FINAL, PROVISIONAL, TRACT

HALF: dict[str, Any] = {"size": (1, 1, 2, 2), "stride": (1, 1, 2, 2)}
AXES: dict[str, Any] = {"axes": (1,)}
AXIS: dict[str, Any] = {"axis": 1}
FACTOR: dict[str, Any] = {"factor": (2, 2)}
CACHE: dict[str, Any] = {
    "name": "c",
    "datum_type": "f32",
    "bits": 8,
    "per_channel": False,
    "axis": 1,
    "past_sequence_shape": (2, 3, 6, 8),
    "input_sequence_shape": (2, 4, 6, 8),
}

ONE_INPUT: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("argmax_pool", "max_pool", "rms_pool", "avg_pool", "box", "debox", "max_pool_with_index"), HALF),
    **dict.fromkeys(("multilinear_upsample", "nearest_upsample"), FACTOR),
    **dict.fromkeys(("nearest_downsample", "area_downsample"), FACTOR),
    **dict.fromkeys(("sum_reduce", "max_reduce", "min_reduce", "mean_reduce", "moments"), AXES),
    **dict.fromkeys(("argmax_reduce", "argmin_reduce", "any_reduce", "all_reduce"), AXES),
    **dict.fromkeys(("l1_normalization", "l2_normalization", "layer_normalization", "unsqueeze"), AXES),
    **dict.fromkeys((f"local_{name}_normalization" for name in ("response", "mean", "variance", "contrast")), HALF),
    "divisive_normalization": {"size": (1, 1, 3, 3)},
    "reshape": {"shape": (2, 24, -1)},
    "transpose": {"axes": (1, 0), "perm": (1, 0)},
    "split": {"axis": 1, "ratios": (1, 3)},
    "slice": {"axes": (1,), "begin": (1,), "end": (3,)},
    "tile": {"repeats": (1, 2, 1, 1)},
    "pad": {"padding": ((0, 0), (1, 2), (0, 0), (0, 0))},
    "copy_n": {"times": 2},
    "add_n": {},
    "concat": AXIS,
    "stack": AXIS,
    "tract_core_submodel": {"label": "a"},
    **dict.fromkeys(("tract_core_softmax", "tract_core_log_softmax", "tract_core_product_reduce"), AXES),
    **dict.fromkeys(("tract_core_argmax_reduce_last", "tract_core_argmin_reduce_last"), AXES),
    **dict.fromkeys(("tract_core_rms_norm", "tract_transformers_rms_norm", "tract_core_cumsum"), AXIS),
    "tract_core_cast": {"to": "f32"},
    "tract_core_broadcast": {"shape": (3, 2, 4, 6, 8)},
    "tract_core_force_eval": {"slots": (0,)},
    "tract_core_downsample": {"axis": 1, "stride": 2},
    "tract_core_dyn_slice": {"axis": 1, "start": 1, "end": 3, "len": 2},
    "tract_core_topk": {"axis": 1, "k": 2, "largest": True},
    "tract_core_one_hot": {"axis": 1, "dim": 7},
    "tract_core_einsum": {"expr": "abcd->dcba", "acc": "f32"},
    "tract_core_fft": {"axis": 1, "inverse": False},
    "tract_transformers_dyn_kv_cache": CACHE,
    "tract_transformers_quantized_dyn_kv_cache": CACHE,
    "tract_pulse_delay": {"axis": 1, "delay": 2, "overlap": 1},
    "tract_pulse_mask": {"axis": 1, "begin": 0, "end": 4, "value": 0.0},
    "tract_pulse_pulse_pad": {
        "axis": 1,
        "before": 1,
        "after": "0",
        "begin_input": 0,
        "end_input": "4",
        "border": "constant",
    },
    "tract_pulse_cumsum": AXIS,
    "softabs": {"epsilon": 0.1},
    "leaky_relu": {"alpha": 0.1},
    "tract_core_pow_const": {"exponent": 2.0},
    "tract_onnx_lrn": {"size": 3},
}
"""The attributes of operations with one input, which is [2, 4, 6, 8]; none for those that are not listed."""

NO_CALL = {"tract_core_load": "its input is a state", "cast": "it requires a type argument, which documents write"}
"""Operations with one input that are not called, with the reason."""

OTHER_INPUT = frozenset({"tract_onnx_multinomial", "squeeze", "unstack", "tract_core_inner_dim_to_complex"})
"""Operations with one input of other sizes, which are in `NNEF_CASES`."""

TREES: dict[str, Any] = {
    **{"n_classes": 3, "max_used_feature": 2, "aggregate_fn": "sum", "binary_result_layout": False},
}
PAIR = ((2, 3, 4), (2, 3))
Q, K = (2, 6, 3, 8), (2, 2, 5, 8)

NNEF_CASES: list[tuple[int, str, tuple[tuple[int, ...] | None, ...], dict[str, Any]]] = [
    (FINAL, "squeeze", ((2, 1, 3),), {"axes": (1,)}),
    (FINAL, "unstack", ((1, 3),), {"axis": 0}),
    (TRACT, "tract_core_inner_dim_to_complex", ((3, 2),), {}),
    (TRACT, "tract_onnx_multinomial", ((2, 3),), {"dtype": 6, "sample_size": 3}),
    (PROVISIONAL, "binary_quantize", ((2, 3), (1, 3), (1, 3), (1, 3)), {}),
    (PROVISIONAL, "ternary_quantize", ((2, 3), *((1, 3),) * 5), {}),
    (PROVISIONAL, "conv", ((2, 3, 8, 1), (4, 3, 3, 1), (1, 4)), {}),
    (PROVISIONAL, "matmul", ((4, 3, 1), (3, 5)), {}),
    (TRACT, "tract_core_store", ((2, 3), (2, 3)), {"id": "s"}),
    *((TRACT, f"tract_core_{op}", PAIR, {}) for op in ("xor", "bitand", "bitor", "bitxor")),
    *((TRACT, op, PAIR, {}) for op in ("tract_shl", "tract_shr")),
    (TRACT, "tract_core_clamped_swiglu", ((2, 3), (2, 3)), {"alpha": 1.0, "limit": 7.0}),
    (TRACT, "tract_core_scaled_rms_norm", ((2, 3), (3,)), {"axis": 1}),
    *((TRACT, f"tract_extra_exp_{op}_norm", ((2, 3, 4), (2, 4)), {"axis": 1, "alpha": 0.5}) for op in ("unit", "mean")),
    (TRACT, "tract_core_range", ((), (), ()), {}),
    (TRACT, "tract_core_gather", ((2, 3, 4), (5,)), {"axis": 1}),
    (TRACT, "tract_core_gather_elements", ((2, 3), (2, 2)), {"axis": 1}),
    (TRACT, "tract_core_gather_nd", ((2, 3, 4), (5, 2)), {}),
    (TRACT, "tract_core_scatter_elements", ((2, 3), (2, 2), (2, 2)), {"axis": 1}),
    (TRACT, "tract_core_scatter_nd", ((2, 3, 4), (5, 2), (5, 4)), {}),
    (TRACT, "tract_core_trilu", ((2, 3, 4), ()), {"upper": True}),
    (TRACT, "tract_core_einsum", ((2, 3), (3, 4)), {"expr": "ab,bc->ac", "acc": "f32"}),
    (
        TRACT,
        "tract_core_einsum_q",
        ((), (), (), (), (), (), (), (2, 3), (3, 4)),
        {"expr": "ab,bc,,,,,,->ac", "acc": "i32", "output": "i8"},
    ),
    (TRACT, "tract_core_matmul", ((2, 3, 4), (2, 4, 5)), {"axes": (1, 2, 1, 2, 1, 2)}),
    (TRACT, "tract_core_qmatmul", ((2, 3, 4), (2, 4, 5), (), *((),) * 6), {"axes": (1, 2, 1, 2, 1, 2)}),
    (TRACT, "tract_core_qconv", ((1, 2, 8), (4, 2, 3), (4,), *((),) * 6), {"padding": ((0, 0),)}),
    (TRACT, "conv", ((1, 2, 8), (4, 1, 3), (4,)), {"groups": 2}),
    (TRACT, "tract_core_stft", ((2, 8, 2), (4,)), {"axis": 1, "frame": 4, "stride": 2}),
    (TRACT, "tract_core_resize", ((1, 2, 8, 8), (4,), None), {"axes": ()}),
    (TRACT, "tract_core_resize", ((1, 2, 8, 8), None, (4,)), {"axes": ()}),
    (TRACT, "tract_onnx_resize", ((1, 2, 8, 8), (4,)), {}),
    *((TRACT, f"tract_{place}_grid_sample", ((2, 3, 4, 5), (2, 6, 7, 2)), {}) for place in ("core", "onnx")),
    (TRACT, "tract_core_gru_epilogue", ((2, 9), (2, 9), (2, 3)), {"hidden": 3}),
    (TRACT, "tract_core_lstm_epilogue", ((2, 12), (2, 3)), {"hidden": 3}),
    (TRACT, "tract_core_gru_seq", ((2, 4, 5), (9, 5), (9, 3), None, (2, 3)), {"hidden": 3, "chunk": 1}),
    (TRACT, "tract_transformers_sdpa", (Q, K, K), {}),
    (TRACT, "tract_transformers_sdpa", (Q, K, K, (2, 6, 3, 5)), {}),
    (TRACT, "tract_transformers_scaled_masked_softmax", ((2, 3, 4), (3, 4)), {"scale": 1.0}),
    (TRACT, "tract_transformers_apply_rope", ((2, 3, 4), (3, 4), (3, 4)), {}),
    *(
        (
            TRACT,
            f"tract_{place}_gdn_recurrent",
            (*((2, 3, 2, 4),) * 2, (2, 3, 2, 4), *((2, 3, 2),) * 2, (2, 2, 4, 4)),
            {},
        )
        for place in ("transformers", "qwen35")
    ),
    *(
        (TRACT, f"tract_{place}_causal_conv1d_update", ((2, 3, 5), (3, 4), (2, 3, 4)), {})
        for place in ("transformers", "qwen35")
    ),
    *(
        (TRACT, f"tract_transformers_{kind}_kv_sdpa", (Q, K, K), {"axis": 2, "window": 4})
        for kind in ("quantized", "window")
    ),
    (
        TRACT,
        "tract_moe_ffn",
        ((2, 4), (3, 4), (3, 4, 5), (3, 5, 4), (3, 4, 5)),
        {"k": 2, "activation": "silu", "gate": "softmax"},
    ),
    (TRACT, "tract_onnx_ml_direct_lookup", ((2, 3), (5,), ()), {}),
    (TRACT, "tract_onnx_ml_reverse_lookup", ((2, 3), (5,)), {"fallback": 0}),
    (
        TRACT,
        "tract_onnx_ml_tree_ensemble_classifier",
        ((2, 3), (1,), (1,), (1,)),
        {"n_classes": 3, "max_used_feature": 2, "aggregate_fn": "sum", "binary_result_layout": False},
    ),
    (TRACT, "tract_onnx_non_max_suppression", ((1, 5, 4), (1, 2, 5), (), (), ()), {}),
]
