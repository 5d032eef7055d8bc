"""Adapters for external conformance scorers: they only call the public API."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

# Scorers import this file by its path; they score the checkout that contains it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shapeinf import Result, TensorInfo, infer_shapes
from shapeinf.expr import DimSize, format_dim
from shapeinf.formats import load
from shapeinf.formats.tflite import TfliteOptions
from shapeinf.formats.tflite.builder import function_index, function_key
from shapeinf.graph import DeclaredType, FunctionKey, Graph, function_references, subgraphs
from shapeinf.lattice.dtypes import ONNX_CODES
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
from shapeinf.ops import default_registry

Row = tuple["str | None", "list[int | str | tuple[int | None, int | None] | None] | None"]


def infer(path: str) -> dict[str, Row]:
    """Every tensor of the top-level graph: (dtype name, dims)."""
    result = infer_shapes(path)
    return _rows(result, result.tensors)


def infer_model(model: Any) -> dict[str, Row]:
    """Every tensor of an `onnx.ModelProto`: (dtype name, dims)."""
    result = infer_shapes(model)
    return _rows(result, result.tensors)


def infer_tf(path: str, inputs: list[dict[str, Any]]) -> dict[str, Row]:
    """Every tensor of a TensorFlow model for these dims of its inputs: `[{"name": "x:0", "dims": ["batch", 3]}]`.

    Tensors inside of functions have the names that TensorFlow's inliner gives them, with the output's number.
    """
    shapes = {entry["name"]: entry["dims"] for entry in inputs if entry["dims"] is not None}
    result = infer_shapes(path, inputs=shapes)
    return {**_rows(result, result.body_tensors), **_rows(result, result.tensors)}


def infer_pt2(path: str) -> dict[str, Row]:
    """Every tensor of a program of torch.export, with sizes in torch's symbols; those in bodies as `true_graph_0/x`."""
    result = infer_shapes(path)
    inner = {_torch_path(result.graph, name): info for name, info in result.body_tensors.items()}
    symbols = {name: symbol for symbol, name in result.graph.dim_aliases.items()}
    rows = _rows(result, {**inner, **result.tensors})
    return {name: (dtype, dims and [_torch_dim(d, symbols) for d in dims]) for name, (dtype, dims) in rows.items()}


def _torch_dim(dim: Any, symbols: Mapping[str, str]) -> Any:
    """A size with torch's symbols instead of our names."""
    if not isinstance(dim, str):
        return dim
    return re.sub(r"[^\W\d]\w*", lambda match: symbols.get(match[0], match[0]), dim)


def _torch_path(graph: Graph, name: str) -> str:
    """The name of a value inside of bodies behind the names of their graphs: `true_graph_0/relu`."""
    for node in graph.nodes:
        bodies = dict(subgraphs(node.kind))
        for attribute, body in bodies.items():
            prefix = f"{node.name}/{attribute}/" if len(bodies) > 1 else f"{node.name}/"
            if name.startswith(prefix):
                return f"{body.name}/{_torch_path(body, name.removeprefix(prefix))}"
    return name


def check_pt2(path: str) -> list[str]:
    """The tensors of a program whose declared sizes differ from those that inference finds."""
    result = infer_shapes(path, declared="check")
    return sorted({_torch_path(result.graph, d.tensor) for d in result.diagnostics if d.code == "S120"})


def legal_pt2(
    path: str, asked: Sequence[Mapping[str, Any]], bindings: Sequence[Mapping[str, int]]
) -> list[bool | None]:
    """Whether a program runs for these sizes of axes (`x:0`) and these numbers, without the guards of torch."""
    return [_is_legal(path, binding) for binding in bindings]


def _is_legal(path: str, binding: Mapping[str, int]) -> bool | None:
    specs: dict[str, dict[int, int]] = {}
    values: dict[str, object] = {}
    for axis, size in binding.items():
        argument, _, number = axis.partition(":")
        name = re.sub(r"\W+", "_", argument).strip("_")  # d['c'][1] is the input d_c_1
        if number:
            specs.setdefault(name, {})[int(number)] = size
        else:
            values[name] = size
    return infer_shapes(path, inputs=specs, values=values, declared="ignore").contract.check().verdict


