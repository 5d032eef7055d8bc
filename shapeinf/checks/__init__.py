"""Checks of a model: the declarations of its file, or a deployment, against what its graph computes."""

from shapeinf.checks import axes, declarations, dim_names, sizes
from shapeinf.checks.api import check
from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.profile import Profile, check_profile, parse_shapes, read_profiles
from shapeinf.checks.registry import CHECKS, Check
from shapeinf.checks.serving import ServingConfig, check_serving, read_serving_config

_CHECK_MODULES = (axes, declarations, dim_names, sizes)
"""The modules whose import registers the checks."""

__all__ = [
    "CHECKS",
    "Check",
    "CheckedModel",
    "Profile",
    "ServingConfig",
    "check",
    "check_profile",
    "check_serving",
    "parse_shapes",
    "read_profiles",
    "read_serving_config",
]
