"""A straight-line program over arrays of bindings, in int64 where that is exact and in Python's ints where not.

No number ever wraps. First the ranges of the arguments decide, in Python's ints: most programs cannot leave int64, and
run as plain numpy. Otherwise a float64 magnitude of every number selects the bindings where one may be too large;
these run in Python's ints, so that only a result that does not fit is an overflow, not an intermediate number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from shapeinf.errors import LimitError
from shapeinf.expr.exact_runs import INT64_MAX, INT64_MIN, run_exactly, step_exactly
from shapeinf.expr.straight_line import Instruction, StraightLine

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Number = int | Ints

CHUNK = 8192
"""Bindings at a time, so that the registers in use stay in the processor's caches."""

MAX_NUMBERS = 1 << 29
"""Results of one run: 4 GiB."""

_SAFE = float(1 << 62)
"""Magnitudes are rounded, by far less than a factor of 2: numbers below this fit int64."""


@attrs.frozen
class Values:
    """The outputs of a program at each binding.

    Args:
        matrix: one row an output, one column a binding; 0 where there is no value.
        overflow: the bindings at which an output does not fit int64, by output.
        undefined: the bindings at which an output divides by zero, by output.
    """

    matrix: Ints
    overflow: dict[int, Flags]
    undefined: dict[int, Flags]


def run(program: StraightLine, arguments: Sequence[Number], bindings: int) -> Values:
    """The values of all outputs; an argument is an int that fits int64, or an int64 array with `bindings` elements.

    Raises LimitError for more than `MAX_NUMBERS` results.

    >>> from shapeinf.expr import Scope
    >>> from shapeinf.expr.straight_line import lower
    >>> n = Scope().symbol("n")
    >>> values = run(lower([n * n, n // 2]), [np.array([3, 1 << 32])], 2)
    >>> values.matrix[1], values.overflow[0]
    (array([         1, 2147483648]), array([False,  True]))
    """
    if len(program.outputs) * bindings > MAX_NUMBERS:
        raise LimitError(f"{bindings} bindings of {len(program.outputs)} expressions are too many numbers at once")
    matrix = np.zeros((len(program.outputs), bindings), dtype=np.int64)
    values = Values(matrix, {}, {})
    if not bindings:
        return values
    wide = not _fits(program, arguments)
    for start in range(0, bindings, CHUNK):
        part = slice(start, min(start + CHUNK, bindings))
        chunk = [a if isinstance(a, int) else a[part] for a in arguments]
        unsafe = _find_unsafe(program, chunk, part.stop - start) if wide else np.zeros(part.stop - start, dtype=bool)
        _run_in_int64(program, chunk, matrix[:, part], unsafe)
        for column in np.flatnonzero(unsafe):
            binding = [a if isinstance(a, int) else int(a[column]) for a in chunk]
            _store(values, start + int(column), run_exactly(program, binding))
    return values


def _store(values: Values, column: int, outputs: Sequence[int | None]) -> None:
    for row, value in enumerate(outputs):
        table = values.undefined
        if value is not None:
            if INT64_MIN <= value <= INT64_MAX:
                values.matrix[row, column] = value
                continue
            table = values.overflow
        values.matrix[row, column] = 0
        table.setdefault(row, np.zeros(values.matrix.shape[1], dtype=bool))[column] = True


# -- which numbers may be too large ----------------------------------------------------------------------------------


Range = tuple[int, int]


def _fits(program: StraightLine, arguments: Sequence[Number]) -> bool:
    """Whether every register fits int64, by the least and greatest value of each argument."""
    ranges = [(a, a) if isinstance(a, int) else (int(a.min()), int(a.max())) for a in arguments]
    registers: list[Range] = []
    for instruction in program.instructions:
        if instruction.op == "constant":
            low, high = instruction.left, instruction.left
        elif instruction.op == "symbol":
            low, high = ranges[instruction.left]
        else:
            low, high = _RANGES[instruction.op](registers[instruction.left], registers[instruction.right])
        if low < INT64_MIN or high > INT64_MAX:
            return False
        registers.append((low, high))
    return True


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _quotient(a: Range, b: Range) -> Range:
    if b[0] > 0:
        corners = [x // y for x in a for y in b]
        return min(corners), max(corners)
    largest = max(abs(a[0]), abs(a[1]))
    return -largest, largest


_RANGES: dict[str, Callable[[Range, Range], Range]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "multiply": _product,
    "floordiv": _quotient,
    "maximum": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}


def _find_unsafe(program: StraightLine, arguments: Sequence[Number], bindings: int) -> Flags:
    """The bindings at which some register may not fit int64, by float64 upper bounds of the magnitudes."""
    unsafe = np.zeros(bindings, dtype=bool)
    registers: list[Any] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for number, instruction in enumerate(program.instructions):
            if instruction.op == "constant":
                value: Any = float(min(abs(instruction.left), 1 << 1000))
            elif instruction.op == "symbol":
                value = np.abs(np.asarray(arguments[instruction.left], dtype=np.float64))
            else:
                value = _MAGNITUDES[instruction.op](registers[instruction.left], registers[instruction.right])
            unsafe |= ~np.less(value, _SAFE)  # also at NaN
            registers.append(value)
            for dead in program.last_reads[number]:
                registers[dead] = None
    return unsafe


_MAGNITUDES: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "multiply": np.multiply,
    "floordiv": lambda a, b: a,  # the divisor is not 0, so its magnitude is 1 or more
    "maximum": np.maximum,
}


# -- in int64 --------------------------------------------------------------------------------------------------------


def _run_in_int64(program: StraightLine, arguments: Sequence[Number], out: Ints, unsafe: Flags) -> None:
    """Run in int64 at the bindings that are not `unsafe`; a division by zero adds to these.

    Unsafe bindings run with the values of a safe one; their results are overwritten later.
    """
    if unsafe.any():
        safe = np.flatnonzero(~unsafe)
        if not len(safe):
            return
        arguments = [a if isinstance(a, int) else np.where(unsafe, a[safe[0]], a) for a in arguments]
    rows: dict[int, list[int]] = {}
    for row, register in enumerate(program.outputs):
        rows.setdefault(register, []).append(row)
    registers: list[Number | None] = []
    for number, instruction in enumerate(program.instructions):
        done = -1
        if instruction.op == "constant":
            value: Number = instruction.left
        elif instruction.op == "symbol":
            value = arguments[instruction.left]
        else:
            left, right = registers[instruction.left], registers[instruction.right]
            assert left is not None and right is not None
            into = out[rows[number][0]] if number in rows else None
            value = _step(instruction, left, right, into, unsafe)
            done = rows[number][0] if value is into else -1
        for row in rows.get(number, ()):
            if row != done:
                out[row] = value
        registers.append(value)
        for dead in program.last_reads[number]:
            registers[dead] = None


def _step(instruction: Instruction, a: Number, b: Number, into: Ints | None, unsafe: Flags) -> Number:
    if instruction.op == "floordiv":
        if isinstance(b, int):
            if b == 0:
                unsafe[:] = True
                return 0
        elif not b.all():
            unsafe |= b == 0
            b = np.where(b == 0, 1, b)
    if isinstance(a, int) and isinstance(b, int):
        value = step_exactly(instruction, a, b)
        assert value is not None
        return value
    result: Ints = _STEPS[instruction.op](a, b, out=into)
    return result


_STEPS: dict[str, Callable[..., Ints]] = {
    "add": np.add,
    "multiply": np.multiply,
    "floordiv": np.floor_divide,
    "maximum": np.maximum,
}
