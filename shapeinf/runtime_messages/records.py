"""`RuntimeMessage`: what the error text of a runtime states."""

from __future__ import annotations

from typing import Literal

import attrs

MessageKind = Literal["node", "input", "guard", "memory", "type", "unsupported", "file", "usage"]
"""What a text is about.

- `node`: a node that fails, mostly because of sizes.
- `input`: an input whose shape differs from the declared one.
- `guard`: a condition on sizes that an exported program checks.
- `memory`: an allocation that fails.
- `type`: an element type that an input or an operator does not have.
- `unsupported`: an operator or version that the runtime does not have.
- `file`: a file that is missing or cannot be read.
- `usage`: an input that is missing or has another name.
"""

PrintedShape = tuple[int | None, ...]
"""The sizes of an operand as a text prints them; None for a size that is not a number."""


@attrs.frozen
class InputMismatch:
    """A size of an input that differs from the declared one.

    Args:
        input: the name of the input, or its position as a number.
        axis: the axis; None where the rank differs.
        got: the size of the run, or its rank.
        expected: the declared size or rank; None where the text does not state it.
    """

    input: str
    axis: int | None
    got: int
    expected: int | None


@attrs.frozen
class RuntimeMessage:
    """An error text of a runtime.

    Args:
        runtime: the runtime that wrote it.
        kind: what it is about.
        text: the text from its first word that states something.
        operators: the operators that it may be about as files name them, those of the innermost node first.
        names: the names of the node, those of the innermost node first; a runtime may have changed them.
        operands: the names of operands of the node, or of the nodes that compute these.
        number: the number of the node in the file; None where the text does not state it.
        shapes: the shapes of operands, in their order.
        pair: two sizes of operands that differ, in no order; None where the text does not state them.
        inputs: the inputs whose shapes differ from the declared ones.
        input_shapes: the entire shapes of inputs, by the name or the position of each.
        guard: the text of a guard that failed.
        locations: positions in source texts, such as `model.py:12`, the innermost first.
        requested: the bytes that an allocation requests; None where the text does not state them.
    """

    runtime: str
    kind: MessageKind
    text: str
    operators: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    number: int | None = None
    shapes: tuple[PrintedShape, ...] = ()
    pair: tuple[int, int] | None = None
    inputs: tuple[InputMismatch, ...] = ()
    input_shapes: tuple[tuple[str, PrintedShape], ...] = ()
    guard: str = ""
    locations: tuple[str, ...] = ()
    requested: int | None = None
