"""Runs models of a single operator in LiteRT: reads cases as JSON lines, writes what each does.

Each runs in a process of its own, since LiteRT ends the process on some legal files.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

from tests.opdefs.tflite.case import Case, Operand

SECONDS = 20

VERSIONS = 12
"""The largest version of an operator that is tried."""

_ENUMS = {
    "padding": "Padding",
    "fused_activation_function": "ActivationFunctionType",
    "mode": "MirrorPadMode",
    "weights_format": "FullyConnectedOptionsWeightsFormat",
    "combiner": "CombinerType",
    "type": "LSHProjectionType",
    "kernel_type": "LSTMKernelType",
    "reduce_function": "ReduceWindowFunction",
    "algorithm": "RngAlgorithm",
    "comparison_direction": "StablehloComparisonDirection",
    "compare_type": "StablehloComparisonType",
}
_NUMPY = {"bool": "bool", "string": "object", "float64": "float64", "bfloat16": "uint16"}


def run(cases: Iterable[Case]) -> Iterator[dict[str, Any]]:
    """What LiteRT does with each case: its `outputs`, the message with which it is `refused`, or that it `died`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.opdefs.tflite.litert"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    with process:
        for case in cases:
            process.stdin.write(json.dumps(case.to_json()) + "\n")
            process.stdin.flush()
            yield json.loads(process.stdout.readline())
        process.stdin.close()


def build(case: Case, version: int = 1) -> bytes:
    """The file of a model with this operator alone, of a version that LiteRT registers."""
    import ai_edge_litert.schema_py_generated as schema
    import flatbuffers

    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version = 3
    model.buffers = [schema.BufferT()]
    code = schema.OperatorCodeT()
    number = getattr(schema.BuiltinOperator, case.op, schema.BuiltinOperator.CUSTOM)
    code.builtinCode, code.deprecatedBuiltinCode, code.version = number, min(number, 127), version
    if number == schema.BuiltinOperator.CUSTOM:
        code.customCode = case.op.encode()
    model.operatorCodes = [code]
    graph.tensors, graph.inputs, graph.outputs = [], [], []
    operator = schema.OperatorT()
    operator.inputs, operator.outputs = [], []
    for operand in case.inputs:
        operator.inputs.append(-1 if operand is None else _add_tensor(schema, model, graph, operand))
    for index, dtype in enumerate(case.outputs):
        dims = case.declared[index] if case.declared else ()
        at = _add_tensor(schema, model, graph, Operand(dtype, dims), is_output=True)
        operator.outputs.append(at)
        graph.outputs.append(at)
    _set_options(schema, operator, case)
    if number == schema.BuiltinOperator.CUSTOM:
        from flatbuffers import flexbuffers

        operator.customOptions = list(flexbuffers.Dumps(dict(case.options)))
    graph.operators = [operator]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _add_tensor(schema: Any, model: Any, graph: Any, operand: Operand, is_output: bool = False) -> int:
    tensor = schema.TensorT()
    tensor.shape, tensor.type = list(operand.dims), getattr(schema.TensorType, operand.dtype.upper())
    tensor.name, tensor.hasRank = f"t{len(graph.tensors)}".encode(), True
    tensor.isVariable = operand.variable
    if operand.dtype in ("int8", "uint8", "int16"):
        quantization = schema.QuantizationParametersT()
        quantization.scale, quantization.zeroPoint = [0.5], [0]
        tensor.quantization = quantization
    tensor.buffer = 0
    if operand.constant:
        buffer = schema.BufferT()
        buffer.data = list(_array(operand).tobytes())
        tensor.buffer = len(model.buffers)
        model.buffers.append(buffer)
    graph.tensors.append(tensor)
    index = len(graph.tensors) - 1
    if not operand.constant and not operand.variable and not is_output:
        graph.inputs.append(index)
    return index


def _array(operand: Operand) -> Any:
    import numpy as np

    dtype = np.dtype(_NUMPY.get(operand.dtype, operand.dtype))
    numbers = operand.data if operand.values is None else operand.values
    return np.zeros(operand.dims, dtype) if numbers is None else np.array(numbers, dtype).reshape(operand.dims)


def _set_options(schema: Any, operator: Any, case: Case) -> None:
    if not case.table:
        return
    is_second = not hasattr(schema.BuiltinOptions, case.table)
    kinds = schema.BuiltinOptions2 if is_second else schema.BuiltinOptions
    options = getattr(schema, f"{case.table}T")()
    for name, value in case.options.items():
        field = _camel(name)
        assert hasattr(options, field), (case.table, name)
        setattr(options, field, _encode(schema, case.table, name, value))
    if is_second:
        operator.builtinOptions2Type, operator.builtinOptions2 = getattr(kinds, case.table), options
    else:
        operator.builtinOptionsType, operator.builtinOptions = getattr(kinds, case.table), options


def _camel(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda match: match.group(1).upper(), name)


def _encode(schema: Any, table: str, name: str, value: Any) -> Any:
    if isinstance(value, str):
        enum = getattr(schema, _ENUMS.get(name, "TensorType"))
        return getattr(enum, value if name in _ENUMS else value.upper())
    return list(value) if isinstance(value, tuple) else value


def execute(case: Case) -> dict[str, Any]:
    """What LiteRT does with a case, in this process."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    for version in range(1, VERSIONS + 1):
        try:
            interpreter = Interpreter(
                model_content=build(case, version),
                experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
                num_threads=1,
            )
            break
        except (ValueError, RuntimeError) as error:
            if "Didn't find op for builtin opcode" not in str(error) or version == VERSIONS:
                return {"refused": str(error), "stage": "load"}
    try:
        interpreter.allocate_tensors()
    except (ValueError, RuntimeError) as error:
        return {"refused": str(error), "stage": "allocate"}
    fed = [x for x in case.inputs if x is not None and not x.constant and not x.variable]
    try:
        for detail, operand in zip(interpreter.get_input_details(), fed, strict=True):
            if operand.dtype not in ("resource", "variant"):
                interpreter.set_tensor(detail["index"], _array(operand))
        interpreter.invoke()
    except (ValueError, RuntimeError) as error:
        return {"refused": str(error), "stage": "invoke"}
    details = interpreter.get_output_details()
    return {
        "outputs": [[int(d) for d in detail["shape"]] for detail in details],
        "types": [_type_name(detail) for detail in details],
        "values": [_values(interpreter, detail) for detail in details],
    }


def _type_name(detail: Mapping[str, Any]) -> str:
    import numpy as np

    return np.dtype(detail["dtype"]).name


def _values(interpreter: Any, detail: Mapping[str, Any]) -> list[Any] | None:
    """The elements of a small output of numbers; None for another one."""
    import numpy as np

    try:
        array = interpreter.get_tensor(detail["index"])
    except (ValueError, RuntimeError):
        return None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iubf" or array.size > 64:
        return None
    return [repr(x) if isinstance(x, float) and not isfinite(x) else x for x in array.reshape(-1).tolist()]


def _isolated(case: Case) -> dict[str, Any]:
    """What LiteRT does with a case, in a child process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as file:
            try:
                json.dump(execute(case), file)
            except BaseException as error:
                json.dump({"broken": f"{type(error).__name__}: {error}"}, file)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        ready = select.select([file], [], [], SECONDS)[0]
        if not ready:
            os.kill(child, signal.SIGKILL)
        text = file.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(text) if text else {"died": status}


def main() -> None:
    import flatbuffers  # noqa: F401

    for line in sys.stdin:
        result = _isolated(Case.from_json(json.loads(line)))
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
