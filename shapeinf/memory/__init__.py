"""The memory that a model needs: lifetimes, a symbolic peak, plans, and their proof."""

from shapeinf.memory.memory import Memory
from shapeinf.memory.pickled import PickledMemory
from shapeinf.memory.sizes import Size, size_of, size_of_tensor
from shapeinf.memory.timeline import Buffer, ProgramPoint, Role, Timeline

__all__ = [
    "Buffer",
    "Memory",
    "PickledMemory",
    "ProgramPoint",
    "Role",
    "Size",
    "Timeline",
    "size_of",
    "size_of_tensor",
]
