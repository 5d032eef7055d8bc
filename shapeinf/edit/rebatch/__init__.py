"""A model with a fixed axis of its inputs, made dynamic."""

from shapeinf.edit.rebatch.api import Rebatched, rebatch
from shapeinf.edit.rebatch.search import Rewrite

__all__ = ["Rebatched", "Rewrite", "rebatch"]
