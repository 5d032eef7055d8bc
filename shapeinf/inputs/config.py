"""Options of an inference in a TOML file, that of `--config`.

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

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import attrs

from shapeinf.errors import ConfigError, MissingPackageError, SpecError
from shapeinf.expr import Scope
from shapeinf.expr.parsing import MAX_NUMBER, TOO_LARGE
from shapeinf.formats.files import read_regular
from shapeinf.inputs.named_dims import Dim
from shapeinf.inputs.options import DeclaredMode
from shapeinf.inputs.reader import SpecLike, to_named_dim
from shapeinf.inputs.spec import parse_shape_spec, split_specs

DECLARED = get_args(DeclaredMode)


@attrs.frozen
class Config:
    """The contents of the file; empty by default. The fields are keywords of `infer_shapes`."""

    dims: dict[str, Dim] = attrs.Factory(dict)
    bind: dict[str, int] = attrs.Factory(dict)
    inputs: dict[str | None, SpecLike] = attrs.Factory(dict)
    values: dict[str, object] = attrs.Factory(dict)
    assume: tuple[str, ...] = ()
    min_dim: int | None = None
    declared: DeclaredMode | None = None

    @property
    def used_keys(self) -> list[str]:
        """The keys with a value."""
        empty = Config()
        return [f.name for f in attrs.fields(Config) if getattr(self, f.name) != getattr(empty, f.name)]

    def merge(self, other: Config) -> Config:
        """The options of both: name by name those of `other` take precedence, and assumptions of both hold.

        >>> Config(bind={"a": 1, "b": 2}).merge(Config(bind={"b": 3}, assume=("a < b",))).bind
        {'a': 1, 'b': 3}
        """
        merged: dict[str, Any] = {}
        for field in attrs.fields(Config):
            own, new = getattr(self, field.name), getattr(other, field.name)
            if isinstance(own, Mapping):
                merged[field.name] = {**own, **new}
            elif isinstance(own, tuple):
                merged[field.name] = (*own, *new)
            else:
                merged[field.name] = own if new is None else new
        return Config(**merged)


MAX_DEPTH = 100
"""Tables and arrays of a TOML file in one another; a config needs four."""


def load_toml(path: str) -> dict[str, Any]:
    """The table of a TOML file.

    Raises OSError, ConfigError for a file that is no TOML, and MissingPackageError before Python 3.11 without tomli.
    """
    toml = _toml_reader()
    try:
        table: dict[str, Any] = toml.loads(read_regular(path).decode("utf-8"))
    except ValueError as error:  # tomllib's own errors and UnicodeDecodeError
        raise ConfigError(str(error)) from None
    except RecursionError:
        raise ConfigError("arrays or tables are nested too deep") from None
    if _depth(table) > MAX_DEPTH:
        raise ConfigError(f"arrays or tables are nested deeper than {MAX_DEPTH}")
    return table


def _depth(table: dict[str, Any]) -> int:
    """The nesting of tables and arrays, up to one level more than `MAX_DEPTH`: dotted keys nest without recursion."""
    level: list[Any] = [table]
    depth = 0
    while level and depth <= MAX_DEPTH:
        inner = [list(value.values()) if isinstance(value, dict) else value for value in level]
        level = [item for values in inner for item in values if isinstance(item, (dict, list))]
        depth += 1
    return depth


def _toml_reader() -> Any:
    for name in ("tomllib", "tomli"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise MissingPackageError("a TOML file before Python 3.11", "tomli", "toml")


def check_keys(table: Mapping[str, Any], known: Sequence[str], where: str = "") -> None:
    """Raise ConfigError for a key that is not in `known`, with the most similar one; `where` begins the message."""
    for key in table:
        if key not in known:
            from difflib import get_close_matches

            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(known)}"
            raise ConfigError(f"{where}no key is named {key!r}; {hint}")


CONFIG_KEYS = tuple(field.name for field in attrs.fields(Config))


def read_config(table: Mapping[str, Any]) -> Config:
    """The config of a TOML table. Raises ConfigError, SpecError or ShapeInferenceError for a wrong key or value.

    >>> read_config({"dims": {"H": {"max": 512, "multiple_of": 32}}, "bind": {"batch": 4}}).bind
    {'batch': 4}
    """
    check_keys(table, CONFIG_KEYS)
    dims = {name: to_named_dim(name, value) for name, value in _read_table(table, "dims").items()}
    bind = {name: _read_size(f"bind.{name}", value) for name, value in _read_table(table, "bind").items()}
    min_dim = None if table.get("min_dim") is None else _read_size("min_dim", table["min_dim"])
    declared = table.get("declared")
    if declared not in (None, *DECLARED):
        raise ConfigError(f"declared must be one of {', '.join(DECLARED)}, not {declared!r}")
    values = dict(_read_table(table, "values"))
    return Config(dims, bind, _read_inputs(table), values, _read_texts(table), min_dim, declared)


def _read_table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    names = table.get(key, {})
    if not isinstance(names, Mapping):
        raise ConfigError(f"{key} must be a table of names, not {names!r}")
    return names


def _read_size(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(f"{key} must be an int of at least 0, not {value!r}")
    if value > MAX_NUMBER:
        raise ConfigError(f"{key}: expected {TOO_LARGE}, not {value}")
    return value


def _read_texts(table: Mapping[str, Any]) -> tuple[str, ...]:
    relations = table.get("assume", ())
    texts = (relations,) if isinstance(relations, str) else relations
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"assume must be a text or a list of texts, not {relations!r}")
    return tuple(texts)


def _read_inputs(table: Mapping[str, Any]) -> dict[str | None, SpecLike]:
    """The shapes by input, None for an input without a name; one text for all has the grammar of `--input-shapes`."""
    inputs = table.get("inputs", {})
    if isinstance(inputs, str):
        pieces = split_specs(inputs) or [inputs]
        shapes: dict[str | None, SpecLike] = {parse_shape_spec(piece, Scope()).name: piece for piece in pieces}
        if len(shapes) < len(pieces):
            raise ConfigError(f"inputs has two shapes for one input: {inputs!r}")
        return shapes
    for name, shape in _read_table(table, "inputs").items():
        if not isinstance(shape, (str, list, Mapping)):
            raise ConfigError(f"inputs.{name} must be a text, a list or a table of axes, not {shape!r}")
        if isinstance(shape, str):
            try:
                parse_shape_spec(shape, Scope())
            except SpecError as error:
                raise ConfigError(f"inputs.{name}: {error}") from None
    return dict(inputs)
