"""What a model needs of memory: lifetimes, a symbolic peak, plans, and their proof."""

from shapeinf.memory.sizes import Size, element_bits, size_of, size_of_tensor, sum_of
from shapeinf.memory.timeline import Buffer, Moment, Role, Timeline

__all__ = ["Buffer", "Moment", "Role", "Size", "Timeline", "element_bits", "size_of", "size_of_tensor", "sum_of"]
