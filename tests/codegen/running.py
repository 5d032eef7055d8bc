"""Generated modules compiled and run: one process a language, with all bindings in its input.

A line of output has two fields: the violated conditions of `check` as numbers, and the numbers of `compute_shapes`, or
`!` with the name of an error in either.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from shapeinf.codegen import LANGUAGES, ShapeModule, module_text
from shapeinf.codegen.names import identifiers
from shapeinf.codegen.rust import KEYWORDS
from tests.browser import find_node
from tests.memory.exports.compiling import compiled

Binding = Sequence[int]

MISSING = "-"
"""An unknown number in the output."""


@attrs.frozen
class Outcome:
    """What a module says of the sizes of one binding: numbers, or the name of an error.

    The numbers of a tensor are for each axis the exact size and the upper bound, then both for its bytes; the last
    number is the peak.
    """

    violated: list[int] | str
    numbers: list[int | None] | str


def parse_line(line: str) -> Outcome:
    violated, _, numbers = line.partition("|")
    return Outcome(
        violated[1:] if violated.startswith("!") else [int(v) for v in violated.split()],
        numbers[1:] if numbers.startswith("!") else [None if v == MISSING else int(v) for v in numbers.split()],
    )


def require(tool: str) -> str:
    """The path of a compiler or runtime; the test is skipped, with a warning, where it is absent."""
    path = find_node() if tool == "node" else shutil.which(tool)
    if path is None:
        warnings.warn(f"{tool} is not there: modules that need it are not tested", stacklevel=2)
        pytest.skip(f"{tool} is not there")
    return path


def run_lines(command: Sequence[str], folder: Path, bindings: Iterable[Binding]) -> list[str]:
    lines = "".join(" ".join(map(str, [len(binding), *binding])) + "\n" for binding in bindings)
    done = subprocess.run(command, cwd=folder, input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def build(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# -- JavaScript --------------------------------------------------------------------------------------------------------

SCRIPT = """\
import * as module from "./shapes.mjs";
import { readFileSync } from "fs";
const names = JSON.parse(readFileSync("names.json"));
const kind = (e) =>
  e instanceof module.IllegalSizesError ? "illegal" : e instanceof module.OverflowError ? "overflow"
  : e instanceof TypeError ? "type" : /division by zero/.test(e.message) ? "undefined" : "outside";
