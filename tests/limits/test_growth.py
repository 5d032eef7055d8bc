"""What made the work of some models grow faster than the models, each counted in steps or calls, never in seconds."""

import cProfile
import gc

import onnx
import pytest
from click.testing import CliRunner
from hypothesis import assume, given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from shapeinf import Result, api, infer_shapes
from shapeinf.checks import api as checks_api
from shapeinf.checks import check, numeric_runs
from shapeinf.cli import model_options
from shapeinf.cli.main import main
from shapeinf.engine import garbage
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.runs import walk_runs
from shapeinf.engine.schema_violations import SchemaViolations
from shapeinf.engine.type_table import TypeTable
from shapeinf.expr import DimSize, Scope, interval, maximum, printing
from shapeinf.expr.evaluation import evaluate
from shapeinf.expr.interval import direction_of
from shapeinf.expr.nests import join, open_dim, proven_order
from shapeinf.report.live import render_report
from shapeinf.solver import budget
from tests.limits.hostile import functions_in_branches, many_inputs, tower

MOST_GROWTH = 1.3
"""The factor by which the work for each item may grow."""


def conditionals(count: int) -> bytes:
    """Conditionals of the same input, each with branches of two sizes: every one joins two symbols."""
    nodes = []
    for i in range(count):
        then = helper.make_node("Relu", ["x"], ["t"])
        other = helper.make_node("Concat", ["x", "x"], ["t"], axis=0)
        ends = [helper.make_empty_tensor_value_info("t")]
        branches = [helper.make_graph([node], "b", [], ends) for node in (then, other)]
        nodes.append(helper.make_node("If", ["c"], [f"y{i}"], then_branch=branches[0], else_branch=branches[1]))
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "m"]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info(f"y{count - 1}")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()


def calls(function, *arguments):
    """The number of calls of functions that a call makes."""
    profile = cProfile.Profile()
    profile.runcall(function, *arguments)
    return sum(entry.callcount for entry in profile.getstats())


def test_a_join_does_not_visit_the_joins_before_it():
    few, many = (infer_shapes(conditionals(count)).engine.scope.work / count for count in (50, 200))
    assert many <= MOST_GROWTH * few


def test_schema_violations_are_sought_once_in_each_body():
    def calls_per_run(levels):
        inference = infer_shapes(functions_in_branches(levels)).engine.inference
        calls(SchemaViolations, inference)  # imports what it needs
        return calls(SchemaViolations, inference) / len(list(walk_runs(inference)))

    assert calls_per_run(7) <= MOST_GROWTH * calls_per_run(4)


def test_a_body_that_may_not_run_is_not_searched_for_certain_violations():
    inference = infer_shapes(functions_in_branches(6)).engine.inference
    certain = sum(run.inference.certain for run in walk_runs(inference))
    assert certain < 10 < len(list(walk_runs(inference)))
    assert calls(certain_violations, inference) < 40 * certain


def test_the_work_of_nested_divisions():
    """Each numerator only grows with the size: its bounds need no splits."""
    assert infer_shapes(tower("Add", "Div", levels=100)).engine.scope.work < 80_000


STEPS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(0, 6)), min_size=1, max_size=5)


@given(STEPS, st.booleans())
def test_bounds_of_a_dim_that_only_grows_are_its_values_at_the_ends(steps, falls) -> None:
    scope = Scope()
    x, y = scope.symbol("x", 2, 19), scope.symbol("y", 0, 7)
    d: DimSize = x
    for factor, divisor, number in steps:
        d = maximum(factor * d + y, number) // divisor + d
    d = 3 - d if falls else d
    assume(direction_of(d) != 0)  # some quotients are written with two signs
    ends = sorted(int(evaluate(d, dict(zip("xy", sizes, strict=True)))) for sizes in ((2, 0), (19, 7)))
    bounds = interval(d)
    assert [bounds.lo, bounds.hi] == ends


def test_arguments_of_one_maximum_are_not_compared_again():
    compared = []

    def at_least_zero(difference: DimSize) -> bool:
        compared.append(difference)
        return proven_order(difference)

    scope = Scope()
    symbols = [scope.symbol(f"n{i}") for i in range(8)]
    nests = [open_dim(scope, maximum(*symbols[:7]), proven_order), open_dim(scope, symbols[7], proven_order)]
    assert len(join(nests, at_least_zero)) == 8
    assert len(compared) == 2 * 7


def test_a_symbol_is_its_own_text(monkeypatch):
    monkeypatch.setattr(printing, "_Printer", None)
    scope = Scope()
    assert [str(scope.symbol("n")), str(scope.symbol("odd name"))] == ["n", "`odd name`"]


def test_diagnostics_are_collected_once(monkeypatch):
    result = infer_shapes(conditionals(1))
    first = result.diagnostics
    monkeypatch.setattr("shapeinf.result.collect_diagnostics", None)
    assert result.diagnostics == first


