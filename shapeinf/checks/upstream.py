"""Declared sizes against those that nodes make, before what later nodes require makes both the same.

A declaration speaks of all sizes of the inputs. Where a node behind requires `seq == 2*batch`, it is still wrong to
declare `2*batch` for an axis that is `seq`. Only what single dims must be for the graph to run (multiples, bounds)
counts for declarations in front of the node that requires it, and what the file itself says of its names by then.
"""

from __future__ import annotations

from contextlib import suppress

import attrs

from shapeinf.checks.meanings import declared_size, renames
from shapeinf.checks.sampling import legal, value
from shapeinf.checks.subject import Subject
from shapeinf.checks.trial import shown
from shapeinf.engine.compiled import Step
from shapeinf.engine.inference import Inference
from shapeinf.engine.rerun import rerun
from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dim, Dimension
from shapeinf.graph import DeclaredType
from shapeinf.lattice import ShapeStore, TensorType


@attrs.frozen
class Difference:
    """An axis of a value that is declared otherwise than it is made; `example` shows it."""

    tensor: str
    axis: int
    said: int | str
    size: Dim
    example: str


def differences(subject: Subject) -> tuple[list[Difference], dict[str, str]]:
    """Where sizes differ that only a later requirement makes equal; nothing where nodes require no equality.

    Also the declared values that were as declared when they were made, each with the node whose requirement has
    given one of their dims a size since.
    """
    inference = subject.result.inference
    if subject.trial or inference.program.groups is not None or not _equates(subject):
        return [], {}
    seen: list[_Seen] = []
    held: dict[str, set[Dimension]] = {}

    def begin(fresh: Inference) -> None:
        observer = _Observer(subject, fresh)
        for name, declared in subject.declared.items():
            fresh.declared[fresh.program.slots[name]] = _Watch(observer, name, declared, seen, held)

    rerun(inference, inference.setup.copy(), begin)
    for one in seen:
        held.pop(one.tensor, None)
    examples = [(one, _example(subject, one)) for one in seen]
    different = [Difference(one.tensor, one.axis, one.said, one.size, text) for one, text in examples if text]
    tellers = {name: _teller(subject, symbols) for name, symbols in held.items()}
    return different, {name: node for name, node in tellers.items() if node}


def _teller(subject: Subject, symbols: set[Dimension]) -> str:
    """The first node that has told what one of these symbols is; empty for none."""
    told = [subject.store.sources[s].node for s in symbols if s in subject.store.sources]
    return min((node for node in told if node in subject.order), key=lambda node: subject.order[node], default="")


def _equates(subject: Subject) -> bool:
    """Whether nodes have told what a dim of the inputs is, or how several of them go together."""
    store, before = subject.store, subject.setup
    if any(symbol in subject.named and symbol not in before.solved for symbol in store.solved):
        return True
    return any(
        disjunction.equation is not None and disjunction not in before.disjunctions
        for disjunction in store.disjunctions
    )


@attrs.frozen
class _Seen:
    """A declared size and the one that is made, as far as facts went when the node had run."""

    tensor: str
    axis: int
    said: int | str
    meant: Dim
    size: Dim
    store: ShapeStore


class _Observer:
    """The facts of a run so far, with what the file's own names state: copied when they have changed."""

    def __init__(self, subject: Subject, inference: Inference) -> None:
        self.subject = subject
        self.inference = inference
        self.version = -1
        self.store: ShapeStore = inference.store
        self.stated: list[tuple[Dim, Dim]] = []

    def now(self) -> ShapeStore:
        """A copy of what is known, and stated, now."""
        version = self.inference.store.version + len(self.stated)
        if self.version != version:
            self.version = version
            self.store = self.inference.store.copy()
            for meant, size in self.stated:
                with suppress(ShapeError):
                    self.store.add_equal(meant, size, Source("", f"the file calls {size} {meant}"))
        return self.store


@attrs.frozen
class _Watch:
    """Looks at one declared value when its node has run."""

    observer: _Observer
    name: str
    declared: DeclaredType
    seen: list[_Seen]
    held: dict[str, set[Dimension]]

    def __call__(self, number: int, step: Step) -> int:
        """The number as it is."""
        made = self.observer.inference.table.get(number)
        dims = self.declared.dims
        if isinstance(made, TensorType) and made.shape.dims is not None and len(dims or ()) == len(made.shape.dims):
            store = self.observer.now()
            stated = []
            symbols = self.held.setdefault(self.name, set())
            for axis, (said, size) in enumerate(zip(dims or (), made.shape.dims, strict=True)):
                meant, size = declared_size(store, said), store.canon(size)
                symbols.update(s for dim in (meant, size) if isinstance(dim, Dimension) for s in dim.symbols())
                if said is None or meant is None or meant is size or meant == size:
                    continue
                if renames(self.observer.subject, meant, size):
                    stated.append((meant, size))
                else:
                    self.seen.append(_Seen(self.name, axis, said, meant, size, store))
            self.observer.stated += stated
        return number


def _example(subject: Subject, one: _Seen) -> str | None:
    """A binding that shows the difference, as text; only of dims that have a name."""
    symbols = {s for d in (one.meant, one.size) if isinstance(d, Dimension) for s in d.symbols()}
    if not symbols <= subject.named:
        return None
    for binding in legal(one.store, symbols, later=subject.store):
        a, b = value(one.meant, binding), value(one.size, binding)
        if a is not None and b is not None and a != b:
            return f"{b} for {shown(subject, binding)}"
    return None
