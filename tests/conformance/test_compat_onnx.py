"""onnx's own tests of shape inference, through `shapeinf.compat.onnx`: 1,675 recorded calls of its three functions."""

from __future__ import annotations

import random
from typing import Any

import onnx
import onnx.checker
import onnx.shape_inference
import pytest

from shapeinf.compat import onnx as compat
from tests.vectors import ROOT, need, vectors

FOLDER = ROOT / "onnx" / "upstream"
DATA = vectors("onnx/upstream/expectations.json")
VECTORS = [v for v in (DATA or {"vectors": []})["vectors"] if not v["needs_custom_schema"]]
QUICK = {v["id"] for v in random.Random(35).sample(VECTORS, min(len(VECTORS), 120))}
QUICK.update(v["id"] for v in VECTORS if v["api"] != "infer_shapes")

CANNOT_RUN = frozenset(
    (
        *("test_rnn_layout", "test_onehot_empty_depth", "test_Conv_3", "test_Convinteger", "test_GatherElements"),
        *("test_GRU_1", "test_GRU_2", "test_GRU_3", "test_LSTM_1", "test_LSTM_2", "test_LSTM_3"),
        *("test_RNN_1", "test_RNN_2", "test_RNN_3", "test_If", "test_NonMaxSuppression", "test_PRelu"),
        *("test_RotaryEmbedding_5", "test_STFT", "test_StringConcat"),
        *("test_conv_transpose_with_output_shape", "test_conv_transpose_with_group_and_output_shape"),
        *("test_concat_from_sequence_unknown_dim_size", "test_concat_from_sequence_axis"),
        "test_concat_from_sequence_neg_axis",
    )
)
"""Tests whose models have operands that their operator does not allow; onnx does not compare these."""

WRONG = frozenset({"test_stft_reals"})
"""Tests that assert the size of a two-sided spectrum for a node whose attribute `onesided` is 1, its default."""

UNKNOWN = frozenset({"test_slice_with_input_shape_steps", "test_slice_with_input_shape_axes"})
"""Tests of slices whose starts have a known number of elements, but no known contents: onnx guesses the sizes."""

ACCEPTED = frozenset(
    {
        "test_parse_data_with_undefined_tensor_type",
        "test_function_output_count_mismatch_does_not_crash",
        "test_sub_overflow",
        "test_inference_with_conflow",
    }
)
"""Tests of failures that are none here."""


def test_name(vector: dict[str, Any]) -> str:
    return str(vector["test"]).rpartition("::")[2].partition("[")[0]


test_name.__test__ = False  # type: ignore[attr-defined]


def message(kind: Any, name: str) -> Any:
    return kind.FromString((FOLDER / "files" / name).read_bytes())


def type_json(proto: onnx.TypeProto) -> Any:
    which = proto.WhichOneof("value")
    if which is None:
        return None
    inner = getattr(proto, which)
    if which in ("sequence_type", "optional_type"):
        return [{"sequence_type": "seq", "optional_type": "optional"}[which], type_json(inner.elem_type)]
    if which == "map_type":
        return ["map", inner.key_type, type_json(inner.value_type)]
    dims = [getattr(d, d.WhichOneof("value") or "", None) for d in inner.shape.dim] if inner.HasField("shape") else None
    return [which.removesuffix("_type").removesuffix("_tensor"), inner.elem_type, dims]


def type_proto(record: Any) -> onnx.TypeProto:
    make = onnx.helper
    if record is None:
        return onnx.TypeProto()
    kind, *rest = record
    if kind == "tensor":
        return make.make_tensor_type_proto(*rest)
    return {"seq": make.make_sequence_type_proto, "optional": make.make_optional_type_proto}[kind](type_proto(rest[0]))


