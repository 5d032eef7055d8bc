"""Which declaration an invocation means, and whether its body is evaluated."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Literal

from shapeinf.formats.nnef.evaluation.forms import Form
from shapeinf.formats.nnef.evaluation.runtime import invoked
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
        self._replaced: dict[str, bool] = {}
        self._forms: dict[tuple[str | None, ...], Form] = {}

    def find(self, name: str) -> Fragment | None:
        """The declaration of a name; the document's own comes first."""
        return self.own.get(name) or self.library.get(name)

    def fragment(self, call: Invocation) -> Fragment:
        """The declaration that an invocation means. Raises BadValue when there is none."""
        found = self.find(call.name)
        if found is None:
            raise BadValue(f"the operation {call.name} is not declared", code="N401")
        return found

    def arguments(self, call: Invocation) -> tuple[Argument, ...]:
        """The arguments, in tract's dialect without those of other names than the declaration has: it looks at none."""
        fragment = self.find(call.name)
        if self._strict or fragment is None:
            return call.arguments
        return tuple([one for one in call.arguments if one.name is None or fragment.parameter(one.name) is not None])

    def form(self, fragment: Fragment, arguments: Sequence[Argument]) -> Form:
        """Where the arguments of an invocation go."""
        key = (fragment.name, *[argument.name for argument in arguments])
        found = self._forms.get(key)
        if found is None:
            found = self._forms[key] = Form.of(fragment, key[1:])
        return found

    def replaced(self, fragment: Fragment) -> bool:
        """Whether the body of a fragment is evaluated: its own ones, those asked for, and those with variables."""
        name = fragment.name
        found = self._replaced.get(name)
        if found is None:
            asked = self._all or name in self._expand
            found = fragment.body is not None and (name in self.own or asked or self._declares(fragment))
            self._replaced[name] = found
        return found

    def _declares(self, fragment: Fragment) -> bool:
        """Whether a body of the library, or one that it invokes, makes variables."""
        seen: set[str] = set()
        pending: list[Fragment | None] = [fragment]
        while pending:
            one = pending.pop()
            if one is None or one.name in seen:
                continue
            seen.add(one.name)
            calls = set(invoked(one))
            if calls & _DECLARING:
                return True
            pending += [self.library.get(call) for call in calls]
        return False
