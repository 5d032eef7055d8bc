"""Refuses models that are not ONNX, by the name of their format. Nothing of them is read but their first bytes."""

from __future__ import annotations

import os
from typing import Any

from shapeinf.errors import UnknownFormatError
from shapeinf.formats import FORMATS
from shapeinf.formats.registry import Candidate, refuse_foreign


def refuse_other_formats(model: Any) -> None:
    """Raise UnknownFormatError for what is not ONNX: files that are no models, and models of other formats."""
    candidate = Candidate(model)
    recognised = FORMATS.recognise(candidate)
    refuse_foreign(candidate, recognised not in (None, FORMATS.default))
    if recognised not in (None, FORMATS.default):
        assert recognised is not None
        raise UnknownFormatError(f"is a model of {recognised.title}: clean is for ONNX models", node=candidate.label)
    if recognised is None and not isinstance(model, (str, os.PathLike, bytes)):
        raise UnknownFormatError(f"a {type(model).__name__} is not an ONNX model")