def is_at_least(expected: Any, inferred: Any) -> bool:
    """Whether an inferred type is the expected one, or says more."""
    if expected is None or inferred is None:
        return expected is None
    kind, *rest = expected
    if kind != inferred[0]:
        return False
    if kind in ("seq", "optional"):
        return is_at_least(rest[0], inferred[1])
    if kind == "map":
        return bool(rest[0] == inferred[1]) and is_at_least(rest[1], inferred[2])
    if rest[0] not in (0, inferred[1]):
        return False
    dims, found = rest[1], inferred[2]
    if dims is None or found is None:
        return dims is None
    is_open = [dim is None or (isinstance(dim, str) and dim.startswith("unk__")) for dim in dims]
    return len(dims) == len(found) and all(
        free or dim == other or (isinstance(dim, str) and not str(other).isidentifier())  # a number or an expression
        for free, dim, other in zip(is_open, dims, found, strict=True)
    )


def call(vector: dict[str, Any]) -> dict[str, Any]:
    """The types that a call returns, by value."""
    return {"infer_shapes": infer_shapes, "infer_node_outputs": node, "infer_function_output_types": function}[
        vector["api"]
    ](vector)


def infer_shapes(vector: dict[str, Any]) -> dict[str, Any]:
    model = message(onnx.ModelProto, vector["model"])
    before = model.SerializeToString(deterministic=True)
    inferred = compat.infer_shapes(model, vector["check_type"], vector["strict_mode"], vector["data_prop"])
    assert model.SerializeToString(deterministic=True) == before
    return {value.name: type_json(value.type) for value in (*inferred.graph.value_info, *inferred.graph.output)}


def node(vector: dict[str, Any]) -> dict[str, Any]:
    domain, op, version = vector["op"]
    data = {name: message(onnx.TensorProto, file) for name, file in vector["input_data"].items()}
    imports = [onnx.helper.make_opsetid(*entry) for entry in vector["opset_imports"]] or None
    types = {name: type_proto(record) for name, record in vector["input_types"].items()}
    schema = onnx.defs.get_schema(op, version, domain)
    inferred = compat.infer_node_outputs(
        schema, message(onnx.NodeProto, vector["node"]), types, data, opset_imports=imports
    )
    return {name: type_json(type_) for name, type_ in inferred.items()}


def function(vector: dict[str, Any]) -> dict[str, Any]:
    inferred = compat.infer_function_output_types(
        message(onnx.FunctionProto, vector["function"]),
        [type_proto(record) for record in vector["input_types"]],
        [message(onnx.AttributeProto, file) for file in vector["attributes"]],
    )
    return {str(index): type_json(type_) for index, type_ in enumerate(inferred)}


def expected(vector: dict[str, Any]) -> dict[str, Any]:
    types = vector.get("asserted", vector.get("reference"))
    return types if isinstance(types, dict) else {str(index): type_ for index, type_ in enumerate(types)}


ERRORS: dict[str, type[Exception]] = {
    "InferenceError": onnx.shape_inference.InferenceError,
    "ValidationError": onnx.checker.ValidationError,
    "KeyError": KeyError,
}

OTHER_ERRORS = {"v1062": onnx.shape_inference.InferenceError}
"""A cycle of functions: onnx's checker reports it, which `infer_shapes` of onnx calls."""


def check(vector: dict[str, Any]) -> str | None:
    """What is wrong with the answer to a call; None for a right one."""
    name = test_name(vector)
    fails = vector["kind"] == "failure"
    error_type = OTHER_ERRORS.get(vector["id"], ERRORS[vector["exception"]]) if fails else ERRORS["InferenceError"]
    try:
        types = call(vector)
    except error_type as error:
        return None if fails or name in CANNOT_RUN else f"raised {error}"
    if fails:
        return None if name in ACCEPTED else "accepted"
    worse = {n: (t, types.get(n)) for n, t in expected(vector).items() if not is_at_least(t, types.get(n))}
    return None if not worse or name in WRONG | UNKNOWN else str(worse)


@pytest.mark.parametrize(
    "slice_", [pytest.param(QUICK, id="slice"), pytest.param(None, id="all", marks=pytest.mark.slow)]
)
def test_calls(slice_: set[str] | None) -> None:
    need(DATA, "onnx/upstream/expectations.json")
    chosen = [vector for vector in VECTORS if slice_ is None or vector["id"] in slice_]
    wrong = {(vector["id"], test_name(vector)): check(vector) for vector in chosen}
    assert {key: text for key, text in wrong.items() if text is not None} == {}
