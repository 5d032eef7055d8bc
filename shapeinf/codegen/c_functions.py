"""Straight-line programs as C functions in checked 64-bit integer math."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shapeinf.codegen.names import c_comment, c_literal
from shapeinf.codegen.shape_module import Test, read_asset
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.straight_line import Instruction, Lowering, StraightLine, lower
from shapeinf.program.requirements import Requirement


def c_arithmetic(prefix: str) -> str:
    """The functions for checked arithmetic, whose names begin with a prefix."""
    return set_prefix(read_asset("arithmetic.h").partition("\n")[2], prefix)


def set_prefix(text: str, prefix: str) -> str:
    """An asset with the prefix in place of `@p` and `@P`."""
    return text.replace("@P", prefix.upper()).replace("@p", prefix)


def c_statements(prefix: str, program: StraightLine, arguments: Sequence[str], part: range | None = None) -> list[str]:
    """Statements that set the registers `r` of a part of a program; `status` points to the first error.

    `arguments` are the expressions of the symbols.
    """
    numbers = range(len(program.instructions)) if part is None else part
    return [f"    r[{i}] = {_c_value(prefix, program.instructions[i], arguments)};" for i in numbers]


def _c_value(prefix: str, instruction: Instruction, arguments: Sequence[str]) -> str:
    if instruction.op == "symbol":
        return arguments[instruction.left]
    if instruction.op == "constant":
        return c_literal(instruction.left) or f"{prefix}_math_failed({prefix.upper()}_OVERFLOW, status)"
    status = "" if instruction.op == "maximum" else ", status"
    return f"{prefix}_math_{instruction.op}(r[{instruction.left}], r[{instruction.right}]{status})"


def c_test(tests: Sequence[Test]) -> str:
    """Whether one of some tests holds."""
    return " || ".join(f"r[{test.register}] {'==' if test.zero else '>='} 0" for test in tests)


RETURN_ERROR = ["    if (failure != 0) {", "        return failure;", "    }"]


class Functions:
    """Writes C functions that all have the same parameters."""

    def __init__(self, prefix: str, parameters: Sequence[tuple[Dimension | None, str]]) -> None:
        """`parameters` are symbols with their C identifiers; None for a parameter that no program reads."""
        self.prefix = prefix
        self.parameters = list(parameters)
        self.names = {symbol: name for symbol, name in parameters if symbol is not None}
        self.declared = ", ".join(f"int64_t {name}" for _, name in parameters) or "void"
        self.passed = ", ".join(name for _, name in parameters)

    def check(self, requirements: Iterable[Requirement]) -> str:
        """The function `check`, which returns 0 where the preconditions hold, else an error."""
        chosen = list(requirements)
        lowering = Lowering()
        registers = [lowering.dim(clause.expression) for requirement in chosen for clause in requirement.clauses]
        program = lowering.program(registers)
        lines = self._registers(program)
        outputs = iter(program.outputs)
        if program.instructions:
            lines += RETURN_ERROR
        for requirement in chosen:
            tests = [Test(next(outputs), clause.zero) for clause in requirement.clauses]
            lines.append(f"    if (!({c_test(tests)})) {{ /* {c_comment(requirement.text)} */")
            lines += [f"        return {self.prefix.upper()}_ILLEGAL;", "    }"]
        return self._function("check", program, [*lines, "    return failure;"])

    def expression(self, name: str, dim: DimSize) -> str:
        """A function that returns the value of a dim."""
        return self._evaluation(name, lower([dim]))

    def largest(self, name: str, dims: Iterable[DimSize]) -> str:
        """A function that returns the largest value of some dims; 0 for none."""
        lowering = Lowering()
        register = lowering.maximum([lowering.constant(0), *map(lowering.dim, dims)])
        return self._evaluation(name, lowering.program([register]))

    def call(self, name: str, target: str) -> str:
        """A function that returns the result of the function `target`."""
        head = f"static inline int64_t {self.prefix}_{name}({self.declared})"
        return f"{head}\n{{\n    return {self.prefix}_{target}({self.passed});\n}}\n"

    def _evaluation(self, name: str, program: StraightLine) -> str:
        lines = self._registers(program, f"{self.prefix}_check({self.passed})")
        (output,) = program.outputs
        head, body = lines[: -len(program.instructions)], lines[-len(program.instructions) :]
        return self._function(
            name, program, [*head, *RETURN_ERROR, *body, f"    return failure != 0 ? failure : r[{output}];"]
        )

    def _registers(self, program: StraightLine, failure: str = "0") -> list[str]:
        count = len(program.instructions)
        lines = [f"    int64_t failure = {failure};"]
        lines += [f"    int64_t r[{count}];", "    int64_t *const status = &failure;"] if count else []
        arguments = [self.names[symbol] for symbol in program.symbols]
        return [*lines, *c_statements(self.prefix, program, arguments)]

    def _function(self, name: str, program: StraightLine, lines: list[str]) -> str:
        head = f"static inline int64_t {self.prefix}_{name}({self.declared})"
        return "\n".join([head, "{", *lines[:-1], *self._unread(program), lines[-1], "}", ""])

    def _unread(self, program: StraightLine) -> list[str]:
        """Uses of the parameters and variables that a program does not read, against warnings."""
        read = set(program.symbols)
        unread = [f"    (void){name};" for symbol, name in self.parameters if symbol not in read]
        return [*unread, "    (void)status;"] if program.instructions else unread
