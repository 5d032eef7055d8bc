"""Cases run in onnxruntime and compared with inferred shapes.

A family is a function that draws a case. A case that onnxruntime rejects is skipped; where it runs, the inferred shapes
must contain the real ones, in every variant of the declarations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shapeinf import infer_shapes
from tests.differential.cases import KNOWN, Case, Variant, create_binding, create_model, distinct_variants
from tests.differential.draws import Draw
from tests.differential.observed import agrees, observed_sizes

FEW, MANY = 12, 1500

sizes = pytest.mark.parametrize("examples", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])


def session_of(model: Any) -> Any:
    """A session without optimization, which turns Gather of a Range into a Slice, which clamps: invalid graphs run."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of this test")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(c: Case) -> dict[str, Any] | str:
    """The results of onnxruntime, or the text of its error."""
    feeds = {f"i{k}": a for k, a in enumerate(c.inputs) if a is not None and k not in c.deciding}
    try:
        return dict(zip(c.outputs, session_of(create_model(c, KNOWN)).run(c.outputs, feeds), strict=True))
    except Exception as refusal:  # onnxruntime raises classes of its own and plain RuntimeErrors
        return str(refusal)


def check(c: Case) -> str | None:
    """The error of onnxruntime, None if the case runs. Raises AssertionError if inference contradicts the run."""
    real = run(c)
    if isinstance(real, str):
        return real
    real |= {f"i{k}": a for k, a in enumerate(c.inputs) if a is not None}
    exact = c.exact and not any(isinstance(value, list) for value in real.values())
    problems = [f"known: {p}" for p in contradictions(c, KNOWN, real, exact)]
    for variant in distinct_variants(c)[1:]:
        problems += [f"{variant}: {p}" for p in contradictions(c, variant, real, exact=False)]
    assert not problems, "\n".join([repr(c), *problems])
    return None


def contradictions(c: Case, variant: Variant, real: dict[str, Any], exact: bool) -> Iterator[str]:
    """Texts of all results of a run that the inferred types exclude; with `exact`, that are not inferred exactly."""
    result = infer_shapes(create_model(c, variant), min_dim=variant.min_dim)
    if result.coverage.unknown_ops:
        pytest.skip(f"operators without a rule: {', '.join(result.coverage.unknown_ops)}")
    binding = create_binding(c)
    sizes = sizes_in_run(result, real, binding)
    yield from (d.render() for d in result.diagnostics if d.severity == "error")
    for name, value in real.items():
        info = result.tensors[name]
        if isinstance(value, list) != (info.kind == "sequence"):
            yield f"{name} is a {info.kind}"
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, (np.ndarray, np.generic)):
                continue
            item = np.asarray(item)
            dtype = "string" if item.dtype.kind == "O" else item.dtype.name
            if info.dtype not in (None, dtype) or (exact and info.dtype is None):
                yield f"{name}: {info.dtype} is not {dtype}"
            if not contains(result, info.shape, item.shape, binding if isinstance(value, list) else sizes, exact):
                yield f"{name}: {info.shape} is not {list(item.shape)}"


def sizes_in_run(result: Any, real: Mapping[str, Any], binding: Mapping[str, int]) -> dict[str, int]:
    """A binding, with the sizes of unknowns in a run; items of a sequence may differ where its type has an unknown."""
    arrays = {name: value for name, value in real.items() if not isinstance(value, list)}
    return observed_sizes(((result.tensors[name].shape, np.shape(value)) for name, value in arrays.items()), binding)


def contains(result: Any, shape: Any, real: tuple[int, ...], sizes: Mapping[str, int], exact: bool) -> bool:
    """Whether an inferred shape contains a real one, where symbols have these sizes; with `exact`, only that one."""
    if shape.dims is None:
        return not exact
    if len(shape) != len(real):
        return False
    return all(
        agrees(result, dim, size, sizes) and (isinstance(dim, int) or not exact)
        for dim, size in zip(shape, real, strict=True)
    )


def verify(family: Callable[[Draw], Case], examples: int) -> None:
    """Check many cases of a family; at least half of them must run."""
    refusals: list[str | None] = []

    @settings(
        max_examples=examples,
        derandomize=examples == FEW,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.composite(lambda draw: family(draw))())
    def cases(c: Case) -> None:
        refusals.append(check(c))

    cases()
    refused = [r for r in refusals if r is not None]
    reasons = "\n".join(sorted({r[-200:] for r in refused}))
    assert len(refused) * 2 <= len(refusals), f"onnxruntime rejects {len(refused)} of {len(refusals)} cases:\n{reasons}"


def families(namespace: dict[str, Any]) -> list[Any]:
    """Every public function of a module that draws a case."""
    functions = [
        f for f in namespace.values() if inspect.isfunction(f) and list(inspect.signature(f).parameters) == ["draw"]
    ]
    return [pytest.param(f, id=f.__name__) for f in functions if not f.__name__.startswith("_")]
