"""`bind`: dims of a model get sizes, bounds or other names."""

from shapeinf.edit.bind.api import Bound, bind

__all__ = ["Bound", "bind"]
