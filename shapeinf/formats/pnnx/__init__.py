"""PNNX's networks: `.pnnx.param`, a text of operators, and `.pnnx.bin`, their weights. Readers are imported on use."""

from __future__ import annotations

from typing import Any

from shapeinf.formats.pnnx import sniffing
from shapeinf.formats.registry import Candidate, Format
from shapeinf.graph import Graph


def _sniff(candidate: Candidate) -> bool:
    return sniffing.is_param_path(candidate.text) or sniffing.is_param_file(candidate.head)


def _read(model: Any, options: None) -> Graph:
    from shapeinf.formats.pnnx import reader

    graph = reader.read(model)
    graph.traced = True  # the annotations are the sizes of one or two runs
    return graph


PNNX = Format("pnnx", "PNNX", _sniff, _read)
"""The format of PNNX's networks."""

__all__ = ["PNNX"]
