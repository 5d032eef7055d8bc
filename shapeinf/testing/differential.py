"""A case of a rule, run in a runtime: the types that it computes, or its refusal, against the inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shapeinf.errors import ShapeInferenceError
from shapeinf.inputs.options import InferenceOptions
from shapeinf.lattice.dtypes import ONNX_CODES
from shapeinf.packages import require_package
from shapeinf.runtime import Verification, verify
from shapeinf.testing.properties import bind_operands, legal_sizes, operand_names
from shapeinf.testing.rules import Operand, RuleCase, contents_of, declared_type
from shapeinf.texts import escape_lines


def verify_case(case: RuleCase, *, runtime: str = "onnxruntime", arrays: Mapping[str, Any] | None = None) -> None:
    """Run the one-node model of an ONNX case, and raise AssertionError where the runtime computes something else.

    The inputs have the sizes of the case, or small legal ones, and random contents; `arrays` has the contents of inputs
    by name (`x0`, `x1`). A case of an error must be refused by the runtime too; its names without a size are 4.

    Raises ShapeInferenceError for another dialect, MissingPackageError where the runtime is not installed.
    """
    __tracebackhide__ = True
    if case.dialect != "onnx":
        raise ShapeInferenceError(f"{case}: only cases of ONNX can be run, not of {case.dialect}")
    illegal = {**dict.fromkeys(operand_names(case.inputs), 4), **case.sizes}
    bindings = [illegal] if case.error else legal_sizes(case)
    if not bindings:
        raise ShapeInferenceError(f"{case}: no sizes of its names are legal: the case needs `sizes`")
    options = InferenceOptions(registry=case.registry)
    model = onnx_model(case, bind_operands(case, bindings[0]))
    verification = verify(model, arrays=arrays, runtime=runtime, options=options)
    problem = _problem(case, verification)
    if problem:
        raise AssertionError(escape_lines([str(case), f"  {problem}", *str(verification).splitlines()]))


def _problem(case: RuleCase, verification: Verification) -> str:
    if case.error:
        return "" if verification.refused else "the runtime runs it, but an error is expected"
    if verification.refused:
        return "the runtime refuses it"
    return "" if verification.ok else "the runtime computes other types"


def onnx_model(case: RuleCase, operands: Sequence[Operand]) -> bytes:
    """The bytes of the model with the one node of a case; its outputs have no declared types."""
    require_package("onnx", "a differential test")
    import onnx
    from onnx import helper, numpy_helper

    inputs, initializers = [], []
    for i, operand in enumerate(operands):
        if isinstance(operand, str):
            declared = declared_type(operand)
            code = ONNX_CODES[declared.dtype or "float32"]
            inputs.append(helper.make_tensor_value_info(f"x{i}", code, declared.dims))
        elif operand is not None:
            initializers.append(numpy_helper.from_array(contents_of(operand), f"x{i}"))
    names = ["" if operand is None else f"x{i}" for i, operand in enumerate(operands)]
    node = helper.make_node(case.op, names, case.output_names, "call", domain=case.domain, **case.attrs)
    outputs = [helper.make_empty_tensor_value_info(name) for name in case.output_names if name]
    graph = helper.make_graph([node], case.op, inputs, outputs, initializers)
    newest = onnx.defs.onnx_opset_version()
    opsets = {"": newest, case.domain: case.version or (1 if case.domain else newest)}
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*opset) for opset in opsets.items()])
    model.ir_version = min(model.ir_version, 10)  # runtimes lag behind the newest version of the onnx package
    return bytes(model.SerializeToString())
