"""The one graph that every format becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import attrs

from shapeinf.lattice import PartialTensor

if TYPE_CHECKING:
    import networkx as nx

Kind = Literal["tensor", "sequence", "optional", "map"]


@attrs.frozen
class Declared:
    """What a file declares of a value: dims are ints, names or expressions as text, None where nothing is said."""

    dtype: str | None = None
    dims: tuple[int | str | None, ...] | None = None
    kind: Kind = "tensor"


@attrs.define(eq=False)
class Node:
    """One operation. An empty input or output name is one that is not given.

    Attributes are ints, floats, strings, tuples of these, `PartialTensor` or `Graph`.
    """

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: Mapping[str, object] = attrs.Factory(dict)
    name: str = ""
    domain: str = ""


@attrs.define(eq=False)
class Graph:
    """Nodes, the values they read and write, and what is declared of these.

    `constants` hold known values (contents only of small ones); `opsets` the version of each domain; `cyclic` says
    that cycles are meant (loops drawn as back edges), not a mistake; `model` is the reader's own object, for writing.
    """

    name: str = ""
    dialect: str = ""
    opsets: dict[str, int] = attrs.Factory(dict)
    inputs: list[str] = attrs.Factory(list)
    outputs: list[str] = attrs.Factory(list)
    nodes: list[Node] = attrs.Factory(list)
    declared: dict[str, Declared] = attrs.Factory(dict)
    constants: dict[str, PartialTensor] = attrs.Factory(dict)
    cyclic: bool = False
    source: str | None = None
    model: Any = None

    def to_networkx(self) -> nx.DiGraph[Any]:
        """The networkx view; see `views.to_networkx`."""
        from shapeinf.graph.views import to_networkx

        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[Any]) -> Graph:
        """Read a networkx graph; see `views.from_networkx`."""
        from shapeinf.graph.views import from_networkx

        return from_networkx(graph)
