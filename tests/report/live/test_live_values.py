"""Values in the page equal those of the Python program, after typing and after moving a slider."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from shapeinf import Result, infer_shapes
from shapeinf.codegen.javascript import evaluation
from shapeinf.codegen.shape_module import read_asset
from shapeinf.cost.records import FIELDS, Amounts
from shapeinf.errors import IllegalSizeError, NoSizeError
from shapeinf.expr import Scope, evaluate
from shapeinf.expr.exact_runs import MAX_BITS, run_exactly
from shapeinf.expr.straight_line import Lowering
from shapeinf.report.live import save_report
from shapeinf.report.live.data import LiveData, LiveSource
from shapeinf.report.live.page import read_asset as read_page_asset
from shapeinf.texts import format_bytes
from tests.vectors import ROOT

EXAMPLES = ["convnet.onnx", "decoder.onnx", "recurrent.pbtxt", "squeezenet.nnef", "enhancer.pnnx.param"]
CORPUS = [
    "bert.dyn",
    "detr.dyn",
    "llama_past.dyn",
    "loop_decoder.os",
    "mixtral.dyn",
    "rpn_topk_nonzero.dyn",
    "script_while_if.ts",
    "segformer.dyn",
    "t5_decoder_past.dyn",
    "unet_bilinear.dyn",
    "vit_interp.dyn",
    "whisper.dyn",
    "yolo_nms.ts",
]
QUICK = ["detr.dyn", "yolo_nms.ts", "script_while_if.ts"]
LARGE = 10**18 - 1


def model_path(name: str) -> str:
    if name in EXAMPLES:
        return f"examples/{name}"
    path = ROOT / "models" / "dev" / f"{name}.onnx"
    if not path.exists():
        pytest.skip(f"{name}.onnx is not there: set SHAPEINF_CONFORMANCE to the folder that holds the models")
    return str(path)


# -- the page ----------------------------------------------------------------------------------------------------------

TYPE = """
for (const [number, size] of Object.entries(arguments[0])) {
  const input = document.getElementById(`field-${number}`);
  input.value = size;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}
"""
SLIDE = """
for (const [number, position] of Object.entries(arguments[0])) {
  const slider = document.getElementById(`field-${number}-slider`);
  if (!slider) continue;
  slider.value = String(position);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}
