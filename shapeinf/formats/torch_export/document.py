"""The JSON of a program as records, checked where the reader relies on it.

Unknown keys are ignored and missing ones have defaults, as torch reads files of other minor versions. The definitions
are `torch/_export/serde/schema.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import attrs

from shapeinf.errors import LimitError, ModelError
from shapeinf.lattice.dtypes import EXPORTED_NAMES
from shapeinf.texts import shorten_text

MAJOR = 8
"""The major version of the schema that torch has written since 2.5."""
MAX_NODES = 1 << 20
MAX_RANK = 64
MAX_GRAPHS = 32
"""Graphs inside one another."""
MAX_NUMBER = 2**63

Json = Mapping[str, Any]

_FRAME = re.compile(r'File "([^"\n]*)", line (\d+)')

MAX_PATH = 48
"""The most characters of the path of a module in messages."""

_OF_TORCH = re.compile(r"(?:^|[/\\])torch[/\\]")
"""The paths of torch's own modules."""
_EXPORTER = re.compile(r"torch[/\\](?:fx|export|_export|_dynamo)[/\\]")
"""The modules that add nodes of their own, such as checks, which no line of a source has."""


class MalformedError(ValueError):
    """A part of a program that does not conform to its schema. Internal: caught in `formats.torch_export.reader`."""


class Tensor(NamedTuple):
    """The declared element type, sizes and strides of a tensor: numbers and texts of expressions.

    Files without strides have none for any axis.
    """

    dtype: str | None
    sizes: tuple[int | str, ...]
    strides: tuple[int | str, ...]


class Argument(NamedTuple):
    """An argument of a node: its name, empty where it has none, and the value as a union of one key."""

    name: str
    kind: str
    value: Any


@attrs.frozen
class Program:
    """The parts of a program besides its graph.

    Args:
        graph: the JSON of the outermost graph.
        inputs: the specs of the inputs, each its kind and its record, in the order of the inputs of the graph.
        outputs: the specs of the outputs.
        ranges: the least and the greatest value of symbols, None for none.
        guards: the lines of guards.
        torch_version: the version that wrote the program.
        schema_version: major and minor.
        module_checks: whether a part of the exported module is a program that was exported before: it checks guards.
        argument_names: the names of the parameters of `forward`.
    """

    graph: Json
    inputs: Sequence[tuple[str, Json]]
    outputs: Sequence[tuple[str, Json]]
    ranges: Mapping[str, tuple[int | None, int | None]]
    guards: Sequence[str]
    torch_version: str
    schema_version: tuple[int, int]
    module_checks: bool


def parse_json(text: bytes, source: str) -> Any:
    """The JSON of a file. Raises ModelError for a text that is no JSON, LimitError past a limit of Python's reader."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise LimitError("its JSON has too many brackets inside one another", node=source) from error
    except (ValueError, UnicodeDecodeError) as error:
        raise ModelError(f"is not the JSON of a program of torch.export: {error}", node=source) from error


def _refuse_constant(text: str) -> float:
    """Floats that are not finite stand in programs as the texts that torch's own reader takes."""
    return float(text)


def read_program(data: object) -> Program:
    """The program in its JSON. Raises MalformedError."""
    program = mapping(data, "the program")
    version = mapping(program.get("schema_version") or {}, "schema_version")
    major, minor = (integer(version.get(name, 0), f"{name} of schema_version") for name in ("major", "minor"))
    if major not in (0, MAJOR) and not 1 <= major < MAJOR:
        raise MalformedError(f"has version {major}.{minor} of the schema; versions up to {MAJOR} are read")
    module = mapping(program.get("graph_module"), "graph_module")
    signature = mapping(module.get("signature") or {}, "signature")
    ranges = mapping(program.get("range_constraints") or {}, "range_constraints")
    guards = listed(program.get("guards_code") or (), "guards_code")
    return Program(
        mapping(module.get("graph"), "graph"),
        _specs(signature, "input_specs"),
        _specs(signature, "output_specs"),
        {name: _range(bounds) for name, bounds in ranges.items()},
        [text(guard, "a guard") for guard in guards],
        text(program.get("torch_version") or "", "torch_version"),
        (major, minor),
        any(map(_is_check, listed(module.get("module_call_graph") or (), "module_call_graph"))),
    )


def _is_check(call: object) -> bool:
    """Whether an entry of the calls of modules is the function in which torch checks the guards of a program."""
    path = mapping(call, "a call of a module").get("fqn")
    return isinstance(path, str) and path.rpartition(".")[2] == "_guards_fn"


def _specs(signature: Json, key: str) -> list[tuple[str, Json]]:
    """The kind and the record of each input or output of the signature."""
    unions = [union(spec, f"an item of {key}") for spec in listed(signature.get(key) or (), key)]
    return [(kind, mapping(record, kind)) for kind, record in unions]


def _range(value: object) -> tuple[int | None, int | None]:
    bounds = mapping(value, "a range")
    low, high = bounds.get("min_val"), bounds.get("max_val")
    return tuple(n if type(n) is int else None for n in (low, high))  # type: ignore[return-value]


# -- values ------------------------------------------------------------------------------------------------------------


def mapping(value: object, subject: str) -> Json:
    """An object of JSON."""
    if not isinstance(value, dict):
        raise MalformedError(f"{subject} must be an object of JSON")
    return value


def listed(value: object, subject: str) -> Sequence[Any]:
    """A list."""
    if not isinstance(value, (list, tuple)):
        raise MalformedError(f"{subject} must be a list")
    return value


