"""`SizePolicy`: the sizes that an inference holds for, besides those that constraints exclude."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from shapeinf.expr import quote_name


@attrs.frozen
class SizePolicy:
    """The least sizes of the dims of inputs, and whether rules assume sizes. `engine.cases` has the whole policy.

    Args:
        min_dim: the least size of dims whose least size the user does not specify.
        least: dims that may be smaller, by name, with their least sizes.
        assume: whether rules may assume what the user does not specify, such as that a window fits into its input.
    """

    min_dim: int = 1
    least: Mapping[str, int] = attrs.Factory(dict)
    assume: bool = True

    def least_size(self, name: str) -> int:
        """The least size of an axis or dim of this name."""
        return min(self.min_dim, self.least.get(name, self.min_dim))

    def allow(self, least: Mapping[str, int]) -> SizePolicy:
        """The policy in which these dims may be this small."""
        return attrs.evolve(self, least={**self.least, **least})

    def without_assumptions(self) -> SizePolicy:
        """The policy in which rules assume nothing."""
        return attrs.evolve(self, assume=False)

    def __str__(self) -> str:
        """`named dims are at least 1, batch at least 0`."""
        smaller = "".join(f", {quote_name(name)} at least {low}" for name, low in sorted(self.least.items()))
        return f"named dims are at least {self.min_dim}{smaller}"
