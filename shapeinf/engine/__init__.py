"""Propagation of types through a compiled graph to a fixpoint; `session` is the one place where an inference is made."""
