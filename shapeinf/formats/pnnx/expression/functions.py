"""The functions of the language, and how many arguments each takes."""

from __future__ import annotations

# fmt: off
UNARY = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "expm1", "floor",
    "int", "log", "log10", "log1p", "neg", "reciprocal", "round", "rsqrt", "sign", "sin", "sinh", "sqrt", "square",
    "tan", "tanh", "trunc", "torch.bool", "torch.float", "torch.long",
)
"""Functions of one argument."""

BINARY = (
    "add", "sub", "mul", "div", "floor_divide", "fmod", "max", "maximum", "min", "minimum", "pow", "remainder",
    "atan2", "logaddexp", "and", "or", "xor", "lshift", "rshift",
)
"""Functions of two arguments."""
# fmt: on

SIZE = "size"
"""All sizes of a tensor as a list, or the size of an axis."""

ARITIES: dict[str, tuple[int, int]] = {
    **dict.fromkeys(UNARY, (1, 1)),
    **dict.fromkeys(BINARY, (2, 2)),
    SIZE: (1, 2),
}
"""The least and the largest number of arguments of each function."""


def describe_arity(name: str) -> str:
    """How many arguments a function takes, in words.

    >>> describe_arity("neg"), describe_arity("size")
    ('1 argument', '1..2 arguments')
    """
    least, most = ARITIES[name]
    if least != most:
        return f"{least}..{most} arguments"
    return f"{least} argument" + "s" * (least > 1)
