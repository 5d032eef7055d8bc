"""Write what kernels of LiteRT allocate into tests/memory/litert/kernels.json.

    python tools/make_litert_kernels.py

Needs the packages ai-edge-litert and flatbuffers. Models of one operator are allocated and run, each in a process of
its own. A record has the operator with its options, its tensors, the distance of each from the first one, which is
where the arena begins, the bytes and the distance of each temporary that is near it, and the bytes of the others.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).resolve().parent.parent / "tests" / "memory" / "litert" / "kernels.json"
FLOAT = "float32"
NEAR = 1 << 20
"""Bytes behind the first tensor within which a tensor may be in the arena."""
Operand = list[Any]
"""Element type, dims, and what it is: `input`, `constant`, `variable` or a list of numbers; then scales of weights."""
Case = tuple[str, str, dict[str, Any], Sequence[Operand | None], Sequence[Operand]]
"""Operator, table of options, options, inputs (None for one that is left out), outputs."""


def operand(dtype: str, dims: Sequence[int], what: Any = "input", scales: Sequence[float] = ()) -> Operand:
    """An operand of a case."""
    return [dtype, list(dims), what, list(scales)]


def weights(dtype: str, *dims: int, scales: Sequence[float] = ()) -> Operand:
    """A constant."""
    return operand(dtype, dims, "constant", scales)


def cases() -> Iterator[Case]:
    """All cases."""
    yield from products()
    yield from convolutions()
    yield from reductions()
    yield from recurrent()
    yield from others()


def products() -> Iterator[Case]:
    """Matrix products."""
    options = {"asymmetricQuantizeInputs": True}
    for batch in (1, 3, 5, 9):
        for dtype in (FLOAT, "int8", "int4"):
            inputs = [operand(FLOAT, [batch, 70]), weights(dtype, 13, 70), weights(FLOAT, 13)]
            yield "FULLY_CONNECTED", "FullyConnectedOptions", options, inputs, [operand(FLOAT, [batch, 13])]
    inputs = [operand(FLOAT, [2, 16]), weights("int4", 3, 16), weights(FLOAT, 3)]
    yield "FULLY_CONNECTED", "FullyConnectedOptions", {}, inputs, [operand(FLOAT, [2, 3])]
    for adj_x in (False, True):
        for adj_y in (False, True):
            left, right = [2, 5, 7] if adj_x else [2, 7, 5], [2, 9, 5] if adj_y else [2, 5, 9]
            for other in (operand(FLOAT, right), weights(FLOAT, *right), weights("int8", *right)):
                inputs = [operand(FLOAT, [3, *left]), other]
                flags = {"adjX": adj_x, "adjY": adj_y}
                yield "BATCH_MATMUL", "BatchMatMulOptions", flags, inputs, [operand(FLOAT, [3, 2, 7, 9])]
    inputs = [operand("int8", [2, 7, 5]), operand("int8", [2, 5, 9])]
    yield "BATCH_MATMUL", "BatchMatMulOptions", {}, inputs, [operand("int8", [2, 7, 9])]


def convolutions() -> Iterator[Case]:
    """Convolutions."""
    several = [0.1 * (i + 1) for i in range(10)]
    for size in (1, 3):
        for dtype, scales in ((FLOAT, ()), ("int8", (0.5,)), ("int8", several), ("int8", (0.5,) * 10)):
            for groups in (1, 2):
                inputs = [
                    operand(FLOAT, [2, 7, 9, 6]),
                    weights(dtype, 10, size, size, 6 // groups, scales=scales),
                    weights(FLOAT, 10),
                ]
                options = {"strideW": 1, "strideH": groups}
                yield "CONV_2D", "Conv2DOptions", options, inputs, [operand(FLOAT, [2, -(-7 // groups), 9, 10])]
    inputs = [operand(FLOAT, [1, 9, 9, 2]), weights(FLOAT, 4, 1, 1, 2), weights(FLOAT, 4)]
    options = {"strideW": 1, "strideH": 1, "dilationWFactor": 2}
    yield "CONV_2D", "Conv2DOptions", options, inputs, [operand(FLOAT, [1, 9, 9, 4])]
    for dtype, bias in (("int8", "int32"), ("int16", "int64")):
        inputs = [operand(dtype, [1, 9, 9, 2]), weights("int8", 4, 3, 3, 2), weights(bias, 4)]
        yield "CONV_2D", "Conv2DOptions", {"strideW": 1, "strideH": 1}, inputs, [operand(dtype, [1, 9, 9, 4])]
    for dtype in (FLOAT, "int8"):
        inputs = [operand(FLOAT, [2, 7, 9, 6]), weights(dtype, 1, 3, 3, 6), weights(FLOAT, 6)]
        options = {"strideW": 1, "strideH": 1, "depthMultiplier": 1}
        yield "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", options, inputs, [operand(FLOAT, [2, 7, 9, 6])]
    for window in ([2, 3, 2], [1, 1, 1]):
        inputs = [operand(FLOAT, [1, 4, 5, 6, 2]), weights(FLOAT, *window, 2, 4), weights(FLOAT, 4)]
        options = {"strideW": 1, "strideH": 1, "strideD": 1}
        yield "CONV_3D", "Conv3DOptions", options, inputs, [operand(FLOAT, [1, 4, 5, 6, 4])]
    sizes = operand("int32", [5], [1, 8, 10, 12, 4])
    inputs = [sizes, weights(FLOAT, 2, 2, 2, 4, 2), operand(FLOAT, [1, 4, 5, 6, 2]), weights(FLOAT, 4)]
    options = {"strideW": 2, "strideH": 2, "strideD": 2}
    yield "CONV_3D_TRANSPOSE", "Conv3DOptions", options, inputs, [operand(FLOAT, [1, 8, 10, 12, 4])]
    for dtype, kernel, bias in (
        *((FLOAT, FLOAT, FLOAT), (FLOAT, "int8", FLOAT)),
        *(("int8", "int8", "int32"), ("int16", "int8", "int64")),
    ):
        shape = operand("int32", [4], [1, 8, 8, 3])
        inputs = [shape, weights(kernel, 3, 2, 2, 2), operand(dtype, [1, 4, 4, 2]), weights(bias, 3)]
        options = {"strideW": 2, "strideH": 2}
        yield "TRANSPOSE_CONV", "TransposeConvOptions", options, inputs, [operand(dtype, [1, 8, 8, 3])]


def reductions() -> Iterator[Case]:
    """Reductions."""
    for dtype in (FLOAT, "int32", "int64", "int8", "int16", "uint8"):
        for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
            inputs = [operand(dtype, [4, 5, 30]), operand("int32", [2], [0, 2])]
            yield op, "ReducerOptions", {}, inputs, [operand(dtype, [5])]
    for op in ("REDUCE_ANY", "REDUCE_ALL"):
        inputs = [operand("bool", [4, 5, 30]), operand("int32", [1], [1])]
        yield op, "ReducerOptions", {}, inputs, [operand("bool", [4, 30])]


def recurrent() -> Iterator[Case]:
    """Recurrent kernels."""
    for dtype in (FLOAT, "int8"):
        state = operand(FLOAT, [2, 30], "variable")
        inputs = [operand(FLOAT, [2, 4]), weights(dtype, 6, 4), weights(dtype, 6, 5), weights(FLOAT, 3), state]
        yield "SVDF", "SVDFOptions", {"rank": 2}, inputs, [operand(FLOAT, [2, 3])]
        hidden = [weights(dtype, 6, 4), weights(dtype, 6, 6), weights(FLOAT, 6), operand(FLOAT, [2, 6], "variable")]
        yield "RNN", "RNNOptions", {}, [operand(FLOAT, [2, 4]), *hidden], [operand(FLOAT, [2, 6])]
        for major in (False, True):
            times = [7, 2] if major else [2, 7]
            source, result = operand(FLOAT, [*times, 4]), operand(FLOAT, [*times, 6])
            options = {"timeMajor": major}
            yield "UNIDIRECTIONAL_SEQUENCE_RNN", "SequenceRNNOptions", options, [source, *hidden], [result]
            back = [weights(dtype, 8, 4), weights(dtype, 8, 8), weights(FLOAT, 8), operand(FLOAT, [2, 8], "variable")]
            inputs = [source, *hidden, *back, *[None] * 3]  # type: ignore[list-item]
            outputs = [result, operand(FLOAT, [*times, 8])]
            yield "BIDIRECTIONAL_SEQUENCE_RNN", "BidirectionalSequenceRNNOptions", options, inputs, outputs
            for has_gate in (False, True):
                for projects in (False, True):
                    yield from lstms(dtype, source, times, major, has_gate, projects)


def lstms(dtype: str, source: Operand, times: list[int], major: bool, has_gate: bool, projects: bool) -> Iterator[Case]:
    """The three kinds of LSTM."""
    cells, width = 6, 3 if projects else 6
    gates = [None if i == 0 and not has_gate else weights(dtype, cells, 4) for i in range(4)]
    gates += [None if i == 0 and not has_gate else weights(dtype, cells, width) for i in range(4)]
    gates += [None] * 3 + [None if i == 0 and not has_gate else weights(FLOAT, cells) for i in range(4)]
    gates += [weights(dtype, width, cells) if projects else None, None]
    states = [operand(FLOAT, [2, width], "variable"), operand(FLOAT, [2, cells], "variable")]
    result = operand(FLOAT, [*times, width])
    options = {"fusedActivationFunction": 4, "timeMajor": major}
    inputs = [source, *gates, *states, *[None] * 4]
    yield "UNIDIRECTIONAL_SEQUENCE_LSTM", "UnidirectionalSequenceLSTMOptions", options, inputs, [result]
    inputs = [source, *gates, *gates, *states, *states, *[None] * 9]
    yield "BIDIRECTIONAL_SEQUENCE_LSTM", "BidirectionalSequenceLSTMOptions", options, inputs, [result, result]
    if not major:
        inputs = [operand(FLOAT, [2, 4]), *gates, *states]
        yield "LSTM", "LSTMOptions", {"fusedActivationFunction": 4}, inputs, [operand(FLOAT, [2, width])]


def others() -> Iterator[Case]:
    """Transforms, and kernels without temporaries."""
    for height, width in ((16, 32), (1, 64)):
        inputs = [operand(FLOAT, [3, height, width]), operand("int32", [2], [height, width])]
        yield "RFFT2D", "Rfft2dOptions", {}, inputs, [operand("complex64", [3, height, width // 2 + 1])]
    for op in ("SOFTMAX", "L2_NORMALIZATION", "GELU", "HARD_SWISH"):
        table = {"L2_NORMALIZATION": "L2NormOptions", "GELU": "GeluOptions", "HARD_SWISH": "HardSwishOptions"}
        yield op, table.get(op, "SoftmaxOptions"), {}, [operand(FLOAT, [4, 4])], [operand(FLOAT, [4, 4])]
    inputs = [operand(FLOAT, [4, 9]), operand("int32", [], 3)]
    yield "TOPK_V2", "TopKV2Options", {}, inputs, [operand(FLOAT, [4, 3]), operand("int32", [4, 3])]
    for op in ("ADD", "MUL"):
        inputs = [operand(FLOAT, [4, 9]), operand(FLOAT, [4, 9])]
        yield op, f"{op.capitalize()}Options", {}, inputs, [operand(FLOAT, [4, 9])]


def build(case: Case) -> bytes:
    """The file of a case."""
    import flatbuffers  # type: ignore[import-untyped, unused-ignore]
    from ai_edge_litert import schema_py_generated as schema  # type: ignore[import-not-found, unused-ignore]

    op, table, fields, inputs, outputs = case
    model = schema.ModelT()
    model.version, model.buffers = 3, [schema.BufferT()]
    code = schema.OperatorCodeT()
    code.builtinCode, code.version = getattr(schema.BuiltinOperator, op), 1
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    model.operatorCodes = [code]
    graph, node = schema.SubGraphT(), schema.OperatorT()
    graph.tensors, graph.inputs, graph.outputs, graph.operators = [], [], [], [node]
    node.inputs, node.outputs = [], []
    for item in inputs:
        node.inputs.append(-1 if item is None else _tensor(schema, model, graph, item))
        if item is not None and item[2] == "input":
            graph.inputs.append(node.inputs[-1])
    for item in outputs:
        node.outputs.append(_tensor(schema, model, graph, item))
    graph.outputs = list(node.outputs)
    node.builtinOptions = getattr(schema, f"{table}T")()
    node.builtinOptionsType = getattr(schema.BuiltinOptions, table)
    for name, value in fields.items():
        setattr(node.builtinOptions, name, value)
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _tensor(schema: Any, model: Any, graph: Any, item: Operand) -> int:
    dtype, dims, what, scales = item
    tensor = schema.TensorT()
    tensor.name, tensor.shape = f"t{len(graph.tensors)}", np.array(dims, np.int32)
    tensor.type, tensor.buffer, tensor.hasRank = getattr(schema.TensorType, dtype.upper()), 0, True
    tensor.isVariable = what == "variable"
    if what not in ("input", "variable"):
        data = schema.BufferT()
        count = int(np.prod(dims))
        elements = np.ones(-(-count // 2), np.uint8) if dtype == "int4" else np.ones(count, dtype)
        data.data = np.frombuffer((elements if what == "constant" else np.array(what, dtype)).tobytes(), np.uint8)
        model.buffers.append(data)
        tensor.buffer = len(model.buffers) - 1
    if scales or dtype in ("int8", "uint8", "int16", "int4"):
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale = np.array(scales or [0.5], np.float32)
        tensor.quantization.zeroPoint = np.zeros(max(len(scales), 1), np.int64)
    graph.tensors.append(tensor)
    return len(graph.tensors) - 1


def measure(data: bytes, tensors: int) -> dict[str, Any]:
    """The offsets of tensors, and the temporaries."""
    from ai_edge_litert.interpreter import (  # type: ignore[import-not-found, unused-ignore]
        Interpreter,
        OpResolverType,
    )

    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=resolver, num_threads=1)
    interpreter.allocate_tensors()
    interpreter.invoke()
    wrapper = interpreter._interpreter
    found: list[tuple[int, int] | None] = []
    for index in range(wrapper.NumTensors(0)):
        try:
            wrapper.TensorSize(index, 0)  # fails for an unused temporary, of which a view ends the process
            array = wrapper.tensor(interpreter, index)
            found.append((array.__array_interface__["data"][0], array.nbytes) if array.ndim and array.size else None)
        except (ValueError, RuntimeError):
            found.append(None)
    base = found[interpreter.get_input_details()[0]["index"]]
    assert base is not None
    offsets = [None if item is None or not 0 <= item[0] - base[0] < NEAR else item[0] - base[0] for item in found]
    arena = [(found[i][1], offsets[i]) for i in range(tensors, len(found)) if found[i] and offsets[i] is not None]  # type: ignore[index]
    apart = [found[i][1] for i in range(tensors, len(found)) if found[i] and offsets[i] is None]  # type: ignore[index]
    return {"offsets": offsets[:tensors], "arena": sorted(arena), "apart": sorted(apart)}


def main() -> None:
    """Measure each case in a process of its own."""
    if len(sys.argv) > 1:
        case = list(cases())[int(sys.argv[1])]
        tensors = sum(item is not None for item in case[3]) + len(case[4])
        print(json.dumps(measure(build(case), tensors)))
        return
    lines = []
    for number, (op, _, options, inputs, outputs) in enumerate(cases()):
        command = [sys.executable, __file__, str(number)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            print(f"{op}: {process.stderr.strip().splitlines()[-1:]}")
            continue
        named = {re.sub("([A-Z])", lambda m: f"_{m[1].lower()}", name): value for name, value in options.items()}
        record = {"op": op, "options": named, "inputs": inputs, "outputs": outputs, **json.loads(process.stdout)}
        lines.append(json.dumps(record))
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
