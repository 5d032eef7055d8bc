"""Write the texts of one writer into tests/conformance/dim_texts, with the sizes that this writer's own code computes.

    python tools/make_dim_texts.py onnxruntime MODEL.onnx ...
    python tools/make_dim_texts.py torch|jax|onnx|names

`onnxruntime` annotates models by its symbolic shape inference, and sympy evaluates the texts; it needs onnxruntime and
sympy. `torch` and `jax` need the package. `onnx` has texts of the proposal, evaluated by Python's arithmetic with the
operators that the proposal redefines; `names` has texts that are not expressions, or have several meanings.
"""

from __future__ import annotations

import ast
import json
import operator
import os
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "conformance" / "dim_texts"
POINTS = 6

Row = dict[str, Any]
Meaning = Callable[[Mapping[str, int]], int | None]
"""The size for sizes of the names; None where the writer's code has none."""


def row(writer: str, text: str, names: Iterable[str], meaning: Meaning) -> Row:
    """A line of the set: sizes of the names at which the text has a size, each with it."""
    draw = random.Random(text)
    ordered, points = sorted(names), []
    while len(points) < POINTS:
        sizes = [draw.choice((draw.randint(1, 9), draw.randint(1, 1000))) for _ in ordered]
        size = meaning(dict(zip(ordered, sizes, strict=True)))
        if size is not None:
            points.append([sizes, size])
    return {"writer": writer, "text": text, "names": ordered, "points": points}


def onnxruntime_rows(paths: Iterable[str]) -> Iterator[Row]:
    """The distinct expressions that onnxruntime's tool writes into models."""
    import onnx
    import onnxruntime
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    writer, seen = f"onnxruntime {onnxruntime.__version__}", set()
    for path in map(os.path.abspath, paths):
        with tempfile.TemporaryDirectory() as folder:  # the tool leaves files where it runs
            os.chdir(folder)
            try:
                model = SymbolicShapeInference.infer_shapes(onnx.load(path, load_external_data=False), auto_merge=True)
            except Exception as error:
                print(f"{path}: {error}", file=sys.stderr)
                continue
            os.chdir("/")
        names = {d.dim_param for v in model.graph.input for d in v.type.tensor_type.shape.dim if d.dim_param}
        values = [*model.graph.value_info, *model.graph.output]
        for text in dict.fromkeys(d.dim_param for v in values for d in v.type.tensor_type.shape.dim):
            if re.search(r"[-+*/(]", text) and text not in names and text not in seen:
                seen.add(text)
                yield row(writer, text, *sympy_meaning(text, names))


def sympy_meaning(text: str, declared: Iterable[str]) -> tuple[set[str], Meaning]:
    """The names in a text of sympy, which are not quoted in it, and its value by sympy."""
    import sympy

    known = {f"name{i}_": name for i, name in enumerate(sorted(declared, key=len, reverse=True))}
    for plain, name in known.items():
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", plain, text)
    known |= {word: word for word in re.findall(r"[A-Za-z_][\w.]*(?!\w*\()", text) if word not in known}
    known = {plain: name for plain, name in known.items() if re.search(rf"\b{plain}\b(?!\()", text)}

    def value(sizes: Mapping[str, int]) -> int | None:
        size = sympy.sympify(text, locals={plain: sympy.Integer(sizes[name]) for plain, name in known.items()})
        return int(size) if size.is_Integer else None

    return set(known.values()), value


