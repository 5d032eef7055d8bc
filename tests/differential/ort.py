"""Small models: built, run in onnxruntime, inferred, compared.

A family is a hypothesis strategy of cases. Where onnxruntime refuses a case nothing is claimed; where it runs, every
tensor's real shape must be what we say, with any part of what the model tells taken away.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper

from shapeinf import infer_shapes
from shapeinf.algebra import evaluate
from tests.differential.draws import Draw

FEW, MANY = 25, 1500

sizes = pytest.mark.parametrize("examples", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])


@attrs.frozen(repr=False, eq=False)
class Case:
    """A model of few nodes. `deciding` are the inputs whose contents shapes depend on.

    `exact` says that with all of these known every shape is known too; else some depend on data.
    """

    nodes: list[onnx.NodeProto]
    inputs: list[np.ndarray | None]
    deciding: frozenset[int]
    opset: int
    domain: str
    exact: bool

    def __repr__(self) -> str:
        nodes = ", ".join(f"{n.op_type}({_attributes(n)})" for n in self.nodes)
        inputs = ", ".join(_shown(i, array, self.deciding) for i, array in enumerate(self.inputs))
        return f"<opset {self.opset}: {nodes} of {inputs}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    @property
    def outputs(self) -> list[str]:
        return [name for node in self.nodes for name in node.output if name]


def case(
    op: str,
    *inputs: Any,
    outputs: int = 1,
    deciding: Any = (),
    opset: int = 21,
    domain: str = "",
    exact: bool = True,
    **attributes: Any,
) -> Case:
    """A model of one node. An input of None is not given; neither is an attribute of None."""
    kept = {k: v for k, v in attributes.items() if v is not None and not (isinstance(v, list) and not v)}
    names = ["" if x is None else f"i{k}" for k, x in enumerate(inputs)]
    node = helper.make_node(op, names, [f"o{k}" for k in range(outputs)], domain=domain, **kept)
    return chain([node], *inputs, deciding=deciding, opset=opset, domain=domain, exact=exact)


def chain(
    nodes: list[onnx.NodeProto], *inputs: Any, deciding: Any = (), opset: int = 21, domain: str = "", exact: bool = True
) -> Case:
    """A model of several nodes over inputs that are named `i0`, `i1`, ..."""
    given = [None if x is None else np.asarray(x) for x in inputs]
    return Case(nodes, given, frozenset(deciding), opset, domain, exact)


def tensor(shape: Any, dtype: Any = "float32", seed: int = 0) -> np.ndarray:
    """Small whole numbers, some of them zero and some equal."""
    values = np.random.default_rng(seed).integers(-3, 4, tuple(shape))
    if dtype == "string":
        return values.astype(str).astype(object)
    return (np.abs(values) if np.dtype(dtype).kind == "u" else values).astype(dtype)


def ints(*values: Any) -> np.ndarray:
    """A vector."""
    return np.array(values, dtype=np.int64)


# -- models and runs -------------------------------------------------------------------------------------------------


@attrs.frozen
class Variant:
    """What a model does not tell: sizes of inputs (they get names), ranks, contents."""

    sizes: bool = False
    ranks: bool = False
    contents: bool = False
    min_dim: int = 1


KNOWN = Variant()
VARIANTS = (
    Variant(sizes=True),
    Variant(sizes=True, min_dim=0),
    Variant(contents=True),
    Variant(sizes=True, contents=True),
    Variant(ranks=True),
    Variant(ranks=True, contents=True),
)


def model_of(c: Case, variant: Variant) -> onnx.ModelProto:
    """The model as a variant tells it."""
    inputs, constants = [], []
    for k, array in enumerate(c.inputs):
        if array is None:
            continue
        if k in c.deciding and not variant.contents:
            constants.append(onnx.numpy_helper.from_array(array, f"i{k}"))
            continue
        dims: list[Any] | None = list(array.shape)
        if variant.ranks:
            dims = None
        elif variant.sizes:
            dims = [f"i{k}d{axis}" for axis in range(array.ndim)]
        inputs.append(helper.make_tensor_value_info(f"i{k}", dtype_of(array), dims))
    outputs = [onnx.ValueInfoProto(name=name) for name in c.outputs]
    graph = helper.make_graph(c.nodes, "case", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", 18 if c.domain else c.opset)]
    if c.domain:
        opsets.append(helper.make_opsetid(c.domain, c.opset))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def dtype_of(array: np.ndarray) -> int:
    kind = array.dtype.kind
    return onnx.TensorProto.STRING if kind == "O" else helper.np_dtype_to_tensor_dtype(array.dtype)


def run(c: Case) -> dict[str, Any] | str:
    """What onnxruntime makes of a case, or why it refuses it."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    feeds = {f"i{k}": a for k, a in enumerate(c.inputs) if a is not None and k not in c.deciding}
    try:
        session = runtime.InferenceSession(model_of(c, KNOWN).SerializeToString(), options, ["CPUExecutionProvider"])
        return dict(zip(c.outputs, session.run(c.outputs, feeds), strict=True))
    except Exception as refusal:  # onnxruntime raises classes of its own and plain RuntimeErrors
        return str(refusal)


