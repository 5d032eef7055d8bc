"""A finished inference, run again for other input shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shapeinf.engine.declarations import declare
from shapeinf.engine.inference import Inference, execute
from shapeinf.engine.session import Made
from shapeinf.inputs.options import Progress
from shapeinf.inputs.reader import InputReader, SpecLike
from shapeinf.lattice import ShapeStore


def updated(old: Made, given: Mapping[str, SpecLike]) -> Made:
    """The inference for other input shapes; see `Result.update`. The old one must not be used any more.

    It is what a new one from all that was ever said comes to; only what depends on the changed inputs runs again where
    neither nodes nor these shapes have told the facts anything.
    """
    inference, reader, notes, setup = old
    setup = setup.updated(given)
    if inference.learned or reader.lowered or not reader.telling.isdisjoint(given):
        return setup.run()
    store, program = inference.store, inference.compiled
    version = store.version
    types = {name: setup.type_of(name, reader) for name in given}
    if store.version != version or reader.lowered:
        return setup.run()
    inference.visited = 0
    before = list(inference.numbers)
    for name, found in types.items():
        inference.set(name, found)
    inference.infer_smaller = setup.again
    slots = [program.slots[name] for name in types]
    inference.update([slot for slot in slots if inference.numbers[slot] != before[slot]])
    return Made(inference, reader, notes, setup)


def rerun(
    inference: Inference,
    store: ShapeStore,
    prepare: Callable[[Inference], None] | None = None,
    progress: Progress | None = None,
) -> Inference:
    """A full run of the same program on the same inputs, from other facts about them; the old one stays as it is.

    `prepare` may change the new inference before any node has spoken.
    """
    fresh = Inference(inference.compiled, store, False, progress, inner=inference.inner)
    slots, types, numbers = inference.compiled.slots, inference.table.types, inference.numbers
    for name in inference.compiled.graph.constants:
        fresh.set(name, types[numbers[slots[name]]])
    for name, asked in inference.input_types.items():
        fresh.set(name, asked)
    declare(fresh, InputReader(store), "ignore" if inference.declaring == "ignore" else "check")
    if prepare is not None:
        prepare(fresh)
    fresh.save_initial_store()
    execute(fresh)
    return fresh
