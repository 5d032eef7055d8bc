"""TensorFlow Lite files: `.tflite`, and archives of several (`.task`, `.litertlm`). The reader is imported on use."""

from __future__ import annotations

from typing import Any

import attrs

from shapeinf.errors import UnknownNameError
from shapeinf.formats.annotation import Annotation
from shapeinf.formats.registry import Candidate, Format, SignatureOptions, Target, command_line
from shapeinf.graph import Graph

IDENTIFIER = b"TFL3"
_ZIP, _LANGUAGE_MODEL = b"PK\x03\x04", b"LITERTLM"
RESIZES = ("any", "strict")
"""Which inputs `resize_tensor_input` changes: of any size, or with `strict=True` only unknown sizes."""
_SUFFIXES = (".tflite", ".lite")


@attrs.frozen
class TfliteOptions(SignatureOptions):
    """How a TensorFlow Lite file is read.

    Args:
        signature: the signature whose subgraph becomes the graph; by default the main subgraph.
        member: the file to read of an archive with several.
        resize_inputs: "strict" keeps the sizes of inputs that the file does not mark as unknown.
    """

    member: str | None = attrs.field(
        default=None,
        metadata=command_line("The TensorFlow Lite file to read, of an archive with several.", metavar="NAME"),
    )
    resize_inputs: str = attrs.field(
        default="any",
        metadata=command_line(
            "Which sizes of inputs of a TensorFlow Lite file may be specified: any, or only unknown ones (strict).",
            choices=RESIZES,
        ),
    )


def _is_head(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a model."""
    return head[4:8] == IDENTIFIER


def _sniff(candidate: Candidate) -> bool:
    head = candidate.head
    if _is_head(head) or head.startswith(_LANGUAGE_MODEL):
        return True
    if head.startswith(_ZIP):
        from shapeinf.formats.tflite.containers import has_models

        model = candidate.model if isinstance(candidate.model, bytes) else candidate.text
        return model is not None and has_models(model)
    return candidate.text is not None and candidate.text.endswith(_SUFFIXES)


def _is_model_path(candidate: Candidate) -> bool:
    return bool(candidate.head) and _sniff(candidate)


def _read(model: Any, options: TfliteOptions) -> Graph:
    from shapeinf.formats.tflite import reader

    if options.resize_inputs not in RESIZES:
        raise UnknownNameError("way to resize inputs", options.resize_inputs, RESIZES)
    graph = reader.read(model, options.signature, options.member)
    graph.strict_inputs = options.resize_inputs == "strict"
    return graph


def _write(graph: Graph, annotation: Annotation, target: Target) -> None:
    from shapeinf.formats.tflite import writer

    writer.write(graph, annotation, target)


__all__ = ["TFLITE", "TfliteOptions"]

TFLITE = Format(
    "tflite",
    "TensorFlow Lite",
    _sniff,
    _read,
    _write,
    options=TfliteOptions,
    is_model_path=_is_model_path,
    is_model_head=_is_head,
    interpreter="litert",
)
"""The format of TensorFlow Lite files."""
