"""Infers the types of expressions from those of names, and reports operands that do not fit.

Source: NNEF 1.0.5, 3.3.3 "Expressions". An unknown type, after an error or of the items of an empty array, is None: it
fits everywhere.
"""

from __future__ import annotations

from collections.abc import Callable

from shapeinf.formats.nnef.checking.casting import Casting, NoCommonTypeError, array_of, format_type, tuple_of
from shapeinf.formats.nnef.checking.library import Library
from shapeinf.formats.nnef.checking.operators import RESULTS, binary_type, required_operand, unary_type
from shapeinf.formats.nnef.checking.reporter import Reporter, suggestion
from shapeinf.formats.nnef.language import ast
from shapeinf.formats.nnef.language.types import INTEGER, LOGICAL, SCALAR, STRING, ArrayOf, NnefType, TensorOf, TupleOf

MaybeType = NnefType | None
"""None is an unknown type."""


class ExpressionTypes:
    """The types of the names of one body, and of expressions over them."""

    def __init__(self, library: Library, casting: Casting, reporter: Reporter) -> None:
        """Start with a body without names."""
        self.library = library
        self.casting = casting
        self.dialect = casting.dialect
        self.reporter = reporter
        self.names: dict[str, MaybeType] = {}
        self.body: tuple[ast.Assignment, ...] = ()
        self._reported: set[str] = set()
        self.symbols: set[str] = set()
        """The symbols of a document of tract, which are extents."""
        self.new_symbols = False
        """Whether an unknown name is a new symbol, as in the shapes of external tensors of tract."""
        self._kinds: dict[type, Callable[..., MaybeType]] = {
            ast.Number: self._number,
            ast.Text: lambda _: STRING,
            ast.Truth: lambda _: LOGICAL,
            ast.Name: self._name,
            ast.ArrayExpr: self._array,
            ast.TupleExpr: self._tuple,
            ast.Unary: self._unary,
            ast.Binary: self._binary,
            ast.Select: self._select,
            ast.Comprehension: self._comprehension,
            ast.Subscript: self._subscript,
            ast.Range: self._range,
            ast.Builtin: self._builtin,
            ast.Invocation: self._nested_invocation,
        }

    def type_of(self, expression: ast.Expr) -> MaybeType:
        """The type of an expression inside another one."""
        return self._kinds[expression.__class__](expression)

    def value_type(self, value: ast.Expr) -> MaybeType:
        """The type of the right side of an assignment, which may have several results."""
        if value.__class__ is ast.Invocation:
            return self.invocation(value)
        if isinstance(value, ast.Select):
            return self._branches(value, self.value_type)
        return self.type_of(value)

    def invocation(self, invocation: ast.Invocation) -> MaybeType:
        """The type of the result of an invocation."""
        raise NotImplementedError

    def _error(self, message: str, at: int) -> None:
        self.reporter.error("N405", message, at)

    def _number(self, expression: ast.Number) -> NnefType:
        return INTEGER if expression.value.__class__ is int else SCALAR

    def _name(self, expression: ast.Name) -> MaybeType:
        name = expression.name
        try:
            return self.names[name]
        except KeyError:
            pass
        if name in self.symbols:
            return INTEGER
        if self.new_symbols:
            self.symbols.add(name)
            return INTEGER
        if name in self._reported:
            return None
        if any(name == target.name for statement in self.body for target in ast.names_in(statement.target)):
            message = f"{name!r} is used before it is assigned"
        elif name in self.library:
            message = f"{name!r} is an operation, not a value"
        else:
            message = f"{name!r} is not declared{suggestion(name, self.names)}"
        self.reporter.error("N401", message, expression.at)
        self._reported.add(name)
        return None

    def _array(self, expression: ast.ArrayExpr) -> MaybeType:
        items = expression.items
        if not items:
            return array_of(None)
        kinds = self._kinds
        common = kinds[items[0].__class__](items[0])
        for item in items[1:]:
            of = kinds[item.__class__](item)
            if of is common:
                continue
            try:
                common = self.casting.common(common, of)
            except NoCommonTypeError:
                if self.dialect == "tract":
                    return array_of(None)  # arrays of tract have items of any types
                first, second = format_type(common), format_type(of)  # type: ignore[arg-type]
                self._error(f"the items of an array need a common type, these are {first} and {second}", expression.at)
                return None
        return None if common is None else array_of(common)

    def _tuple(self, expression: ast.TupleExpr) -> MaybeType:
        items = tuple(self.type_of(item) for item in expression.items)
        return None if None in items else tuple_of(items)

    def _unary(self, expression: ast.Unary) -> MaybeType:
        operand = self.type_of(expression.operand)
        if operand is None:
            return None
        of = unary_type(expression.op, operand, self.casting)
        if of is None:
            self._error(f"operator {expression.op!r} is not defined for {format_type(operand)}", expression.at)
        return of

    def _binary(self, expression: ast.Binary) -> MaybeType:
        left, right = self.type_of(expression.left), self.type_of(expression.right)
        if left is None or right is None:
            return None
        of = binary_type(expression.op, left, right, self.casting)
        if of is None:
            operands = f"{format_type(left)} and {format_type(right)}"
            self._error(f"operator {expression.op!r} is not defined for {operands}", ast.start_of(expression))
        return of

    def _select(self, expression: ast.Select) -> MaybeType:
        return self._branches(expression, self.type_of)

    def _branches(self, expression: ast.Select, branch_type: Callable[[ast.Expr], MaybeType]) -> MaybeType:
        then = branch_type(expression.then)
        self._check_condition(expression.condition, "'if'")
        otherwise = branch_type(expression.otherwise)
        try:
            return self.casting.common(then, otherwise)
        except NoCommonTypeError:
            first, second = format_type(then), format_type(otherwise)  # type: ignore[arg-type]
            self._error(
                f"the two branches need a common type, these are {first} and {second}", ast.start_of(expression)
            )
            return None

    def _check_condition(self, condition: ast.Expr, where: str) -> None:
        of = self.type_of(condition)
        if of is None or of == LOGICAL:
            return
        if isinstance(of, TensorOf):
            if self.dialect == "tract":
                return
            why = " ('select' chooses among the elements of tensors)"
        else:
            why = ""
        message = f"the condition of {where} must be logical, this is {format_type(of)}{why}"
        self._error(message, ast.start_of(condition))

    def _comprehension(self, expression: ast.Comprehension) -> MaybeType:
        # The arrays cannot depend on the loop variables.
        items = [self._item_type(array) for _, array in expression.iterators]
        own: list[str] = []
        for (variable, _), item in zip(expression.iterators, items, strict=True):
            if variable.name in self.names:
                use = "a loop variable already" if variable.name in own else "already in use"
                self.reporter.error("N402", f"loop variable {variable.name!r} is {use}", variable.at)
            else:
                own.append(variable.name)
                self.names[variable.name] = item
        try:
            if expression.condition is not None:
                self._check_condition(expression.condition, "a comprehension")
            item_type = self.type_of(expression.item)
            return None if item_type is None else array_of(item_type)
        finally:
            for name in own:
                del self.names[name]

    def _item_type(self, array: ast.Expr) -> MaybeType:
        of = self.type_of(array)
        if of is None or isinstance(of, ArrayOf):
            return None if of is None else of.of
        hint = "; 'range_of' returns the positions in a string" if of == STRING else ""
        self._error(f"a comprehension iterates over arrays, this is {format_type(of)}{hint}", ast.start_of(array))
        return None

    def _subscript(self, expression: ast.Subscript) -> MaybeType:
        value = self.type_of(expression.value)
        if isinstance(value, TupleOf):
            return self._tuple_item(value, expression.index)
        self._check_position(expression.index)
        if isinstance(value, ArrayOf):
            return value.of
        if value is None or value == STRING or self._is_shape(value):
            return value
        self._report_no_items(value, expression)
        return None

    def _is_shape(self, value: NnefType) -> bool:
        # In tract's dialect the shape of a tensor is a tensor, whose items are tensors.
        return self.dialect == "tract" and isinstance(value, TensorOf)

    def _report_no_items(self, value: NnefType, expression: ast.Subscript | ast.Range) -> None:
        hint = " ('slice' takes parts of tensors)" if isinstance(value, TensorOf) else ""
        self._error(f"{format_type(value)} has no items to choose from{hint}", ast.start_of(expression.value))

    def _tuple_item(self, value: TupleOf, index: ast.Expr) -> MaybeType:
        if not isinstance(index, ast.Number) or not isinstance(index.value, int):
            # The type of the item depends on the index.
            self.type_of(index)
            self._error("an item of a tuple is chosen by an integer literal", ast.start_of(index))
            return None
        if 0 <= index.value < len(value.items):
            return value.items[index.value]
        self._error(f"index {index.value} is out of range for a tuple of {len(value.items)} items", index.at)
        return None

    def _check_position(self, index: ast.Expr) -> None:
        of = self.type_of(index)
        if not self.casting.casts(of, INTEGER):
            self._error(f"a position must be an integer, this is {format_type(of)}", ast.start_of(index))  # type: ignore[arg-type]

    def _range(self, expression: ast.Range) -> MaybeType:
        value = self.type_of(expression.value)
        for position in (expression.begin, expression.end):
            if position is not None:
                self._check_position(position)
        if value is None or value == STRING or isinstance(value, ArrayOf) or self._is_shape(value):
            return value
        if isinstance(value, TupleOf):
            self._error("a range is taken of arrays and strings, not of tuples", ast.start_of(expression.value))
        else:
            self._report_no_items(value, expression)
        return None

    def _builtin(self, expression: ast.Builtin) -> MaybeType:
        operand = self.type_of(expression.operand)
        required = None if operand is None else required_operand(expression.name, operand, self.casting)
        if required is not None:
            message = f"{expression.name!r} takes {required}, this is {format_type(operand)}"  # type: ignore[arg-type]
            self._error(message, ast.start_of(expression.operand))
        return RESULTS[expression.name]

    def _nested_invocation(self, expression: ast.Invocation) -> MaybeType:
        of = self.invocation(expression)
        if self.dialect == "provisional" or not isinstance(of, TupleOf) or expression.name not in self.library:
            return of
        results = len(self.library[expression.name].results)
        if results > 1:
            message = f"{expression.name!r} has {results} results: in an expression it must have one"
            self._error(message, expression.at)
            return None
        return of
