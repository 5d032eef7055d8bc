"""A user's script: every public function, with the forms of arguments in the docs.

`test_typing.py` runs it, and checks it with `mypy --strict` and with pyright in strict mode.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from opdefs.onnx.dialect import onnx
from shapeinf import (
    BindError,
    Bound,
    Coverage,
    Diagnostic,
    Difference,
    Dim,
    Dimension,
    DimSize,
    Graph,
    InferenceOptions,
    Interval,
    ModelError,
    NnefOptions,
    Node,
    PickledResult,
    Rebatched,
    Result,
    Shape,
    ShapeInferenceError,
    TensorFlowOptions,
    TensorInfo,
    UnknownGroup,
    bind,
    diff,
    infer_shapes,
    rebatch,
)
from shapeinf.checks import check
from shapeinf.contract import Answer, Contract, LegalSizes, Precondition
from shapeinf.cost import Cost, CostAt, CostGroup, NodeCost, Uncounted
from shapeinf.errors import AxisError, NotPickledError
from shapeinf.expr import ceildiv, evaluate, maximum, minimum, parse_dim
from shapeinf.lattice import TensorType
from shapeinf.memory import Buffer, Memory
from shapeinf.memory.peak import Largest, Peak, PeakAt, PeakBound
from shapeinf.memory.planning import Plan, Slot, plan_from_csv
from shapeinf.ops import Dialect, InferenceContext, OpRegistry, Value, default_registry
from shapeinf.program import EvaluatedShapes, ShapeProgram
from shapeinf.testing import RuleCase, assert_shapes, check_properties, property_violations, shapeinf_check

EXAMPLES = Path("examples")
CONVNET = EXAMPLES / "convnet.onnx"
SIZES = {"batch": 1, "height": 64, "width": 64}


def infer() -> Result:
    """Paths, bytes and graphs; ranges, bindings, shapes of inputs, assumptions."""
    infer_shapes("examples/decoder.onnx", dims={"batch": "1..8", "seq": (1, 512)})
    infer_shapes(CONVNET, dims={"batch": "1..8", "height": (2, 512), "width": 64})
    infer_shapes(CONVNET, dims={"batch": (1, None)}, bind={"height": 64})
    infer_shapes(CONVNET, dims=[Dim("batch", 1, 8), Dim("height", multiple_of=32)])
    infer_shapes(CONVNET, dims={"height": Dim("height", max=512)}, min_dim=0)
    infer_shapes(CONVNET.read_bytes(), bind=SIZES, assume="height >= 2")
    infer_shapes(CONVNET, assume=["height % 2 == 0", "height + width <= 4096"])
    infer_shapes(CONVNET, inputs="[batch, 3, 224, 224]")
    infer_shapes(CONVNET, inputs={"image": "[batch, 3, 224, 224]"})
    infer_shapes(CONVNET, inputs={"image": ["n=1..8", 3, (1, 512), None]})
    side = Dim("side", 32, 512, multiple_of=32)
    infer_shapes(CONVNET, inputs={"image": {2: side, 3: 2 * side + 1}})
    infer_shapes(CONVNET, inputs=[[1, 3, 64, 64]])
    infer_shapes(EXAMPLES / "squeezenet.nnef", inputs="[batch, 3, height, width]", format_options=NnefOptions())
    infer_shapes(EXAMPLES / "recurrent.pbtxt", inputs={"tokens": "[batch, seq]"}, format_options=TensorFlowOptions())
    infer_shapes(CONVNET, mode="strict", declared="check", progress=lambda done, total: None)
    return infer_shapes(str(CONVNET))


def read_result(result: Result) -> None:
    """Everything that a result has."""
    tensors: dict[str, TensorInfo] = result.tensors
    inputs: list[str] = list(result.inputs)
    mask: TensorInfo = result.outputs["mask"]
    shape: Shape = mask.shape
    batch, channels, *rest = shape
    dims: list[DimSize] = [batch, channels, *rest]
    size: DimSize = batch * 3 + 1
    bounds: Interval = result.interval(size)
    number: int | float | None = bounds.hi
    two: tuple[DimSize, ...] = shape[1:3]
    same: bool = shape == (batch, channels, *rest)
    if isinstance(batch, Dimension):
        name: str = batch.name
        print(name, batch.is_symbol)
    coverage: Coverage = result.coverage
    diagnostics: list[Diagnostic] = result.diagnostics
    groups: list[UnknownGroup] = result.unknowns()
    lines: list[str] = result.explain("half", 2)
    graph: Graph = result.graph
    nodes: list[Node] = list(graph.nodes)
    texts = [d.render() for d in diagnostics] + [group.cause.reason for group in groups]
    print(tensors, inputs, dims, number, two, same, coverage.known, lines, len(nodes), texts, mask.dtype)
    print(int(shape[1]), maximum(size, 4), minimum(size, 4), ceildiv(size, 2), evaluate(size, {"batch": 2}))
    print(evaluate(size, {"batch": np.array([1, 2])}), parse_dim("2*H", result.engine.scope))
    print(result.tensor("half"), result.body_tensors, result.policy, result.dims, result.source, result.dialect)
    result.update({"image": [4, 3, 64, 64]})


def ask_contract(result: Result) -> None:
    """Preconditions and legal sizes."""
    contract: Contract = result.contract
    preconditions: tuple[Precondition, ...] = contract.preconditions
    answer: Answer = contract.check(height=6, width=6)
    verdict: bool | None = contract.check(SIZES).verdict
    legal: LegalSizes = contract.solve("height", range(1, 513))
    pieces: tuple[range, ...] = legal.pieces
    holds: list[bool | None] = [p.holds({"height": 6}) for p in contract]
    print(preconditions, answer.reasons, verdict, pieces, 63 in legal, len(contract), holds)


def ask_memory(result: Result) -> None:
    """Peak, plans and layouts."""
    memory: Memory = result.memory(order="least", aliases=True, in_place=True)
    buffers: tuple[Buffer, ...] = memory.timeline.buffers
    peak: Peak = memory.peak
    at: PeakAt = peak.at(batch=1, height=64, width=64)
    over: PeakBound = peak.over(batch=(1, 8), height="2..64", width=64, assume="height <= width")
    largest: Largest = peak.largest("batch", limit="64MiB", height=64, width=(2, 64))
    plan: Plan = memory.plan(SIZES, alignment=64, planner="best")
    slot: Slot = plan["down"]
    problems: list[Diagnostic] = memory.verify_plan(plan, SIZES)
    weights: DimSize = memory.weights
    print(len(buffers), at.bytes, over.value, largest.value, plan.arena, slot.offset, problems, weights)
    print(result.memory(layouts={"mid": "{3,2,1,0:T(8,128)}", 2: "{1,0}"}).activations)
    plan_from_csv("id,lower,upper,size,offset\na,0,3,4,0\n")
    peak.regions("batch", batch=(1, 8), height=64, width=64)


def ask_cost(result: Result) -> None:
    """Amounts as formulas and at sizes."""
    cost: Cost = result.cost()
    nodes: tuple[NodeCost, ...] = cost.nodes
    groups: dict[str, CostGroup] = cost.by_operator
    uncounted: tuple[Uncounted, ...] = cost.uncounted
    at: CostAt = cost.at(batch=1, height=64, width=64)
    macs: DimSize = cost.total.macs
    print(nodes[0].macs, groups["Conv"].flops, uncounted, at.total.intensity, macs, cost.by_module(2), cost.at(SIZES))


def test_model() -> None:
    """Assertions, and cases of a rule."""
    assert_shapes(CONVNET, {"mask": "[1..8, 1, ?, ?]"}, dims={"batch": "1..8", "height": (2, 512)})
    assert_shapes(infer_shapes(CONVNET), {"mask": ("batch", 1, "height", None)})
    notes: list[Diagnostic] = shapeinf_check(CONVNET, select=["C"], ignore=["C13"], dims={"batch": (1, 8)})
    case = RuleCase("Reshape", ["[n, 6]", [2, -1]], ["[2, 3*n]"])
    case.check()
    check_properties(case)
    broken = RuleCase("MatMul", ["[n, 4]", np.ones((5, 8))], error="must be equal", sizes={"n": 2})
    violations: list[str] = property_violations(broken)
    print(notes, violations, RuleCase("Concat", ["[n, 3]", "[m, 3]"], ["[n + m, 3]"], {"axis": 0}))


def ask_program(result: Result) -> None:
    """Many bindings at once."""
    program: ShapeProgram = result.program()
    shapes: EvaluatedShapes = program(batch=[1, 8], height=64, width=np.array([64, 128]))
    needed: tuple[str, ...] = program.needed
    same = program({"batch": 1, "height": 64, "width": 64})
    rows: list[list[int]] = shapes["mask"].tolist()
    print(needed, rows, same["mask"], program.masked(batch=1, height=3, width=4).valid, program.inputs)


def edit_model(folder: Path) -> None:
    """Bind, rebatch, compare, save."""
    bind(EXAMPLES / "decoder.onnx", {"batch": "1..8", "seq": (1, 512)})
    bound: Bound = bind(CONVNET, {"batch": 4})
    bound.save(folder / "bound.onnx")
    bind(CONVNET, {"batch": "n"}, options=InferenceOptions(assume=["height >= 8"]))
    differences: list[Difference] = diff(CONVNET, folder / "bound.onnx")
    again: Rebatched = rebatch(folder / "bound.onnx", axis=0, name="batch")
    infer_shapes(CONVNET).save(folder / "annotated.onnx")
    print([d.change for d in differences], again.size, bound.inputs, bound.tensors)


def check_model() -> list[Diagnostic]:
    """Diagnostics of declarations and deployments."""
    return check(infer_shapes(CONVNET, declared="check"), {"batch": (1, 8)})


acme = Dialect("acme")


@acme("Halve")
def halve(c: InferenceContext, x: Shape, *, axis: int = -1) -> Shape:
    """[..., n, ...] -> [..., n/2, ...]."""
    dims = list(x)
    c.divisible(dims[axis], 2, "the axis must be even")
    dims[axis] = dims[axis] // 2
    return Shape(dims)


@onnx("PatchMerge", since=1, domain="com.example.typing")
def patch_merge(c: InferenceContext, x: Shape, w: Shape, b: Value | None = None, *, block: int) -> TensorType:
    """[N, H, W, C], [block*block*C, D], [D] -> [N, H/block, W/block, D]."""
    n, height, width, channels = c.require_rank(x, 4, "x")
    rows, depth = c.require_rank(w, 2, "w")
    c.merge(rows, channels * block * block, "w must have one row per value of a patch")
    if b is not None:
        depth = c.merge(b.shape[0], depth, "the bias must have one value per column of w")
    return TensorType(c.dtype(0), Shape((n, height // block, width // block, depth)))


def handle_errors() -> None:
    """Errors by class, and results of other processes."""
    try:
        infer_shapes("missing.onnx")
    except ModelError as error:
        print(error.node, error.cause)
    try:
        bind(CONVNET, {"height": 3})
    except BindError as error:
        print([diagnostic.code for diagnostic in error.diagnostics])
    except ShapeInferenceError as error:
        print(error)


def read_pickled(result: PickledResult) -> None:
    """The part of a result that a pickle has."""
    shape: Shape = result.outputs["mask"].shape
    try:
        print(shape[9], list(result.contract), result.coverage)
    except (AxisError, NotPickledError) as error:
        print(error)


def main(folder: Path) -> None:
    """Everything."""
    result = infer()
    read_result(result)
    result = infer_shapes(CONVNET)
    ask_contract(result)
    ask_memory(result)
    ask_cost(result)
    test_model()
    ask_program(result)
    edit_model(folder)
    check_model()
    handle_errors()
    registry: OpRegistry = default_registry()
    print(registry)
    print("done")


if __name__ == "__main__":
    main(Path())
