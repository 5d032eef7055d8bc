"""With inputs of partly unknown types, PNNX's rules infer less, but no other size, element type or error.

The networks are those of the recorded cases, without the types that pnnx wrote into them; what torch computed with
them must be an instance of what is inferred.
"""

import json
import re

import pytest

from shapeinf import infer_shapes
from shapeinf.lattice import TensorType
from shapeinf.lattice.dtypes import SHORT_NAMES
from tests.differential.pnnx.families import FAMILIES
from tests.differential.pnnx.record import RECORDED


def full(index, x):
    return f"[{','.join(map(str, x['shape']))}]{x['dtype']}"


def of_unknown_rank(index, x):
    return f"[...]{x['dtype']}"


def of_unknown_type(index, x):
    return x["shape"]


def symbolic(index, x):
    return f"[{','.join(f'in{index}_{axis}' for axis in range(len(x['shape'])))}]{x['dtype']}"


def first(specify):
    return lambda index, x: (specify if index == 0 else full)(index, x)


def others(specify):
    return lambda index, x: (specify if index else full)(index, x)


VARIANTS = {
    "unknown ranks": of_unknown_rank,
    "first of unknown rank": first(of_unknown_rank),
    "others of unknown rank": others(of_unknown_rank),
    "unknown types": of_unknown_type,
    "first of unknown type": first(of_unknown_type),
    "others of unknown type": others(of_unknown_type),
    "symbolic": symbolic,
    "nothing known": None,
}


def falsehoods(param, run, specify):
    """Texts of all inferred types and errors of a network with such inputs that a run in torch contradicts."""
    text = re.sub(r" #\S+", "", param)
    blobs = infer_shapes(text).graph.inputs
    pairs = enumerate(zip(blobs, run["inputs"], strict=True))
    inputs = {} if specify is None else {blob: specify(i, x) for i, (blob, x) in pairs}
    result = infer_shapes(text, inputs=inputs, declared="ignore")
    yield from (f"{d.node}: {d.message}" for d in result.diagnostics if d.severity == "error")
    names = list(result.engine.inference.compiled.names)
    for name, truth in run["blobs"].items():
        inferred = result.engine.inference.table.types[result.engine.inference.numbers[names.index(name)]]
        if truth["kind"] == "tensor" and isinstance(inferred, TensorType):
            yield from (f"{name}: {text}" for text in contradictions(inferred, truth))


def contradictions(inferred, truth):
    dtype = SHORT_NAMES.get(truth["dtype"])
    if inferred.dtype not in (None, dtype):
        yield f"the element type is {inferred.dtype}, not {dtype}"
    dims = inferred.shape.dims
    if dims is not None and (
        len(dims) != len(truth["shape"])
        or any(isinstance(d, int) and d != size for d, size in zip(dims, truth["shape"], strict=True))
    ):
        yield f"the shape is {inferred.shape}, not {truth['shape']}"


def networks(family):
    """(param, run) of each network of a family, with inputs that are not empty: symbols are at least 1."""
    for record in json.loads((RECORDED / f"{family}.json").read_text(encoding="utf8")).values():
        for network in record.values():
            if isinstance(network, dict):
                run = network["runs"][-1]
                if all(0 not in x["shape"] for x in run["inputs"]):
                    yield network["param"], run


@pytest.mark.parametrize("family", FAMILIES)
def test_networks_with_one_variant_each(family):
    """Each network is tested with the next variant."""
    cases = enumerate(networks(family))
    variants = list(VARIANTS.values())
    assert not [text for i, (param, run) in cases for text in falsehoods(param, run, variants[i % len(variants)])]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_networks_with_all_variants(family, variant):
    cases = networks(family)
    assert not [text for param, run in cases for text in falsehoods(param, run, VARIANTS[variant])]
