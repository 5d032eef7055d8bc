"""The contract of a graph: what its nodes demand of the sizes of its inputs, who does, and which sizes are legal."""

from shapeinf.contract.contract import Answer, Contract
from shapeinf.contract.preconditions import Kind, Precondition
from shapeinf.contract.sizes import LegalSizes

__all__ = ["Answer", "Contract", "Kind", "LegalSizes", "Precondition"]
