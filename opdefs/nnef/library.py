"""The operations of NNEF as fragments, which are parsed from the `.nnef` files of this package on first use."""

from __future__ import annotations

from shapeinf.formats.nnef.language.ast import Fragment
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.versions import DialectName
from shapeinf.ops.package_data import read_package_text
from shapeinf.sharing import build_once

NOT_PROVISIONAL = frozenset(
    {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "sin", "tan", "copy"}
    | {"all_reduce", "any_reduce", "argmax_reduce", "argmin_reduce"}
    | {"avg_roi_align", "avg_roi_pool", "max_roi_align", "max_roi_pool", "roi_resample"}
    | {"cast", "gather", "pad", "slice", "squeeze", "stack", "tile", "unsqueeze", "unstack"}
    | {"gelu", "prelu", "selu", "silu"}
    | {"min_max_linear_quantize", "zero_point_linear_quantize"}
)
"""Standard operations that the provisional dialect lacks: its documents may define fragments of these names."""

LAYERS = frozenset(
    {"linear_layer", "conv_layer", "deconv_layer", "max_pool_layer", "avg_pool_layer", "batch_normalization_layer"}
)
"""Fragments of the provisional dialect that declare variables; they are always expanded."""

_OWN: dict[DialectName, tuple[str, ...]] = {"final": (), "provisional": ("provisional.nnef",), "tract": ("tract.nnef",)}
"""Additional files of a dialect, whose fragments replace standard ones of the same name."""


@build_once
def library(dialect: DialectName = "final") -> tuple[Fragment, ...]:
    """All operations of a dialect; compound ones have bodies."""
    own = [fragment for name in _OWN[dialect] for fragment in _parse(name)]
    excluded = {fragment.name for fragment in own}
    if dialect == "provisional":
        excluded |= NOT_PROVISIONAL
    if dialect != "provisional":
        # documents of version 1.0.0 still use the layers, which Khronos' parser of that time has
        own = [*(f for f in _parse("provisional.nnef") if f.name in LAYERS), *own]
    return (*(f for f in _parse("standard.nnef") if f.name not in excluded), *own)


@build_once
def _parse(name: str) -> tuple[Fragment, ...]:
    from shapeinf.formats.nnef.language.parser import parse_fragments  # heavy, and other formats do not need it

    text = read_package_text(__package__, name)
    return parse_fragments(SourceText(text, name), "final")
