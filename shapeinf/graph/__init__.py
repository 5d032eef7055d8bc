"""The graph that every format becomes, its networkx views and its checks."""

from shapeinf.graph.checks import components, topological_order, validate
from shapeinf.graph.model import Declared, Graph, Node

__all__ = ["Declared", "Graph", "Node", "components", "topological_order", "validate"]