def text(value: object, subject: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise MalformedError(f"{subject} must be a text")
    return value


def integer(value: object, subject: str) -> int:
    """An integer of at most 64 bits."""
    if type(value) is not int:
        raise MalformedError(f"{subject} must be an integer")
    if not -MAX_NUMBER <= value < MAX_NUMBER:
        raise MalformedError(f"{subject} does not fit into 64 bits")
    return value


def union(value: object, subject: str) -> tuple[str, Any]:
    """The key and the value of a union, an object of one key."""
    items = mapping(value, subject)
    if len(items) != 1:
        raise MalformedError(f"{subject} must be an object of one key")
    return next(iter(items.items()))


def name_of(value: object, subject: str, key: str = "name") -> str:
    """The name in a record."""
    return text(mapping(value, subject).get(key), f"the name of {subject}")


def dtype_of(code: object) -> str | None:
    """An element type by its code or, in older files, its name; None for one that shapeinf does not have."""
    if isinstance(code, str):
        return {str(name).upper(): name for name in EXPORTED_NAMES.values()}.get(_OLD_NAMES.get(code, code))
    return EXPORTED_NAMES.get(integer(code, "an element type"))


_OLD_NAMES = {
    **{"BYTE": "UINT8", "CHAR": "INT8", "SHORT": "INT16", "INT": "INT32", "LONG": "INT64", "HALF": "FLOAT16"},
    **{"FLOAT": "FLOAT32", "DOUBLE": "FLOAT64"},
}


def tensor_of(value: object) -> Tensor:
    """A tensor of `tensor_values`."""
    meta = mapping(value, "the declaration of a tensor")
    sizes = listed(meta.get("sizes", ()), "sizes")
    if len(sizes) > MAX_RANK:
        raise MalformedError(f"a tensor has more than {MAX_RANK} axes")
    strides = listed(meta.get("strides", ()), "strides")
    return Tensor(
        dtype_of(meta.get("dtype", 0)),
        tuple(map(size_of, sizes)),
        tuple([symbolic(stride, "a stride") for stride in strides]) if len(strides) == len(sizes) else (),
    )


def size_of(value: object) -> int | str:
    """A size: a number of at least 0, or the text of an expression."""
    number = symbolic(value, "a size")
    if isinstance(number, int) and number < 0:
        raise MalformedError(f"a size must be at least 0: {number}")
    return number


def symbolic(value: object, subject: str) -> int | str:
    """A number, or the text of an expression."""
    key, content = union(value, subject)
    if key == "as_int":
        return integer(content, subject)
    if key != "as_expr":
        raise MalformedError(f"{subject} must be an integer or an expression")
    return text(mapping(content, subject).get("expr_str"), f"the expression of {subject}")


def example_of(value: object) -> int | None:
    """The number that a size is in the example with which the program was exported; None where the file has none."""
    key, content = union(value, "a size")
    if key == "as_int":
        return integer(content, "a size")
    hint = mapping(content, "an expression").get("hint")
    number = mapping(hint, "a hint").get("as_int") if hint else None
    return number if type(number) is int and 0 <= number < MAX_NUMBER else None


# -- nodes -------------------------------------------------------------------------------------------------------------


def nodes_of(graph: Json) -> Sequence[Json]:
    """The nodes of a graph. Raises LimitError past a limit."""
    nodes = listed(graph.get("nodes"), "nodes")
    if len(nodes) > MAX_NODES:
        raise LimitError(f"has more than {MAX_NODES} nodes")
    return nodes


def arguments_of(node: Json) -> Iterator[Argument]:
    """The arguments of a node, in the order of the file."""
    for item in listed(node.get("inputs", ()), "inputs"):
        record = mapping(item, "an argument")
        yield Argument(
            text(record.get("name") or "", "the name of an argument"), *union(record.get("arg"), "an argument")
        )


def source_of(node: Json) -> str:
    """Where a node comes from, such as `models.py:38 (layers.0.attn)`; empty where unknown.

    The line of the user's source is the innermost one outside of torch, else the innermost one that is no generated
    code, such as `torch/nn/modules/rnn.py:1440`. The module is the innermost one that ran; the outermost one has no
    path.
    """
    metadata = node.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    trace, stack = metadata.get("stack_trace"), metadata.get("nn_module_stack")
    line = _innermost_line(trace) if isinstance(trace, str) else ""
    module = _innermost_module(stack) if isinstance(stack, str) else ""
    if not module:
        return line
    return f"{line} ({module})" if line else f"module {module}"


@lru_cache(maxsize=1024)
def _innermost_module(stack: str) -> str:
    """The path of the last module of a stack `key,path,class;...`; empty for any other text.

    >>> _innermost_module("L__self__,,models.Net;L__self___layers_0,layers.0,models.Block")
    'layers.0'
    """
    parts = stack.rpartition(";")[2].split(",")
    return shorten_text(parts[1], MAX_PATH) if len(parts) == 3 else ""


@lru_cache(maxsize=1024)
def _innermost_line(trace: str) -> str:
    """The line of `source_of` in a stack trace; the nodes of one line of a source have equal traces."""
    frames = [(path, line) for path, line in _FRAME.findall(trace) if path[:1] != "<"]
    own = [frame for frame in frames if not _OF_TORCH.search(frame[0])]
    if own or not frames:
        return ":".join(own[-1]) if own else ""
    path, line = frames[-1]
    *_, start = _OF_TORCH.finditer(path)
    inside = path[start.start() :].lstrip("/\\")
    return "" if _EXPORTER.match(inside) else f"{inside}:{line}"
