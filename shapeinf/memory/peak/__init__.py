"""The symbolic peak: the most memory in use at once, as a maximum of polynomials in the dims."""

from shapeinf.memory.peak.answers import Largest, PeakAt, PeakBound, Region
from shapeinf.memory.peak.peak import Peak
from shapeinf.memory.peak.terms import PeakTerm, Unbounded

__all__ = ["Largest", "Peak", "PeakAt", "PeakBound", "PeakTerm", "Region", "Unbounded"]
