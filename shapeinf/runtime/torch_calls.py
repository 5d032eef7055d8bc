"""The operators of a PNNX network as calls in torch, with the arguments in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from shapeinf.graph import InputContents, Node
from shapeinf.runtime.protocol import Refusal
from shapeinf.runtime.torch_indexing import advanced_index, slice_index
from shapeinf.runtime.torch_names import find_constant, find_function

_NUMBERS_AS_TENSORS = {"torch.where": ("input", "other"), "Tensor.index_put": ("values",)}
"""Arguments that are numbers in files and tensors in torch, by operator."""
_KEEPS_SIZES = ("AdaptiveAvgPool", "AdaptiveMaxPool", "adaptive_avg_pool", "adaptive_max_pool")
"""Operators, but those of one axis, in whose `output_size` 0 stands for None."""
_SIZES_AS_ARGUMENTS = frozenset({"Tensor.reshape", "Tensor.view", "Tensor.expand", "Tensor.repeat"})
"""Methods whose sizes are several arguments in torch, and one list in files (`shape`, `size` or `sizes`)."""
_LIMITS = {"num_layers": 1 << 10, "sections": 1 << 16, "chunks": 1 << 16}
"""The limits of arguments that are the number of modules or tensors that torch constructs."""
_FLOATS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


class NotRunnable(Refusal):
    """There is nothing in torch that an operator could be, or torch does not construct it; the text is the reason.

    Internal: caught in `runtime.torch_runtime`.
    """


@attrs.frozen
class Arguments:
    """The arguments of the operator of a node.

    Args:
        inputs: the values that the node reads, in the order of the file, without its weights.
        names: the names of arguments by the position of the input.
        parameters: the values in the file by name, with torch's constants for texts such as `torch.float`.
        weights: the names of its constants by argument.
    """

    inputs: tuple[str, ...]
    names: Mapping[int, str]
    parameters: Mapping[str, Any]
    weights: Mapping[str, str]

    @classmethod
    def read(cls, torch: Any, node: Node) -> Arguments:
        """Read the arguments of a node. Raises NotRunnable for a value that torch does not have, and past a limit."""
        named = {name: value.input for name, value in node.attrs.items() if isinstance(value, InputContents)}
        weights = {n: at for n, at in named.items() if node.inputs[at].lstrip("@") == f"{node.name}.{n}"}
        written = {name: value for name, value in node.attrs.items() if name not in named}
        inputs = [at for at in range(len(node.inputs)) if at not in weights.values()]
        return cls(
            tuple(node.inputs[at] for at in inputs),
            {inputs.index(at): name for name, at in named.items() if name not in weights},
            {name: _parameter(torch, node.op, name, value) for name, value in written.items()},
            {name: node.inputs[at] for name, at in weights.items()},
        )

    def split(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The positional arguments, and those with names, of the values of the inputs."""
        positional = [value for at, value in enumerate(values) if at not in self.names]
        return positional, {**{name: values[at] for at, name in self.names.items()}, **self.parameters}


def _parameter(torch: Any, op: str, name: str, value: object) -> Any:
    """A parameter as torch takes it. Raises NotRunnable for a constant that torch does not have, and past a limit."""
    if isinstance(value, (int, float)) and value > _LIMITS.get(name, value):
        raise NotRunnable(f"{name}={value} is above the limit of {_LIMITS[name]}")
    if isinstance(value, tuple):
        items = [_parameter(torch, op, name, item) for item in value]
        keeps = name == "output_size" and op.partition(".")[2].startswith(_KEEPS_SIZES) and not op.endswith("1d")
        return tuple(None if keeps and item == 0 else item for item in items)
    if isinstance(value, str) and value.startswith("torch."):
        resolved = find_constant(torch, value)
        if resolved is None:
            raise NotRunnable(f"torch has no {value}")
        return resolved
    if isinstance(value, str) and name not in ("mode", "padding_mode", "expr"):
        value = _FLOATS.get(value, value)
    if name in _NUMBERS_AS_TENSORS.get(op, ()) and isinstance(value, (bool, int, float, complex)):
        return torch.tensor(value)
    return value


Call = Callable[[Sequence[Any]], Any]
"""Runs an operator: takes the values of its inputs, returns its result."""


