"""The declarations of a bound model: the dims of all values, and the assumptions about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from shapeinf.edit.bind.request import BindRequest
from shapeinf.engine.inference import Inference
from shapeinf.engine.tensor_info import TensorInfo, tensor_info
from shapeinf.errors import DimSyntaxError
from shapeinf.expr import Dimension, DimSize, format_dim, parse_dim, substitute
from shapeinf.formats.annotation import Annotation, Info
from shapeinf.inputs.reader import input_names
from shapeinf.lattice import Shape

_RELATIONS = ("<=", ">=", "==", "<", ">")


class Rewriting:
    """The dims of one inference as the file declares them."""

    def __init__(
        self, inference: Inference, request: BindRequest, with_specs: Sequence[str], assumed: Sequence[str]
    ) -> None:
        """`with_specs` are the inputs with a shape of the user, `assumed` the relations of the user."""
        self.inference = inference
        self.request = request
        self.with_specs = frozenset(with_specs)
        self.assumed = tuple(assumed)
        scope = inference.store.scope
        self.names: dict[Dimension, DimSize] = {
            scope.symbol(old): scope.symbol(new) for old, new in request.names.items() if scope.has(old)
        }
        self._seen: dict[int, tuple[Info, TensorInfo]] = {}

    def rename(self, dim: DimSize) -> DimSize:
        """A dim under the new names."""
        return substitute(dim, self.names) if self.names else dim

    def declare(self, dim: DimSize) -> DimSize:
        """A dim of an input as the new file declares it: its size if known, else in terms of the file and the user."""
        canonical = self.inference.store.canon(dim)
        return canonical if isinstance(canonical, int) else self.rename(self.inference.initial_store.canon(dim))

    def info(self, old: Info) -> TensorInfo:
        """The type of a value under the new names; equal objects stay one object."""
        if id(old) not in self._seen:
            dims = old.shape.dims
            shape = old.shape if dims is None else Shape(map(self.rename, dims))
            self._seen[id(old)] = old, TensorInfo(old.dtype, shape, old.kind)
        return self._seen[id(old)][1]

    def inputs(self) -> dict[str, TensorInfo]:
        """The inputs with their new declarations."""
        inputs: dict[str, TensorInfo] = {}
        for name in input_names(self.inference.compiled.graph):
            record = tensor_info(self.inference.input_types.get(name))
            dims = record.shape.dims
            shape = record.shape if dims is None else Shape(map(self.declare, dims))
            inputs[name] = TensorInfo(record.dtype, shape, record.kind)
        return inputs

    def annotation(self, old: Annotation) -> Annotation:
        """An annotation of the model with the new declarations and assumptions."""
        inputs = self.inputs().items()
        changed = {name: new for name, new in inputs if name in self.with_specs or self._differs(name, new)}
        return attrs.evolve(self._rename_all(old), inputs=changed, assumptions=self.assumptions())

    def _differs(self, name: str, new: TensorInfo) -> bool:
        return new.shape != tensor_info(self.inference.input_types.get(name)).shape

    def _rename_all(self, old: Annotation) -> Annotation:
        bodies = {
            outputs: {name: self._rename_all(body) for name, body in inner.items()}
            for outputs, inner in old.bodies.items()
        }
        functions = {key: self._tensors(tensors) for key, tensors in old.functions.items()}
        return Annotation(self._tensors(old.tensors), bodies, functions)

    def _tensors(self, old: Mapping[str, Info]) -> Mapping[str, Info]:
        return {name: self.info(info_) for name, info_ in old.items()} if self.names else old

    # -- assumptions -------------------------------------------------------------------------------------------------

    def assumptions(self) -> list[str]:
        """The relations of the new file: those of the old file, of the user and of bounds, without decided ones."""
        relations = [*self.inference.compiled.graph.assumptions, *self.assumed]
        texts = [text for relation in relations if (text := self._relation(relation)) is not None]
        for name, bounds in self.request.ranges.items():
            texts += self._bounds(name, bounds)
        return list(dict.fromkeys(texts))

    def _bounds(self, name: str, bounds: tuple[int | None, int | None]) -> Iterable[str]:
        dim = self.declare(self.inference.store.scope.symbol(name))
        if not isinstance(dim, int):
            low, high = bounds
            yield from [f"{format_dim(dim)} >= {low}"] if low is not None else []
            yield from [f"{format_dim(dim)} <= {high}"] if high is not None else []

    def _relation(self, text: str) -> str | None:
        """A relation under the new sizes and names; None where it is decided."""
        operator = next((relation for relation in _RELATIONS if relation in text), None)
        if operator is None:
            return text
        left, _, right = text.partition(operator)
        scope = self.inference.store.scope
        known = set(scope.names())
        try:
            a, b = parse_dim(left, scope), parse_dim(right, scope)
        except DimSyntaxError:
            return text
        if not known.issuperset(scope.names()):  # the relation of the file has an unknown dim
            return text
        a, b = self.declare(a), self.declare(b)
        return None if isinstance(a - b, int) else f"{format_dim(a)} {operator} {format_dim(b)}"
