"""The arena of ExecuTorch: docs/runtime-memory.md describes what it is planned from."""
