"""The NNEF dialect: OpDefs from the declarations in `*.nnef`, rules from the modules of this package."""

from __future__ import annotations

from opdefs.nnef.library import library
from opdefs.nnef.schemas import schema
from shapeinf.ops import Dialect, RuleIndex

nnef = Dialect(
    "nnef",
    schema,
    versioned=False,
    costs=["opdefs.nnef.costs"],
    axes=["opdefs.nnef.axes"],
    rule_index=RuleIndex("opdefs.nnef"),
)
nnef.declarations = library
