"""torch's operators by overload, such as `aten.add.Tensor`, as programs of torch.export have them.

`rules.txt` lists the rules of this package; a module is imported on the first lookup of one of its operators.
"""

from __future__ import annotations

from opdefs.torch.dialect import torch

__all__ = ["torch"]
