"""How the operand of each view lies in memory: the steps from a contiguous tensor to it, and the declared strides.

Torch refuses a view that would copy elements. A tensor whose layout is not listed here, in a program without strides,
is taken for one that allows the view, as it did when the program was exported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from opdefs.pnnx.names import function_name
from opdefs.torch.declared_strides import Layout, read_layout
from shapeinf.graph import Graph, InputReference, Node, NodeKind

STEPS, LAYOUT = "steps", "declared_layout"
"""The attributes of a view with the steps to its operand, and with the declared layout of the operand."""
Step = tuple[str | int, ...]
"""`permute` with all axes, `swap` of two axes, `cut` of an axis with its step, `remove` or `insert` of an axis, or
`copy` of all elements in their order in memory. The empty step changes nothing."""
Steps = tuple[Step, ...]

VIEWS = frozenset({"aten.view.default", "aten._unsafe_view.default"})

_CONTIGUOUS = frozenset(("addmm", "mm", "bmm", "linear", "contiguous", "arange", "zeros", "ones", "full", "embedding"))
"""Functions whose results are contiguous."""
_ELEMENTWISE = frozenset(
    (
        *("relu", "sigmoid", "tanh", "gelu", "silu", "neg", "exp", "dropout", "clone", "_to_copy"),
        *("add", "sub", "mul", "div"),
    )
)
"""Functions of elements: the result of one tensor has the elements in the order of the operand in memory."""
_FOLLOWING = frozenset(
    (
        *("cat", "stack", "layer_norm", "native_layer_norm", "softmax", "_softmax", "convolution", "pad", "mean"),
        *("conv1d", "conv2d", "conv3d", "constant_pad_nd", "where", "reshape", "flatten", "unflatten", "sum"),
    )
)
"""Functions whose results are contiguous where all operands are."""
_IDENTITIES = frozenset(("alias", "detach"))
"""Functions that return their operand."""


def with_layouts(graph: Graph) -> Iterator[Node]:
    """The nodes of a graph; a view of a tensor that may not lie contiguously has the layout of its operand."""
    if not any(node.op in VIEWS for node in graph.nodes):
        yield from graph.nodes
        return
    known: dict[str, Steps] = dict.fromkeys((*graph.inputs, *graph.constants), ())
    kinds: dict[tuple[NodeKind, Steps | None, Layout | None], NodeKind] = {}
    for node in graph.nodes:
        steps = _steps(node, known)
        if steps is not None:
            known.update(dict.fromkeys(filter(None, node.outputs), steps))
        if node.op not in VIEWS or not node.inputs:
            yield node
            continue
        operand = known.get(node.inputs[0])
        layout = None if operand == () else read_layout(graph.declared.get(node.inputs[0]))
        if not operand and layout is None:
            yield node
            continue
        kind = kinds.get((node.kind, operand, layout))
        if kind is None:
            added: dict[str, object] = {STEPS: operand, LAYOUT: layout}
            attributes = {**node.kind.attrs, **{name: value for name, value in added.items() if value}}
            kind = kinds[node.kind, operand, layout] = NodeKind(node.op, node.kind.domain, attributes)
        yield Node(kind, node.inputs, node.outputs, node.name)


def _steps(node: Node, layouts: Mapping[str, Steps]) -> Steps | None:
    """The steps to the outputs of a node; None where its layout is not known."""
    name, attributes = function_name(node.op), node.kind.attrs
    if not _keeps_format(attributes):
        return None
    if name in _CONTIGUOUS or (name == "clone" and attributes.get("memory_format") == "contiguous"):
        return ()
    operands = [layouts.get(node.inputs[at]) for at in _tensors(attributes.values())]
    if not operands or operands[0] is None:
        return None
    if name in _ELEMENTWISE and len(operands) == 1:
        return (*operands[0], ("copy",)) if operands[0] else ()
    if name in _ELEMENTWISE or name in _FOLLOWING or node.op in VIEWS:
        return () if not any(operands) and None not in operands else None
    if name in _IDENTITIES:
        return operands[0]
    read = _READERS.get(name)
    step = None if read is None else read(attributes)
    return None if step is None else (*operands[0], *filter(None, (step,)))


def _keeps_format(attributes: Mapping[str, object]) -> bool:
    """Whether the result has its axes in an order of memory that the function decides, and no argument."""
    return attributes.get("memory_format") in (None, "contiguous", "preserve")


def _tensors(values: Iterable[object]) -> Iterator[int]:
    """The positions of the inputs that are tensors."""
    for value in values:
        if isinstance(value, InputReference):
            yield value.input
        elif isinstance(value, tuple):
            yield from _tensors(value)


# -- the steps of functions --------------------------------------------------------------------------------------------

Attributes = Mapping[str, object]
_COMPLETE = tuple((start, end, 1) for start in (None, 0) for end in (None, 2**63 - 1))
"""Bounds of slices that remove nothing."""


def _step(name: str, *numbers: object) -> Step | None:
    """A step whose numbers are literals; None where one is computed."""
    known = [number for number in numbers if type(number) is int]
    return (name, *known) if len(known) == len(numbers) else None


def _permute(attributes: Attributes) -> Step | None:
    dims = attributes.get("dims")
    return _step("permute", *dims) if isinstance(dims, tuple) else None


def _swap(attributes: Attributes) -> Step | None:
    return _step("swap", attributes.get("dim0"), attributes.get("dim1"))


def _cut(attributes: Attributes) -> Step | None:
    return _step("cut", attributes.get("dim", 0), attributes.get("step", 1))


def _slice(attributes: Attributes) -> Step | None:
    bounds = attributes.get("start"), attributes.get("end"), attributes.get("step", 1)
    return () if bounds in _COMPLETE else _cut(attributes)


def _remove(attributes: Attributes) -> Step | None:
    return _step("remove", attributes.get("dim", 0))


def _insert(attributes: Attributes) -> Step | None:
    return _step("insert", attributes.get("dim"))


_READERS: Mapping[str, Callable[[Attributes], Step | None]] = {
    **{"permute": _permute, "transpose": _swap, "t": lambda _: ("swap", 0, -1), "mT": lambda _: ("swap", -2, -1)},
    **dict.fromkeys(("narrow", "split", "split_with_sizes", "chunk"), _cut),
    **{"slice": _slice, "select": _remove, "unbind": _remove, "unsqueeze": _insert},
}
