"""What the reader keeps of a file for the writer."""

from __future__ import annotations

import attrs

from shapeinf.formats.tf.sniffing import MessageKind


@attrs.frozen
class TensorFlowModel:
    """A message that a graph was read from.

    Args:
        kind: the message.
        graph: where its GraphDef is, in binary form.
        data: a message that lies in no file of its own; None for the file `Graph.source`.
    """

    kind: MessageKind
    graph: tuple[int, int]
    data: bytes | None = None
