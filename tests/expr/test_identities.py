"""Identities of dims decided by `is`; bounds, caps and exact quotients."""

import pytest

from shapeinf.errors import DimensionError
from shapeinf.expr import (
    Dimension,
    Scope,
    ceildiv,
    exact_quotient,
    interval,
    maximum,
    minimum,
    parse_dim,
)


@pytest.fixture
def scope():
    return Scope()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("x//2//3", "x//6"),
        ("(x + 2*y)//2", "x//2 + y"),
        ("2*(x//2) + x % 2", "x"),
        ("(4*x + 2)//2", "2*x + 1"),
        ("max(x, y) + min(x, y)", "x + y"),
        ("max(x + 1, y + 1)", "max(x, y) + 1"),
        ("max(x, y)", "max(y, x)"),
        ("max(max(x, y), z)", "max(x, max(y, z))"),
        ("max(x, 1)", "x"),
        ("min(x, x + 1)", "x"),
        ("(x*y*768)//(x*768)", "y"),
        ("x//x", "1"),
        ("x - x", "0"),
        ("(x + y)*(x - y)", "x*x - y*y"),
        ("(x*x + 2*x*y + y*y)//(x + y)", "x + y"),
        ("ceildiv(ceildiv(x, 2), 2)", "ceildiv(x, 4)"),
        ("mod(6*x, 3)", "0"),
        ("(x % 4)//4", "0"),
        ("0*x + 7//2", "3"),
        ("(x + 16*((x + 15)//16) + 15)//32", "(x + 15)//16"),
        ("(x + 4*y + 4*(x//4))//8", "(y + 2*(x//4))//2"),
        ("x - (3*x)//4", "(x + 3)//4"),
        ("x//2 - (3*(x//2))//4", "(x//2 + 3)//4"),
        ("-((-x)//7)", "ceildiv(x, 7)"),
        ("x + (7 - x % 7) % 7", "7*ceildiv(x, 7)"),
        ("x//4 + (-(x//4)) % 7", "7*((x + 24)//28)"),
        ("x + 2*y - (5*x + 4*y)//6", "y + (x + 2*y + 5)//6"),
        ("(3*x)//4//2", "(3*x)//8"),
        ("(5*x)//4//2", "(5*x)//8"),
        ("(3*x)//2//2", "(3*x)//4"),
        ("((3*x)//4 - 1)//2 + 1", "(3*x + 4)//8"),
    ],
)
def test_equal_means_identical(scope, left, right):
    a, b = parse_dim(left, scope), parse_dim(right, scope)
    assert a is b or (isinstance(a, int) and a == b)


def test_two_unknowns_are_never_equal(scope):
    assert scope.fresh("site") is not scope.fresh("site")
    assert scope.fresh("site") - scope.fresh("site") != 0


def test_dims_of_two_scopes_do_not_mix(scope):
    with pytest.raises(DimensionError, match="another inference"):
        scope.symbol("x") + Scope().symbol("x")


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("x % 4", "0..3"),
        ("x - x//2", "1.."),
        ("max(x, y) - x", "0.."),
        ("x*y - y", "0.."),
        ("min(x, 7)", "1..7"),
        ("(x + 3)//4", "1.."),
        ("-x", "..-1"),
    ],
)
def test_intervals_are_tighter_than_plain_interval_arithmetic(scope, text, bounds):
    assert str(interval(parse_dim(text, scope))) == bounds


def test_caps_record_their_reason(scope):
    total = 1
    for i in range(12):
        total = total * (scope.symbol(f"a{i}") + 1)
    assert isinstance(total, Dimension)
    assert len(total.terms) <= 64
    assert scope.capped
    assert interval(total).lo == 0


def test_exact_quotient(scope):
    x, y = scope.symbol("x"), scope.symbol("y")
    assert exact_quotient(6 * x * y, 3 * y) is 2 * x
    assert exact_quotient(x + 1, 2) is None


def test_functions_of_plain_ints():
    assert (ceildiv(7, 2), maximum(3, 9, 4), minimum(3, 9, 4)) == (4, 9, 3)
