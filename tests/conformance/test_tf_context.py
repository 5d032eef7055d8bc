"""9,129 calls of TensorFlow's InferenceContext, traced from its C++ code.

A call passes when it fails exactly where TensorFlow does and with its text; known sizes are the same; where
TensorFlow returns an argument's handle the result is provably equal to it; merged handles are provably equal.
Results may be more precise than TensorFlow's. `relax*` is compared by value (a join here, an update in TensorFlow).
"""

import re
from collections import defaultdict

import networkx as nx
import numpy as np
import pytest

from opdefs.tf import TensorFlowContext, bias, collectives, common, contraction, windows
from shapeinf.errors import ShapeError
from shapeinf.expr import Dimension
from shapeinf.lattice import Shape, ShapeStore, TensorType
from shapeinf.ops import OpDef
from tests.vectors import need, vectors

FILE = "tf/context.json"
DATA = vectors(FILE)
BY_METHOD = defaultdict(list)
for record in (DATA or {"records": []})["records"]:
    BY_METHOD[record["method"]].append(record)

SHAPE = re.compile(r"s\d+=(\?|\[.*\])$")
DIM = re.compile(r"d\d+=(\?|-?\d+)$")


def with_attributes(rule, *names):
    """A rule as a function of the context alone; attributes that are not set have the rule's defaults."""

    def call(c):
        inputs = [c.input(i) for i in range(c.num_inputs)]
        c.set_output(0, rule(c, *inputs, **{name: c.attributes[name] for name in names if name in c.attributes}))

    return call


SHAPE_FUNCTIONS = {
    "MatMulShape": with_attributes(contraction.matmul, "transpose_a", "transpose_b"),
    "BiasAddShape": with_attributes(bias.bias_add, "data_format"),
    "BiasAddGradShape": with_attributes(bias.bias_add_grad, "data_format"),
    "ReduceScatterShape": collectives.reduce_scatter_shape,
    "ScalarShape": common.scalar_shape,
    "NoOutputs": common.no_outputs,
}
SCATTER_DIMENSION = [None, None, {"dtype": "int32", "shape": [], "values": [0]}]
# contents that TensorFlow's own tests set for these cases, and the trace does not show
UNTRACED = {"ReduceScatterSuccess": SCATTER_DIMENSION, "ReduceScatter_NotEvenlyDivisible": SCATTER_DIMENSION}
DTYPES = {"float": "float32", "double": "float64"}


class Handles:
    """The named handles of a record as shapes and dims."""

    def __init__(self):
        self.store = ShapeStore()
        self.shapes = {}
        self.dims = {}

    def shape(self, text):
        name, _, body = text.partition("=")
        if name not in self.shapes:
            dims = None if body == "?" else [self.dim(d) for d in body[1:-1].split(",") if d]
            self.shapes[name] = Shape(dims)
        return self.shapes[name]

    def dim(self, text):
        name, _, value = text.partition("=")
        if name not in self.dims:
            self.dims[name] = self.store.scope.fresh(name, 0) if value == "?" else int(value)
        return self.dims[name]

    def argument(self, value, method):
        if isinstance(value, str) and SHAPE.match(value):
            return self.shape(value)
        if isinstance(value, str) and DIM.match(value):
            return self.dim(value)
        if isinstance(value, dict) and "dtype" in value:
            return tensor(value)
        if isinstance(value, list):
            return self.handle(value)
        return value

    def handle(self, data):
        return None if data is None else [(self.shape(s), dtype) for s, dtype in data]


def tensor(data):
    if data is None:
        return None
    dtype = DTYPES.get(data["dtype"], data["dtype"])
    return np.array(data["values"], dtype=dtype).reshape(data["shape"])


def context(handles, record):
    fields = record.get("ctx", {})
    shapes = fields.get("inputs", record.get("inputs", []))
    attributes = {k: v for k, v in record.get("attrs", {}).items() if not isinstance(v, dict)}
    c = TensorFlowContext(
        OpDef("op"),
        [TensorType(None, handles.shape(s)) for s in shapes],
        attributes,
        handles.store,
        "op",
        num_outputs=len(record.get("outputs", [1])),
        input_tensors=[tensor(t) for t in fields.get("input_tensors", UNTRACED.get(record["test"], []))],
        input_tensors_as_shapes=[
            None if s is None else handles.shape(s) for s in fields.get("input_tensors_as_shapes", [])
        ],
        input_handles=[handles.handle(h) for h in fields.get("input_handles", [])],
    )
    for index, data in enumerate(fields.get("output_handles", [])):
        if data is not None:
            c.set_output_handle(index, handles.handle(data))
    return c


def call(c, method, args):
    if method.startswith("shape_fn:"):
        SHAPE_FUNCTIONS[method.partition(":")[2]](c)
        return None
    if method in ("merge_shape", "merge_dim"):
        return c.merge(*args)
    if method == "relax_shape":
        return c.relax(*args)
    if method == "broadcast_binary_op_output_shape":
        return common.broadcast_binary_op_output_shape(c, *args)
    if method == "windowed_output_size_v2":
        return windows.windowed_output_size(c, *args)
    if method == "make_shape_from_shape_proto":
        (proto,) = args
        if proto == "unknown_rank":
            return c.make_shape_from_shape_proto(None)
        return c.make_shape_from_shape_proto(proto["dims"], proto["unknown_rank"])
    return getattr(c, method)(*args)


