"""The rule of a compound operation agrees with the rules of its body."""

from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, assume, find, given, settings
from hypothesis import strategies as st

from opdefs.nnef.library import LAYERS, library
from opdefs.nnef.schemas import tensor_type
from shapeinf import infer_shapes
from shapeinf.formats.nnef.builder import build
from shapeinf.formats.nnef.evaluation.evaluator import evaluate
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.parser import parse
from shapeinf.formats.nnef.language.types import ArrayOf

rules = pytest.importorskip("tests.differential.test_nnef_rules")

LIBRARIES = {dialect: {f.name: f for f in library(dialect)} for dialect in ("final", "provisional")}
LIBRARY = LIBRARIES["final"]
COMPOUNDS = {name for name, fragment in LIBRARY.items() if fragment.body is not None}
PLAIN = sorted(
    name
    for name in COMPOUNDS
    if len([p for p in LIBRARY[name].parameters if tensor_type(p.type)]) == 1
    and all(str(p.type) in ("scalar", "tensor<scalar>") for p in LIBRARY[name].parameters)
)


def plain(draw, ops=PLAIN):
    """Compounds of one tensor and numbers."""
    op = draw(st.sampled_from(ops))
    numbers = {p.name: 0.5 for p in LIBRARY[op].parameters[1:] if p.default is None}
    return op, [draw(rules.sizes())], numbers


def several(draw):
    x = draw(rules.sizes())
    op, count = draw(st.sampled_from((("min", 2), ("max", 2), ("prelu", 2), ("clamp", 3))))
    return op, [x, *(rules.similar(draw, x) for _ in range(count - 1))], {}


def sums(draw):
    x = draw(rules.sizes())
    return "add_n", [rules.similar(draw, x) for _ in range(draw(st.integers(1, 4)))], {}


def products(draw):
    lead = draw(rules.sizes(most=2))
    m, k, n = (draw(st.integers(1, 4)) for _ in range(3))
    return "linear", [(*lead, m, k), (*lead, n, k), draw(st.sampled_from(((), (1,), (1,) * len(lead) + (1, n))))], {}


def pools(draw):
    op, shapes, attributes = rules.pool(draw)
    return (op if op in COMPOUNDS else "avg_pool"), shapes[:1], attributes


DRAWS = (
    *(plain, several, sums, products, pools, rules.separable, rules.reduction, rules.local),
    *(rules.resampling, rules.regions, rules.ranged, rules.copies),
)


def document(op, shapes, attributes, outputs, dialect="final"):
    """A document of one invocation."""
    fragment = LIBRARIES[dialect][op]
    tensors = [p for p in fragment.parameters if tensor_type(p.type)]
    names = [f"in{i}" for i in range(len(shapes))]
    arguments, lines = ", ".join(names), []
    for i, (name, shape) in enumerate(zip(names, shapes, strict=True)):
        of = tensor_type(tensors[min(i, len(tensors) - 1)].type).of
        kind = "scalar" if of.name == "?" else of.name
        kind = "" if dialect == "provisional" else f"<{kind}>"
        lines.append(f"{name} = external{kind}(shape = {literal(shape)});")
    results = ", ".join(f"out{i}" for i in range(outputs))
    is_array = isinstance(fragment.results[0].type, ArrayOf)
    operands = [f"[{arguments}]" if isinstance(tensors[0].type, ArrayOf) else arguments]
    known = {p.name for p in fragment.parameters}
    operands += [f"{name} = {literal(value)}" for name, value in attributes.items() if name in known]
    lines.append(f"{f'[{results}]' if is_array else results} = {op}({', '.join(operands)});")
    version = "version 1.0;" if dialect == "final" else "version 1.0"
    return f"{version}\ngraph g({arguments}) -> ({results})\n{{\n{chr(10).join(lines)}\n}}\n"


