"""Random timelines over three dims, and their memory computed with Python's ints."""

from itertools import product

import attrs
from hypothesis import strategies as st

from shapeinf.errors import Contradiction
from shapeinf.expr import parse_dim
from shapeinf.inputs.assumptions import add_assumptions
from shapeinf.lattice import Shape, ShapeStore
from shapeinf.memory import Buffer, ProgramPoint, Timeline

NAMES = ("x", "y", "z")
HIGH = 6
FUNCTIONS = {"max": max, "min": min, "mod": lambda a, b: a % b, "ceildiv": lambda a, b: -(-a // b)}
SIZES = (
    *("4", "100", "x", "8*y", "3*x*y", "x*y*z", "2*z*z", "x*(y + z)", "4*x*x*y + 5*z"),
    *("x//2", "y*((x + 1)//2)", "z*(x//3)*(y//2)", "7*((x*y)//3)", "12*(x % 3)", "(x + y)//2*z", "50*(x*z//y)"),
    *("max(x, y)", "2*max(x, y)*z", "max(x, y)*max(y, z)", "9*min(x, z)", "40 - 5*x", "36 - x*y", "max(3*x, y + z, 7)"),
)
RELATIONS = (
    *("x + y <= 7", "x <= y", "2*x + 3*z <= 20", "y + z >= 5", "x + y + z <= 9", "y == z + 1", "x == 2*y"),
    *("x % 2 == 0", "(y + z) % 3 == 1", "x*y <= 12", "x//2 <= z", "max(x, y) <= 4", "x <= 3", "y >= 2", "y//2 == z//2"),
)
BUFFERS = st.tuples(st.sampled_from(SIZES), st.integers(0, 4), st.integers(1, 3))


@attrs.frozen
class Drawn:
    """Texts of sizes with births and durations, and texts of relations."""

    buffers: tuple[tuple[str, int, int], ...]
    relations: tuple[str, ...]
    length: int = 5

    def timeline(self, scope):
        """The timeline, with sizes of the scope."""
        buffers = []
        for i, (text, birth, length) in enumerate(self.buffers):
            size = parse_dim(text, scope)
            death = min(birth + length, self.length)
            buffers.append(Buffer(f"t{i}", size, birth, death, "activation", "uint8", Shape([size]), (f"t{i}",)))
        return Timeline(tuple(ProgramPoint(f"n{i}", "Op") for i in range(self.length)), tuple(buffers))

    def store(self):
        """The store with all relations; None where they contradict each other."""
        store = ShapeStore()
        for name in NAMES:
            store.scope.symbol(name, 1, HIGH)
        try:
            add_assumptions(store, self.relations)
        except Contradiction:
            return None
        return store

    def total(self, index, sizes):
        """The bytes in use at a program point."""
        alive = (text for text, birth, length in self.buffers if birth <= index < birth + length)
        return sum(value(text, sizes) for text in alive)

    def peak(self, sizes):
        """The largest total of all program points."""
        return max(self.total(index, sizes) for index in range(self.length))

    def legal_sizes(self, relations=None, high=HIGH):
        """All sizes of the box at which all relations hold."""
        for values in product(range(1, high + 1), repeat=len(NAMES)):
            sizes = dict(zip(NAMES, values, strict=True))
            if all(value(text, sizes) for text in (self.relations if relations is None else relations)):
                yield sizes


def value(text, sizes):
    """The value of a text in Python."""
    return eval(text, {"__builtins__": {}, **FUNCTIONS, **sizes})


def timelines(relations=2):
    """Timelines of a few buffers, with at most `relations` relations."""
    return st.builds(
        Drawn,
        st.lists(BUFFERS, min_size=1, max_size=9).map(tuple),
        st.lists(st.sampled_from(RELATIONS), max_size=relations, unique=True).map(tuple),
    )
