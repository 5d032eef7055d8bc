"""Rules of operators besides shape functions, by first version: costs, and uses of axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Generic, TypeVar, cast

from shapeinf.sharing import BUILD_LOCK

R = TypeVar("R")
F = TypeVar("F")


class VersionedRules(Generic[R]):
    """One kind of rules of a dialect by (domain, operator) and first version.

    Some are registered by modules that are imported when a rule is first requested. The error of such a module is a
    text in `problems`, and the others work.
    """

    def __init__(self, modules: Iterable[str] = ()) -> None:
        """With the modules that register rules."""
        self.problems: list[str] = []
        self._modules = list(modules)
        self._rules: dict[tuple[str, str], list[tuple[int, R]]] = {}

    def add(self, domain: str, names: Iterable[str], since: int, rule: R) -> None:
        """Add the rule of some operators from a version on; it replaces one of the same version."""
        for name in names:
            versions = self._rules.setdefault((domain, name), [])
            versions[:] = sorted([*(v for v in versions if v[0] != since), (since, rule)], key=lambda v: v[0])

    def decorator(self, domain: str, names: Iterable[str], since: int) -> Callable[[F], F]:
        """A decorator that adds a function as the rule of some operators from a version on."""

        def register(function: F) -> F:
            self.add(domain, names, since, cast("R", function))  # the callers bind F to kinds of R
            return function

        return register

    def operators(self) -> set[tuple[str, str]]:
        """(domain, op) of every operator with a rule that is registered so far."""
        return set(self._rules)

    def import_modules(self) -> None:
        """Import the modules that register rules."""
        with BUILD_LOCK:
            while self._modules:
                try:
                    import_module(self._modules[0])
                except Exception as error:  # an error of a third-party package must not stop the others
                    problem = f"{type(error).__name__}: {error}"
                    self.problems.append(f"{self._modules[0]} cannot be imported: {problem}")
                del self._modules[0]

    def find(self, domain: str, op: str, version: int) -> R | None:
        """The rule in force at a version (0: the newest); None where the operator has none."""
        rules = [rule for since, rule in self._rules.get((domain, op), ()) if since <= version or version <= 0]
        return rules[-1] if rules else None
