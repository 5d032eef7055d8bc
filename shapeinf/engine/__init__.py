"""Propagation of types through a compiled graph to a fixpoint; `session` creates every inference of a model."""
