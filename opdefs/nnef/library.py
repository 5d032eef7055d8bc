"""The operations of NNEF as fragments, from the texts beside this module: parsed on the first question, once."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from shapeinf.formats.nnef.ast import Fragment
from shapeinf.formats.nnef.parser import parse_fragments
from shapeinf.formats.nnef.problems import SourceText

NOT_PROVISIONAL = frozenset(
    "acos acosh all_reduce any_reduce argmax_reduce argmin_reduce asin asinh atan atanh avg_roi_align avg_roi_pool cast"
    " copy cos gather gelu max_roi_align max_roi_pool min_max_linear_quantize pad prelu roi_resample selu silu sin slice"
    " squeeze stack tan tile unsqueeze unstack zero_point_linear_quantize".split()
)
"""Standard operations that the provisional dialect does not have, so that its documents may use the names."""


@lru_cache(maxsize=1)
def standard_fragments() -> tuple[Fragment, ...]:
    """All operations of NNEF 1.0.5, compounds with their bodies."""
    return _parsed("standard.nnef")


@lru_cache(maxsize=1)
def provisional_fragments() -> tuple[Fragment, ...]:
    """All operations of the provisional NNEF of 2017: what it shares with the final one, its own, and its layers."""
    own = _parsed("provisional.nnef")
    elsewhere = NOT_PROVISIONAL.union(fragment.name for fragment in own)
    return (*(f for f in standard_fragments() if f.name not in elsewhere), *own)


def _parsed(name: str) -> tuple[Fragment, ...]:
    text = (files(__package__) / name).read_text(encoding="utf-8")
    return parse_fragments(SourceText(text, name), "final")
