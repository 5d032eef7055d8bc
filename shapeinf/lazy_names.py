"""Names that a package imports on their first use, by a `__getattr__` of its module (PEP 562).

A package whose users need few of its names imports these alone. Type checkers see the imports under `TYPE_CHECKING`
instead, in the form `from m import X as X`, which makes `X` public.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def import_on_first_use(package: str, modules: "Mapping[str, str]") -> "Callable[[str], object]":
    """The `__getattr__` of a package: it imports a name from its module in `modules`, and sets it in the package.

    It raises AttributeError for a name that is not in `modules`, and what the import raises.
    """

    def import_name(name: str) -> object:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(import_module(package), name, value)
        return value

    return import_name
