"""Preconditions of graphs; expectations are worked out by hand from the rules of the operators."""

import itertools

import numpy as np
import onnx
import pytest

from shapeinf import ShapeInferenceError, UnknownNameError, infer_shapes
from shapeinf.solver import isl
from shapeinf.solver.budget import NEEDS_ISL
from shapeinf.solver.quasi_affine import MAX_TRIED


def model(text, opset=17):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}, "own" : 1]>\n{text}')


def contract(text, **options):
    return infer_shapes(model(text), **options).contract


FIXED_BATCH = """g (float[batch, 6] x) => (float[n, m] y)
<int64[2] wanted = {1, 6}> { [row] y = Reshape(x, wanted) }"""
TWO_NAMES = "g (float[batch, 4] x, float[rows, 4] w) => (float[n, m] y) { [both] y = Concat<axis = 1>(x, w) }"
ADDED = "g (float[batch, 4] x, float[rows, 4] w) => (float[n, m] y) { [sum] y = Add(x, w) }"
GROUPS = """g (float[n, length] x) => (float[a, b, c] y)
<int64[3] wanted = {0, -1, 8}> { [parts] y = Reshape(x, wanted) }"""
THREE = "g (float[batch, 4] x, float[3, 1] w) => (float[n, m] y) { [sum] y = Add(x, w) }"
DECIDED = """g (float[batch, 4] x, float[rows, 4] w) => (float[n, m] y)
{ [sum] s = Add(x, w)
  [both] y = Concat<axis = 1>(x, w) }"""
KERNEL = """g (float[1, 2, past] cache, float[1, 2, seq] new, float[1, 2, 5] w) => (float[a, b, c] y)
{ [join] all = Concat<axis = 2>(cache, new)
  [filter] y = Conv(all, w) }"""
UNNAMED = "g (float[?, 4] x, float[3, 4] w) => (float[n, m] y) { [both] y = Concat<axis = 1>(x, w) }"
SKIP = """g (float[1, 1, H] x) => (float[a, b, c] y)
<float[1, 1, 2] w = {1, 1}>
{ [half] s = Conv<strides = [2], kernel_shape = [2]>(x, w)
  [back] b = ConvTranspose<strides = [2], kernel_shape = [2]>(s, w)
  [skip] y = Concat<axis = 1>(x, b) }"""
POOLED = """g (float[1, 1, H] x) => (float[a, b, c] y)
{ [pool] y = MaxPool<kernel_shape = [3], strides = [2]>(x) }"""
TABLE = """g (float[1, seq, 4] x, float[1, 512, 4] table) => (float[a, b, c] y)
<int64[1] zero = {0}, int64[1] one = {1}>
{ s = Shape<start = 1, end = 2>(x)
  [cut] p = Slice(table, zero, s, one)
  [place] y = Concat<axis = 2>(x, p) }"""
EMPTY_PARTS = """g (float[2, n] x) => (float[a, b, c] y)
<int64[3] wanted = {0, 1, -1}> { p = Transpose(x) [parts] y = Reshape(p, wanted) }"""
FOUND = """g (float[n] x) => (int64[?, ?] y)
<int64[2] wanted = {0, -1}> { found = NonZero(x) rows = Transpose(found) [parts] y = Reshape(rows, wanted) }"""

CONDITIONS = [
    (EMPTY_PARTS, {}, []),
    (EMPTY_PARTS, {"min_dim": 0}, [("range", "n >= 1", "parts")]),
    (FOUND, {}, [("guard", "`found.count` >= 1", "parts")]),
    (FIXED_BATCH, {}, [("value", "batch == 1", "row")]),
    (FIXED_BATCH, {"bind": {"batch": 1}}, []),
    (TWO_NAMES, {}, [("equality", "rows == batch", "both")]),
    (TWO_NAMES, {"assume": ["rows == batch"]}, []),
    (ADDED, {}, [("alternative", "batch == rows or batch == 1 or rows == 1", "sum")]),
    (ADDED, {"min_dim": 2}, [("equality", "rows == batch", "sum")]),
    (THREE, {}, [("alternative", "batch == 3 or batch == 1", "sum")]),
    (DECIDED, {}, [("equality", "rows == batch", "both")]),
    (GROUPS, {}, [("divisibility", "length % 8 == 0", "parts")]),
    (KERNEL, {}, [("relation", "past + seq >= 5", "filter")]),
    (KERNEL, {"dims": {"past": "4.."}}, []),
    (UNNAMED, {}, [("value", "x.shape[0] == 3", "both")]),
    (SKIP, {}, [("divisibility", "H % 2 == 0", "skip")]),
    (POOLED, {}, [("assumption", "H >= 3", "pool")]),
    (TABLE, {}, [("range", "seq <= 512", "place")]),
    (TABLE, {"dims": {"seq": "..512"}}, []),
]


