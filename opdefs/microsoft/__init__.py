"""Operators of `com.microsoft` and `com.microsoft.nchwc`, in the ONNX dialect."""
