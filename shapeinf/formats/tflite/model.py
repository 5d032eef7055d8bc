"""What the graph of a file does not have, for writers and for models of its runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs


@attrs.frozen
class TfliteModel:
    """What a graph of a file does not have: see `Graph.model`.

    Args:
        subgraph: the index of the subgraph that the graph is.
        names: the values of tensors by subgraph and index: the last one of a tensor that is written again.
        inputs: the indices of the inputs of the graph.
        signatures: the keys of all signatures of the file.
        member: the name of the file in an archive; empty for a file of its own.
    """

    subgraph: int
    names: Mapping[tuple[int, int], str] = attrs.field(repr=False)
    inputs: Sequence[int] = ()
    signatures: Sequence[str] = ()
    member: str = ""
