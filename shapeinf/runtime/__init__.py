"""What we say of a model against a run of it in a real runtime."""

from shapeinf.runtime.records import Mismatch, Run, Skipped, Verification
from shapeinf.runtime.verification import verify

__all__ = ["Mismatch", "Run", "Skipped", "Verification", "verify"]
