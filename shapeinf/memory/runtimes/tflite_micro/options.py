"""The options of an interpreter of TensorFlow Lite Micro."""

from __future__ import annotations

import attrs


@attrs.frozen
class TfliteMicroOptions:
    """There are none."""
