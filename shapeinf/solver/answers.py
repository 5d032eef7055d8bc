"""The records of answers about integer sets, which `integer_sets` and the modules below it share."""

from __future__ import annotations

from typing import Literal

import attrs

ProofEngine = Literal["interval", "exact", "isl"]


@attrs.frozen
class Verdict:
    """True (always), False (never) or None (undecided), and the engine that decided.

    The engine is "interval", "exact" for the procedure of `quasi_affine`, or "isl".
    """

    value: bool | None
    engine: ProofEngine


class Infeasible(Exception):  # noqa: N818  (internal, no error)
    """No sizes satisfy all constraints. Internal: caught in `solver.upper_bounds`."""


class UndecidedError(Exception):
    """A question that is not decided, or not within its limit. Internal: caught in `solver.integer_sets`."""
