"""Files that deployments read, written from the inferred model: profiles of TensorRT, serving configs of Triton."""

from shapeinf.deployment.profiles import DimSizes, MadeProfile, make_profile
from shapeinf.deployment.serving import MadeConfig, make_serving_config

__all__ = ["DimSizes", "MadeConfig", "MadeProfile", "make_profile", "make_serving_config"]
