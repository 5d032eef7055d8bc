"""The integers for which conditions hold: classes and elimination against all points of a box, and against isl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import inf
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapeinf.constraints import ConstraintStore
from shapeinf.constraints.records import Clause, Constraint, any_holds
from shapeinf.errors import Contradiction, Source
from shapeinf.expr import Dimension, DimSize, Scope, maximum
from shapeinf.solver import isl, isl_sets, polytopes
from shapeinf.solver.answers import Infeasible, UndecidedError, Verdict
from shapeinf.solver.budget import Budget
from shapeinf.solver.integer_sets import (
    decide_le,
    decide_ne,
    possible_values,
    solution_interval,
    value_range,
)
from shapeinf.solver.linear_systems import CONSTANT, MAX_STEPS, Steps, System, has_point
from shapeinf.solver.periodic_sets import Group, solve_periodic
from shapeinf.solver.quasi_affine import Conditions, connected

pytest.importorskip("islpy", reason="isl is not installed")

NAMES = ("a", "b", "c")
FEW = settings(max_examples=settings().max_examples // 3)
SLOW = settings(max_examples=2000, derandomize=False)

Drawn = tuple[object, ...]
Relation = Literal[">= 0", "!= 0"]
NUMBERS = st.integers(-6, 6) | st.sampled_from([31, -64, 1 << 70, 1 - (1 << 70)])
DIVISORS = st.integers(2, 9) | st.sampled_from([16, 32])
LINES = st.tuples(st.just("line"), st.sampled_from(NAMES), st.sampled_from([1, 1, 2, 3, -1, -2, 5, 32]), NUMBERS)
QUASI_AFFINE = st.recursive(
    LINES,
    lambda inner: st.one_of(
        st.tuples(st.just("sum"), inner, inner),
        st.tuples(st.just("floor"), inner, DIVISORS),
        st.tuples(st.just("mod"), inner, DIVISORS),
        st.tuples(st.just("max"), inner, inner),
    ),
    max_leaves=4,
)
CLAUSES = st.tuples(QUASI_AFFINE, st.booleans())
GROUPS = st.lists(st.lists(CLAUSES, min_size=1, max_size=2), min_size=1, max_size=3)
BOUNDS = st.tuples(st.integers(-3, 3), st.none() | st.integers(0, 6))
"""The least size, and the number of further ones."""


def build(scope: Scope, drawn: Drawn, names: Mapping[str, str]) -> DimSize:
    kind, first, *rest = drawn
    if kind == "line":
        factor, constant = rest
        return scope.symbol(names[first]) * factor + constant  # type: ignore[index, operator]
    left = build(scope, first, names)  # type: ignore[arg-type]
    if kind in ("floor", "mod"):
        return left // rest[0] if kind == "floor" else left % rest[0]  # type: ignore[operator]
    right = build(scope, rest[0], names)  # type: ignore[arg-type]
    return left + right if kind == "sum" else maximum(left, right)


def build_groups(scope: Scope, drawn: list[list[tuple[Drawn, bool]]], names: Mapping[str, str]) -> list[Group]:
    return [tuple(Clause(build(scope, d, names), zero) for d, zero in group) for group in drawn]


def points(bounds: Mapping[str, tuple[int, int]]) -> Iterator[dict[str, int]]:
    for values in product(*(range(low, high + 1) for low, high in bounds.values())):
        yield dict(zip(bounds, values, strict=True))


def hold_at(groups: list[Group], point: Mapping[str, int]) -> bool:
    return all(any_holds(group, point) for group in groups)


# -- one symbol: the set itself ----------------------------------------------------------------------------------------

SAME = dict.fromkeys(NAMES, "a")


def check_periodic(drawn: list[list[tuple[Drawn, bool]]], low: int, count: int | None) -> None:
    scope = Scope()
    a = scope.symbol("a", low, None if count is None else low + count)
    groups = build_groups(scope, drawn, SAME)
    solved = solve_periodic(groups, a, (low, inf if count is None else low + count), Budget())
    if solved is None:
        return
    last = low + (3 * 288 if count is None else count)
    legal = [n for n in range(low, last + 1) if hold_at(groups, {"a": n})]
    assert [n for n in range(low - 9, last + 1) if n in solved] == legal
    assert bool(solved) or not legal
    if legal:
        assert solved.least == legal[0]
    if legal and count is not None:
        assert solved.greatest == legal[-1]
        assert solved.interval == ((legal[0], legal[-1]) if len(legal) == legal[-1] - legal[0] + 1 else None)


@given(GROUPS, BOUNDS)
def test_periodic_sets_are_the_sizes_at_which_conditions_hold(
    drawn: list[list[tuple[Drawn, bool]]], bounds: tuple[int, int | None]
) -> None:
    check_periodic(drawn, *bounds)


@given(GROUPS.filter(lambda groups: len(groups) == 1), BOUNDS)
def test_an_interval_is_that_of_isl(drawn: list[list[tuple[Drawn, bool]]], bounds: tuple[int, int | None]) -> None:
    store = ConstraintStore(Scope())
    a = store.scope.symbol("a", bounds[0], None if bounds[1] is None else sum(bounds))  # type: ignore[arg-type]
    ((clause, *_),) = build_groups(store.scope, drawn, SAME)
    constraint = Constraint("equality" if clause.zero else "relation", Source("", ""), clause.expression)
    if isinstance(clause.expression, Dimension):
        ours = solve_periodic([constraint.clauses], a, store.bounds(a), Budget())
        theirs = isl_sets.solution_interval(store, a, constraint, Budget(1 << 40))
        if ours is not None and theirs is not None:
            assert ours.interval == theirs
        assert solution_interval(store, a, constraint) in ((theirs,) if ours is None else (ours.interval,))


def test_sizes_past_the_largest_float() -> None:
    low = 10**400
    a = Scope().symbol("a", low)
    solved = solve_periodic([(Clause(a % 2 - 1, True),)], a, (low, inf), Budget())
    assert solved is not None
    assert (solved.least, solved.greatest) == (low + 1, inf)


def test_a_dim_of_another_symbol_is_undecided() -> None:
    """Such as the symbol that stands for an expression past a limit of sizes."""
    scope = Scope()
    a, other = scope.symbol("a"), scope.fresh("capped", 0, None)
    assert solve_periodic([(Clause(a % 2 + other, True),)], a, (0, inf), Budget()) is None


# -- several symbols: against all points of a box ----------------------------------------------------------------------


def check_hold(drawn: list[list[tuple[Drawn, bool]]], bounds: list[tuple[int, int | None]]) -> bool | None:
    """The answer; it is that of a search in the box, where all symbols are bounded."""
    store = ConstraintStore(Scope())
    box = {}
    for name, (low, count) in zip(NAMES, bounds, strict=True):
        store.scope.symbol(name, low, None if count is None else low + count)
        box[name] = (low, low + (4 if count is None else count))
    groups = build_groups(store.scope, drawn, {name: name for name in NAMES})
    try:
        answer = all([part.hold() for part in connected(store, groups, Budget())])
    except UndecidedError:
        return None
    has_point = any(hold_at(groups, point) for point in points(box))
    assert answer or not has_point
    if all(count is not None for _, count in bounds):
        assert answer is has_point
    return answer


@given(GROUPS, st.lists(BOUNDS, min_size=3, max_size=3))
def test_conditions_hold_where_a_point_of_the_box_satisfies_them(
    drawn: list[list[tuple[Drawn, bool]]], bounds: list[tuple[int, int | None]]
) -> None:
    check_hold(drawn, bounds)


# -- questions: against isl --------------------------------------------------------------------------------------------

KINDS = ("==", "<=", "%", "or")
CONSTRAINTS = st.lists(st.tuples(QUASI_AFFINE, st.sampled_from(KINDS), QUASI_AFFINE, DIVISORS), max_size=3)


def build_store(drawn: list[tuple[Drawn, str, Drawn, int]], bounds: list[tuple[int, int | None]]) -> ConstraintStore:
    """A store with all constraints that can be added."""
    store = ConstraintStore(Scope())
    names = {name: name for name in NAMES}
    for name, (low, count) in zip(NAMES, bounds, strict=True):
        store.scope.symbol(name, low, None if count is None else low + count)
    for i, (left, kind, right, divisor) in enumerate(drawn):
        a, b = build(store.scope, left, names), build(store.scope, right, names)
        source = Source(f"node{i}", "required")
        try:
            if kind == "%":
                store.add_divisible(a - b, divisor, source)
            elif kind == "or":
                store.add_disjunction("{0} == {1} or {0} == 1", source, a, b)
            else:
                (store.add_equal if kind == "==" else store.add_le)(a, b, source)
        except Contradiction:
            continue
    return store


def check_questions(
    drawn: list[tuple[Drawn, str, Drawn, int]], bounds: list[tuple[int, int | None]], sides: tuple[Drawn, Drawn]
) -> None:
    """Each answer without isl is that of isl, or a proof that isl misses, or it is undecided."""
    store = build_store(drawn, bounds)
    left, right = (build(store.scope, side, {name: name for name in NAMES}) for side in sides)
    a = store.scope.symbol("a")
    ample = Budget(1 << 40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isl, "ISL_INSTALLED", False)
        at_most, differ = decide_le(store, left, right), decide_ne(store, left, right)
        values = possible_values(store, a, range(41))
        try:
            ends = value_range(store, a)
        except Infeasible:
            ends = (1, 0)
    questions: list[tuple[Verdict, bool | None, DimSize, Relation]] = [
        (at_most, store.prove_le(left, right), store.canon(right - left), ">= 0"),
        (differ, store.prove_ne(left, right), store.canon(left - right), "!= 0"),
    ]
    for ours, known, e, relation in questions:
        theirs = isl_sets.decide(store, e, relation, ample)
        if known is None and theirs.engine == "isl" and ours.engine == "exact" and ours.value is not theirs.value:
            assert theirs.value is None or not list(legal_points(store))  # of no points, each answer is true
            assert all_points_agree(store, e, relation, ours.value)
    theirs_values = isl_sets.possible_values(store, a, range(41), ample)
    assert values is None or theirs_values is None or values == theirs_values
    try:
        theirs_ends = polytopes.value_range(store, a, ample)
    except Infeasible:
        theirs_ends = (1, 0)
    if ends is not None and theirs_ends is not None and ends != theirs_ends:
        # isl omits some conditions past its limits, and adds some that share symbols only as they were added
        assert theirs_ends == (1, 0) or is_within(ends, theirs_ends)
        for point in legal_points(store):
            assert is_within((point["a"], point["a"]), ends)


def is_within(inner: tuple[int | None, int | None], outer: tuple[int | None, int | None]) -> bool:
    """Whether a range lies in another one; `(1, 0)` is the empty one."""
    low, high = (-inf if inner[0] is None else inner[0]), (inf if inner[1] is None else inner[1])
    least, most = (-inf if outer[0] is None else outer[0]), (inf if outer[1] is None else outer[1])
    return low > high or (least <= low and high <= most)


def legal_points(store: ConstraintStore) -> Iterator[dict[str, int]]:
    """The points of a small box that satisfy all constraints."""
    box = {}
    for name in NAMES:
        declared = store.scope.symbol(name).symbol
        assert declared.lo is not None
        box[name] = (declared.lo, declared.lo + 6 if declared.hi is None else declared.hi)
    for point in points(box):
        if all(any_holds(c.clauses, point) for c in store.constraints()):
            yield point


def all_points_agree(store: ConstraintStore, e: DimSize, relation: Relation, value: bool | None) -> bool:
    """Whether a relation has this value at all legal points of a small box."""
    clauses = (Clause(e, False),) if relation == ">= 0" else (Clause(e - 1, False), Clause(-1 - e, False))
    return value is None or all(any_holds(clauses, point) is value for point in legal_points(store))


SIDES = st.tuples(QUASI_AFFINE, QUASI_AFFINE)
THREE_BOUNDS = st.lists(BOUNDS, min_size=3, max_size=3)


@FEW
@given(CONSTRAINTS, THREE_BOUNDS, SIDES)
def test_answers_are_those_of_isl(
    drawn: list[tuple[Drawn, str, Drawn, int]], bounds: list[tuple[int, int | None]], sides: tuple[Drawn, Drawn]
) -> None:
    check_questions(drawn, bounds, sides)


def strides(count: int) -> tuple[ConstraintStore, Dimension, DimSize]:
    """A sum of quotients by numbers without common factors, the common period of which has many digits."""
    store = ConstraintStore(Scope())
    h = store.scope.symbol("h")
    divisors = (9973, 9967, 9949, 9941, 9931, 9929, 9923)[:count]
    return store, h, sum((h // divisor for divisor in divisors), start=0)


@pytest.mark.parametrize("count", [2, 4, 7])
def test_a_long_period_is_undecided_within_its_limit(count: int) -> None:
    _, h, total = strides(count)
    budget = Budget()
    assert solve_periodic([(Clause(total - 50, True),)], h, (1, inf), budget) is None
    assert budget.spent == 0
    assert solve_periodic([(Clause(total - 50, True),)], h, (1, 99), budget) is not None  # each size is evaluated


def test_a_dense_system_is_undecided_within_its_limit() -> None:
    variables = range(1, 11)
    rows = [{CONSTANT: 10**9, **{v: (v * n * n + 7 * n) % 101 - 50 for v in variables}} for n in range(1, 41)]
    budget = Budget()
    with pytest.raises(UndecidedError):
        has_point(System([], rows), Steps(budget))
    assert budget.spent <= MAX_STEPS


def test_many_disjunctions_are_undecided_within_their_limit() -> None:
    apart = [
        [System([], [{v: 3, w: -2, CONSTANT: -1}]), System([], [{v: -3, w: 2, CONSTANT: -1}])]
        for v in range(1, 9)
        for w in range(1, v)
    ]
    box = [row for v in range(1, 9) for row in ({v: 2, CONSTANT: -1}, {v: -2, CONSTANT: 3})]
    budget = Budget()
    try:
        answer = has_point(System([], box, apart), Steps(budget))
    except UndecidedError:
        answer = None
    assert answer in (None, True)  # all variables are 1
    assert budget.spent <= MAX_STEPS


def test_a_bound_is_found_however_large() -> None:
    store = ConstraintStore(Scope())
    a, b = store.scope.symbol("a", 0), store.scope.symbol("b", 0)
    store.add_equal(a, maximum(b, 2 * a - (1 << 70)), Source("node", "required"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isl, "ISL_INSTALLED", False)
        assert value_range(store, a) == (0, 1 << 70)


def test_a_congruence_without_another_condition_counts() -> None:
    store = ConstraintStore(Scope())
    a = store.scope.symbol("a", 0)
    store.add_divisible(a % 2, 2, Source("node", "required"))
    even = [0, 2, 4, 6, 8]
    assert possible_values(store, a, range(10)) == isl_sets.possible_values(store, a, range(10), Budget()) == even
    assert value_range(store, a) == (0, None)


def test_an_exhausted_budget_leaves_all_open() -> None:
    store, _, total = strides(1)
    with pytest.raises(UndecidedError):
        Conditions(store, [(Clause(total - 50, True),)], Budget(0)).hold()
    assert decide_ne(store, total, 50, Budget(0)).value is None
    store.add_equal(total * 2, store.scope.symbol("a"), Source("node", "required"))
    store.add_le(3 * total, store.scope.symbol("b") * 2, Source("node", "required"))
    assert value_range(store, store.scope.symbol("b"), Budget(0)) is None
    assert possible_values(store, store.scope.symbol("b"), range(9), Budget(0)) is None


@pytest.mark.slow
@SLOW
@given(CONSTRAINTS, THREE_BOUNDS, SIDES, GROUPS)
def test_thousands_of_conditions(
    drawn: list[tuple[Drawn, str, Drawn, int]],
    bounds: list[tuple[int, int | None]],
    sides: tuple[Drawn, Drawn],
    groups: list[list[tuple[Drawn, bool]]],
) -> None:
    check_questions(drawn, bounds, sides)
    check_hold(groups, bounds)
    check_periodic(groups, *bounds[0])
