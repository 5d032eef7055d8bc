"""Guards of exported programs: which of them the operators need, with sizes that show which they do not need."""

from shapeinf.guards.api import examine_guards
from shapeinf.guards.report import GuardInModel, GuardReport, GuardVerdict, MissingGuard, OtherModel

__all__ = ["GuardInModel", "GuardReport", "GuardVerdict", "MissingGuard", "OtherModel", "examine_guards"]
