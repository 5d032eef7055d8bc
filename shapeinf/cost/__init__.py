"""The cost of a model, symbolically: multiply-accumulates, operations, parameters and bytes moved, by node."""

from shapeinf.cost.cost import Cost, CostAt
from shapeinf.cost.pickled import PickledCost
from shapeinf.cost.records import Amounts, Branches, CostGroup, CostTable, NodeCost, Uncounted

__all__ = ["Amounts", "Branches", "Cost", "CostAt", "CostGroup", "CostTable", "NodeCost", "PickledCost", "Uncounted"]
