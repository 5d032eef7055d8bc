"""Values of torch: arrays as tensors, and the types of values for `verify`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shapeinf.engine.tensor_info import MAX_VISITS
from shapeinf.lattice.dtypes import NUMBER_TYPES, TORCH_NAMES
from shapeinf.runtime.protocol import Observation, ObservedType, Refusal


def to_tensor(torch: Any, array: np.ndarray[Any, Any], dtype: str) -> Any:
    """An array as a tensor, also of bfloat16. Raises Refusal for an element type that torch does not have."""
    kind = to_dtype(torch, dtype)
    contiguous = np.ascontiguousarray(array).reshape(array.shape)
    if contiguous.dtype.isbuiltin != 1:  # a type of ml_dtypes: the same bytes
        return torch.from_numpy(contiguous.view(f"i{contiguous.itemsize}").copy()).view(kind)
    return torch.from_numpy(contiguous.copy())


def to_dtype(torch: Any, dtype: str) -> Any:
    """The dtype of torch for an element type. Raises Refusal where torch has none."""
    names = {ours: name for name, ours in TORCH_NAMES.items()}
    kind = getattr(torch, names[dtype], None) if dtype in names else None
    if kind is None:
        raise Refusal(f"torch has no element type {dtype}")
    return kind


def observe_value(torch: Any, value: Any) -> Observation:
    """The type of a value: a number is a scalar, a list of numbers a vector, any other list has types of items."""
    if isinstance(value, torch.Tensor):
        return ObservedType(str(value.dtype).removeprefix("torch."), tuple(value.shape))
    if isinstance(value, (list, tuple)):
        dtypes = {_type_of_number(item) for item in value}
        if None in dtypes or not value:
            types = _item_types(torch, value)
            return "it has too many items to be compared" if types is None else types
        return ObservedType(dtypes.pop() if len(dtypes) == 1 else None, (len(value),))
    dtype = _type_of_number(value)
    return ObservedType(dtype, ()) if dtype else f"it is a {type(value).__name__}, not a tensor"


def item_observations(torch: Any, value: Any) -> list[Observation]:
    """The types of a value, or those of the items of a list or tuple of values."""
    if isinstance(value, (list, tuple)):
        return [observe_value(torch, item) for item in value]
    return [observe_value(torch, value)]


def _type_of_number(value: Any) -> str | None:
    """The element type of a number of Python; None for any other value."""
    return NUMBER_TYPES.get(type(value))


def _item_types(torch: Any, values: Sequence[Any]) -> list[ObservedType | None] | None:
    """The types of the tensors and numbers in nested lists; None where there are more than `MAX_VISITS`."""
    types: list[ObservedType | None] = []
    pending = list(reversed(values))
    for _ in range(MAX_VISITS):
        if not pending:
            return types
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending.extend(reversed(value))
        else:
            observed = observe_value(torch, value)
            types.append(observed if isinstance(observed, ObservedType) else None)
    return None
