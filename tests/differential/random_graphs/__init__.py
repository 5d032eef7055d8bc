"""Random graphs, run in onnxruntime at random sizes and compared with inferred shapes."""
