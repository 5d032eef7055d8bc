"""`bind`: a model whose dims have other sizes, bounds or names, as far as its graph can run with them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TextIO

import attrs

from shapeinf.api import as_graph, infer_shapes
from shapeinf.diagnostics import Diagnostic
from shapeinf.edit.bind.limits import too_wide
from shapeinf.edit.bind.request import Wishes, sorted_wishes
from shapeinf.edit.bind.rewriting import Rewriting
from shapeinf.engine.annotation import annotation
from shapeinf.engine.inference import Declaring, Progress
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.engine.violations import surely_broken
from shapeinf.errors import ShapeInferenceError
from shapeinf.formats import save
from shapeinf.inputs.reader import RangeLike, SpecLike
from shapeinf.ops import OpRegistry
from shapeinf.result import Result
from shapeinf.texts import escape_unprintable


class BindError(ShapeInferenceError):
    """The graph cannot run with what is wanted; `findings` say which node demands what."""

    def __init__(self, headline: str, findings: Sequence[Diagnostic]) -> None:
        """Keep both."""
        super().__init__("\n".join([headline, *map(str, findings)]))
        self.headline = headline
        self.findings = tuple(findings)

    def __str__(self) -> str:
        """The headline, and the lines of each finding."""
        return "\n".join([escape_unprintable(self.headline), *map(str, self.findings)])


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
    model: Any,
    dims: Mapping[str, RangeLike] | None = None,
    *,
    inputs: Mapping[str, SpecLike] | None = None,
    assume: Iterable[str] = (),
    min_dim: int = 1,
    declared: Declaring = "trust",
    dialect: str | None = None,
    expand: Collection[str] | Literal["all"] = (),
    registry: OpRegistry | None = None,
    progress: Progress | None = None,
) -> Bound:
    """Freeze, re-range or rename dims of a model, after a proof that its graph does not forbid it.

    Args:
        model: what `infer_shapes` takes.
        dims: by name, a size (`4`), bounds (`"1..512"`, `(1, 512)`), another dim or an expression of dims (`"2*seq"`),
            or a name that is not taken yet (`"tokens"`).
        inputs: shapes of inputs in place of the declared ones, as for `infer_shapes`.
        assume: relations that hold; they are saved too.
        min_dim: as for `infer_shapes`, and so are the rest.
        declared: "trust", "check" or "ignore".
        dialect: that of an NNEF document.
        expand: compound operations of NNEF.
        registry: the operators.
        progress: called with (done, total) after every node.

    Raises:
        UnknownNameError: a dim or input that the model does not have.
        BindError: the graph cannot run with a value, or not with all values of a range.
        ShapeError: what the user and the file say contradicts itself.
        ModelError: the model cannot be read or is malformed.
    """
    graph = as_graph(model, dialect, expand)
    wishes = sorted_wishes(graph, dims or {}, inputs or {}, min_dim)
    result = infer_shapes(
        graph,
        dims=wishes.ranges,
        bind=wishes.values,
        inputs=inputs,
        assume=[*wishes.equalities, *assume],
        min_dim=min_dim,
        declared=declared,
        registry=registry,
        progress=progress,
    )
    findings = surely_broken(result.inference)
    if findings:
        plain = infer_shapes(graph, inputs=inputs, min_dim=min_dim, declared=declared, registry=registry)
        _refuse(findings, surely_broken(plain.inference), wishes)
    narrow = list(too_wide(result, wishes.ranges))
    if narrow:
        raise BindError(f"the graph cannot run with all of {wishes}", narrow)
    rewriting = Rewriting(result.inference, wishes, tuple(inputs or {}), tuple(assume))
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
