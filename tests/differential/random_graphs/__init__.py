"""Random graphs, run in onnxruntime at random sizes and compared with what we infer."""
