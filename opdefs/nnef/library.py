"""The operations of NNEF as fragments, from the `.nnef` files of this package, parsed once on first use."""

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
"""Standard operations that the provisional dialect does not have, so that its documents may use the names."""

LAYERS = frozenset(
    {"linear_layer", "conv_layer", "deconv_layer", "max_pool_layer", "avg_pool_layer", "batch_normalization_layer"}
)
"""Fragments of the provisional dialect that declare variables: always expanded, not operations."""

_OWN: dict[DialectName, tuple[str, ...]] = {"final": (), "provisional": ("provisional.nnef",), "tract": ("tract.nnef",)}
"""Additional texts of a dialect, whose fragments replace those of the same name."""


@build_once
def library(dialect: DialectName = "final") -> tuple[Fragment, ...]:
    """All operations of a dialect, compounds with their bodies."""
    own = [fragment for name in _OWN[dialect] for fragment in _parse(name)]
    elsewhere = {fragment.name for fragment in own}
    if dialect == "provisional":
        elsewhere |= NOT_PROVISIONAL
    if dialect != "provisional":
        # Documents of 1.0.0 still use the layers: Khronos' parser of that time has them.
        own = [*(f for f in _parse("provisional.nnef") if f.name in LAYERS), *own]
    return (*(f for f in _parse("standard.nnef") if f.name not in elsewhere), *own)


@build_once
def _parse(name: str) -> tuple[Fragment, ...]:
    from shapeinf.formats.nnef.language.parser import parse_fragments  # only here: other formats do not need the parser

    text = read_package_text(__package__, name)
    return parse_fragments(SourceText(text, name), "final")
