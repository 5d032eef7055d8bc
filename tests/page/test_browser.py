"""The page in a browser: every format, hostile files, no request after loading; widths, colors, keys, large models."""

from __future__ import annotations

import shutil
import zipfile
from itertools import pairwise
from pathlib import Path

import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

from shapeinf import infer_shapes
from shapeinf.report.live.data import LiveData, LiveSource
from tests.browser import Browser
from tests.page.conftest import Server
from tests.page.driver import OpenPage
from tests.page.test_session import EXAMPLES, FORMATS, archive

ESCAPE, TAB, ENTER = "\ue00c", "\ue004", "\ue007"

HOSTILE = "</script><img src=x onerror='window.hacked=1'>"

NO_SIZE = (
    """<ir_version: 8, opset_import: ["": 18]> g (float[a, 3] x, float[a, 4] y) => (float[a, 3] z) { z = Add(x, y) }"""
)


@pytest.fixture(scope="module")
def page(browser: Browser, server: Server) -> OpenPage:
    opened = OpenPage(browser, server)
    opened.load()
    return opened


def back(page: OpenPage) -> None:
    """To the start, from a report or a failure."""
    page.browser.find("#again" if page.state == "result" else f"#{page.state}-back").click()
    assert page.state == "start"


def relu_chain(path: Path, count: int) -> Path:
    names = [f"/model/layers.{i // 250}/attention/value_{i}" for i in range(count + 1)]
    types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in (names[0], names[-1])]
    nodes = [helper.make_node("Relu", [a], [b], name=b) for a, b in pairwise(names)]
    model = helper.make_model(helper.make_graph(nodes, "g", types[:1], types[1:]))
    path.write_bytes(model.SerializeToString())
    return path


def hostile_files(folder: Path) -> dict[Path, str]:
    """Files that are no sound models, and a part of the message of each."""
    damaged = folder / "damaged.onnx"
    damaged.write_bytes((EXAMPLES / "convnet.onnx").read_bytes()[:-40])
    text = folder / f"{'<img src=x onerror=alert(1)>'.replace('/', '')}.txt"
    text.write_text("no model\n")
    empty = folder / "empty.onnx"
    empty.write_bytes(b"")
    bomb = folder / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target, target.open("a.onnx", "w") as member:
        for _ in range(260):
            member.write(bytes(1 << 20))
    outside = archive(folder / "outside.zip", {"../../packages/shapeinf/api.py": b"x"})
    return {
        damaged: "damaged.onnx",
        text: "<img src=x onerror=alert(1)>.txt: ",
        empty: "is empty",
        bomb: "more than 256 MiB",
        outside: "is not a path below its own folder",
    }


def check_example(page: OpenPage, name: str, folder: Path) -> None:
    """The report, an explanation and the copy of an example are those of shapeinf on this machine."""
    source = EXAMPLES / name
    target = folder / name
    shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    assert page.open(target, folder=source.is_dir()) == "result", page.text("failure-text")
    assert page.text("model") == name
    result = infer_shapes(source)
    data, (own, evaluation) = page.report_data(), LiveData(LiveSource(result, result.memory(), {})).tables()
    assert page.browser.run("return modelPage.html.includes(arguments[0])", evaluation)
    for key in ("dims", "shapes", "tensors", "types", "texts", "amounts", "timeline", "cost"):
        assert data[key] == own[key] or data[key] == [*map(list, own[key])], key
    tensor = next(iter(result.outputs))
    assert page.explain(tensor, 0)[0] == result.explain(tensor, 0)[0].replace(f"{EXAMPLES}/", "")
    copy = FORMATS[name]
    assert (copy is None) == page.browser.run("return document.getElementById('save-copy').disabled")
    if copy is not None:
        page.save("save-copy", folder / copy)
        assert str(infer_shapes(folder / copy).outputs) == str(result.outputs)
    back(page)


