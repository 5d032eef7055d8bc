"""tract's facts about tensors, such as `1,(S+1)/2,f32`, against ours: compared by meaning, not as text."""

import re

from shapeinf.algebra import parse_dim
from shapeinf.formats.nnef.files.datum_types import dtype_of

FUNCTIONS = {"broadcast", "min", "max"}

ELSEWHERE = {"tract_submodel"}
"""A document whose outputs other models decide, which are not among the vectors."""


def pieces(text):
    """The parts between commas that are in no parentheses."""
    found, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            found.append(text[start:i].strip())
            start = i + 1
    return [*found, text[start:].strip()]


def as_ours(dim):
    """A dim in our grammar: `/` rounds down, `+-` is `-`, and where two sizes broadcast one of them is 1."""
    return re.sub(r"(?<!/)/(?!/)", "//", dim).replace("+-", "-").replace("broadcast(", "max(")


def parsed(fact, scope):
    """The dims and the element type of a fact, over the symbols of a scope; None for a symbol that tract made up."""
    *dims, dtype = pieces(fact)
    known = [set(re.findall(r"[A-Za-z_]\w*", dim)) - FUNCTIONS <= set(scope.names()) for dim in dims]
    return [parse_dim(as_ours(d), scope) if k else None for d, k in zip(dims, known, strict=True)], dtype_of(dtype)


def difference(fact, found, facts, *, quantized=False):
    """What is wrong with a tensor that should have this fact, None where nothing is."""
    dims, dtype = parsed(fact, facts.scope)
    if found.shape.dims is None or len(found.shape.dims) != len(dims):
        return f"{found} is not {fact}"
    if not quantized and found.dtype != dtype:
        return f"{found} is not {fact}: the element type should be {dtype}"
    pairs = enumerate(zip(found.shape.dims, dims, strict=True))
    wrong = [i for i, (a, b) in pairs if b is not None and facts.prove_eq(a, b) is not True]
    return f"{found} is not {fact} at {wrong}" if wrong else None
