"""`Cases`: the inference of a model that holds for some sizes. Every query about sizes begins here.

An inference holds for the sizes of its `SizePolicy`, and its formulas for those that satisfy its assumptions:

- A dim whose least size the user does not specify is at least `min_dim`, by declaration: its symbol has that bound, and
  formulas may need it (`max(n, 1)` is `n`).
- A rule may assume that such a size is larger, as that a window fits into its input, or that a size without an upper
  bound is below the limit of a number. These assumptions are constraints with `Source.assumed`, listed in
  `store.assumed`; a body that may not run assumes no least size.

Neither makes a size illegal. Other sizes are answered by another inference of the same options, in which the dims in
question may be that small and rules assume nothing: `Inference.infer_again`, which a `Session` provides.
"""

from __future__ import annotations

from collections.abc import Mapping

from shapeinf.engine.inference import Inference
from shapeinf.engine.input_symbols import find_symbol, input_symbols
from shapeinf.expr import Dimension
from shapeinf.inputs.reader import RangeLike, to_named_dim
from shapeinf.sharing import cached_property

Ranges = Mapping[Dimension, tuple[int | None, int | None]]
"""The least and the largest size of symbols; None where a range is open."""


class Cases:
    """The inferences of a model by the sizes that they hold for, as seen from one of them."""

    def __init__(self, inference: Inference) -> None:
        """`inference` holds for the sizes of the user's options."""
        self.inference = inference

    @cached_property
    def labels(self) -> dict[Dimension, str]:
        """The symbols of the inputs, with the names that users bind them by."""
        return input_symbols(self.inference)

    def inference_for(self, ranges: Mapping[str, RangeLike]) -> Inference:
        """The inference that holds for sizes or ranges by the names of dims; a what-if run itself in any case.

        Raises UnknownNameError for a dim that no input has, and as `to_named_dim`.
        """
        least = self.smaller_dims(self.named_ranges(ranges))
        again = self.inference.infer_again
        return self.inference if least is None or again is None else again(least)

    def named_ranges(self, ranges: Mapping[str, RangeLike]) -> Ranges:
        """The ranges of symbols, from sizes or ranges by the names that users refer to dims by."""
        specs = {find_symbol(self.labels, name): to_named_dim(name, value) for name, value in ranges.items()}
        return {symbol: (spec.min, spec.max) for symbol, spec in specs.items()}

    def smaller_dims(self, ranges: Ranges) -> dict[str, int] | None:
        """The named dims that these ranges make smaller than this inference allows, with their least sizes.

        None where this inference holds for the ranges; an empty mapping where only an assumption is violated.
        """
        bounds = {s: (s.symbol.lo or 0 if low is None else low, high) for s, (low, high) in ranges.items()}
        smaller = {
            symbol.name: low
            for symbol, (low, _) in bounds.items()
            if 0 <= low < (symbol.symbol.lo or 0) and not symbol.symbol.anonymous
        }
        return smaller if smaller or self.inference.store.breaks_assumption(bounds) else None
