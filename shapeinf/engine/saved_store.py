"""Copies of a store to which an inference returns after nodes and bodies that may not run."""

from __future__ import annotations

from typing import NamedTuple

from shapeinf.lattice import ShapeStore


class SavedStore(NamedTuple):
    """A copy of a store, with the state in which it was copied; see `state_of`."""

    store: ShapeStore
    state: tuple[int, ...]

    @classmethod
    def copy_of(cls, store: ShapeStore) -> SavedStore:
        """A copy of a store in its present state."""
        return cls(store.copy(), state_of(store))

    def differs_from(self, store: ShapeStore) -> bool:
        """Whether the store has changed since it was copied, or since it last returned to this copy."""
        return self.state != state_of(store)

    @property
    def version(self) -> int:
        """The version of the store when it was copied or returned to this copy; that of the copy may be earlier."""
        return self.state[0]


def state_of(store: ShapeStore) -> tuple[int, ...]:
    """Numbers of which at least one changes with every addition; disjunctions and advice do not change the version."""
    return store.version, store.epoch, len(store.disjunctions), len(store.advice)
