"""Guards of exported programs: which of them the operators need, with sizes that show which they do not need."""

from shapeinf.guards.examination import examine_guards
from shapeinf.guards.report import GuardReport, GuardVerdict, MissingGuard

__all__ = ["GuardReport", "GuardVerdict", "MissingGuard", "examine_guards"]
