"""The verdict of the contract on a node with a changed operand, compared with the outcome in a runtime."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import attrs

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from tests.differential.operands.breaking import Broken
from tests.differential.operands.oracle import Outcome

FALSE_YES, FALSE_NO, WRONG = "accepted, but the runtime", "rejected, but it runs", "inferred with a wrong shape"


@attrs.frozen
class Disagreement:
    """A case for which a runtime contradicts the verdict or an inferred shape."""

    kind: str
    case: Broken
    detail: str

    def __str__(self) -> str:
        return f"{self.case}: {self.kind} {self.detail}"


def disagreements_of(case: Broken, outcome: Outcome, *, single_sided: bool = False) -> Iterator[Disagreement]:
    """All disagreements with an outcome, for static inputs and for inputs with named dims.

    A `single_sided` oracle checks little: that it runs a case proves nothing.
    """
    for named in (False, True):
        yield from _compare(case, outcome, named, single_sided)


def _compare(case: Broken, outcome: Outcome, named: bool, single_sided: bool) -> Iterator[Disagreement]:
    node, sizes = case.node, case.node.sizes() if named else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = infer_shapes(node.model(named=named))
    answer = result.contract.check(sizes)
    how = "(named) " if named else ""
    if isinstance(outcome, str):
        if answer.verdict is True:
            yield Disagreement(FALSE_YES, case, f"{how}rejects: {outcome[-300:]}")
        return
    if answer.verdict is False:
        if not single_sided:
            yield Disagreement(FALSE_NO, case, f"{how}{answer}")
        return
    for name, real in outcome.items():
        shape = result.tensors[name].shape
        if not single_sided and shape.dims is not None and not _matches(result, shape.dims, real, sizes):
            yield Disagreement(WRONG, case, f"{how}{name}: {shape} is not {list(real)}")


def _matches(result, dims, real: tuple[int, ...], sizes: dict[str, int]) -> bool:
    if len(dims) != len(real):
        return False
    for dim, size in zip(dims, real, strict=True):
        known = isinstance(dim, int) or all(s.name in sizes for s in dim.symbols())
        if evaluate(dim, sizes) != size if known else size not in result.interval(dim):
            return False
    return True
