"""Checks of the operators of nodes: misspelled names of operators and of their domains."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.registry import register_check
from shapeinf.diagnostics import Diagnostic

_MIN_REPLACED = 6
"""The least length of a word in which a replaced letter is a typing error: Selu and Silu are two operators."""

_OUTLINE = re.compile(r"[A-Z\d._:>]|(?:(?<=[._:>])|^)[a-z]")
"""The letters that begin the words of a name, its digits and its separators."""

_SEPARATORS = re.compile(r"[._:>]+")

_MIN_OPERATOR = 4
"""The least length of a misspelled word in the name of an operator."""
_MIN_LOWERCASE = 7
"""The same for any typing error in a word without capitals: irfft and ihfft are two operators."""

_MIN_DOMAIN = 6
"""The least length of a misspelled domain."""

MISSPELLED_OPERATOR = "C121"


@register_check(
    MISSPELLED_OPERATOR,
    "error",
    "an operator or a domain that is likely misspelled",
    "No installed dialect has the operator, and its name differs by one typing error from the name of an operator "
    "that a dialect has. An operator of a domain that is not misspelled is never reported: its runtime may have the "
    "operator.",
    static=True,
)
def misspelled_operators(model: CheckedModel) -> Iterator[Diagnostic]:
    """Operators without a definition, if an operator or a domain of a similar name has one."""
    inference = model.result.engine.inference
    dialect = inference.compiled.registry.dialect(model.graph.dialect)
    if dialect is None:
        return
    known: dict[str, set[str]] = {}
    for domain, op, _ in dialect if inference.rejected else ():
        known.setdefault(domain, set()).add(op)
    for (domain, op), node_name in inference.rejected.items():
        if dialect.has_rule(domain, op) or dialect.lookup(domain, op, 0) is not None:
            continue
        near = _nearest(known, domain, op)
        if near is not None:
            wrong, right, kind = near
            message = f"no {kind} is named {wrong!r}; did you mean {right!r}?"
            yield Diagnostic("error", MISSPELLED_OPERATOR, message, node_name, f"{domain}.{op}" if domain else op)


def _nearest(known: Mapping[str, set[str]], domain: str, op: str) -> tuple[str, str, str] | None:
    """The misspelled name, the right name, and "operator" or "domain"; None for what may be a custom operator.

    `known` has the operators of each domain.
    """
    if domain in known:
        right = _only(name for name in known[domain] if is_misspelled_operator(op, name))
        return None if right is None else (op, right, "operator")
    right = _only(other for other, ops in known.items() if op in ops and is_misspelled_domain(domain, other))
    return None if right is None else (domain, right, "domain")


def _only(names: Iterable[str]) -> str | None:
    near = sorted(set(names))
    return near[0] if len(near) == 1 else None


def is_misspelled_operator(name: str, known: str) -> bool:
    """Whether a name is a known operator with one typing error, or in another case.

    Digits and the first letters of words must be equal, and neither name may begin with the other: `RRelu` and `Relu`,
    `ATen` and `Atan`, `F.celu` and `F.elu`, `Acosh` and `Acos` are different operators.

    >>> is_misspelled_operator("Rellu", "Relu"), is_misspelled_operator("relu", "Relu")
    (True, True)
    >>> [is_misspelled_operator(name, "Relu") for name in ("RRelu", "Relu6", "Silu", "Relux")]
    [False, False, False, False]
    """
    if abs(len(name) - len(known)) > 1 or name[:1].lower() != known[:1].lower():
        return False
    if name.lower() == known.lower():
        return name != known
    if _OUTLINE.findall(name) != _OUTLINE.findall(known) or name.startswith(known) or known.startswith(name):
        return False
    words, known_words = _SEPARATORS.split(name), _SEPARATORS.split(known)
    different = [pair for pair in zip(words, known_words, strict=False) if pair[0] != pair[1]]
    if len(words) != len(known_words) or len(different) != 1:
        return False
    a, b = different[0]
    shortest = _MIN_LOWERCASE if a.islower() else _MIN_OPERATOR
    return min(len(a), len(b)) >= shortest and is_single_edit(a, b, _MIN_REPLACED)


def is_misspelled_domain(name: str, known: str) -> bool:
    """Whether a name is a known domain with one typing error, or in another case.

    >>> is_misspelled_domain("com.microsft", "com.microsoft"), is_misspelled_domain("com.acme", "com.microsoft")
    (True, False)
    """
    if min(len(name), len(known)) < _MIN_DOMAIN or name == known:
        return False
    return name.lower() == known.lower() or is_single_edit(name, known, _MIN_REPLACED)


def is_single_edit(a: str, b: str, min_replaced: int = 0) -> bool:
    """Whether a letter is added or removed, or two are exchanged, or one is replaced in names of at least this length.

    >>> is_single_edit("Tahn", "Tanh"), is_single_edit("Silu", "Selu", 6)
    (True, False)
    """
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    x, y = a[start:], b[start:]
    exchanged = len(x) > 1 and len(y) > 1 and x[:2] == y[1::-1] and x[2:] == y[2:]
    replaced = len(x) == len(y) and x[1:] == y[1:] and max(len(a), len(b)) >= min_replaced
    return x != y and (exchanged or replaced or x[1:] == y or x == y[1:])
