"""The memory of onnxruntime with its CPU provider: docs/runtime-memory.md describes what is counted."""
