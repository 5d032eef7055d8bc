"""`GuardReport`: the guards of a program, with a verdict on each, and the guards that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import attrs

from shapeinf.graph.guards import GuardKind
from shapeinf.guards.sizes import Sizes
from shapeinf.schemas import json_record

Verdict = Literal["needed", "too strong", "artifact", "implied", "unknown"]
"""What is known of a guard.

- `needed`: the operators refuse all sizes that it refuses, and some requirement of theirs proves it.
- `too strong`: the operators accept some of these sizes, and refuse others.
- `artifact`: the operators accept those that were tried.
- `implied`: other guards imply it, or that sizes are at least 1.
- `unknown`: there is no proof, and none of the sizes that were tried is accepted.
"""


@attrs.frozen
class GuardVerdict:
    """The verdict on a guard.

    Args:
        text: the guard as the exporter states it.
        condition: the condition in the names of axes; empty for a text that is no condition on sizes.
        kind: where it is stated.
        checked: whether the exported module checks it.
        verdict: the verdict.
        reasons: the requirements of operators that need it, each with its node and line.
        accepted: sizes of axes that the guard refuses and the operators accept.
        refused: sizes of axes that the guard and the operators refuse.
    """

    text: str
    condition: str
    kind: GuardKind
    checked: bool
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    accepted: Sizes | None = None
    refused: Sizes | None = None


@attrs.frozen
class MissingGuard:
    """A requirement of an operator that no guard implies.

    Args:
        requirement: the requirement, with the node and the line.
        sizes: sizes of axes that all guards accept and the operators refuse.
    """

    requirement: str
    sizes: Sizes


Presence = Literal["kept", "lost", "relaxed", "unknown"]
"""Whether another model refuses what a guard refuses.

- `kept`: it refuses all sizes that the guard refuses, and some requirement or declared size of its own proves it.
- `lost`: it accepts sizes that the guard and the operators of the program refuse.
- `relaxed`: it accepts sizes that the guard refuses and the operators of the program accept.
- `unknown`: there is no proof, and none of the sizes that were tried is accepted.
"""


@attrs.frozen
class GuardInModel:
    """A guard in another model of the same program.

    Args:
        presence: whether the model refuses what the guard refuses.
        reasons: the requirements of its operators that keep the guard.
        accepted: sizes of axes that the guard refuses and the model accepts.
    """

    presence: Presence
    reasons: tuple[str, ...] = ()
    accepted: Sizes | None = None


@attrs.frozen
class OtherModel:
    """The guards of a program in another model that was made of it, such as an ONNX file.

    Args:
        guards: each guard of the report, in its order; None for a guard that is no condition on sizes.
        added: the requirements of the other model at sizes that the guards and the operators of the program accept.
        cut: whether the budget was exhausted.
        model: the path of the model.
        needs_isl: whether isl, which is not installed, may decide more.
    """

    guards: tuple[GuardInModel | None, ...]
    added: tuple[MissingGuard, ...]
    cut: bool = False
    model: str = ""
    needs_isl: bool = False


@json_record("shapeinf.guards/1")
@attrs.frozen
class GuardReport:
    """The guards of a program, compared with what its operators need: the output of `shapeinf guards --json`.

    Args:
        guards: the verdicts, in the order of the program; of equal guards the first.
        missing: the requirements that guards do not imply.
        dynamic_shapes: this argument of `torch.export.export`, which leaves all sizes free that the operators do.
        example: the size of each axis at which the program was exported.
        cut: whether the budget was exhausted: with more work, some unknown verdicts may be decided.
        model: the path of the model.
        other: the guards in another model that was made of the program; None where none is compared.
        needs_isl: whether isl, which is not installed, may decide some unknown verdicts.
    """

    guards: tuple[GuardVerdict, ...]
    missing: tuple[MissingGuard, ...]
    dynamic_shapes: str
    example: Sizes
    cut: bool = False
    model: str = ""
    other: OtherModel | None = None
    needs_isl: bool = False

    def __iter__(self) -> Iterator[GuardVerdict]:
        """The verdicts."""
        return iter(self.guards)

    def in_other(self) -> Iterator[tuple[GuardVerdict, GuardInModel]]:
        """The guards that are conditions on sizes, with what the other model does; none without another model."""
        if self.other is not None:
            for guard, there in zip(self.guards, self.other.guards, strict=True):
                if there is not None:
                    yield guard, there

    def lost(self) -> list[GuardVerdict]:
        """The guards that the other model lost."""
        return [guard for guard, there in self.in_other() if there.presence == "lost"]
