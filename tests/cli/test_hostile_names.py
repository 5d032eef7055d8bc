"""Models whose every string is hostile, through every command: strings of a file are never more than text."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

import shapeinf.cli
from shapeinf import Dim, infer_shapes
from shapeinf.cli import main
from shapeinf.cli.main import COMMANDS

STRINGS = {
    "terminal": "\x1b[2J\x1b]0;pwned\x07\x9b31m\x00\x08\x7f",
    "direction": "\u202egpj.exe\u2066\u200b\u2028FAKE\u2029",
    "lines": "\nFAKE line\r\nFAKE\x0bFAKE\x85",
    "formula": "=cmd|'/C calc'!A0",
    "at": '@SUM(1+1)*cmd|"x"',
    "tag": "</title></script><script>alert(1)</script><img src=x onerror='alert(1)'>\"&",
    "markdown": "| a `b` ``c`` ![x](http://e/x.png) <!-- @team [l](javascript:1) **",
    "c": '*/ #error "x" /* ??/ \\ " %s \n#error y',
    "github": "::error file=a,title=b::FAKE%0A\n::set-output name=x::y",
    "long": "x" * 10_000,
    "format": "{0} %s ${7*7} {{7*7}} $x_{$",
}
STRINGS["all"] = "".join(STRINGS[name] for name in ("formula", "terminal", "lines", "tag"))
FLAVOURS = [name if name == "all" else pytest.param(name, marks=pytest.mark.slow) for name in STRINGS]
"""The others, one by one, run with `-m slow`."""


def info(name, dims):
    value = helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    value.doc_string = name
    return value


def onnx_model(bad, broken=False):
    """Every string of a model starts with, equals or ends with the hostile one."""

    def n(name):
        return bad + name

    body = helper.make_graph(
        [helper.make_node("Neg", [n("r")], [n("b")], n("neg"))], n("body"), [], [info(n("b"), None)]
    )
    weight = numpy_helper.from_array(np.zeros((3, 3), "float32"), n("w"))
    set_external_data(weight, n("data.bin"))
    weight.ClearField("raw_data")
    nodes = [
        helper.make_node("Relu", [n("x")], [n("r")], n("relu"), doc_string=bad),
        helper.make_node("MatMul", [n("r"), n("w")], [n("m")], n("matmul")),
        helper.make_node("Add", [n("m"), n("other")], [n("a")], n("add")),
        helper.make_node(n("Op"), [n("a")], [n("u")], n("unknown"), domain=n("dom"), **{n("attr"): bad}),
        helper.make_node("Concat", [n("x"), n("x")], [n("cat")], n("concat"), axis=7),
        helper.make_node("NonZero", [n("r")], [n("nz")], n("nonzero")),
        helper.make_node("If", [n("flag")], [n("if")], n("if node"), then_branch=body, else_branch=body),
        helper.make_node(n("Func"), [n("x")], [n("f")], n("call"), domain=n("dom")),
        helper.make_node("Resize", [n("x")], [n("z")], n("resize"), mode=bad),
    ]
    if broken:
        nodes.append(helper.make_node("Relu", [n("nowhere")], [n("x")], n("relu")))
    relu = helper.make_node("Relu", [n("p")], [n("q")], n("relu in function"))
    function = helper.make_function(n("dom"), n("Func"), [n("p")], [n("q")], [relu], [helper.make_opsetid("", 17)])
    outputs = ["u", "cat", "nz", "if", "f", "a"]
    graph = helper.make_graph(
        nodes,
        n("graph"),
        [info(n("x"), [n("N"), 3]), info(n("other"), [n("M"), 3]), helper.make_tensor_value_info(n("flag"), 9, [])],
        [info(n(name), [n("declared"), 5] if name == "a" else None) for name in outputs],
        [weight],
        doc_string=bad,
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(n("dom"), 1)]
    model = helper.make_model(graph, opset_imports=imports, functions=[function], producer_name=bad, ir_version=9)
    helper.set_model_props(model, {bad: bad, "shapeinf.assumptions": f"{bad} <= 3"})
    return model.SerializeToString()


def sound_model(bad):
    """A valid model with hostile names, for plans, exports and pictures."""
    nodes = [
        helper.make_node("Relu", [bad + "x"], [bad + "r"], bad + "relu"),
        helper.make_node("Concat", [bad + "r", bad + "x"], [bad + "y"], bad + "cat", axis=0),
    ]
    graph = helper.make_graph(nodes, bad, [info(bad + "x", [bad + "N", 3])], [info(bad + "y", None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def nnef_text(bad, broken=False):
    """The strings that a document of NNEF has; the names of tract's may be anything."""
    quoted = bad.replace("\\", "\\\\").replace('"', '\\"')
    name = f'i"{quoted}x"'
    extra = f"    {name} = relu({name});\n" if broken else ""
    return (
        f"version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol S;\n# {bad}\n"
        f"graph net({name}) -> (y)\n{{\n    {name} = tract_core_external(shape = [S, 3], datum_type = 'f32');\n"
        f'    w = variable<scalar>(shape = [3, 3], label = "{quoted}");\n    y = matmul({name}, w);\n{extra}}}\n'
    )


