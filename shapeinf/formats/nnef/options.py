"""The options for reading an NNEF document."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, get_args

import attrs

from shapeinf.errors import UnknownNameError
from shapeinf.formats.nnef.versions import DialectName
from shapeinf.formats.registry import FormatOptions, command_line

Expand = Collection[str] | Literal["all"]

DIALECTS: tuple[DialectName, ...] = get_args(DialectName)


def _operations(names: Expand) -> Expand:
    if isinstance(names, str):
        return "all" if names == "all" else (names,)
    return "all" if "all" in names else tuple(names)


@attrs.frozen
class NnefOptions(FormatOptions):
    """How an NNEF document is read.

    Args:
        dialect: "provisional", "final" or "tract"; None detects it in the text.
        expand: standard compound operations to replace by their bodies, or "all"; otherwise their own rules apply.

    Raises:
        UnknownNameError: an unknown dialect.
    """

    dialect: DialectName | None = attrs.field(
        default=None,
        metadata=command_line("The dialect of an NNEF document; detected in its text by default.", choices=DIALECTS),
    )
    expand: Expand = attrs.field(
        default=(),
        converter=_operations,
        metadata=command_line(
            "A compound operation of NNEF to replace by its body, or `all`. Repeatable.",
            metavar="OPERATION",
            repeated=True,
        ),
    )

    def __attrs_post_init__(self) -> None:
        """Check the dialect."""
        if self.dialect is not None and self.dialect not in DIALECTS:
            raise UnknownNameError("dialect of NNEF", self.dialect, DIALECTS)
