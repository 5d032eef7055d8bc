"""`rebatch`: a fixed axis of the inputs of a model becomes dynamic."""

from shapeinf.edit.rebatch.api import Rebatched, rebatch
from shapeinf.edit.rebatch.search import Rewrite

__all__ = ["Rebatched", "Rewrite", "rebatch"]
