"""Types of tensors in tract's notation, such as `1,(S+1)/2,f32`: compared with inferred ones by meaning."""

import re

from shapeinf.expr import parse_dim
from shapeinf.formats.nnef.files.datum_types import dtype_of

FUNCTIONS = {"broadcast", "min", "max"}

ELSEWHERE = {"tract_submodel"}
"""A document whose outputs other models decide, which are not among the vectors."""


def pieces(text):
    """The parts between commas that are in no parentheses."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def as_ours(dim):
    """A dim in the grammar of shapeinf: `/` rounds down, `+-` is `-`, and where two sizes broadcast one of them is 1.

    tract multiplies after it has divided: `-3*(S+3)/4` is `-3*((S+3)/4)`.
    """
    return with_quotients_first(dim).replace("+-", "-").replace("broadcast(", "max(")


def with_quotients_first(dim):
    """Each `(...)/n` or `S/n` in parentheses of its own, with `//`."""
    done, rest = "", dim
    while match := re.search(r"(?<!/)/(\d+)", rest):
        before, rest = rest[: match.start()], rest[match.end() :]
        start = opening(done + before)
        done, numerator = (done + before)[:start], (done + before)[start:]
        done += f"({numerator}//{match[1]})"
    return done + rest


def opening(text):
    """Where the last operand of a text begins: a parenthesis, with the name of its function, or a name or number."""
    at = len(text)
    if text.endswith(")"):
        depth = 0
        while at and (depth or at == len(text)):
            at -= 1
            depth += (text[at] == ")") - (text[at] == "(")
    return at - len(re.search(r"\w*$", text[:at])[0])


def parsed(dump, scope):
    """The dims and the element type, over the symbols of a scope; None for a symbol of tract's own."""
    *dims, dtype = pieces(dump)
    known = [set(re.findall(r"[A-Za-z_]\w*", dim)) - FUNCTIONS <= set(scope.names()) for dim in dims]
    return [parse_dim(as_ours(d), scope) if k else None for d, k in zip(dims, known, strict=True)], dtype_of(dtype)


def difference(dump, inferred, store, *, quantized=False):
    """The error of a tensor that should have this type, None where it has."""
    dims, dtype = parsed(dump, store.scope)
    if inferred.shape.dims is None or len(inferred.shape.dims) != len(dims):
        return f"{inferred} is not {dump}"
    if not quantized and inferred.dtype != dtype:
        return f"{inferred} is not {dump}: the element type should be {dtype}"
    pairs = enumerate(zip(inferred.shape.dims, dims, strict=True))
    wrong = [i for i, (a, b) in pairs if b is not None and store.prove_eq(a, b) is not True]
    return f"{inferred} is not {dump} at {wrong}" if wrong else None
