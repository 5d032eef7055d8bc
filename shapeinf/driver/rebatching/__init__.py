"""A model with a fixed axis of its inputs, made dynamic."""

from shapeinf.driver.rebatching.api import Rebatched, RebatchError, rebatch
from shapeinf.driver.rebatching.search import Rewrite

__all__ = ["RebatchError", "Rebatched", "Rewrite", "rebatch"]
