"""Infers the types of invocations: matches arguments to parameters, and infers the type arguments of fragments.

Source: NNEF 1.0.5, 3.3.2 "Invocations". Whether an invocation is valid depends only on its operation and on
the names and types of its arguments, so each form of invocation is checked once.
"""

from __future__ import annotations

from shapeinf.formats.nnef.checking.casting import Casting, arguments_in, format_type, is_generic, with_argument
from shapeinf.formats.nnef.checking.expression_types import ExpressionTypes, MaybeType
from shapeinf.formats.nnef.checking.library import Library, Signature
from shapeinf.formats.nnef.checking.reporter import Reporter, suggestion
from shapeinf.formats.nnef.language.ast import Argument, Invocation, Name, Parameter, start_of
from shapeinf.formats.nnef.language.types import GENERIC, INTEGER, LOGICAL, SCALAR, STRING, NnefType, Primitive

GRAPH_ONLY = frozenset(["external", "variable", "update"])
"""Operations that are legal only in the graph, or in certain fragments."""

_CANDIDATES = (SCALAR, INTEGER, LOGICAL, STRING, GENERIC)
_UNSEEN = object()
_Passed = dict[str, tuple[Argument, MaybeType]]


class InvocationTypes(ExpressionTypes):
    """The types of expressions with invocations in them, in a body of a fragment or of the graph."""

    def __init__(
        self,
        library: Library,
        casting: Casting,
        reporter: Reporter,
        forms: dict[tuple[object, ...], MaybeType],
        *,
        fragment: str | None = None,
        generic: bool = False,
    ) -> None:
        """Start with an empty body: that of a fragment, or of the graph if `fragment` is None.

        Args:
            library: all operations, with those of the document.
            casting: the casts of its dialect.
            reporter: collects the errors.
            forms: the types of results by valid form of invocation; all bodies share them.
            fragment: the name of the fragment.
            generic: whether the fragment has a type argument `?`.
        """
        super().__init__(library, casting, reporter)
        self.fragment = fragment
        self.generic = generic
        self.forms = forms
        self.externals: set[int] = set()
        """Identities of the invocations of `external` in a legal context."""
        self.variables: set[str] = set()
        self._updated: set[str] = set()

    def invocation(self, invocation: Invocation) -> MaybeType:
        """The type of the result; a tuple where there are several results."""
        name = invocation.name
        arguments = invocation.arguments
        if self.dialect == "tract":
            return self._tract_invocation(invocation)
        if name in GRAPH_ONLY:
            self._check_context(invocation)
        shared = invocation.shared
        kinds = self._kinds
        form: list[object] = [name, invocation.type_argument, self.generic, id(shared)]
        own = arguments[: len(arguments) - len(shared)] if shared else arguments
        types = []
        for argument in own:
            value = argument.value
            of = kinds[value.__class__](value)
            form.append(argument.name)
            form.append(of)
            types.append(of)
        key = tuple(form)
        known = self.forms.get(key, _UNSEEN)
        if known is not _UNSEEN:
            return known  # type: ignore[return-value]
        if shared:
            self.reporter.shared_positions = True
        before = len(self.reporter.diagnostics)
        types.extend(self.type_of(argument.value) for argument in shared)
        result = self._result(invocation, types)
        if len(self.reporter.diagnostics) == before:
            self.forms[key] = result
        return result

    def _tract_invocation(self, invocation: Invocation) -> MaybeType:
        # tract ignores arguments with unknown names.
        if invocation.name in self.library:
            known = self.library.signature(invocation.name).parameters
            arguments = tuple(a for a in invocation.arguments if a.name is None or a.name in known)
            if len(arguments) < len(invocation.arguments):
                invocation = Invocation(invocation.at, invocation.name, invocation.type_argument, arguments)
        if invocation.shared:
            self.reporter.shared_positions = True
        outside = self.new_symbols
        self.new_symbols = outside or invocation.name.endswith("external")
        types = [self.type_of(argument.value) for argument in invocation.arguments]
        self.new_symbols = outside
        return self._result(invocation, types)

    def _result(self, invocation: Invocation, types: list[MaybeType]) -> MaybeType:
        if invocation.name not in self.library:
            hint = suggestion(invocation.name, self.library)
            self.reporter.error("N401", f"operation {invocation.name!r} is not declared{hint}", invocation.at)
            return None
        signature = self.library.signature(invocation.name)
        passed = self._match_arguments(invocation, signature, types)
        argument = self._type_argument(invocation, signature, passed)
        generic = signature.fragment.generic
        for name, (_, of) in passed.items():
            wanted = signature.parameters[name].type
            if generic and is_generic(wanted):
                if argument is None:
                    continue
                wanted = with_argument(wanted, argument)
            if self.casting.is_extent_for_scalar(of, wanted):
                message = f"parameter {name!r} of {invocation.name!r} is a scalar, this is an extent"
                self.reporter.warn("an extent does not stand for a scalar", message, start_of(passed[name][0].value))
            elif not self.casting.casts(of, wanted):
                self._report_misfit(signature, name, passed, wanted)
        if generic and argument is not None:
            self._check_defaults(invocation, signature, passed, argument)
            return with_argument(signature.result, argument)
        return None if generic and is_generic(signature.result) else signature.result

    def _match_arguments(self, invocation: Invocation, signature: Signature, types: list[MaybeType]) -> _Passed:
        """The arguments by the names of their parameters."""
        passed: _Passed = {}
        named = misplaced = False
        for position, (argument, of) in enumerate(zip(invocation.arguments, types, strict=True)):
            if argument.name is None:
                name = self._positional(invocation, signature, position, argument, after_named=named)
            else:
                named = True
                name = argument.name
                if name not in signature.parameters:
                    hint = suggestion(name, signature.parameters)
                    message = f"{invocation.name!r} has no parameter {name!r}{hint}"
                    self.reporter.error("N403", message, argument.at)
                    misplaced = True
                    continue
            if name is None:
                misplaced = True
            elif name in passed:
                misplaced = True
                message = f"parameter {name!r} of {invocation.name!r} is specified twice"
                self.reporter.error("N403", message, argument.at)
            else:
                passed[name] = argument, of
        missing = [name for name in signature.parameters if name in signature.required and name not in passed]
        # A misplaced argument may belong to the missing parameter.
        if missing and not misplaced:
            names = ", ".join(map(repr, missing))
            message = f"{invocation.name!r} needs {'arguments' if len(missing) > 1 else 'an argument'} for {names}"
            self.reporter.error("N403", message, self.reporter.end_of_invocation(invocation.at))
        return passed

    def _positional(
        self, invocation: Invocation, signature: Signature, position: int, argument: Argument, *, after_named: bool
    ) -> str | None:
        parameters = signature.fragment.parameters
        if after_named:
            problem = "arguments with names come after arguments without names"
        elif position >= len(parameters):
            count = len(parameters)
            problem = f"{invocation.name!r} has {count} parameter{'s' if count != 1 else ''} only"
        elif position >= signature.tensors and self.dialect != "tract":
            # The examples of the provisional specification and tract's exporters pass attributes by position.
            problem = f"{parameters[position].name!r} of {invocation.name!r} is not a tensor: pass it by name"
            if self.dialect == "provisional":
                self.reporter.warn("only tensors are passed by position", problem, start_of(argument.value))
                return parameters[position].name
        else:
            return parameters[position].name
        self.reporter.error("N403", problem, start_of(argument.value))
        return None

    def _type_argument(self, invocation: Invocation, signature: Signature, passed: _Passed) -> Primitive | None:
        """The type argument: explicit, else the default of the declaration, else inferred from the arguments."""
        explicit = invocation.type_argument
        fragment = signature.fragment
        if explicit is not None:
            if not fragment.generic:
                at = invocation.at + len(invocation.name)
                self.reporter.error("N404", f"{invocation.name!r} is not generic: it takes no type argument", at)
                return None
            if explicit == GENERIC and not self.generic:
                at = invocation.at + len(invocation.name)
                self.reporter.error("N404", "'?' is a type in the bodies of generic fragments only", at)
                return None
            return explicit
        if not fragment.generic or fragment.generic_default is not None:
            return fragment.generic_default
        return self._deduce_type_argument(invocation, signature, passed)

    def _deduce_type_argument(self, invocation: Invocation, signature: Signature, passed: _Passed) -> Primitive | None:
        candidates: dict[Primitive, None] = {}
        unknown = False
        for name in signature.generic_names:
            if name in passed:
                of = passed[name][1]
                unknown = unknown or of is None
                candidates.update(dict.fromkeys(arguments_in(signature.parameters[name].type, of)))
        if len(candidates) == 1 or (candidates and self.dialect != "final"):
            # In the other dialects element types of tensors are not reliable.
            return next(iter(candidates))
        if unknown:
            return None
        if self.dialect != "final":
            return SCALAR
        if any(self._fits_no_type(signature, name, passed) for name in signature.generic_names):
            return None
        if candidates:
            names = " and ".join(map(str, candidates))
            message = f"the arguments of {invocation.name!r} have different types: {names}"
        else:
            example = f"write it, as in {invocation.name}<scalar>(...)"
            message = f"the arguments do not determine the type of {invocation.name!r}: {example}"
        self.reporter.error("N404", message, invocation.at)
        return None

    def _fits_no_type(self, signature: Signature, name: str, passed: _Passed) -> bool:
        """Whether an argument fits with no type argument; an error is reported if so."""
        of = passed[name][1] if name in passed else None
        declared = signature.parameters[name].type
        if any(self.casting.casts(of, with_argument(declared, candidate)) for candidate in _CANDIDATES):
            return False
        self._report_misfit(signature, name, passed, declared)
        return True

    def _report_misfit(self, signature: Signature, name: str, passed: _Passed, wanted: NnefType) -> None:
        argument, of = passed[name]
        types = f"{format_type(wanted)}, this is {format_type(of)}"  # type: ignore[arg-type]
        message = f"parameter {name!r} of {signature.fragment.name!r} takes {types}"
        self.reporter.error("N404", message, start_of(argument.value))

    def _check_defaults(
        self, invocation: Invocation, signature: Signature, passed: _Passed, argument: Primitive
    ) -> None:
        for name in signature.generic_names:
            parameter: Parameter = signature.parameters[name]
            if name in passed or parameter.default is None:
                continue
            wanted: NnefType = with_argument(parameter.type, argument)
            of = self.type_of(parameter.default)
            if not self.casting.casts(of, wanted):
                default = f"the default of parameter {name!r} of {invocation.name!r}"
                self.reporter.error("N404", f"{default} is not of type {format_type(wanted)}", invocation.at)

    def _check_context(self, invocation: Invocation) -> None:
        """Check the contexts of `GRAPH_ONLY` operations (3.3.2 "Identifier Usage", 4.8)."""
        name = invocation.name
        if self.fragment is not None:
            # In the provisional dialect layers are fragments that create their variables.
            if name == "external" or self.dialect == "final":
                self.reporter.error(
                    "N406", f"{name!r} may be invoked in the graph only, not in fragments", invocation.at
                )
        elif name == "external":
            if self.dialect == "final" and id(invocation) not in self.externals:
                message = "the result of 'external' must be assigned to a parameter of the graph"
                self.reporter.error("N406", message, invocation.at)
        elif name == "update":
            self._check_update(invocation)

    def _check_update(self, invocation: Invocation) -> None:
        arguments = invocation.arguments
        first = next((a for a in arguments if a.name == "variable"), arguments[0] if arguments else None)
        if first is None or first.name not in (None, "variable"):
            return
        value = first.value
        if not isinstance(value, Name) or value.name not in self.variables:
            if not isinstance(value, Name) or value.name in self.names:
                message = "the first argument of 'update' must be a variable"
                self.reporter.error("N406", message, start_of(value))
        elif value.name in self._updated:
            self.reporter.error("N406", f"variable {value.name!r} is updated twice", value.at)
        else:
            self._updated.add(value.name)
