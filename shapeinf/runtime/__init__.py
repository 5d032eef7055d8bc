"""Inference compared with a run of the model in a runtime."""

from shapeinf.runtime.protocol import RUNTIMES
from shapeinf.runtime.records import Mismatch, Run, Skipped, Verification
from shapeinf.runtime.verification import verify

__all__ = ["RUNTIMES", "Mismatch", "Run", "Skipped", "Verification", "verify"]
