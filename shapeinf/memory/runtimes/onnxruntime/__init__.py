"""The memory of onnxruntime on processors: docs/runtime-memory.md describes what is counted."""
