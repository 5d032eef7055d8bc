"""What a bound model says in its file: dims of all declarations, and the assumptions about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from shapeinf.edit.bind.request import Wishes
from shapeinf.engine.inference import Inference
from shapeinf.engine.tensor_info import TensorInfo, info
from shapeinf.expr import Dim, Dimension, DimSyntaxError, format_dim, parse_dim, substitute
from shapeinf.formats.annotation import Annotation, Info
from shapeinf.inputs.reader import input_names
from shapeinf.lattice import Shape

_RELATIONS = ("<=", ">=", "==", "<", ">")


class Rewriting:
    """The dims of one inference as they are to be written."""

    def __init__(self, inference: Inference, wishes: Wishes, given: Sequence[str], assumed: Sequence[str]) -> None:
        """`given` are the inputs that the user gives a shape to, `assumed` the relations."""
        self.inference = inference
        self.wishes = wishes
        self.given = frozenset(given)
        self.assumed = tuple(assumed)
        scope = inference.store.scope
        self.names: dict[Dimension, Dim] = {
            scope.symbol(old): scope.symbol(new) for old, new in wishes.names.items() if scope.has(old)
        }
        self._seen: dict[int, tuple[Info, TensorInfo]] = {}

    def renamed(self, dim: Dim) -> Dim:
        """A dim under the new names."""
        return substitute(dim, self.names) if self.names else dim

    def declared(self, dim: Dim) -> Dim:
        """A dim of an input as it is to be declared: its size where that is known, else in the words of the user."""
        found = self.inference.store.canon(dim)
        return found if isinstance(found, int) else self.renamed(self.inference.initial_store.canon(dim))

    def info(self, found: Info) -> TensorInfo:
        """What is known of a value, under the new names; equal records stay one."""
        if id(found) not in self._seen:
            dims = found.shape.dims
            shape = found.shape if dims is None else Shape(map(self.renamed, dims))
            self._seen[id(found)] = found, TensorInfo(found.dtype, shape, found.kind)
        return self._seen[id(found)][1]

    def inputs(self) -> dict[str, TensorInfo]:
        """The inputs with their new declarations."""
        found: dict[str, TensorInfo] = {}
        for name in input_names(self.inference.compiled.graph):
            record = info(self.inference.input_types.get(name))
            dims = record.shape.dims
            shape = record.shape if dims is None else Shape(map(self.declared, dims))
            found[name] = TensorInfo(record.dtype, shape, record.kind)
        return found

    def annotation(self, found: Annotation) -> Annotation:
        """An annotation of the model, with all that is to be written."""
        changed = {name: one for name, one in self.inputs().items() if name in self.given or self._differs(name, one)}
        return attrs.evolve(self._inner(found), inputs=changed, assumptions=self.assumptions())

    def _differs(self, name: str, new: TensorInfo) -> bool:
        return new.shape != info(self.inference.input_types.get(name)).shape

    def _inner(self, found: Annotation) -> Annotation:
        bodies = {
            outputs: {name: self._inner(body) for name, body in inner.items()}
            for outputs, inner in found.bodies.items()
        }
        functions = {key: self._tensors(tensors) for key, tensors in found.functions.items()}
        return Annotation(self._tensors(found.tensors), bodies, functions)

    def _tensors(self, found: Mapping[str, Info]) -> Mapping[str, Info]:
        return {name: self.info(one) for name, one in found.items()} if self.names else found

    # -- assumptions -------------------------------------------------------------------------------------------------

    def assumptions(self) -> list[str]:
        """The relations that the file is to hold: its own, those of the user, the bounds; those decided left out."""
        relations = [*self.inference.compiled.graph.assumptions, *self.assumed]
        said = [text for relation in relations if (text := self._relation(relation)) is not None]
        for name, bounds in self.wishes.ranges.items():
            said += self._bounds(name, bounds)
        return list(dict.fromkeys(said))

    def _bounds(self, name: str, bounds: tuple[int | None, int | None]) -> Iterable[str]:
        dim = self.declared(self.inference.store.scope.symbol(name))
        if not isinstance(dim, int):
            low, high = bounds
            yield from [f"{format_dim(dim)} >= {low}"] if low is not None else []
            yield from [f"{format_dim(dim)} <= {high}"] if high is not None else []

    def _relation(self, text: str) -> str | None:
        """A relation under the new sizes and names; None when it is decided."""
        operator = next((one for one in _RELATIONS if one in text), None)
        if operator is None:
            return text
        left, _, right = text.partition(operator)
        scope = self.inference.store.scope
        known = set(scope.names())
        try:
            a, b = parse_dim(left, scope), parse_dim(right, scope)
        except DimSyntaxError:
            return text
        if not known.issuperset(scope.names()):  # the file speaks of a dim that nothing has
            return text
        a, b = self.declared(a), self.declared(b)
        return None if isinstance(a - b, int) else f"{format_dim(a)} {operator} {format_dim(b)}"
