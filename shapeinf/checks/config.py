"""The config of a check of many models: the table `[tool.shapeinf]` of pyproject.toml, or a separate TOML file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from shapeinf.checks.selection import ALL, Selection, check_selectors
from shapeinf.errors import ConfigError, UnknownNameError
from shapeinf.formats.files import read_regular
from shapeinf.formats.model_paths import matches_path
from shapeinf.inputs.config import CONFIG_KEYS, Config, check_keys, load_toml, read_config

PROJECT_FILE = "pyproject.toml"
TABLE = "shapeinf"
"""The name of the table, under `tool`."""

_TABLE_NAME = re.compile(rb"tool\s*\.\s*[\"']?shapeinf|^\s*[\"']?shapeinf[\"']?\s*=", re.MULTILINE)
"""The text that every file with the table contains."""

_OWN_KEYS = ("select", "ignore", "exclude", "per-file-ignores", "baseline", "models")
KEYS = (*CONFIG_KEYS, *_OWN_KEYS)
"""The keys of a file. Those of `CONFIG_KEYS` are also keys of the tables under `models`."""


@attrs.frozen
class ModelsConfig:
    """Assumptions about the models whose paths match a pattern."""

    path: str
    inference: Config


@attrs.frozen
class CheckConfig:
    """The codes that a check of many models reports, and its assumptions; empty by default.

    Args:
        select: codes, and prefixes of codes, to report; None for all.
        ignore: codes and prefixes not to report.
        exclude: patterns of paths that are not checked.
        per_file_ignores: codes and prefixes not to report for models whose path matches a pattern, by pattern.
        baseline: the path of a file with known diagnostics.
        inference: assumptions about all models.
        models: assumptions about the models of a pattern, which take precedence; later ones over earlier ones.
        folder: the folder of the file, to which patterns are relative.
        path: the file; empty for a config without one.
    """

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = attrs.Factory(dict)
    baseline: str | None = None
    inference: Config = attrs.Factory(Config)
    models: tuple[ModelsConfig, ...] = ()
    folder: str = ""
    path: str = ""

    @property
    def selection(self) -> Selection:
        """The codes that are reported."""
        select = (ALL,) if self.select is None else self.select
        return Selection(select, self.ignore, self.per_file_ignores, self.folder)

    def __attrs_post_init__(self) -> None:
        """Check the codes."""
        check_selectors(self.select or ())
        check_selectors(self.ignore)

    def inference_of(self, path: str | None) -> Config:
        """The assumptions about the model with a path; None: those about all models."""
        config = self.inference
        if path is None:
            return config
        for models in self.models:
            if matches_path(path, models.path, self.folder):
                config = config.merge(models.inference)
        return config


def load_check_config(path: str) -> CheckConfig:
    """The config of a TOML file; of pyproject.toml, its table `[tool.shapeinf]`.

    Raises OSError, and ShapeInferenceError for a file of another form.
    """
    table = load_toml(path)
    if os.path.basename(path) == PROJECT_FILE:
        tools = table.get("tool", {})
        table = tools.get(TABLE, {}) if isinstance(tools, Mapping) else {}
        if not isinstance(table, Mapping):
            raise ConfigError(f"tool.{TABLE} must be a table, not {table!r}")
    return attrs.evolve(read_check_config(table, os.path.dirname(path)), path=path)


def find_project_file(start: str = "") -> str | None:
    """The nearest pyproject.toml with a table `[tool.shapeinf]`, in a folder or one above it.

    None where there is none. A file that is not TOML is skipped: other tools report it. Raises MissingPackageError for
    a file with the table where no TOML reader is installed.
    """
    folder = os.path.abspath(start or os.curdir)
    while True:
        path = os.path.join(folder, PROJECT_FILE)
        if os.path.isfile(path) and _has_table(path):
            return os.path.relpath(path)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _has_table(path: str) -> bool:
    try:
        if not _TABLE_NAME.search(read_regular(path)):
            return False  # without a TOML reader, projects without this table still work
        tools = load_toml(path).get("tool")
    except (OSError, ConfigError):
        return False
    return isinstance(tools, Mapping) and TABLE in tools


def read_check_config(table: Mapping[str, Any], folder: str = "") -> CheckConfig:
    """The config of a table. Raises ConfigError, or another ShapeInferenceError, that names the key.

    >>> read_check_config({"select": ["C1"], "models": [{"path": "a*", "bind": {"n": 4}}]}).inference_of("a.onnx").bind
    {'n': 4}
    """
    check_keys(table, KEYS)
    baseline = table.get("baseline")
    if baseline is not None and not isinstance(baseline, str):
        raise ConfigError(f"baseline must be a path, not {baseline!r}")
    inference = read_config({key: value for key, value in table.items() if key in CONFIG_KEYS})
    return CheckConfig(
        _selectors("select", table["select"]) if "select" in table else None,
        _selectors("ignore", table.get("ignore", ())),
        _texts("exclude", table.get("exclude", ())),
        _per_file_ignores(table.get("per-file-ignores", {})),
        None if baseline is None else os.path.join(folder, baseline),
        inference,
        _models(table.get("models", ())),
        folder,
    )


def _texts(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(text, str) for text in value):
        raise ConfigError(f"{key} must be a list of texts, not {value!r}")
    return tuple(value)


def _selectors(key: str, value: object) -> tuple[str, ...]:
    try:
        return check_selectors(_texts(key, value))
    except UnknownNameError as error:
        raise ConfigError(f"{key}: {error}") from None


def _per_file_ignores(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"per-file-ignores must be a table of patterns, not {value!r}")
    return {pattern: _selectors(f"per-file-ignores.{pattern}", codes) for pattern, codes in value.items()}


def _models(value: object) -> tuple[ModelsConfig, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(t, Mapping) for t in value):
        raise ConfigError(f"models must be tables, [[tool.{TABLE}.models]], not {value!r}")
    return tuple(_read_models(table) for table in value)


def _read_models(table: Mapping[str, Any]) -> ModelsConfig:
    check_keys(table, ("path", *CONFIG_KEYS), "models: ")
    path = table.get("path")
    if not isinstance(path, str):
        raise ConfigError("models: each table needs a path, a pattern of paths of models")
    return ModelsConfig(path, read_config({key: value for key, value in table.items() if key != "path"}))
