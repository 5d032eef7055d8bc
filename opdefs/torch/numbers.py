"""Numbers of Python as values: sizes of tensors, arithmetic on them, and numbers that data decides."""

from __future__ import annotations

from opdefs.pnnx.comparison import COMPARISONS
from opdefs.pnnx.expression_contents import contents
from opdefs.pnnx.expression_types import result_type
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import is_kind, read_type
from opdefs.rules.branching import truth_of_number
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import logical_not, to_dim
from opdefs.rules.contents.logic import compare
from opdefs.torch.dialect import torch
from opdefs.torch.operands import read_operand
from shapeinf.expr import Dimension, DimSize, constant_divisor, exact_quotient
from shapeinf.lattice import SCALAR, Condition, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value

_FUNCTIONS = {
    **{name: name for name in ("add", "sub", "mul", "pow", "lshift", "rshift", "neg", "and", "or")},
    **{"floordiv": "floor_divide", "truediv": "div", "mod": "remainder"},
    **{"sym_max": "max", "sym_min": "min", "sym_int": "trunc", "sym_sqrt": "sqrt", "_sym_sqrt": "sqrt"},
    **{"ceil": "ceil", "floor": "floor", "trunc": "trunc"},
}
"""Functions of expressions by their names in programs."""

_OPERATORS = (
    *("add", "sub", "mul", "pow", "lshift", "rshift", "neg", "and_", "or_"),
    *("floordiv", "truediv", "mod", "trunc"),
)
_SYMBOLIC = ("sym_max", "sym_min", "sym_int", "sym_sqrt", "_sym_sqrt")


@torch(
    *(f"_operator.{name}" for name in _OPERATORS),
    *(f"torch.{name}" for name in _SYMBOLIC),
    *(f"math.{name}" for name in ("ceil", "floor", "trunc")),
)
def arithmetic_of_numbers(
    c: InferenceContext,
    a: Value | None = None,
    b: Value | None = None,
    *,
    a_: object = None,
    b_: object = None,
) -> PartialTensor:
    """A number: that of Python's function for one or two numbers."""
    name = _FUNCTIONS[function_name(c.op_def.name)]
    operands = [read_operand(c, a, a_, "a", ("a",))]
    if b is not None or b_ is not None:
        operands.append(read_operand(c, b, b_, "b", ("b",)))
    if name in ("floor_divide", "remainder") and operands[1].value.elements == (0,):
        # The program fails here; eager torch may run, if the size that the quotient stands for was known to it.
        c.store.add_disjunction("the quotient is another known size", c.source("the program divides by 0"))
        raise c.unknowable("the program divides by 0")
    if name == "floor_divide":
        quotient = _symbolic_quotient(c, *(to_dim(o.value.elements[0]) if o.value.elements else None for o in operands))
        if quotient is not None:
            return PartialTensor("int64", SCALAR, (quotient,))
    dtype = result_type(c, name, tuple(operands))
    return contents(c, name, dtype, SCALAR, tuple(operands), unlimited=True)


def _symbolic_quotient(c: InferenceContext, a: DimSize | None, b: DimSize | None) -> DimSize | None:
    """`a // b` for a size that may be 0: 8 for `n // (n // 8)` where 8 divides n, else an unknown. None for others.

    The program does not run where `b` is 0, so that the quotient of a multiple `a == k*b` is k in each run.
    """
    if a is None or not isinstance(b, Dimension) or c.prove_le(0, b) is not True:
        return None
    factor, divisor = exact_quotient(a, b), constant_divisor(b)
    if isinstance(factor, int):
        return factor
    if divisor is not None and c.store.prove_eq(a, divisor * b) is True:
        return divisor
    if c.prove_le(1, b) is True:
        return a // b
    return c.fresh("quotient", 0 if c.prove_le(0, a) is True else None)  # later nodes may show that 8 divides n


@torch(*(f"_operator.{name}" for name in COMPARISONS))
def comparison_of_numbers(
    c: InferenceContext, a: Value | None = None, b: Value | None = None, *, a_: object = None, b_: object = None
) -> PartialTensor:
    """Whether the relation holds between two numbers."""
    first, second = (read_operand(c, *pair, ("a", "b")).value for pair in ((a, a_, "a"), (b, b_, "b")))
    return compare(c, SCALAR, COMPARISONS[function_name(c.op_def.name)], first, second)


@torch("torch.sym_not", "_operator.not_")
def negation(c: InferenceContext, a: Value) -> PartialTensor:
    """The opposite of a truth value."""
    return PartialTensor("bool", SCALAR, None if a.elements is None else (logical_not(_truth(c, a)),))


def _truth(c: InferenceContext, x: PartialTensor) -> Condition | bool | None:
    return truth_of_number(c, x.elements[0] if x.elements else None)


