"""How tools write dims: a table of notations, which one printer uses.

Sums and products are the same in all of them; quotients, remainders, maxima and minima differ. The page
docs/dim-texts.md describes the texts that are read, of which these are a part.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Literal, NamedTuple

NotationName = Literal["sympy", "onnx", "torch", "jax"]
"""The other tools in whose notation dims can be written; onnxruntime's shape inference writes that of sympy."""

RESERVED = frozenset({"max", "min", "floordiv", "ceildiv", "mod", "floor", "ceil", "None", "Max", "Min"})
"""Names of dims that are quoted in our own notation."""


class Form(NamedTuple):
    """How an operation of two dims is written.

    Args:
        text: the text with two gaps.
        is_infix: whether an operand that is not a symbol or a number has parentheses.
        is_loose: whether the entire text needs parentheses under a product.
    """

    text: str
    is_infix: bool = False
    is_loose: bool = False


class Notation(NamedTuple):
    """The forms of a tool.

    Args:
        quotient: the quotient, rounded down.
        remainder: the remainder, which has the sign of the divisor.
        maximum: the call of a maximum: with one gap for all arguments, or with two for those of nested calls.
        minimum: that of a minimum.
        reserved: identifiers that cannot be names of dims.
    """

    quotient: Form
    remainder: Form
    maximum: str
    minimum: str
    reserved: frozenset[str] = frozenset()

    def has_name(self, name: str) -> bool:
        """Whether a symbol can have this name: the tools parse Python's identifiers, and have no quotes."""
        plain = name.isascii() and name.isidentifier()
        return plain and not keyword.iskeyword(name) and name not in self.reserved


OURS = Notation(Form("{}//{}", True, True), Form("{} % {}", True, True), "max({})", "min({})")

NOTATIONS: Mapping[NotationName, Notation] = {
    "sympy": Notation(
        Form("floor({}/{})", True),
        Form("Mod({}, {})"),
        "Max({})",
        "Min({})",
        frozenset({"floor", "Mod", "Max", "Min"}),
    ),
    "torch": Notation(
        Form("({}//{})", True),
        Form("PythonMod({}, {})"),
        "Max({})",
        "Min({})",
        frozenset({"PythonMod", "Max", "Min"}),
    ),
    "jax": Notation(
        Form("floordiv({}, {})"),
        Form("mod({}, {})"),
        "max({}, {})",
        "min({}, {})",
        frozenset({"_", "floordiv", "mod", "max", "min"}),
    ),
    "onnx": Notation(
        Form("{}//{}", True, True),
        Form("{}%{}", True, True),
        "Max({}, {})",
        "({} & {})",
        frozenset({"Max", "CeilToInt"}),
    ),
}
