"""The graph that every format becomes, its networkx views and its checks."""

from shapeinf.graph.checks import components, topological_order, validate
from shapeinf.graph.model import ContentsOf, Declared, FunctionKey, Graph, Node, NodeKind, bound, subgraphs
from shapeinf.graph.table import MISSING, UNUSED, NodeTable, Row, RowKey, kind_of, row_key

__all__ = [
    "MISSING",
    "UNUSED",
    "ContentsOf",
    "Declared",
    "FunctionKey",
    "Graph",
    "Node",
    "NodeKind",
    "NodeTable",
    "Row",
    "RowKey",
    "bound",
    "components",
    "kind_of",
    "row_key",
    "subgraphs",
    "topological_order",
    "validate",
]
