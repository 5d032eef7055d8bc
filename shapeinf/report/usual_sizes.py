"""Sizes of a usual magnitude for the dims of the inputs: what a number stands for where the user names no sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shapeinf.engine.input_symbols import find_symbol, input_symbols
from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.expr import Dimension
from shapeinf.lattice import ShapeStore
from shapeinf.result import Result

TYPICAL = (128, 224, 256, 64, 32, 512, 16, 100, 1024, 8, 4, 3, 2, 1, 48, 96, 4096)
"""Sizes that all dims start with, in the order in which they are tried."""
IMAGE_SIDE = (640, 224, 512)
"""The first sizes of the axes of an image, which has four axes."""
_TRIED = 12
"""The most bindings that are checked."""


def usual_sizes(result: Result, sizes: Mapping[str, int] | None = None) -> dict[str, int]:
    """Legal sizes of all dims of the inputs, with these among them; empty where all of the first few are illegal.

    Where data decides, too, no violation is known. Batches are 1, sides of images 640, other sizes 128, where the
    contract permits it.

    >>> from shapeinf import infer_shapes
    >>> usual_sizes(infer_shapes("examples/convnet.onnx"), {"height": 48})
    {'batch': 1, 'height': 48, 'width': 640}
    """
    store = result.engine.store
    symbols = input_symbols(result.engine.inference)
    labels = {s: label for s, label in symbols.items() if store.canon(s) is s}
    try:
        fixed = {labels.get(find_symbol(symbols, name), name): size for name, size in (sizes or {}).items()}
    except UnknownNameError:  # the command that uses the sizes reports it
        return {}
    tried: list[dict[str, int]] = []
    undecided: dict[str, int] = {}
    for candidate in _candidates(result, labels):
        binding = {**candidate, **fixed}
        if binding in tried:
            continue
        tried.append(binding)
        try:
            verdict = result.contract.check(binding).verdict
        except ShapeInferenceError:  # as above: a budget
            return {}
        if verdict:
            return binding
        if verdict is None:
            undecided = undecided or binding
        if len(tried) == _TRIED:
            break
    return undecided


def _candidates(result: Result, labels: Mapping[Dimension, str]) -> Iterator[dict[str, int]]:
    """Bindings by label: the same usual size for all dims, then a total among them."""
    leading, sides = _roles(result)
    store = result.engine.store
    for k, size in enumerate(TYPICAL[:5]):
        side = IMAGE_SIDE[k] if k < len(IMAGE_SIDE) else size
        yield {
            label: _nearest(store, symbol, 1 if symbol in leading else side if symbol in sides else size)
            for symbol, label in labels.items()
        }
    yield from _with_totals(labels, leading)


def _with_totals(labels: Mapping[Dimension, str], leading: set[Dimension]) -> Iterator[dict[str, int]]:
    """Bindings in which one size is the total of the others: a mask over a past and the tokens after it."""
    inner = [label for symbol, label in labels.items() if symbol not in leading]
    for size in (64, 16):
        for total in inner if len(inner) > 2 else ():
            yield {
                label: size * (len(inner) - 1) if label == total else size if label in inner else 1
                for label in labels.values()
            }


def _roles(result: Result) -> tuple[set[Dimension], set[Dimension]]:
    """The dims of first axes of inputs, and those of the sides of images."""
    leading, sides = set(), set()
    for name in result.graph.inputs:
        dims = result.tensors[name].shape.dims or ()
        if name not in result.graph.constants:
            leading |= {dim for dim in dims[:1] if isinstance(dim, Dimension)}
            open_dims = {dim for dim in dims[1:] if isinstance(dim, Dimension)}
            if len(dims) == 4 and len(open_dims) == 2:  # the channels are known
                sides |= open_dims
    return leading, sides - leading


def _nearest(store: ShapeStore, symbol: Dimension, size: int) -> int:
    """The nearest size within the bounds and the congruence of a symbol."""
    bounds, congruence = store.interval(symbol), store.congruences.find(symbol)
    low, high = max(bounds.lo or 0, 0), bounds.hi
    size = max(low, size if high is None else min(size, high))
    if congruence is None:
        return size
    size -= (size - congruence.rest) % congruence.modulus
    return size if size >= low else size + congruence.modulus
