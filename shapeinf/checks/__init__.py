"""Checks of a model: the declarations of its file, or a deployment, against what its graph computes."""

from shapeinf.checks import (
    axes,
    declarations,
    dim_names,
    files,
    guards,
    operators,
    requested_ranges,
    sizes,
    stored_contract,
)
from shapeinf.checks.api import check
from shapeinf.checks.baseline import Baseline, KnownDiagnostic, read_baseline
from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.config import CheckConfig, find_project_file, load_check_config, read_check_config
from shapeinf.checks.many import CheckReport, DeploymentCheck, ModelCheck, ModelChecker, check_files
from shapeinf.checks.profile import check_profile
from shapeinf.checks.profile_files import PROFILE_FORMS, Profile, ProfileForm, parse_shapes, profile_text, read_profiles
from shapeinf.checks.registry import CHECKS, Check
from shapeinf.checks.requested_sizes import check_sizes
from shapeinf.checks.resize import check_resize
from shapeinf.checks.run_time_sizes import check_run_time_sizes
from shapeinf.checks.selection import Selection, check_selectors
from shapeinf.checks.serving import ServingConfig, check_serving, read_serving_config
from shapeinf.formats.model_paths import ModelPaths, find_models

_CHECK_MODULES = (
    axes,
    declarations,
    dim_names,
    files,
    guards,
    operators,
    requested_ranges,
    sizes,
    stored_contract,
)
"""The modules whose import registers the checks."""

__all__ = [
    "CHECKS",
    "PROFILE_FORMS",
    "Baseline",
    "Check",
    "CheckConfig",
    "CheckReport",
    "CheckedModel",
    "DeploymentCheck",
    "KnownDiagnostic",
    "ModelCheck",
    "ModelChecker",
    "ModelPaths",
    "Profile",
    "ProfileForm",
    "Selection",
    "ServingConfig",
    "check",
    "check_files",
    "check_profile",
    "check_resize",
    "check_run_time_sizes",
    "check_selectors",
    "check_serving",
    "check_sizes",
    "find_models",
    "find_project_file",
    "load_check_config",
    "parse_shapes",
    "profile_text",
    "read_baseline",
    "read_check_config",
    "read_profiles",
    "read_serving_config",
]
