"""Builds programs of torch.export by hand, as torch writes them, so that tests need neither torch nor files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def size(value: int | str) -> Json:
    """A size: a number, or the text of an expression."""
    return {"as_int": value} if isinstance(value, int) else {"as_expr": {"expr_str": value, "hint": None}}


def symbol(name: str) -> str:
    """The text of a symbol."""
    return f"Symbol({name!r}, positive=True, integer=True)"


def tensor(*sizes: int | str, dtype: int = 7, strides: Sequence[int | str] = ()) -> Json:
    """The declaration of a tensor."""
    return {"dtype": dtype, "sizes": [size(s) for s in sizes], "strides": [size(s) for s in strides], "layout": 7}


def argument(value: Any) -> Json:
    """An argument: a text is the name of a tensor, a mapping is an argument itself."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        return {"as_tensor": {"name": value}}
    if value is None:
        return {"as_none": True}
    kind = {bool: "as_bool", int: "as_int", float: "as_float"}.get(type(value))
    return {kind: value} if kind else {"as_ints": list(value)}


def number(name: str) -> Json:
    """An argument that is a computed integer."""
    return {"as_sym_int": {"as_name": name}}


def node(target: str, arguments: Mapping[str, Any], *outputs: str | Json, line: int = 0) -> Json:
    """A node; an output that is a text is a tensor."""
    trace = {"stack_trace": f'File "models.py", line {line}, in forward\n    return x'} if line else {}
    return {
        "target": target,
        "inputs": [{"name": name.rstrip("*"), "arg": argument(v), "kind": 1} for name, v in arguments.items()],
        "outputs": [argument(output) for output in outputs],
        "metadata": trace,
        "name": None,
    }


def unnamed(target: str, arguments: Sequence[Any], *outputs: str | Json) -> Json:
    """A node whose arguments have no names, as those of operators with bodies."""
    made = node(target, {}, *outputs)
    made["inputs"] = [{"name": "", "arg": argument(value), "kind": 1} for value in arguments]
    return made


def graph(inputs: Sequence[Any], nodes: Sequence[Json], outputs: Sequence[Any], **values: Any) -> Json:
    """A graph; `tensors` and `numbers` are the declarations by name."""
    return {
        "inputs": [argument(item) for item in inputs],
        "outputs": [argument(item) for item in outputs],
        "nodes": list(nodes),
        "tensor_values": values.get("tensors", {}),
        "sym_int_values": {name: size(value) for name, value in values.get("numbers", {}).items()},
        "sym_float_values": {},
        "sym_bool_values": {},
        "custom_obj_values": {},
    }


def program(top: Json, stored: Mapping[str, tuple[str, str]] | None = None, **fields: Any) -> Json:
    """A program; `stored` has kind and name in the module of the inputs that are no inputs of the user."""
    specs = []
    for item in top["inputs"]:
        name = item.get("as_tensor", {}).get("name")
        if stored and name in stored:
            kind, path = stored[name]
            specs.append({kind: {"arg": {"name": name}, f"{kind}_name": path}})
        else:
            specs.append({"user_input": {"arg": item}})
    signature = {"input_specs": specs, "output_specs": [{"user_output": {"arg": item}} for item in top["outputs"]]}
    return {
        "graph_module": {"graph": top, "signature": signature, "module_call_graph": []},
        "opset_version": {"aten": 10},
        "range_constraints": {},
        "schema_version": {"major": 8, "minor": 20},
        "torch_version": "2.13.0",
        **fields,
    }


def flattening() -> Json:
    """A program that flattens rows of images: [s77, 3, 4] -> [s77, 12]."""
    return program(
        graph(
            ["x"],
            [
                node(
                    "torch.ops.aten.sym_size.int",
                    {"self": "x", "dim": 0},
                    number("n"),
                    line=7,
                ),
                node(
                    "torch.ops.aten.view.default",
                    {"self": "x", "size": {"as_sym_ints": [{"as_name": "n"}, {"as_int": -1}]}},
                    "y",
                    line=8,
                ),
            ],
            ["y"],
            tensors={"x": tensor(symbol("s77"), 3, 4), "y": tensor(symbol("s77"), 12)},
            numbers={"n": symbol("s77")},
        ),
        guards_code=["L['x'].size()[0] != 1"],
        range_constraints={"s77": {"min_val": 2, "max_val": None}},
    )


def archive(members: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive of these files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return file.getvalue()


def package(*programs: tuple[str, Json], **members: bytes) -> bytes:
    """A package of torch 2.8 and later with these programs."""
    files = {"p/archive_format": b"pt2", "p/archive_version": b"0", "p/.data/version": b"3"}
    files.update({f"p/models/{name}.json": json.dumps(data).encode() for name, data in programs})
    files.update({name.replace("__", "/"): data for name, data in members.items()})
    return archive(files)


def flat(data: Json) -> bytes:
    """A package of torch before 2.8."""
    text = json.dumps(data).encode()
    return archive({"serialized_exported_program.json": text, "version": b"8.7", "serialized_constants.pt": b"PK"})
