"""One name of a dim for inputs that need different sizes: found by giving every axis a name of its own."""

from __future__ import annotations

from collections.abc import Iterator

from shapeinf.api import infer_shapes
from shapeinf.checks.registry import register_check
from shapeinf.checks.subject import CheckedModel
from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dim, Dimension
from shapeinf.lattice import TensorType
from shapeinf.result import Result


@register_check("C104", "error", "one name of inputs that must have two values")
def torn(subject: CheckedModel) -> Iterator[Diagnostic]:
    """Only for a model with errors: those that vanish when a name is several, with a value each."""
    if not any(d.severity == "error" for d in subject.result.diagnostics):
        return
    apart = {s for s in subject.named if len(subject.axes[s]) > 1}
    split = _split(subject, apart) if apart else None
    if split is None:
        return
    for symbol in sorted(apart, key=str):
        sizes: dict[int, tuple[str, str]] = {}
        for tensor, axis in subject.axes[symbol]:
            own = _own(split, tensor, axis)
            size = own if own is None else split.store.canon(own)
            if isinstance(size, int) and own is not None:
                sizes.setdefault(size, (f"{tensor}.shape[{axis}]", split.store.sources[own].node))
        if len(sizes) > 1:
            needs = ", but ".join(f"{where} must be {size} ({node})" for size, (where, node) in sizes.items())
            node = max((node for _, node in sizes.values()), key=lambda name: subject.order.get(name, -1))
            message = f"{symbol} must have {len(sizes)} values: {needs}"
            yield Diagnostic("error", "C104", message, node, subject.op(node), help="give the axes a name each")


def _split(subject: CheckedModel, apart: set[Dimension]) -> Result | None:
    """The inference with a name for each axis; None when it cannot run so or has errors too."""
    inputs: dict[str, list[Dim | str]] = {}
    for name, dims in subject.asked.items():
        inputs[name] = [_asked(d, f"`{name}.shape[{axis}]`" if d in apart else "") for axis, d in enumerate(dims)]
    try:
        result = infer_shapes(subject.graph, inputs=inputs, declared="check")
    except ShapeInferenceError:
        return None
    return None if any(d.severity == "error" for d in result.diagnostics) else result


def _asked(dim: Dim, own: str) -> Dim | str:
    """A dim as another inference can be asked for it: by its own name, as it is, or unknown."""
    if isinstance(dim, int):
        return dim
    return own or ("?" if dim.is_anonymous else str(dim))


def _own(split: Result, tensor: str, axis: int) -> Dimension | None:
    found = split.inference.input_types.get(tensor)
    if not isinstance(found, TensorType) or found.shape.dims is None:
        return None
    dim = found.shape.dims[axis]
    return dim if isinstance(dim, Dimension) and dim.is_symbol else None
