"""Drop-in modules: shape inference behind the names, signatures and types of other tools."""

from shapeinf.compat.patching import patched

__all__ = ["patched"]
