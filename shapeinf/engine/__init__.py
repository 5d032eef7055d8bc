"""Propagation of types through a compiled graph to a fixpoint; `session` creates every inference of a model.

In the order in which they are best read:

- `compiled`: a graph as flat *rows*. A value is a *slot* (a number), equal nodes share an `Operation`.
- `type_table`: the types of an inference as numbers, and their canonical forms under its constraints.
- `inference`: `Inference`, one run over the rows: calls of rules, their memo, errors. `cycles`: fixpoints.
- `again`: rows that run a second time, since later ones have inferred more of their inputs.
- `conditions`: which rows may not run, since they are behind a switch, and what holds where they do. `saved_store`: how
  their constraints are undone. `frames`: the values behind loops out of single nodes.
- `bodies`: the graphs inside nodes (branches, loops, functions), each an `Inference` of its own. `budget`: their work.
- `declarations`, `traced`: the declared types of node outputs, which complete or check the inferred ones.
- `session`: `Session`, a model with the options of a user: sets up, runs and updates its inference. `Engine`: the
  internals of a result.
- `input_symbols`, `tensor_info`, `body_tensors`, `diagnostics`: what results read from a finished inference.
- `garbage`: Python's garbage collector is paused during an inference.
"""
