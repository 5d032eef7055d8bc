"""Straight-line programs as C functions in checked 64-bit integer math."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shapeinf.codegen.c_names import comment, literal
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.straight_line import Instruction, Lowering, StraightLine, lower
from shapeinf.program.requirements import Requirement

Test = tuple[int, bool]
"""A register, and whether it must be 0 or at least 0."""

MATH = """\
#if !defined(@P_PORTABLE_MATH) && ((defined(__GNUC__) && __GNUC__ >= 5) || defined(__clang__))
#define @P_BUILTIN_MATH 1
#else
#define @P_BUILTIN_MATH 0
#endif

static inline int64_t @p_math_failed(int64_t failure, int64_t *status)
{
    if (*status == 0) {
        *status = failure;
    }
    return 0;
}

static inline int64_t @p_math_add(int64_t a, int64_t b, int64_t *status)
{
#if @P_BUILTIN_MATH
    int64_t result;
    if (__builtin_add_overflow(a, b, &result)) {
        return @p_math_failed(@P_OVERFLOW, status);
    }
    return result;
#else
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
        return @p_math_failed(@P_OVERFLOW, status);
    }
    return a + b;
#endif
}

static inline int64_t @p_math_multiply(int64_t a, int64_t b, int64_t *status)
{
#if @P_BUILTIN_MATH
    int64_t result;
    if (__builtin_mul_overflow(a, b, &result)) {
        return @p_math_failed(@P_OVERFLOW, status);
    }
    return result;
#else
    int outside;
    if (a == 0 || b == 0) {
        return 0;
    }
    if (a > 0) {
        outside = b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a;
    } else {
        outside = b > 0 ? a < INT64_MIN / b : b < INT64_MAX / a;
    }
    return outside ? @p_math_failed(@P_OVERFLOW, status) : a * b;
#endif
}

/* Rounds down, as Python's // does. */
static inline int64_t @p_math_floordiv(int64_t a, int64_t b, int64_t *status)
{
    int64_t result;
    if (b == 0) {
        return @p_math_failed(@P_UNDEFINED, status);
    }
    if (b == -1) {
        return a == INT64_MIN ? @p_math_failed(@P_OVERFLOW, status) : -a;
    }
    result = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? result - 1 : result;
}

static inline int64_t @p_math_maximum(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
"""
"""`@p` and `@P` stand for the prefix."""


class Functions:
    """Writes C functions that all have the same parameters."""

    def __init__(self, prefix: str, parameters: Sequence[tuple[Dimension | None, str]]) -> None:
        """`parameters` are symbols with their C identifiers; None for a parameter that no program reads."""
        self.prefix = prefix
        self.parameters = list(parameters)
        self.names = {symbol: name for symbol, name in parameters if symbol is not None}
        self.declared = ", ".join(f"int64_t {name}" for _, name in parameters) or "void"
        self.passed = ", ".join(name for _, name in parameters)

    def math(self) -> str:
        """The functions for checked arithmetic."""
        return MATH.replace("@P", self.prefix.upper()).replace("@p", self.prefix)

    def check(self, requirements: Iterable[Requirement]) -> str:
        """The function `check`, which returns 0 where the preconditions hold, else an error."""
        chosen = list(requirements)
        lowering = Lowering()
        registers = [lowering.dim(clause.expression) for requirement in chosen for clause in requirement.clauses]
        program = lowering.program(registers)
        lines = self._registers(program)
        outputs = iter(program.outputs)
        if program.instructions:
            lines += ["    if (status != 0) {", "        return status;", "    }"]
        for requirement in chosen:
            tests = [_test((next(outputs), clause.zero)) for clause in requirement.clauses]
            lines.append(f"    if (!({' || '.join(tests)})) {{ /* {comment(requirement.text)} */")
            lines += [f"        return {self.prefix.upper()}_ILLEGAL;", "    }"]
        return self._function("check", program, [*lines, "    return status;"])

    def violations(self, program: StraightLine, tests: Sequence[Sequence[Test]], outside: Sequence[str]) -> str:
        """The function `check`, which counts and marks the conditions of which no test holds.

        `outside` are the conditions on parameters under which the others decide nothing.
        """
        lines = self._registers(program)
        if outside:
            code = f"{self.prefix.upper()}_OUTSIDE"
            lines.insert(0, f"    if ({' || '.join(outside)}) {{\n        return {code};\n    }}")
        lines += ["    int64_t count = 0;", "    int holds;"]
        lines += ["    if (status != 0) {", "        return status;", "    }"]
        for number, clauses in enumerate(tests):
            lines.append(f"    holds = {' || '.join(map(_test, clauses))};")
            lines += ["    if (violated != NULL) {", f"        violated[{number}] = (unsigned char)!holds;", "    }"]
            lines.append("    count += !holds;")
        marks = "unsigned char *violated"
        declared = f"{self.declared}, {marks}" if self.parameters else marks
        head = f"static inline int64_t {self.prefix}_check({declared})"
        voids = [*self._unread(program), *([] if tests else ["    (void)holds;", "    (void)violated;"])]
        return "\n".join([head, "{", *lines, *voids, "    return count;", "}", ""])

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
        check = ["    if (status != 0) {", "        return status;", "    }"]
        lines = self._registers(program, f"{self.prefix}_check({self.passed})")
        (output,) = program.outputs
        return self._function(
            name, program, [lines[0], *check, *lines[1:], f"    return status != 0 ? status : r{output};"]
        )

    def _registers(self, program: StraightLine, status: str = "0") -> list[str]:
        lines = [f"    int64_t status = {status};"]
        for number, instruction in enumerate(program.instructions):
            lines.append(f"    const int64_t r{number} = {self._value(program, instruction)};")
        return lines

    def _value(self, program: StraightLine, instruction: Instruction) -> str:
        if instruction.op == "symbol":
            return self.names[program.symbols[instruction.left]]
        if instruction.op == "constant":
            failed = f"{self.prefix}_math_failed({self.prefix.upper()}_OVERFLOW, &status)"
            return literal(instruction.left) or failed
        status = "" if instruction.op == "maximum" else ", &status"
        return f"{self.prefix}_math_{instruction.op}(r{instruction.left}, r{instruction.right}{status})"

    def _function(self, name: str, program: StraightLine, lines: list[str]) -> str:
        head = f"static inline int64_t {self.prefix}_{name}({self.declared})"
        declaration, *rest = lines
        return "\n".join([head, "{", declaration, *self._unread(program), *rest, "}", ""])

    def _unread(self, program: StraightLine) -> list[str]:
        """Uses of the parameters that a program does not read, against warnings."""
        read = set(program.symbols)
        return [f"    (void){name};" for symbol, name in self.parameters if symbol not in read]


def _test(test: Test) -> str:
    register, zero = test
    return f"r{register} {'==' if zero else '>='} 0"
