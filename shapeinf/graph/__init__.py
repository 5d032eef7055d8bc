"""The graph that every format becomes, its networkx views and its checks."""

from shapeinf.graph.checks import components, topological_order, validate
from shapeinf.graph.model import Declared, FunctionKey, Graph, Node, NodeKind, bound, subgraphs

__all__ = [
    "Declared",
    "FunctionKey",
    "Graph",
    "Node",
    "NodeKind",
    "bound",
    "components",
    "subgraphs",
    "topological_order",
    "validate",
]