const attempt = (answer) => {
  try {
    return answer();
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    return "!" + kind(error);
  }
};
const text = (v) => (v === null ? "-" : String(v));
const pairs = (a, b) => (a ? a.flatMap((v, i) => [text(v), text(b[i])]) : []);
function shapes(sizes) {
  const { tensors, peak } = module.computeShapes(sizes);
  const rows = names.map((name) => tensors[name]);
  const numbers = rows.flatMap((t) => [...pairs(t.dims, t.maxDims), text(t.bytes), text(t.maxBytes)]);
  return [...numbers, text(peak)].join(" ");
}
const conditions = readFileSync("conditions.txt", "utf8").split("\\n").filter(Boolean);
const indices = new Map(conditions.map((line, i) => [JSON.parse(line), i]));
const lines = [];
for (const line of readFileSync(0, "utf8").split("\\n").filter(Boolean)) {
  const values = line.split(" ").slice(1).map(BigInt);
  const sizes = Object.fromEntries(module.dims.map((dim, i) => [dim[0], values[i]]));
  const violated = attempt(() => module.check(sizes).map((v) => indices.get(v.condition)).join(" "));
  lines.push(violated + "|" + (module.computeShapes ? attempt(() => shapes(sizes)) : ""));
}
console.log(lines.join("\\n"));
"""


def tensor_names(module: ShapeModule) -> list[str]:
    return [] if module.shapes is None else [tensor.name for tensor in module.shapes.tensors]


def run_js(module: ShapeModule, folder: Path, bindings: Sequence[Binding]) -> list[Outcome]:
    node = require("node")
    (folder / "shapes.mjs").write_text(module_text(module, "js"), encoding="utf-8")
    (folder / "run.mjs").write_text(SCRIPT, encoding="utf-8")
    (folder / "names.json").write_text(json.dumps(tensor_names(module)), encoding="utf-8")
    conditions = "\n".join(json.dumps(condition.text) for condition in module.conditions)
    (folder / "conditions.txt").write_text(conditions, encoding="utf-8")
    return list(map(parse_line, run_lines([node, "run.mjs"], folder, bindings)))


# -- Python ------------------------------------------------------------------------------------------------------------

ERRORS = {
    "IllegalSizesError": "illegal",
    "OutsideError": "outside",
    "OverflowError": "overflow",
    "ZeroDivisionError": "undefined",
    "TypeError": "type",
}


def load_python(module: ShapeModule) -> dict[str, Any]:
    """The names of a generated module."""
    names: dict[str, Any] = {"__name__": "shapes"}
    exec(compile(module_text(module, "python"), "shapes.py", "exec"), names)
    return names


def run_python(module: ShapeModule, folder: Path, bindings: Sequence[Binding]) -> list[Outcome]:
    names = load_python(module)
    indices = {condition.text: number for number, condition in enumerate(module.conditions)}

    def attempt(answer: Callable[[], Any]) -> Any:
        try:
            return answer()
        except (ArithmeticError, TypeError, ValueError) as error:
            return ERRORS[type(error).__name__]

    def numbers(sizes: tuple[int, ...]) -> list[int | None]:
        shapes = names["_compute"](sizes)
        values: list[int | None] = []
        for tensor in shapes.tensors.values():
            for pair in zip(tensor.dims or (), tensor.max_dims or (), strict=True):
                values += pair
            values += (tensor.bytes, tensor.max_bytes)
        return [*values, shapes.peak]

    def outcome(sizes: tuple[int, ...]) -> Outcome:
        violated = attempt(lambda: [indices[violation.condition] for violation in names["_check"](sizes)])
        return Outcome(violated, [] if module.shapes is None else attempt(lambda: numbers(sizes)))

    return [outcome(tuple(binding)) for binding in bindings]


# -- C -----------------------------------------------------------------------------------------------------------------

C_ERRORS = {-1: "overflow", -2: "outside", -3: "undefined", -4: "illegal"}
C_NUMBERS = """\
status = m_compute_shapes(@values);
if (status < 0) { printf("!%d\\n", (int)status); continue; }
for (t = 0; t < M_TENSORS; ++t) {
    for (k = 0; k < m_rank(t); ++k) { put(m_dim(values, t, k)); put(m_max_dim(values, t, k)); }
    put(m_bytes(values, t)); put(m_max_bytes(values, t));
}
printf("%lld\\n", (long long)m_peak(values));
"""
PUT = """\
#include <stdio.h>
static void put(int64_t v)
{
    if (v == M_UNKNOWN) { printf("- "); } else { printf("%lld ", (long long)v); }
}
"""


def run_c(module: ShapeModule, folder: Path, bindings: Sequence[Binding], kind: str = "c99") -> list[Outcome]:
    module = attrs.evolve(module, model="m")
    count = len(module.parameters)
    passed = "".join(f"(int64_t)v[{i + 1}], " for i in range(count))
    reads = "".join(f' && scanf("%lld", &v[{i + 1}]) == 1' for i in range(count))
    statements = [
        f"long long v[{count + 1}]; unsigned char marks[M_CONDITIONS + 1]; int i; int64_t status;",
        *(["int32_t t; int32_t k; static int64_t values[M_VALUES];"] if module.shapes else []),
        f'while (scanf("%lld", &v[0]) == 1{reads}) {{',
        f"status = m_check({passed}marks);",
        'if (status < 0) { printf("!%d|", (int)status); } else {',
        'for (i = 0; i < M_CONDITIONS; ++i) { if (marks[i]) { printf("%d ", i); } } printf("|"); }',
        C_NUMBERS.replace("@", passed) if module.shapes else 'puts("");',
        "}",
    ]
    text = module_text(module, "c")
    end = text.rindex("#endif")
    program = compiled(text[:end] + (PUT if module.shapes else "") + text[end:], statements, folder, kind)
    outcomes = map(parse_line, run_lines([str(program)], folder, bindings))
    return [Outcome(_c_error(outcome.violated), _c_error(outcome.numbers)) for outcome in outcomes]


def _c_error(answer: Any) -> Any:
    return C_ERRORS[int(answer)] if isinstance(answer, str) else answer


# -- Rust --------------------------------------------------------------------------------------------------------------

RUST_MAIN = """\
mod shapes;
use shapes::*;
use std::io::BufRead;

