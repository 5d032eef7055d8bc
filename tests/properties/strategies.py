"""Random expressions, each with its evaluation in plain Python ints."""

from collections.abc import Callable

from hypothesis import strategies as st

from shapeinf.expr import ceildiv, maximum, minimum

NAMES = ("x", "y", "z")

LEAVES = st.one_of(
    st.sampled_from(NAMES).map(lambda n: (lambda scope: scope.symbol(n, 1, 9), lambda env: env[n])),
    st.integers(-4, 9).map(lambda k: (lambda scope: k, lambda env: k)),
)


def _binary(children):
    def both(operation: Callable):
        return st.tuples(children, children).map(
            lambda ab: (
                lambda scope: operation(ab[0][0](scope), ab[1][0](scope)),
                lambda env: operation(ab[0][1](env), ab[1][1](env)),
            )
        )

    def by_constant(operation: Callable):
        return st.tuples(children, st.integers(1, 6)).map(
            lambda ak: (lambda scope: operation(ak[0][0](scope), ak[1]), lambda env: operation(ak[0][1](env), ak[1]))
        )

    return st.one_of(
        both(lambda a, b: a + b),
        both(lambda a, b: a - b),
        both(lambda a, b: a * b),
        both(maximum),
        both(minimum),
        by_constant(lambda a, k: a // k),
        by_constant(lambda a, k: a % k),
        by_constant(ceildiv),
    )


EXPRESSIONS = st.recursive(LEAVES, _binary, max_leaves=8)
BINDINGS = st.fixed_dictionaries({n: st.integers(1, 9) for n in NAMES})
