"""Failed runs: which node of a graph an error text of a runtime names, and which condition on sizes failed there."""

from shapeinf.failures.diagnosis import explain_failure
from shapeinf.failures.report import (
    FailedCondition,
    FailureReport,
    LikelyTensor,
    NearestSize,
    NodeMatch,
    Verdict,
)

__all__ = [
    "FailedCondition",
    "FailureReport",
    "LikelyTensor",
    "NearestSize",
    "NodeMatch",
    "Verdict",
    "explain_failure",
]
