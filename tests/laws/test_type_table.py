"""Numbers of types follow the facts: also when what was told is taken back."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from shapeinf.engine.type_table import TypeTable, canonical, without_contents
from shapeinf.errors import Contradiction, Source
from shapeinf.expr import parse_dim
from shapeinf.lattice import PartialTensor, Shape, ShapeFacts

TEXTS = ["a", "b", "c", "a + 1", "b*c", "c//2", "max(a, b)", "max(b, c)", "8*(a//8)", "a - b + 9", "3"]
DIMS = st.sampled_from(TEXTS)
TOLD = st.sampled_from(
    [
        ("tell_equal", "a", "b"),
        ("tell_equal", "b", "c + 1"),
        ("tell_equal", "c", "3"),
        ("tell_equal", "a*b", "12"),
        ("tell_equal", "a", "max(b, c)"),
        ("tell_le", "a", "b"),
        ("tell_le", "b", "c"),
        ("tell_le", "a", "3"),
        ("tell_le", "7", "c"),
        ("tell_divisible", "a", 8),
        ("tell_divisible", "b + c", 2),
    ]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), DIMS, st.none() | DIMS),
        st.tuples(st.just("tell"), TOLD),
        st.tuples(st.just("ask"), DIMS),
        st.sampled_from([("refresh",), ("copy",), ("reset",), ("reset",)]),
    ),
    max_size=25,
)
SOURCE = Source("n", "told")


def tensor(facts, dim, content):
    elements = None if content is None else (parse_dim(content, facts.scope),)
    shape = Shape((parse_dim(dim, facts.scope),)) if elements is None else Shape((1,))
    return PartialTensor("int64", shape, elements)


def tell(facts, name, *operands):
    dims = [parse_dim(d, facts.scope) if isinstance(d, str) else d for d in operands]
    with contextlib.suppress(Contradiction):
        getattr(facts, name)(*dims, SOURCE)


@given(STEPS)
def test_every_number_is_that_of_the_canonical_type(steps):
    facts = ShapeFacts()
    table, before = TypeTable(facts), []
    for step, *given_ in steps:
        if step == "add":
            table.add(tensor(facts, *given_))
        elif step == "tell":
            tell(facts, *given_[0])
        elif step == "copy":
            before.append(facts.copy())
        elif step == "reset" and before:
            facts.reset(before.pop())
        elif step == "refresh":
            table.refresh()
        elif step == "ask":
            facts.interval(parse_dim(given_[0], facts.scope))
    table.refresh()
    for d in (parse_dim(text, facts.scope) for text in TEXTS):
        assert (facts.canon(d), facts.interval(d)) == (facts.copy().canon(d), facts.copy().interval(d))
    for number, found in enumerate(table.types[:]):
        if found is not None:
            now = canonical(facts, found)
            assert table.get(number) == now
            assert table.whole[number] == table.add(now)
            assert table.types[table.bare[number]] == without_contents(now)
