"""The C header compiles without a warning, as C and as C++, and computes what Python's ints do, or reports an error."""

from __future__ import annotations

import random
import subprocess
import tempfile
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapeinf.codegen.names import c_comment as comment
from shapeinf.codegen.names import identifiers, prefix_of
from shapeinf.errors import Source
from shapeinf.expr import DimSize, evaluate, maximum
from shapeinf.expr.dimension import Scope
from shapeinf.lattice import ShapeStore
from shapeinf.memory import Timeline
from shapeinf.memory.exports import c_header
from shapeinf.memory.peak import Peak
from shapeinf.memory.planning import Plan, Slot
from tests.memory.exports.compiling import COMPILERS, compiled, printing, values
from tests.memory.exports.subjects import subject
from tests.properties.strategies import BINDINGS, EXPRESSIONS, NAMES

LIMIT = 2**63
OVERFLOW, ILLEGAL, UNDEFINED = -1, -2, -3


def size_expressions(scope: Scope) -> dict[str, DimSize]:
    b, s = scope.symbol("batch", 1), scope.symbol("seq", 0)
    return {
        "linear": 4 * b * s,
        "square": 2 * b * s * s + 7,
        "halves": b * ((s + 1) // 2) + 3 * ((s + 1) // 2),
        "constant": 1 << 20,
        "largest": maximum(b * s, 1000),
        "down": s + b + ((3 - s) // 4),
        "modulus": 8 * (s % 5) + b,
        "large": (1 << 40) * b,
        "many": b + 2 * b * s + 3 * b * s * s + s * s,
    }


def draws(count: int) -> list[tuple[int, int]]:
    """Sizes of all magnitudes, small ones as often as large ones."""
    rng = random.Random(7)
    edges = [2**31, 2**32 - 1, 3037000499, 3037000500, 2**62, 2**63 - 1]

    def draw_number() -> int:
        return rng.choice([rng.randrange(1, 10), rng.randrange(1, 5000), rng.randrange(1, 2**40), rng.choice(edges)])

    return [(draw_number(), draw_number() - 1) for _ in range(count)]


@pytest.mark.parametrize("kind", COMPILERS)
@pytest.mark.parametrize("prefix", ["dim", "dim math", "int", "r0", "status"])
def test_no_name_of_a_dim_hides_a_function(kind: str, prefix: str, tmp_path: Path) -> None:
    store = ShapeStore()
    names = ("check", "math add", "peak", "size 0", "bytes t", "status", "r0", "int")
    total: DimSize = 1
    for name in names:
        total = total + store.scope.symbol(name, 1)
    actual = subject(store, {"t": total}, name=prefix)
    ones = ", ".join("1" for _ in names)
    start = prefix_of(prefix)
    prints = [printing(f"{start}_{function}({ones})") for function in ("peak", "bytes_t")]
    program = compiled(c_header(actual), prints, tmp_path, kind)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout.split() == ["9", "9"]


@pytest.mark.parametrize("kind", COMPILERS)
def test_sizes_and_peak_are_those_of_exact_ints(kind: str, tmp_path: Path) -> None:
    store = ShapeStore()
    sizes = size_expressions(store.scope)
    actual = subject(store, sizes)
    assert [str(d) for d in actual.dims] == ["batch", "seq"]
    bindings = draws(400)
    printed = values(actual, ["peak", *(f"bytes_{n}" for n in sizes)], bindings, tmp_path, kind)
    assert len(printed) == len(bindings)
    overflows = 0
    for (batch, seq), (peak, *numbers) in zip(bindings, printed, strict=True):
        env = {"batch": batch, "seq": seq}
        exact = [evaluate(d, env) for d in sizes.values()]
        for name, number, expected in zip(sizes, numbers, exact, strict=True):
            may_refuse = name in ("down", "modulus") and max(batch, seq) >= 2**31  # numbers on the way
            assert number == (expected if expected < LIMIT else OVERFLOW) or (may_refuse and number == OVERFLOW)
        overflows += OVERFLOW in numbers
        alive = max(sum(exact[max(0, i - 1) : i + 1]) for i in range(len(exact)))
        assert peak == alive or (peak == OVERFLOW and (alive >= LIMIT or max(batch, seq) >= 2**31))
    assert 50 < overflows < len(bindings) - 50  # both were tried


@settings(max_examples=8)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=12), st.lists(BINDINGS, min_size=1, max_size=20))
def test_expressions_evaluate_as_python_does(expressions, bindings) -> None:
    store = ShapeStore()
    export = [make(store.scope) for make, _ in expressions]
    sizes = {f"t{i}": d * d for i, d in enumerate(export)}
    actual = subject(store, {**sizes, "all": sum(store.scope.symbol(n, 1, 9) for n in NAMES)})
    rows = [tuple(b[d.name] for d in actual.dims) for b in bindings]
    with tempfile.TemporaryDirectory() as folder:
        printed = values(actual, [f"bytes_{name}" for name in sizes], rows, Path(folder))
    assert printed == [[meaning(env) ** 2 for _, meaning in expressions] for env in bindings]


def test_sizes_that_violate_a_constraint_are_refused(tmp_path: Path) -> None:
    store = ShapeStore()
    h = store.scope.symbol("H", 1, 100)
    w = store.scope.symbol("W", 1)
    store.add_le(h + w, 120, Source("join", "no more than 120 places"))
    store.add_divisible(w, 4, Source("split", "quarters"))
    bindings = [(h, w) for h in (0, 1, 50, 100, 101) for w in (-4, 0, 1, 4, 20, 24, 68, 72, 120)]
    printed = values(subject(store, {"x": h * w}), ["check", "bytes_x"], bindings, tmp_path)
    for (height, width), (check, size) in zip(bindings, printed, strict=True):
        legal = 1 <= height <= 100 and width >= 1 and height + width <= 120 and width % 4 == 0
        assert (check, size) == ((0, height * width) if legal else (ILLEGAL, ILLEGAL))


