"""The names of dims that users may refer to, and why a name is not one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

import attrs

from shapeinf.errors import UnknownNameError
from shapeinf.expr import Dimension, Scope, axis_label, quote_name
from shapeinf.inputs.spec import unquote_name

_NUMBERED_AXIS = re.compile(r"(.+)\.(?:shape\.)?(\d+)")


@attrs.frozen
class DimNames:
    """The names of the dims of one inference before any node has run.

    Args:
        scope: the owner of the symbols.
        input_symbols: returns the symbols in shapes and values of inputs.
        replaced: the names that only replaced shapes of inputs have, each with its input.
        declared_names: returns the names of dims that the file declares anywhere.
    """

    scope: Scope
    input_symbols: Callable[[], Collection[Dimension]]
    replaced: Mapping[str, str] = attrs.Factory(dict)
    declared_names: Callable[[], Collection[str]] = tuple

    def find(self, name: str) -> str | None:
        """The name of a symbol of the inputs or declarations; None for any other name, as of a size of a node.

        `name` may be quoted. Raises UnknownNameError for a name that only a replaced shape has.
        """
        for text in dict.fromkeys((name, unquote_name(name))):
            if text in self.replaced:
                raise self.unknown_name(text)
            if self.scope.has(text):
                return text
            if text in self.declared_names():
                self.scope.symbol(text, 0)
                return text
        return None

    def unknown_name(self, name: str, others: Iterable[str] = ()) -> UnknownNameError:
        """The error for a name that no dim has; `others` are names of dims besides those of inputs."""
        return unknown_dim(name, [*map(str, self.input_symbols()), *others], self.replaced)


def first_aliases(aliases: Mapping[str, str]) -> dict[str, str]:
    """For each value its first alias; `aliases` has the value of each alias.

    >>> first_aliases({"image": "x:0", "picture": "x:0"})
    {'x:0': 'image'}
    """
    return {value: alias for alias, value in reversed(list(aliases.items()))}


def unknown_dim(name: str, names: Iterable[str], replaced: Mapping[str, str] | None = None) -> UnknownNameError:
    """The error for a name that no dim has, with the names of the existing ones, and the reason where that is known.

    >>> str(unknown_dim("batch", ["seq"], {"batch": "ids"}))
    "no dim is named 'batch': the shape of input ids no longer has it; available: 'seq'"
    >>> str(unknown_dim("ids.0", ["ids.shape[0]"]))
    "no dim is named 'ids.0'; an axis without a name is written 'ids.shape[0]'"
    """
    choices = list(names)
    numbered = _NUMBERED_AXIS.fullmatch(name)
    label = "" if numbered is None else quote_name(axis_label(numbered[1], int(numbered[2][:9])))
    if label in choices:
        return UnknownNameError("dim", name, [label], hint=f"an axis without a name is written {label!r}")
    source = (replaced or {}).get(name)
    reason = "" if source is None else f"the shape of input {source} no longer has it"
    return UnknownNameError("dim", name, choices, reason=reason)
