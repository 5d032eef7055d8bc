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


def _nested(children):
    """Sums in which a floor or maximum and what is inside of it cancel in part."""
    factors, divisors = st.integers(-3, 4), st.integers(1, 7)

    def both(operation: Callable):
        return st.tuples(children, children, factors, divisors).map(
            lambda t: (
                lambda scope: operation(t[0][0](scope), t[1][0](scope), *t[2:]),
                lambda env: operation(t[0][1](env), t[1][1](env), *t[2:]),
            )
        )

    return st.one_of(
        both(lambda a, b, i, k: a + i * b),
        both(lambda a, b, i, k: k * (a // k) - i * (b // k)),
        both(lambda a, b, i, k: a - k * ((a + i * b) // k)),
        both(lambda a, b, i, k: maximum(a, b) - i * b),
        both(lambda a, b, i, k: minimum(a, i * b) // k),
        both(lambda a, b, i, k: a % maximum(b, 1) - i * b),
    )


EXPRESSIONS = st.recursive(LEAVES, _binary, max_leaves=8)
NESTED = st.recursive(LEAVES, _nested, max_leaves=6)
BINDINGS = st.fixed_dictionaries({n: st.integers(1, 9) for n in NAMES})
