"""A live `ExportedProgram` as the JSON of its file, by torch's own serializer: both are read by the same code."""

from __future__ import annotations

import json
from typing import Any

from shapeinf.errors import ModelError


def json_of(program: Any) -> bytes:
    """The JSON of a program without weights. torch is imported: who has such an object has imported it.

    Raises ModelError for a program that torch cannot serialize.
    """
    from torch._export.serde.serialize import ExportedProgramSerializer, _dataclass_to_dict

    try:
        artifact = ExportedProgramSerializer().serialize(program)
    except Exception as error:  # torch raises errors of many classes
        raise ModelError(f"torch cannot serialize the program: {error}", node="<ExportedProgram>") from error
    return json.dumps(_dataclass_to_dict(artifact.exported_program), default=str).encode()
