"""The page as a document: hostile names, bounded elements, labels, contrasts, widths, no network; the command."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from shapeinf import Result, infer_shapes
from shapeinf.cli.main import main
from shapeinf.errors import IllegalSizeError
from shapeinf.html import script_json
from shapeinf.report import live
from shapeinf.report.live import render_report, save_report
from shapeinf.report.live.page import read_style

HOSTILE = [
    "</script><img src=x onerror=window.hacked=1>",
    "<!-- <script>",
    "a\u2028b\u2029c",
    "\u202egnp.exe",
    "\x1b[31m\x00\r\n",
    "${title} $$ $data",
    "n" * 100_000,
    "\U0001f600\U0001f601 x",
    "\U0001f600\U0001f602 x",
    "'\"&amp;",
]


def chain(names: list[str], dim: str = "n") -> onnx.ModelProto:
    """One Relu after the other; `names` are those of the values, and of the nodes."""
    types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [dim, 4]) for name in (names[0], names[-1])]
    nodes = [helper.make_node("Relu", [a], [b], name=b) for a, b in pairwise(names)]
    graph = helper.make_graph(nodes, names[0], types[:1], types[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def saved(tmp_path: Path, result: Result, **options: Any) -> Path:
    path = tmp_path / "report.html"
    save_report(result, path, **options)
    return path


@pytest.fixture
def decoder_page(tmp_path: Path) -> Path:
    return saved(tmp_path, infer_shapes("examples/decoder.onnx"), title="decoder.onnx")


class Elements(HTMLParser):
    """The elements of a page, the texts outside of scripts and styles, and the data."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.data = ""
        self._in: str = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag in ("script", "style"):
            self._in = "data" if ("type", "application/json") in attrs else tag

    def handle_endtag(self, tag: str) -> None:
        self._in = "" if tag in ("script", "style") else self._in

    def handle_data(self, data: str) -> None:
        if self._in == "data":
            self.data += data
        elif not self._in:
            self.texts.append(data)


# -- without a browser -------------------------------------------------------------------------------------------------


def test_the_static_part_shows_what_is_known() -> None:
    result = infer_shapes("examples/decoder.onnx")
    text = " ".join(Elements(render_report(result, title="decoder.onnx")).texts)
    expected = ["decoder.onnx", "ONNX", "78 nodes", "tokens", "int64[batch, seq]", "seq <= 512", "placed/Gather"]
    for part in [*expected, "all of 1..512", "Scripts are off", "Findings", "Unknown sizes"]:
        assert part in text, part


def test_hostile_names_stay_text() -> None:
    names = Elements(render_report(infer_shapes(chain([f"x{i}" for i in range(len(HOSTILE))])), title="x"))
    hostile = Elements(render_report(infer_shapes(chain(HOSTILE)), title=HOSTILE[0]))
    assert hostile.tags == names.tags
    named = Elements(render_report(infer_shapes(chain(HOSTILE, HOSTILE[0]))))  # a dim too, which is reported
    assert set(named.tags) <= {*names.tags, "table", "thead", "tbody", "tr", "th", "td", "pre", "div"}
    assert json.loads(hostile.data)["texts"]["rest"]
    assert not re.search("[\u2028\u2029\u202e\x00\x1b]", "".join([*hostile.texts, hostile.data]))


def test_long_names_do_not_make_a_long_page() -> None:
    names = [f"{i}{'n' * 100_000}" for i in range(50)]
    assert len(render_report(infer_shapes(chain(names)))) < 300_000


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&", "\u2028", "\udc80"])
def test_json_in_a_page_is_plain_ascii(text: str) -> None:
    written = script_json({text: [text]})
    assert not set(written) & set("<>&\u2028") and written.isascii()
    assert json.loads(written) == {text: [text]}


