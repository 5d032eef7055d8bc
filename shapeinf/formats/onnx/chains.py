"""Dims of inner values as texts with which a file costs ONNX Runtime no memory.

Its planner keeps a buffer that is free for a later value whose declared dims have the same texts. A buffer that waits
is not freed, so a file in which equal dims have equal texts needs more memory than one without declarations. Equal
texts help only where an operator writes its output into the buffer of its input. Each in-place chain, a value and the
values that are written in its place, therefore has a number, and one symbolic dim of each of its values carries it:
`height//2@17`. The readers drop the number in files that have the metadata property `assembly.CHAINS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from shapeinf.formats.annotation import Info
from shapeinf.formats.onnx.type_encoding import dim_text
from shapeinf.formats.unknown_names import NO_NAMES, DimNames
from shapeinf.graph import Node

_IN_PLACE = frozenset(
    (
        *("Cast", "CastLike", "Celu", "Clip", "Elu", "HardSigmoid", "LeakyRelu", "LogSoftmax", "Relu"),
        *("ScatterElements", "Selu", "Shrink", "Sigmoid", "Softmax", "Softplus", "Softsign", "Tanh"),
        *("ThresholdedRelu", "Trilu"),
    )
)
"""The operators of ONNX that ONNX Runtime's CPU kernels compute in the buffer of their first input (measured, 1.32)."""

_SUMMAND = {("com.microsoft", "FusedConv"): 3, ("com.microsoft.nchwc", "Conv"): 3}
"""Operators that add their result to an input, by the index of that input."""


def overwritten_input(node: Node) -> str:
    """The name of the input in whose buffer the first output may be computed; empty if there is none."""
    index = 0 if node.domain == "" and node.op in _IN_PLACE else _SUMMAND.get((node.domain, node.op))
    return node.inputs[index] if index is not None and index < len(node.inputs) else ""


def number_chains(nodes: Iterable[Node], tensors: Mapping[str, Info], first: int) -> dict[str, int]:
    """The number of the in-place chain of each symbolic output of these nodes, from `first` on.

    A value continues the chain of the input that it overwrites if both have the same shape. One value continues a
    chain: two would have equal texts, but are in use at the same time.
    """
    numbers: dict[str, int] = {}
    continued: set[str] = set()
    following = first
    for node in nodes:
        source = overwritten_input(node)
        for index, name in enumerate(node.outputs):
            info = tensors.get(name)
            if info is None or info.kind != "tensor" or all(isinstance(dim, int) for dim in info.shape.dims or ()):
                continue
            if index == 0 and source in numbers and source not in continued and tensors[source].shape == info.shape:
                continued.add(source)
                numbers[name] = numbers[source]
            else:
                numbers[name] = following
                following += 1
    return numbers


def shared_values(nodes: Iterable[Node], tensors: Mapping[str, Info]) -> frozenset[str]:
    """The values of the in-place chains that have several values."""
    numbers = number_chains(nodes, tensors, 1)
    counts = Counter(numbers.values())
    return frozenset(name for name, number in numbers.items() if counts[number] > 1)


def numbered_text(info: Info, number: int, names: DimNames = NO_NAMES) -> dict[int, str]:
    """The text of the first dim that has a text, with the number of a chain, by its axis; nothing if no dim has one."""
    texts = ((axis, dim_text(dim, names)) for axis, dim in enumerate(info.shape.dims or ()) if not isinstance(dim, int))
    return next(({axis: f"{text}@{number}"} for axis, text in texts if text is not None), {})
