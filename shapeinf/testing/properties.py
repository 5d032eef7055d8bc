"""Properties that every rule of an operator must have, checked on its cases."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Dimension, DimSize, Scope, evaluate, substitute
from shapeinf.result import Result
from shapeinf.solver.sampling import consecutive_bindings
from shapeinf.testing.rules import Operand, RuleCase, contents_of
from shapeinf.testing.type_text import TypeText, parse_type
from shapeinf.texts import escape_lines

MAX_BINDINGS = 2
"""The most sets of legal sizes at which the properties are checked."""


def check_properties(case: RuleCase) -> None:
    """Raise AssertionError for the properties that the rule of a case does not have; see `property_violations`."""
    __tracebackhide__ = True
    violations = property_violations(case)
    if violations:
        raise AssertionError(escape_lines([str(case), *(f"  {violation}" for violation in violations)]))


def property_violations(case: RuleCase) -> list[str]:
    """The properties that the rule of a case does not have, one line each.

    - **evaluation**: the inferred types, evaluated at sizes of the names, are those inferred at these sizes.
    - **less known**: where a size, the rank or the contents of an input are unknown, the inferred types still allow
      those of the call, there is no violation, and the rule does not fail.
    - **names**: other names of dims change nothing else.

    For a case of an error, the only check is that the rule does not fail where less is known.

    >>> property_violations(RuleCase("Concat", ["[n, 3]", "[m, 3]"], ["[n + m, 3]"], {"axis": 0}))
    []
    """
    if case.error:
        return list(_rule_failures(case))
    bindings = legal_sizes(case)
    if not bindings:
        return ["no sizes of its names are legal: the case needs `sizes`"]
    return list(dict.fromkeys(line for sizes in bindings for line in _violations_at(case, sizes)))


def _violations_at(case: RuleCase, sizes: Mapping[str, int]) -> list[str]:
    concrete = case.infer(bind_operands(case, sizes), min_dim=0)
    return [
        *_compare("evaluation", case, case.infer(), concrete, sizes),
        *_less_known_violations(case, concrete, sizes),
        *_name_violations(case, concrete, sizes),
    ]


def legal_sizes(case: RuleCase) -> list[dict[str, int]]:
    """Sizes of the names of a case: its own, else up to `MAX_BINDINGS` sets of small ones that violate nothing."""
    if case.sizes:
        return [dict(case.sizes)]
    store = case.infer().engine.store
    names = [name for name in operand_names(case.inputs) if store.scope.has(name)]
    dims = {name: store.canon(store.scope.symbol(name)) for name in names}
    symbols = dict.fromkeys(symbol for dim in dims.values() if isinstance(dim, Dimension) for symbol in dim.symbols())
    candidates = (
        {name: int(evaluate(dim, binding)) for name, dim in dims.items()}
        for binding in consecutive_bindings(store, list(symbols))
    )
    legal = (sizes for sizes in candidates if _is_legal(case, sizes))
    return list(itertools.islice(legal, MAX_BINDINGS if symbols else 1))


def _is_legal(case: RuleCase, sizes: Mapping[str, int]) -> bool:
    return not certain_violations(case.infer(bind_operands(case, sizes), min_dim=0).engine.inference)


def operand_names(operands: Sequence[Operand]) -> list[str]:
    """The names of dims in the types of operands, sorted."""
    scope = Scope()
    parsed = [parse_type(operand, scope) for operand in operands if isinstance(operand, str)]
    return sorted({symbol.name for type_ in parsed for symbol in type_.symbols})


def bind_operands(case: RuleCase, sizes: Mapping[str, int]) -> list[Operand]:
    """The operands at these sizes of their names, or those that the call fixes; an axis without a name is 2."""
    tensors = case.infer().tensors
    return [
        _bind(operand, tensors[f"x{i}"], sizes) if isinstance(operand, str) else operand
        for i, operand in enumerate(case.inputs)
    ]


def _bind(text: str, inferred: TensorInfo, sizes: Mapping[str, int]) -> str:
    parsed = parse_type(text, Scope())
    if parsed.dims is None or inferred.shape.rank != len(parsed.dims):
        return text
    return _type_text(parsed, [_size(dim, sizes) for dim in inferred.shape])


def _size(dim: object, sizes: Mapping[str, int]) -> object:
    if isinstance(dim, Dimension):
        return 2 if dim.is_anonymous else int(evaluate(dim, sizes))
    return dim


def _type_text(parsed: TypeText, dims: Sequence[object]) -> str:
    return f"{parsed.dtype or 'float32'}[{', '.join('?' if dim is None else str(dim) for dim in dims)}]"


def _compare(subject: str, case: RuleCase, result: Result, concrete: Result, sizes: Mapping[str, int]) -> Iterator[str]:
    """The outputs of an inference that do not allow those of the concrete one at these sizes, and its errors."""
    yield from (f"{subject}: {d.message}" for d in result.diagnostics if d.severity == "error")
    for name in filter(None, case.output_names):
        inferred, real = result.tensors[name], concrete.tensors[name]
        if not _allows(result, inferred, real, sizes):
            at = ", ".join(f"{n}={size}" for n, size in sizes.items()) or "these sizes"
            yield f"{subject}: {name} is {inferred}, but {real} at {at}"


def _allows(result: Result, inferred: TensorInfo, real: TensorInfo, sizes: Mapping[str, int]) -> bool:
    if inferred.dtype is not None and real.dtype not in (None, inferred.dtype):
        return False
    if inferred.shape.dims is None or real.shape.dims is None:
        return True
    pairs = zip(inferred.shape.dims, real.shape.dims, strict=False)
    return len(inferred.shape) == len(real.shape) and all(_allows_size(result, a, b, sizes) for a, b in pairs)


def _allows_size(result: Result, dim: DimSize, real: DimSize, sizes: Mapping[str, int]) -> bool:
    if not isinstance(real, int):
        return True
    if isinstance(dim, int):
        return dim == real
    if not dim.is_anonymous:
        return int(evaluate(dim, sizes)) == real
    return real in result.interval(dim)


def _less_known_violations(case: RuleCase, concrete: Result, sizes: Mapping[str, int]) -> Iterator[str]:
    concrete_shapes = [info.shape for info in concrete.inputs.values()]
    least = 0 if any(0 in shape for shape in concrete_shapes if shape.dims is not None) else 1
    for text, operands in _variants(case.inputs):
        yield from _compare(f"less known, {text}", case, case.infer(operands, least), concrete, sizes)


def _rule_failures(case: RuleCase) -> Iterator[str]:
    """Failures of the rule (S301, a bug of the rule), also where less is known of the inputs."""
    for text, operands in [("as in the case", list(case.inputs)), *_variants(case.inputs)]:
        diagnostics = case.infer(operands).diagnostics
        yield from (f"less known, {text}: {d.message}" for d in diagnostics if d.code == "S301")


def _variants(operands: Sequence[Operand]) -> Iterator[tuple[str, list[Operand]]]:
    """The operands with one size, rank or contents unknown, then with all ranks unknown; each with a description."""
    for position, operand in enumerate(operands):
        for text, other in _weaken(operand):
            yield f"{text} of input {position}", [*operands[:position], other, *operands[position + 1 :]]
    yield "the ranks of all inputs", [_drop_rank(operand) for operand in operands]


def _weaken(operand: Operand) -> Iterator[tuple[str, Operand]]:
    if operand is None:
        return
    if not isinstance(operand, str):
        array = contents_of(operand)
        yield "the contents", f"{_dtype_name(operand)}{list(array.shape)}"
        yield "the rank", f"{_dtype_name(operand)}?"
        return
    parsed = parse_type(operand, Scope())
    dims = parsed.dims or ()
    for axis, dim in enumerate(dims):
        if dim is not None:
            yield f"axis {axis}", _type_text(parsed, [*dims[:axis], None, *dims[axis + 1 :]])
    yield "the rank", _drop_rank(operand)


def _drop_rank(operand: Operand) -> Operand:
    if operand is None:
        return None
    known = parse_type(operand, Scope()).dtype or "float32" if isinstance(operand, str) else _dtype_name(operand)
    return f"{known}?"


def _dtype_name(operand: Operand) -> str:
    array = contents_of(operand)
    return "string" if array.dtype.kind in "OUS" else array.dtype.name


def _name_violations(case: RuleCase, concrete: Result, sizes: Mapping[str, int]) -> Iterator[str]:
    """The outputs that differ with other names, in the opposite order: a rule may sort dims by their names."""
    names = operand_names(case.inputs)
    other = {name: f"renamed_{len(names) - i:03d}" for i, name in enumerate(names)}
    if not other:
        return
    operands = [_rename(operand, other) if isinstance(operand, str) else operand for operand in case.inputs]
    result, before = case.infer(operands), case.infer()
    renamed_sizes = {other[name]: size for name, size in sizes.items() if name in other}
    yield from _compare("names", case, result, concrete, renamed_sizes)
    for name in filter(None, case.output_names):
        ours, theirs = before.tensors[name], result.tensors[name]
        if _known_parts(ours) != _known_parts(theirs):
            yield f"names: {name} is {ours}, and {theirs} with other names"


def _known_parts(info: TensorInfo) -> tuple[object, ...]:
    """The element type, the rank, and for each axis whether its size is a number, a formula or unknown."""
    kinds = (("number" if isinstance(d, int) else d.is_anonymous) for d in info.shape.dims or ())
    return (info.dtype, info.shape.rank, *kinds)


def _rename(text: str, names: Mapping[str, str]) -> str:
    scope = Scope()
    parsed = parse_type(text, scope)
    if parsed.dims is None:
        return text
    symbols = {symbol: scope.symbol(names[symbol.name]) for symbol in parsed.symbols}
    return _type_text(parsed, [substitute(dim, symbols) if isinstance(dim, Dimension) else dim for dim in parsed.dims])
