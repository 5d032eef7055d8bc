"""NNEF documents: the provisional dialect of 2017, 1.0 to 1.0.5, and tract's."""

from shapeinf.formats.nnef import codes

__all__ = ["codes"]
