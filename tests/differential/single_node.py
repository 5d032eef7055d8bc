"""Single-node models of ONNX Runtime's own operators: run, infer and compare them."""

import re

import attrs
import ml_dtypes
import numpy as np
from onnx import GraphProto, TensorProto, helper, numpy_helper

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from shapeinf.lattice.dtypes import ONNX_CODES
from shapeinf.testing import RuleCase

MS = "com.microsoft"
NCHWC = "com.microsoft.nchwc"
OPSETS = [helper.make_opsetid("", 20), helper.make_opsetid(MS, 1), helper.make_opsetid(NCHWC, 1)]
TYPES = {
    "f": np.float32,
    "h": np.float16,
    "d": np.float64,
    "i": np.int32,
    "l": np.int64,
    "b": np.int8,
    "B": np.uint8,
    "s": np.int16,
    "u": np.uint16,
    "e": ml_dtypes.bfloat16,
    "?": np.bool_,
}


class Known:
    """An input whose contents are a constant of the model."""

    def __init__(self, *values, dtype=np.int64, shape=None):
        self.array = np.array(values, dtype=dtype).reshape((len(values),) if shape is None else shape)


def runtime_values(*values, dtype=np.int64, shape=None):
    """An input whose contents are specified only for the run."""
    return Known(*values, dtype=dtype, shape=shape).array


@attrs.frozen
class Case:
    """Inputs are `f[2, 3]` (random values), arrays, `Known` contents, or None for an omitted input."""

    op: str
    inputs: tuple
    attributes: dict = attrs.field(factory=dict)
    outputs: int = 1
    domain: str = MS
    data: bool = False  # sizes depend on contents: bounds are enough
    rank: bool = True  # the rank must be known even when the sizes of the inputs are not
    types: dict = attrs.field(factory=dict)  # of outputs whose element type only the model declares
    in_place: dict = attrs.field(factory=dict)  # outputs that are written into the buffer of an input
    omitted: tuple = ()  # outputs that the node leaves out

    def arrays(self):
        return [spec.array if isinstance(spec, Known) else _array(spec) for spec in self.inputs]

    def __str__(self):
        operands = ",".join(s if isinstance(s, str) else "_" if s is None else "v" for s in self.inputs)
        plain = {k: v for k, v in self.attributes.items() if not isinstance(v, GraphProto)}
        return f"{self.op}({operands})" + "".join(f" {k}={v}" for k, v in plain.items())


def rule_case(case):
    """The case as one of `shapeinf.testing`, with outputs of any type."""
    operands = [_operand(spec) for spec in case.inputs]
    return RuleCase(case.op, operands, ["?"] * case.outputs, case.attributes, domain=case.domain)


def _operand(spec):
    if isinstance(spec, Known):
        return spec.array
    array = _array(spec)
    return None if array is None else f"{_dtype_name(array)}{list(array.shape)}"


def _dtype_name(array):
    return "string" if array.dtype.kind in "OU" else array.dtype.name


def _array(spec):
    if spec is None or isinstance(spec, np.ndarray):
        return spec
    kind, dims = re.fullmatch(r"(.)\[(.*)\]", spec).groups()
    shape = [int(d) for d in dims.split(",") if d.strip()]
    random = np.random.default_rng(0)
    if np.dtype(TYPES[kind]).kind == "f":
        return np.asarray(random.random(shape) * 0.5 + 0.25).astype(TYPES[kind])
    return np.asarray(random.integers(0, 2, shape)).astype(TYPES[kind])


def model_of(case, arrays, named=False):
    """The model without types of its outputs, and the sizes of the named dims of its inputs."""
    sizes, inputs, initializers, names = {}, [], [], []
    for i, (spec, array) in enumerate(zip(case.inputs, arrays, strict=True)):
        names.append("" if array is None else f"in{i}")
        if array is None:
            continue
        if isinstance(spec, Known):
            initializers.append(numpy_helper.from_array(array, names[-1]))
            continue
        dims = list(array.shape)
        if named:
            dims = [f"i{i}d{axis}" for axis in range(array.ndim)]
            sizes.update(zip(dims, array.shape, strict=True))
        inputs.append(helper.make_tensor_value_info(names[-1], onnx_type(array.dtype), dims))
    outputs = ["" if i in case.omitted else f"out{i}" for i in range(case.outputs)]
    node = helper.make_node(case.op, names, outputs, "node", domain=case.domain, **case.attributes)
    empty = [helper.make_empty_tensor_value_info(n) for n in outputs if n]
    for i, dtype in case.types.items():
        empty[i].type.tensor_type.elem_type = ONNX_CODES[dtype]
    graph = helper.make_graph([node], "g", inputs, empty)
    graph.initializer.extend(initializers)
    model = helper.make_model(graph, opset_imports=OPSETS)
    model.ir_version = 9
    return model, sizes


