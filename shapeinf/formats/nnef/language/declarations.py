"""Parses declarations: types, parameters and results of fragments.

Source: NNEF 1.0.5, 3.2.2 and 3.2.3; the provisional dialect writes `tensor` for `tensor<scalar>` and `extent` for
`integer`.
"""

from __future__ import annotations

from shapeinf.formats.nnef.language.ast import Fragment, FragmentResult, Parameter
from shapeinf.formats.nnef.language.expressions import ExpressionParser
from shapeinf.formats.nnef.language.types import SCALAR, ArrayOf, NnefType, Primitive, PrimitiveName, TensorOf, TupleOf

_COMMON: dict[str, PrimitiveName] = {"scalar": "scalar", "logical": "logical", "string": "string"}
_PRIMITIVES: dict[str, dict[str, PrimitiveName]] = {
    "provisional": {**_COMMON, "extent": "integer"},
    "final": {**_COMMON, "integer": "integer", "?": "?"},
    "tract": {**_COMMON, "integer": "integer", "?": "?"},
}


class DeclarationParser(ExpressionParser):
    """A cursor that reads declarations of fragments."""

    def signature(self) -> Fragment:
        """`fragment name<? = default>(parameters) -> (results)`, without its body."""
        at = self.at
        self.expect("fragment", "to declare a fragment")
        name = self.identifier("the name of a fragment")
        generic, default = self._generic() if self.accept("<") else (False, None)
        self.expect("(", f"after the name of fragment {name!r}")
        if self.dialect == "tract" and self.accept(")"):
            parameters: tuple[Parameter, ...] = ()
        else:
            parameters = self.list_of(self._parameter, ")", "a parameter")
        self.expect("->", f"after the parameters of fragment {name!r}")
        self.expect("(", f"before the results of fragment {name!r}")
        results = self.list_of(self._result, ")", "a result")
        return Fragment(at, name, parameters, results, None, generic, default)

    def _generic(self) -> tuple[bool, Primitive | None]:
        self.expect("?", "after '<': only '?' can be a type parameter")
        default = None
        if self.accept("="):
            default = self._primitive("the default of the type parameter")
            if default.name == "?":
                self.next -= 1
                self.fail("the default of the type parameter is '?' itself")
        self.expect(">", "after the type parameter")
        return True, default

    def _parameter(self) -> Parameter:
        at = self.at
        name = self.identifier("the name of a parameter")
        self.expect(":", f"and a type after parameter {name!r}")
        of = self._type()
        default = self.expression() if self.accept("=") else None
        return Parameter(at, name, of, default)

    def _result(self) -> FragmentResult:
        at = self.at
        name = self.identifier("the name of a result")
        self.expect(":", f"and a type after result {name!r}")
        return FragmentResult(at, name, self._type())

    def _type(self) -> NnefType:
        if self.tokens[self.next] == "(":
            self._deeper()
            self.next += 1
            items = self.list_of(self._type, ")", "a type")
            if len(items) == 1:
                self.next -= 1
                self.fail("a tuple has at least two items")
            of: NnefType = TupleOf(items)
            self.depth -= 1
        elif self.accept("tensor"):
            of = self._tensor()
        else:
            of = self._primitive("a type")
        links = 0
        while self.accept("["):
            self.expect("]", "in an array type")
            self._deeper()
            links += 1
            of = ArrayOf(of)
        self.depth -= links
        return of

    def _tensor(self) -> TensorOf:
        if self.dialect == "provisional" and self.tokens[self.next] != "<":
            return TensorOf(SCALAR)
        if self.tokens[self.next] != "<":
            self.fail("expected '<' after 'tensor', such as tensor<scalar>", at=self.offsets[self.next])
        self.next += 1
        of = None if self.tokens[self.next] == ">" else self._primitive("the data-type of a tensor")
        self.expect(">", "after the data-type of a tensor")
        return TensorOf(of)

    def _primitive(self, expected: str) -> Primitive:
        token = self.tokens[self.next]
        name = _PRIMITIVES[self.dialect].get(token)
        if name is None:
            self.fail(f"expected {expected}, found {self.describe_token()}")
        self.next += 1
        return Primitive(name)
