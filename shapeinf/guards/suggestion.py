"""`dynamic_shapes`: the argument of `torch.export.export` that leaves every size free that the operators leave free."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from shapeinf.constraints.congruences import Congruence
from shapeinf.contract import Precondition
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph.guards import InputGuards
from shapeinf.lattice import ShapeStore

SINGLE = ("value", "range", "divisibility")
"""The kinds of requirements on one axis that `Dim` expresses."""


def dynamic_shapes(inputs: InputGuards, store: ShapeStore, preconditions: Sequence[Precondition]) -> str:
    """The dims of all inputs as Python; the constraints of a store are those of the operators.

    An axis that the operators fix is not listed; `Dim.AUTO` stands for a size that `Dim` cannot express, since a
    precondition relates it to others.
    """
    related = {store.canon(s) for p in preconditions if p.kind not in SINGLE for s in p.free_symbols}
    names: dict[DimSize, str] = dict.fromkeys(related, "Dim.AUTO")
    entries = []
    for name, axes in inputs.axes.items():
        dims = {number: _dim_text(axis, store, names) for number, axis in enumerate(axes) if axes != (name,)}
        listed = ", ".join(f"{number}: {text}" for number, text in dims.items() if text)
        entries.append(f'"{name}": ' + (f"{{{listed}}}" if listed else "None"))
    return f"{{{', '.join(entries)}}}"


def _dim_text(axis: str, store: ShapeStore, names: dict[DimSize, str]) -> str:
    """The dim of an axis; axes of one size have the same one. Empty for an axis of a fixed size."""
    d = store.canon(store.scope.symbol(axis))
    if isinstance(d, int):
        return ""
    if d not in names:
        names[d] = _free_dim(axis, store, d)
    return names[d]


def _free_dim(axis: str, store: ShapeStore, d: Dimension) -> str:
    symbol = store.scope.symbol(axis)
    congruence = store.congruences.find(symbol)
    if congruence is not None:
        return _multiple(axis, congruence)
    if not d.is_symbol:
        return "Dim.AUTO"
    low, high = store.bounds(d)
    bounds = (f", min={low}" if low > 1 else "") + (f", max={high}" if high != inf else "")
    return f'Dim("{axis}"{bounds})'


def _multiple(axis: str, congruence: Congruence) -> str:
    """A dim that is a multiple of a number, plus a rest."""
    rest = f" + {congruence.rest}" if congruence.rest else ""
    return f'{congruence.modulus}*Dim("{axis}_{congruence.modulus}"){rest}'
