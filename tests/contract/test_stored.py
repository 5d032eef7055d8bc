"""The contract in a file: read without an inference, compared with the graph of the file; hostile texts are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from click.testing import CliRunner

import shapeinf.engine.session
from shapeinf import Contract, ModelError, ShapeInferenceError, UnknownNameError, bind, infer_shapes
from shapeinf.checks import check_files
from shapeinf.cli import main
from shapeinf.contract.stored import MAX_PRECONDITIONS, contract_text, current_digest, parse_contract
from shapeinf.formats import load
from shapeinf.graph.digest import graph_digest
from tests.vectors import ROOT

CONVNET = "examples/convnet.onnx"
DECODER = "examples/decoder.onnx"
MODELS = sorted((ROOT / "models" / "dev").glob("*.onnx"))


def store(folder: Path, model: str = CONVNET) -> Path:
    target = folder / "model.onnx"
    infer_shapes(model).save(target, contract=True)
    return target


def test_it_is_read_without_an_inference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = store(tmp_path)
    monkeypatch.setattr(shapeinf.engine.session.Session, "run", None)
    contract = Contract.load(target)
    assert contract.current is True and contract.mismatch == ""
    assert [precondition.text for precondition in contract.preconditions] == ["height % 2 == 0", "width % 2 == 0"]
    assert contract.check(height=255).verdict is False
    assert contract.check({"height": 256}, width=4).verdict is None
    assert "outside of 1.." in str(contract.check(batch=0))
    assert [p.node for p in contract.violations({"height": 3, "width": 3})] == ["joined/Concat"] * 2
    with pytest.raises(UnknownNameError):
        contract.check(hight=3)


def test_it_states_what_the_contract_states(tmp_path: Path) -> None:
    stored, contract = Contract.load(store(tmp_path, DECODER)), infer_shapes(DECODER).contract
    assert str(stored) == str(contract)
    assert {size: stored.check(seq=size).verdict for size in (512, 513)} == {512: None, 513: False}
    assert infer_shapes(tmp_path / "model.onnx").stored_contract == stored


@pytest.mark.parametrize("suffix", [".onnxtxt", ".json"])
def test_text_forms_of_onnx_store_it_too(tmp_path: Path, suffix: str) -> None:
    infer_shapes(CONVNET).save(tmp_path / f"m{suffix}", contract=True)
    assert Contract.load(tmp_path / f"m{suffix}").check(height=255).verdict is False


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("examples/recurrent.pbtxt", "m.pbtxt"),
        ("examples/enhancer.pnnx.param", "m.pnnx.param"),
        ("examples/squeezenet.nnef", "m.nnef"),
        ("examples/detector.tflite", "m.tflite"),
    ],
)
def test_other_formats_have_a_file_beside(tmp_path: Path, model: str, name: str) -> None:
    result = infer_shapes(model)
    result.save(tmp_path / name, contract=True)
    contract = Contract.load(tmp_path / name)
    assert contract.current and len(contract.preconditions) == len(result.contract)
    alone = Contract.load(tmp_path / f"{name}.contract.json")
    assert alone.current is None and alone.mismatch == "the contract was not compared with its model"
    names = dict.fromkeys(alone.dims, 3)
    assert alone.check(names).verdict is None


EDITS: dict[str, Callable[[onnx.ModelProto], object]] = {
    "operator": lambda m: setattr(m.graph.node[0], "op_type", "Neg"),
    "domain": lambda m: (m.opset_import.add(domain="other", version=1), setattr(m.graph.node[0], "domain", "other")),
    "opset": lambda m: setattr(m.opset_import[0], "version", m.opset_import[0].version - 1),
    "connection": lambda m: m.graph.node[1].input.__setitem__(0, m.graph.input[0].name),
    "node": lambda m: m.graph.node.pop(),
    "attribute": lambda m: next(n for n in m.graph.node if n.op_type == "Concat").attribute[0].__setattr__("i", 2),
    "input": lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[1], "dim_value", 4),
    "name of a dim": lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[0], "dim_param", "n"),
    "element type": lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 10),
    "constant": lambda m: next(t for t in m.graph.initializer if len(t.dims)).dims.__setitem__(0, 77),
    "output": lambda m: m.graph.output.pop(),
    "function": lambda m: m.functions.append(onnx.FunctionProto(name="f", domain="d")),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_model_is_not_current(tmp_path: Path, edit: str) -> None:
    """No edit after the contract was stored leaves a verdict."""
    proto = onnx.load(store(tmp_path))
    EDITS[edit](proto)
    (tmp_path / "edited.onnx").write_bytes(proto.SerializeToString())
    contract = Contract.load(tmp_path / "edited.onnx")
    assert contract.current is False
    assert contract.check(height=255).verdict is None
    assert "the model is not the one" in str(contract.check(height=255))


def test_what_decides_nothing_leaves_it_current(tmp_path: Path) -> None:
    """Names of nodes, documentation, types of inner values, a weight of the same shape."""
    proto = onnx.load(store(tmp_path))
    proto.doc_string, proto.producer_name = "text", "someone"
    del proto.graph.value_info[:]
    for number, node in enumerate(proto.graph.node):
        node.name = f"n{number}"
    (tmp_path / "other.onnx").write_bytes(proto.SerializeToString())
    assert Contract.load(tmp_path / "other.onnx").current


def test_contents_of_integers_decide() -> None:
    model = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[n, 6] x) => (float[a, b] y) <int64[2] s = {NUMBERS}> { y = Reshape(x, s) }"""
    digests = {
        graph_digest(load(onnx.parser.parse_model(model.replace("NUMBERS", numbers)).SerializeToString()))
        for numbers in ("6, -1", "-1, 6", "0, 6")
    }
    assert len(digests) == 3


