"""The NNEF dialect: OpDefs from our text of the standard operations, rules from the family files beside this one."""

from __future__ import annotations

from shapeinf.ops import Dialect

nnef = Dialect("nnef")
