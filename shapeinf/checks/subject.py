"""What is checked: a model's inference, with what the file and the user say apart from what the nodes demand."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping

from shapeinf.checks.sampling import Binding, legal
from shapeinf.contract import Precondition
from shapeinf.expr import Dim, Dimension
from shapeinf.graph import DeclaredType, Graph, Node
from shapeinf.lattice import ShapeStore, TensorType
from shapeinf.result import Result
from shapeinf.sharing import cached_property

GENERATED = re.compile(r"unk__\d+")
"""Names that onnx's own inference invents, anew in each run: they say nothing."""
MOST_EXAMPLES = 64


class Subject:
    """A result to look at. `ranges` has the dims that the user gave bounds of, by name.

    A `trial` is the inference of something else than the model as it stands.
    """

    def __init__(self, result: Result, ranges: Mapping[str, object] | None = None, trial: bool = False) -> None:
        """Only reads the result."""
        self.result = result
        self.trial = trial
        self.ranges = dict(ranges or {})
        self._examples: dict[tuple[frozenset[Dimension], int], list[Binding]] = {}

    @property
    def graph(self) -> Graph:
        """The graph that was inferred."""
        return self.result.graph

    @property
    def store(self) -> ShapeStore:
        """All that is known."""
        return self.result.store

    @property
    def setup(self) -> ShapeStore:
        """What user and file say, before any node spoke."""
        return self.result.inference.setup

    @cached_property
    def asked(self) -> dict[str, tuple[Dim, ...]]:
        """The dims that each input was asked for: as declared, or as the user gave them."""
        return {
            name: one.shape.dims
            for name, one in self.result.inference.asked.items()
            if isinstance(one, TensorType) and one.shape.dims is not None and name in self.graph.inputs
        }

    @cached_property
    def axes(self) -> dict[Dimension, list[tuple[str, int]]]:
        """The symbols of the inputs, each with the (input, axis) pairs that mention it."""
        found: dict[Dimension, list[tuple[str, int]]] = {}
        for name, dims in self.asked.items():
            for axis, dim in enumerate(dims):
                for symbol in sorted(dim.symbols(), key=str) if isinstance(dim, Dimension) else ():
                    found.setdefault(symbol, []).append((name, axis))
        return found

    @cached_property
    def named(self) -> set[Dimension]:
        """The symbols of the inputs that the file or the user gave a name."""
        return {s for s in self.axes if not s.symbol.anonymous and not GENERATED.fullmatch(s.name)}

    def independent(self, symbols: Iterable[Dimension]) -> bool:
        """Whether these symbols are sizes of their own: axes of the same inputs, or of a batch beside them.

        A mask [seq, total] beside tokens [seq] has axes that belong together; the axes of one image have not.
        """
        inputs = {symbol: {name for name, _ in self.axes.get(symbol, ())} for symbol in symbols}
        batch = {symbol for symbol in inputs if all(axis == 0 for _, axis in self.axes.get(symbol, ()))}
        rest = {frozenset(names) for symbol, names in inputs.items() if symbol not in batch}
        return len(rest) <= 1 and bool(inputs) and bool(set.intersection(*inputs.values()))

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The nodes by the name that findings use: their own, else that of their first output."""
        found: dict[str, Node] = {}
        for node in self.graph.nodes:
            found.setdefault(node.name or next((o for o in node.outputs if o), node.op), node)
        return found

    @cached_property
    def order(self) -> dict[str, int]:
        """The place of each node in the graph."""
        return {name: place for place, name in enumerate(self.nodes)}

    @cached_property
    def makers(self) -> dict[str, str]:
        """The node that makes each value, by the name that findings use."""
        return {output: name for name, node in self.nodes.items() for output in node.outputs if output}

    @cached_property
    def declared(self) -> dict[str, DeclaredType]:
        """What the file declares of values that nodes make."""
        return {name: one for name, one in self.graph.declared.items() if name in self.makers}

    def examples(self, symbols: Iterable[Dimension]) -> list[Binding]:
        """Some bindings of symbols under which all that is known of them now holds."""
        asked = frozenset(symbols), self.store.version
        if asked not in self._examples:
            self._examples[asked] = list(itertools.islice(legal(self.store, asked[0]), MOST_EXAMPLES))
        return self._examples[asked]

    @cached_property
    def demands(self) -> list[Precondition]:
        """What nodes demand of the dims of the inputs, as far as it depends on nothing else; each node by itself."""
        demanded = (each for one in self.result.contract.always for each in (one, *one.weaker))
        return [one for one in demanded if one.free and one.kind not in ("guard", "assumption")]

    def op(self, node: str) -> str:
        """The operator of a node; empty for what is no node of the graph itself."""
        found = self.nodes.get(node)
        return found.op if found is not None else ""

    def location(self, node: str) -> str:
        """Where the source text says the node, for formats that have one."""
        return self.graph.locations.get(node, "")

    def axes_of(self, symbol: Dimension) -> str:
        """The axes of inputs that a symbol is, as text: `tokens.shape[0]`."""
        return ", ".join(f"{name}.shape[{axis}]" for name, axis in self.axes.get(symbol, ()))

    def shown(self, symbol: Dimension) -> str:
        """A symbol as its owner knows it: a name, else the axis that has none."""
        return self.axes_of(symbol) if symbol.symbol.anonymous else str(symbol)

    def about_inputs(self, dim: Dim) -> bool:
        """Whether only symbols of inputs are in a dim."""
        return isinstance(dim, int) or all(s in self.axes for s in dim.symbols())
