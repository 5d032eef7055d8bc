"""Layouts of tensors in memory as users assign them: by name, by rank, or by a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from shapeinf.errors import LayoutError, UnknownNameError
from shapeinf.lattice import Shape, TensorType, element_bits
from shapeinf.layout import ArrayType, Layout, parse_layout

LayoutLike = Layout | str
"""A layout, or its text: `{1,0:T(8,128)}`."""

LayoutFunction = Callable[[str, Shape, str | None], LayoutLike | None]
"""The layout of a tensor by name, shape and element type; None for the default."""

Layouts = Mapping[Any, LayoutLike] | LayoutFunction
"""Layouts by the name of a tensor (str) and by rank (int), or a function; a name takes precedence over a rank.

The keys of a mapping are invariant: a dict with names only is no `Mapping[str | int, ...]` for a type checker.
"""


class LayoutAssignment:
    """The layouts that `Result.memory(layouts=...)` assigns to tensors.

    >>> assignment = LayoutAssignment({"x": "{0,1}", 2: "{1,0:T(8,128)}"})
    >>> assignment.layout_of("x", TensorType("float32", Shape((3, 5))))
    {0,1}
    >>> assignment.layout_of("y", TensorType("float32", Shape((3, 5))))
    {1,0:T(8,128)}
    """

    def __init__(self, layouts: Layouts) -> None:
        """Parse the layouts. Raises LayoutError for a text, a rank or a key that is not valid."""
        self._function = layouts if callable(layouts) else None
        self._by_name: dict[str, Layout] = {}
        self._by_rank: dict[int, Layout] = {}
        for key, value in layouts.items() if isinstance(layouts, Mapping) else ():
            layout = _parse(value, repr(key))
            if isinstance(key, str):
                self._by_name[key] = layout
            elif isinstance(key, bool) or not isinstance(key, int):
                raise LayoutError(f"layouts are assigned by the name of a tensor or by rank, not by {key!r}")
            elif layout.rank != key:
                raise LayoutError(f"layout {layout} has {layout.rank} dims, but is assigned to tensors of rank {key}")
            else:
                self._by_rank[key] = layout
        if self._function is None and not isinstance(layouts, Mapping):
            raise LayoutError(f"layouts must be a mapping or a function, not {layouts!r}")

    def check_names(self, names: Iterable[str]) -> None:
        """Raise UnknownNameError for a layout of a tensor that the model does not have."""
        known = frozenset(names)
        for name in self._by_name:
            if name not in known:
                raise UnknownNameError("tensor", name, known)

    def layout_of(self, name: str, tensor: TensorType) -> Layout | None:
        """The layout of a tensor; None for the default, and where its rank or the width of its elements is not known.

        Raises LayoutError where the rank of the layout is not that of the tensor, or its array is not valid.
        """
        dims = tensor.shape.dims
        if dims is None or element_bits(tensor.dtype) is None:
            return None
        if self._function is not None:
            value = self._function(name, tensor.shape, tensor.dtype)
            layout = None if value is None else _parse(value, repr(name))
        else:
            layout = self._by_name.get(name) or self._by_rank.get(len(dims))
        if layout is None:
            return None
        if layout.rank != len(dims):
            raise LayoutError(f"layout {layout} of {name!r} has {layout.rank} dims, but the tensor has {len(dims)}")
        try:
            physical_array(tensor, layout)
        except (LayoutError, UnknownNameError) as error:
            raise LayoutError(f"layout {layout} of {name!r}: {error}") from None
        return layout


def physical_array(tensor: TensorType, layout: Layout | None) -> ArrayType:
    """The array in memory of a tensor of known rank; row-major with packed elements where it has no layout.

    Raises LayoutError and UnknownNameError for an element type that no array in memory has.
    """
    dims = tensor.shape.dims
    assert dims is not None and tensor.dtype is not None
    if layout is None:
        bits = element_bits(tensor.dtype) or 8
        order = range(len(dims) - 1, -1, -1)
        layout = Layout(order, element_size_in_bits=bits if bits % 8 else 0)
    return ArrayType(tensor.dtype, dims, layout)


def _parse(value: object, owner: str) -> Layout:
    if isinstance(value, Layout):
        return value
    if not isinstance(value, str):
        raise LayoutError(f"the layout of {owner} must be a Layout or its text, not {value!r}")
    return parse_layout(value)