def test_alternatives_and_division_by_zero(tmp_path: Path) -> None:
    store = ShapeStore()
    a, b = store.scope.symbol("a", 0), store.scope.symbol("b", 0)
    store.add_disjunction("{0} == {1} or {0} == 1 or {1} == 1", Source("add", "operands must broadcast"), a, b)
    bindings = [(a, b) for a in range(4) for b in range(4)]
    printed = values(subject(store, {"x": a // b + 1}), ["bytes_x"], bindings, tmp_path)
    for (x, y), (size,) in zip(bindings, printed, strict=True):
        expected = ILLEGAL if not (x == y or x == 1 or y == 1) else UNDEFINED if y == 0 else x // y + 1
        # sizes are `a // b + 1`, checked to be at least 0: the check divides by zero too
        assert size == expected


HOSTILE = [
    *("int", "while", "NULL", "INT64_MAX", "x", "X", "x.y", "x/y", "x_y", "x__y", "_", "__", "", "1", "unnamed"),
    *("*/ int main; /*", "a/*b*/c", "//\\", "\\", "a\nb", "??/", "??=", '"', "#define y", "%s", "\x00"),
    *("é", "日本", "\u202e", "x" * 500, "x" * 501),
]


@pytest.mark.parametrize("kind", ["c99", "c++"])
@pytest.mark.parametrize("model", ["*/ evil", "2nd model", "", "for", "日本"])
def test_hostile_names(kind: str, model: str, tmp_path: Path) -> None:
    store = ShapeStore()
    dims = [store.scope.symbol(name) for name in HOSTILE]
    slots = tuple(Slot(name, i, i + 1, 8 * i, 64 * i) for i, name in enumerate(HOSTILE))
    sizes: dict[str, DimSize | None] = {name: d + i for i, (name, d) in enumerate(zip(HOSTILE, dims, strict=True))}
    export = subject(store, {**sizes, "?unknown*/": None}, name=model, plan=Plan(slots, 64 * len(slots), 64))
    prefix = prefix_of(model)
    macro = prefix.upper()
    parts = identifiers([*HOSTILE, "?unknown*/"])
    arguments = ", ".join(str(i + 1) for i in range(len(HOSTILE)))
    statements = [printing(f"{macro}_OFFSET_{parts[n]} + {macro}_SIZE_{parts[n]}") for n in HOSTILE]
    statements += ["#define ROW(id, name, offset, size, lower, upper) " + printing("name[0] * 0 + offset + size")]
    statements += [f"{macro}_SLOTS(ROW)"]
    statements += [printing(f"{prefix}_bytes_{parts[n]}({arguments})") for n in HOSTILE]
    program = compiled(c_header(export), statements, tmp_path, kind)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    offsets = [72 * i for i in range(len(HOSTILE))]
    assert list(map(int, printed)) == [*offsets, *offsets, *(2 * i + 1 for i in range(len(HOSTILE)))]


def test_identifiers_are_never_alike() -> None:
    actual = identifiers(HOSTILE)
    assert len({part.lower() for part in actual.values()}) == len(HOSTILE)
    assert actual == {name: identifiers(reversed(HOSTILE))[name] for name in HOSTILE}
    tricky = ["a.b", "a/b", *(part for name, part in identifiers(["a.b", "a/b"]).items())]
    assert len({part.lower() for part in identifiers(tricky).values()}) == len(tricky)


@pytest.mark.parametrize("text", [*HOSTILE, "/*/", "**//**", "*\u200b/", "a???/"])
def test_nothing_breaks_out_of_a_comment(text: str) -> None:
    escaped = comment(text)
    assert "*/" not in escaped and "/*" not in escaped and "??" not in escaped and "\\" not in escaped
    assert escaped.isascii() and escaped.isprintable()


def test_data_dependent_sizes_have_their_bound(tmp_path: Path) -> None:
    store = ShapeStore()
    n = store.scope.symbol("n")
    actual, free = store.scope.fresh("nonzero"), store.scope.fresh("boxes")
    store.add_le(actual, n * n, Source("nz", "no more than all elements"))
    export = subject(store, {"x": 8 * actual + n, "y": 4 * free, "z": None})
    text = c_header(export, "m")
    assert "#define M_PEAK_IS_AT_LEAST 1" in text
    assert "/* no function for y: boxes has no upper bound */" in text and "m_bytes_y" not in text
    assert "/* no function for z: no idea */" in text
    assert values(export, ["bytes_x"], [(5,), (2**31,)], tmp_path) == [
        [8 * 25 + 5],
        [OVERFLOW],
    ]


def test_buffers_of_the_same_name_all_have_a_function(tmp_path: Path) -> None:
    store = ShapeStore()
    n = store.scope.symbol("n")
    export = subject(store, {"x": 3 * n, "y": 5 * n})
    buffers = tuple(attrs.evolve(buffer, name="x") for buffer in export.timeline.buffers)
    both = attrs.evolve(export, peak=Peak(Timeline(export.timeline.points, buffers), store))
    assert values(both, ["bytes_x", "bytes_x_2"], [(7,)], tmp_path) == [[21, 35]]
