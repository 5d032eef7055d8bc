"""Arrays in memory for property tests, small enough for brute force."""

from __future__ import annotations

from hypothesis import strategies as st

from shapeinf.layout import ELEMENT_TYPES, OPAQUE, TOKEN, ArrayType, Layout, Split, TupleType

TILE_SIZES = st.sampled_from([1, 2, 3, 4])


@st.composite
def tiles(draw):
    sizes = draw(st.lists(st.one_of(TILE_SIZES, st.just("*")), max_size=3))
    return (*sizes, draw(TILE_SIZES))


@st.composite
def layouts(draw, rank, tiled=True):
    order = draw(st.permutations(range(rank)))
    actual = draw(st.lists(tiles(), max_size=2)) if tiled else ()
    tail = draw(st.sampled_from([1, 1, 5])) if tiled else 1
    return Layout(order, actual, tail_padding_alignment_in_elements=tail)


@st.composite
def arrays(draw, tiled=True, least=0, largest=5, max_rank=4):
    dims = draw(st.lists(st.integers(least, largest), max_size=max_rank))
    return ArrayType("f32", dims, draw(layouts(len(dims), tiled)))


@st.composite
def described_arrays(draw):
    """Arrays with everything that the text form expresses."""
    dims = draw(st.lists(st.one_of(st.none(), st.integers(0, 1000)), max_size=4))
    dynamic = [d is None or draw(st.booleans()) for d in dims]
    # XLA rejects splits next to dims that are 0 or unbounded when a tuple is around them.
    can_split = [i for i, d in enumerate(dims) if d is not None and d > 3] if all(dims) else []
    where = draw(st.lists(st.sampled_from(can_split), unique=True, max_size=2)) if can_split else []
    layout = Layout(
        draw(st.permutations(range(len(dims)))),
        draw(st.lists(tiles(), max_size=2)),
        element_size_in_bits=draw(st.sampled_from([0, 0, 4, 32])),
        tail_padding_alignment_in_elements=draw(st.sampled_from([1, 1, 1024])),
        memory_space=draw(st.sampled_from([0, 0, 1, 5])),
        splits=[Split(d, draw(st.sampled_from([(1,), (1, 3)]))) for d in where],
        metadata_prefix_in_bytes=draw(st.sampled_from([0, 0, 8])),
    )
    element = draw(st.sampled_from(ELEMENT_TYPES))
    return ArrayType(element.dtype, dims, layout, dynamic)


def physical_types():
    leaves = st.one_of(described_arrays(), st.just(TOKEN), st.just(OPAQUE))
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=3).map(TupleType), max_leaves=5)
