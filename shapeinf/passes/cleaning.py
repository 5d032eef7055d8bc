"""`clean`: passes over a model, the report, and the comparison of numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import attrs
import onnx
import onnx_ir as ir

from shapeinf.passes.comparison import Comparison, compare
from shapeinf.passes.model_files import External, read_model, write_model
from shapeinf.passes.pipeline import DEFAULT_ORDER, run_passes
from shapeinf.passes.report import CleanReport
from shapeinf.passes.skeleton import to_proto


@attrs.frozen
class Cleaned:
    """A cleaned model. `comparison` has the numbers of both models where they were compared."""

    model: ir.Model
    report: CleanReport
    comparison: Comparison | None = None

    def to_proto(self) -> onnx.ModelProto:
        """The model as a message of the onnx package; weights in other files stay there."""
        return to_proto(self.model)

    def save(self, path: str | os.PathLike[str], external: External = "keep") -> None:
        """Write the model; see `write_model` for `external` and the errors."""
        write_model(self.model, path, external)


def clean(model: Any, passes: Sequence[str] | None = None, *, verify: bool = False, seed: int = 0) -> Cleaned:
    """Clean an ONNX model up. Each pass is proved by inference to leave the model the same, or is undone.

    Args:
        model: a path, bytes, an `onnx.ModelProto` or an `onnx_ir.Model`; it stays as it is.
        passes: names of `PASSES`, in the order in which they run; None for `DEFAULT_ORDER`.
        verify: run both models in onnxruntime at two bindings and compare their numbers.
        seed: of the random inputs.

    Raises:
        UnknownNameError: a pass that there is not.
        UnknownFormatError: a model that is not ONNX; a pickle is not read.
        ModelError: a malformed model.
        MissingPackageError: onnxruntime is not installed, and `verify` needs it.
    """
    original = read_model(model)
    edited, report = run_passes(original.clone(), DEFAULT_ORDER if passes is None else tuple(passes))
    comparison = compare(original, edited, seed) if verify else None
    return Cleaned(edited, report, comparison)
