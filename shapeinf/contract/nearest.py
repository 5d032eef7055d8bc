"""The legal sizes next to illegal ones, as texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from shapeinf.contract.contract import Contract
from shapeinf.solver.budget import WORK

MOST_DIMS = 4
"""The dims for which legal sizes are searched."""


def nearest_texts(contract: Contract, sizes: Mapping[str, int], *, work: int = WORK) -> Iterator[str]:
    """For each dim its nearest legal sizes, while the others keep theirs; where no dim has any, a change of several.

    >>> from shapeinf import infer_shapes
    >>> contract = infer_shapes("examples/convnet.onnx").contract
    >>> [*nearest_texts(contract, {"height": 7, "width": 8}), *nearest_texts(contract, {"height": 7, "width": 9})]
    ['height=6 or height=8', 'height=6, width=8']
    """
    tried = list(islice(sizes, MOST_DIMS))
    listed = False
    for name in tried:
        near = contract.nearest(name, sizes, work=work)
        if near:
            listed = True
            yield " or ".join(f"{name}={size}" for size in near)
    if listed:
        return
    illegal = [name for name in tried if contract.check({name: sizes[name]}).verdict is False]
    alone = {name: contract.nearest(name, {name: sizes[name]}, work=work) for name in illegal}
    changed = {name: near[0] for name, near in alone.items() if near}
    if len(changed) > 1 and contract.check({**sizes, **changed}).verdict is not False:
        yield ", ".join(f"{name}={size}" for name, size in changed.items())
