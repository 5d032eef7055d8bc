"""Files that deployments read, written from the inferred model: profiles of TensorRT, serving configs of Triton."""

from shapeinf.deployment.profiles import CheckedProfile, DimSizes, make_profile
from shapeinf.deployment.serving import CheckedConfig, make_serving_config

__all__ = ["CheckedConfig", "CheckedProfile", "DimSizes", "make_profile", "make_serving_config"]