def run(*arguments):
    """The output of a command; it has no control characters."""
    done = CliRunner().invoke(main, list(map(str, arguments)))
    output = done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "this is a bug of shapeinf" not in output, output
    assert not [c for c in output if not c.isprintable() and c != "\n"], output
    assert not re.search(r"^FAKE", output, re.M), output
    return done


def commands(path, dim, tensor, folder):
    """All commands with all options that print or write something."""
    other = "examples/convnet.onnx"
    yield from (["infer", path, *more] for more in ([], ["--json"], ["--strict"], ["--dim", "zz=3"]))
    yield from (
        ["infer", path, *more] for more in (["--input-shapes", "1x2"], ["--save", folder / f"saved{path.suffix}"])
    )
    yield from (["summary", path, *more] for more in ([], ["--json"], ["--table"], ["--bind", "zz=3"]))
    yield ["report", path, "-o", folder / "page.htm"]  # a page with scripts: tests/report/live checks what is in it
    yield ["page", "--pyodide", path, "-o", folder / "site"]
    yield ["view", path, "--export", "model-explorer", "--quantity", "shapes", "-o", folder / "v.json"]
    yield from (["ops", "missing", path], ["ops", "missing", path, "--json"], ["ops", "show", tensor])
    yield from (["check", path, *more] for more in ([], ["--json"], ["--markdown"], ["--github"]))
    yield ["check", path, "--minShapes", "q:1", "--maxShapes", "q:2"]
    yield from (["explain", path, *more] for more in ([], ["--json"], ["-t", tensor], ["-t", "q"]))
    yield from (["guards", path, *more] for more in ([], ["--json"], ["--markdown"]))
    failed = f"[ONNXRuntimeError] : 1 : FAIL : running Add node. Name:'{tensor}' Status Message: 2 by 3\n"
    node = f"Non-zero status code returned while {failed.partition('FAIL : ')[2]}"
    yield from (["why", text, path, *more] for text in (failed, node) for more in ([], ["--json"], ["--at", "zz=3"]))
    yield from (["diff", path, path], ["diff", path, other], ["diff", path, other, "--json"])
    yield from (["bind", path, *more] for more in ([], [f"`{dim}`=4"], ["zz=4"], ["-o", folder / "b.onnx"]))
    yield from (["rebatch", path, *more] for more in ([], ["-o", folder / "r.onnx"], ["--input", "q"]))
    yield from (["memory", path, *more] for more in ([], ["--json"], ["--bind", "zz=3"], ["--memory-limit", "1"]))
    yield from (["cost", path, *more] for more in ([], ["--json"], ["--by", "node", "--bind", "zz=3"]))
    yield from (["cost", path, "--by", "module"], ["cost", path, "--csv", folder / "k.csv"])
    yield ["memory", path, "--html", folder / "m.html", "--png", folder / "m.png"]
    yield from (["memory", path, "--export", folder / f"m.{suffix}"] for suffix in ("csv", "json", "h", "parquet"))
    yield from (["plan", path, *more] for more in ([], ["--json"], ["-o", folder / "p.csv"], ["-o", folder / "p.json"]))
    yield from (["plan", "verify", folder / name, "-m", path] for name in ("p.csv", "p.json"))
    yield from (["verify", path, *more] for more in ([], ["--json"], ["--memory"], ["--memory", "--json"]))
    yield from (["clean", path, *more] for more in (["--dry-run"], ["--dry-run", "--json", "--verify"]))
    yield ["clean", path, "-o", folder / "c.onnx", "--external", "copy", "--passes", "deduplicate,remove_dead"]
    yield from (
        ["profile", path, "--dim", f"`{dim}`=1..4", "--format", form] for form in ("trtexec", "ort-trt", "json")
    )
    yield from (["profile", path, *more] for more in ([], ["--dim", "zz=3"], ["--opt", "zz=3"]))
    yield from (["triton", path, *more] for more in ([], ["--max-batch", "0"], ["-o", folder / "config.pbtxt"]))
    yield from (["contract", path, *more] for more in ([], ["--json"], ["--format", "c"], ["--format", "js"]))
    yield from (["contract", path, *more] for more in (["--stored"], ["--at", "zz=3"], ["--at", f"`{dim}`=4"]))
    guards = (("c", "h"), ("js", "mjs"), ("rust", "rs"), ("python", "py"))
    yield from (["contract", path, "--format", form, "-o", folder / f"g.{end}"] for form, end in guards)
    yield from (["program", path, "-o", folder / f"shapes.{end}"] for _, end in guards)
    yield ["infer", path, "-o", folder / f"contract{path.suffix}", "--contract"]
    yield ["scan", path, "-o", folder / "scan", "--jobs", "1", "--tensors", "--json-lines", "--retry"]
    yield from (["scan", "report", folder / "scan", *more] for more in ([], ["--json"], ["-o", folder / "scan.html"]))
    yield from (["expression", tensor], ["expression", f"add(@0,{dim})", "--json"])


