"""Adding is a meet: idempotent, in any order, never losing a binding that satisfies every constraint."""

import itertools
import operator
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.constraints.records import Constraint, any_holds
from shapeinf.errors import Contradiction, Source
from shapeinf.expr import Scope, evaluate, parse_dim
from shapeinf.lattice import ShapeStore

NAMES = ("a", "b", "c")
HIGH = 5
TERMS = st.sampled_from(["a", "b", "c", "a + 1", "b + c", "2*a", "3", "1", "a*b", "c//2", "b + 2", "max(a, b)"])
EQUATIONS = st.lists(st.tuples(TERMS, TERMS), min_size=1, max_size=4)


def store_of(equations, order=None):
    """The store with these equations, or None for a contradiction."""
    scope = Scope()
    for name in NAMES:
        scope.symbol(name, 1, HIGH)
    store = ShapeStore(scope)
    try:
        for i in order or range(len(equations)):
            left, right = (parse_dim(t, scope) for t in equations[i])
            store.add_equal(left, right, Source(f"n{i}", "required"))
    except Contradiction:
        return None
    return store


def models(equations):
    """Every binding that satisfies the equations, by trying them all."""
    return satisfied([(left, "==", right) for left, right in equations])


@given(EQUATIONS)
def test_equations_are_sound(equations):
    store = store_of(equations)
    legal = list(models(equations))
    if store is None:
        assert not legal
        return
    for env in legal:
        for name in NAMES:
            symbol = store.scope.symbol(name)
            assert evaluate(store.canon(symbol), env) == env[name]
            assert env[name] in store.interval(symbol)


@given(EQUATIONS, TERMS, TERMS)
def test_proofs_are_sound(equations, left, right):
    store = store_of(equations)
    if store is None:
        return
    a, b = parse_dim(left, store.scope), parse_dim(right, store.scope)
    for env in models(equations):
        x, y = evaluate(a, env), evaluate(b, env)
        assert store.prove_le(a, b) in (None, x <= y)
        assert store.prove_eq(a, b) in (None, x == y)
        assert store.prove_ne(a, b) in (None, x != y)


LINEAR = st.sampled_from(["a", "b", "c", "a + 1", "b + 2", "3", "1", "c + 1"])


