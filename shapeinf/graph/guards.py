"""Guards: conditions on the sizes of inputs that the exporter of a program states besides its operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

GuardKind = Literal["guard", "fixed", "equal", "derived", "range"]
"""`guard`: a check of the exported module. `fixed`: an axis is a number. `equal`, `derived`: an axis has the size of
another one, or an expression of others. `range`: a bound that the exporter declares."""


@attrs.frozen
class Relation:
    """A comparison of two sizes, as texts in shapeinf's grammar; `operator` is one of == != < <= > >=."""

    left: str
    operator: str
    right: str

    def __str__(self) -> str:
        """The relation as a text."""
        return f"{self.left} {self.operator} {self.right}"


@attrs.frozen
class Connective:
    """Conditions joined by `operator`: `and`, `or`, or `not` of a single one."""

    operator: str
    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        """The condition as a text."""
        if self.operator == "not":
            return f"not ({self.parts[0]})"
        return f" {self.operator} ".join(f"({part})" for part in self.parts)


Condition = Relation | Connective


@attrs.frozen
class Guard:
    """A condition on sizes.

    Args:
        text: the condition as the exporter states it.
        condition: the condition; None where the text is no condition on sizes of inputs.
        kind: where it is stated.
        checked: whether the exported module checks it before it runs.
    """

    text: str
    condition: Condition | None
    kind: GuardKind = "guard"
    checked: bool = True


@attrs.frozen
class InputGuards:
    """All guards of a program, with a name for each axis of its inputs.

    Args:
        axes: the names of the axes of each input; those of an integer argument are a single name.
        sizes: what the program declares for each axis: a number, or a text of the names of other axes.
        example: the size of each axis at which the program was exported; those that the file does not have are absent.
        guards: the guards, which refer to axes by these names.
        module_checks: whether the module that was exported checks such guards too, as one that was exported before.
    """

    axes: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int | str]
    example: Mapping[str, int]
    guards: tuple[Guard, ...]
    module_checks: bool = False
