"""The index of the rules of a package: which module registers the rules of an operator, so that it is imported on need.

A package of operators has such a table (see `shapeinf.ops.tables`) in its file `rules.txt`, which
`tools/make_rule_index.py` writes. The section `[MODULE DOMAIN]` has the operators whose rules a module registers for a
domain, each with the first version of the rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from shapeinf.ops.tables import table_lines
from shapeinf.sharing import cached_property

FILE = "rules.txt"

COMMAND = "python tools/make_rule_index.py"
"""The command to run after a change of the operators of a rule."""

Key = tuple[str, str, int]
"""Domain, operator, first version."""


class RuleIndex:
    """The modules of the rules of some packages, read on first use.

    >>> index = RuleIndex("opdefs.onnx")
    >>> index.modules("", "Conv"), index.versions("", "Conv"), index.versions("", "Convolution")
    ({'opdefs.onnx.conv'}, {1}, set())
    """

    def __init__(self, *packages: str) -> None:
        """With the tables of these packages."""
        self.packages = packages

    @cached_property
    def _operators(self) -> dict[tuple[str, str], dict[int, str]]:
        """The module of each version of each operator."""
        operators: dict[tuple[str, str], dict[int, str]] = {}
        for package in self.packages:
            for section, name, since, _ in table_lines(package, FILE):
                module, _, domain = section.partition(" ")
                operators.setdefault((domain, name), {})[since] = module
        return operators

    def versions(self, domain: str, name: str) -> set[int]:
        """The first version of each rule of an operator."""
        return {*self._operators.get((domain, name), ())}

    def __iter__(self) -> Iterator[Key]:
        """The keys of all rules."""
        for (domain, name), versions in self._operators.items():
            for since in versions:
                yield domain, name, since

    def modules(self, domain: str, name: str) -> set[str]:
        """The modules that register the rules of an operator."""
        return {*self._operators.get((domain, name), {}).values()}

    def module(self, key: Key) -> str:
        """The module that registers a rule; empty for a rule that is not in the table."""
        return self._operators.get(key[:2], {}).get(key[2], "")

    @cached_property
    def keys_by_module(self) -> dict[str, list[Key]]:
        """The rules that each module registers."""
        modules: dict[str, list[Key]] = {}
        for key in self:
            modules.setdefault(self.module(key), []).append(key)
        return modules
