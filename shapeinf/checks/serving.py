"""A serving config of Triton against the model that it serves."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from shapeinf.checks.pbtxt import Message, parse_pbtxt
from shapeinf.checks.subject import CheckedModel
from shapeinf.checks.trial import try_shapes
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.errors import ModelError
from shapeinf.expr import Dim, Dimension

C160 = register_code("C160", "error", "an unknown input or output in a serving config, or a missing input")
C161 = register_code("C161", "error", "a data type of a serving config differs from the model's")
C162 = register_code("C162", "error", "dims of a serving config differ from the model's")
C163 = register_code("C163", "error", "a batch size of a serving config with which the graph cannot run")

_TYPES = {
    "TYPE_BOOL": "bool",
    "TYPE_STRING": "string",
    "TYPE_BF16": "bfloat16",
    **{f"TYPE_FP{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"TYPE_{sign}INT{bits}": f"{sign.lower()}int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)},
}


@attrs.frozen
class Port:
    """An input or output of a config: its dims with the batch, None where any size is served."""

    name: str
    dtype: str
    dims: tuple[int | None, ...]


@attrs.frozen
class ServingConfig:
    """What a `config.pbtxt` says of shapes."""

    max_batch_size: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


def read_serving_config(path: str) -> ServingConfig:
    """Read a `config.pbtxt`. Raises ModelError."""
    message = parse_pbtxt(Path(path).read_text(encoding="utf-8", errors="replace"), path)
    batch = message.get("max_batch_size", [0])[-1]
    if not isinstance(batch, int) or batch < 0:
        raise ModelError("max_batch_size must be a number of at least 0", node=path)
    ports = [tuple(_port(one, batch, path) for one in message.get(key, ())) for key in ("input", "output")]
    return ServingConfig(batch, *ports)


def _port(given: Any, batch: int, path: str) -> Port:
    if not isinstance(given, dict) or not isinstance(given.get("name", [None])[-1], str):
        raise ModelError("an input or output without a name", node=path)
    message: Message = given
    name = message["name"][-1]
    reshape = next((one for one in message.get("reshape", ()) if isinstance(one, dict)), None)
    dims = message.get("dims", []) if reshape is None else reshape.get("shape", [])
    if any(not isinstance(dim, int) or dim < -1 for dim in dims):
        raise ModelError(f"{name}: dims must be sizes or -1", node=path)
    sizes = tuple(None if dim == -1 else dim for dim in dims)
    return Port(name, str(message.get("data_type", [""])[-1]), (None, *sizes) if batch else sizes)


def check_serving(subject: CheckedModel, config: ServingConfig) -> list[Diagnostic]:
    """Where a serving config does not fit the model."""
    inputs, outputs = list(subject.asked), subject.graph.outputs
    found = [*_names("input", config.inputs, inputs), *_names("output", config.outputs, outputs)]
    found += [one for name in inputs for one in _missing(config, name)]
    found += [one for port in config.inputs if port.name in inputs for one in _fits(subject, config, port, True)]
    if not found:  # the graph can be asked; why an output is wrong comes before that it is
        found += _batches(subject, config)
    return found + [
        one for port in config.outputs if port.name in outputs for one in _fits(subject, config, port, False)
    ]


def _names(what: str, ports: tuple[Port, ...], names: list[str]) -> Iterator[Diagnostic]:
    for port in ports:
        if port.name not in names:
            near = ", ".join(difflib.get_close_matches(port.name, names, n=3, cutoff=0.5) or names)
            message = f"the config has an {what} {port.name} that the model does not have"
            yield Diagnostic("error", C160, message, tensor=port.name, help=f"the model has: {near}")


def _missing(config: ServingConfig, name: str) -> Iterator[Diagnostic]:
    if all(port.name != name for port in config.inputs):
        yield Diagnostic("error", C160, f"the config does not have the input {name} of the model", tensor=name)


def _fits(subject: CheckedModel, config: ServingConfig, port: Port, of_input: bool) -> Iterator[Diagnostic]:
    info = subject.result.tensors[port.name]
    dtype = _TYPES.get(port.dtype)
    if info.dtype is not None and dtype != info.dtype:
        message = f"the config says {port.dtype or 'no data type'} for {port.name}, the model {info.dtype}"
        yield Diagnostic("error", C161, message, tensor=port.name)
    dims = subject.asked[port.name] if of_input else info.shape.dims
    if dims is None:
        return
    if len(dims) != len(port.dims):
        shown = " (with the batch axis that max_batch_size adds)" if config.max_batch_size else ""
        message = f"the config says {len(port.dims)} axes for {port.name}{shown}, the model {len(dims)}"
        yield Diagnostic("error", C162, message, tensor=port.name)
        return
    for axis, (served, dim) in enumerate(zip(port.dims, dims, strict=True)):
        reason = _differs(subject, config, axis, served, dim)
        if reason:
            yield Diagnostic("error", C162, f"axis {axis} of {port.name} {reason}", tensor=port.name)


def _differs(subject: CheckedModel, config: ServingConfig, axis: int, served: int | None, dim: Dim) -> str:
    if axis == 0 and config.max_batch_size and isinstance(dim, int):
        return f"is the batch of up to {config.max_batch_size} in the config, but always {dim} in the model"
    if served is None:
        return f"is dynamic in the config, but always {dim} in the model" if isinstance(dim, int) else ""
    if subject.store.prove_eq(dim, served) is False:
        return f"is {served} in the config, but {dim} in the model"
    return ""


def _batches(subject: CheckedModel, config: ServingConfig) -> Iterator[Diagnostic]:
    """The smallest and the largest batch, where the config fixes all else."""
    for batch in dict.fromkeys((1, config.max_batch_size)) if config.max_batch_size else ():
        shapes = {port.name: _sizes(subject, port, batch) for port in config.inputs}
        for broken in try_shapes(subject, shapes):
            yield attrs.evolve(broken, code=C163, message=f"at a batch of {batch}: {broken.message}")
            return


def _sizes(subject: CheckedModel, port: Port, batch: int) -> list[Any]:
    """The shape of an input at a batch; dynamic axes keep the name that the model gives them."""
    dims = subject.asked[port.name]
    named = [str(d) if isinstance(d, Dimension) and not d.is_anonymous else None for d in dims]
    return [batch if i == 0 else named[i] if size is None else size for i, size in enumerate(port.dims)]
