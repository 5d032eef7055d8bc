"""A straight-line program at one binding, in Python's ints; `many_bindings` runs it over arrays."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.expr.straight_line import Instruction, StraightLine

INT64_MAX = (1 << 63) - 1
INT64_MIN = -(1 << 63)

MAX_BITS = 4096
"""An intermediate number with more bits than this is an overflow, and so is everything computed from it."""


def run_exactly(program: StraightLine, arguments: Sequence[int]) -> list[int | None]:
    """The outputs at one binding, as Python's ints; None for an output that divides by zero.

    A number of `MAX_BITS` bits stands for every larger one.
    """
    registers: list[int | None] = []
    for instruction in program.instructions:
        if instruction.op == "constant":
            registers.append(instruction.left)
        elif instruction.op == "symbol":
            registers.append(arguments[instruction.left])
        else:
            registers.append(step_exactly(instruction, registers[instruction.left], registers[instruction.right]))
    return [registers[number] for number in program.outputs]


_HUGE = 1 << MAX_BITS


def step_exactly(instruction: Instruction, a: int | None, b: int | None) -> int | None:
    """The result of an instruction; None for a division by zero, and for an operand without a value."""
    if a is None or b is None or (instruction.op == "floordiv" and b == 0):
        return None
    if _HUGE in (a, b):
        return _HUGE
    if instruction.op == "add":
        result = a + b
    elif instruction.op == "multiply":
        result = a * b
    else:
        result = a // b if instruction.op == "floordiv" else max(a, b)
    return result if -_HUGE < result < _HUGE else _HUGE
