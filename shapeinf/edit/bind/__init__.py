"""A model whose dims are frozen, re-ranged or renamed."""

from shapeinf.edit.bind.api import BindError, Bound, bind

__all__ = ["BindError", "Bound", "bind"]