# -- comparison ------------------------------------------------------------------------------------------------------


def check(c: Case) -> str | None:
    """Why onnxruntime refuses the case, None when it runs; raises AssertionError where we are wrong."""
    real = run(c)
    if isinstance(real, str):
        return real
    real |= {f"i{k}": a for k, a in enumerate(c.inputs) if a is not None}
    exact = c.exact and not any(isinstance(value, list) for value in real.values())
    problems = [f"known: {p}" for p in wrong(c, KNOWN, real, exact)]
    empty = any(0 in a.shape for a in c.inputs if a is not None)
    for variant in VARIANTS:
        if (variant.contents and not c.deciding) or (empty and variant.sizes and variant.min_dim):
            continue
        problems += [f"{variant}: {p}" for p in wrong(c, variant, real, exact=False)]
    assert not problems, "\n".join([repr(c), *problems])
    return None


def wrong(c: Case, variant: Variant, real: dict[str, Any], exact: bool) -> Iterator[str]:
    """Everything that a run contradicts."""
    result = infer_shapes(model_of(c, variant), min_dim=variant.min_dim)
    if result.coverage.unknown_ops:
        pytest.skip(f"operators without a rule: {', '.join(result.coverage.unknown_ops)}")
    binding = {f"i{k}d{i}": n for k, a in enumerate(c.inputs) if a is not None for i, n in enumerate(a.shape)}
    yield from (d.render() for d in result.diagnostics if d.severity == "error")
    for name, value in real.items():
        info = result.tensors[name]
        if isinstance(value, list) != (info.kind == "sequence"):
            yield f"{name} is a {info.kind}"
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, (np.ndarray, np.generic)):
                continue
            one = np.asarray(one)
            dtype = "string" if one.dtype.kind == "O" else one.dtype.name
            if info.dtype not in (None, dtype) or (exact and info.dtype is None):
                yield f"{name}: {info.dtype} is not {dtype}"
            if not contains(result, info.shape, one.shape, binding, exact):
                yield f"{name}: {info.shape} is not {list(one.shape)}"


def contains(result: Any, shape: Any, real: tuple[int, ...], binding: dict[str, int], exact: bool) -> bool:
    """Whether a real shape is one of those that an inferred shape allows; with `exact`, the only one."""
    if shape.dims is None:
        return not exact
    if len(shape) != len(real):
        return False
    for dim, size in zip(shape, real, strict=True):
        if size not in result.interval(dim) or (exact and not isinstance(dim, int)):
            return False
        if (isinstance(dim, int) or not dim.is_anonymous) and evaluate(dim, binding) != size:
            return False
    return True


def verify(family: Callable[[Draw], Case], examples: int) -> None:
    """Check that many cases of a family, most of which must run."""
    refusals: list[str | None] = []

    @settings(
        max_examples=examples,
        derandomize=examples == FEW,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.composite(lambda draw: family(draw))())
    def cases(c: Case) -> None:
        refusals.append(check(c))

    cases()
    refused = [r for r in refusals if r is not None]
    reasons = "\n".join(sorted({r[-200:] for r in refused}))
    assert len(refused) * 2 <= len(refusals), f"refuses {len(refused)} of {len(refusals)} cases:\n{reasons}"


def families(namespace: dict[str, Any]) -> list[Any]:
    """Every public function of a module that draws a case."""
    found = [
        f for f in namespace.values() if inspect.isfunction(f) and list(inspect.signature(f).parameters) == ["draw"]
    ]
    return [pytest.param(f, id=f.__name__) for f in found if not f.__name__.startswith("_")]


def _attributes(node: onnx.NodeProto) -> str:
    return ", ".join(f"{a.name}={helper.get_attribute_value(a)}" for a in node.attribute)


def _shown(k: int, array: np.ndarray | None, deciding: frozenset[int]) -> str:
    if array is None:
        return "-"
    return f"{array.dtype}{list(array.shape)}" + (f"={array.tolist()}" if k in deciding else "")
