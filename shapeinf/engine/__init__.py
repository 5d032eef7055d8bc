"""Propagation of types through a compiled graph to a fixpoint; `session` makes every inference."""
