"""What a declared size of a file means."""

from __future__ import annotations

from shapeinf.checks.subject import GENERATED, CheckedModel
from shapeinf.expr import Dim, Dimension, DimSyntaxError, Scope, parse_dim
from shapeinf.lattice import ShapeStore


def declared_size(store: ShapeStore, said: int | str | None) -> Dim | None:
    """The size that a declaration means; None where it says nothing: names that no input has name anything."""
    if said is None or isinstance(said, int):
        return said if said is None or said >= 0 else None
    scope = store.scope
    if GENERATED.fullmatch(said):
        return None
    if scope.has(said):
        return store.canon(scope.symbol(said))
    try:
        alone = parse_dim(said, Scope())
        if isinstance(alone, Dimension) and not all(scope.has(s.name) for s in alone.symbols()):
            return None
        return store.canon(parse_dim(said, scope))
    except (DimSyntaxError, ZeroDivisionError):
        return None


def renames(subject: CheckedModel, meant: Dim | None, size: Dim) -> bool:
    """Whether a declaration may only give an expression of other names one of its own: `total` for `past + seq`.

    Axes of one input are sizes of their own: `batch` is no name for `width//4` where both are axes of an image.
    """
    if not isinstance(meant, Dimension) or not isinstance(size, Dimension) or size.is_symbol:
        return False
    return meant.is_symbol and meant not in size.symbols() and not subject.independent({meant, *size.symbols()})
