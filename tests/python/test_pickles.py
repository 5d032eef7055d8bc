"""Pickles in another process: the data of results, with equal dims still equal, and errors with all attributes."""

from __future__ import annotations

import copy
import copyreg
import inspect
import multiprocessing
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import attrs
import onnx
import pytest

import shapeinf.errors
from shapeinf import (
    IllegalSizeError,
    ModelError,
    PickledResult,
    Result,
    Shape,
    ShapeError,
    ShapeInferenceError,
    UnknownNameError,
    bind,
    infer_shapes,
)
from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import (
    Contradiction,
    MissingSizeError,
    NotPickledError,
    PickleVersionError,
    Source,
    SymbolicSizeError,
    UnpicklableError,
)
from shapeinf.expr import Scope, maximum
from shapeinf.memory import Memory
from shapeinf.report.memory_report import memory_lines, report_memory
from shapeinf.report.memory_summary import summarize_memory
from shapeinf.report.model import build_report

CONVNET, DECODER, MISSING = "examples/convnet.onnx", "examples/decoder.onnx", "examples/missing.onnx"


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_a_pool_returns_the_data_of_results_and_raises_the_errors_of_models() -> None:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        results = list(pool.map(infer_shapes, [CONVNET, DECODER]))
        refused = pool.submit(infer_shapes, MISSING)
        with pytest.raises(ModelError, match="missing") as error:
            refused.result()
    assert error.value.node == MISSING
    for path, loaded in zip([CONVNET, DECODER], results, strict=True):
        assert isinstance(loaded, PickledResult)
        assert_same_data(loaded, infer_shapes(path))


def assert_same_data(loaded: PickledResult, result: Result) -> None:
    for name in ("source", "dialect", "coverage", "policy", "assumptions", "diagnostics", "dims"):
        assert getattr(loaded, name) == getattr(result, name), name
    for name in ("inputs", "outputs", "tensors"):
        ours, theirs = getattr(result, name), getattr(loaded, name)
        assert {n: str(i) for n, i in theirs.items()} == {n: str(i) for n, i in ours.items()}
        assert list(theirs) == list(ours)
    assert str(loaded.contract) == str(result.contract)
    assert [p.chain for p in loaded.contract] == [p.chain for p in result.contract]


def test_the_dims_of_a_pickle_are_equal_to_each_other_and_to_no_others() -> None:
    result = infer_shapes(CONVNET)
    first, second = pickled(result), pickled(result)
    assert first.tensors["image"].shape == (*first.tensors["down"].shape[:1], 3, *first.tensors["down"].shape[2:])
    batch = first.tensors["image"].shape[0]
    assert batch in first.tensors["half"].shape.symbols()
    assert batch != second.tensors["image"].shape[0] != result.tensors["image"].shape[0]
    assert batch + 1 is 1 + first.outputs["mask"].shape[0]


