"""Looks up the declarations of operations, and decides whose bodies are evaluated."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Literal

from shapeinf.formats.nnef.evaluation.forms import Form
from shapeinf.formats.nnef.evaluation.runtime import invoked_operations
from shapeinf.formats.nnef.evaluation.values import BadValue
from shapeinf.formats.nnef.language.ast import Argument, Document, Fragment, Invocation

_DECLARING = frozenset(["variable", "external", "update"])


class Lookup:
    """The operations that a document may use."""

    def __init__(
        self, document: Document, library: Mapping[str, Fragment], expand: Container[str] | Literal["all"]
    ) -> None:
        """See `evaluate`."""
        self.library = library
        self.own = {fragment.name: fragment for fragment in document.fragments}
        self._strict = document.dialect != "tract"
        self._all = expand == "all"
        self._expand: Container[str] = expand
        self._is_expanded: dict[str, bool] = {}
        self._forms: dict[tuple[str | None, ...], Form] = {}

    def find(self, name: str) -> Fragment | None:
        """The declaration of a name; the document's own comes first."""
        return self.own.get(name) or self.library.get(name)

    def fragment(self, call: Invocation) -> Fragment:
        """The declaration of an operation. Raises BadValue for an undeclared one."""
        fragment = self.find(call.name)
        if fragment is None:
            raise BadValue(f"the operation {call.name} is not declared", code="N401")
        return fragment

    def arguments(self, call: Invocation) -> tuple[Argument, ...]:
        """The arguments of an invocation; tract's dialect ignores those with unknown names."""
        fragment = self.find(call.name)
        if self._strict or fragment is None:
            return call.arguments
        return tuple(
            [
                argument
                for argument in call.arguments
                if argument.name is None or fragment.parameter(argument.name) is not None
            ]
        )

    def form(self, fragment: Fragment, arguments: Sequence[Argument]) -> Form:
        """The form of an invocation."""
        key = (fragment.name, *[argument.name for argument in arguments])
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = Form.from_call(fragment, key[1:])
        return form

    def is_expanded(self, fragment: Fragment) -> bool:
        """Whether the body of a fragment is evaluated: if it is of the document, requested, or creates variables."""
        name = fragment.name
        expanded = self._is_expanded.get(name)
        if expanded is None:
            requested = self._all or name in self._expand
            expanded = fragment.body is not None and (name in self.own or requested or self._declares(fragment))
            self._is_expanded[name] = expanded
        return expanded

    def _declares(self, fragment: Fragment) -> bool:
        """Whether the body of a fragment, or one that it invokes, creates variables."""
        seen: set[str] = set()
        pending: list[Fragment | None] = [fragment]
        while pending:
            current = pending.pop()
            if current is None or current.name in seen:
                continue
            seen.add(current.name)
            calls = set(invoked_operations(current))
            if calls & _DECLARING:
                return True
            pending += [self.library.get(call) for call in calls]
        return False
