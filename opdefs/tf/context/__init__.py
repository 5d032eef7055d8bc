"""The vocabulary of TensorFlow's shape functions, on top of `InferenceContext`; see docs/tensorflow-api.md."""

from opdefs.tf.context.context import INVALID, HandleData, TensorFlowContext

__all__ = ["INVALID", "HandleData", "TensorFlowContext"]
