"""SavedModels and MetaGraphDefs with signatures, in text form, for tests."""

from __future__ import annotations

from shapeinf.formats.tf import TensorFlowOptions
from shapeinf.formats.tf.text import encode_text
from tests.formats.tf.test_reading import FLOAT, MODERN, node, placeholder

GRAPH = (
    placeholder("serve_tokens", "shape { dim { size: -1 } dim { size: -1 } }")
    + placeholder("step_tokens", "shape { dim { size: -1 } }")
    + node("a", "Relu", "serve_tokens", "^check", T=FLOAT)
    + node("check", "Own", "serve_tokens")
    + node("b", "Unique", "step_tokens", T=FLOAT)
    + node("c", "Relu", "b:1", T=FLOAT)
    + node("init", "NoOp")
    + MODERN
)


def tensor_info(name, dims="unknown_rank: true"):
    return f'name: "{name}" dtype: DT_FLOAT tensor_shape {{ {dims} }}'


def entry(field, key, value):
    return f'{field} {{ key: "{key}" value {{ {value} }} }} '


def signature(name, inputs, outputs):
    listed = [entry("inputs", key, value) for key, value in inputs.items()]
    listed += [entry("outputs", key, value) for key, value in outputs.items()]
    return entry("signature_def", name, "".join(listed))


SIGNATURES = (
    signature("serving", {"tokens": tensor_info("serve_tokens:0")}, {"y": tensor_info("a:0")})
    + signature("step", {"tokens": tensor_info("step_tokens:0")}, {"y": tensor_info("c"), "z": tensor_info("b:0")})
    + signature("__saved_model_init_op", {}, {"op": 'name: "init"'})
)


def meta_graph(graph=GRAPH, rest=SIGNATURES, info='tags: "serve"'):
    return f"meta_info_def {{ {info} }} graph_def {{ {graph} }} {rest}"


def saved_model(*metas):
    return "saved_model_schema_version: 1 " + "".join(f"meta_graphs {{ {meta} }} " for meta in metas or (meta_graph(),))


SAVED = encode_text(saved_model(), "SavedModel")


def options(**values):
    return TensorFlowOptions(**values)