fn kind(error: Error) -> String {
    assert!(!error.to_string().is_empty());
    match error {
        Error::Overflow => "!overflow",
        Error::DivisionByZero => "!undefined",
        Error::Outside { .. } => "!outside",
        Error::Illegal(_) => "!illegal",
    }
    .to_string()
}
@numbers
fn main() {
    for line in std::io::stdin().lock().lines() {
        let v: Vec<i64> = line.unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
        let sizes = Sizes { @fields };
        let _ = &v;
        let violated = check(&sizes).map_or_else(kind, |violations| {
            let position = |v: Violation| CONDITIONS.iter().position(|c| core::ptr::eq(c, v.condition)).unwrap();
            violations.map(|v| position(v).to_string()).collect::<Vec<_>>().join(" ")
        });
        println!("{violated}|{}", @answer);
    }
}
"""
RUST_NUMBERS = """\
fn pair(size: Size) -> String {
    match size {
        Size::Exact(v) => format!("{v} {v}"),
        Size::AtMost(v) => format!("- {v}"),
        Size::Unknown => "- -".to_string(),
    }
}

fn numbers(shapes: Shapes) -> String {
    let mut row: Vec<String> = Vec::new();
    for tensor in &TENSORS {
        row.extend(shapes.dims(tensor).into_iter().flatten().map(pair));
        row.push(pair(shapes.bytes(tensor)));
    }
    row.push(shapes.peak().to_string());
    row.join(" ")
}
"""


def run_rust(module: ShapeModule, folder: Path, bindings: Sequence[Binding]) -> list[Outcome]:
    rustc = require("rustc")
    named = identifiers((p.name for p in module.parameters), KEYWORDS)
    fields = ", ".join(f"{named[p.name]}: v[{i + 1}]" for i, p in enumerate(module.parameters))
    answer = "compute_shapes(&sizes).map_or_else(kind, numbers)" if module.shapes else '""'
    text = RUST_MAIN.replace("@fields", fields).replace("@answer", answer)
    (folder / "main.rs").write_text(text.replace("@numbers", RUST_NUMBERS if module.shapes else ""), encoding="utf-8")
    (folder / "shapes.rs").write_text(module_text(module, "rust"), encoding="utf-8")
    (folder / "lib.rs").write_text("#![no_std]\npub mod shapes;\n", encoding="utf-8")
    strict = [rustc, "--edition", "2021", "-D", "warnings"]
    build([*strict, "--crate-type", "lib", "--emit", "metadata", "lib.rs"], folder)
    build([*strict, "-C", "debuginfo=0", "main.rs", "-o", "main"], folder)
    return list(map(parse_line, run_lines([str(folder / "main")], folder, bindings)))


RUNNERS: dict[str, Callable[[ShapeModule, Path, Sequence[Binding]], list[Outcome]]] = {
    "c": run_c,
    "js": run_js,
    "rust": run_rust,
    "python": run_python,
}
assert set(RUNNERS) == set(LANGUAGES)
EXACT = ("js", "python")
"""The languages in which intermediate numbers have any size."""


def run_all(
    module: ShapeModule, folder: Path, bindings: Sequence[Binding], languages: Iterable[str] = LANGUAGES
) -> dict[str, list[Outcome]]:
    """The outcomes at all bindings, by language."""
    outcomes = {}
    for language in languages:
        outcomes[language] = RUNNERS[language](module, folder, bindings)
        assert len(outcomes[language]) == len(bindings), language
    return outcomes
