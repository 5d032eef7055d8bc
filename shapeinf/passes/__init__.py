"""Clean-up passes over ONNX models, each with a proof that the model stays the same."""