@given(st.lists(st.tuples(LINEAR, LINEAR), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_order_does_not_matter_where_equations_can_be_solved(equations, random):
    order = list(range(len(equations)))
    random.shuffle(order)
    first, second = store_of(equations), store_of(equations, order)
    assert (first is None) == (second is None)
    if first is None or second is None:
        return
    for name in NAMES:
        left, right = (f.canon(f.scope.symbol(name)) for f in (first, second))
        assert str(left) == str(right)
        assert first.interval(left) == second.interval(right)


@given(EQUATIONS)
def test_adding_twice_is_adding_once(equations):
    store = store_of(equations)
    if store is None:
        return
    version = store.version
    for i, pair in enumerate(equations):
        store.add_equal(*(parse_dim(t, store.scope) for t in pair), Source(f"n{i}", "again"))
    assert store.version == version


KINDS = {
    "==": (lambda f, a, b, source: f.add_equal(a, b, source), operator.eq),
    "<=": (lambda f, a, b, source: f.add_le(a, b, source), operator.le),
    "% 2 ==": (lambda f, a, b, source: f.add_divisible(a - b, 2, source), lambda a, b: (a - b) % 2 == 0),
    "<= 2 +": (lambda f, a, b, source: f.add_range(a - b, None, 2, source), lambda a, b: a <= 2 + b),
}
CONSTRAINTS = st.lists(st.tuples(TERMS, st.sampled_from(sorted(KINDS)), TERMS), min_size=1, max_size=7)


def add_in_turn(constraints):
    """The store with all constraints that can be added, and these."""
    store, added = store_of([]), []
    for i, (left, kind, right) in enumerate(constraints):
        try:
            KINDS[kind][0](
                store, parse_dim(left, store.scope), parse_dim(right, store.scope), Source(f"n{i}", "required")
            )
        except Contradiction:
            continue
        added.append((left, kind, right))
    return store, added


def satisfied(constraints):
    """Every binding that satisfies the constraints, by trying them all."""
    scope = Scope()
    pairs = [(parse_dim(left, scope), KINDS[kind][1], parse_dim(right, scope)) for left, kind, right in constraints]
    for values in itertools.product(range(1, HIGH + 1), repeat=len(NAMES)):
        env = dict(zip(NAMES, values, strict=True))
        if all(holds(evaluate(a, env), evaluate(b, env)) for a, holds, b in pairs):
            yield env


@given(CONSTRAINTS)
def test_constraints_of_all_kinds_are_sound_and_contradictions_are_real(constraints):
    store, added = add_in_turn(constraints)
    for env in satisfied(added):
        for name in NAMES:
            symbol = store.scope.symbol(name)
            assert evaluate(store.canon(symbol), env) == env[name]
            assert env[name] in store.interval(symbol)
    for i, constraint in enumerate(constraints):
        if constraint not in added:
            assert not any(satisfied([*(other for other in constraints[:i] if other in added), constraint]))


@given(CONSTRAINTS, st.lists(TERMS, min_size=3, max_size=3))
def test_a_contradiction_leaves_no_trace(constraints, terms):
    store, added = add_in_turn(constraints)
    alone, again = add_in_turn(added)
    assert again == added
    seen = [
        [(str(f.canon(d)), f.interval(d)) for d in (parse_dim(text, f.scope) for text in (*NAMES, *terms))]
        for f in (store, alone)
    ]
    assert seen[0] == seen[1]
    assert [str(r.expression) for r in store.relations] == [str(r.expression) for r in alone.relations]
    assert sorted(g.text for g in store.disjunctions) == sorted(g.text for g in alone.disjunctions)


@given(CONSTRAINTS)
def test_records_allow_the_same_bindings_also_in_another_store(constraints):
    store, added = add_in_turn(constraints)
    legal = list(satisfied(added))
    other = ShapeStore(store.scope)
    for constraint in store.constraints() if legal else ():
        other.add(constraint)
    for state in (store, other) if legal else (store,):
        records = [record.clauses for record in state.constraints()]
        for values in itertools.product(range(1, HIGH + 1), repeat=len(NAMES)):
            env = dict(zip(NAMES, values, strict=True))
            assert all(any_holds(clauses, env) for clauses in records) == (env in legal)
    assert not list(store.constraints(beyond=store.copy()))


def test_an_undone_solution_is_replaced_everywhere_when_it_is_solved_again():
    store = ShapeStore()
    b, c, a = (store.scope.symbol(name) for name in "bca")
    store.add_equal(a, b + 1, Source("n", "required"))
    store.add_le(10, b + c, Source("n", "required"))
    store.add_range(c, 1, 3, Source("n", "required"))
    with pytest.raises(Contradiction):
        store.add_equal(b, 2, Source("m", "too small"))
    store.add_equal(b, 8, Source("m", "required"))
    assert store.canon(a) == 9


def test_only_relations_about_its_symbols_are_tried_for_a_dim():
    """The deciding value is the last of more than are ever tried."""
    store = ShapeStore()
    names = [store.scope.symbol(f"n{i}") for i in range(101)]
    for left, other in itertools.pairwise(names):
        store.add_le(left + 1, other, Source("n", "required"))
    assert store.prove_le(names[99], names[100]) is True


def test_a_contradiction_changes_nothing_and_names_both_sources():
    store = ShapeStore()
    batch = store.scope.symbol("batch")
    store.add_equal(batch, 4, Source("reshape_1", "the element count must not change"))
    version, solved = store.version, dict(store.solved)
    with pytest.raises(Contradiction) as caught:
        store.add_equal(batch, 8, Source("add_2", "operands must broadcast"))
    assert caught.value.first.node == "add_2"
    assert caught.value.second is not None
    assert caught.value.second.node == "reshape_1"
    assert (dict(store.solved), store.interval(batch).lo) == (solved, 4)
    assert version <= store.version


@pytest.mark.parametrize(
    ("left", "right", "named"),
    [("batch", "5", "x"), ("4", "5", "x"), ("2*batch", "9", "x"), ("8", "9", None), ("4", "7", None), ("6", "2", "y")],
)
def test_a_contradiction_names_only_related_sources(left, right, named):
    """A number alone names no symbol: the only symbol that equals it is named, or none."""
    store = ShapeStore()
    for name, size, node in (("batch", 4, "x"), ("seq", 7, "z"), ("rows", 6, "y")):
        store.add_equal(store.scope.symbol(name), size, Source(node, "given"))
    with pytest.raises(Contradiction) as caught:
        store.add_equal(parse_dim(left, store.scope), parse_dim(right, store.scope), Source("add", "must be equal"))
    assert (caught.value.second and caught.value.second.node) == named


def test_relations_divisibility_and_pending_equalities():
    store = ShapeStore()
    past, seq, h = (store.scope.symbol(n) for n in ("past", "seq", "H"))
    store.add_le(past + seq, 4096, Source("", "assumed"))
    assert store.prove_le(past, 4096) is True
    assert store.prove_le(past + seq, 4095) is None
    store.add_divisible(h, 32, Source("concat", "halves must meet"))
    assert [(str(d.expression), d.divisor) for d in store.divisibilities] == [("H", 32)]
    with pytest.raises(Contradiction):
        store.add_divisible(2 * h + 1, 2, Source("odd", "odd"))
    store.add_equal(past * seq, 12, Source("reshape", "element count"))
    assert [g.text for g in store.disjunctions] == ["past*seq == 12"]
    with pytest.raises(Contradiction):
        store.add_range(past, 13, None, Source("user", "too many"))


def test_a_pending_equality_is_solved_when_it_can_be():
    store = ShapeStore()
    a, b = store.scope.symbol("a"), store.scope.symbol("b")
    store.add_equal(a * b, 12, Source("n", "count"))
    store.add_equal(a, 4, Source("m", "fixed"))
    assert store.canon(b) == 3
    assert not store.disjunctions


def test_zero_elements_do_not_satisfy_an_equation():
    store = ShapeStore()
    b = store.scope.symbol("B")
    with pytest.raises(Contradiction):
        store.add_equal(99840 * b, 98304 * b, Source("reshape", "the element count must not change"))


def test_a_range_of_a_quotient_narrows_its_numerator():
    store = ShapeStore()
    h = store.scope.symbol("H")
    store.add_range(h // 4, 2, 5, Source("pool", "fits"))
    assert (store.interval(h).lo, store.interval(h).hi) == (8, 23)


CHOICE = "{0} == {1} or {0} == 1 or {1} == 1"
CHOICES = st.lists(st.tuples(TERMS, TERMS), max_size=3)


def with_choices(choices, equations, numbers):
    """The store with choices, equations and numbers of names, or None for a contradiction."""
    scope = Scope()
    for name in NAMES:
        scope.symbol(name, 1, HIGH)
    store = ShapeStore(scope)
    try:
        for pair in choices:
            store.add_disjunction(CHOICE, Source("choice", "required"), *(parse_dim(t, scope) for t in pair))
        for left, right in [*equations, *numbers.items()]:
            store.add_equal(parse_dim(left, scope), parse_dim(str(right), scope), Source("n", "required"))
    except Contradiction:
        return None
    return store


@given(CHOICES, EQUATIONS, st.dictionaries(st.sampled_from(NAMES), st.integers(1, HIGH)))
def test_choices_are_contradicted_where_no_sizes_are_left_and_only_there(choices, equations, numbers):
    legal = [
        env
        for env in models([*equations, *((name, str(size)) for name, size in numbers.items())])
        if all(left == right or 1 in (left, right) for left, right in values_of(choices, env))
    ]
    store = with_choices(choices, equations, numbers)
    assert store is not None or not legal
    if len(numbers) == len(NAMES) and choices_are_all(choices):
        assert store is None or legal


def values_of(pairs, env):
    """The values of pairs of terms."""
    scope = Scope()
    return [tuple(evaluate(parse_dim(t, scope), env) for t in pair) for pair in pairs]


def choices_are_all(choices):
    """Whether each of the choices was undecided when it was added: the caller decides one of numbers alone."""
    return all(any(name in text for name in NAMES for text in pair) for pair in choices)


def test_a_contradicted_choice_names_its_source_and_changes_nothing():
    scope = Scope()
    a, b = scope.symbol("a"), scope.symbol("b")
    store = ShapeStore(scope)
    store.add_disjunction(CHOICE, Source("add", "operands must broadcast"), a, b)
    store.add_equal(a, 7, Source("p", "required"))
    with pytest.raises(Contradiction) as error:
        store.add_equal(b, 5, Source("q", "required"))
    assert (error.value.first.node, error.value.second.node) == ("q", "add")
    assert str(store.canon(b)) == "b"
    store.add_range(b, 1, 6, Source("r", "required"))
    with pytest.raises(Contradiction):
        store.add_range(b, 2, None, Source("s", "required"))
    store.add_equal(b, 1, Source("t", "required"))


@pytest.mark.parametrize("bounds", list(itertools.product((-inf, 1, 2, 3), (5, 6, 7, inf))))
def test_a_store_implies_the_ranges_that_contain_its_bounds(bounds):
    scope = Scope()
    x = scope.symbol("x")
    store = ShapeStore(scope)
    store.add_range(x, 2, 6, Source("n", "required"))
    required = Constraint("range", Source("m", "required"), operands=(x,), bounds=bounds)
    assert store.implies(required) == all(bounds[0] <= size <= bounds[1] for size in range(2, 7))
