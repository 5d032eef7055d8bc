"""Subgraphs in which a delegate runs some nodes: each set of them becomes one node, and its inner tensors are its own.

Read in LiteRT (tflite/graph_info.cc, August 2026): nodes are taken in order as their inputs are computed, those of one
kind (run by the delegate or not) as long as there are any, then those of the other kind.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from shapeinf.memory.runtimes.litert.subgraph import Call, Subgraph
from shapeinf.ops import OpDef

DELEGATE = OpDef("DELEGATE")


def delegate(subgraph: Subgraph, delegated: Collection[int]) -> Subgraph:
    """The subgraph with one node for each set of nodes that a delegate runs."""
    kinds = [number in delegated for number in range(len(subgraph.calls))]
    if not delegated:
        return subgraph
    calls: list[Call] = []
    for is_delegated, numbers in _sets(subgraph, kinds):
        if is_delegated:
            calls.append(_delegated(subgraph, numbers))
        else:
            calls += [subgraph.calls[number] for number in numbers]
    return attrs.evolve(subgraph, calls=tuple(calls))


def _sets(subgraph: Subgraph, kinds: Sequence[bool]) -> list[tuple[bool, list[int]]]:
    """The sets of nodes of one kind, in the order in which they run."""
    written = {index for call in subgraph.calls for index in call.outputs}
    ready = {index for index in range(len(subgraph.values)) if index not in written}
    waiting = list(range(len(kinds)))
    sets: list[tuple[bool, list[int]]] = []
    while waiting:
        kind, numbers = None, []
        progress = True
        while progress:
            progress = False
            for number in list(waiting):
                call = subgraph.calls[number]
                if kind not in (None, kinds[number]) or any(i >= 0 and i not in ready for i in call.inputs):
                    continue
                kind, progress = kinds[number], True
                numbers.append(number)
                waiting.remove(number)
                ready.update(call.outputs)
        if kind is None:  # a cycle, which no interpreter runs
            return [*sets, (False, waiting)]
        sets.append((kind, numbers))
    return sets


def _delegated(subgraph: Subgraph, numbers: Sequence[int]) -> Call:
    """The node that stands for others."""
    inside = [subgraph.calls[number] for number in numbers]
    outside = [call for number, call in enumerate(subgraph.calls) if number not in set(numbers)]
    written = dict.fromkeys(index for call in inside for index in call.outputs if index >= 0)
    read = dict.fromkeys(index for call in inside for index in call.inputs if index >= 0 and index not in written)
    needed = {index for call in outside for index in call.inputs} | set(subgraph.outputs)
    names = inside[0].node if len(inside) == 1 else f"{inside[0].node.split(' ')[0]}..{inside[-1].node.split(' ')[0]}"
    return Call(
        f"{names.split(' ')[0]} (DELEGATE)",
        DELEGATE,
        tuple([index for index in read if not subgraph.values[index].is_constant]),
        tuple([index for index in written if index in needed]),
        {},
    )