class Judge:
    """Compares a result with TensorFlow's."""

    def __init__(self, handles, by_value):
        self.handles = handles
        self.store = handles.store
        self.by_value = by_value
        self.arguments = (set(handles.shapes), set(handles.dims))

    def problem(self, got, want):
        if isinstance(want, list) and want and isinstance(want[0], list):
            return self._handle_problem(got, want)
        if isinstance(want, list):
            return next((p for g, w in zip(got, want, strict=True) if (p := self.problem(g, w))), None)
        if isinstance(want, str) and SHAPE.match(want):
            return self._shape_problem(got, want)
        if isinstance(want, str) and DIM.match(want):
            return self._dim_problem(got, want)
        return None if got == want and type(got) is type(want) else f"{got!r} is not {want!r}"

    def _handle_problem(self, got, want):
        for (shape, dtype), (wanted, wanted_dtype) in zip(got, want, strict=True):
            problem = self._shape_problem(shape, wanted)
            if problem or dtype != wanted_dtype:
                return problem or f"dtype {dtype} is not {wanted_dtype}"
        return None

    def _shape_problem(self, got, want):
        name, _, body = want.partition("=")
        shape = self.store.canon_shape(got)
        if not self.by_value and name in self.arguments[0]:
            same = self.store.canon_shape(self.handles.shapes[name])
            return None if shape == same else f"{shape} is not provably {want}"
        if body == "?":
            return None
        if shape.dims is None:
            return f"unknown is less than {want}"
        wanted = [d for d in body[1:-1].split(",") if d]
        if len(wanted) != len(shape.dims):
            return f"{shape} is of another rank than {want}"
        return next((p for g, w in zip(shape.dims, wanted, strict=True) if (p := self._dim_problem(g, w))), None)

    def _dim_problem(self, got, want):
        name, _, value = want.partition("=")
        dim = self.store.canon(got)
        if value != "?":
            return None if dim == int(value) else f"{dim} is not {want}"
        if self.by_value:
            return None
        if name in self.arguments[1]:
            same = self.store.canon(self.handles.dims[name])
            return None if self.store.prove_eq(dim, same) is True else f"{dim} is not provably {want}"
        unrelated = [d for n, d in self.handles.dims.items() if n in self.arguments[1] and isinstance(d, Dimension)]
        symbols = dim.symbols() if isinstance(dim, Dimension) else frozenset()
        equal = [d for d in unrelated if dim is d and not symbols]
        return f"{dim} equals the unrelated {equal}" if equal else None


def failure(record):
    """The error of a call's result, None when it passes."""
    handles = Handles()
    c = context(handles, record)
    args = [handles.argument(a, record["method"]) for a in record.get("args", [])]
    judge = Judge(handles, record["method"].startswith("relax"))
    try:
        got = call(c, record["method"], args)
    except ShapeError as error:
        if record.get("tf_bug"):
            return None
        wanted = record.get("error")
        if wanted is None and recorded_pairs_conflict(record):
            return None
        return None if wanted is not None and wanted in str(error) else f"raised {error}, wanted {wanted}"
    if "error" in record:
        return f"gave {got}, wanted the error {record['error']}"
    if record.get("tf_bug"):
        return "an overflow must raise"
    if "outputs" in record:
        got = [c.output(i) for i in range(len(record["outputs"]))]
        return judge.problem(got, record["outputs"])
    problem = judge.problem(got, record["out"])
    return problem or state_problem(record, c, judge) or merged_problem(record, handles)


def recorded_pairs_conflict(record):
    """Whether the equalities that TensorFlow merely records give one dim two sizes: then an error is right."""
    pairs = [tuple(p) for p in record.get("recorded_merged_dims", [])]
    shapes = record.get("recorded_merged_shapes", [])
    if record["method"] == "merge_prefix":  # merges dim by dim and records no pair of shapes
        shapes = [record["args"]]
    for a, b in shapes:
        left, right = (s.partition("=")[2] for s in (a, b))
        if "?" not in (left, right):
            pairs += list(zip(left[1:-1].split(","), right[1:-1].split(","), strict=False))
    groups = nx.Graph(pairs)
    sizes = ({d.partition("=")[2] for d in group} - {"?"} for group in nx.connected_components(groups))
    return any(len(known) > 1 for known in sizes)


def state_problem(record, c, judge):
    if "input_after" in record:
        return judge.problem(c.input(record["args"][0]), record["input_after"])
    if "after" in record:
        side = c.input_handle if "input" in record["method"] else c.output_handle
        return judge.problem(side(record["args"][0]), record["after"])
    return None


def merged_problem(record, handles):
    store = handles.store
    for a, b in record.get("recorded_merged_shapes", []):
        left, right = store.canon_shape(handles.shape(a)), store.canon_shape(handles.shape(b))
        if left != right:
            return f"{a} and {b} were merged but are {left} and {right}"
    for a, b in record.get("recorded_merged_dims", []):
        if store.prove_eq(handles.dim(a), handles.dim(b)) is not True:
            return f"{a} and {b} were merged but are not equal"
    return None


@pytest.mark.parametrize("method", sorted(BY_METHOD) or ["-"])
def test_every_call(method):
    need(DATA, FILE)
    failures = [(r["id"], r.get("args"), r.get("out"), p) for r in BY_METHOD[method] if (p := failure(r))]
    assert not failures, f"{len(failures)} of {len(BY_METHOD[method])}: {failures[:5]}"
