"""Thread safety: each public query runs under the lock of the scope of its symbols.

A query may create symbols, constraints and tables that later queries reuse. `synchronized` makes all public methods and
properties of a class take the lock, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache, wraps
from threading import RLock
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

T = TypeVar("T")
P = ParamSpec("P")
Class = TypeVar("Class", bound=type)

BUILD_LOCK = RLock()
"""Held while tables shared by the process are built, and packages of operators loaded, on first use.

One lock for all of them: they depend on one another.
"""
_PRIVATE = frozenset({"__init__", "__new__"})


class Lockable(Protocol):
    """An object with the lock of its scope."""

    @property
    def _lock(self) -> RLock:
        """The lock."""


class cached_property(Generic[T]):  # noqa: N801  (as functools has it)
    """A property that is computed once.

    Up to Python 3.11 `functools.cached_property` holds one lock for all objects of a class while it computes: two
    threads with two results could deadlock. This one has no lock; `synchronized` adds the lock of the object.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        """Decorate a method."""
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Store the name of the property, which a compiled function does not know."""
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object, owner: type) -> cached_property[T] | T:
        """The value; it is stored where later accesses find it without this descriptor."""
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value


def build_once(function: Callable[P, T]) -> Callable[P, T]:
    """Decorator that caches results as long as the process runs; one thread computes each of them."""
    cached = lru_cache(maxsize=None)(function)

    @wraps(function)
    def built(*args: P.args, **kwargs: P.kwargs) -> T:
        with BUILD_LOCK:
            return cached(*args, **kwargs)  # type: ignore[arg-type]

    return built


def synchronized(owner: Class) -> Class:
    """Class decorator: all public methods and properties, and the special ones, run under `self._lock`."""
    for name, member in list(vars(owner).items()):
        special = name.startswith("__") and name.endswith("__")
        if name in _PRIVATE or (name.startswith("_") and not special):
            continue
        if inspect.isfunction(member) or isinstance(member, (property, cached_property)):
            setattr(owner, name, _lock_member(member))
    return owner


@contextmanager
def hold_locks(*locks: RLock) -> Iterator[None]:
    """Hold several locks, always taken in the same order, which excludes deadlocks."""
    with ExitStack() as stack:
        for lock in sorted(locks, key=id):
            stack.enter_context(lock)
        yield


def _lock_member(member: Any) -> Any:
    if isinstance(member, property):
        assert member.fget is not None
        return property(_with_lock(member.fget), doc=member.__doc__)
    if isinstance(member, cached_property):
        member.function = _compute_with_lock(member.function, member.name)
        return member
    return _with_lock(member)


def _with_lock(function: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(function):
        raise TypeError(f"{function.__qualname__} is a generator: its body would run without the lock")

    @wraps(function)
    def run_locked(self: Lockable, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return function(self, *args, **kwargs)

    return run_locked


def _compute_with_lock(function: Callable[[Any], T], name: str) -> Callable[[Any], T]:
    """The function under the lock; a thread that had to wait returns the value that another one has stored."""

    @wraps(function)
    def run_locked(self: Any) -> T:
        with self._lock:
            return self.__dict__[name] if name in self.__dict__ else function(self)

    return run_locked
