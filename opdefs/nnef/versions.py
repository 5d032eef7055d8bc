"""The dialects of documents as versions of the operators; their numbers are the reader's."""

from shapeinf.formats.nnef.versions import FINAL, PROVISIONAL, TRACT, VERSIONS

__all__ = ["FINAL", "PROVISIONAL", "TRACT", "VERSIONS"]