def _rows(result: Result, tensors: Mapping[str, TensorInfo]) -> dict[str, Row]:
    return {
        name: (info.dtype, None if info.shape.dims is None else [_dim_of(result, info, d) for d in info.shape.dims])
        for name, info in tensors.items()
    }


def _dim_of(result: Result, info: TensorInfo, dim: DimSize) -> int | str | tuple[int | None, int | None] | None:
    """As `_dim`; None for a size that differs between the elements of a sequence."""
    varied = info.kind != "tensor" and not isinstance(dim, int) and dim.is_anonymous
    return None if varied else _dim(result, dim)


def _dim(result: Result, dim: DimSize) -> int | str | tuple[int | None, int | None] | None:
    """An int, an expression in the file's own names, or the bounds of a dim that contains an unknown."""
    if isinstance(dim, int):
        return dim
    if not dim.is_anonymous:
        return format_dim(dim, quote=False)
    bounds = result.interval(dim)
    return (bounds.lo, bounds.hi)


def runtime_peak(path: str, binding: Mapping[str, int], file_order: bool) -> int:
    """The bytes that onnxruntime allocates at most in a first run, without an arena and a memory pattern."""
    sizes = dict(binding)
    sizes.update((name, total) for name in infer_shapes(path).dims if (total := _sum_of(name, binding)) is not None)
    result = infer_shapes(path, bind=sizes)
    memory = result.memory(runtime="onnxruntime", options=OnnxRuntimeOptions(file_order=file_order))
    return memory.at(sizes).first.bytes


def _sum_of(name: str, binding: Mapping[str, int]) -> int | None:
    """The size of a dim that the scorer leaves out: `past_seq` is the sum of `past` and `seq`."""
    parts = name.split("_")
    return (
        None if name in binding or not all(map(binding.__contains__, parts)) else sum(map(binding.__getitem__, parts))
    )


def rewrite(path_in: str, path_out: str, passes: Sequence[str] | None = None) -> None:
    """Clean a model up and write the result; None for the default passes."""
    from shapeinf.passes import clean

    spelled = passes and ["normalize_forms" if name == "normalise_forms" else name for name in passes]  # in the corpus
    clean(path_in, spelled).save(path_out, external_data="copy")


def replay(model: Any, check_type: bool, strict_mode: bool, data_prop: bool) -> dict[str, list[Any] | None]:
    """The type of every node output and graph output, as JSON; `check_type` and `data_prop` are always on here."""
    result = infer_shapes(model, mode="strict" if strict_mode else "best")
    names = [*(o for node in result.graph.nodes for o in node.outputs if o), *result.graph.outputs]
    return {name: _type_json(result.tensors[name]) for name in names}


def _type_json(info: TensorInfo) -> list[Any] | None:
    if info.dtype is None:
        return None
    dims = None if info.shape.dims is None else [_dim_json(d) for d in info.shape.dims]
    record: list[Any] = ["tensor", ONNX_CODES[info.dtype], dims]
    for kind in reversed(re.findall(r"map\(\w+\)|sequence|optional", info.kind)):
        if kind.startswith("map"):
            record = ["map", ONNX_CODES[kind[4:-1]], record]
        else:
            record = [{"sequence": "seq"}.get(kind, kind), record]
    return record


def _dim_json(dim: DimSize) -> int | str | None:
    if isinstance(dim, int):
        return dim
    return None if dim.is_anonymous else format_dim(dim, quote=False)


def infer_tflite(path: str, inputs: list[dict[str, Any]]) -> dict[str, Row]:
    """Every tensor of a TensorFlow Lite file by subgraph and index (`0:17`), for these sizes of its inputs.

    All signatures are entry points. LiteRT resizes neither what no node of a body reads, nor what does not run. Element
    types are those of the file, which the interpreter reports until its kernels are prepared: some set others.
    """
    rows: dict[str, Row] = {}
    for graph in _entry_points(path):
        names: Mapping[tuple[int, int], str] = graph.model.names
        specs = {names.get(_tensor_key(entry["tensor"]), ""): entry["dims"] for entry in inputs}
        result = infer_shapes(graph, inputs={name: dims for name, dims in specs.items() if name in graph.inputs})
        for (subgraph, index), row in _tflite_rows(result, graph).items():
            rows.setdefault(f"{subgraph}:{index}", row)
    return rows


