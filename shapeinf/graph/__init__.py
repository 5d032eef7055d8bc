"""The graph of all formats, its order and well-formedness, its networkx views."""

from shapeinf.graph.model import (
    Graph,
    bind_attributes,
    function_references,
    has_bodies,
    refers_to_attributes,
    subgraphs,
)
from shapeinf.graph.modules import module_path
from shapeinf.graph.node import (
    DeclaredType,
    FunctionKey,
    FunctionReference,
    InputContents,
    InputReference,
    Node,
    NodeKind,
)
from shapeinf.graph.rows import MISSING, UNUSED, Row, RowKey, kind_of, row_key
from shapeinf.graph.table import NodeTable, count_kinds, kinds_of
from shapeinf.graph.topology import components, components_of, sort_rows, topological_order, validate

__all__ = [
    "MISSING",
    "UNUSED",
    "DeclaredType",
    "FunctionKey",
    "FunctionReference",
    "Graph",
    "InputContents",
    "InputReference",
    "Node",
    "NodeKind",
    "NodeTable",
    "Row",
    "RowKey",
    "bind_attributes",
    "components",
    "components_of",
    "count_kinds",
    "function_references",
    "has_bodies",
    "kind_of",
    "kinds_of",
    "module_path",
    "refers_to_attributes",
    "row_key",
    "sort_rows",
    "subgraphs",
    "topological_order",
    "validate",
]