def test_a_loaded_dim_is_in_canonical_form() -> None:
    scope = Scope()
    width, height = scope.symbol("width"), scope.symbol("height", 2, 64)
    rest = scope.fresh("rest")
    for _ in range(50):
        scope.fresh("unrelated")
    size = 2 * maximum((2 * height + width) // 3, rest + 1) - height
    loaded, low, unknown = pickled((size, height, rest))
    other = low.scope.symbol("width")
    assert str(loaded) == str(size)
    assert loaded is 2 * maximum((2 * low + other) // 3, unknown + 1) - low
    assert (low.symbol.lo, low.symbol.hi, unknown.is_anonymous) == (2, 64, True)
    assert low.scope.fresh("rest") != unknown
    assert len(pickle.dumps(height)) < 300, "a pickle takes only the atoms of its dims along"


def test_an_unknown_rank_equals_only_itself_also_after_a_pickle() -> None:
    unknown = Shape.unknown()
    first, again, other = pickled((unknown, unknown, Shape.unknown()))
    assert first == again and first != other and first != unknown
    assert copy.deepcopy([unknown]) == [unknown] and copy.copy(unknown) == unknown


@pytest.mark.parametrize(
    "name", ["memory", "cost", "program", "explain", "unknowns", "update", "save", "graph", "store"]
)
def test_what_a_pickle_does_not_have_says_so(name: str) -> None:
    loaded = pickled(infer_shapes(CONVNET))
    with pytest.raises(NotPickledError, match=f"this result was pickled, and a pickle has no '{name}'"):
        getattr(loaded, name)
    assert not hasattr(loaded, name)
    assert "PickledResult" in repr(loaded)


def test_a_loaded_result_refuses_unknown_tensors() -> None:
    loaded = pickled(infer_shapes(CONVNET))
    assert str(loaded.tensor("half")) == "float32[batch, 8, height//2, width//2]"
    with pytest.raises(UnknownNameError, match="did you mean 'half'"):
        loaded.tensor("hulf")


def test_a_loaded_contract_has_preconditions_that_hold_or_not() -> None:
    contract = infer_shapes(CONVNET).contract
    loaded = pickled(contract)
    assert str(loaded) == str(contract) and len(loaded) == 2
    assert [p.holds({"height": 6, "width": 7}) for p in loaded] == [True, False]
    assert str(pickled(loaded)) == str(loaded)
    with pytest.raises(NotPickledError, match="this contract was pickled"):
        loaded.check(batch=1)


def test_memory_arrives_with_its_formulas() -> None:
    memory = infer_shapes(CONVNET).memory()
    loaded = pickled(memory)
    for name in ("weights", "inputs", "outputs", "activations", "bodies", "peak"):
        assert str(getattr(loaded, name)) == str(getattr(memory, name)), name
    assert loaded.peak.exact and pickled(memory.peak) is not None
    with pytest.raises(NotPickledError, match="this peak was pickled"):
        loaded.peak.at(batch=1)
    with pytest.raises(NotPickledError, match="this memory was pickled"):
        loaded.plan()


def test_a_cost_arrives_with_its_amounts() -> None:
    cost = infer_shapes(CONVNET).cost()
    loaded = pickled(cost)
    assert repr(loaded) == repr(cost).replace("Cost", "PickledCost")
    assert [(n.name, str(n.macs)) for n in loaded.nodes] == [(n.name, str(n.macs)) for n in cost.nodes]
    assert str(loaded.by_operator["Conv"].bytes) == str(cost.by_operator["Conv"].bytes)
    with pytest.raises(NotPickledError, match="this cost was pickled, and a pickle has no 'at'"):
        loaded.at(batch=1)


@pytest.mark.parametrize("sizes", [{}, {"batch": 1, "height": 64, "width": 64}], ids=["all", "bound"])
def test_a_summary_of_memory_prints_the_same_in_another_process(sizes: dict[str, int]) -> None:
    memory = infer_shapes(CONVNET).memory()
    summary = summarize_memory(memory, sizes, 1 << 20, lambda: memory)
    loaded = pickled(summary)
    assert list(memory_lines(loaded, 3)) == list(memory_lines(summary, 3))
    assert report_memory("m", loaded) == report_memory("m", summary)


def test_plain_records_arrive_equal() -> None:
    result = infer_shapes(CONVNET)
    sizes = {"batch": 1, "height": 64, "width": 64}
    for record in (
        result.memory().plan(sizes),
        result.contract.check(sizes),
        result.contract.solve("height", range(9)),
        result.coverage,
        Diagnostic("error", "S101", "x", node="n", axis=1),
        build_report(result),
        Shape((1, 2)),
    ):
        assert pickled(record) == record


@pytest.mark.parametrize("build", [lambda: infer_shapes(CONVNET).program(), lambda: bind(CONVNET, {"batch": 2})])
def test_what_cannot_be_pickled_says_what_to_do(build: Callable[[], Any]) -> None:
    value = build()
    with pytest.raises(UnpicklableError, match=f"a {type(value).__name__} cannot be pickled: "):
        pickle.dumps(value)


ERRORS: list[ShapeInferenceError] = [
    ShapeError("a rule", operands=("a", "b"), because="c", help="d"),
    Contradiction("two", Source("n", "one"), Source("m", "other")),
    ModelError("is empty", node="x.onnx"),
    UnknownNameError("dim", "batsh", ["batch"]),
    MissingSizeError(["batch"], "bind it"),
    IllegalSizeError("n % 2 == 0", Source("n", "rule"), 0, {"n": 3}),
    shapeinf.errors.BindError("no", [Diagnostic("error", "S101", "x")]),
    shapeinf.errors.LayoutSyntaxError("{1,0", 4, "'}'"),
    shapeinf.errors.MissingPackageError("this", "numpy", "x"),
    NotPickledError("result", "memory"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_arrive_with_their_fields(error: ShapeInferenceError) -> None:
    loaded = pickled(error)
    assert type(loaded) is type(error) and str(loaded) == str(error)
    assert vars(loaded) == vars(error)


def test_no_error_has_a_way_of_its_own_to_be_pickled() -> None:
    classes = [c for _, c in inspect.getmembers(shapeinf.errors, inspect.isclass) if issubclass(c, ShapeInferenceError)]
    assert len(classes) > 20
    assert {c.__reduce__ for c in classes} == {ShapeInferenceError.__reduce__}


def test_a_copy_of_a_result_is_independent_of_updates() -> None:
    result = infer_shapes(CONVNET)
    for copied in (copy.copy(result), copy.deepcopy(result)):
        updated = result.update({"image": [1, 3, 8, 8]})
        assert updated.outputs["mask"].shape == (1, 1, 8, 8)
        assert str(copied.outputs["mask"].shape) == "[batch, 1, height, width]"
        result = infer_shapes(CONVNET)
    contract, memory = result.contract, result.memory()
    assert copy.deepcopy(contract) is contract and copy.copy(memory) is memory
    assert isinstance(memory, Memory)


def test_copies_of_types_are_equal() -> None:
    info = infer_shapes(CONVNET).tensors["half"]
    assert copy.deepcopy(info) == info and copy.copy(info.shape) == info.shape


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (1, 1, 8, 8)])
def test_a_shape_equals_the_tuple_of_its_dims(shape: tuple[int, ...]) -> None:
    ours = Shape(shape)
    assert ours == shape and shape == ours and ours != (9, *shape)
    assert hash(ours) == hash(shape) and {ours: 1}[shape] == 1
    assert ours != (*shape, 1) and ours != list(shape) and ours != None  # noqa: E711
    assert list(ours) == list(shape) and len(ours) == len(shape) and ours[1:] == shape[1:]
    with pytest.raises(IndexError, match="axis 9 is out of range"):
        ours[9]
    with pytest.raises(ShapeError):
        ours[-9]


def test_symbolic_shapes_equal_tuples_of_their_dims_only() -> None:
    scope = Scope()
    n = scope.symbol("n")
    assert Shape((n, 2)) == (n, 2) and Shape((n, 2)) != (Scope().symbol("n"), 2)
    assert Shape.unknown() != () and n != None and n != 1  # noqa: E711
    with pytest.raises(TypeError, match="n is symbolic"):
        int(n)
    with pytest.raises(SymbolicSizeError):
        int(n + 1)
    assert [int(dim) for dim in Shape((3, 4))] == [3, 4]


def test_a_large_result_does_not_exceed_the_recursion_limit() -> None:
    scope = Scope()
    dim = total = scope.symbol("n")
    for _ in range(20):
        dim = (dim + 1) // 2
        total = total + dim
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(600)
    try:
        assert str(pickled(total)) == str(total)
    finally:
        sys.setrecursionlimit(limit)


def test_a_pickle_says_what_it_holds_for() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> g (float[n, 6] x, int64[k] shape) => (float[r, s] y) '
        "{ y = Reshape (x, shape) }"
    )
    result = infer_shapes(model, values={"shape": [2, -1]})
    loaded = pickled(result)
    assert_same_data(loaded, result)
    assert loaded.assumptions == ("shape = [2, -1]",)
    assert str(loaded.contract).endswith("\nholds for shape = [2, -1]")


def test_a_pickle_says_that_the_work_budget_was_reached() -> None:
    contract = infer_shapes(CONVNET).contract.with_work(1)
    assert contract.cut
    assert str(pickled(contract)) == str(contract)
    assert "not simplified" in str(contract)


def records() -> dict[str, Any]:
    result = infer_shapes(CONVNET)
    sizes = {"batch": 1, "height": 64, "width": 64}
    memory = result.memory()
    return {
        "Result": result,
        "Contract": result.contract,
        "Memory": memory,
        "Peak": memory.peak,
        "Cost": result.cost(),
        "Plan": memory.plan(sizes),
        "LegalSizes": result.contract.solve("height", range(9)),
        "TensorInfo": result.tensors["half"],
        "Coverage": result.coverage,
        "ModelReport": build_report(result),
        "a loaded result": pickled(result),
    }


@pytest.mark.parametrize("name", records())
def test_a_pickle_of_another_version_says_what_to_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version is checked first: the classes of the pickle may have moved since."""
    record = records()[name]
    with monkeypatch.context() as patch:
        patch.setattr("shapeinf.__version__", "0.0.9")
        old = pickle.dumps(record)
    cls = type(pickled(record))
    for data in (old, old.replace(cls.__module__.encode(), b"x" * len(cls.__module__))):
        with pytest.raises(
            PickleVersionError, match=r"^this pickle is of shapeinf 0\.0\.9, and .*: infer the model again"
        ):
            pickle.loads(data)


@pytest.mark.parametrize("name", records())
def test_a_pickle_with_other_fields_says_what_to_do(name: str) -> None:
    load, (version, cls, values) = pickled(records()[name]).__reduce__()
    field = next(iter(values))
    for other in ({**values, "further": 1}, {key: values[key] for key in values if key != field}):
        with pytest.raises(PickleVersionError, match=f"its {cls.__name__} has other fields: infer the model again"):
            load(version, cls, other)


def test_a_pickle_without_a_version_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the versions before this check wrote them: the class, then its fields by name."""
    report = build_report(infer_shapes(CONVNET))
    cls = type(report)
    with monkeypatch.context() as patch:
        patch.setattr(cls, "__reduce__", object.__reduce__)
        patch.setattr(
            cls,
            "__reduce_ex__",
            lambda self, _: (copyreg.__newobj__, (cls,), attrs.asdict(self, recurse=False)),
        )
        old = pickle.dumps(report)
    with pytest.raises(PickleVersionError, match=r"by an older shapeinf than this .*: infer the model again"):
        pickle.loads(old)
