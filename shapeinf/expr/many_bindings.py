"""A straight-line program over arrays of bindings, in int64 where that is exact and in Python's ints where not.

No number ever wraps. First the ranges of the arguments decide, in Python's ints: most programs cannot leave int64, and
run as plain numpy. Else the bindings of which float64 magnitudes say that some number may be too large are run in
Python's ints, so that only a result that does not fit is an overflow, whatever the numbers on the way to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from shapeinf.errors import LimitError
from shapeinf.expr.straight_line import Instruction, StraightLine

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Number = int | Ints

INT64_MAX = (1 << 63) - 1
INT64_MIN = -(1 << 63)

MAX_BITS = 4096
"""A number on the way with more bits than this counts as an overflow of all that is made of it."""

CHUNK = 8192
"""Bindings at a time: the registers in use then stay in the processor's caches."""

MAX_NUMBERS = 1 << 29
"""Results of one run: 4 GiB."""

_SAFE = float(1 << 62)
"""Magnitudes are sums and products of roundings, far less than a factor of 2 off: below this, all is in int64."""


@attrs.frozen
class Values:
    """What the outputs of a program are.

    Args:
        matrix: one row an output, one column a binding; what has no value is 0 there.
        overflow: for each output that has no value in int64 at some binding: where.
        undefined: for each output that divides by zero at some binding: where.
    """

    matrix: Ints
    overflow: dict[int, Flags]
    undefined: dict[int, Flags]


def run(program: StraightLine, arguments: Sequence[Number], bindings: int) -> Values:
    """The values of all outputs; an argument is an int that fits int64, or an int64 array with `bindings` elements.

    Raises LimitError for more than `MAX_NUMBERS` results.

    >>> from shapeinf.expr import Scope
    >>> from shapeinf.expr.straight_line import lowered
    >>> n = Scope().symbol("n")
    >>> found = run(lowered([n * n, n // 2]), [np.array([3, 1 << 32])], 2)
    >>> found.matrix[1], found.overflow[0]
    (array([         1, 2147483648]), array([False,  True]))
    """
    if len(program.outputs) * bindings > MAX_NUMBERS:
        raise LimitError(f"{bindings} bindings of {len(program.outputs)} expressions are too many numbers at once")
    matrix = np.zeros((len(program.outputs), bindings), dtype=np.int64)
    found = Values(matrix, {}, {})
    if not bindings:
        return found
    wide = not _fits(program, arguments)
    for start in range(0, bindings, CHUNK):
        part = slice(start, min(start + CHUNK, bindings))
        taken = [a if isinstance(a, int) else a[part] for a in arguments]
        doubtful = _too_large(program, taken, part.stop - start) if wide else np.zeros(part.stop - start, dtype=bool)
        _plain(program, taken, matrix[:, part], doubtful)
        for column in np.flatnonzero(doubtful):
            at = [a if isinstance(a, int) else int(a[column]) for a in taken]
            _put(found, start + int(column), exact(program, at))
    return found


def _put(found: Values, column: int, values: Sequence[int | None]) -> None:
    for row, value in enumerate(values):
        table = found.undefined
        if value is not None:
            if INT64_MIN <= value <= INT64_MAX:
                found.matrix[row, column] = value
                continue
            table = found.overflow
        found.matrix[row, column] = 0
        table.setdefault(row, np.zeros(found.matrix.shape[1], dtype=bool))[column] = True


def exact(program: StraightLine, arguments: Sequence[int]) -> list[int | None]:
    """The outputs at one binding, as Python's ints; None for what divides by zero.

    A number with more than `MAX_BITS` bits stands for any that is too large.
    """
    registers: list[int | None] = []
    for one in program.instructions:
        if one.op == "constant":
            registers.append(one.left)
        elif one.op == "symbol":
            registers.append(arguments[one.left])
        else:
            registers.append(_exact_step(one, registers[one.left], registers[one.right]))
    return [registers[number] for number in program.outputs]


_HUGE = 1 << MAX_BITS


