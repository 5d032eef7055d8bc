"""Refusal of models that are not ONNX, with the name of their format; only their first bytes are read."""

from __future__ import annotations

import os
from typing import Any

from shapeinf.errors import UnknownFormatError
from shapeinf.formats import FORMATS
from shapeinf.formats.registry import Candidate, refuse_foreign


def refuse_other_formats(model: Any) -> None:
    """Raise UnknownFormatError for a file that is no model, a model of another format, and any other object."""
    candidate = Candidate(model)
    recognized = FORMATS.recognize(candidate)
    refuse_foreign(candidate, recognized not in (None, FORMATS.default))
    if recognized not in (None, FORMATS.default):
        assert recognized is not None
        raise UnknownFormatError(f"is a model of {recognized.title}: clean is for ONNX models", node=candidate.label)
    if recognized is None and not isinstance(model, (str, os.PathLike, bytes)):
        raise UnknownFormatError(f"a {type(model).__name__} is not an ONNX model")
