"""Files that deployments read, written from the inferred model: profiles of TensorRT, serving configs of Triton."""

from shapeinf.deployment.profiles import DimSizes, MadeProfile, make_profile

__all__ = ["DimSizes", "MadeProfile", "make_profile"]