def test_models_and_hostile_files_without_requests(page: OpenPage, tmp_path: Path) -> None:
    """One session of the browser, in which Python starts once."""
    loaded = len(page.server.requests)
    for name in FORMATS:
        check_example(page, name, tmp_path)
    for path, message in hostile_files(tmp_path).items():
        assert page.open(path) == "failure"
        assert message in page.text("failure-text")
        assert "bug" not in page.text("failure-title") and "/model/" not in page.text("failure-text")
        back(page)
    (tmp_path / "none.onnx").write_bytes(onnx.parser.parse_model(NO_SIZE).SerializeToString())
    assert page.open(tmp_path / "none.onnx") == "result"
    first = "return document.querySelector('#findings td.error').parentElement.textContent"
    assert "3 and 4 do not broadcast" in page.in_report(first)
    back(page)
    assert page.server.requests[loaded:] == []
    assert page.browser.run("return performance.getEntriesByType('resource').length") <= loaded
    assert page.browser.messages == []


def test_names_of_a_model_stay_text(page: OpenPage, tmp_path: Path) -> None:
    values = [helper.make_tensor_value_info(f"{name}{HOSTILE}", TensorProto.FLOAT, [HOSTILE, 4]) for name in "ab"]
    node = helper.make_node("Relu", [values[0].name], [values[1].name], name=HOSTILE)
    path = tmp_path / "hostile.onnx"
    path.write_bytes(helper.make_model(helper.make_graph([node], HOSTILE, values[:1], values[1:])).SerializeToString())
    assert page.open(path) == "result"
    assert page.explain(f"b{HOSTILE}", 0)[0].startswith(f"b{HOSTILE}")
    assert page.in_report("return [typeof window.hacked, document.querySelectorAll('img').length]") == ["undefined", 0]
    assert page.browser.run("return typeof window.hacked") == "undefined"
    back(page)


def test_the_frame_has_no_rights(page: OpenPage) -> None:
    assert page.open(EXAMPLES / "convnet.onnx") == "result"
    assert page.in_report("return window.origin") == "null"
    for script in ("window.parent.document.title", "localStorage.length", "document.cookie"):
        blocked = f"try {{ {script}; return 'allowed' }} catch (error) {{ return error.name }}"
        assert page.in_report(f"return (() => {{ {blocked} }})()") == "SecurityError", script
    back(page)


def test_workers_reach_no_other_origin(page: OpenPage) -> None:
    """The policy of the page holds in its workers too; an origin differs by its host here."""
    other = page.server.address.replace("127.0.0.1", "localhost")
    requests = len(page.server.requests)
    outcomes = page.browser.wait_for(
        """
        const attempts = [`fetch("${arguments[0]}")`, `import("${arguments[0]}page.js")`];
        const source = `Promise.allSettled([${attempts}]).then((all) => postMessage(all.map((one) => one.status)))`;
        const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
        new Worker(address, { type: "module" }).onmessage = (event) => done(event.data);
        """,
        other,
    )
    assert outcomes == ["rejected", "rejected"] and len(page.server.requests) == requests
    assert len(page.browser.messages) >= 2


# -- nightly: large models, widths, colors, keys -----------------------------------------------------------------------


@pytest.mark.slow
def test_20000_nodes_and_a_cancelled_model(page: OpenPage, tmp_path: Path) -> None:
    loaded = len(page.server.requests)
    path = relu_chain(tmp_path / "chain.onnx", 20_000)
    page.choose(path)
    page.wait(lambda: page.state == "work")
    page.browser.find("#cancel").click()
    assert page.state == "start"
    assert page.open(path) == "result"
    assert len(page.report_data()["tensors"]["name"]) == 20_001
    back(page)
    page.choose(path)
    page.wait(lambda: page.state == "work")
    page.browser.press(ESCAPE)
    assert page.state == "start"
    assert page.open(EXAMPLES / "convnet.onnx") == "result"
    back(page)
    assert page.server.requests[loaded:] == []


def large_model(path: Path, weights: int) -> Path:
    """A model with this many bytes of weights, all zero; a sparse file where the system has these."""

    def field(number: int, length: int) -> bytes:
        out = [number << 3 | 2]
        while length > 127:
            out.append(length & 127 | 128)
            length >>= 7
        return bytes([*out, length])

    node = helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)
    source = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1024])
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", "m"])
    model = helper.make_model(helper.make_graph([node], "g", [source], [output]))
    graph = model.graph.SerializeToString()
    model.ClearField("graph")
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[weights // 4096, 1024]).SerializeToString()
    tensor += field(9, weights)
    inside = graph + field(5, len(tensor) + weights) + tensor
    head = model.SerializeToString() + field(7, len(inside) + weights) + inside
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + weights)
    return path


