"""Branches: the types of the outputs of a node that runs one of several bodies.

The condition of a branch holds inside of it, and that it does not in the others: each branch is inferred under what is
known there, and outputs are joined as values of alternatives, of which one is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from opdefs.rules.contents.elements import compare_eq, logical_not, nonnegative_condition
from shapeinf.errors import ShapeError
from shapeinf.expr import Dimension, DimSize, maximum
from shapeinf.lattice import (
    Alternatives,
    Condition,
    Element,
    FloatInterval,
    Quotient,
    ShapeStore,
    Type,
    type_symbols,
    type_text,
)
from shapeinf.lattice.truths import Truth
from shapeinf.ops import Body, InferenceContext

NEITHER = "neither branch can run"


def truth_of_number(c: InferenceContext, element: Element) -> Truth:
    """The truth of a scalar with this element, a bool or a number: whether it is not 0; None where it is unknown."""
    if element is None or isinstance(element, (bool, Condition)):
        return c.decide(element)
    if isinstance(element, FloatInterval):
        return None if element.low <= 0 <= element.high else True
    if isinstance(element, Quotient):
        return None
    if not isinstance(element, Dimension):
        return bool(element)
    return c.decide(logical_not(compare_eq(c, element, 0)))


def index_conditions(c: InferenceContext, index: DimSize, count: int) -> list[Truth]:
    """For each of `count` branches whether `index` selects it; one out of range selects the last branch."""
    last = count - 1
    outside = nonnegative_condition(maximum(-index - 1, index - last))
    return [*(compare_eq(c, index, number) for number in range(last)), outside]


def run_branch(
    c: InferenceContext, branches: Sequence[Body], inputs: Sequence[Type | None], conditions: Sequence[Truth]
) -> tuple[Type, ...]:
    """The outputs of the branch whose condition holds, of `conditions` in the order of the branches; None is unknown.

    Where it is not decided, the join of all branches that may run and do not fail: a condition under which a branch
    fails is required not to hold. Raises ShapeError if all of them fail, or if they have different numbers of outputs.
    """
    conditions = [c.decide(condition) for condition in conditions]
    first_atom = len(c.store.scope.atoms)
    if True in conditions:
        return tuple(branches[conditions.index(True)].run(inputs, certain=True))
    allowed = [i for i, condition in enumerate(conditions) if condition is not False]
    if len(allowed) == 1:
        return tuple(branches[allowed[0]].run(inputs, certain=True))
    outputs: dict[int, list[Type]] = {}
    for i in allowed:
        condition = conditions[i]
        outputs[i] = branches[i].run(
            inputs, certain=False, condition=condition if isinstance(condition, Condition) else None
        )
    possible = [i for i in allowed if not branches[i].failure]
    if not possible:
        c.state_types(*outputs[allowed[0]])
        c.fail(NEITHER if len(branches) == 2 else "no branch can run", *(branches[i].failure for i in allowed))
    for i in allowed:
        condition = logical_not(conditions[i])
        if i not in possible and isinstance(condition, Condition):
            c.require_condition(condition, f"a branch fails where the condition does not hold: {branches[i].failure}")
    if len(possible) == 1:
        return tuple(branches[possible[0]].run(inputs, certain=True))
    if len(branches) == 2:
        branches[0].require_common(branches[1])
    if len({len(outputs[i]) for i in possible}) > 1:
        message = f"{'both' if len(branches) == 2 else 'all'} branches must have the same number of outputs"
        raise ShapeError(message, code="S103", operands=[str(len(outputs[i])) for i in possible])
    _compare_types(c, [outputs[i] for i in allowed])
    return _join(c, [branches[i] for i in possible], [outputs[i] for i in possible], first_atom)


def _compare_types(c: InferenceContext, outputs: Sequence[Sequence[Type]]) -> None:
    """Report branches that return different element types."""
    for index, types in enumerate(zip(*outputs, strict=False)):
        texts = list(dict.fromkeys(text for text in map(type_text, types) if text is not None))
        if len(texts) > 1:
            message = f"the branches return different types of output {index}"
            c.report(ShapeError(message, code="S106", operands=texts, help="a Cast is missing in one of them"))


def join_values(c: InferenceContext, values: Sequence[Type], conditions: Sequence[Truth], label: str) -> Type:
    """The join, at a label, of values of which one exists: each where its condition holds; None is unknown."""
    decided = [c.decide(condition) for condition in conditions] or [None] * len(values)
    possible = [i for i, condition in enumerate(decided) if condition is not False] or [*range(len(values))]
    if True in decided:
        possible = [decided.index(True)]
    if len(possible) < len(values):
        c.created_unknowns = True  # the result depends on more than the inputs: no other node may reuse it
    known = {s for i in possible for s in _symbols_of(decided[i])}
    joined = values[possible[0]]
    stores: tuple[ShapeStore, ...] = (c.store_under(decided[possible[0]]),)
    for i in possible[1:]:
        known |= type_symbols(joined) & type_symbols(values[i])
        store = c.store_under(decided[i])
        joined = c.relax_type(joined, values[i], label, alternatives=Alternatives(stores, (store,), _outside(known)))
        stores = *stores, store
    return joined


def _outside(known: set[Dimension]) -> Callable[[Dimension], bool]:
    """Whether a symbol is an unknown of a node that may be part of a single branch: all but the `known` ones."""
    return lambda symbol: symbol.is_anonymous and symbol not in known


def _symbols_of(truth: Truth) -> Iterable[Dimension]:
    return truth.expression.symbols() if isinstance(truth, Condition) else ()


def _join(
    c: InferenceContext, branches: Sequence[Body], outputs: Sequence[list[Type]], first_atom: int
) -> tuple[Type, ...]:
    """The join of the outputs of branches, of which any may run; symbols from `first_atom` on were created there."""
    created = c.joined_symbols()

    def own(symbol: Dimension) -> bool:
        return symbol.atom >= first_atom or symbol in created

    joined = outputs[0]
    stores: tuple[ShapeStore, ...] = (branches[0].store,)
    for branch, other in zip(branches[1:], outputs[1:], strict=True):
        alternatives = Alternatives(stores, (branch.store,), own)
        pairs = enumerate(zip(joined, other, strict=True))
        joined = [c.relax_type(a, b, str(i), alternatives=alternatives) for i, (a, b) in pairs]
        stores = *stores, branch.store
    return tuple(joined)
