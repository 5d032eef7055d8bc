"""The symbols of the inputs, which users choose the sizes of."""

from __future__ import annotations

from shapeinf.engine.inference import Inference
from shapeinf.expr import Dimension, quote_name
from shapeinf.lattice import TensorType


def input_symbols(inference: Inference) -> dict[Dimension, str]:
    """The symbols of the inputs, with what they are called: their names, or the axis that they are the size of."""
    found: dict[Dimension, str] = {}
    for name, asked in inference.input_types.items():
        if not isinstance(asked, TensorType) or name in inference.compiled.graph.constants:
            continue
        for axis, d in enumerate(asked.shape.dims or ()):
            for symbol in sorted(d.symbols(), key=str) if isinstance(d, Dimension) else ():
                named = not symbol.symbol.anonymous
                label = quote_name(symbol.symbol.name) if named else f"{name}.shape[{axis}]"
                found.setdefault(symbol, label)
    return found
