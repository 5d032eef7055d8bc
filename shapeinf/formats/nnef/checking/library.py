"""The operations that a document may invoke: standard ones and those of the document."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

import attrs

from shapeinf.formats.nnef.checking.casting import has_attribute, is_generic
from shapeinf.formats.nnef.language.ast import Fragment, Parameter
from shapeinf.formats.nnef.language.types import SCALAR, ArrayOf, NnefType, TensorOf, TupleOf


@attrs.frozen
class Signature:
    """The parts of a declaration that the check of an invocation needs.

    Args:
        fragment: the declaration.
        parameters: its parameters by name.
        tensors: the number of leading parameters that are tensors, or arrays or tuples of them.
        required: names of the parameters without default.
        result: the type of the result, a tuple where there are several.
        generic_names: the parameters whose types contain `?`.
    """

    fragment: Fragment
    parameters: dict[str, Parameter]
    tensors: int
    required: frozenset[str]
    result: NnefType
    generic_names: tuple[str, ...]

    @classmethod
    def from_fragment(cls, fragment: Fragment) -> Signature:
        """The signature of a declaration."""
        kinds = [has_attribute(parameter.type) for parameter in fragment.parameters]
        results = tuple(result.type for result in fragment.results)
        return cls(
            fragment,
            {parameter.name: parameter for parameter in fragment.parameters},
            (*kinds, True).index(True),
            frozenset(parameter.name for parameter in fragment.parameters if parameter.default is None),
            results[0] if len(results) == 1 else TupleOf(results),
            tuple(parameter.name for parameter in fragment.parameters if is_generic(parameter.type)),
        )


def with_open_element_types(fragment: Fragment) -> Fragment:
    """A fragment of the provisional dialect, in which `tensor` is a tensor of any element type."""
    parameters = [attrs.evolve(parameter, type=_open(parameter.type)) for parameter in fragment.parameters]
    results = [attrs.evolve(result, type=_open(result.type)) for result in fragment.results]
    return attrs.evolve(fragment, parameters=tuple(parameters), results=tuple(results))


def _open(of: NnefType) -> NnefType:
    if isinstance(of, ArrayOf):
        return of if of.of is None else ArrayOf(_open(of.of))
    if isinstance(of, TupleOf):
        return TupleOf(tuple(map(_open, of.items)))
    return TensorOf(None) if of == TensorOf(SCALAR) else of


class Library(Mapping[str, Fragment]):
    """Operations by name; of two with the same name the last one counts."""

    def __init__(
        self, fragments: Iterable[Fragment], base: Library | None = None, *, replaceable: Container[str] = ()
    ) -> None:
        """A library.

        Args:
            fragments: its operations.
            base: a library that has all further operations.
            replaceable: names of operations that documents may redefine.
        """
        self.replaceable = replaceable
        self._own = {fragment.name: fragment for fragment in fragments}
        self._base = base
        self._signatures: dict[str, Signature] = {}

    def __getitem__(self, name: str) -> Fragment:
        """The declaration of an operation."""
        if name in self._own or self._base is None:
            return self._own[name]
        return self._base[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is an operation of this name."""
        return name in self._own or (self._base is not None and name in self._base)

    def __iter__(self) -> Iterator[str]:
        """All names, those of the standard first."""
        if self._base is not None:
            yield from (name for name in self._base if name not in self._own)
        yield from self._own

    def __len__(self) -> int:
        """The number of operations."""
        return sum(1 for _ in self)

    def with_fragments(self, fragments: Iterable[Fragment]) -> Library:
        """A library with further operations, such as those of a document, which take precedence."""
        return Library(fragments, self)

    def signature(self, name: str) -> Signature:
        """The signature of an operation, computed once."""
        signature = self._signatures.get(name)
        if signature is None:
            own = name in self._own or self._base is None
            signature = Signature.from_fragment(self._own[name]) if own else self._base.signature(name)  # type: ignore[union-attr]
            self._signatures[name] = signature
        return signature
