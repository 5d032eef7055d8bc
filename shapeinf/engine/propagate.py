"""The run of all nodes of an inference: in order, cycles to their fixpoint, and nodes again that later ones help."""

from __future__ import annotations

from shapeinf.engine.inference import Inference


def run(inference: Inference) -> None:
    """Run all nodes in order; the nodes of a cycle until none of their outputs changes."""
    compiled = inference.compiled
    if compiled.groups is None:
        inference.run_straight()
        calls = inference.open_calls
        if calls and inference.certain and calls[0].changes != len(inference.store.changed_symbols):
            from shapeinf.engine.again import run_affected_again  # what later nodes infer rarely helps earlier ones

            run_affected_again(inference)
        return
    from shapeinf.engine.cycles import run_group, share_exit_types  # most graphs have no cycle

    for group in compiled.groups:
        run_group(inference, group)
    if compiled.conditional is not None:
        share_exit_types(inference, range(len(compiled.rows)))
