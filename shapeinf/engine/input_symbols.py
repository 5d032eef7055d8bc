"""The symbols of the inputs, whose sizes users choose."""

from __future__ import annotations

from shapeinf.engine.inference import Inference
from shapeinf.expr import Dimension, quote_name
from shapeinf.lattice import TensorType


def input_symbols(inference: Inference) -> dict[Dimension, str]:
    """The symbols of the inputs with their labels: their name, or the axis whose size they are."""
    labels: dict[Dimension, str] = {}
    for name, declared in inference.input_types.items():
        if not isinstance(declared, TensorType) or name in inference.compiled.graph.constants:
            continue
        for axis, d in enumerate(declared.shape.dims or ()):
            for symbol in sorted(d.symbols(), key=str) if isinstance(d, Dimension) else ():
                named = not symbol.symbol.anonymous
                label = quote_name(symbol.symbol.name) if named else f"{name}.shape[{axis}]"
                labels.setdefault(symbol, label)
    return labels
