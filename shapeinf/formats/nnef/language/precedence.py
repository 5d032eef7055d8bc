"""The precedence of the operators of NNEF expressions: a greater number binds tighter.

Source: NNEF 1.0.5, 3.2.3 "Compositional Syntax". It defines neither associativity nor the precedence of unary operators
and of `if`: here all binary operators, with `^`, associate to the left, unary ones bind tighter than all binary ones
(`-1 + 3` is 2), and `a if c else b` binds loosest and nests in its last operand.
"""

from __future__ import annotations

SELECT_PRECEDENCE = 0
IN_PRECEDENCE = 1

BINARY_PRECEDENCE = {
    "in": IN_PRECEDENCE,
    "&&": 2,
    "||": 2,
    "<": 3,
    ">": 3,
    "<=": 3,
    ">=": 3,
    "==": 3,
    "!=": 3,
    "+": 4,
    "-": 4,
    "*": 5,
    "/": 5,
    "^": 6,
}

UNARY_PRECEDENCE = 7
PRIMARY_PRECEDENCE = 8
"""The precedence of names, literals, calls and expressions in brackets."""
