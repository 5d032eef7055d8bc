"""Dims in the notations of other tools: each tool reads the text as the same sizes, and so do we."""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import TypeVar, get_args

import pytest

from shapeinf.errors import DimensionError, UnknownNameError
from shapeinf.expr import DimSize, Scope, evaluate, format_dim, format_dim_as, maximum, minimum, parse_dim
from shapeinf.expr.notations import NotationName
from tests.expr.random_dims import NAMES, Value, random_dims, random_sizes

NOTATIONS: tuple[NotationName, ...] = get_args(NotationName)

Reader = Callable[[str], Callable[[Mapping[str, int]], int | None] | None]
"""A text to a function of sizes, by the tool itself; None where the tool cannot read the text, or compute the size."""


def sympy_reader(text: str) -> Callable[[Mapping[str, int]], int]:
    return sympify(text, {})


def torch_reader(text: str) -> Callable[[Mapping[str, int]], int]:
    """As torch.export reads the expressions of a saved program."""
    functions = pytest.importorskip("torch.utils._sympy.functions")
    return sympify(text, {name: getattr(functions, name) for name in ("FloorDiv", "Mod", "PythonMod", "Max", "Min")})


def sympify(text: str, functions: Mapping[str, object]) -> Callable[[Mapping[str, int]], int]:
    """`sympy.sympify` with sizes in place of the names, but the text is parsed once for all sizes."""
    sympy = pytest.importorskip("sympy")
    parser = pytest.importorskip("sympy.parsing.sympy_parser")
    of_sympy: dict[str, object] = {**vars(sympy), "max": max, "min": min}
    names = {**functions, **dict.fromkeys(NAMES, sympy.Integer(1))}
    code = compile(parser.stringify_expr(text, names, of_sympy, parser.standard_transformations), "<dim>", "eval")
    return lambda sizes: int(eval(code, of_sympy, {**functions, **{n: sympy.Integer(sizes[n]) for n in NAMES}}))


def jax_reader(text: str) -> Callable[[Mapping[str, int]], int | None] | None:
    """jax computes maxima of at most 32 or 64 bits, and needs exponential time to read some nested maxima."""
    jax = pytest.importorskip("jax")
    export = pytest.importorskip("jax.export")
    jax.config.update("jax_enable_x64", True)
    try:
        dims = within_calls(MAX_CALLS, lambda: export.symbolic_shape(text))
    except AssertionError:  # its bounds are floats, which are not exact for large products
        dims = None
    if dims is None:
        return None
    (dim,) = dims

    def value(sizes: Mapping[str, int]) -> int | None:
        try:
            return dim if isinstance(dim, int) else int(dim._evaluate(dict(sizes)))
        except OverflowError:
            return None

    return value


MAX_CALLS = 300_000
"""The Python calls that jax may need to read a text; half of the texts need fewer than 1,000."""

MIN_READ = {"jax": 0.95}
"""The part of the texts that a tool reads, where it does not read all."""

T = TypeVar("T")


class TooManyCallsError(BaseException):
    """Not an Exception, which the code that is counted may catch."""


def within_calls(limit: int, compute: Callable[[], T]) -> T | None:
    """The result; None if it needs more Python calls than the limit."""
    calls = itertools.count()

    def count(frame: FrameType, event: str, _argument: object) -> None:
        is_generator = frame.f_code.co_flags & inspect.CO_GENERATOR  # an error in one that is closed is ignored
        if event == "call" and next(calls) > limit and not is_generator:
            raise TooManyCallsError

    sys.setprofile(count)
    try:
        return compute()
    except TooManyCallsError:
        return None
    finally:
        sys.setprofile(None)


def onnx_reader(text: str) -> Callable[[Mapping[str, int]], int]:
    """By the words of the proposal: Python's arithmetic, `^` and `&` as maximum and minimum, `CeilToInt` and `Max`."""
    tree = ast.parse(text, mode="eval").body
    return lambda sizes: value_of(tree, sizes)


OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.BitXor: max,
    ast.BitAnd: min,
}
CALLS: dict[str, Callable[[int, int], int]] = {"Max": max, "CeilToInt": lambda n, divisor: -(-n // divisor)}


def value_of(tree: ast.expr, sizes: Mapping[str, int]) -> int:
    if isinstance(tree, ast.BinOp):
        return OPERATIONS[type(tree.op)](value_of(tree.left, sizes), value_of(tree.right, sizes))
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -value_of(tree.operand, sizes)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        first, second = (value_of(argument, sizes) for argument in tree.args)
        return CALLS[tree.func.id](first, second)
    if isinstance(tree, ast.Name):
        return sizes[tree.id]
    assert isinstance(tree, ast.Constant) and type(tree.value) is int
    return tree.value


READERS: dict[NotationName, Reader] = {
    "sympy": sympy_reader,
    "torch": torch_reader,
    "jax": jax_reader,
    "onnx": onnx_reader,
}


def uncapped(scope: Scope, seed: int, count: int) -> Iterator[tuple[DimSize, Value]]:
    """Random dims that are within the caps of the algebra."""
    for dim, value in itertools.islice(random_dims(scope, seed), count):
        if isinstance(dim, int) or dim.symbols().isdisjoint(scope.capped):
            yield dim, value


def compare(notation: NotationName, seed: int, count: int, points: int) -> None:
    """Each random dim is written, read back as itself, and has the tool's value at random sizes."""
    scope = Scope()
    dims = list(uncapped(scope, seed, count))
    read = 0
    for dim, value in dims:
        text = format_dim_as(dim, notation)
        again = parse_dim(text, scope)
        if parse_dim(str(dim), scope) == dim:  # one in 2,000 dims has another form when it is built again
            assert again == dim, text
        of_tool = READERS[notation](text)
        read += of_tool is not None
        for sizes in random_sizes(seed, points):
            expected = value(sizes)
            assert of_tool is None or of_tool(sizes) in (expected, None), (text, sizes)
            assert evaluate(again, sizes) == expected, (text, sizes)
    assert read >= MIN_READ.get(notation, 1) * len(dims)


@pytest.mark.parametrize("notation", NOTATIONS)
def test_random_dims_are_read_by_their_tool_and_by_us(notation: NotationName) -> None:
    compare(notation, seed=35, count=60, points=4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("notation", NOTATIONS)
def test_many_random_dims_are_read_by_their_tool_and_by_us(notation: NotationName, seed: int) -> None:
    compare(notation, seed, count=1000, points=20)


def forms(scope: Scope) -> dict[str, DimSize]:
    h, w = scope.symbol("h"), scope.symbol("w")
    return {
        "quotient": (h + 1) // 2,
        "of_symbols": (2 * h) // w,
        "remainder": h % 2,
        "times": 3 * (h % 2) - 2 * (h // 3),
        "maximum": maximum(2 * h, w, 7) * w,
        "minimum": minimum(h, w) + 1,
        "negative": -(h // 2) - 3,
    }


# As each tool prints the same dims, but for the order of terms and fractions, which differ in sympy: h/2 + 1/2.
WRITTEN: dict[NotationName, list[str]] = {
    "sympy": [
        "floor((h + 1)/2)",
        "floor((2*h)/w)",
        "Mod(h, 2)",
        "3*Mod(h, 2) - 2*floor(h/3)",
        "w*Max(2*h, w, 7)",
        "Min(w + 1, h + 1)",
        "-floor(h/2) - 3",
    ],
    "torch": [
        "((h + 1)//2)",
        "((2*h)//w)",
        "PythonMod(h, 2)",
        "3*PythonMod(h, 2) - 2*(h//3)",
        "w*Max(2*h, w, 7)",
        "Min(w + 1, h + 1)",
        "-(h//2) - 3",
    ],
    "jax": [
        "floordiv(h + 1, 2)",
        "floordiv(2*h, w)",
        "mod(h, 2)",
        "3*mod(h, 2) - 2*floordiv(h, 3)",
        "w*max(max(2*h, w), 7)",
        "min(w + 1, h + 1)",
        "-floordiv(h, 2) - 3",
    ],
    "onnx": [
        "(h + 1)//2",
        "(2*h)//w",
        "h%2",
        "3*(h%2) - 2*(h//3)",
        "w*Max(Max(2*h, w), 7)",
        "(w + 1 & h + 1)",
        "-(h//2) - 3",
    ],
}


@pytest.mark.parametrize("notation", NOTATIONS)
def test_forms(notation: NotationName) -> None:
    assert [format_dim_as(dim, notation) for dim in forms(Scope()).values()] == WRITTEN[notation]


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("name", ["batch size", "batch-size", "x.0", "lambda", "größe", "x.shape[0]", "2h", "h`"])
def test_names_that_a_tool_cannot_read_are_refused(notation: NotationName, name: str) -> None:
    symbol = Scope().symbol(name)
    for dim in (symbol, 2 * symbol + 1):
        with pytest.raises(DimensionError, match=f"no text in the notation of {notation}"):
            format_dim_as(dim, notation)


@pytest.mark.parametrize(
    ("notation", "name"), [("jax", "mod"), ("sympy", "Max"), ("torch", "PythonMod"), ("onnx", "Max")]
)
def test_names_of_functions_are_refused(notation: NotationName, name: str) -> None:
    with pytest.raises(DimensionError):
        format_dim_as(Scope().symbol(name) + 1, notation)


def test_an_unknown_notation_has_a_hint() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'sympy'"):
        format_dim_as(Scope().symbol("h"), "simpy")  # type: ignore[arg-type]


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_dim_that_needs_named_parts_is_refused(notation: NotationName) -> None:
    """Its text as a tree is exponentially long, and no other tool has named parts."""
    scope = Scope()
    dim: DimSize = scope.symbol("n")
    for _ in range(16):
        dim = (3 * dim + scope.symbol("m")) // 2 * 2 + dim % 7
    assert format_dim(dim).startswith("(let ")
    with pytest.raises(DimensionError, match=r"\(2 terms\)|has no text"):
        format_dim_as(dim, notation)


@pytest.mark.parametrize("notation", NOTATIONS)
def test_many_arguments_and_deep_dims_are_read_back_or_refused(notation: NotationName) -> None:
    scope = Scope()
    wide = maximum(*(i * scope.symbol(f"n{i}") for i in range(1, 100)))
    assert parse_dim(format_dim_as(wide, notation), scope) is wide
    deep: DimSize = scope.symbol("n")
    for _ in range(20):
        deep = maximum(deep // 3 + 1, 2 * scope.symbol("m")) // 2
    try:
        text = format_dim_as(deep, notation)
    except DimensionError:
        return
    assert parse_dim(text, scope) is deep
