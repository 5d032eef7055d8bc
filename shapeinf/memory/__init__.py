"""What a model needs of memory: lifetimes, a symbolic peak, plans, and their proof."""

from shapeinf.memory.timeline import Buffer, Moment, Role, Timeline

__all__ = ["Buffer", "Moment", "Role", "Timeline"]
