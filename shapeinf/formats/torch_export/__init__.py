"""Programs of torch.export: `.pt2` archives, their JSON, and live `ExportedProgram`s. Readers are imported on use."""

from __future__ import annotations

from typing import Any

import attrs

from shapeinf.formats.registry import Candidate, Format, FormatOptions, command_line
from shapeinf.graph import Graph
from shapeinf.graph.guards import InputGuards

_ZIP = b"PK\x03\x04"
_KEYS = (b'"graph_module"', b'"schema_version"')
_SUFFIX = ".pt2"
_CLASS = "ExportedProgram"


@attrs.frozen
class TorchExportOptions(FormatOptions):
    """How a package of torch.export is read."""

    program: str | None = attrs.field(
        default=None,
        metadata=command_line("The program to read, of a package with several.", metavar="NAME"),
    )


def _is_head(head: bytes) -> bool:
    """Whether a file that begins with these bytes is the JSON of a program."""
    return head.lstrip().startswith(b"{") and any(key in head for key in _KEYS)


def _sniff(candidate: Candidate) -> bool:
    if candidate.library == "torch":
        return any(base.__name__ == _CLASS for base in type(candidate.model).__mro__)
    head = candidate.head
    if _is_head(head):
        return True
    if head.startswith(_ZIP):
        from shapeinf.formats.torch_export.container import archive_names, is_archive

        model = candidate.model if isinstance(candidate.model, bytes) else candidate.text
        names = [] if model is None else archive_names(model)
        return is_archive(names) or (not names and _has_suffix(candidate))
    return not head and _has_suffix(candidate)


def _has_suffix(candidate: Candidate) -> bool:
    return candidate.text is not None and candidate.text.endswith(_SUFFIX)


def _is_model_path(candidate: Candidate) -> bool:
    return _has_suffix(candidate) and _sniff(candidate)


def _read(model: Any, options: TorchExportOptions) -> Graph:
    from shapeinf.formats.torch_export import reader

    return reader.read(model, options.program)


def _input_guards(graph: Graph) -> InputGuards | None:
    from shapeinf.formats.torch_export.guards import input_guards
    from shapeinf.formats.torch_export.reader import ExportedModel

    model = graph.model
    return input_guards(model.program, model.names) if isinstance(model, ExportedModel) else None


__all__ = ["TORCH_EXPORT", "TorchExportOptions"]

TORCH_EXPORT = Format(
    "torch_export",
    "torch.export",
    _sniff,
    _read,
    options=TorchExportOptions,
    is_model_path=_is_model_path,
    input_guards=_input_guards,
)
"""The format of programs of torch.export."""