def test_the_page_forbids_any_other_source() -> None:
    page = render_report(infer_shapes("examples/convnet.onnx"))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:,)""", page)
    assert not re.findall(r"\b(?:fetch|XMLHttpRequest|innerHTML|outerHTML|insertAdjacentHTML|eval)\b", page)


def test_20000_nodes_stay_small() -> None:
    names = [f"/model/layers.{i // 250}/attention/value_{i}" for i in range(20_001)]
    assert len(render_report(infer_shapes(chain(names)))) < 5_000_000


# -- contrasts ---------------------------------------------------------------------------------------------------------


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def schemes() -> dict[str, dict[str, str]]:
    blocks = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in read_style().split(":root {")]
    light, dark = blocks[1], blocks[2]
    return {"light": light, "dark": {**light, **dark}}


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_enough_contrast(scheme: str) -> None:
    colors = schemes()[scheme]
    assert len(set(schemes()["light"].values()) & set(schemes()["dark"].values())) < len(colors)
    for back in ("back", "panel", "chosen"):
        for text in ("text", "soft", "accent", "good", "error"):
            assert contrast(colors[text], colors[back]) >= 4.5, (text, back)


def test_every_color_is_a_variable() -> None:
    rules = re.sub(r":root \{.*?\}", "", read_style(), flags=re.DOTALL)
    assert not re.findall(r"#[0-9a-f]{3,8}\b(?=[;\s])", rules)


# -- in a browser ------------------------------------------------------------------------------------------------------

FRAMES = "requestAnimationFrame(() => requestAnimationFrame(() => done(RESULT)));"
CONTROL_A, BACKSPACE, TAB, END, HOME = "\ue009a\ue000", "\ue003", "\ue004", "\ue010", "\ue011"


def test_hostile_names_in_a_browser(browser: Any, tmp_path: Path) -> None:
    browser.open(saved(tmp_path, infer_shapes(chain(HOSTILE, HOSTILE[0])), title=HOSTILE[0]))
    assert browser.run("return window.hacked") is None
    assert browser.run("return document.images.length") == 0
    names = browser.run("return page.data.tensors.name.map((name) => page.texts[name])")
    assert names[0] == HOSTILE[0] and names[5] == HOSTILE[5] and names[7:9] == HOSTILE[7:9]
    assert browser.run("return document.querySelector('#row-0 .name').textContent") == HOSTILE[0]
    assert browser.messages == []


def test_rows_outside_of_the_view_are_no_elements(browser: Any, tmp_path: Path) -> None:
    names = [f"/model/layers.{i // 250}/value_{i}" for i in range(20_001)]
    browser.open(saved(tmp_path, infer_shapes(chain(names))))
    count = "return document.querySelectorAll('#rows > [role=row]').length"
    visible = browser.run("return page.table.view.clientHeight / page.table.rowHeight")
    assert 10 < visible <= browser.run(count) < 60
    assert browser.run("return document.getElementById('grid').getAttribute('aria-rowcount')") == "20002"
    browser.run("document.getElementById('rows-view').scrollTop = 1e9")
    last = browser.wait_for(FRAMES.replace("RESULT", "document.getElementById('rows').lastChild.textContent"))
    assert names[-1] in last
    assert 5 < browser.run(count) < 60
    assert browser.run("return document.querySelectorAll('*').length") < 600


def test_the_table_is_searched_sorted_and_walked(browser: Any, decoder_page: Path) -> None:
    browser.open(decoder_page)
    names = "return page.table.rows.map((i) => page.texts[page.data.tensors.name[i]])"
    size_of = "return page.table.rows.map((i) => String(page.amounts[page.data.tensors.bytes[i]].value))"
    browser.find("#search").send_keys("layer0 MATMUL")
    assert len(browser.run(names)) == browser.run(
        "const { tensors, types } = page.data; return tensors.op.filter((op, i) => types[op] === 'MatMul'"
        " && page.texts[tensors.name[i]].includes('layer0')).length"
    )
    browser.find("#search").clear()
    browser.run("document.getElementById('search').dispatchEvent(new Event('input'))")
    order = browser.run(names)
    browser.find("#head [data-key=bytes]").click()
    sizes = [int(size) for size in browser.run(size_of)]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]
    assert browser.find("#head .number").get_attribute("aria-sort") == "descending"
    browser.find("#head [data-key=bytes]").click()
    browser.find("#head [data-key=bytes]").click()
    assert browser.run(names) == order
    grid = browser.find("#grid")
    grid.send_keys(END)
    assert order[-1] in browser.find("#detail").text
    active = grid.get_attribute("aria-activedescendant")
    assert order[-1] in browser.find(f"#{active}").text
    grid.send_keys(HOME)
    assert order[0] in browser.find("#detail").text


def test_a_violation_names_the_node(browser: Any, tmp_path: Path) -> None:
    browser.open(saved(tmp_path, infer_shapes("examples/convnet.onnx")))
    field = browser.find("#field-1")
    field.clear()
    field.send_keys("3")
    frames = FRAMES.replace("RESULT", "document.getElementById('status').textContent")
    text = browser.wait_for(frames)
    assert "Illegal sizes" in text and "height % 2 == 0" in text and "'joined/Concat'" in text
    assert field.get_attribute("aria-invalid") == "true"
    assert browser.find("#total-peak").text == "—"
    browser.find("#reset").click()
    assert "Legal sizes" in browser.wait_for(frames)
    assert field.get_attribute("aria-invalid") is None
    for typed, message in ((BACKSPACE, "missing"), ("1.5", "whole number"), ("9" * 19, "10^18")):
        field.send_keys(CONTROL_A, typed)
        assert message in browser.find("#field-1-error").text


NAMELESS = """
return [...document.querySelectorAll("input, select, button, [role=grid], svg, section, aside")].filter((node) => {
  const label = (node.labels && node.labels.length) || node.getAttribute("aria-label") || node.textContent.trim();
  const by = (node.getAttribute("aria-labelledby") || "").split(" ").filter(Boolean);
  const control = node.matches("input, select, button");
  const named = control ? label : by.length || node.getAttribute("aria-label");
  return !named || by.some((id) => !document.getElementById(id));
}).map((node) => node.outerHTML.slice(0, 200));
"""
DUPLICATES = """
const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
return ids.filter((id, i) => ids.indexOf(id) !== i);
"""
TOO_WIDE = """
return [...document.querySelectorAll("body *")].filter((node) => {
  const box = node.getBoundingClientRect();
  return box.width && box.right > innerWidth + 0.5 && !node.closest(".wide") && !node.closest(".unseen");
}).map((node) => node.outerHTML.slice(0, 200));
"""


@pytest.mark.parametrize("name", ["convnet.onnx", "decoder.onnx", "recurrent.pbtxt"])
def test_everything_has_a_name(browser: Any, tmp_path: Path, name: str) -> None:
    browser.open(saved(tmp_path, infer_shapes(f"examples/{name}")))
    assert browser.run(NAMELESS) == []
    assert browser.run(DUPLICATES) == []
    assert browser.run("return document.documentElement.lang") == "en"
    assert browser.run("return document.querySelectorAll('main, header, aside, footer').length") == 4
    assert browser.run("return document.querySelectorAll('h1').length") == 1


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("names", [["x", "y"], HOSTILE])
def test_a_phone_scrolls_down_only(browser: Any, tmp_path: Path, dark: bool, names: list[str]) -> None:
    page = saved(tmp_path, infer_shapes(chain(names, names[0])), title=names[0])
    browser.open(page, width=360, height=780, dark=dark)
    assert browser.run("return document.documentElement.scrollWidth") <= 360
    assert browser.run(TOO_WIDE) == []


def test_the_page_loads_nothing(browser: Any, decoder_page: Path) -> None:
    browser.open(decoder_page)
    assert browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []
    assert browser.messages == []


def test_controls_are_reached_by_tab(browser: Any, decoder_page: Path) -> None:
    browser.open(decoder_page)
    seen: list[str] = []
    while "grid" not in seen and len(seen) < 40:
        browser.driver.switch_to.active_element.send_keys(TAB)
        seen.append(browser.run("return document.activeElement.id"))
        outline = "return getComputedStyle(document.activeElement).outlineStyle"
        assert browser.run(outline) != "none", seen
    wanted = ["field-0", "field-0-slider", "field-1", "field-1-slider", "reset", "point", "search", "role", "grid"]
    assert [key for key in seen if key in wanted] == wanted


def test_without_scripts_the_static_part_is_there(browser: Any, decoder_page: Path) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(decoder_page)
        text = browser.find("body").text
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert "Scripts are off" in text and "int64[batch, seq]" in text and "seq <= 512" in text
    assert "Reset sizes" not in text


# -- the command -------------------------------------------------------------------------------------------------------

DECODER = str(Path("examples/decoder.onnx").resolve())


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        ("-o out.html", 0, "saved out.html"),
        ("-o out.html --bind seq=7", 0, "saved out.html"),
        ("", 2, "name the page to write"),
        ("-o decoder.onnx", 2, "is the model itself"),
        ("-o out.html --bind sequence=7", 2, "did you mean 'seq'"),
        ("-o out.html --bind batch=1,seq=513", 1, "the model cannot run with batch=1, seq=513: "),
        ("-o out.html --bind seq=513", 1, "the model cannot run with seq=513: "),
        ("-o out.html --dim seq=1..8 --bind seq=9", 2, "outside of --dim"),
        ("-o no/such/folder.html", 3, "there is no folder"),
    ],
)
def test_exit_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, code: int, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    model = Path(shutil.copy(DECODER, "decoder.onnx"))
    done = CliRunner().invoke(main, ["report", "decoder.onnx", *options.split()])
    assert model.read_bytes() == Path(DECODER).read_bytes()
    assert (done.exit_code, text in done.output) == (code, True), done.output
    assert Path("out.html").exists() == (code == 0)


def data_of(path: Path) -> Any:
    return json.loads(Elements(path.read_text(encoding="utf-8")).data)


def test_bind_and_dim_set_the_fields(tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    options = ["--bind", "seq=7", "--dim", "batch=3..6", "-o", str(out)]
    assert CliRunner().invoke(main, ["report", DECODER, *options]).exit_code == 0
    batch, seq = data_of(out)["fields"]
    assert (batch["low"], batch["high"], batch["stops"]) == ("3", "6", ["3", "4", "5", "6"])
    assert (batch["initial"], seq["initial"]) == ("3", "7")


@pytest.mark.parametrize(("op", "code"), [("MatMul", "S1"), ("Rellu", "C121")])
def test_a_model_with_errors_ends_with_1(tmp_path: Path, op: str, code: str) -> None:
    broken = chain(["x", "y"])
    broken.graph.node[0].op_type = op
    onnx.save(broken, tmp_path / "broken.onnx")
    done = CliRunner().invoke(main, ["report", str(tmp_path / "broken.onnx"), "-o", str(tmp_path / "out.html")])
    assert done.exit_code == 1, done.output
    assert code in " ".join(Elements((tmp_path / "out.html").read_text(encoding="utf-8")).texts)


MATMUL = "g (float[a, n] x, float[m, b] y) => (float[p, q] z) { z = MatMul (x, y) }"


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [({"m": 5}, {"n": "5"}), ({"n": 6}, {"n": "6"}), ({"a": 3, "m": 7}, {"a": "3", "n": "7"})],
)
def test_a_dim_that_equals_another_may_be_bound(sizes: dict[str, int], expected: dict[str, str]) -> None:
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {MATMUL}')
    result = infer_shapes(model)
    page = json.loads(Elements(render_report(result, sizes=sizes)).data)
    fields = {field["label"]: field["initial"] for field in page["fields"]}
    equal = set(fields) & {"m", "n"}
    assert len(equal) == 1
    assert {
        label if label in fields else equal.pop(): size for label, size in expected.items()
    }.items() <= fields.items()


def test_a_dim_that_equals_another_is_listed(browser: Any, tmp_path: Path) -> None:
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {MATMUL}')
    browser.open(saved(tmp_path, infer_shapes(model), sizes={"m": 77}))
    assert re.fullmatch(r"(n = m|m = n) = 77", browser.find("#derived").text)
    assert browser.run(NAMELESS) == [] and browser.messages == []


def test_sizes_that_depend_on_data_may_be_bound() -> None:
    model = "g (float[n] x) => (int64[1, k] y) { y = NonZero (x) }"
    result = infer_shapes(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {model}'))
    (hidden,) = result.program().data_dependent
    fields = json.loads(Elements(render_report(result, sizes={"n": 9, hidden: 4})).data)["fields"]
    assert [(field["initial"], field["dependent"]) for field in fields] == [("9", False), ("4", True)]
    with pytest.raises(IllegalSizeError):
        render_report(result, sizes={"n": 9, hidden: 10})


def test_the_wheel_has_every_file_of_the_page() -> None:
    tomllib = pytest.importorskip("tomllib")
    tables = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]
    folder = Path(live.__file__).parent
    for path in folder.iterdir():
        if path.is_file() and path.suffix != ".py":
            assert any(path.match(pattern) for pattern in tables["shapeinf.report.live"]), path