def cut_result(monkeypatch) -> Result:
    """The result of a model whose bodies exceed the budget."""
    monkeypatch.setattr(budget, "WORK_IN_BODIES", 2_000)
    monkeypatch.setattr(budget, "bodies_budget", lambda rows, scope: budget.Budget(2_000, scope))
    monkeypatch.setattr("shapeinf.engine.inference.bodies_budget", budget.bodies_budget)
    return infer_shapes(functions_in_branches(6), declared="check")


def test_a_model_whose_bodies_exceed_the_budget_is_not_run_at_sizes(monkeypatch):
    result = cut_result(monkeypatch)
    assert result.engine.inference.budget.cut
    monkeypatch.setattr(numeric_runs, "violations_at", None)
    assert [note.code for note in check(result)] == ["S202", "C180"]


def test_a_command_takes_fewer_steps_than_one_query():
    with budget.total_budget() as total:
        assert total.steps < budget.WORK
        budget.raise_total(budget.WORK)  # the default of each option
        assert total.steps == budget.WORK_OF_COMMAND


def test_a_long_query_pauses_the_garbage_collector(monkeypatch):
    enabled = []
    run_checks = checks_api._run_checks

    def record(model):
        enabled.append(gc.isenabled())
        return run_checks(model)

    monkeypatch.setattr(checks_api, "_run_checks", record)
    gc.enable()
    check(infer_shapes(conditionals(1), declared="check"))
    assert enabled == [False] and gc.isenabled()


def unknown_ranks(count: int) -> bytes:
    """Inputs of unknown rank, each with a node that makes its rank known."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
        for i in range(count)
        for name, dims in ((f"u{i}", None), (f"x{i}", ["n", i + 2]))
    ]
    nodes = [helper.make_node("Concat", [f"u{i}", f"x{i}"], [f"y{i}"], axis=0) for i in range(count)]
    nodes += [helper.make_node("Relu", [f"u{i}"], [f"z{i}"]) for i in range(count)]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info("z0")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()


def test_a_rank_that_becomes_known_changes_only_its_types(monkeypatch):
    def canonicalized(count):
        numbers = []
        canonicalize = TypeTable._canonicalize
        monkeypatch.setattr(TypeTable, "_canonicalize", lambda s, n: (numbers.append(n), canonicalize(s, n))[1])
        result = infer_shapes(unknown_ranks(count))
        monkeypatch.undo()
        assert [str(result.tensors[f"z{i}"].shape.dims[1]) for i in range(count)] == [str(i + 2) for i in range(count)]
        return len(numbers) / count

    assert canonicalized(80) <= MOST_GROWTH * canonicalized(20)


@pytest.mark.parametrize(
    ("declared", "inferences"), [([None, 3], 1), (["n", 3], 1), (["n", 4], 1), (None, 1), ([5, "m"], 2)]
)
def test_a_report_infers_twice_only_where_declarations_complete_types(declared, inferences, monkeypatch, tmp_path):
    """The second inference only compares declarations; the output has an unknown number of rows, and 3 columns."""
    counted = []
    monkeypatch.setattr(model_options, "infer", lambda *a: (counted.append(a), api.infer(*a))[1])
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, declared)
    nodes = [
        helper.make_node("NonZero", ["x"], ["i"]),
        helper.make_node("Transpose", ["i"], ["t"]),
        helper.make_node("Cast", ["t" if declared == [5, "m"] else "x"], ["y"], to=TensorProto.FLOAT),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [output])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), tmp_path / "m.onnx")
    args = ["report", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "r.html")]
    main(args, standalone_mode=False)
    assert len(counted) == inferences


def test_a_page_and_a_text_count_the_terms_of_long_formulas(tmp_path):
    """JSON has all of them."""
    result = infer_shapes(many_inputs("Concat", 200))
    elided = f"... ({len(result.cost().total.bytes_read.terms)} terms)"
    assert elided in render_report(result)
    path = tmp_path / "m.onnx"
    path.write_bytes(many_inputs("Concat", 200))
    text, json = (CliRunner().invoke(main, ["cost", str(path), *form]).stdout for form in ((), ("--json",)))
    assert elided in text and elided not in json and "M199" in json


def test_frozen_objects_of_a_program_stay_frozen_and_are_counted_once(monkeypatch):
    """Counting visits each of them: in a server with millions it would take longer than an inference."""
    pace = garbage._Pace()
    monkeypatch.setattr(garbage, "_pace", pace)
    counts = []
    monkeypatch.setattr(garbage.gc, "get_freeze_count", lambda: counts.append(1) or 7)
    monkeypatch.setattr(garbage.gc, "freeze", None)
    for _ in range(3):
        with garbage.pause_garbage_collection():
            pass
    assert counts == [1] and pace.created == 0