def literal(value):
    if isinstance(value, tuple):
        items = [f"({a[0]}, {a[1]})" if isinstance(a, tuple) and a else literal(a) for a in value]
        return f"[{', '.join(items)}]"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def shapes_of(text, outputs, expand, dialect="final"):
    """The shapes of the results; None if there is an error."""
    source = SourceText(text)
    parsed = parse(source)
    graph = build(evaluate(parsed, source, LIBRARIES[dialect], expand), parsed, source)
    result = infer_shapes(graph)
    if any(d.severity == "error" for d in result.diagnostics):
        return None
    return [result.tensors[f"out{i}"].shape.dims for i in range(outputs)]


@pytest.mark.parametrize("draw_case", DRAWS, ids=lambda draw: draw.__name__)
@given(data=st.data())
def test_a_compound_has_the_shapes_of_its_body(draw_case, data):
    op, shapes, attributes, *count = draw_case(data.draw)
    if op not in COMPOUNDS or attributes.get("times") == 0:
        return
    text = document(op, shapes, attributes, outputs := count[0] if count else len(LIBRARY[op].results))
    atomic = shapes_of(text, outputs, ())
    if atomic is not None:
        assert shapes_of(text, outputs, "all") == atomic, text


@st.composite
def cases(draw, draws):
    """An invocation of a compound: its name, its document, its number of results."""
    op, shapes, attributes, *count = draw(st.sampled_from(draws))(draw)
    assume(attributes.get("times") != 0)  # of no copies there are no results to assign
    outputs = count[0] if count else len(LIBRARY[op].results) if op in LIBRARY else 1
    return op, document(op, shapes, attributes, outputs), outputs


def is_legal(case):
    return shapes_of(*case[1:], ()) is not None


def random_cases(count):
    """The settings of a search among so many cases, the same in each run."""
    return settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def legal_cases():
    """A legal invocation of each compound of several tensors or attributes, by its name: one search for all."""
    found = {}

    @random_cases(2_000)
    @given(cases(DRAWS[1:]))
    def collect(case):
        if case[0] not in found and is_legal(case):
            found[case[0]] = case

    collect()
    return found


@pytest.mark.parametrize("op", sorted(COMPOUNDS - LAYERS))
def test_every_compound_has_a_case(op, legal_cases):
    if op in PLAIN:
        _, text, outputs = find(cases([partial(plain, ops=[op])]), is_legal, settings=random_cases(100))
    else:
        _, text, outputs = legal_cases[op]
    assert shapes_of(text, outputs, "all") == shapes_of(text, outputs, ()), text


PROVISIONAL = [
    ("planewise_conv", [(1, 3, 8), (3, 1, 3), ()], {"padding": ((0, 0),)}),
    ("planewise_deconv", [(1, 3, 8), (3, 1, 3), ()], {"stride": (2,)}),
    ("layer_normalization", [(2, 3, 4)], {"axes": (1, 2)}),
    ("divisive_normalization", [(2, 3, 4)], {"size": (3,)}),
    ("binary_quantize", [(2, 3), (1, 3)], {}),
    ("ternary_quantize", [(2, 3), (1, 3), (2,)], {}),
    ("linear_quantize", [(2, 3), (), (1, 3)], {"bits": 8}),
    ("logarithmic_quantize", [(2, 3), (2,)], {"bits": 8}),
    ("linear", [(2, 3), (4, 3), (1, 4)], {}),
    ("sinh", [(2, 3)], {}),
    ("tanh", [(2, 3)], {}),
    ("leaky_relu", [(2, 3)], {"alpha": 0.5}),
]


@pytest.mark.parametrize(("op", "shapes", "attributes"), PROVISIONAL, ids=[op for op, _, _ in PROVISIONAL])
def test_a_provisional_compound_has_the_shapes_of_its_body(op, shapes, attributes):
    text = document(op, shapes, attributes, 1, "provisional")
    atomic = shapes_of(text, 1, (), "provisional")
    assert atomic is not None
    assert stripped(atomic[0]) == stripped(shapes_of(text, 1, "all", "provisional")[0])


def stripped(shape):
    return stripped(shape[:-1]) if shape and shape[-1] == 1 else shape