def torch_rows() -> Iterator[Row]:
    """The sizes in exported programs, evaluated by the expressions of torch."""
    import sympy
    import torch

    functional, writer, seen = torch.nn.functional, f"torch {torch.__version__.partition('+')[0]}", set()
    computations = [
        lambda x: x[::2],
        lambda x: x[1:-2],
        lambda x: x[-7::3],
        lambda x: torch.cat([x, x, x[1:]]),
        lambda x: x.repeat(3, 2).reshape(-1),
        lambda x: functional.max_pool2d(x[None, None], 3, 2, 1),
        lambda x: functional.avg_pool2d(x[None, None], 2, 2, ceil_mode=True),
        lambda x: functional.max_pool2d(functional.max_pool2d(x[None, None], 3, 2, 1), 3, 2, 1),
        lambda x: functional.conv2d(x[None, None], torch.zeros(1, 1, 3, 5), stride=(2, 3), dilation=2),
        lambda x: functional.conv_transpose2d(x[None, None], torch.zeros(1, 1, 3, 3), stride=2),
        lambda x: functional.interpolate(x[None, None], scale_factor=2.0),
        lambda x: functional.interpolate(x[None, None], scale_factor=0.5),
        lambda x: functional.unfold(x[None, None], 3, stride=2),
        lambda x: functional.pad(x, (1, 2, 0, -x.shape[0] % 16)),
        lambda x: torch.arange(0, x.shape[0], 3),
        lambda x: torch.zeros(torch.sym_max(x.shape[0], x.shape[1])),
        lambda x: torch.zeros(torch.sym_min(x.shape[0], 2 * x.shape[1]) + 1),
        lambda x: torch.zeros(x.shape[0] % 5 + x.shape[1] // 7),
        lambda x: torch.zeros((x.shape[0] ** 2 + x.shape[1]) // 3),
        lambda x: torch.zeros(int(x.shape[0] / 3) + 1),
        lambda x: torch.zeros(-(-x.shape[0] // x.shape[1])),
    ]
    for computation in computations:

        class Module(torch.nn.Module):
            def forward(self, x: torch.Tensor, compute: Any = computation) -> Any:
                return compute(x)

        auto = torch.export.Dim.AUTO
        program = torch.export.export(Module(), (torch.zeros(48, 64),), dynamic_shapes={"x": {0: auto, 1: auto}})
        for node in program.graph.nodes:
            value = node.meta.get("val")
            for size in (value,) if isinstance(value, torch.SymInt) else getattr(value, "shape", ()):
                if isinstance(size, torch.SymInt) and str(size) not in seen and not size.node.expr.is_Symbol:
                    seen.add(str(size))
                    expression = size.node.expr

                    def meaning(sizes: Mapping[str, int], expression: Any = expression) -> int | None:
                        number = expression.subs({s: sympy.Integer(sizes[s.name]) for s in expression.free_symbols})
                        return int(number) if number.is_Integer else None

                    yield row(writer, str(size), (s.name for s in expression.free_symbols), meaning)


def jax_rows() -> Iterator[Row]:
    """Dims of jax.export as it prints them, evaluated by jax."""
    import jax
    from jax import export
    from jax.core import max_dim, min_dim

    b, h, w = export.symbolic_shape("b, h, w")
    dims = [
        *(2 * b, b + 1, h - 1, b * h, 2 * b * h - 3, -b + h * w, h * w * 3 + b * w - 7),
        *(h // 2, (h - 1) // 2 + 1, -(-h // 4), (h * w) // (2 * b), (h // 2) * (w // 2), ((h - 3) // 2 - 3) // 2 + 1),
        *(h % 2, 3 * (h % 7) - 1, (b * h) % w, -h % 16, h + -h % 16),
        *(max_dim(h, w), max_dim(h - 5, 0), min_dim(h, 2 * w), max_dim(min_dim(h, 9), w // 2) + 1),
        *((h // 2 + 1) // 3 * b, max_dim(h // 2, 1) * (w % 3) - b, 4 * (h // 4) - (h + 3) // 4),
    ]
    for dim in dims:
        yield row(
            f"jax {jax.__version__}", str(dim), dim._get_vars(), lambda sizes, dim=dim: int(dim._evaluate(dict(sizes)))
        )


ONNX_TEXTS = [
    *("2*batch", "cache_length + seq_length", "past_seq+seq", "2*batch//batch", "a+b-a", "5+x-2+3", "1024*a//2"),
    *("CeilToInt(b+c, 2)", "(1+b+c)//2", "CeilToInt(h, 16)*16", "CeilToInt(CeilToInt(h, 2), 2)"),
    *("Max(s10, s3)", "E^D", "E & D", "a+1^b", "a & b^c", "a^b & c", "(a^b)*2", "Max(a, b)//2", "Max(a, Max(b, c))"),
    *("x%2", "2*(H//2)", "(2*H)//2", "-x+y", "x-(-y)", "a*b/:b", "c*(4*a/:4)", "(2*a*b/:2)//3", "h-h%8", "(h+w)%(b+1)"),
    *("(a+b)*(c-1)//2+1", "+a", "a//b//2", "a*b%c", "a-b-c", "-a//2"),
]
"""Texts of the proposal (PR 8175), of the documentation of its implementation, and of its operators."""

OPERATORS: dict[type[ast.AST], Callable[..., int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitXor: max,
    ast.BitAnd: min,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
FUNCTIONS: dict[str, Callable[[int, int], int]] = {"Max": max, "CeilToInt": lambda n, divisor: -(-n // divisor)}


def onnx_rows() -> Iterator[Row]:
    """Texts of the proposal; an exact division is one without rest at the points."""
    for text in ONNX_TEXTS:
        tree = ast.parse(text.replace("/:", "//"), mode="eval").body
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - FUNCTIONS.keys()
        yield row("onnx PR 8175", text, names, lambda sizes, tree=tree: value_of(tree, sizes))


def value_of(tree: ast.expr, sizes: Mapping[str, int]) -> int:
    """The value of an expression of the proposal."""
    if isinstance(tree, ast.BinOp):
        return OPERATORS[type(tree.op)](value_of(tree.left, sizes), value_of(tree.right, sizes))
    if isinstance(tree, ast.UnaryOp):
        return OPERATORS[type(tree.op)](value_of(tree.operand, sizes))
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        return FUNCTIONS[tree.func.id](*(value_of(argument, sizes) for argument in tree.args))
    if isinstance(tree, ast.Name):
        return sizes[tree.id]
    assert isinstance(tree, ast.Constant) and isinstance(tree.value, int)
    return tree.value


NAMES = [
    ("torch exporters", "unk__12"),
    ("torch exporters", "MaxPoolh2_dim_0"),
    ("torch exporters", "onnx::Add_15"),
    ("Paddle", "DynamicDimension.0"),
    ("Paddle", "p2o.DynamicDimension.12"),
    ("users", "batch-size"),
    ("users", "batch size"),
    ("users", "2_height"),
    ("users", "16H"),
    ("users", "日本"),
    ("users", "a/b:0"),
    ("users", "2"),
    ("users", "N/2"),  # the quotient, or its floor
    ("users", "0.333*h"),  # a rounded number
    ("users", "round(h)"),
    ("jax", "b^2"),  # a power for jax, a maximum for the proposal for ONNX
    ("sympy", "Piecewise((h, h > 2), (0, True))"),
    ("torch", "PowByNatural(h, w)"),
]
"""Texts that are one name, by who writes them."""

NO_SIZE = [("OpenVINO", "?"), ("users", "-1"), ("Python", "None"), ("onnx", "")]
"""Texts that state no size."""


def name_rows() -> Iterator[Row]:
    """Texts without a certain value: `names` has the text itself, or is empty for one that states no size."""
    for writer, text in NAMES:
        yield {"writer": writer, "text": text, "names": [text], "points": None}
    for writer, text in NO_SIZE:
        yield {"writer": writer, "text": text, "names": [], "points": None}


def main(writer: str, *paths: str) -> None:
    """Write the file of one writer."""
    makers = {"torch": torch_rows, "jax": jax_rows, "onnx": onnx_rows, "names": name_rows}
    rows = list(onnxruntime_rows(paths) if writer == "onnxruntime" else makers[writer]())
    lines = [json.dumps(line, ensure_ascii=False) for line in rows]
    (FOLDER / f"{writer}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{writer}: {len(lines)} texts")


if __name__ == "__main__":
    main(*sys.argv[1:])
