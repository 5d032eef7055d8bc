"""Findings about a model: what its file declares, or a deployment asks, against what its graph does."""

from shapeinf.checks import coupled, declared, forced, names, split, unbounded, volumes
from shapeinf.checks.api import check
from shapeinf.checks.profile import Profile, check_profile, parse_shapes, read_profiles
from shapeinf.checks.registry import CHECKS, Check
from shapeinf.checks.serving import ServingConfig, check_serving, read_serving_config
from shapeinf.checks.subject import CheckedModel

_LOOKS = (coupled, declared, forced, names, split, unbounded, volumes)
"""The modules whose import registers what they look for."""

__all__ = [
    "CHECKS",
    "Check",
    "Profile",
    "ServingConfig",
    "CheckedModel",
    "check",
    "check_profile",
    "check_serving",
    "parse_shapes",
    "read_profiles",
    "read_serving_config",
]
