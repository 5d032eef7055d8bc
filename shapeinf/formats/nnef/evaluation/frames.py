"""Frames: invocations of fragments whose bodies are evaluated, and the graph."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from shapeinf.formats.nnef.evaluation.emitter import Target
from shapeinf.formats.nnef.evaluation.values import Value
from shapeinf.formats.nnef.language.ast import Expr, Fragment, start_of
from shapeinf.formats.nnef.language.types import PrimitiveName

MAX_CALLS = 10_000
"""The most nested calls of fragments."""

_LISTED_CALLS = 8
_LONGEST_NAME = 80


@attrs.define(eq=False)
class Frame:
    """The values of the identifiers of a body so far.

    Args:
        fragment: None for the graph.
        prefix: the start of the names of its tensors.
        base: the start of the names of tensors in the current statement.
        bound: the type argument of its fragment.
        targets: the names of its results.
        calls: the offsets of the invocations around it in the document, innermost first, without the middle.
        library_call: for a fragment of a library, the offset of the invocation in the document that led to it.
        depth: the number of frames around it.
    """

    fragment: Fragment | None
    prefix: str
    base: str
    bound: PrimitiveName | None = None
    targets: dict[str, Target] = attrs.Factory(dict)
    calls: tuple[int, ...] = ()
    library_call: int | None = None
    depth: int = 0
    values: dict[str, Value] = attrs.Factory(dict)

    def offset_of(self, expr: Expr) -> int:
        """The offset of an expression in the document."""
        return start_of(expr) if self.library_call is None else self.library_call

    def inner_frame(self, fragment: Fragment, at: int, target: Target, root: str, library: bool) -> Frame:
        """The frame of an invocation at an offset in this one; a prefix that is too long restarts at `root`."""
        prefix = next(names_of(target), f"{self.base}.{fragment.name}")
        if len(prefix) > _LONGEST_NAME:
            prefix = f"{root}.{fragment.name}"
        calls, library_call = self.calls, self.library_call
        if library_call is None:
            if library:
                library_call = at
            else:
                calls = (at, *calls)
                if len(calls) > 2 * _LISTED_CALLS:
                    calls = calls[:_LISTED_CALLS] + calls[-_LISTED_CALLS:]
        targets: dict[str, Target] = {}
        results = [result.name for result in fragment.results]
        if len(results) == 1:
            targets[results[0]] = prefix if target is None else target
        elif isinstance(target, tuple) and len(target) == len(results):
            targets.update(zip(results, target, strict=True))
        return Frame(fragment, prefix, prefix, None, targets, calls, library_call, self.depth + 1)


def names_of(target: Target) -> Iterator[str]:
    """The names in a target, in order."""
    if isinstance(target, str):
        yield target
    for item in target if isinstance(target, tuple) else ():
        yield from names_of(item)