def test_an_edit_by_us_drops_it(tmp_path: Path) -> None:
    bind(store(tmp_path), {"batch": 2}).save(tmp_path / "bound.onnx")
    with pytest.raises(ModelError, match="has no contract"):
        Contract.load(tmp_path / "bound.onnx")
    infer_shapes(tmp_path / "model.onnx").save(tmp_path / "again.onnx")
    assert Contract.load(tmp_path / "again.onnx").current


def test_check_reports_a_stale_contract(tmp_path: Path) -> None:
    target = store(tmp_path)
    assert [check.diagnostics for check in check_files(str(target))] == [()]
    proto = onnx.load(target)
    EDITS["operator"](proto)
    onnx.save(proto, target)
    (check,) = check_files(str(target))
    stale = [d.message for d in check.diagnostics if d.code == "C164"]
    assert stale == ["the stored contract is that of another graph"]


@pytest.mark.parametrize("options", [{"inputs": {"image": "2x3x8x8"}}, {"assume": "height <= width"}])
def test_what_a_file_cannot_state_is_not_stored(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ShapeInferenceError, match="a file cannot state that"):
        infer_shapes(CONVNET, **options).save(tmp_path / "m.onnx", contract=True)
    assert list(tmp_path.iterdir()) == []


def test_ranges_and_sizes_of_the_user_are_stored(tmp_path: Path) -> None:
    infer_shapes(CONVNET, dims={"height": "2..64"}, bind={"batch": 4}).save(tmp_path / "m.onnx", contract=True)
    contract = Contract.load(tmp_path / "m.onnx")
    assert {name: str(bounds) for name, bounds in contract.dims.items()} == {
        "batch": "4..4",
        "height": "2..64",
        "width": "1..",
    }
    assert contract.check(height=66).verdict is None and contract.check(height=63).verdict is False


# -- hostile texts -----------------------------------------------------------------------------------------------------


def valid() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(contract_text(infer_shapes(CONVNET).stored_contract))
    return data