def refuses_tflite(path: str, shapes: Mapping[str, Sequence[int]]) -> bool | None:
    """Whether LiteRT refuses these sizes of the inputs, by subgraph and index; None where that is not known."""
    graph = load(path)
    named = {graph.model.names.get(_tensor_key(key), ""): dims for key, dims in shapes.items()}
    specs: dict[str, Any] = {name: dims for name, dims in named.items() if name in graph.inputs}
    result = infer_shapes(graph, inputs=specs)
    if any(diagnostic.severity == "error" for diagnostic in result.diagnostics):
        return True
    legal = result.contract.check().verdict
    return None if legal is None else not legal


def _declared_sizes(declared: DeclaredType) -> list[int | str | tuple[int | None, int | None] | None] | None:
    """The sizes in the file; None where it does not have all of them."""
    sizes = [size for size in declared.dims or (None,) if isinstance(size, int)]
    return [*sizes] if declared.dims is not None and len(sizes) == len(declared.dims) else None


def _entry_points(path: str) -> list[Graph]:
    """The graph of the main subgraph, and those of the signatures of others."""
    main = load(path)
    others = [load(path, TfliteOptions(signature=key)) for key in main.model.signatures]
    return [main, *(graph for graph in others if graph.model.subgraph != main.model.subgraph)]


def _tflite_rows(result: Result, graph: Graph) -> dict[tuple[int, int], Row]:
    """The tensors of all subgraphs that run, by subgraph and index."""
    rows = _rows(result, {**result.body_tensors, **result.tensors})
    found: dict[tuple[int, int], Row] = {}
    for subgraph, prefix in _subgraph_paths(result, graph, graph, graph.model.subgraph, ""):
        body = graph if not prefix else graph.functions[function_key(subgraph)]
        read = {name for node in body.nodes for name in node.inputs}
        unread = {*body.inputs} - read - {*body.outputs} if prefix else set()
        for key, value in graph.model.names.items():
            if key[0] == subgraph and value in unread:
                found.setdefault(key, (body.declared[value].dtype, _declared_sizes(body.declared[value])))
            elif key[0] == subgraph and prefix + value in rows:
                found.setdefault(key, _with_stated_type(rows[prefix + value], body.declared.get(value)))
    return found


def _with_stated_type(row: Row, declared: DeclaredType | None) -> Row:
    """The row with the element type that the file states."""
    if declared is None or declared.dtype is None or not isinstance(row, tuple):
        return row
    return declared.dtype, row[1]


def _tensor_key(text: str) -> tuple[int, int]:
    subgraph, _, index = text.partition(":")
    return int(subgraph), int(index)


def _subgraph_paths(result: Result, model: Graph, graph: Graph, index: int, prefix: str) -> Iterator[tuple[int, str]]:
    """The subgraphs that run, each with the prefix of its values in `Result.body_tensors`.

    Of a choice that sizes or data decide, no branch is known to run.
    """
    yield index, prefix
    registry = default_registry()
    for node in graph.nodes:
        op_def = registry.lookup("tflite", node.domain, node.op, 1)
        bodies: list[tuple[FunctionKey, str]] = []
        for name, reference in function_references(node.kind):
            label = "" if op_def is None else op_def.label(name)
            inner = f"{prefix}{node.name}/{label}/" if label else f"{prefix}{node.name}/"
            if any(value.startswith(inner) for value in result.body_tensors):
                bodies.append((reference.function, inner))
        if node.op in ("IF", "STABLEHLO_CASE") and len(bodies) > 1:
            continue
        for key, inner in bodies:
            yield from _subgraph_paths(result, model, model.functions[key], function_index(key), inner)
