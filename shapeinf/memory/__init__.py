"""What a model needs of memory: lifetimes, a symbolic peak, plans, and their proof."""

from shapeinf.memory.memory import Memory
from shapeinf.memory.sizes import Size, element_bits, size_of, size_of_tensor, sum_of
from shapeinf.memory.timeline import Buffer, Moment, Role, Timeline

__all__ = [
    "Buffer",
    "Memory",
    "Moment",
    "Role",
    "Size",
    "Timeline",
    "element_bits",
    "size_of",
    "size_of_tensor",
    "sum_of",
]