def test_all_commands_are_here(tmp_path):
    assert {str(arguments[0]) for arguments in commands(tmp_path / "m.onnx", "N", "x", tmp_path)} == set(COMMANDS)


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("form", ["damaged.onnx", "broken.onnx", "sound.onnx", "m.nnef", "broken.nnef"])
def test_every_command_only_shows_text(tmp_path, flavour, form):
    bad = STRINGS[flavour]
    path = tmp_path / form
    if form.endswith(".nnef"):
        path.write_text(nnef_text(bad, form == "broken.nnef"), encoding="utf-8", newline="")
    else:
        path.write_bytes(sound_model(bad) if form == "sound.onnx" else onnx_model(bad, form == "broken.onnx"))
    for arguments in commands(path, bad + "N", bad + "x", tmp_path):
        done = run(*arguments)
        if "--json" in arguments and done.exit_code in (0, 1) and done.stdout:
            assert done.stdout.isascii()
            json.loads(done.stdout)
        if "--markdown" in arguments and done.stdout:
            check_markdown(done.stdout)
        if "--github" in arguments:
            assert all(
                line.startswith(("::error file=", "::warning file=", "::notice file="))
                for line in done.stdout.splitlines()
            )
    for written in tmp_path.iterdir():
        CHECKS.get(written.suffix, lambda _: None)(written)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_everything_that_is_written_of_a_model_that_runs(tmp_path, flavour):
    """The dim has a size, so that tables, headers and pictures are written."""
    bad = STRINGS[flavour]
    path = tmp_path / "m.onnx"
    path.write_bytes(sound_model(bad))
    files = ["m.html", "m.png", "e.csv", "e.json", "e.h", "e.parquet"]
    for name in files:
        option = "--export" if name.startswith("e.") else f"--{name[2:]}"
        assert run("memory", path, option, tmp_path / name, "--input-shapes", "4x3").exit_code == 0
    assert run("plan", path, "--input-shapes", "4x3", "-o", tmp_path / "p.csv").exit_code == 0
    assert run("plan", "verify", tmp_path / "p.csv", "-m", path, "--input-shapes", "4x3").exit_code == 0
    for name in (*files, "p.csv"):
        CHECKS.get(tmp_path.joinpath(name).suffix, lambda _: None)(tmp_path / name)


def check_markdown(text):
    """A heading, then a table: every row has four cells, and no markup of its own."""
    heading, *table = [line for line in text.splitlines() if line]
    assert heading.startswith("### `")
    for row in table:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 5, row
        outside = re.sub(r"(`+) .*? \1|`[^`]*`", "", re.sub(r"\\.", "", row))
        assert not re.search(r"[\[`*]|<(?!!-- -->)|@(?!<!-- -->)", outside), row


def check_csv(path):
    for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")):
        for cell in row:
            assert cell.isprintable(), cell
            assert re.fullmatch(r"-?\d+", cell) or not cell.startswith(tuple("=+-@\t\r")), cell


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


def check_html(path):
    text = path.read_text(encoding="utf-8")
    assert not [c for c in text if not c.isprintable() and c != "\n"]
    tags = Tags()
    tags.feed(text)
    assert not tags.tags & {"script", "img", "iframe", "object", "embed", "link", "a", "form"}
    assert not [name for name in tags.attributes if name.startswith("on") or name in ("href", "src")]


def check_header(path):
    text = path.read_text(encoding="utf-8")
    assert text.isascii()
    compiler = shutil.which("gcc")
    if compiler is not None:
        strict = ["-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Wcomment", "-trigraphs", "-Werror", "-x", "c"]
        done = subprocess.run([compiler, *strict, path], capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr


def check_json(path):
    assert path.read_text(encoding="utf-8").isascii()
    json.loads(path.read_text(encoding="utf-8"))


CHECKS = {".csv": check_csv, ".html": check_html, ".h": check_header, ".json": check_json}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("command", ["infer", "check", "memory", "plan", "explain"])
def test_a_terminal_of_few_characters(tmp_path, command, encoding):
    (tmp_path / "m.onnx").write_bytes(sound_model("h\u00f6\u2603"))
    done = subprocess.run(
        [sys.executable, "-m", "shapeinf.cli", command, tmp_path / "m.onnx"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert done.returncode in (0, 1)
    assert b"bug" not in done.stderr


def test_names_of_dims_stay_in_the_comments_of_a_document():
    dim = Dim("N\n}\n# \x1b[2J")
    text = io.StringIO()
    infer_shapes(nnef_text("l"), inputs={"lx": [dim, 3]}).save(text)
    assert not [c for c in text.getvalue() if not c.isprintable() and c != "\n"]
    assert infer_shapes(text.getvalue()).coverage.nodes == 1


def test_a_single_module_prints():
    """All output passes the function that escapes texts; rich prints progress bars only."""
    folder = Path(shapeinf.cli.__file__).parent
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    direct = {
        name
        for name, text in texts.items()
        if re.search(r"click\.(secho|echo)\(|(?<![\w.])print\(|stdout\.write", text)
    }
    assert direct == {"output.py"}
    assert not [name for name, text in texts.items() if re.search(r"[cC]onsole.*[.]print[(]", text)]
