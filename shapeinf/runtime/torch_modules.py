"""The modules of a PNNX network in torch: constructed without memory, then loaded with the weights of the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from shapeinf.graph import Node
from shapeinf.runtime.protocol import Refusal
from shapeinf.runtime.torch_calls import Arguments, Call, NotRunnable
from shapeinf.runtime.torch_names import find_function
from shapeinf.texts import exact_bytes

MAX_BYTES = 1 << 32
"""The most bytes of the weights of one module that the file does not declare."""


def module_call(torch: Any, node: Node, arguments: Arguments, weight: Callable[[str], Any]) -> Call | None:
    """The call of a module; None for any other operator. `weight` returns a constant of the graph as a tensor.

    Raises NotRunnable where torch does not construct the module with the parameters in the file, Refusal where its
    weights take too much memory.
    """
    kind = find_function(torch, node.op) if node.op.startswith("nn.") else None
    if kind is None:
        return None
    defaults = {"num_features": 1} if node.op.startswith("nn.InstanceNorm") else {}  # absent where it is not static
    try:
        with torch.device("meta"):
            module = kind(**{**defaults, **arguments.parameters}).eval()
    except Exception as error:
        raise NotRunnable(f"torch does not construct it: {' '.join(str(error).split())}") from error
    weights = {name: weight(constant) for name, constant in arguments.weights.items()}
    missing = {name: value for name, value in module.state_dict().items() if name not in weights}
    size = sum(value.numel() * value.element_size() for value in missing.values())
    if size > MAX_BYTES:
        raise Refusal(f"the weights of {node.name} would take {exact_bytes(size)}")
    for name, value in missing.items():
        weights[name] = torch.ones(value.shape, dtype=value.dtype)
    module.load_state_dict(weights, strict=True, assign=True)
    if node.op == "nn.MultiheadAttention":
        return _Attention(module, arguments, len(node.outputs))
    if node.op in ("nn.LSTM", "nn.GRU", "nn.RNN"):
        return _Recurrent(module, len(node.outputs))
    return lambda values: module(*values)


class _Recurrent:
    """A recurrent module, whose states are further outputs: one tensor, two for an LSTM."""

    def __init__(self, module: Any, outputs: int) -> None:
        self.module = module
        self.outputs = outputs

    def __call__(self, values: Sequence[Any]) -> Any:
        states = values[1:]
        result, state = self.module(values[0], *([tuple(states)] if len(states) == 2 else states))
        flat = (result, *state) if isinstance(state, tuple) else (result, state)
        return flat[0] if self.outputs == 1 else flat[: self.outputs]


class _Attention:
    """Attention: one input is query, key and value, the second of two is key and value; weights are a second output."""

    def __init__(self, module: Any, arguments: Arguments, outputs: int) -> None:
        self.module = module
        self.arguments = arguments
        self.outputs = outputs

    def __call__(self, values: Sequence[Any]) -> Any:
        positional, named = self.arguments.split(values)
        masks = {name: named[name] for name in ("attn_mask", "key_padding_mask") if name in named}
        inputs = [*positional, *(named[name] for name in ("query", "key", "value") if name in named)]
        inputs += [inputs[-1]] * (3 - len(inputs))
        result, weights = self.module(*inputs, **masks, need_weights=self.outputs > 1)
        return result if self.outputs == 1 else (result, weights)
