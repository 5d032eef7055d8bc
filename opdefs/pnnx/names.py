"""The function that an operator is: names of operators have the module or the overload besides it."""

from __future__ import annotations

_NAMESPACES = ("aten", "prims")
"""The namespaces of torch's overloads, which have a name of their own behind the function."""


def function_name(op: str) -> str:
    """The function in the name of an operator of PNNX or of an overload of torch; functions in place have no other.

    >>> function_name("torch.sum"), function_name("aten::add"), function_name("nn.Conv2d"), function_name("F.relu")
    ('sum', 'add', 'Conv2d', 'relu')
    >>> function_name("aten.sum.dim_IntList"), function_name("aten.add_.Tensor")
    ('sum', 'add')
    """
    parts = op.replace("::", ".").split(".")
    name = parts[1] if parts[0] in _NAMESPACES and len(parts) == 3 else parts[-1]
    return name if name.startswith("_") else name.removesuffix("_")
