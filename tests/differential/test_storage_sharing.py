"""The storage that ONNX operators share, against onnxruntime on the published cases of the onnx package.

An output that is a view has the bytes of its source. A result may overwrite an input if each of its elements depends
only on the element of that input at the same position.
"""

import functools

import numpy as np

from shapeinf.ops.registry import default_registry
from tests.differential.ort import session_of
from tests.differential.test_onnx_data import cases

FEW = 6
"""The number of elements of an input that are changed in each case."""


@functools.cache
def marked():
    """(case, node, OpDef) of the published cases of one node whose operator shares storage."""
    registry, marks = default_registry(), []
    for case in cases():
        nodes, versions = case.model.graph.node, {o.domain: o.version for o in case.model.opset_import}
        if len(nodes) != 1 or "training" in case.name:  # dropout in training is random
            continue
        (node,) = nodes
        definition = registry.lookup("onnx", node.domain, node.op_type, versions.get(node.domain, 0))
        if definition is not None and (definition.views or definition.in_place):
            marks.append((case, node, definition))
    return marks


@functools.cache
def runs():
    """(name, session, feeds, results, node, OpDef) of the cases in `marked` for which onnxruntime has a kernel."""
    ready = []
    for case, node, definition in marked():
        arrays = [a for a in case.data_sets[0][0] if isinstance(a, np.ndarray)]
        if len(arrays) < len(case.model.graph.input):
            continue
        feeds = {i.name: a for i, a in zip(case.model.graph.input, arrays, strict=True)}
        try:
            session = session_of(case.model)
            results = session.run(None, feeds)
        except Exception:  # no kernel for the type or version; onnxruntime has no class of its own for it
            continue
        ready.append((case.name, session, feeds, results, node, definition))
    return ready


def test_most_have_runs():
    assert len({node.op_type for *_, node, _ in runs()}) >= 0.8 * len({node.op_type for _, node, _ in marked()})


def test_views_have_the_bytes_of_their_source():
    seen = 0
    for name, _, feeds, results, node, definition in runs():
        for output, source in definition.views.items():
            assert results[output].tobytes() == feeds[node.input[source]].tobytes(), name
            seen += 1
    assert seen > 20


def test_results_in_place_need_no_other_element():
    seen = 0
    for name, session, feeds, results, node, definition in runs():
        for position in definition.in_place:
            source = node.input[position] if position < len(node.input) else ""
            if source in feeds and feeds[source].nbytes == results[0].nbytes and feeds[source].dtype.kind in "biuf":
                for at in spread_over(feeds[source].size):
                    assert changes(session, feeds, source, at, results[0]) <= {at}, (name, position)
                    seen += 1
    assert seen > 500


def spread_over(size):
    return np.random.default_rng(size).choice(size, min(size, FEW), replace=False)


def changes(session, feeds, source, at, before):
    """The positions in the result that differ when an element of an input changes."""
    positions = set()
    for new in (feeds[source].flat[at - 1], 1, 2):
        other = feeds[source].copy()
        other.flat[at] = new
        after = session.run(None, {**feeds, source: other})[0]
        same = (after == before) | ((after != after) & (before != before))
        positions.update(np.flatnonzero(~same).tolist())
    return positions
