"""Tables that can be put back as they were, without a copy of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shapeinf.expr.dimension import Dim, Dimension
from shapeinf.expr.evaluation import substitute

_ABSENT: Any = object()
_APPENDED: Any = object()


class UndoLog:
    """Writes to tables and lists; what was written inside of `all_or_nothing` is taken back when that fails."""

    def __init__(self) -> None:
        """Nothing is recorded outside of `all_or_nothing`."""
        self._entries: list[tuple[Any, Any, Any]] | None = None

    def put(self, table: dict[Any, Any], key: object, value: object) -> None:
        """`table[key] = value`."""
        if self._entries is not None:
            self._entries.append((table, key, table.get(key, _ABSENT)))
        table[key] = value

    def append(self, items: list[Any], item: object) -> None:
        """`items.append(item)`."""
        if self._entries is not None:
            self._entries.append((items, _APPENDED, None))
        items.append(item)

    def drop(self, table: dict[Any, Any], key: object) -> None:
        """`del table[key]`; a key that is put back comes last."""
        if self._entries is not None:
            self._entries.append((table, key, table[key]))
        del table[key]

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Everything that is written inside stays, or nothing does when an error leaves it."""
        if self._entries is not None:  # the outermost takes everything back
            yield
            return
        self._entries = []
        try:
            yield
        except BaseException:
            entries, self._entries = self._entries, None
            self._undo(entries)
            raise
        finally:
            self._entries = None

    @staticmethod
    def _undo(entries: list[tuple[Any, Any, Any]]) -> None:
        for table, key, old in reversed(entries):
            if key is _APPENDED:
                table.pop()
            elif old is _ABSENT:
                del table[key]
            else:
                table[key] = old


class Solutions(dict[Dimension, Dim]):
    """Each solved symbol with what it equals; no solved symbol is in any value."""

    def __init__(self, solved: dict[Dimension, Dim] | None = None) -> None:
        """Those of another table."""
        super().__init__(solved or {})
        self._mentions: dict[Dimension, set[Dimension]] = {}
        for symbol, value in self.items():
            self._mention(symbol, value)

    def solve(self, symbol: Dimension, value: Dim, undo_log: UndoLog) -> None:
        """Enter a symbol, and replace it in the values of others."""
        replaced = {symbol: value}
        for other in tuple(self._mentions.get(symbol, ())):  # they stay: what is solved may be taken back
            if other in self:
                new = substitute(self[other], replaced)
                undo_log.put(self, other, new)
                self._mention(other, new)
        undo_log.put(self, symbol, value)
        self._mention(symbol, value)

    def _mention(self, symbol: Dimension, value: Dim) -> None:
        if isinstance(value, Dimension):
            for inside in value.symbols():
                self._mentions.setdefault(inside, set()).add(symbol)


class Uses:
    """Which remembered dims depend on a symbol."""

    def __init__(self) -> None:
        """None."""
        self._dims: dict[Dimension, list[Dimension]] = {}

    def add(self, dim: Dimension, depends: Dim) -> None:
        """What is remembered of `dim` depends on the symbols of `depends`."""
        if isinstance(depends, Dimension):
            for symbol in depends.symbols():
                self._dims.setdefault(symbol, []).append(dim)

    def pop(self, symbol: Dimension) -> list[Dimension]:
        """The dims that depend on a symbol; they are forgotten here."""
        return self._dims.pop(symbol, [])

    def clear(self) -> None:
        """Forget all."""
        self._dims.clear()
