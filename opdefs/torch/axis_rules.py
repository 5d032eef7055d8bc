"""The axis rules of torch's overloads: those of the functions of PNNX that they are."""

from __future__ import annotations

from opdefs.pnnx.dialect import pnnx
from opdefs.torch.dialect import torch
from opdefs.torch.functions import OWN, function_table

for _overload, _entry in function_table().entries.items():
    _rule = None if _entry.function == OWN else pnnx.axis_rule("", _entry.function, 1)
    if _rule is not None:
        torch.axes(_overload)(_rule)
