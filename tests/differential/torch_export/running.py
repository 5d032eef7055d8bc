"""Exports drawn modules and runs them at several sizes. Needs torch."""

from __future__ import annotations

import json
import logging
import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch._export.serde.serialize import ExportedProgramSerializer, _dataclass_to_dict
from torch.export import Dim, ExportedProgram, export

from tests.differential.torch_export.case import Case, Run
from tests.differential.torch_export.drawing import Drawn, draw

logging.getLogger("torch").setLevel(logging.ERROR)  # what it warns of is part of the drawn programs

RUNS = 6
EDGES = (0, 1, 1, 2, 2, 3, 4, 8)


class NotExportedError(Exception):
    """torch.export refuses the module."""


def make_case(seed: int) -> Case:
    """The program of a seed with its runs. Raises NotExportedError."""
    return case_of(draw(seed), seed)


def draw_cases(seeds: Iterable[int]) -> Iterator[Case]:
    """The programs of these seeds, without those that torch does not export."""
    for seed in seeds:
        try:
            yield make_case(seed)
        except NotExportedError:
            continue


def case_of(module: Drawn, seed: int) -> Case:
    """The exported form of a module, one of three by the seed, and its runs."""
    source = random.Random(f"sizes {seed}")
    form = source.choice(("dynamic", "dynamic", "dynamic", "decomposed", "decomposed", "static"))
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        program = _export(module, form)
        runs = [_run(module, program, sizes) for sizes in _sizes(source, module)]
    return Case(seed, form, _json(program), module.axes(), runs)


def _export(module: Drawn, form: str) -> ExportedProgram:
    arguments = tuple(module.arguments(module.sizes(module.example)))
    free = Dim.STATIC if form == "static" else Dim.AUTO
    dims = [{axis: free for axis, dim in enumerate(item.dims) if isinstance(dim, str)} for item in module.inputs]
    try:
        program = export(module, arguments, dynamic_shapes=(tuple(dims),), strict=False)
        return program.run_decompositions() if form == "decomposed" else program
    except Exception as error:  # torch raises errors of many classes
        raise NotExportedError(f"{type(error).__name__}: {error}") from error


def _sizes(source: random.Random, module: Drawn) -> list[list[int]]:
    """The sizes of the example, and others: small ones, neighbours, multiples, and one axis apart from its name."""
    listed = [module.sizes(module.example)]
    names = list(module.example)
    while len(listed) < RUNS and names:
        binding = dict(module.example)
        for name in source.sample(names, source.randint(1, len(names))):
            size = binding[name]
            others = (size - 1, size + 1, size // 2, 2 * size, source.randint(1, 24), source.choice(EDGES))
            binding[name] = source.choice(others)
        sizes = module.sizes(binding)
        if source.random() < 0.2:
            sizes[source.randrange(len(sizes))] = source.randint(1, 12)
        listed.append(sizes)
    return listed


def _run(module: Drawn, program: ExportedProgram, sizes: list[int]) -> Run:
    arguments = module.arguments(sizes)
    eager, failure = _attempt(lambda: module(*arguments))
    recorder = _Recorder(program.graph_module)
    results, graph_failure = _attempt(lambda: recorder.run(*_inputs(program, arguments)))
    if failure or graph_failure:
        other = graph_failure or "it runs"
        return Run(sizes, failure, "" if failure and graph_failure else other, {} if graph_failure else recorder.types)
    shapes = [tuple(result.shape) for result in results if isinstance(result, torch.Tensor)]
    same = shapes[-len(eager) :] == [tuple(result.shape) for result in eager]  # results of mutation come first
    return Run(sizes, "", "" if same else "other results", recorder.types)


def _attempt(run: Callable[[], Any]) -> tuple[Any, str]:
    """The results of a run, or why it fails."""
    try:
        return run(), ""
    except Exception as error:  # torch raises errors of many classes
        return None, str(error).splitlines()[0][:80] or "error"


def _inputs(program: ExportedProgram, arguments: Sequence[torch.Tensor]) -> list[Any]:
    """The inputs of the graph: parameters, buffers and constants, then the arguments."""
    left = list(arguments)
    inputs: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name == "USER_INPUT":
            inputs.append(left.pop(0))
        else:
            stored = program.state_dict if spec.target in program.state_dict else program.constants
            inputs.append(stored[spec.target])
    return inputs


class _Recorder(torch.fx.Interpreter):
    """Runs the graph without torch's guards, and records the type of each value."""

    def __init__(self, graph: torch.fx.GraphModule) -> None:
        super().__init__(graph)
        self.types: dict[str, str] = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        result = super().run_node(n)
        if isinstance(result, torch.Tensor) and n.op == "call_function":
            self.types[n.name] = f"{str(result.dtype).removeprefix('torch.')}{list(result.shape)}"
        return result


def _json(program: ExportedProgram) -> str:
    """The JSON of a program without its metadata, which inference does not need."""
    data = _dataclass_to_dict(ExportedProgramSerializer().serialize(program).exported_program)
    data["graph_module"]["module_call_graph"] = []
    _strip(data["graph_module"]["graph"])
    return json.dumps(data, default=str, separators=(",", ":"))


def _strip(data: Any) -> None:
    """Remove metadata and strides, also in bodies."""
    if isinstance(data, dict):
        if "metadata" in data:
            data["metadata"] = {}
        for value in data.values():
            _strip(value)
    elif isinstance(data, list):
        for value in data:
            _strip(value)
