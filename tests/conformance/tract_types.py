"""Types of tensors in tract's notation, such as `1,(S+1)/2,f32`, compared with inferred types by their values."""

import re

from shapeinf.expr import parse_dim
from shapeinf.formats.nnef.files.datum_types import dtype_of

FUNCTIONS = {"broadcast", "min", "max"}

ELSEWHERE = {"tract_submodel"}
"""A document whose outputs depend on other models, which the vectors do not contain."""


def pieces(text):
    """The parts between commas outside of parentheses."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def as_ours(dim):
    """A dim in the grammar of shapeinf: `/` rounds down, `+-` is `-`, and of two sizes that broadcast one is 1.

    tract multiplies after it has divided: `-3*(S+3)/4` is `-3*((S+3)/4)`.
    """
    return with_quotients_first(dim).replace("+-", "-").replace("broadcast(", "max(")


def with_quotients_first(dim):
    """The text with each `(...)/n` or `S/n` in parentheses, with `//`."""
    done, rest = "", dim
    while match := re.search(r"(?<!/)/(\d+)", rest):
        before, rest = rest[: match.start()], rest[match.end() :]
        start = opening(done + before)
        done, numerator = (done + before)[:start], (done + before)[start:]
        done += f"({numerator}//{match[1]})"
    return done + rest


def opening(text):
    """The index at which the last operand of a text begins: a name, a number, or a parenthesis with its function."""
    at = len(text)
    if text.endswith(")"):
        depth = 0
        while at and (depth or at == len(text)):
            at -= 1
            depth += (text[at] == ")") - (text[at] == "(")
    return at - len(re.search(r"\w*$", text[:at])[0])


def parsed(dump, scope):
    """The dims and the element type, with symbols of a scope; None for a symbol that tract introduced."""
    *dims, dtype = pieces(dump)
    known = [set(re.findall(r"[A-Za-z_]\w*", dim)) - FUNCTIONS <= set(scope.names()) for dim in dims]
    return [parse_dim(as_ours(d), scope) if k else None for d, k in zip(dims, known, strict=True)], dtype_of(dtype)


def difference(dump, inferred, store, *, quantized=False):
    """A text of the difference between a tensor and this type; None if there is none."""
    dims, dtype = parsed(dump, store.scope)
    if inferred.shape.dims is None or len(inferred.shape.dims) != len(dims):
        return f"{inferred} is not {dump}"
    if not quantized and inferred.dtype != dtype:
        return f"{inferred} is not {dump}: the element type should be {dtype}"
    pairs = enumerate(zip(inferred.shape.dims, dims, strict=True))
    wrong = [i for i, (a, b) in pairs if b is not None and store.prove_eq(a, b) is not True]
    return f"{inferred} is not {dump} at {wrong}" if wrong else None
