"""Names of unknown sizes in written files: shared, free of collisions, stable, and sound when read again."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path
from typing import Any

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import Result, infer_shapes
from shapeinf.checks import check
from shapeinf.expr import Dimension, Scope, evaluate
from shapeinf.expr.parsing import parse_dim
from shapeinf.formats.unknown_names import LONGEST_NAME
from tests.vectors import ROOT

HEADER = '<ir_version: 10, opset_import: ["" : 21, "my" : 1]>'

MODELS = {
    "one size, many values": "g (float[n, m] x) => (float[?, ?] y) { i = NonZero(x)  a = Cast<to = 1>(i)"
    "  b = Relu(a)  c = Concat<axis = 1>(a, b)  y = Abs(c) }",
    "sizes that may not be negative": "g (int64[1] s, float[n] x) => (float[?] y)"
    " <int64[1] two = {2}, int64[1] zero = {0}> { d = Add(s, two)  a = Slice(x, zero, d)  e = Mul(s, two)"
    "  b = Expand(zero, e)  c = Cast<to = 1>(b)  y = Concat<axis = 0>(a, c) }",
    "open axes of inputs": "g (float[?, ?] x, float[?, m] z) => (float[?, ?] y) { a = Relu(x)  y = MatMul(a, z) }",
    "a name that is taken": "g (float[i_count, m] x) => (float[?, ?] y) { i = NonZero(x)  y = Cast<to = 1>(i) }",
    "a name of an output": "g (float[n, m] x) => (float[2, selected] y) { i = NonZero(x)  y = Cast<to = 1>(i) }",
    "branches": "g (float[n, m] x, bool go) => (float[] y) { i = NonZero(x)  y = If (go) <"
    "then_branch = p () => (q) { j = NonZero(x)  l = Cast<to = 1>(j)  o = Cast<to = 1>(i)  q = Concat<axis = 1>(l, o)}"
    ", else_branch = e () => (r) { j = NonZero(x)  r = Cast<to = 1>(j) }> }",
    "a loop": "g (float[n] x, int64 t, bool go) => (float[] y) { y = Loop (t, go, x) <body = b (int64 k, bool c,"
    " float[q] s) => (bool d, float[r] v) <int64[1] minus = {-1}> { d = Identity(c)  w = NonZero(s)"
    "  u = Cast<to = 1>(w)  m = Reshape(u, minus)  v = Concat<axis = 0>(s, m) }> }",
    "sequences": "g (float[n, m] x) => (float[?, ?] y) { i = NonZero(x)  j = Cast<to = 1>(i)"
    "  s = SequenceConstruct(j, x)  t = SequenceConstruct(x, x)  y = ConcatFromSequence<axis = 0, new_axis = 0>(t) }",
    "functions": "g (float[n, m] x, float[n, m] z) => (int64[?, ?] y, int64[?, ?] w) { y = my.f(x)  w = my.f(z) }"
    '<domain: "my", opset_import: ["" : 21]> f (a) => (b) { c = Relu(a)  b = NonZero(c) }',
}


def parse(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEADER + text)


def texts(model: onnx.ModelProto) -> dict[str, list[int | str | None]]:
    """The dims of the tensors of the graph; None for one that is not declared."""
    values = (*model.graph.value_info, *model.graph.output)
    tensors = [v for v in values if v.type.HasField("tensor_type")]
    return {
        v.name: [getattr(d, d.WhichOneof("value") or "", None) for d in v.type.tensor_type.shape.dim] for v in tensors
    }


def saved(result: Result, path: Path, **options: Any) -> onnx.ModelProto:
    result.save(path, **options)
    return onnx.load(path, load_external_data=False)


def codes(result: Result) -> list[str]:
    return sorted(diagnostic.code for diagnostic in (*result.diagnostics, *check(result)))


def required(result: Result) -> list[str]:
    """The preconditions without those that only name an unknown, or bound it."""
    return [str(precondition) for precondition in result.contract.preconditions if precondition.kind != "assumption"]


def written(text: str, tmp_path: Path) -> dict[str, list[int | str | None]]:
    return texts(saved(infer_shapes(parse(text)), tmp_path / "m.onnx", annotate="all"))


def test_a_size_has_one_name(tmp_path: Path) -> None:
    found = written(MODELS["one size, many values"], tmp_path)
    assert found["i"] == found["a"] == found["b"] == [2, "i_count"]
    assert found["c"] == found["y"] == [2, "2*i_count"]


def test_a_name_is_no_other_name_of_the_file(tmp_path: Path) -> None:
    assert written(MODELS["a name that is taken"], tmp_path)["i"] == [2, "i_count_1"]
    names = re.findall(r"\w*count\w*", str(saved(infer_shapes(parse(MODELS["branches"])), tmp_path / "m.onnx")))
    assert {"i_count", "y_j_count", "y_j_count_1"} <= set(names)


def test_the_name_of_an_output_is_that_of_its_size(tmp_path: Path) -> None:
    found = written(MODELS["a name of an output"], tmp_path)
    assert found["i"] == found["y"] == [2, "selected"]


def test_a_symbol_that_may_be_negative_is_no_size(tmp_path: Path) -> None:
    """`max(0, 2*s)` is written as one name: a reader takes each name in a text as a size."""
    found = written(MODELS["sizes that may not be negative"], tmp_path)
    assert all(re.fullmatch(r"\w+( \+ \w+)*", str(dim)) for name in "abcy" for dim in found[name])


def test_items_of_a_sequence_may_differ_in_an_unknown(tmp_path: Path) -> None:
    model = saved(infer_shapes(parse(MODELS["sequences"])), tmp_path / "m.onnx", annotate="all")
    (declared,) = (value for value in model.graph.value_info if value.name == "s")
    dims = declared.type.sequence_type.elem_type.tensor_type.shape.dim
    assert [dim.WhichOneof("value") for dim in dims] == [None, None]


def test_two_calls_of_a_function_have_two_sizes(tmp_path: Path) -> None:
    model = saved(infer_shapes(parse(MODELS["functions"])), tmp_path / "m.onnx", annotate="all")
    assert texts(model) == {"y": [2, "y_b_count"], "w": [2, "w_b_count"]}
    assert not [
        d for v in model.functions[0].value_info for d in v.type.tensor_type.shape.dim if "count" in d.dim_param
    ]


@pytest.mark.parametrize("annotate", ["chains", "all", "io"])
@pytest.mark.parametrize("name", MODELS)
def test_a_file_that_is_read_again_is_written_alike(tmp_path: Path, name: str, annotate: Any) -> None:
    first = infer_shapes(parse(MODELS[name]))
    saved(first, tmp_path / "1.onnx", annotate=annotate)
    saved(infer_shapes(parse(MODELS[name])), tmp_path / "2.onnx", annotate=annotate)
    again = infer_shapes(tmp_path / "1.onnx")
    saved(again, tmp_path / "3.onnx", annotate=annotate)
    assert len({(tmp_path / f"{number}.onnx").read_bytes() for number in (1, 2, 3)}) == 1
    assert codes(again) == codes(first)
    assert required(again) == (required(first) if "open axes" not in name else required(again))


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=90) | st.sampled_from(
    ["max", "lambda", "None", "unk__0", "1", "a.b/c:0", "i_count", "i count", "i#1", "é", "n", "x" * 300, "@1"]
)


@given(st.lists(NAMES, min_size=3, max_size=3, unique=True))
def test_any_names_of_values(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    """Names in files are short identifiers, different for different sizes, and are read back."""
    values = [name or "empty" for name in names]
    if len({*values, "x", "y"}) != 5:
        return
    nodes = "a = NonZero(x)  b = NonZero(a)  c = NonZero(b)  y = Cast<to = 1>(c)"
    model = parse(f"g (float[n, i_count] x) => (float[?, ?] y) {{ {nodes} }}")
    for node in model.graph.node:
        for side in (node.input, node.output):
            side[:] = [dict(zip("abc", values, strict=True)).get(value, value) for value in side]
    path = tmp_path_factory.mktemp("names") / "m.onnx"
    found = texts(saved(infer_shapes(model), path, annotate="all"))
    sizes = [found[value][1] for value in values]
    assert len({*sizes, "i_count", "n"}) == 5
    assert all(isinstance(size, str) and size.isidentifier() and len(size) <= LONGEST_NAME + 3 for size in sizes)
    again = infer_shapes(path)
    assert [str(again.tensors[value].shape.require()[1]) for value in values] == sizes
    assert not again.diagnostics


def test_a_dim_that_is_too_long_to_print_has_a_name(tmp_path: Path) -> None:
    terms = 30
    inputs = ", ".join(f"float[{'n' * 400}{index}] x{index}" for index in range(terms))
    values = ", ".join(f"x{index}" for index in range(terms))
    model = parse(f"g ({inputs}) => (float[?] y) {{ a = Concat<axis = 0>({values})  b = Relu(a)  y = Abs(b) }}")
    found = texts(saved(infer_shapes(model), tmp_path / "m.onnx", annotate="all"))
    assert found["a"] == found["b"] == found["y"] == ["a_shape_0"]
    saved(infer_shapes(tmp_path / "m.onnx"), tmp_path / "again.onnx", annotate="all")
    assert (tmp_path / "m.onnx").read_bytes() == (tmp_path / "again.onnx").read_bytes()


# -- other formats


def test_names_in_a_network_of_pnnx() -> None:
    network = "\n".join(
        [
            "7767517",
            "4 3",
            "pnnx.Input in 0 1 0 #0=(4,5)f32",
            "aten::nonzero nz 1 1 0 1 #0=(4,5)f32 #1=(?,2)i64",
            "aten::abs abs 1 1 1 2 #1=(?,2)i64 #2=(?,2)i64",
            "pnnx.Output out 1 0 2",
            "",
        ]
    )
    target = io.StringIO()
    result = infer_shapes(network)
    result.save(target)
    sizes = set(re.findall(r"#[12]=\(([^,]*),2\)", target.getvalue()))
    assert len(sizes) == 1
    (size,) = sizes
    assert size.startswith("%")
    again = io.StringIO()
    infer_shapes(target.getvalue()).save(again)
    assert again.getvalue() == target.getvalue()


# -- real models

CORPUS = sorted((ROOT / "models" / "dev").glob("*.onnx"))
QUICK = {path.stem for path in random.Random(35).sample(CORPUS, min(len(CORPUS), 4))} | {
    "rpn_topk_nonzero.ts",
    "loop_growing_cache.os",
    "yolo_nms.ts",
}


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow) for path in CORPUS]
    or [pytest.param(None, marks=pytest.mark.skip("the corpus is not there: set SHAPEINF_CONFORMANCE"))],
)
def test_files_of_real_models(path: Path, tmp_path: Path) -> None:
    """Each tensor has all its dims, each name one size in each recorded run, and the file read again is the same."""
    result = infer_shapes(path)
    model = saved(result, tmp_path / "1.onnx", external_data="copy", annotate="all")
    found = texts(model)
    produced = {name for node in model.graph.node for name in node.output if name}
    complete = {v.name for v in (*model.graph.value_info, *model.graph.output) if v.type.WhichOneof("value")}
    assert produced <= complete
    assert [name for name, dims in found.items() if None in dims] == []
    truth = json.loads(path.with_name(f"{path.stem}.truth.json").read_text(encoding="utf-8"))
    for run, binding in enumerate(truth["bindings"]):
        assert_equal_names_mean_equal_sizes(found, truth["tensors"], run, dict(binding))
    again = infer_shapes(tmp_path / "1.onnx")
    saved(again, tmp_path / "2.onnx", external_data="copy", annotate="all")
    assert (tmp_path / "1.onnx").read_bytes() == (tmp_path / "2.onnx").read_bytes().replace(b"2.onnx", b"1.onnx")
    assert codes(again) == codes(result)


def assert_equal_names_mean_equal_sizes(
    found: dict[str, list[int | str | None]], tensors: dict[str, Any], run: int, sizes: dict[str, int]
) -> None:
    runs = {name: tensors[name]["shapes"][run] for name in found if name in tensors and "shapes" in tensors[name]}
    observed = [
        (name, text, size)
        for name, shape in runs.items()
        if shape is not None and len(shape) == len(found[name])
        for text, size in zip(found[name], shape, strict=True)
    ]
    for name, text, size in observed:
        if isinstance(text, str) and text.isidentifier():
            assert sizes.setdefault(text, size) == size, (name, text)
    scope = Scope()
    for name, text, size in observed:
        dim = parse_dim(text, scope) if isinstance(text, str) else text
        if isinstance(dim, Dimension) and not all(symbol.name in sizes for symbol in dim.symbols()):
            continue  # a symbol that no recorded tensor has alone
        assert evaluate(dim, sizes) == size, (name, text)