"""
READ = """
requestAnimationFrame(() => requestAnimationFrame(() => {
  const { tensors } = page.data;
  const text = (id) => document.getElementById(id).textContent;
  const rows = tensors.name.map((name, i) => {
    const bytes = page.amounts[tensors.bytes[i]];
    return [page.texts[name], page.table.shapeNow(tensors.shape[i]), String(bytes.value), bytes.exact];
  });
  done({
    legal: text("status-text"),
    violations: [...document.querySelectorAll("#violations li")].map((item) => item.textContent),
    peak: text("exact-peak"), node: text("peak-node"), weights: text("exact-weights"), inputs: text("exact-inputs"),
    total: page.cost.total.map(String),
    groups: page.cost.groups.map((group) => [page.data.types[group.op], group.nodes, group.values.map(String)]),
    macs: text("exact-macs"), parameters: text("exact-parameters"),
    fields: page.fields.map((field) => String(field.size)), rows,
  });
}));
"""


@attrs.frozen
class Subject:
    """A model, its page, and the fields in it."""

    result: Result
    path: Path
    data: LiveData

    def names(self) -> list[str]:
        return [field.label for field in self.data.own_fields]


@pytest.fixture
def subject_of(tmp_path: Path) -> Any:
    def build(name: str, **options: Any) -> Subject:
        result = infer_shapes(model_path(name), **options)
        save_report(result, tmp_path / "report.html", title=name)
        return Subject(result, tmp_path / "report.html", LiveData(LiveSource(result, result.memory(), {})))

    return build


def positions(subject: Subject, generator: random.Random) -> dict[int, int]:
    """A random stop of each slider."""
    fields = enumerate(subject.data.own_fields)
    return {number: generator.randrange(len(field.stops)) for number, field in fields if field.stops}


def random_sizes(subject: Subject, generator: random.Random) -> dict[str, int]:
    """Sizes of all magnitudes, legal or not."""
    return {
        field.label: generator.choice([*field.stops, generator.randrange(1 << generator.randrange(1, 40))])
        for field in subject.data.own_fields
    }


def assert_page(subject: Subject, sizes: dict[str, int], displayed: dict[str, Any]) -> bool:
    """What the page shows at these sizes is what Python computes; whether the sizes are legal."""
    program = subject.result.program()
    try:
        program(sizes)
    except IllegalSizeError as error:
        if displayed["legal"] == "Outside of this report":  # Python inferred again, and then a node refused the sizes
            assert subject.result.engine.store.assumed
            return False
        assert displayed["legal"] == "Illegal sizes", sizes
        assert any(error.condition in text for text in displayed["violations"]) or len(displayed["violations"]) > 6
        assert displayed["peak"] == ""
        return False
    if displayed["legal"] == "Outside of this report":  # another inference, without the assumptions of this one
        assert subject.result.engine.store.assumed
        return False
    verdict = subject.result.contract.check(sizes).verdict
    if displayed["legal"] == "Legal sizes":
        assert verdict is True, sizes
    elif displayed["legal"] == "Illegal sizes":  # found out when the page was written
        assert verdict is False, sizes
        return False
    else:
        assert displayed["legal"].startswith("No requirement is violated; ") and subject.data.open_conditions
    assert_tensors(subject, sizes, displayed)
    peak = subject.result.memory().peak.at(sizes)
    assert number_of(displayed["peak"]) == peak.bytes
    assert_cost(subject, sizes, displayed)
    return True


def assert_cost(subject: Subject, sizes: dict[str, int], displayed: dict[str, Any]) -> None:
    cost = subject.result.cost().at(sizes)

    def values(amounts: Amounts) -> list[int]:
        return [getattr(amounts, field) for field in FIELDS]

    assert list(map(int, displayed["total"])) == values(cost.total)
    groups = {op: (nodes, list(map(int, amounts))) for op, nodes, amounts in displayed["groups"]}
    assert groups == {op: (group.nodes, values(group)) for op, group in cost.by_operator.items()}
    assert number_of(displayed["macs"]) == cost.total.macs
    assert number_of(displayed["parameters"]) == cost.total.parameters


def number_of(text: str) -> int:
    return int(text.removesuffix(" bytes").replace(",", ""))


def assert_tensors(subject: Subject, sizes: dict[str, int], displayed: dict[str, Any]) -> None:
    values = subject.result.program().masked(sizes)
    assert len(displayed["rows"]) == len(subject.result.tensors)
    for name, shape, size, exact in displayed["rows"]:
        if subject.result.tensors[name].kind != "tensor" or subject.result.tensors[name].shape.dims is None:
            assert (shape, size) == ("unknown rank", "undefined")
            continue
        try:
            expected = values[name]
        except NoSizeError:
            assert "≤" in shape or "?" in shape
        else:
            if not expected.mask.any():
                assert shape == str(expected[0].tolist()), name
        try:
            bytes_ = values.bytes(name)
        except NoSizeError:
            assert size == "undefined" or not exact
        else:
            if not bytes_.mask.any():
                assert int(size) == int(bytes_[0]), name


def run_bindings(browser: Any, subject: Subject, count: int) -> None:
    """Random sizes until `count` of them are legal: by slider, then by typing."""
    generator = random.Random(subject.result.graph.name)
    legal = 0
    for attempt in range(20 * count):
        if attempt % 2:
            sizes = random_sizes(subject, generator)
            displayed = browser.wait_for(TYPE + READ, {i: str(size) for i, size in enumerate(sizes.values())})
        else:
            displayed = browser.wait_for(SLIDE + READ, positions(subject, generator))
            sizes = dict(zip(subject.names(), map(int, displayed["fields"]), strict=False))
        legal += assert_page(subject, sizes, displayed)
        if legal >= count or not sizes:
            return
    raise AssertionError(f"only {legal} of {20 * count} random sizes are legal")


@pytest.mark.parametrize("name", [*EXAMPLES, *QUICK])
def test_values_equal_the_program(browser: Any, subject_of: Any, name: str) -> None:
    subject = subject_of(name)
    browser.open(subject.path)
    run_bindings(browser, subject, 4)
    assert browser.messages == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPUS)
def test_values_equal_the_program_at_50_bindings(browser: Any, subject_of: Any, name: str) -> None:
    subject = subject_of(name)
    browser.open(subject.path)
    run_bindings(browser, subject, 50)
    assert browser.messages == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_first_sizes_are_legal(browser: Any, subject_of: Any, name: str) -> None:
    subject = subject_of(name)
    browser.open(subject.path)
    displayed = browser.wait_for(READ)
    assert assert_page(subject, {f.label: f.initial for f in subject.data.own_fields}, displayed)
    memory = subject.result.memory()
    sizes = {symbol.name: size for symbol, size in zip(subject.data.needed, map(int, displayed["fields"]), strict=True)}
    assert number_of(displayed["weights"]) == evaluate(memory.weights, sizes)
    assert number_of(displayed["inputs"]) == evaluate(memory.inputs, sizes)


def test_numbers_past_the_doubles_are_exact(browser: Any, subject_of: Any) -> None:
    subject = subject_of("convnet.onnx")
    browser.open(subject.path)
    sizes = {"batch": LARGE, "height": 1 << 40, "width": 2}
    displayed = browser.wait_for(TYPE + READ, {i: str(size) for i, size in enumerate(sizes.values())})
    peak = subject.result.memory().peak.at(sizes).bytes
    assert peak > 1 << 100
    assert number_of(displayed["peak"]) == peak


# -- sizes that depend on data -----------------------------------------------------------------------------------------


def test_a_size_that_depends_on_data_may_be_set(browser: Any, subject_of: Any) -> None:
    subject = subject_of("yolo_nms.ts")
    browser.open(subject.path)
    (label,) = [field.label for field in subject.data.fields if field.initial is None]
    sizes = {field.label: field.initial for field in subject.data.own_fields}
    before = browser.wait_for(READ)
    after = browser.wait_for(TYPE + READ, {len(sizes): "3"})
    assert any("≤" in row[1] or "?" in row[1] for row in before["rows"])
    values = subject.result.program()({**sizes, label: 3})
    names = [row[0] for row in after["rows"] if row[0] in set(values)]
    assert set(names) > {row[0] for row in before["rows"] if row[0] in set(subject.result.program()(sizes))}
    for name, shape, size, exact in after["rows"]:
        if name in names:
            assert (shape, int(size), exact) == (str(values[name][0].tolist()), int(values.bytes(name)[0]), True)


# -- the evaluator alone -----------------------------------------------------------------------------------------------


def expressions(generator: random.Random) -> Iterator[tuple[Lowering, list[int]]]:
    for _ in range(300):
        scope, lowering = Scope(), Lowering()
        registers = [lowering.symbol(scope.symbol(name)) for name in "abc"]
        registers.append(lowering.constant(generator.choice([0, -7, 1 << 70, 3])))
        for _ in range(generator.randrange(1, 20)):
            operation = generator.choice([lowering.add, lowering.multiply, lowering.floordiv, lowering.maximum])
            pair = generator.choices(registers[-3:], k=2)
            registers.append(operation(pair) if operation == lowering.maximum else operation(*pair))
        for _ in range(generator.choice([0, 14])):
            registers.append(lowering.multiply(registers[-1], registers[-1]))
        yield lowering, registers


def test_the_evaluation_equals_that_of_python(node: str) -> None:
    generator = random.Random(18)
    parts, expected = [read_asset("arithmetic.js")], []
    for lowering, registers in expressions(generator):
        program = lowering.program(registers)
        sizes = [generator.choice([0, 1, 5, -3, 1 << 40, -(1 << 90)]) for _ in program.symbols]
        arguments = ", ".join(f"{size}n" for size in sizes)
        parts += ["{", *evaluation(program, range(len(sizes)))]
        parts += [
            f"const registers = evaluate([{arguments}], parts.length);",
            f"write(registers, {list(program.outputs)});}}",
        ]
        row = run_exactly(program, sizes)
        expected.append([None if value is None else str(min(value, 1 << MAX_BITS)) for value in row])
    head = "const text = (v) => (v === null ? null : String(v));"
    head += "const write = (r, rows) => console.log(JSON.stringify(rows.map((i) => text(r[i]))));"
    script = "\n".join([head, *parts])
    done = subprocess.run([node, "-"], input=script, capture_output=True, text=True, check=True, timeout=60)
    assert list(map(json.loads, done.stdout.splitlines())) == expected
    assert any(None in row for row in expected)
    assert any(str(1 << MAX_BITS) in row for row in expected)


def test_a_size_that_is_not_set_has_no_value(node: str) -> None:
    scope, lowering = Scope(), Lowering()
    a, b = (lowering.symbol(scope.symbol(name)) for name in "ab")
    operations = [lowering.add(a, b), lowering.multiply(a, b), lowering.floordiv(a, b), lowering.maximum([a, b])]
    program = lowering.program([*operations, lowering.floordiv(operations[0], lowering.constant(0))])
    script = [read_asset("arithmetic.js"), *evaluation(program, [0, 1])]
    script += [
        f"console.log({list(program.outputs)}.map((i) => String(evaluate([3n, undefined], parts.length)[i])).join());"
    ]
    done = subprocess.run([node, "-"], input="\n".join(script), capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split(",") == [*["undefined"] * 4, "undefined\n"]


BYTES = [0, 1, 999, 1023, 1024, 1500, 3 << 20, 135_266_304, 5 << 40, 1 << 50, 123_456_789_012]


def test_bytes_are_rounded_as_elsewhere(node: str) -> None:
    script = read_asset("arithmetic.js") + read_page_asset("format.js")
    numbers = json.dumps([str(number) for number in [*BYTES, 159 * 10**26]])
    script += f"console.log(JSON.stringify({numbers}.map((n) => bytesText(BigInt(n)))))"
    done = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == [*map(format_bytes, BYTES), "1.59e28 B"]


# -- what the page says of sizes ---------------------------------------------------------------------------------------

BRANCHES = """<ir_version: 8, opset_import: ["": 18]>
g (bool c, float[n] x, float[m] y) => (float[k] z) {
  z = If (c) <then_branch = a () => (float[i] p) { p = Add(x, y) },
              else_branch = b () => (float[j] q) { q = Mul(x, y) }>
}"""
ONE_BRANCH = """<ir_version: 8, opset_import: ["": 18]>
g (bool c, float[n] x, float[m] y) => (float[k] z) {
  z = If (c) <then_branch = a () => (float[i] p) { p = Add(x, y) }, else_branch = b () => (float[j] q) { q = Neg(x) }>
}"""
POOL = """<ir_version: 8, opset_import: ["": 17]>
g (float[n, 3, h, w] x) => (float[n, 3, p, q] y) { y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) }"""
DATA = """<ir_version: 8, opset_import: ["": 18]>
g (int64[n] x, int64[1] k) => (int64[m] y) { z = Expand(k, k) y = Add(x, z) }"""


@pytest.mark.parametrize(
    ("text", "sizes", "status"),
    [
        (BRANCHES, {"n": 2, "m": 3}, "Illegal sizes"),
        (BRANCHES, {"n": 3, "m": 3}, "Legal sizes"),
        (BRANCHES, {"n": 1, "m": 3}, "Legal sizes"),
        (ONE_BRANCH, {"n": 2, "m": 3}, "No requirement is violated; 1 condition depends on data or branches"),
        (POOL, {"n": 1, "h": 1, "w": 4}, "Outside of this report"),
        (POOL, {"n": 1, "h": 2, "w": 4}, "Legal sizes"),
        (DATA, {"n": 3}, "No requirement is violated; 1 condition depends on data or branches"),
    ],
)
def test_the_status_is_what_check_says(
    browser: Any, tmp_path: Path, text: str, sizes: dict[str, int], status: str
) -> None:
    from onnx import parser

    result = infer_shapes(parser.parse_model(text))
    save_report(result, tmp_path / "report.html")
    data = LiveData(LiveSource(result, result.memory(), {}))
    numbers = {field.label: number for number, field in enumerate(data.own_fields)}
    browser.open(tmp_path / "report.html")
    displayed = browser.wait_for(TYPE + READ, {numbers[name]: str(size) for name, size in sizes.items()})
    assert displayed["legal"] == status
    verdict = {"L": True, "I": False, "N": None, "O": True}[status[0]]
    assert result.contract.check(sizes).verdict is verdict


def test_the_first_sizes_are_those_that_check_allows(tmp_path: Path) -> None:
    """The node fails below 200, but only once its contents are known: no requirement of the page says so."""
    from shapeinf.contract import Answer
    from shapeinf.report.live.fields import MAX_CHECKED, choose_sizes, read_field

    result = infer_shapes("examples/convnet.onnx")
    data = LiveData(LiveSource(result, result.memory(), {}))
    fields = {s: attrs.evolve(f, initial=None) for s, f in zip(data.needed, data.own_fields, strict=True)}
    asked: list[dict[str, int]] = []

    def check(sizes: Any) -> Answer:
        asked.append(dict(sizes))
        return Answer(sizes["height"] >= 200)

    sizes, answer = choose_sizes(data.binder, fields, (), {}, check)
    assert answer.verdict and sizes["height"] >= 200 and len(asked) <= MAX_CHECKED
    sizes, answer = choose_sizes(data.binder, fields, (), {}, lambda _: Answer(None, ("depends on data",)))
    assert answer.reasons == ("depends on data",) and read_field(result.engine.store, data.needed[0], "x").legal == ""
