"""Inference compared with a run of the model in a runtime; outputs of a session allocated before its run."""

from shapeinf.runtime.memory_records import MemoryRun, MemoryVerification
from shapeinf.runtime.memory_verification import verify_memory
from shapeinf.runtime.preallocation import AllocatedOutputs, allocate_outputs
from shapeinf.runtime.protocol import RUNTIMES
from shapeinf.runtime.records import Mismatch, Run, Skipped, Verification
from shapeinf.runtime.verification import verify

__all__ = [
    "RUNTIMES",
    "AllocatedOutputs",
    "MemoryRun",
    "MemoryVerification",
    "Mismatch",
    "Run",
    "Skipped",
    "Verification",
    "allocate_outputs",
    "verify",
    "verify_memory",
]