def _exact_step(one: Instruction, a: int | None, b: int | None) -> int | None:
    if a is None or b is None or (one.op == "floordiv" and b == 0):
        return None
    if _HUGE in (a, b):
        return _HUGE
    if one.op == "add":
        found = a + b
    elif one.op == "multiply":
        found = a * b
    else:
        found = a // b if one.op == "floordiv" else max(a, b)
    return found if -_HUGE < found < _HUGE else _HUGE


# -- which numbers may be too large ----------------------------------------------------------------------------------


Range = tuple[int, int]


def _fits(program: StraightLine, arguments: Sequence[Number]) -> bool:
    """Whether no register can leave int64, by the least and greatest value of each argument."""
    ranges = [(a, a) if isinstance(a, int) else (int(a.min()), int(a.max())) for a in arguments]
    registers: list[Range] = []
    for one in program.instructions:
        if one.op == "constant":
            found = (one.left, one.left)
        elif one.op == "symbol":
            found = ranges[one.left]
        else:
            found = _RANGES[one.op](registers[one.left], registers[one.right])
        if found[0] < INT64_MIN or found[1] > INT64_MAX:
            return False
        registers.append(found)
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


def _too_large(program: StraightLine, arguments: Sequence[Number], bindings: int) -> Flags:
    """Where some register may be outside int64: an upper bound of its magnitude, in float64, says so."""
    found = np.zeros(bindings, dtype=bool)
    registers: list[Any] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for number, one in enumerate(program.instructions):
            if one.op == "constant":
                value: Any = float(min(abs(one.left), 1 << 1000))
            elif one.op == "symbol":
                value = np.abs(np.asarray(arguments[one.left], dtype=np.float64))
            else:
                value = _MAGNITUDES[one.op](registers[one.left], registers[one.right])
            found |= ~np.less(value, _SAFE)  # also where it is not a number
            registers.append(value)
            for dead in program.last_reads[number]:
                registers[dead] = None
    return found


_MAGNITUDES: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "multiply": np.multiply,
    "floordiv": lambda a, b: a,  # the divisor is not 0, so its magnitude is 1 or more
    "maximum": np.maximum,
}


# -- in int64 --------------------------------------------------------------------------------------------------------


def _plain(program: StraightLine, arguments: Sequence[Number], out: Ints, doubtful: Flags) -> None:
    """Run in int64 where nothing is doubtful; divisions by zero become doubtful.

    Doubtful bindings are run with the values of another one, which are overwritten later.
    """
    if doubtful.any():
        sure = np.flatnonzero(~doubtful)
        if not len(sure):
            return
        arguments = [a if isinstance(a, int) else np.where(doubtful, a[sure[0]], a) for a in arguments]
    rows: dict[int, list[int]] = {}
    for row, register in enumerate(program.outputs):
        rows.setdefault(register, []).append(row)
    registers: list[Number | None] = []
    for number, one in enumerate(program.instructions):
        done = -1
        if one.op == "constant":
            value: Number = one.left
        elif one.op == "symbol":
            value = arguments[one.left]
        else:
            left, right = registers[one.left], registers[one.right]
            assert left is not None and right is not None
            into = out[rows[number][0]] if number in rows else None
            value = _step(one, left, right, into, doubtful)
            done = rows[number][0] if value is into else -1
        for row in rows.get(number, ()):
            if row != done:
                out[row] = value
        registers.append(value)
        for dead in program.last_reads[number]:
            registers[dead] = None


def _step(one: Instruction, a: Number, b: Number, into: Ints | None, doubtful: Flags) -> Number:
    if one.op == "floordiv":
        if isinstance(b, int):
            if b == 0:
                doubtful[:] = True
                return 0
        elif not b.all():
            doubtful |= b == 0
            b = np.where(b == 0, 1, b)
    if isinstance(a, int) and isinstance(b, int):
        found = _exact_step(one, a, b)
        assert found is not None
        return found
    result: Ints = _STEPS[one.op](a, b, out=into)
    return result


_STEPS: dict[str, Callable[..., Ints]] = {
    "add": np.add,
    "multiply": np.multiply,
    "floordiv": np.floor_divide,
    "maximum": np.maximum,
}
