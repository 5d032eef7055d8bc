"""The machine that evaluates expressions: generators that request the values of their operands, on its own stack.

Nested invocations of fragments do not use the stack of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Mapping, Sequence
from typing import Any, Literal

from shapeinf.errors import NnefError
from shapeinf.formats.nnef.evaluation import builtins
from shapeinf.formats.nnef.evaluation.emitter import Emitter, Target
from shapeinf.formats.nnef.evaluation.forms import Form, as_tensors, literal
from shapeinf.formats.nnef.evaluation.frames import MAX_CALLS, Frame, names_of
from shapeinf.formats.nnef.evaluation.lookup import Lookup
from shapeinf.formats.nnef.evaluation.operation import Operation
from shapeinf.formats.nnef.evaluation.runtime import ShapeOf, apply_operator, array_length, extents_of, part_of_tensor
from shapeinf.formats.nnef.evaluation.scans import SCAN, Scan
from shapeinf.formats.nnef.evaluation.values import RUNTIME, BadValue, Symbol, Tensor, Value, kind_of, size_of
from shapeinf.formats.nnef.language import ast
from shapeinf.formats.nnef.language.ast import Document, Expr, Fragment, Invocation, items_of
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.types import NnefType, PrimitiveName
from shapeinf.solver.budget import CUT, Budget

_STEPS_PER_EXPRESSION = 50
"""The steps of a budget for an expression that is not a name or a literal, with the operation that it emits."""

_ITEMS_PER_STEP = 4
"""The number of items of arrays that cost a step."""

Request = tuple[Expr, Frame, Target]
Steps = Generator[Request, Any, Value]
"""The evaluation of an expression: it requests the values of other expressions, and returns its own.

