"""Texts of small graphs, and edits that the text form does not have."""

from __future__ import annotations

from typing import Any

import onnx

from tests.passes.models import Case

BRANCHES = (
    "r = If (p) <then_branch = t () => ({kind} y) {{ {then} }}, else_branch = e () => ({kind} z) {{ {otherwise} }}>"
)
LOOP = "r = Loop (n, p, x) <body = b (int64 i, bool q, float[N,3] a) => (bool d, float[N,3] c) {{ {body} }}>"


def case(pass_name: str, name: str, text: str, after: str | None, constants: Any = None, **rest: Any) -> Case:
    """A case of one pass."""
    return Case(name=name, passes=(pass_name,), text=text, after=after, constants=constants or {}, **rest)


def graph(body: str, inputs: str = "float[N,3] x", outputs: str = "float[N,3] y") -> str:
    return f"g ({inputs}) => ({outputs}) {{ {body} }}"


def branches(
    then: str, otherwise: str = "z = Relu(x)", before: str = "", kind: str = "float[N,3]", outputs: str = ""
) -> str:
    body = BRANCHES.format(then=then, otherwise=otherwise, kind=kind)
    return graph(f"{before} {body}", "bool p, float[N,3] x", f"{kind} r{outputs}")


def function(signature: str, body: str, opset: int = 17) -> dict[str, Any]:
    text = f'<domain: "my", opset_import: ["" : {opset}]> f {signature} {{ {body} }}'
    return {"domains": '"my" : 1', "functions": text}


def loop(body: str, before: str = "") -> str:
    return graph(f"{before} {LOOP.format(body=body)}", "int64 n, bool p, float[N,3] x", "float[N,3] r")


def annotated(tensor: str) -> Any:
    """Add a quantization annotation of a tensor."""

    def edit(model: onnx.ModelProto) -> None:
        annotation = model.graph.quantization_annotation.add(tensor_name=tensor)
        annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="m")

    return edit


def same_output_twice(model: onnx.ModelProto) -> None:
    """The text form keeps output names apart; the same one twice is legal."""
    model.graph.output.append(model.graph.output[0])
