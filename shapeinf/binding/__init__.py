"""A model whose dims are frozen, re-ranged or renamed."""

from shapeinf.binding.api import BindError, Bound, bind

__all__ = ["BindError", "Bound", "bind"]
