"""`clean`: runs passes over a model, and compares the numbers of both models on request."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import onnx
import onnx_ir as ir

from shapeinf.formats.files import ExternalData
from shapeinf.formats.read_files import ReadFiles
from shapeinf.passes.comparison import compare
from shapeinf.passes.model_files import read_model, write_model
from shapeinf.passes.pipeline import DEFAULT_ORDER, run_passes
from shapeinf.passes.proto import duplicate, to_proto
from shapeinf.passes.report import CleanReport
from shapeinf.runtime.numbers import Comparison
from shapeinf.schemas import json_record


@attrs.frozen(repr=False)
class Cleaned:
    """A cleaned model, the report, and the comparison of its numbers with the original's, where requested."""

    model: ir.Model
    report: CleanReport
    comparison: Comparison | None = None
    _files: ReadFiles | None = None

    def __repr__(self) -> str:
        """The number of changes of each pass, the opsets, and whether the numbers agree, in one line."""
        report = self.report
        parts = [", ".join(f"{count} {name}" for name, count in report.counts().items()) or "no changes"]
        if report.opset_before != report.opset_after:
            parts.append(f"opset {report.opset_before} is now {report.opset_after}")
        if self.comparison is not None:
            parts.append("verified" if self.comparison.equal else "not verified")
        return f"<Cleaned: {'; '.join(parts)}>"

    def to_proto(self) -> onnx.ModelProto:
        """The model as a message of the onnx package; weights in other files stay there."""
        return to_proto(self.model)

    def save(self, path: str | os.PathLike[str], *, external_data: ExternalData | None = None) -> None:
        """Write the model; see `write_model` for `external_data` and the errors."""
        write_model(self.model, path, external_data or "keep", self._files)


@json_record("shapeinf.clean/1")
@attrs.frozen
class CleanDocument:
    """A clean-up: the output of `shapeinf clean --json`.

    Args:
        model: the path of the model.
        output: the file that was written; None where none was.
        report: the changes.
        verification: the comparison of the numbers of both models; None without `--verify`.
    """

    model: str
    output: str | None
    report: CleanReport
    verification: Comparison | None


def clean(
    model: Any,
    passes: Sequence[str] | None = None,
    *,
    verify: bool = False,
    at: Sequence[Mapping[str, int]] = (),
    seed: int = 0,
) -> Cleaned:
    """Clean up an ONNX model. A pass is undone unless inference proves that the model stays the same.

    >>> from onnx import parser
    >>> model = parser.parse_model('''<ir_version: 8, opset_import: ["": 17]>
    ...     g (float[n, 3, h, w] x, float[2, 3, 1, 1] k) => (float[n, 2, h, w] y)
    ...     <float[2, 1, 1] b = {1, 2}> { c = Conv(x, k)  i = Identity(c)  a = Add(i, b)  y = Relu(a) }''')
    >>> cleaned = clean(model)
    >>> cleaned
    <Cleaned: 1 remove_identity>
    >>> cleaned.report.skipped[0].reason
    "'k' is not a constant"
    >>> [node.op_type for node in cleaned.to_proto().graph.node]
    ['Conv', 'Add', 'Relu']

    Args:
        model: a path, bytes, an `onnx.ModelProto` or an `onnx_ir.Model`; it is not changed.
        passes: names in `PASSES`, in the order in which they run; None for `DEFAULT_ORDER`.
        verify: run both models in onnxruntime at two bindings and compare their outputs.
        at: the sizes of named dims, a mapping for every run of `verify`, instead of two small legal bindings.
        seed: of the random inputs.

    Raises:
        UnknownNameError: an unknown pass, or a dim in `at` that the model does not have.
        UnknownFormatError: a model that is not ONNX; a pickle is not read.
        ModelError: a malformed model, or weights outside its folder.
        LimitError: a file of more than 2 GB.
        MissingPackageError: onnxruntime is not installed, and `verify` needs it.
    """
    files = ReadFiles()
    original = read_model(model)
    edited, report = run_passes(duplicate(original), DEFAULT_ORDER if passes is None else tuple(passes))
    comparison = compare(original, edited, seed, at) if verify else None
    return Cleaned(edited, report, comparison, files)