def onnx_type(dtype):
    if dtype.kind in "OU":
        return TensorProto.STRING
    if dtype == ml_dtypes.bfloat16:
        return TensorProto.BFLOAT16
    return helper.np_dtype_to_tensor_dtype(dtype)


def session_of(runtime, model, strict=False):
    """A silent session on the CPU, without graph optimizations."""
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.strict_shape_type_inference", str(int(strict)))
    return runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(runtime, case):
    """The arrays that the runtime computes."""
    arrays = case.arrays()
    session = session_of(runtime, model_of(case, arrays)[0])
    names = {i.name for i in session.get_inputs()}
    feeds = {f"in{i}": a for i, a in enumerate(arrays) if f"in{i}" in names}
    return _run_in_place(runtime, session, case, feeds) if case.in_place else session.run(None, feeds)


def _run_in_place(runtime, session, case, feeds):
    values = {name: runtime.OrtValue.ortvalue_from_numpy(a) for name, a in feeds.items()}
    binding = session.io_binding()
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for i in range(case.outputs):
        if i in case.in_place:
            binding.bind_ortvalue_output(f"out{i}", values[f"in{case.in_place[i]}"])
        else:
            binding.bind_output(f"out{i}")
    session.run_with_iobinding(binding)
    return [value.numpy() for value in binding.get_outputs()]


_NO_KERNEL = ("NOT_IMPLEMENTED", "InsertedPrecisionFreeCast", "during initialization")
"""Errors after inference: no kernel; no kernel of float32 for float16; the kernel rejects an attribute."""


def objections(runtime, case):
    """Errors of the runtime's own inference for a model that declares our shapes, of operators that it cannot run."""
    model, _ = model_of(case, case.arrays())
    result = infer_shapes(model)
    texts = [str(d) for d in result.diagnostics]
    for output in model.graph.output:
        info = result.tensors[output.name]
        output.type.tensor_type.elem_type = ONNX_CODES[info.dtype]
        output.type.tensor_type.shape.SetInParent()
        for dim in info.shape:
            output.type.tensor_type.shape.dim.add(**({"dim_value": dim} if isinstance(dim, int) else {}))
    try:
        session_of(runtime, model, strict=True)
    except Exception as error:
        return texts if any(text in str(error) for text in _NO_KERNEL) else [*texts, str(error)]
    return texts


def differences(case, real, named=False, min_dim=0):
    """Differences of inferred types from a run; on static inputs all must be exact."""
    model, sizes = model_of(case, case.arrays(), named)
    result = infer_shapes(model, min_dim=min_dim)
    texts = [str(d) for d in result.diagnostics if d.severity == "error"]
    for i, array in enumerate(real):
        info = result.tensors[f"out{i}"]
        rank_known = min_dim > 0 or not named
        if info.shape.dims is None and not (case.rank and rank_known):
            continue
        if not _contains(result, info.shape, array.shape, sizes, not named and not case.data):
            texts.append(f"out{i}: {info.shape} is not {array.shape}")
        if info.dtype != _dtype_name(array):
            texts.append(f"out{i}: {info.dtype} is not {_dtype_name(array)}")
    return texts


def _contains(result, shape, real, sizes, exact):
    if shape.dims is None or len(shape) != len(real):
        return False
    return all(_may_be(result, d, size, sizes, exact) for d, size in zip(shape, real, strict=True))


def _may_be(result, dim, size, sizes, exact):
    if isinstance(dim, int) or all(s.name in sizes for s in dim.symbols()):
        return evaluate(dim, sizes) == size
    return not exact and size in result.interval(dim)
