"""Write `docs/operators.md`: every operator of the ONNX dialect, and what its rule does.

Run it after a new release of onnx, and whenever a test says that the table is stale:

    python tools/make_operator_table.py

The table comes from the registry and from the rules themselves. A rule is looked at together with all functions of
`opdefs` that it reaches (by global names and closures):

- *shape* is the first line of the newest rule's docstring;
- it *reads* the contents of an input whose annotation asks for them (`Value`, `Operand`), and of those that it asks the
  context for (`c.value`);
- it *gives* contents when something that it reaches makes a `PartialTensor` with contents, returns such an input as it
  is, or runs a body;
- it tells facts *backwards* when something that it reaches calls a method of the context that tells (`TELLING`).

What is written is what a rule may do; on given inputs there may be nothing to read, give or tell.
"""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import attrs
import onnx
import onnx.defs

from opdefs.microsoft.schemas import op_defs
from shapeinf.ops import Dialect, OpDef, default_registry
from shapeinf.ops.rule import InputUse, Rule

TARGET = Path(__file__).resolve().parent.parent / "docs" / "operators.md"

TELLING = frozenset(
    {
        *("merge", "expect", "at_least", "at_most", "divisible", "guard", "broadcast", "broadcast_dim"),
        *("same_rank", "require_rank", "with_rank", "with_value", "merge_prefix", "subtract"),
    }
)
"""Methods of the context that tell facts: about inputs, so what made these learns too."""

INTRODUCTION = """# Operators

Made by `tools/make_operator_table.py` from the registry and onnx {version}; a test fails when it is stale.

- *since*: the versions of the operator that onnx knows, back to opset 1; all have a rule.
- *shape*: what the newest rule says. `[N, C, *S]` are dims, `*` is any number of them.
- *reads*: inputs whose known contents decide about the output. A star: element by element, where all are known.
- *gives*: whether contents of outputs are known where those of inputs are.
- *back*: whether the rule tells facts about its inputs (equal sizes, ranks, divisibility, bounds).
"""

HEAD = "| operator | since | shape | reads | gives | back |\n|---|---|---|---|---|---|\n"


@attrs.frozen
class Doing:
    """What a rule does."""

    shape: str
    reads: tuple[str, ...]
    gives: bool
    back: bool


def main() -> None:
    TARGET.write_text(text(), encoding="utf-8")
    print(f"{sum(map(len, operators().values()))} operators in {TARGET}")


def text() -> str:
    """The whole page."""
    dialect = default_registry().dialect("onnx")
    parts = [INTRODUCTION.format(version=onnx.__version__)]
    for domain, names in operators().items():
        lines = [row(dialect, domain, name, versions) for name, versions in sorted(names.items())]
        parts.append(f"## {domain or 'ai.onnx'}\n\n{HEAD}{''.join(lines)}")
    return "\n".join(parts)