@pytest.mark.slow
def test_a_gigabyte_is_read_by_slices(page: OpenPage, tmp_path: Path) -> None:
    path = large_model(tmp_path / "large.onnx", 1 << 30)
    assert page.open(path) == "result", page.text("failure-text")
    columns, rows = page.report_data()["tensors"], page.report_data()["dims"]
    assert [text for text, _ in rows if text == "262144"] == ["262144"] and len(columns["name"]) == 3
    page.save("save-copy", tmp_path / "large-shapes.onnx")
    assert str(infer_shapes(tmp_path / "large-shapes.onnx").tensor("y")) == "float32[n, 262144]"
    back(page)


@pytest.mark.slow
def test_weights_in_another_file_and_a_folder(page: OpenPage, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    model = onnx.load(EXAMPLES / "convnet.onnx")
    onnx.save(model, folder / "net.onnx", save_as_external_data=True, location="net.data", size_threshold=0)
    assert page.open(folder / "net.onnx", folder / "net.data") == "result"
    page.save("save-copy", folder / "net-shapes.onnx")
    onnx.checker.check_model(folder / "net-shapes.onnx", full_check=True)
    back(page)
    assert page.open(folder, folder=True) == "choice"
    assert "net.onnx" in page.text("choice-list") and "net-shapes.onnx" in page.text("choice-list")
    page.browser.find("#choice-list button").click()
    page.wait(lambda: page.state == "result")
    back(page)


@pytest.mark.slow
def test_a_dropped_file(page: OpenPage) -> None:
    drop = """
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(arguments[0])], "dropped.onnx"));
    for (const kind of ["dragenter", "dragover", "drop"]) {
      document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }
    """
    page.browser.run(drop, list((EXAMPLES / "convnet.onnx").read_bytes()))
    page.wait(lambda: page.state == "result")
    assert page.text("model") == "dropped.onnx"
    back(page)


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 390, 768, 1600])
def test_no_width_scrolls_sideways(page: OpenPage, width: int, tmp_path: Path) -> None:
    page.browser.resize(width=width)
    wide = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.browser.run(wide)
    assert page.open(EXAMPLES / "decoder.onnx") == "result"
    assert not page.browser.run(wide) and not page.in_report(wide)
    back(page)
    (tmp_path / f"{'long' * 50}.txt").write_text("no model\n")
    assert page.open(tmp_path / f"{'long' * 50}.txt") == "failure"
    assert not page.browser.run(wide)
    back(page)


@pytest.mark.slow
def test_dark_colors_in_the_page_and_in_the_report(page: OpenPage) -> None:
    color = "return getComputedStyle(document.body).backgroundColor"
    assert page.open(EXAMPLES / "convnet.onnx") == "result"
    for dark, expected in ((True, "rgb(15, 20, 26)"), (False, "rgb(255, 255, 255)")):
        page.browser.resize(dark=dark)
        assert page.browser.run(color) == page.in_report(color) == expected
    back(page)


@pytest.mark.slow
def test_keys_alone(page: OpenPage) -> None:
    focus = "return document.activeElement.id || document.activeElement.tagName"
    back_from_failure = page.open(EXAMPLES / "README.md")
    assert (back_from_failure, page.browser.run(focus)) == ("failure", "failure-title")
    page.browser.press(TAB)
    assert page.browser.run(focus) == "failure-back"
    page.browser.press(ENTER)
    assert (page.state, page.browser.run(focus)) == ("start", "choose-files")
    page.browser.press(TAB)
    assert page.browser.run(focus) == "choose-folder"
    assert page.open(EXAMPLES / "convnet.onnx") == "result"
    page.wait(lambda: page.browser.run(focus) == "frame")
    page.browser.run("document.getElementById('again').focus()")
    page.browser.press(ENTER)
    assert page.state == "start"
