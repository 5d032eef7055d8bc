"""PNNX networks: `.pnnx.param`, a text of operators, and `.pnnx.bin`, their weights. Readers are imported on use."""

from __future__ import annotations

from typing import Any

from shapeinf.formats.annotation import Annotation
from shapeinf.formats.pnnx import codes, sniffing
from shapeinf.formats.registry import Candidate, Format, Target
from shapeinf.graph import Graph


def _sniff(candidate: Candidate) -> bool:
    text = candidate.text
    if text is not None and (sniffing.is_network_text(text) or sniffing.is_pnnx_path(text)):
        return True
    return sniffing.is_param_file(candidate.head)


def _is_model_path(candidate: Candidate) -> bool:
    path, head = candidate.text or "", candidate.head
    if not path.endswith(sniffing.PARAM) or not sniffing.is_param_file(head):
        return False
    return not sniffing.is_ncnn(head.decode("utf-8", "replace").splitlines()[2:])


def _read(model: Any, options: None) -> Graph:
    from shapeinf.formats.pnnx import reader

    return reader.read(model)


def _write(graph: Graph, annotation: Annotation, target: Target) -> None:
    from shapeinf.formats.pnnx import writer

    writer.write(graph, annotation, target)


__all__ = ["PNNX", "codes"]

PNNX = Format("pnnx", "PNNX", _sniff, _read, _write, is_model_path=_is_model_path, is_model_head=sniffing.is_param_file)
"""The format of PNNX networks."""
