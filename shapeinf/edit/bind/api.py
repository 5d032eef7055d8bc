"""`bind`: a model whose dims have other sizes, bounds or names, as far as its graph can run with them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import attrs

from shapeinf.api import as_graph, infer
from shapeinf.diagnostics import Diagnostic
from shapeinf.edit.bind.limits import too_wide
from shapeinf.edit.bind.request import Wishes, sorted_wishes
from shapeinf.edit.bind.rewriting import Rewriting
from shapeinf.engine.inference import certain_violations
from shapeinf.engine.tensor_info import TensorInfo, annotation
from shapeinf.errors import ShapeInferenceError
from shapeinf.formats import save
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.inputs.reader import RangeLike
from shapeinf.result import Result
from shapeinf.texts import printable


class BindError(ShapeInferenceError):
    """The graph cannot run with what is wanted; `findings` say which node demands what."""

    def __init__(self, headline: str, findings: Sequence[Diagnostic]) -> None:
        """Keep both."""
        super().__init__("\n".join([headline, *map(str, findings)]))
        self.headline = headline
        self.findings = tuple(findings)

    def __str__(self) -> str:
        """The headline, and the lines of each finding."""
        return "\n".join([printable(self.headline), *map(str, self.findings)])


@attrs.frozen
class Bound:
    """A model with its dims bound: `result` has its shapes under the old names, `tensors` under the new ones.

    What the graph still demands of the dims of its inputs is in `result.contract`.
    """

    result: Result
    _rewriting: Rewriting = attrs.field(repr=False)

    @property
    def tensors(self) -> dict[str, TensorInfo]:
        """Every value of the graph by name."""
        return {name: self._rewriting.info(info) for name, info in self.result.tensors.items()}

    @property
    def inputs(self) -> dict[str, TensorInfo]:
        """The inputs as the saved model declares them."""
        return self._rewriting.inputs()

    def save(self, target: str | os.PathLike[str] | TextIO) -> None:
        """Write the model with its new dims in the declarations of inputs, of values inside and of outputs.

        Bounds and assumptions are written too: into the metadata of an ONNX model, as assertions into a document of
        tract's.
        """
        save(self.result.graph, self._rewriting.annotation(annotation(self.result.inference)), target)


def bind(
    model: Any, dims: Mapping[str, RangeLike] | None = None, *, options: InferenceOptions = DEFAULT_OPTIONS
) -> Bound:
    """Freeze, re-range or rename dims of a model, after a proof that its graph does not forbid it.

    Args:
        model: what `infer_shapes` takes.
        dims: by name, a size (`4`), bounds (`"1..512"`, `(1, 512)`), another dim or an expression of dims (`"2*seq"`),
            or a name that is not taken yet (`"tokens"`).
        options: as for `infer_shapes`; what they assume is saved too. `dims` and `bind` come from `dims`.

    Raises:
        UnknownNameError: a dim or input that the model does not have.
        BindError: the graph cannot run with a value, or not with all values of a range.
        ShapeError: what the user and the file say contradicts itself.
        ModelError: the model cannot be read or is malformed.
    """
    graph = as_graph(model, options)
    inputs = options.inputs_by_name(graph)
    wishes = sorted_wishes(graph, dims or {}, inputs, options.min_dim)
    assume = [*wishes.equalities, *options.assume]
    result = infer(graph, attrs.evolve(options, dims=wishes.ranges, bind=wishes.values, assume=assume))
    findings = certain_violations(result.inference)
    if findings:
        plain = infer(graph, attrs.evolve(options, dims=None, bind=None, assume=(), progress=None))
        _refuse(findings, certain_violations(plain.inference), wishes)
    narrow = list(too_wide(result, wishes.ranges))
    if narrow:
        raise BindError(f"the graph cannot run with all of {wishes}", narrow)
    rewriting = Rewriting(result.inference, wishes, tuple(inputs), options.assume)
    return Bound(result, rewriting)


def _refuse(findings: Sequence[Diagnostic], before: Sequence[Diagnostic], wishes: Wishes) -> None:
    """Raises BindError for laws that are broken now and were not before, and for a graph that is wrong anyway."""
    known = {(found.code, found.node) for found in before}
    new = [found for found in findings if (found.code, found.node) not in known]
    if new:
        raise BindError(f"the graph cannot run with {wishes}", new)
    errors = [found for found in findings if found.severity == "error"]
    if errors:
        raise BindError("the graph is wrong, whatever its dims are", errors)
