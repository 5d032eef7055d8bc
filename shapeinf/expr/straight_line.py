"""Dims as a straight-line program: a list of instructions without branches in which common subexpressions occur once.

A program is compiled once and run often: over arrays of bindings (`many_bindings`), or as source text of another
language. Its sums and products have no caps, so a total over all tensors of a model may have any number of terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Literal

import attrs

from shapeinf.expr.atoms import Floor, Symbol
from shapeinf.expr.dimension import Dimension, DimSize
from shapeinf.sharing import cached_property

Opcode = Literal["symbol", "constant", "add", "multiply", "floordiv", "maximum"]


@attrs.frozen
class Instruction:
    """The operation that computes one register.

    Args:
        op: the operation.
        left: the register of the left operand; the number of the argument for `symbol`, the number itself for
            `constant`.
        right: the register of the right operand; 0 for `symbol` and `constant`.
    """

    op: Opcode
    left: int
    right: int = 0

    @property
    def operands(self) -> tuple[int, ...]:
        """The registers that it reads."""
        return () if self.op in ("symbol", "constant") else (self.left, self.right)


@attrs.frozen(slots=False)
class StraightLine:
    """Instructions in order: number `i` writes register `i` and reads earlier ones.

    Args:
        symbols: the symbols whose values are the arguments.
        instructions: all instructions; each is needed for some output.
        outputs: the registers of the requested dims.
    """

    symbols: tuple[Dimension, ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[int, ...]

    @cached_property
    def last_reads(self) -> tuple[tuple[int, ...], ...]:
        """For each instruction the registers that nothing reads after it, except outputs."""
        outputs = set(self.outputs)
        last: dict[int, int] = {}
        for number, instruction in enumerate(self.instructions):
            for register in instruction.operands:
                last[register] = number
        dead: list[list[int]] = [[] for _ in self.instructions]
        for register, number in last.items():
            if register not in outputs:
                dead[number].append(register)
        return tuple(map(tuple, dead))

    def __str__(self) -> str:
        """One instruction a line, then the outputs."""
        lines = [f"r{i} = {self._format(instruction)}" for i, instruction in enumerate(self.instructions)]
        return "\n".join([*lines, "-> " + ", ".join(f"r{i}" for i in self.outputs)])

    def _format(self, instruction: Instruction) -> str:
        if instruction.op == "constant":
            return str(instruction.left)
        if instruction.op == "symbol":
            return str(self.symbols[instruction.left])
        if instruction.op == "maximum":
            return f"max(r{instruction.left}, r{instruction.right})"
        return f"r{instruction.left} {_SIGNS[instruction.op]} r{instruction.right}"


_SIGNS = {"add": "+", "multiply": "*", "floordiv": "//"}


class Lowering:
    """The instructions of many dims; each method adds those of a value and returns its register.

    >>> from shapeinf.expr import Scope
    >>> s = Scope()
    >>> b, n = s.symbol("b"), s.symbol("n")
    >>> print(lower([b * n, 4 * b * n + 1]))
    r0 = b
    r1 = n
    r2 = 1
    r3 = r0 * r1
    r4 = 4
    r5 = r3 * r4
    r6 = r2 + r5
    -> r3, r6
    """

    def __init__(self) -> None:
        """No instructions."""
        self._instructions: list[Instruction] = []
        self._registers: dict[Instruction, int] = {}
        self._symbols: dict[Dimension, int] = {}
        self._dims: dict[Dimension, int] = {}

    def dim(self, d: DimSize) -> int:
        """A dim."""
        if isinstance(d, int):
            return self.constant(d)
        if d not in self._dims:
            parts = []
            for monomial, coefficient in d.terms:
                factors = [self._atom(d, atom) for atom in monomial]
                parts.append(self.product([*factors, self.constant(coefficient)]))
            self._dims[d] = self.sum(parts)
        return self._dims[d]

    def constant(self, value: int) -> int:
        """A number."""
        return self._put(Instruction("constant", int(value)))

    def symbol(self, symbol: Dimension) -> int:
        """An argument."""
        return self._put(Instruction("symbol", self._symbols.setdefault(symbol, len(self._symbols))))

    def sum(self, registers: Iterable[int]) -> int:
        """The sum of registers; 0 for none."""
        terms = list(registers)
        return reduce(self.add, terms) if terms else self.constant(0)

    def product(self, registers: Iterable[int]) -> int:
        """The product of registers; 1 for none."""
        factors = list(registers)
        return reduce(self.multiply, factors) if factors else self.constant(1)

    def add(self, a: int, b: int) -> int:
        """`a + b`."""
        left, right = self._number(a), self._number(b)
        if left is not None and right is not None:
            return self.constant(left + right)
        if left == 0 or right == 0:
            return b if left == 0 else a
        return self._put(Instruction("add", min(a, b), max(a, b)))

    def multiply(self, a: int, b: int) -> int:
        """`a * b`."""
        left, right = self._number(a), self._number(b)
        if left is not None and right is not None:
            return self.constant(left * right)
        if left == 1 or right == 1:
            return b if left == 1 else a
        return self._put(Instruction("multiply", min(a, b), max(a, b)))

    def floordiv(self, a: int, b: int) -> int:
        """`a // b`, as Python rounds."""
        return a if self._number(b) == 1 else self._put(Instruction("floordiv", a, b))

    def maximum(self, registers: Iterable[int]) -> int:
        """The largest of one or more registers."""
        return reduce(self._larger, dict.fromkeys(registers))

    def append(self, program: StraightLine) -> tuple[int, ...]:
        """The registers of the outputs of another program."""
        moved: list[int] = []
        for instruction in program.instructions:
            if instruction.op == "symbol":
                moved.append(self.symbol(program.symbols[instruction.left]))
            elif instruction.op == "constant":
                moved.append(self.constant(instruction.left))
            elif instruction.op == "maximum":
                moved.append(self._larger(moved[instruction.left], moved[instruction.right]))
            else:
                method = {"add": self.add, "multiply": self.multiply, "floordiv": self.floordiv}[instruction.op]
                moved.append(method(moved[instruction.left], moved[instruction.right]))
        return tuple(moved[number] for number in program.outputs)

    def program(self, outputs: Sequence[int]) -> StraightLine:
        """The program of some registers, without the instructions that they do not need."""
        needed = set(outputs)
        for number in range(len(self._instructions) - 1, -1, -1):
            if number in needed:
                needed.update(self._instructions[number].operands)
        order = sorted(needed)
        moved = {old: new for new, old in enumerate(order)}
        all_symbols = list(self._symbols)
        arguments: dict[int, int] = {}
        instructions = []
        for number in order:
            instruction = self._instructions[number]
            if instruction.op == "symbol":
                instruction = Instruction("symbol", arguments.setdefault(instruction.left, len(arguments)))
            elif instruction.op != "constant":
                instruction = Instruction(instruction.op, moved[instruction.left], moved[instruction.right])
            instructions.append(instruction)
        symbols = tuple(all_symbols[number] for number in arguments)
        return StraightLine(symbols, tuple(instructions), tuple(moved[number] for number in outputs))

    def _larger(self, a: int, b: int) -> int:
        left, right = self._number(a), self._number(b)
        if left is not None and right is not None:
            return self.constant(max(left, right))
        return self._put(Instruction("maximum", min(a, b), max(a, b)))

    def _atom(self, d: Dimension, number: int) -> int:
        atom = d.scope.atoms[number]
        if isinstance(atom, Symbol):
            return self.symbol(d.scope.atom_dim(number))
        if isinstance(atom, Floor):
            return self.floordiv(self.dim(atom.numerator), self.dim(atom.denominator))
        return self.maximum(map(self.dim, atom.args))

    def _number(self, register: int) -> int | None:
        instruction = self._instructions[register]
        return instruction.left if instruction.op == "constant" else None

    def _put(self, instruction: Instruction) -> int:
        register = self._registers.setdefault(instruction, len(self._instructions))
        if register == len(self._instructions):
            self._instructions.append(instruction)
        return register


def lower(dims: Iterable[DimSize]) -> StraightLine:
    """The program that evaluates dims, one output each."""
    lowering = Lowering()
    return lowering.program([lowering.dim(d) for d in dims])