@pytest.mark.parametrize(("text", "options", "expected"), CONDITIONS)
def test_conditions(text, options, expected):
    conditions = contract(text, **options).preconditions
    assert sorted((c.kind, c.text, c.node) for c in conditions) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "names", "predicate"),
    [
        (FIXED_BATCH, "batch", lambda batch: batch == 1),
        (TWO_NAMES, "batch rows", lambda batch, rows: batch == rows),
        (ADDED, "batch rows", lambda batch, rows: batch == rows or 1 in (batch, rows)),
        (THREE, "batch", lambda batch: batch in (1, 3)),
        (GROUPS, "length", lambda length: length % 8 == 0),
        (KERNEL, "past seq", lambda past, seq: past + seq >= 5),
        (SKIP, "H", lambda height: height % 2 == 0),
        (TABLE, "seq", lambda seq: seq <= 512),
    ],
)
def test_a_condition_holds_at_sizes_or_not(text, names, predicate):
    (condition,) = contract(text)
    for sizes in itertools.product((1, 2, 3, 4, 5, 8, 16, 511, 512, 513), repeat=len(names.split())):
        assert condition.holds(dict(zip(names.split(), sizes, strict=True))) is predicate(*sizes)
    assert condition.holds({}) is None


def test_the_text_of_a_precondition_names_the_node_and_the_rule():
    (condition,) = contract(FIXED_BATCH).preconditions
    assert (condition.op, condition.symbols, condition.location) == ("Reshape", ("batch",), "")
    assert str(condition).startswith("batch == 1, required by Reshape 'row': ")
    assert "x.shape[0]" in condition.chain[-1]


def test_the_chain_leads_to_the_input():
    (condition,) = contract(POOLED).preconditions
    assert condition.chain == ("x.shape[2] = H, declared by an input",)
    (condition,) = contract(SKIP).preconditions
    assert condition.chain[-1] == "x.shape[2] = H, declared by an input"


WINDOWS = """g (float[1, 1, H] x, float[1, 1, 3] w, float[1, 1, 7] v, float[1, 1, 90] table) => (float[a, b, c] y)
<int64[1] zero = {0}, int64[1] one = {1}, int64[1] axis = {2}>
{ [small] p = Conv(x, w)
  [large] q = Conv(x, v)
  s = Shape<start = 2, end = 3>(x)
  [cut] t = Slice(table, zero, s, axis, one)
  [place] u = Concat<axis = 1>(x, t)
  [pool] y = MaxPool<kernel_shape = [9], strides = [2]>(x) }"""


def test_bounds_of_a_dim_have_a_node_each():
    conditions = contract(WINDOWS).preconditions
    texts = sorted((c.kind, c.text, c.node) for c in conditions)
    assert texts == [
        ("assumption", "H >= 9", "pool"),
        ("range", "H <= 90", "place"),
        ("range", "H >= 7", "large"),
    ]


def test_a_bound_lists_the_weaker_bounds_that_it_implies():
    (large,) = (c for c in contract(WINDOWS) if c.node == "large")
    assert [(c.text, c.node) for c in large.weaker] == [("H >= 3", "small")]


def test_bounds_that_equations_come_to_are_merged_too():
    """n fits where (n - 1)//2 == (n - 1)//4 == (n - 1)//8: up to 2 for the first, up to 4 for the second."""
    conditions = contract("""g (float[1, 1, n] x) => (float[a, b, c] y, float[d, e, f] z)
{ p = MaxPool<kernel_shape = [1], strides = [2]>(x)
  q = MaxPool<kernel_shape = [1], strides = [4]>(x)
  r = MaxPool<kernel_shape = [1], strides = [8]>(x)
  [large] y = Concat<axis = 1>(q, r)
  [small] z = Concat<axis = 1>(p, q) }""")
    assert [(c.text, c.node, [(w.text, w.node) for w in c.weaker]) for c in conditions] == [
        ("n <= 2", "small", [("n <= 4", "large")])
    ]


