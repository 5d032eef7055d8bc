"""The limits of `rules.contents.floats`, against numpy: for all numbers of small types, near the limits for others."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from opdefs.rules.contents.float_formats import FLOAT32, float_format
from opdefs.rules.contents.float_intervals import APPROXIMATIONS, approximate
from opdefs.rules.contents.floats import FloatArithmetic
from shapeinf.lattice import numpy_dtype
from shapeinf.lattice.dtypes import KINDS

FEW = 20_000


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_every_quotient_of_a_narrow_type_has_its_floor_and_ceiling(dtype):
    limit = float_format(np.dtype(dtype).name).max_exact
    numbers = np.arange(1, limit + 1)
    for by in numbers[:: 1 if limit < 1000 else 7]:
        rounded = (numbers.astype(dtype) / dtype(by)).astype(np.float64)
        assert (np.floor(rounded) == numbers // by).all(), by
        assert (np.ceil(rounded) == -(-numbers // by)).all(), by
        assert (np.rint(rounded[: limit // 2]) == np.rint(numbers[: limit // 2] / by)).all(), by


def test_past_the_limit_quotients_reach_the_next_number():
    """The limit is at most a factor of 2 too small."""
    limit = 2 * float_format("float16").max_exact
    pairs = [(n, d) for n in range(limit, 2 * limit) for d in (3, 7, 2047) if np.floor(np.float16(n / d)) != n // d]
    assert pairs


def test_quotients_of_float32_up_to_the_limit():
    draw = np.random.default_rng(3)
    n, d = draw.integers(2**23, 2**24 + 1, 10**6), draw.integers(1, 2**12, 10**6)
    n -= (n + 1) % d * draw.integers(0, 2, 10**6)  # half of them just below a multiple
    rounded = n.astype(np.float32) / d.astype(np.float32)
    assert (np.floor(rounded) == n // d).all()
    assert (np.ceil(rounded) == -(-n // d)).all()


@pytest.mark.parametrize("side", [-1, 0, 1])
@pytest.mark.parametrize("denominator", [3, 5, 7, 10, 49, 100, 768, 1000])
def test_constants_up_to_their_limits(denominator, side):
    """A `side` of 1 is for floors, -1 for ceilings, 0 for rounding to nearest."""
    floats = FloatArithmetic(None, FLOAT32)
    known = 0
    for numerator in range(1, denominator * 2, max(1, denominator // 12)):
        constant = np.float32(numerator / denominator)
        simple = Fraction(numerator, denominator)
        limit = floats.exact_limit(Fraction(float(constant)), simple, 1 if side else 2, side)
        known += limit > 0
        x = np.unique(np.clip(np.concatenate([np.arange(FEW), limit - np.arange(FEW)]), 0, limit))
        rounded = x.astype(np.float32) * constant
        times, by = simple.numerator, simple.denominator
        if side:
            expected = x * times // by if side > 0 else -(-x * times // by)
            assert ((np.floor if side > 0 else np.ceil)(rounded) == expected).all(), (numerator, limit)
        else:
            expected = [round(Fraction(int(n) * times, by)) for n in x[::10]]
            assert (np.rint(rounded[::10]) == expected).all(), (numerator, limit)
    assert known


FLOATS = [name for name, kind in KINDS.items() if kind == "float" and name != "float8e8m0"]


@pytest.mark.parametrize("dtype", FLOATS)
def test_formats_are_those_of_numpy(dtype):
    """The formats are constants, as neither numpy nor `ml_dtypes` need be imported for them."""
    limits = ml_dtypes.finfo(numpy_dtype(dtype))
    format_ = float_format(dtype)
    assert format_.precision == limits.nmant + 1
    assert format_.largest == int(float(limits.max)) and format_.maximum == float(limits.max)
    assert format_.round(float(limits.max)) == float(limits.max)
    assert format_.least_normal == Fraction(float(limits.smallest_normal))


NARROW = ["float8e3m4", "float8e4m3", "float8e4m3b11fnuz", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"]


@pytest.mark.parametrize("name", [*NARROW, "float8e4m3fn", "float16", "bfloat16"])
def test_every_number_of_a_narrow_type_rounds_to_itself(name):
    """The largest too, which may be no integer; what lies past the next one is an infinity, or no number."""
    type_, format_ = numpy_dtype(name), float_format(name)
    bits = np.arange(1 << 8 * type_.itemsize, dtype=f"uint{8 * type_.itemsize}")
    with np.errstate(all="ignore"):
        numbers = bits.view(type_).astype(np.float64)
        numbers = numbers[np.isfinite(numbers)]
        larger = numbers.max() * 1.2
        assert not np.isfinite(larger.astype(type_)) and format_.round(float(larger)) == np.inf
    assert all(format_.round(number) == number for number in numbers.tolist())


ENDS = (-6.5, -3.0, -1.0, -0.75, 0.0, 0.5, 1.0, 2.0, 3.0, 7.0)


@pytest.mark.parametrize("name", APPROXIMATIONS)
def test_an_interval_of_arguments_has_their_results(name):
    """Those of the function on float64 inside of the interval; a single argument has a result of few neighbors."""
    function, known = np.vectorize(APPROXIMATIONS[name].function, otypes=[float]), 0
    for low, high in [(low, high) for low in ENDS for high in ENDS if low <= high]:
        found = approximate(FLOAT32, name, (low, high))
        if found is None:
            continue
        known += 1
        least, most = (found, found) if isinstance(found, float) else (found.low, found.high)
        results = function(np.linspace(low, high, 33))
        assert (least <= results + 1e-12).all() and (results - 1e-12 <= most).all(), (low, high)
        if low == high:
            assert most - least <= 1e-5 * max(1, abs(results[0])), low
    assert known >= 5
