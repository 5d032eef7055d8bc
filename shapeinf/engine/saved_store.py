"""Copies of a store that an inference returns to: before nodes and bodies that may not run."""

from __future__ import annotations

from typing import NamedTuple

from shapeinf.lattice import ShapeStore


class SavedStore(NamedTuple):
    """A copy of a store, and the state that it is a copy of; see `state_of`."""

    store: ShapeStore
    state: tuple[int, ...]

    @classmethod
    def copy_of(cls, store: ShapeStore) -> SavedStore:
        """A copy of a store as it is."""
        return cls(store.copy(), state_of(store))

    def differs_from(self, store: ShapeStore) -> bool:
        """Whether the store has changed since it was saved, or since it returned to this state."""
        return self.state != state_of(store)

    @property
    def version(self) -> int:
        """The version of the store when it was saved; that of the copy may be an earlier one."""
        return self.state[0]


def state_of(store: ShapeStore) -> tuple[int, ...]:
    """Numbers of which one changes with all that a node adds; disjunctions and advice are not counted as versions."""
    return store.version, store.epoch, len(store.disjunctions), len(store.advice)