CHECKS = [
    (FIXED_BATCH, {"batch": 1}, True),
    (FIXED_BATCH, {"batch": 2}, False),
    (FIXED_BATCH, {}, None),
    (ADDED, {"batch": 3, "rows": 3}, True),
    (ADDED, {"batch": 3, "rows": 1}, True),
    (ADDED, {"batch": 3, "rows": 2}, False),
    (ADDED, {"batch": 1}, True),
    (ADDED, {"batch": 3}, None),
    (GROUPS, {"length": 24}, True),
    (GROUPS, {"length": 12}, False),
    (GROUPS, {"n": 2}, None),
    (KERNEL, {"past": 1, "seq": 4}, True),
    (KERNEL, {"past": 1, "seq": 3}, False),
    (KERNEL, {"past": 5}, True),
    (UNNAMED, {"x.shape[0]": 3}, True),
    (UNNAMED, {"x.shape[0]": 2}, False),
    (POOLED, {"H": 1}, True),
    (TABLE, {"seq": 512}, True),
    (TABLE, {"seq": 513}, False),
]


@pytest.mark.parametrize(("text", "sizes", "verdict"), CHECKS)
def test_check(text, sizes, verdict):
    answer = contract(text).check(sizes)
    assert answer.verdict is verdict, str(answer)
    assert bool(answer.reasons) == (verdict is not True)


def test_a_size_that_the_user_has_ruled_out_is_none():
    answer = contract(ADDED, dims={"batch": "1..8"}).check(batch=9)
    assert answer.verdict is False and "batch" in answer.reasons[0]


def test_an_operator_without_a_rule_may_require_anything():
    answer = contract("g (float[batch, 4] x) => (float[n, m] y) { [odd] y = own.Odd(x) }").check(batch=2)
    assert answer.verdict is None


def test_names_that_no_input_has():
    for query in (lambda c: c.check(batsh=2), lambda c: c.solve("batsh", range(4))):
        with pytest.raises(UnknownNameError, match="did you mean 'batch'"):
            query(contract(FIXED_BATCH))


def test_sizes_of_a_question_are_ints_of_any_kind():
    assert [contract(FIXED_BATCH).check(batch=size).verdict for size in np.arange(1, 3)] == [True, False]
    for size in ("2", 2.5, None):
        with pytest.raises(ShapeInferenceError, match="the size of batch must be an int, not"):
            contract(FIXED_BATCH).check(batch=size)


SOLVED = [
    (FIXED_BATCH, "batch", range(1, 9), [range(1, 2)]),
    (GROUPS, "length", range(1, 33), [range(8, 33, 8)]),
    (KERNEL, "past", range(1, 9), [range(1, 9)]),
    (KERNEL, "past", range(0, 9), [range(0, 9)]),
    (SKIP, "H", range(1, 10), [range(2, 9, 2)]),
    (TABLE, "seq", (1, 511, 512, 513, 2048), [range(1, 2), range(511, 513)]),
]


@pytest.mark.parametrize(("text", "name", "values", "pieces"), SOLVED)
def test_solve(text, name, values, pieces):
    legal = contract(text).solve(name, values)
    assert list(legal.pieces) == pieces
    assert legal.engine == "solved"


BROADCAST = "g (float[a] x, float[b] y) => (float[n] z) { z = Add(x, y) }"


def test_many_sizes_of_a_dim_that_another_one_limits_need_isl(monkeypatch):
    sizes = range(1, MAX_TRIED + 2)
    if isl.ISL_INSTALLED:
        solved = contract(BROADCAST).solve("a", sizes)
        assert (solved.values, solved.engine, solved.needs_isl) == (tuple(sizes), "solved", False)
    monkeypatch.setattr(isl, "ISL_INSTALLED", False)
    few = contract(BROADCAST).solve("a", sizes[:9])
    assert (few.values, few.engine, few.needs_isl) == (tuple(sizes[:9]), "solved", False)
    many = contract(BROADCAST).solve("a", sizes)
    assert (many.values, many.untried, many.needs_isl) == ((), tuple(sizes), True)
    assert str(many) == f"a in nothing (1..{MAX_TRIED + 1} not decided: {NEEDS_ISL})"


BRANCH = """g (bool flag, float[batch, 6] x) => (float[n, m] y)
<int64[2] wanted = {1, 6}>
{ [choice] y = If(flag) <then_branch = a () => (float[r, t] s) { [turn] s = Reshape(x, wanted) },
                         else_branch = b () => (float[p, q] u) { u = Identity(x) }> }"""


def test_preconditions_of_a_branch_depend_on_data():
    graph_contract = contract(BRANCH)
    assert graph_contract.check(batch=1).verdict is True
    answer = graph_contract.check(batch=2)
    assert answer.verdict is None and "turn" in answer.reasons[0]


def test_preconditions_of_a_branch_name_the_branch():
    (condition,) = contract(BRANCH).preconditions
    assert (condition.kind, condition.text, condition.node, condition.op) == (
        "guard",
        "batch == 1",
        "choice/turn",
        "Reshape",
    )
    assert condition.where == "then_branch of If 'choice'"
    assert contract(BRANCH).check().verdict is None


