"""Guards of exported programs: which of them the operators need, with sizes that show which they do not need."""

from shapeinf.guards.report import GuardReport, GuardVerdict, MissingGuard, examine_guards

__all__ = ["GuardReport", "GuardVerdict", "MissingGuard", "examine_guards"]
