"""The contract of a graph: what its nodes require of the sizes of its inputs, and which sizes are legal."""

from shapeinf.contract.answer import Answer
from shapeinf.contract.contract import Contract
from shapeinf.contract.pickled import PickledContract
from shapeinf.contract.preconditions import Kind, Precondition
from shapeinf.contract.sizes import LegalSizes

__all__ = ["Answer", "Contract", "Kind", "LegalSizes", "PickledContract", "Precondition"]
