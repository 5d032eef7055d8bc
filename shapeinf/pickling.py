"""Pickles of results: plain data, without the inference, which has tables and locks of its process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

import attrs

from shapeinf.errors import NotPickledError, PickleVersionError, UnpicklableError

Reduced = tuple[Any, tuple[object, ...]]
"""What `__reduce__` returns."""
Record = TypeVar("Record", bound=type)


_ADVICE = "infer the model again with this version"


class _Version:
    """The first object of each pickle of a record: no class is looked up where the version is another one."""

    def __reduce__(self) -> Reduced:
        return check_version, (_version(),)


_VERSION = _Version()


def _version() -> str:
    from shapeinf import __version__

    return __version__


def check_version(version: str) -> _Version:
    """Raise PickleVersionError for the pickle of another version. Pickles name this function: it stays here."""
    if version != _version():
        raise PickleVersionError(f"this pickle is of shapeinf {version}, and this is {_version()}: {_ADVICE}")
    return _VERSION


def load_record(_: _Version, cls: Any, values: dict[str, Any]) -> Any:
    """A record of its fields. Pickles name this function: it stays here. Raises PickleVersionError."""
    if {field.name for field in attrs.fields(cls)} != values.keys():
        raise PickleVersionError(
            f"this pickle is of another shapeinf than this {_version()}, its {cls.__name__} has other fields: {_ADVICE}"
        )
    record = cls.__new__(cls)
    for name, value in values.items():
        object.__setattr__(record, name, value)
    return record


def versioned_pickle(cls: Record) -> Record:
    """Decorate an attrs class whose pickles have the version of shapeinf, which is checked when they are loaded."""
    cls.__reduce__ = reduce_record  # type: ignore[method-assign,assignment]
    cls.__setstate__ = _refuse_state  # type: ignore[attr-defined]
    return cls


def reduce_record(record: Any) -> Reduced:
    """What `__reduce__` of a record returns, or of an object that is loaded as this record."""
    values = {field.name: getattr(record, field.name) for field in attrs.fields(type(record))}
    return load_record, (_VERSION, type(record), values)


def _refuse_state(self: object, state: object) -> NoReturn:
    """Called for records of pickles without a version only."""
    raise PickleVersionError(f"this pickle was written by an older shapeinf than this {_version()}: {_ADVICE}")


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