LOOP = """g (int64 count, float[batch, 6] x, float[rows, 6] w) => (float[n, m] y, float[k, p, q] all)
<bool yes = {1}>
{ [again] y, all = Loop(count, yes, x)
    <body = b (int64 i, bool go, float[r, s] old) => (bool go_on, float[t, u] new, float[v, z] row) {
      go_on = Identity(go)
      new = Identity(old)
      [join] row = Concat<axis = 1>(old, w) }> }"""


def test_preconditions_of_a_loop_that_may_make_no_trip():
    graph_contract = contract(LOOP)
    (condition,) = graph_contract.preconditions
    assert (condition.kind, condition.text, condition.where) == ("guard", "rows == batch", "body of Loop 'again'")
    assert graph_contract.check(batch=2, rows=2).verdict is True
    assert graph_contract.check(batch=2, rows=3).verdict is None


FUNCTION = """g (float[batch, 6] x) => (float[n, m] y) { [call] y = own.row(x) }
<domain: "own", opset_import: ["" : 17]>
row (a) => (b) { wanted = Constant<value = int64[2] {1, 6}>()
  [inside] b = Reshape(a, wanted) }"""


def test_preconditions_of_a_function():
    (condition,) = contract(FUNCTION).preconditions
    assert (condition.kind, condition.text, condition.op, condition.node) == (
        "value",
        "batch == 1",
        "Reshape",
        "call/inside",
    )


def test_a_precondition_has_a_line_in_a_document():
    text = "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1, 8]);\n"
    text += "    w = variable(shape = [8, 4], label = 'w');\n    y = matmul(x, w);\n}\n"
    (condition,) = infer_shapes(text, inputs={"x": "[batch, width]"}).contract.preconditions
    assert (condition.text, condition.op, condition.location) == ("width == 8", "matmul", "<text>:6:9")


def test_choices_that_later_nodes_leave_nothing_of():
    text = """g (float[a] x, float[b] z) => (float[] y, float[] p, float[] q)
        <float[7] seven = {1, 1, 1, 1, 1, 1, 1}, float[5] five = {1, 1, 1, 1, 1}>
        { y = Add(x, z)  p = MatMul(x, seven)  q = MatMul(z, five) }"""
    result = infer_shapes(model(text))
    (error,) = result.diagnostics
    assert error.code == "S101" and "operands must broadcast (y)" in str(error)
    assert result.contract.check().verdict is False
    assert result.contract.check(a=7, b=5).verdict is False
    relaxed = text.replace("q = MatMul(z, five)", "q = Relu(z)")
    assert infer_shapes(model(relaxed)).contract.solve("b", range(1, 9)).values == (1, 7)


@pytest.mark.parametrize("text", [DECIDED, KERNEL, THREE, GROUPS])
def test_little_work_leaves_preconditions_as_they_were_added(text):
    full = contract(text)
    little = full.with_work(0)
    assert little.cut == ("work budget" in str(little)) and not full.cut
    for n in range(1, 9):
        name = full.preconditions[0].symbols[0]
        exact, rough = full.check({name: n}), little.check({name: n})
        assert rough.verdict in (exact.verdict, None)
        assert rough.cut == ("with_work" in str(rough))


def test_a_minimum_that_needs_work_to_be_a_range():
    constants = "int64[1] z = {0}, int64[1] e = {64}, int64[1] last = {9223372036854775807}, int64[1] two = {2}"
    text = f"""g (float[n] x) => (float[] y) <{constants}> {{
          p = Slice(x, z, e) g = Slice(p, z, last, z, two) h = Slice(x, z, last, z, two)
          a = Concat<axis = 0>(p, g) b = Concat<axis = 0>(x, h) y = Add(a, b) }}"""
    full = contract(text)
    (condition,) = full
    assert condition.text == "n <= 64"
    little = full.with_work(0)
    assert little.cut and "range" not in [condition.kind for condition in little]
    assert [all(condition.holds({"n": n}) for condition in little) for n in (64, 65)] == [True, False]
    assert "contract.with_work(...) sets a larger one" in str(little)


@pytest.mark.parametrize("size", [513, 2**31, 2**32, 2**53 + 1])
def test_a_table_of_positions_limits_every_larger_size(size: int) -> None:
    """The positions up to a large number are too many to follow; the precondition on them holds for all sizes."""
    assert infer_shapes("examples/decoder.onnx").contract.check(seq=size, batch=1).verdict is False