def operators() -> dict[str, dict[str, list[int]]]:
    """The since-versions of every operator by domain and name: those of onnx, and ours beyond it."""
    found: dict[str, dict[str, list[int]]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        found.setdefault(schema.domain, {}).setdefault(schema.name, []).append(schema.since_version)
    for (domain, name), defs in op_defs().items():
        found.setdefault(domain, {})[name] = [d.since for d in defs]
    dialect = default_registry().dialect("onnx")
    for domain, name, version in dialect:
        op_def = dialect.lookup(domain, name, version)
        if op_def is not None and op_def.rule is not None and _is_ours(op_def.rule.function):
            found.setdefault(domain, {}).setdefault(name, [])
    return {domain: {n: sorted(v) for n, v in names.items()} for domain, names in sorted(found.items())}


def _is_ours(function: Callable[..., object]) -> bool:
    """Whether a function stands in `opdefs`; a process may have registered rules of its own."""
    return (function.__module__ or "").startswith("opdefs.")


def row(dialect: Dialect, domain: str, name: str, versions: list[int]) -> str:
    """One operator; what only newer versions do says since when."""
    definitions = [(v, dialect.lookup(domain, name, v)) for v in versions or [0]]
    newest = definitions[-1][1]
    doings = [(v, doing(d)) for v, d in definitions]
    last = doings[-1][1]
    reads = [f"{r}{_since(doings, lambda d, r=r: r in d.reads)}" for r in last.reads]
    gives = f"yes{_since(doings, lambda d: d.gives)}" if last.gives else ""
    back = f"yes{_since(doings, lambda d: d.back)}" if last.back else ""
    marked = f"{name} (deprecated)" if newest is not None and newest.deprecated else name
    cells = (marked, ", ".join(map(str, versions)) or "-", last.shape, ", ".join(reads), gives, back)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _since(doings: list[tuple[int, Doing]], does: Callable[[Doing], bool]) -> str:
    """Empty where all versions do it, else the first from which on all do."""
    lacking = [index for index, (_, one) in enumerate(doings) if not does(one)]
    return f" (since {doings[lacking[-1] + 1][0]})" if lacking else ""


def doing(op_def: OpDef | None) -> Doing:
    """What the rule of an OpDef does; nothing for an operator without one."""
    if op_def is None or op_def.rule is None:
        known = op_def is not None and op_def.expand is not None
        return Doing("the definition in terms of other operators" if known else "no rule", (), known, known)
    rule = op_def.rule
    parts = list(reached(rule.function))
    called = {name for part in parts for name in attributes(part.__code__)}
    reads = tuple(_read(p.name, p.variadic, p.use) for p in rule.params if p.use in (InputUse.VALUE, InputUse.OPERAND))
    if not reads and "value" in called:
        reads = ("by need",)
    gives = "bodies" in called or any(makes_contents(part) for part in parts) or hands_on(rule)
    return Doing(summary(rule.function), reads, gives, not TELLING.isdisjoint(called))


def _read(name: str, variadic: bool, use: InputUse) -> str:
    return f"`{'...' if variadic else ''}{name}`" + ("\\*" if use is InputUse.OPERAND else "")


def summary(function: Callable[..., object]) -> str:
    """The first line of the docstring."""
    return (inspect.getdoc(function) or "").partition("\n")[0]


def reached(function: Callable[..., object]) -> Iterator[FunctionType]:
    """The function and those of `opdefs` that it can call."""
    seen: set[int] = set()
    queue: list[object] = [function]
    while queue:
        one = queue.pop()
        if not isinstance(one, FunctionType) or not _is_ours(one) or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        queue += [one.__globals__.get(name) for code in codes(one.__code__) for name in code.co_names]
        for cell in one.__closure__ or ():
            queue += cell.cell_contents if isinstance(cell.cell_contents, tuple) else [cell.cell_contents]


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def attributes(code: CodeType) -> Iterator[str]:
    """The names of attributes and methods that a function uses."""
    for one in codes(code):
        yield from (i.argval for i in dis.get_instructions(one) if i.opname in ("LOAD_ATTR", "LOAD_METHOD"))


def makes_contents(function: FunctionType) -> bool:
    """Whether it makes a PartialTensor with contents."""
    calls = (node for node in ast.walk(_tree(function)) if isinstance(node, ast.Call))
    return any(_is_partial(call.func) and _has_contents(call) for call in calls)


def _is_partial(called: ast.expr) -> bool:
    name = called.value if isinstance(called, ast.Attribute) and called.attr == "from_array" else called
    return isinstance(name, ast.Name) and name.id == "PartialTensor"


def _has_contents(call: ast.Call) -> bool:
    last = call.args[-1] if call.args else None
    return not (isinstance(last, ast.Constant) and last.value is None)


def hands_on(rule: Rule) -> bool:
    """Whether it returns an input as it is, with its contents."""
    whole = {p.name for p in rule.params if p.use is not InputUse.SHAPE}
    returns = (node for node in ast.walk(_tree(rule.function)) if isinstance(node, ast.Return) and node.value)
    return any(isinstance(one, ast.Name) and one.id in whole for node in returns for one in _results(node.value))


def _results(value: Any) -> Iterator[ast.expr]:
    """What an expression may be: both arms of a condition, each part of a tuple."""
    if isinstance(value, ast.IfExp):
        yield from (*_results(value.body), *_results(value.orelse))
    elif isinstance(value, ast.Tuple):
        for part in value.elts:
            yield from _results(part)
    else:
        yield value


def _tree(function: Callable[..., object]) -> ast.AST:
    """The source of a function; nothing for a lambda, which stands in a function that is looked at too."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except SyntaxError:
        return ast.Module([], [])


if __name__ == "__main__":
    main()
