"""Findings about a model: what its file declares, or a deployment asks, against what its graph does."""

from shapeinf.checks import declared, forced, names, split, unbounded, volumes
from shapeinf.checks.api import check
from shapeinf.checks.finding import Finding
from shapeinf.checks.registry import KINDS, Kind, title_of
from shapeinf.checks.subject import Subject

_LOOKS = (forced, declared, split, names, volumes, unbounded)
"""The modules whose import registers what they look for."""

__all__ = ["KINDS", "Finding", "Kind", "Subject", "check", "title_of"]
