"""Names of dims that look like another name, misspelt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from shapeinf.checks.registry import register_check
from shapeinf.checks.subject import GENERATED, CheckedModel
from shapeinf.diagnostics import Diagnostic

_LEAST = 5
"""Words shorter than this are too near to each other to tell: `past` and `mask`, `seq` and `sep`."""


@register_check(
    "C120", "warning", "a name that is likely misspelled", "It resembles another name, or contains a blank."
)
def misspelt(subject: CheckedModel) -> Iterator[Diagnostic]:
    """Names that differ by one slip of the keyboard or by blanks, and names with a blank inside."""
    names = _names(subject)
    said: set[str] = set()
    for first, second in combinations(names, 2):
        if looks_misspelt(first, second) and not _apart(subject, first, second):
            said.update((first, second))
            where = f"{first!r} ({names[first]}) and {second!r} ({names[second]})"
            yield Diagnostic("warning", "C120", f"{where} look like one name, misspelt", tensor=_tensor(names[second]))
    for name, axis in names.items():
        if name not in said and _has_a_slip(name):
            plain = re.sub(r"\s+", "", name)
            message = f"{name!r} ({axis}) has a blank inside: {plain!r} would be another name"
            yield Diagnostic("warning", "C120", message, tensor=_tensor(axis))


def _tensor(axis: str) -> str:
    return axis.rpartition(".shape[")[0]


def _names(subject: CheckedModel) -> dict[str, str]:
    """Names of dims, each with the first axis that has it: of inputs, then of outputs, then of values inside."""
    graph = subject.graph
    order = [*graph.inputs, *graph.outputs, *graph.declared]
    found: dict[str, str] = {}
    for tensor in dict.fromkeys(order):
        declared = graph.declared.get(tensor)
        for axis, dim in enumerate((declared.dims or ()) if declared is not None else ()):
            if isinstance(dim, str) and dim and not GENERATED.fullmatch(dim):
                found.setdefault(dim, f"{tensor}.shape[{axis}]")
    return found


def _apart(subject: CheckedModel, first: str, second: str) -> bool:
    """Whether the two are known to be different sizes."""
    scope, store = subject.store.scope, subject.store
    both = scope.has(first) and scope.has(second)
    return both and store.prove_eq(scope.symbol(first), scope.symbol(second)) is False


def _has_a_slip(name: str) -> bool:
    """Whether a name is an identifier but for blanks beside an underscore."""
    return bool(re.search(r"\s_|_\s", name)) and re.sub(r"\s+", "", name).isidentifier()


def looks_misspelt(a: str, b: str) -> bool:
    """Whether two names differ as a name and its misspelling do; numbers and short words are never misspelt.

    >>> looks_misspelt("batch", "batsh"), looks_misspelt("batch_size", "batch _size"), looks_misspelt("seq", "seq2")
    (True, True, False)
    >>> looks_misspelt("batch", "patch"), looks_misspelt("token", "tokens"), looks_misspelt("past_seq", "seq")
    (False, False, False)
    """
    if not _word(a) or not _word(b):
        return False
    plain = [re.sub(r"[\s_]+", "", name).lower() for name in (a, b)]
    if plain[0] == plain[1]:
        return a != b
    words = [re.sub(r"\s+", "", name).lower().split("_") for name in (a, b)]
    if len(words[0]) != len(words[1]):
        return False
    different = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
    return len(different) == 1 and _one_slip(*different[0])


def _word(name: str) -> bool:
    """Whether a name is made of words; expressions and names of values are not."""
    return bool(re.fullmatch(r"[^\W\d](\w|\s(?=_)|(?<=_)\s)*", name))


def _one_slip(a: str, b: str) -> bool:
    """One letter more, less, other or two exchanged, not the first one and not an s at the end."""
    if min(len(a), len(b)) < _LEAST - 1 or max(len(a), len(b)) < _LEAST or a[0] != b[0]:
        return False
    if any(c.isdigit() for c in a + b) or a + "s" == b or b + "s" == a:
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    one, two = a[start:], b[start:]
    exchanged = len(one) > 1 and len(two) > 1 and one[:2] == two[1::-1] and one[2:] == two[2:]
    return exchanged or one[1:] == two[1:] or one[1:] == two or one == two[1:]
