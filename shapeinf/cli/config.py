"""`--config shapes.toml`: the assumptions about a model in a file; the command line takes precedence.

min_dim = 1
declared = "check"
assume = ["past + seq <= 4096"]
[dims]
batch = "1..8"
H = { min = 32, max = 512, multiple_of = 32 }
[bind]
seq = 128
[inputs]
image = "[batch, 3, H, ?]"
mask = { 0 = "batch" }
[values]
sr = 16000
shape = ["batch", 3, "?"]
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs
import click

from shapeinf.errors import ShapeInferenceError, SpecError
from shapeinf.expr import Scope
from shapeinf.inputs.named_dims import NamedDim
from shapeinf.inputs.reader import SpecLike, to_named_dim
from shapeinf.inputs.spec import parse_shape_spec, split_specs

DECLARED = ("trust", "check", "ignore")


class ConfigError(ValueError):
    """An unknown key, or a value of the wrong type."""


@attrs.frozen
class Config:
    """The contents of the file; empty by default."""

    dims: dict[str, NamedDim] = attrs.Factory(dict)
    bind: dict[str, int] = attrs.Factory(dict)
    inputs: dict[str | None, SpecLike] = attrs.Factory(dict)
    values: dict[str, object] = attrs.Factory(dict)
    assume: tuple[str, ...] = ()
    min_dim: int | None = None
    declared: Literal["trust", "check", "ignore"] | None = None

    @property
    def used_keys(self) -> list[str]:
        """The keys that the file has."""
        empty = Config()
        return [f.name for f in attrs.fields(Config) if getattr(self, f.name) != getattr(empty, f.name)]


def load_config(_: click.Context, parameter: click.Parameter, path: str | None) -> Config:
    """Read the file of `--config`; its mistakes are usage errors that name the key."""
    if path is None:
        return Config()
    toml = _toml()
    try:
        with open(path, "rb") as file:
            return read_config(toml.load(file))
    except OSError as error:
        raise click.BadParameter(f"{path}: {error.strerror}", param=parameter) from None
    except (ValueError, ShapeInferenceError) as error:  # tomllib's own errors and UnicodeDecodeError are ValueErrors
        raise click.BadParameter(f"{path}: {error}", param=parameter) from None


def _toml() -> Any:
    for name in ("tomllib", "tomli"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise click.UsageError("--config needs Python 3.11 or later, or: pip install 'shapeinf[toml]'")


def read_config(table: Mapping[str, Any]) -> Config:
    """The config of a TOML table. Raises ConfigError, SpecError or ShapeInferenceError.

    >>> read_config({"dims": {"H": {"max": 512, "multiple_of": 32}}, "bind": {"batch": 4}}).bind
    {'batch': 4}
    """
    names = [field.name for field in attrs.fields(Config)]
    for key in table:
        if key not in names:
            near = difflib.get_close_matches(key, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"
            raise ConfigError(f"no key is named {key!r}; {hint}")
    dims = {name: to_named_dim(name, value) for name, value in _table(table, "dims").items()}
    bind = {name: _size(f"bind.{name}", value) for name, value in _table(table, "bind").items()}
    min_dim = None if table.get("min_dim") is None else _size("min_dim", table["min_dim"])
    declared = table.get("declared")
    if declared not in (None, *DECLARED):
        raise ConfigError(f"declared must be one of {', '.join(DECLARED)}, not {declared!r}")
    values = dict(_table(table, "values"))
    return Config(dims, bind, _inputs(table), values, _texts(table), min_dim, declared)


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    names = table.get(key, {})
    if not isinstance(names, Mapping):
        raise ConfigError(f"{key} must be a table of names, not {names!r}")
    return names


def _size(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(f"{key} must be an int of at least 0, not {value!r}")
    return value


def _texts(table: Mapping[str, Any]) -> tuple[str, ...]:
    relations = table.get("assume", ())
    texts = (relations,) if isinstance(relations, str) else relations
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"assume must be a text or a list of texts, not {relations!r}")
    return tuple(texts)


def _inputs(table: Mapping[str, Any]) -> dict[str | None, SpecLike]:
    """Shapes by name; a single text has the grammar of `--input-shapes`."""
    inputs = table.get("inputs", {})
    if isinstance(inputs, str):
        pieces = split_specs(inputs) or [inputs]
        shapes: dict[str | None, SpecLike] = {parse_shape_spec(piece, Scope()).name: piece for piece in pieces}
        if len(shapes) < len(pieces):
            raise ConfigError(f"inputs has two shapes for one input: {inputs!r}")
        return shapes
    for name, shape in _table(table, "inputs").items():
        if not isinstance(shape, (str, list, Mapping)):
            raise ConfigError(f"inputs.{name} must be a text, a list or a table of axes, not {shape!r}")
        if isinstance(shape, str):
            try:
                parse_shape_spec(shape, Scope())
            except SpecError as error:
                raise ConfigError(f"inputs.{name}: {error}") from None
    return dict(inputs)
