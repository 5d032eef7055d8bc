"""`bind`: a model whose dims have other sizes, bounds or names, as far as its graph can run with them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TextIO

import attrs

from shapeinf.api import as_graph, infer
from shapeinf.diagnostics import Diagnostic
from shapeinf.edit.bind.limits import check_ranges
from shapeinf.edit.bind.request import BindRequest, sort_requests
from shapeinf.edit.bind.rewriting import Rewriting
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.tensor_info import TensorInfo, annotation
from shapeinf.errors import BindError, ShapeInferenceError
from shapeinf.expr.notations import NotationName
from shapeinf.formats import save
from shapeinf.formats.files import Annotate, ExternalData
from shapeinf.graph import Graph
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.inputs.reader import RangeLike
from shapeinf.pickling import refuse_pickle
from shapeinf.result import Result
from shapeinf.texts import object_text


@attrs.frozen
class Bound:
    """A model with bound dims: `result` has its shapes under the old names, `tensors` under the new ones.

    `result.contract` has the remaining preconditions of the dims of its inputs.
    """

    result: Result
    _rewriting: Rewriting = attrs.field(repr=False)

    @property
    def tensors(self) -> dict[str, TensorInfo]:
        """Every value of the graph by name."""
        return {name: self._rewriting.info(info) for name, info in self.result.tensors.items()}

    @property
    def inputs(self) -> dict[str, TensorInfo]:
        """The types of the inputs in the saved model."""
        return self._rewriting.inputs()

    def __repr__(self) -> str:
        """The request, and the inputs as in the saved model."""
        inputs = (f"{name}: {info}" for name, info in self.inputs.items())
        return object_text(f"Bound of {self.result.source or 'a model'}: {self._rewriting.request}", inputs)

    def __reduce__(self) -> NoReturn:
        """Raises UnpicklableError."""
        refuse_pickle(self, "save the model and pass on its path, or pickle its `result`")

    def save(
        self,
        target: str | os.PathLike[str] | TextIO,
        *,
        external_data: ExternalData | None = None,
        annotate: Annotate | None = None,
        dim_text: NotationName | None = None,
    ) -> None:
        """Write the model with its new dims in the declarations of inputs, of values inside the graph and of outputs.

        Bounds and assumptions are written too: into the metadata of an ONNX model, as assertions into a document of
        tract's. Raises ModelError where the format cannot express them. `external_data`, `annotate` and `dim_text` are
        as for `Result.save`.
        """
        changes = self._rewriting.annotation(annotation(self.result.engine.inference))
        save(self.result.graph, changes, target, external_data, annotate, dim_text)


def bind(
    model: Any, dims: Mapping[str, RangeLike] | None = None, *, options: InferenceOptions = DEFAULT_OPTIONS
) -> Bound:
    """Give dims of a model sizes, bounds or other names, after a proof that its graph allows these.

    Args:
        model: any model that `infer_shapes` takes.
        dims: by name, a size (`4`), bounds (`"1..512"`, `(1, 512)`), another dim or an expression of dims (`"2*seq"`),
            or a new name (`"tokens"`).
        options: as for `infer_shapes`; their assumptions are saved too. `dims` and `bind` come from `dims`.

    Raises:
        UnknownNameError: a dim or input that the model does not have.
        BindError: the graph cannot run with a value, or not with all values of a range.
        ShapeError: the values of the user and the file contradict each other.
        ModelError: the model cannot be read or is malformed.
    """
    if options.values:
        raise ShapeInferenceError("only dims can be bound: the new model would accept other values of its inputs")
    graph, options = as_graph(model, options), attrs.evolve(options, format_options=None)
    inputs = options.inputs_by_name(graph)
    request = sort_requests(graph, dims or {}, inputs, options.min_dim)
    assume = [*request.equalities, *options.assume]
    result = infer(graph, attrs.evolve(options, dims=request.ranges, bind=request.values, assume=assume))
    violations = certain_violations(result.engine.inference)
    if violations:
        _reject(violations, graph, options, request)
    illegal_ranges = list(check_ranges(result, request.ranges))
    if illegal_ranges:
        raise BindError(f"the graph cannot run with all of {request}", illegal_ranges)
    rewriting = Rewriting(result.engine.inference, request, tuple(inputs), options.assume)
    return Bound(result, rewriting)


def _reject(violations: Sequence[Diagnostic], graph: Graph, options: InferenceOptions, request: BindRequest) -> None:
    """Raise BindError for violations that the requested dims or shapes cause, and for errors of the graph itself."""
    plain = attrs.evolve(options, dims=None, bind=None, assume=(), progress=None)
    before = certain_violations(infer(graph, plain).engine.inference)
    new = _new_violations(violations, before)
    if new:
        raise BindError(f"the graph cannot run with {request}", new)
    errors = [violation for violation in violations if violation.severity == "error"]
    if errors and options.inputs:
        declared = certain_violations(infer(graph, attrs.evolve(plain, inputs=None)).engine.inference)
        new = _new_violations(errors, declared)
        if new:
            raise BindError("the graph cannot run with the requested shapes of its inputs", new)
    if errors:
        raise BindError("the graph fails, whatever its dims are", errors)


def _new_violations(violations: Sequence[Diagnostic], before: Sequence[Diagnostic]) -> list[Diagnostic]:
    known = {(violation.code, violation.node) for violation in before}
    return [violation for violation in violations if (violation.code, violation.node) not in known]