def function_call(torch: Any, node: Node, arguments: Arguments) -> Call | None:
    """The call of a function, a method, or an operator of PNNX itself; None for any other operator."""
    special = _SPECIAL.get(node.op)
    if special is not None:
        return partial(special, torch, arguments)
    function = find_function(torch, node.op)
    if function is None or node.op.startswith("nn."):
        return None
    if node.op in _SIZES_AS_ARGUMENTS:
        return partial(_call_with_sizes, function, arguments)
    return partial(_call_method if node.op.startswith("Tensor.") else _call, function, arguments)


def _call(function: Any, arguments: Arguments, values: Sequence[Any]) -> Any:
    positional, named = arguments.split(values)
    return function(*positional, **named)


def _call_method(function: Any, arguments: Arguments, values: Sequence[Any]) -> Any:
    """Call a method of the first input, which has no name in torch."""
    positional, named = arguments.split(values)
    if 0 in arguments.names:
        positional.insert(0, named.pop(arguments.names[0]))
    return function(*positional, **named)


def _call_with_sizes(function: Any, arguments: Arguments, values: Sequence[Any]) -> Any:
    """Call a method of the first input with sizes, which are its only other argument or input."""
    _, named = arguments.split(values)
    sizes = next((named[name] for name in ("shape", "size", "sizes") if name in named), None)
    listed = values[1] if sizes is None else sizes
    return function(values[0], *(int(size) for size in listed))


def _join(name: str, torch: Any, arguments: Arguments, values: Sequence[Any]) -> Any:
    """`torch.cat` and `torch.stack` of a list, or of all inputs."""
    tensors = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else list(values)
    return find_function(torch, name)(tensors, **arguments.parameters)  # type: ignore[misc]


def _einsum(torch: Any, arguments: Arguments, values: Sequence[Any]) -> Any:
    tensors = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values
    return torch.einsum(arguments.parameters["equation"], *tensors)


def _slice(torch: Any, arguments: Arguments, values: Sequence[Any]) -> Any:
    _, named = arguments.split(values)
    return values[0][slice_index(values[0].dim(), named)]


def _slice_copy(torch: Any, arguments: Arguments, values: Sequence[Any]) -> Any:
    """Assign to a slice of a copy of the tensor."""
    _, named = arguments.split(values)
    target, source = named.get("self", values[0]).clone(), named.get("src", values[-1])
    target[slice_index(target.dim(), named)] = source
    return target


def _slice_indexes(torch: Any, arguments: Arguments, values: Sequence[Any]) -> list[Any]:
    """A list of numbers and inputs: `(@0,2)`."""
    items = arguments.parameters["indexes"]
    if any(isinstance(item, str) and not 0 <= int(item[1:] or -1) < len(values) for item in items):
        raise Refusal(f"the indexes {items} refer to inputs that the operator does not have")
    return [values[int(item[1:])] if isinstance(item, str) else item for item in items]


def _index_put(torch: Any, arguments: Arguments, values: Sequence[Any]) -> Any:
    _, named = arguments.split(values)
    positional = [value for at, value in enumerate(values) if at not in arguments.names]
    target = named.pop("input", positional[0] if positional else values[0])
    indices = named.pop("indices", values[1])
    put = named.pop("values", values[-1])
    return target.index_put(advanced_index(torch, indices), put.to(target.dtype), **named)


def _fill(torch: Any, arguments: Arguments, values: Sequence[Any]) -> Any:
    _, named = arguments.split(values)
    return values[0].clone().fill_(named.get("value", values[-1]))


def _copy(torch: Any, arguments: Arguments, values: Sequence[Any]) -> Any:
    return values[0].clone().copy_(values[1])


def _tuple(torch: Any, arguments: Arguments, values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(values)


def _unpack(torch: Any, arguments: Arguments, values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(values[0]) if isinstance(values[0], (list, tuple)) else (values[0],)


_SPECIAL: dict[str, Callable[[Any, Arguments, Sequence[Any]], Any]] = {
    "pnnx.SliceIndexes": _slice_indexes,
    "prim::ListConstruct": _tuple,
    "prim::ListUnpack": _unpack,
    "prim::TupleConstruct": _tuple,
    "prim::TupleUnpack": _unpack,
    "Tensor.copy": _copy,
    "Tensor.fill": _fill,
    "Tensor.index_put": _index_put,
    "Tensor.slice": _slice,
    "Tensor.slice_copy": _slice_copy,
    "torch.cat": partial(_join, "torch.cat"),
    "torch.einsum": _einsum,
    "torch.stack": partial(_join, "torch.stack"),
}