A BadValue that it raises becomes an error at the expression, or at its operand `part` (`Machine._operands`).
"""


class Machine:
    """Evaluates expressions in frames and emits their operations."""

    def __init__(
        self,
        document: Document,
        source: SourceText,
        library: Mapping[str, Fragment],
        expand: Container[str] | Literal["all"],
        emitter: Emitter,
        shape_of: ShapeOf | None,
    ) -> None:
        """See `evaluate`."""
        self.dialect = document.dialect
        self.source = source
        self.lookup = Lookup(document, library, expand)
        self.emitter = emitter
        self._document = document
        self._shape_of = shape_of
        self.root = ""
        self.budget = Budget.for_graph(len(document.graph.body))
        """For expressions, apart from statements of the flat syntax."""
        self._handlers: dict[type, Callable[[Any, Frame, Target], Steps]] = {
            ast.ArrayExpr: self._items,
            ast.TupleExpr: self._items,
            ast.Unary: self._unary,
            ast.Binary: self._binary,
            ast.Select: self._select,
            ast.Comprehension: self._comprehension,
            ast.Subscript: self._subscript,
            ast.Range: self._range,
            ast.Builtin: self._builtin,
            ast.Invocation: self._invocation,
        }

    def run(self, expr: Expr, frame: Frame, target: Target) -> Value:
        """The value of an expression. Raises NnefError."""
        stack: list[tuple[Steps, Expr, Frame]] = []
        request = expr, frame, target
        value: Any
        try:
            while True:
                expr, frame, target = request
                handler = self._handlers.get(type(expr))
                if handler is None:
                    value = self._leaf(expr, frame)
                else:
                    if not self.budget.take(_STEPS_PER_EXPRESSION):
                        raise BadValue(f"the document evaluates too many expressions: {CUT}", code="N905")
                    stack.append((handler(expr, frame, target), expr, frame))
                    value = None
                while True:
                    if not stack:
                        return value  # type: ignore[no-any-return]
                    steps, expr, frame = stack[-1]
                    self.emitter.calls = frame.calls
                    try:
                        request = steps.send(value)
                        break
                    except StopIteration as done:
                        stack.pop()
                        value = done.value
        except BadValue as bad:
            operand = self._operands(expr)[bad.part] if bad.part >= 0 else None
            raise self.error(bad.code, bad.message, frame.offset_of(operand or expr), frame) from None

    def shape_of(self, operations: Sequence[Operation], name: str) -> Sequence[int | None] | None:
        """The extents of a tensor after some operations; see `ShapeOf`."""
        if self._shape_of is None:
            from shapeinf.formats.nnef.evaluation.shapes_so_far import ShapesSoFar  # few documents need it

            self._shape_of = ShapesSoFar(self._document, self.source)
        return self._shape_of(operations, name)

    def error(self, code: str, message: str, at: int, frame: Frame) -> NnefError:
        """The error at an offset in the document, with the invocations around it."""
        return NnefError([self.source.error(code, message, at, frame.calls)], self.source.render)

    def _operands(self, expr: Expr) -> Sequence[Expr | None]:
        """The operands of an expression, as `BadValue.part` counts them."""
        match expr:
            case ast.Unary() | ast.Builtin():
                return (expr.operand,)
            case ast.Binary():
                return expr.left, expr.right
            case ast.Select():
                return (expr.condition,)
            case ast.Comprehension():
                return (*(array for _, array in expr.iterators), expr.condition)
            case ast.Subscript():
                return expr.value, expr.index
            case ast.Range():
                return expr.value, expr.begin, expr.end
            case Invocation():
                return [argument.value for argument in self.lookup.arguments(expr)]
        return ()

    def _count_items(self, value: Value, size: int) -> Value:
        if not self.budget.take(size // _ITEMS_PER_STEP):
            raise BadValue(f"the arrays of the document have too many items in all: {CUT}", code="N905")
        return value

    def _count_result(self, value: Value) -> Value:
        """Count the items of a computed value towards the limit of the document."""
        return self._count_items(value, len(value)) if isinstance(value, (tuple, str)) else value

    # -- leaves and literals -----------------------------------------------------------------------------------------

    def _leaf(self, expr: Expr, frame: Frame) -> Value:
        if not isinstance(expr, ast.Name):
            return expr.value  # type: ignore[union-attr,return-value]
        value = frame.values.get(expr.name)
        if value is not None:
            return value
        if self.dialect == "tract":
            return Symbol(expr.name)  # undeclared identifiers are extents in tract
        raise BadValue(f"{expr.name!r} is not defined here", code="N404")

    def _items(self, expr: ast.ArrayExpr | ast.TupleExpr, frame: Frame, target: Target) -> Steps:
        items = expr.items
        targets = target if isinstance(target, tuple) and len(target) == len(items) else (None,) * len(items)
        values = []
        self.budget.spend(len(items) // _ITEMS_PER_STEP)
        for item, item_target in zip(items, targets, strict=True):
            values.append((yield item, frame, item_target))
        return tuple(values)

    # -- operators ---------------------------------------------------------------------------------------------------

    def _unary(self, expr: ast.Unary, frame: Frame, target: Target) -> Steps:
        value = yield expr.operand, frame, None
        if isinstance(value, RUNTIME):
            return apply_operator(self.emitter, expr.op, (value,), target, frame.base, frame.offset_of(expr))
        return builtins.unary(expr.op, value)

    def _binary(self, expr: ast.Binary, frame: Frame, target: Target) -> Steps:
        op = expr.op
        left = yield expr.left, frame, None
        if type(left) is bool and ((op == "&&" and not left) or (op == "||" and left)):
            return left  # the right side is not evaluated
        right = yield expr.right, frame, None
        if type(left) is tuple and op in ("==", "!=", "in"):
            self._count_items(left, size_of(left))
        if isinstance(left, RUNTIME) or isinstance(right, RUNTIME):
            return apply_operator(self.emitter, op, (left, right), target, frame.base, frame.offset_of(expr))
        return self._count_result(builtins.binary(op, left, right))

    def _select(self, expr: ast.Select, frame: Frame, target: Target) -> Steps:
        condition = yield expr.condition, frame, None
        if type(condition) is not bool:
            unknown = isinstance(condition, RUNTIME)
            message = (
                "the condition must be known when the graph is built" if unknown else "the condition is not a logical"
            )
            raise BadValue(message, 0, "N502")
        value: Value = yield expr.then if condition else expr.otherwise, frame, target
        return value

    def _comprehension(self, expr: ast.Comprehension, frame: Frame, target: Target) -> Steps:
        arrays: list[tuple[Value, ...]] = []
        for index, (_, iterated) in enumerate(expr.iterators):
            array = yield iterated, frame, None
            if not isinstance(array, tuple):
                raise BadValue(f"a comprehension iterates over arrays, not {kind_of(array)}", index)
            self.budget.spend(len(array) // _ITEMS_PER_STEP)
            arrays.append(array)
        if len({len(array) for array in arrays}) > 1:
            lengths = ", ".join(str(len(array)) for array in arrays)
            raise BadValue(f"the arrays of a comprehension must have the same length, not {lengths}")
        names = [name.name for name, _ in expr.iterators]
        hidden = {name: frame.values[name] for name in names if name in frame.values}
        targets = target if expr.condition is None and isinstance(target, tuple) else ()
        results: list[Value] = []
        for index, values in enumerate(zip(*arrays, strict=True)):
            frame.values.update(zip(names, values, strict=True))
            if expr.condition is not None:
                condition = yield expr.condition, frame, None
                if type(condition) is not bool:
                    message = "the condition must be a logical that is known when the graph is built"
                    raise BadValue(message, len(arrays), "N502")
                if not condition:
                    continue
            results.append((yield expr.item, frame, targets[index] if index < len(targets) else None))
        for name in names:
            frame.values.pop(name, None)
        frame.values.update(hidden)
        return tuple(results)

    # -- parts and functions -----------------------------------------------------------------------------------------

    def _subscript(self, expr: ast.Subscript, frame: Frame, target: Target) -> Steps:
        operand = _shape_operand(expr.value)
        value = yield operand or expr.value, frame, None
        index = yield expr.index, frame, None
        if operand is not None:
            shape = extents_of(value, self.emitter, self.shape_of, self.dialect)
            extent = builtins.item(shape, index)
            self.emitter.require_extents(value, shape, [index], frame.offset_of(expr))
            return extent
        if isinstance(value, Tensor) and self.dialect == "tract":
            return part_of_tensor(self.emitter, value, index, None, target, frame.base, frame.offset_of(expr))
        return builtins.item(value, index)

    def _range(self, expr: ast.Range, frame: Frame, target: Target) -> Steps:
        value = yield expr.value, frame, None
        begin: Value | None = None
        end: Value | None = None
        if expr.begin is not None:
            begin = yield expr.begin, frame, None
        if expr.end is not None:
            end = yield expr.end, frame, None
        if isinstance(value, Tensor) and self.dialect == "tract":
            ends = (0 if end is None else end,)
            return part_of_tensor(self.emitter, value, begin or 0, ends, target, frame.base, frame.offset_of(expr))
        return self._count_result(builtins.part(value, begin, end))

    def _builtin(self, expr: ast.Builtin, frame: Frame, target: Target) -> Steps:
        operand = _shape_operand(expr.operand)
        value = yield operand or expr.operand, frame, None
        if operand is not None:  # of the shape, only the rank matters
            value = extents_of(value, self.emitter, self.shape_of, self.dialect)
        elif expr.name == "shape_of":
            shape = extents_of(value, self.emitter, self.shape_of, self.dialect)
            self.emitter.require_extents(value, shape, range(len(shape)), frame.offset_of(expr))
            return shape
        return self._count_result(builtins.function(expr.name, value))

    # -- invocations -------------------------------------------------------------------------------------------------

    def _invocation(self, expr: Invocation, frame: Frame, target: Target) -> Steps:
        values: list[Value] = []
        arguments = self.lookup.arguments(expr)
        for argument in arguments:
            values.append((yield argument.value, frame, None))
        at = frame.offset_of(expr)
        for value in values:
            if type(value) is tuple:
                self._count_items(value, size_of(value))
        fragment = self.lookup.fragment(expr)
        form = self.lookup.form(fragment, arguments)
        if expr.name == SCAN and self.dialect == "tract" and expr.name not in self.lookup.own:
            return (yield from self._scan(form, values, frame, target, at))
        bound: PrimitiveName | None = None if expr.type_argument is None else expr.type_argument.name
        if bound == "?":
            bound = frame.bound
        if self.lookup.is_expanded(fragment):
            return (yield from self._body(fragment, self._enter(fragment, form, values, bound, frame, target, at)))
        length = array_length(form, values, target, self.emitter, self.shape_of)
        if length is None and self.dialect == "tract" and not isinstance(target, tuple) and form.returns_array:
            result = self.emitter.invoke(form, values, bound, (target,), frame.base, at, 1)
            return result[0] if isinstance(result, tuple) else result  # in tract an array of one is its item
        return self.emitter.invoke(form, values, bound, target, frame.base, at, length)

    def _scan(self, form: Form, values: Sequence[Value], frame: Frame, target: Target, at: int) -> Steps:
        """Evaluate a scan of tract: its body once, on chunks of tensors; the results follow from those of one call."""
        arguments = {slot.name: value for slot, value in zip(form.slots, values, strict=True)}
        body = self.lookup.own.get(str(arguments.get("body")))
        if body is None:
            message = f"the body of a scan, {arguments.get('body')!r}, is not a fragment of the document"
            raise BadValue(message, code="N401")
        _check_depth(frame, body)
        scan = Scan(body, arguments, self.emitter, frame.base, at)
        inner = frame.inner_frame(body, at, None, self.root, False)
        for parameter in body.parameters:
            inner.values[parameter.name] = self._as_tensors(parameter.type, scan.argument(parameter.name), None)
        return scan.results((yield from self._body(body, inner)), target)

    def _enter(
        self,
        fragment: Fragment,
        form: Form,
        values: Sequence[Value],
        bound: PrimitiveName | None,
        frame: Frame,
        target: Target,
        at: int,
    ) -> Frame:
        _check_depth(frame, fragment)
        inner = frame.inner_frame(fragment, at, target, self.root, fragment.name not in self.lookup.own)
        inner.bound = bound or (form.type_argument(values) if fragment.generic else None)
        for slot, value in zip(form.slots, values, strict=True):
            inner.values[slot.name] = self._as_tensors(slot.type, value, inner.bound)
        for parameter in form.omitted:
            assert parameter.default is not None
            default = literal(parameter.default)
            inner.values[parameter.name] = self._as_tensors(parameter.type, default, inner.bound)
        return inner

    def _as_tensors(self, declared: NnefType, value: Value, bound: PrimitiveName | None) -> Value:
        return as_tensors(declared, value, bound, keep=self.dialect == "tract")

    def _body(self, fragment: Fragment, frame: Frame) -> Steps:
        for statement in fragment.body or ():
            target = self._target(statement.target, frame)
            frame.base = next(names_of(target), frame.prefix)
            value = yield statement.value, frame, target
            self._assign(statement.target, value, frame)
        results: list[Value] = []
        for result in fragment.results:
            if result.name not in frame.values:
                message = f"the result {result.name!r} of {fragment.name} is not assigned"
                at = result.at if frame.library_call is None else frame.library_call
                raise self.error("N305", message, at, frame)
            results.append(self._as_tensors(result.type, frame.values[result.name], frame.bound))
        return results[0] if len(results) == 1 else tuple(results)

    def _target(self, expr: Expr, frame: Frame) -> Target:
        if isinstance(expr, ast.Name):
            target = frame.targets.get(expr.name)
            return f"{frame.prefix}.{expr.name}" if target is None else target
        return tuple([self._target(item, frame) for item in items_of(expr)])

    def _assign(self, target: Expr, value: Value, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            frame.values[target.name] = value
            return
        for item, item_value in zip(items_of(target), self.unpack_items(target, value, frame), strict=True):
            self._assign(item, item_value, frame)

    def unpack_items(self, target: Expr, value: Value, frame: Frame) -> tuple[Value, ...]:
        """The items of a value for those on the left side. Raises NnefError for another number of items."""
        wanted = len(items_of(target))
        if isinstance(value, tuple) and len(value) == wanted:
            return value
        right = f"{len(value)} values" if isinstance(value, tuple) else "one value"
        message = f"the left side has {wanted} items, the right side {right}"
        raise self.error("N503", message, frame.offset_of(target), frame)


def _check_depth(frame: Frame, fragment: Fragment) -> None:
    """Raise BadValue for an invocation of a fragment that nests too deep."""
    if frame.depth >= MAX_CALLS:
        message = f"invocations nest more than {MAX_CALLS:,} levels deep, the next one is of {fragment.name}"
        raise BadValue(message, code="N904")


def _shape_operand(expr: Expr) -> Expr | None:
    """The operand of `shape_of`; None for other expressions."""
    return expr.operand if isinstance(expr, ast.Builtin) and expr.name == "shape_of" else None