@torch("torch.sym_ite")
def choice_of_numbers(
    c: InferenceContext,
    b: Value,
    t: Value | None = None,
    f: Value | None = None,
    *,
    t_: object = None,
    f_: object = None,
) -> PartialTensor:
    """The first number where the condition holds, else the second one."""
    first, second = (read_operand(c, *pair, ("t", "f")).value for pair in ((t, t_, "t"), (f, f_, "f")))
    truth = _truth(c, b)
    if truth is True or truth is False:
        return first if truth else second
    dims = [to_dim(number.elements[0]) if number.elements else None for number in (first, second)]
    chosen = None
    if isinstance(truth, Condition) and dims[0] is not None and dims[1] is not None:
        chosen = c.select(truth, dims[0], dims[1])
    return PartialTensor(first.dtype if first.dtype == second.dtype else None, SCALAR, (chosen,))


@torch("torch.sym_sum")
def sum_of_numbers(c: InferenceContext, *args: Value) -> PartialTensor:
    """The sum of a list of integers."""
    dims = [to_dim(number.elements[0]) if number.elements else None for number in args]
    known = [d for d in dims if d is not None]
    return PartialTensor("int64", SCALAR, (sum(known) if len(known) == len(dims) else c.fresh("sum", None),))


@torch("torch.sym_float")
def number_as_float(c: InferenceContext, a: Value) -> PartialTensor:
    """A number as a float."""
    return convert(c, a, "float64")


@torch("aten.item.default", "prims.item.default", "aten._local_scalar_dense.default")
def number_of_tensor(c: InferenceContext, self: Value) -> PartialTensor:
    """The only element of a tensor as a number of Python; data decides it where it is not known."""
    if self.shape.dims:
        c.same_count(c.numel(self.shape), 1, "the tensor must have exactly one element")
    dtype = "bool" if self.dtype == "bool" else "int64" if is_kind(self.dtype, "integer") else None
    if dtype is None:
        return PartialTensor("float64" if is_kind(self.dtype, "float") else None, SCALAR, None)
    known = convert(c, PartialTensor(self.dtype, SCALAR, self.elements), dtype)
    if dtype == "bool" or (known.elements and known.elements[0] is not None):
        return known
    return PartialTensor(dtype, SCALAR, (c.fresh("item", None),))


@torch("aten.scalar_tensor.default")
def tensor_of_number(
    c: InferenceContext, s: Value | None = None, *, s_: object = None, dtype: str | None = None
) -> PartialTensor:
    """A number as a tensor of rank 0, by default of torch's default type of floats."""
    value = read_operand(c, s, s_, "s", ("s",)).value
    return convert(c, value, read_type(c, dtype) or "float32")


@torch("aten.sym_stride.int", "aten.sym_storage_offset.default")
def unknown_number(c: InferenceContext, self: Shape, *, dim: int | None = None) -> PartialTensor:
    """A number that depends on how a tensor lies in memory."""
    return PartialTensor("int64", SCALAR, (c.fresh("stride"),))


# -- checks ------------------------------------------------------------------------------------------------------------


@torch("aten._assert_scalar.default")
def require_truth(
    c: InferenceContext, self: Value | None = None, *, self_: object = None, assert_msg: str = ""
) -> tuple[()]:
    """A condition on numbers, which must hold; without outputs."""
    value = read_operand(c, self, self_, "self", ("self",)).value
    truth = _truth(c, value)
    message = "the program requires this relation of sizes"
    if truth is False:
        c.fail(message, assert_msg)
    if isinstance(truth, Condition):
        c.require_condition(truth, message)
    return ()


@torch("aten.sym_constrain_range.default", "aten.sym_constrain_range_for_size.default")
def bound_number(
    c: InferenceContext,
    size: Value | None = None,
    *,
    size_: object = None,
    min: int | None = None,
    max: int | None = None,
) -> tuple[()]:
    """A number within bounds; without outputs."""
    value = read_operand(c, size, size_, "size", ("size",)).value
    known = to_dim(value.elements[0]) if value.elements else None
    low = 0 if min is None and c.op_def.name.endswith("for_size.default") else min
    if known is not None and low is not None:
        c.at_least(known, low, "the program requires this number to be at least its lower bound")
    if known is not None and max is not None:
        c.at_most(known, max, "the program requires this number to be at most its upper bound")
    return ()


@torch(
    "aten._assert_async.default",
    "aten._assert_async.msg",
    "aten._assert_tensor_metadata.default",
    "aten._print.default",
)
def no_requirement(c: InferenceContext, *values: Value) -> tuple[()]:
    """A check of contents, or of what types state already; without outputs."""
    return ()
