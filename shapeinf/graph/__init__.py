"""The graph that every format becomes, its networkx views and its checks."""

from shapeinf.graph.checks import components, topological_order, validate
from shapeinf.graph.model import (
    DeclaredType,
    FunctionKey,
    Graph,
    InputContents,
    Node,
    NodeKind,
    Remark,
    bind_attributes,
    subgraphs,
)
from shapeinf.graph.table import MISSING, UNUSED, NodeTable, Row, RowKey, kind_of, row_key

__all__ = [
    "MISSING",
    "UNUSED",
    "DeclaredType",
    "FunctionKey",
    "Graph",
    "InputContents",
    "Node",
    "NodeKind",
    "NodeTable",
    "Remark",
    "Row",
    "RowKey",
    "bind_attributes",
    "components",
    "kind_of",
    "row_key",
    "subgraphs",
    "topological_order",
    "validate",
]
