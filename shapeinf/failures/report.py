"""`FailureReport`: what an error text of a runtime names in a graph, and the condition that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

from shapeinf.runtime_messages import RuntimeMessage
from shapeinf.schemas import json_record

Verdict = Literal["violated", "possible", "holds", "depends on data", "other cause", "unknown"]
"""What is known of the failure.

- `violated`: a condition of the graph, or a declaration of an input, does not hold at these sizes.
- `possible`: the sizes are not known; the listed conditions are those of the nodes that the text may name.
- `holds`: all conditions of the graph hold at these sizes, so the failure has another cause.
- `depends on data`: the conditions on sizes hold, and the graph has conditions on data.
- `other cause`: the text states a cause that is not the sizes, such as a missing file.
- `unknown`: no node and no condition is explained.
"""

SizesFrom = Literal["user", "message", ""]
"""Who states the sizes; empty for unknown sizes."""

Evidence = Literal[
    "name", "output", "number", "part of a name", "operands", "location", "operator", "neighbor", "condition"
]
"""Why a node is listed: its name, the name of its output, its number in the file, a name that a runtime made of its
name, the names of its operands, its line in the source, its operator, a node next to it that the runtime may have fused
with it, or only its condition."""


@attrs.frozen
class NodeMatch:
    """A node that the text may name.

    Args:
        node: its name, with the path of its body.
        op: its operator.
        evidence: why it is listed.
        location: its position in the source text; empty for formats without one.
    """

    node: str
    op: str
    evidence: Evidence
    location: str = ""

    def __str__(self) -> str:
        """Operator, name and location."""
        return f"{self.op} '{self.node}'" + (f" at {self.location}" if self.location else "")


@attrs.frozen
class NearestSize:
    """A legal size of one dim, for the sizes of the other dims.

    Args:
        dim: the dim.
        size: the nearest legal size.
        instead: the size of the failed run.
    """

    dim: str
    size: int
    instead: int


@attrs.frozen
class FailedCondition:
    """A condition of a node that does not hold, or of which that is not known.

    Args:
        match: the node that requires it; None for the declaration of an input.
        condition: the condition in the names of dims; empty where it depends on data alone.
        message: the requirement of the operator, in words, with the sizes of the run where they are known.
        dims: the dims of the condition with their sizes in the failed run; None for an unknown size.
        operands: the operands of the node, a line each: name, type and producer.
        chain: the way from an operand back to an input, a line for each step.
        legal: the legal sizes of its only dim, as text; empty where there are several dims.
        nearest: for each dim the nearest legal sizes, while the other dims keep theirs.
        where: the body that the node is in, for a condition that matters only where that runs.
        input: the input, for a declaration.
    """

    match: NodeMatch | None
    condition: str
    message: str
    dims: Mapping[str, int | None] = attrs.field(factory=dict)
    operands: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    legal: str = ""
    nearest: tuple[NearestSize, ...] = ()
    where: str = ""
    input: str = ""


@attrs.frozen
class LikelyTensor:
    """A tensor whose size is that of an allocation that failed.

    Args:
        name: the tensor.
        type: its element type and shape at the sizes of the run.
        node: the node that computes it; empty for an input or constant.
        bytes: its size.
    """

    name: str
    type: str
    node: str
    bytes: int


@json_record("shapeinf.why/1")
@attrs.frozen
class FailureReport:
    """Why a run of a model failed: the output of `shapeinf why --json`.

    Args:
        verdict: what is known of the failure.
        message: the message that is explained; None where no text of a runtime is recognized.
        sizes: the sizes of the run, by dim.
        sizes_from: who states them.
        nodes: the nodes that the message may name, the likeliest first.
        conditions: the conditions that failed, or may have failed, the likeliest first.
        tensors: for an allocation that failed, the tensors of that size.
        notes: what else is known, in sentences.
        model: the path of the model.
    """

    verdict: Verdict
    message: RuntimeMessage | None
    sizes: Mapping[str, int] = attrs.field(factory=dict)
    sizes_from: SizesFrom = ""
    nodes: tuple[NodeMatch, ...] = ()
    conditions: tuple[FailedCondition, ...] = ()
    tensors: tuple[LikelyTensor, ...] = ()
    notes: tuple[str, ...] = ()
    model: str = ""

    @property
    def explained(self) -> bool:
        """Whether a cause is named: a condition that fails, or another cause."""
        return self.verdict in ("violated", "other cause") or (self.verdict == "possible" and bool(self.conditions))
