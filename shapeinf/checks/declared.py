"""What the file declares of values inside the graph and of outputs, against what the graph makes."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from shapeinf.checks.finding import Finding
from shapeinf.checks.meanings import declared_size, renames
from shapeinf.checks.registry import also, kind
from shapeinf.checks.sampling import value
from shapeinf.checks.subject import GENERATED, Subject
from shapeinf.checks.trial import shown
from shapeinf.checks.upstream import differences
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Dim, Dimension
from shapeinf.graph import DeclaredType

OUTPUTS = also("C111", "a declared output that the graph does not make")
COMPARISONS = ("C110", OUTPUTS)


@kind("C110", "a declared shape of a value inside the graph is not what the graph makes")
def stale(subject: Subject) -> Iterator[Finding]:
    """Each declaration of a value that a node makes, compared; C111 for outputs of the graph."""
    wrong = set()
    before, since = differences(subject)
    for tensor, declared in subject.declared.items():
        made = subject.result.tensors.get(tensor)
        for finding in () if made is None else compared(subject, tensor, declared, made):
            wrong.add(tensor)
            yield attrs.evolve(finding, cause=since.get(tensor, ""))
    for one in before:
        if one.tensor not in wrong:
            wrong.add(one.tensor)
            message = f"is declared as {one.said} on axis {one.axis} but the graph makes {one.size}: {one.example}"
            yield _found(subject, one.tensor, message)


def compared(subject: Subject, tensor: str, declared: DeclaredType, made: TensorInfo) -> Iterator[Finding]:
    """How one declaration differs from what is made."""
    for message in _differences(subject, declared, made):
        yield _found(subject, tensor, message)


def _found(subject: Subject, tensor: str, message: str) -> Finding:
    node = subject.makers[tensor]
    output = tensor in subject.graph.outputs
    what = f"{'the output ' if output else ''}{tensor}"
    stale = "a stale value_info (infer the shapes of the file again)"
    help = "declare what the graph makes" if output else f"{stale}, or {node} was changed and is wrong"
    return Finding(
        "warning",
        OUTPUTS if output else "C110",
        f"{what} {message}",
        node,
        subject.op(node),
        tensor,
        help=help,
        location=subject.location(node),
    )


def _differences(subject: Subject, declared: DeclaredType, made: TensorInfo) -> Iterator[str]:
    known = made.dtype is not None or made.shape.dims is not None
    if declared.kind != made.kind.split("(")[0]:
        if known:
            yield f"is declared as a {declared.kind} but the graph makes a {made.kind}"
        return
    if declared.kind != "tensor":
        return
    if None not in (declared.dtype, made.dtype) and declared.dtype != made.dtype:
        yield f"is declared as {declared.dtype} but the graph makes {made.dtype}"
    if declared.dims is None or made.shape.dims is None:
        return
    if len(declared.dims) != len(made.shape.dims):
        yield f"is declared with {len(declared.dims)} axes, {_text(declared)}, but the graph makes {made.shape}"
        return
    for axis, (said, size) in enumerate(zip(declared.dims, made.shape.dims, strict=True)):
        size = subject.store.canon(size)
        reason = None if renames(subject, declared_size(subject.store, said), size) else _differs(subject, said, size)
        if reason is not None:
            yield f"is declared as {said} on axis {axis} but the graph makes {size}{reason}"


@kind("C112", "a name of an input that is declared for an expression of others")
def renamed(subject: Subject) -> Iterator[Finding]:
    """Once for each name and expression: files of decoders do so, and mean that both are one."""
    said_before: set[tuple[str, Dim]] = set()
    for tensor, declared in subject.declared.items():
        made = subject.result.tensors.get(tensor)
        if made is None or made.shape.dims is None or len(made.shape.dims) != len(declared.dims or ()):
            continue
        for axis, (said, size) in enumerate(zip(declared.dims or (), made.shape.dims, strict=True)):
            size = subject.store.canon(size)
            if (
                isinstance(said, str)
                and (said, size) not in said_before
                and renames(subject, declared_size(subject.store, said), size)
            ):
                said_before.add((said, size))
                if _differs(subject, said, size) is not None:
                    message = f"is declared as {said} on axis {axis}, which the graph makes {size}"
                    help = f"if they are one size, say so: assume {said} == {size}"
                    yield attrs.evolve(_found(subject, tensor, message), severity="note", code="C112", help=help)


def _text(declared: DeclaredType) -> str:
    return "[" + ", ".join("?" if d is None else str(d) for d in declared.dims or ()) + "]"


def _differs(subject: Subject, said: int | str | None, size: Dim) -> str | None:
    """An example of how a declared size differs from the one that is made; None when they may be the same."""
    meant = declared_size(subject.store, said)
    if meant is None or subject.store.prove_eq(meant, size) is True:
        return None
    if isinstance(meant, int) and isinstance(size, int):
        return ""
    if not (subject.about_inputs(meant) and subject.about_inputs(size)):
        return "" if subject.store.prove_eq(meant, size) is False else None
    return _example(subject, meant, size)


def _example(subject: Subject, meant: Dim, size: Dim) -> str | None:
    """A binding that shows the difference, as text."""
    symbols = {s for d in (meant, size) if isinstance(d, Dimension) for s in d.symbols()}
    for binding in subject.examples(symbols):
        a, b = value(meant, binding), value(size, binding)
        if a is not None and b is not None and a != b:
            return f": {b} for {shown(subject, binding)}"
    return None


@kind("C103", "one name for two sizes")
def overloaded(subject: Subject) -> Iterator[Finding]:
    """Names that no input has, declared for values of which the graph makes different sizes."""
    first: dict[str, tuple[str, int, Dim]] = {}
    for tensor, declared in subject.declared.items():
        made = subject.result.tensors.get(tensor)
        if made is None or made.shape.dims is None or len(made.shape.dims) != len(declared.dims or ()):
            continue
        for axis, (said, size) in enumerate(zip(declared.dims or (), made.shape.dims, strict=True)):
            if not isinstance(said, str) or not said or GENERATED.fullmatch(said) or _is_of_inputs(subject, said):
                continue
            tensor0, axis0, size0 = first.setdefault(said, (tensor, axis, size))
            if subject.store.prove_eq(size0, size) is False:
                message = f"is declared as {said} on axis {axis}, which is {size}, but {said} is {size0} in "
                found = _found(subject, tensor, f"{message}{tensor0}.shape[{axis0}]")
                yield attrs.evolve(found, code="C103", help="two sizes need two names")


def _is_of_inputs(subject: Subject, name: str) -> bool:
    return any(symbol.name == name for symbol in subject.axes)
