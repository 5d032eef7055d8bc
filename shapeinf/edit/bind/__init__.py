"""A model whose dims are frozen, re-ranged or renamed."""

from shapeinf.edit.bind.api import Bound, bind

__all__ = ["Bound", "bind"]