def changed(path: str, value: object) -> str:
    data = valid()
    *keys, last = path.split("/")
    target: Any = data
    for key in keys:
        target = target[int(key)] if key.isdecimal() else target[key]
    target[last] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "[" * 100_000,
        '{"schema": "shapeinf.contract/2"}',
        changed("digest", 3),
        changed("cut", 1),
        changed("dims", []),
        changed("dims/batch", {"min": "1", "max": None}),
        changed("dims/batch", {"min": True, "max": None}),
        changed("preconditions", {}),
        changed("preconditions", [None]),
        changed("preconditions", [{}] * (MAX_PRECONDITIONS + 1)),
        changed("preconditions/0/clauses", [{"expression": "height", "zero": 1}]),
        changed("preconditions/0/clauses", [{"expression": "unknown - 1", "zero": True}]),
        changed("preconditions/0/clauses", [{"expression": "height //", "zero": True}]),
        changed("preconditions/0/clauses", [{"expression": "__import__('os')", "zero": True}]),
        changed("preconditions/0/clauses", [{"expression": "(" * 100_000, "zero": True}]),
        changed("preconditions/0/clauses", [{"expression": "height" + "*height" * 100_000, "zero": True}]),
        changed("preconditions/0/clauses", [{"expression": "height // 0", "zero": True}]),
        changed("preconditions/0/clauses", [{"expression": "9" * 100_000, "zero": True}]),
        changed("preconditions/0/symbols", [3]),
    ],
)
def test_hostile_texts(text: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the contract"):
        parse_contract(text, "m")
    proto = onnx.load(CONVNET)
    onnx.helper.set_model_props(proto, {"shapeinf.contract": text or "x"})
    onnx.save(proto, tmp_path / "m.onnx")
    with pytest.raises(ModelError, match=r"m\.onnx: the contract"):
        Contract.load(tmp_path / "m.onnx")
    (check,) = check_files(str(tmp_path / "m.onnx"))
    assert [d.code for d in check.diagnostics] == ["C164"]
    assert len(infer_shapes(tmp_path / "m.onnx").contract) == 2


def test_a_contract_that_lies_has_no_yes() -> None:
    """Anybody can write any preconditions: the answer is never yes."""
    stored = parse_contract(changed("preconditions", []), "m")
    assert stored.check(height=255).verdict is None


def test_a_model_without_a_contract(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has no contract"):
        Contract.load(CONVNET)
    with pytest.raises(ModelError):
        Contract.load(tmp_path / "none.onnx")
    with pytest.raises(ModelError):
        Contract.load(tmp_path / "none.contract.json")


# -- the corpus, the command -------------------------------------------------------------------------------------------


@pytest.mark.skipif(not MODELS, reason="the corpus of models is not there")
@pytest.mark.parametrize(
    "model", [pytest.param(m, id=m.name, marks=[] if i % 12 == 0 else [pytest.mark.slow]) for i, m in enumerate(MODELS)]
)
def test_the_digest_of_a_saved_model_is_that_of_its_source(model: Path, tmp_path: Path) -> None:
    result = infer_shapes(model)
    target = tmp_path / model.name
    result.save(target, contract=True, external_data="copy")
    contract = Contract.load(target)
    assert contract.current and contract.digest == current_digest(load(str(model)))
    assert [str(p) for p in contract.preconditions] == [
        str(p)
        .replace(f"{p.legal}, ", f"{p.text}, ", 1)
        .replace(f" (where the {p.where} runs)", "")
        .replace("assumed at", "required by")
        for p in result.contract.preconditions
    ]


def run(*arguments: object) -> Any:
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_on_the_command_line(tmp_path: Path) -> None:
    target = tmp_path / "m.onnx"
    assert run("infer", CONVNET, "-o", target, "--contract").exit_code == 0
    done = run("contract", target, "--stored", "--at", "height=255")
    assert done.exit_code == 1 and done.output.startswith("height=255: no: height % 2 == 0, required by Concat")
    assert run("contract", target, "--at", "batch=1,height=2,width=2").output == "batch=1, height=2, width=2: yes\n"
    inferred, read = (run("contract", target, *more, "--json").stdout for more in ([], ["--stored"]))
    assert json.loads(inferred) == json.loads(read)
    assert "height % 2 == 0" in run("contract", CONVNET).output
    for wrong in (["infer", CONVNET, "--contract"], ["contract", CONVNET, "--at", "height=2", "--format", "c"]):
        assert run(*wrong).exit_code == 2
    assert run("contract", CONVNET, "--stored").exit_code == 3
