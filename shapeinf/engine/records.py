"""Records of an inference: calls that created unknowns, trips of a body, declared sizes that are not used."""

from __future__ import annotations

from typing import Any, NamedTuple

from shapeinf.expr import Dimension, DimSize

Key = tuple[Any, ...]
"""An operation and the numbers of its inputs' types."""


class Repetition(NamedTuple):
    """The number of trips that one run of a body stands for, and its symbol for the number of a trip, from 0 on."""

    trips: DimSize
    number: Dimension | None = None


class OpenCall(NamedTuple):
    """A call that created unknowns: its row, its key, and the length of the list of changed symbols when it ran."""

    row: int
    key: Key
    changes: int


class UnusedSize(NamedTuple):
    """A declared size of a value that a row computes, and the inferred one, which depends on the inputs."""

    row: int
    declared: int
    inferred: DimSize
