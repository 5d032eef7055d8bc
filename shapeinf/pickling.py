"""Pickles of results: plain data, without the inference, which has tables and locks of its process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from shapeinf.errors import NotPickledError, UnpicklableError


class Pickled:
    """Base of the records that are loaded from the pickle of a result, a contract or memory: they have only data.

    Every other attribute of the original raises NotPickledError.
    """

    __slots__ = ()

    kind: ClassVar[str] = "object"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Only called for what the record does not have."""
            if name.startswith("_"):
                raise AttributeError(name)
            raise NotPickledError(self.kind, name)


def refuse_pickle(owner: object, help: str) -> NoReturn:
    """Raise UnpicklableError; `help` is what to do instead."""
    raise UnpicklableError(f"a {type(owner).__name__} cannot be pickled: {help}")
