"""Numbers of types follow the constraints, also when these are undone."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from shapeinf.engine.type_table import TypeTable, canonicalize, drop_contents
from shapeinf.errors import Contradiction, Source
from shapeinf.expr import parse_dim
from shapeinf.lattice import PartialTensor, Shape, ShapeStore

TEXTS = ["a", "b", "c", "a + 1", "b*c", "c//2", "max(a, b)", "max(b, c)", "8*(a//8)", "a - b + 9", "3"]
DIMS = st.sampled_from(TEXTS)
CONSTRAINTS = st.sampled_from(
    [
        ("add_equal", "a", "b"),
        ("add_equal", "b", "c + 1"),
        ("add_equal", "c", "3"),
        ("add_equal", "a*b", "12"),
        ("add_equal", "a", "max(b, c)"),
        ("add_le", "a", "b"),
        ("add_le", "b", "c"),
        ("add_le", "a", "3"),
        ("add_le", "7", "c"),
        ("add_divisible", "a", 8),
        ("add_divisible", "b + c", 2),
    ]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), DIMS, st.none() | DIMS),
        st.tuples(st.just("constrain"), CONSTRAINTS),
        st.tuples(st.just("ask"), DIMS),
        st.sampled_from([("refresh",), ("copy",), ("reset",), ("reset",)]),
    ),
    max_size=25,
)
SOURCE = Source("n", "required")


def tensor(store, dim, content):
    elements = None if content is None else (parse_dim(content, store.scope),)
    shape = Shape((parse_dim(dim, store.scope),)) if elements is None else Shape((1,))
    return PartialTensor("int64", shape, elements)


def add_constraint(store, name, *operands):
    dims = [parse_dim(d, store.scope) if isinstance(d, str) else d for d in operands]
    with contextlib.suppress(Contradiction):
        getattr(store, name)(*dims, SOURCE)


@given(STEPS)
def test_every_number_is_that_of_the_canonical_type(steps):
    store = ShapeStore()
    table, before = TypeTable(store), []
    for step, *operands in steps:
        if step == "add":
            table.add_any(tensor(store, *operands))
        elif step == "constrain":
            add_constraint(store, *operands[0])
        elif step == "copy":
            before.append(store.copy())
        elif step == "reset" and before:
            store.reset(before.pop())
        elif step == "refresh":
            table.keep_up()
        elif step == "ask":
            store.interval(parse_dim(operands[0], store.scope))
    table.keep_up()
    for d in (parse_dim(text, store.scope) for text in TEXTS):
        assert (store.canon(d), store.interval(d)) == (store.copy().canon(d), store.copy().interval(d))
    for number, known in enumerate(table.types[:]):
        if known is not None:
            now = canonicalize(store, known)
            assert table.get(number) == now
            assert table.canonical[number] == table.add(now)
            assert table.types[table.type_only[number]] == drop_contents(now)
