"""Drop-in modules: shape inference behind the names, signatures and types of other tools."""

from shapeinf.packages import require_package

require_package("onnx", "shapeinf.compat")

from shapeinf.compat.patching import patched  # noqa: E402

__all__ = ["patched"]
