"""Checks of many models, one after the other, with one config; a model that cannot be read does not end the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from shapeinf.api import as_graph, infer
from shapeinf.checks.api import check
from shapeinf.checks.baseline import Baseline, KnownDiagnostic, read_baseline
from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.config import CheckConfig
from shapeinf.checks.selection import UNREADABLE
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.errors import ConfigError, ModelError, ShapeInferenceError, UnknownNameError, UnnamedInputError
from shapeinf.formats import FORMATS, FormatOptions
from shapeinf.formats.model_paths import find_models
from shapeinf.graph import Graph
from shapeinf.inputs.assumptions import assumption_names
from shapeinf.inputs.config import Config, read_config
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions, Progress
from shapeinf.inputs.reader import input_names
from shapeinf.result import Result
from shapeinf.schemas import json_record

DeploymentCheck = Callable[[CheckedModel], Iterable[Diagnostic]]
"""Diagnostics of a deployment of a model, such as a profile."""

Option = tuple[str, str]
"""An assumption of a config: its key, and the name or text of one entry."""

FORMAT_OPTION: Option = ("format", "")
"""The options of a format, counted as one assumption."""

register_code(
    UNREADABLE,
    "error",
    "a model that cannot be checked",
    "It cannot be read, or contradicts the options. It cannot be ignored or be part of a baseline: exclude the file.",
)


@json_record(omit=("known",), add=("ok", "baseline_size"))
@attrs.frozen
class ModelCheck:
    """The check of one model.

    Args:
        path: the path of the model.
        diagnostics: those to report; only C100, with the reason, for a model that cannot be checked.
        known: selected diagnostics that are in the baseline.
        checked: whether the model could be read and checked.
    """

    path: str
    diagnostics: tuple[Diagnostic, ...] = ()
    known: tuple[Diagnostic, ...] = ()
    checked: bool = True

    @property
    def fails(self) -> bool:
        """Whether an error or a warning is reported."""
        return any(diagnostic.fails for diagnostic in self.diagnostics)

    @property
    def ok(self) -> bool:
        """Whether no error and no warning is reported."""
        return not self.fails

    @property
    def baseline_size(self) -> int:
        """The number of diagnostics that are in the baseline, and so not reported."""
        return len(self.known)


@json_record("shapeinf.check/1", add=("ok",))
@attrs.frozen
class CheckReport:
    """The checks of some models: the output of `shapeinf check --json`.

    Args:
        models: the check of each model.
        notes: remarks on the run, such as entries of the baseline that no model has.
    """

    models: tuple[ModelCheck, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no model has errors or warnings, and all can be checked."""
        return all(check.ok for check in self.models)


@attrs.define
class ModelChecker:
    """Checks models with one config.

    Args:
        config: the codes to report, and assumptions; those about names that a model does not have are not used for it.
        options: further assumptions, which take precedence, such as those of a command line.
        format_options: how to read files of one format; they are not used for files of other formats.
        baseline: known diagnostics.
        deployments: further checks of each model.
        strict: whether a name in `options` that a model does not have is an error, as for a single model.
        progress: called with (done, total) after every node of a model.
        read: the graph of a path, with the options of its format.
    """

    config: CheckConfig = attrs.Factory(CheckConfig)
    options: Config = attrs.Factory(Config)
    format_options: FormatOptions | None = None
    baseline: Baseline | None = None
    deployments: tuple[DeploymentCheck, ...] = ()
    strict: bool = False
    progress: Progress | None = None
    read: Callable[[str, InferenceOptions], Graph] = as_graph
    unused: dict[Option, ShapeInferenceError] = attrs.field(factory=dict, init=False)
    """Assumptions that no model has used so far, each with the error for the unknown name."""
    _used: set[Option] = attrs.field(factory=set, init=False)

    def __attrs_post_init__(self) -> None:
        """Raise ConfigError where declarations are to be trusted."""
        inferences = (self.config.inference, *(models.inference for models in self.config.models), self.options)
        if any(inference.declared == "trust" for inference in inferences):
            raise ConfigError("declared must be 'check' or 'ignore': a check does not trust declarations")

    def check_safely(self, path: str) -> ModelCheck:
        """The check of a model; an error becomes a diagnostic (C100), if `strict` only one of the file."""
        try:
            return self.check(path)
        except ModelError as error:
            cause = error.cause if error.node == path else str(error)
        except ShapeInferenceError as error:
            if self.strict:
                raise
            cause = str(error)
        except OSError as error:
            cause = error.strerror or str(error)
        except Exception as error:
            cause = f"this is a bug of shapeinf, not of the model: {type(error).__name__}: {error}"
        diagnostic = Diagnostic("error", UNREADABLE, f"the model cannot be checked: {cause}")
        return ModelCheck(path, (diagnostic,), checked=False)

    def check(self, path: str) -> ModelCheck:
        """The check of a model. Raises ShapeInferenceError or OSError where it cannot be read."""
        result, assumptions = self.infer(path)
        ranges = {**assumptions.dims, **assumptions.bind}
        diagnostics = check(result, ranges)
        for deployment in self.deployments:
            diagnostics += deployment(CheckedModel(result, ranges))
        selection, baseline = self.config.selection, self.baseline
        reported: list[Diagnostic] = []
        known: list[Diagnostic] = []
        for diagnostic in diagnostics:
            if selection.includes(diagnostic.code, path):
                is_known = baseline is not None and baseline.includes(path, diagnostic)
                (known if is_known else reported).append(diagnostic)
        return ModelCheck(path, tuple(sorted(reported, key=lambda d: not d.fails)), tuple(known))

    def stale_entries(self, checks: Iterable[ModelCheck]) -> list[KnownDiagnostic]:
        """The entries of the baseline that no longer occur in the checked models; none without a baseline."""
        if self.baseline is None:
            return []
        return self.baseline.stale_entries({c.path: c.known for c in checks if c.checked})

    def infer(self, path: str) -> tuple[Result, Config]:
        """The inference of a model, and the assumptions that were used for it. Raises what `check` raises."""
        config = self.config.inference_of(path).merge(self.options)
        graph = self._read(path)
        if config.declared == "ignore":
            graph = without_declarations(graph)
        while True:
            try:
                result = infer(graph, _inference_options(config, graph, self.progress))
            except UnknownNameError as error:
                smaller = without_name(config, error)
                if smaller is None or (self.strict and self._is_own(config, smaller)):
                    raise
                for option in _options(config) - _options(smaller) - self._used:
                    self.unused[option] = _with_choices_of(error, self.unused.get(option))
                config = smaller
            else:
                self._use(_options(config))
                return result, config

    def _read(self, path: str) -> Graph:
        options = self.format_options
        if options is not None and not self.strict and not FORMATS.accepts(path, options):
            fields = attrs.fields(type(options))
            typed = ", ".join(f.name for f in fields if getattr(options, f.name) != getattr(type(options)(), f.name))
            self.unused[FORMAT_OPTION] = ShapeInferenceError(f"no checked model is of the format that {typed} is for")
            options = None
        graph = self.read(path, attrs.evolve(DEFAULT_OPTIONS, format_options=options))
        if options is not None:
            self._use({FORMAT_OPTION})
        return graph

    def _use(self, options: set[Option]) -> None:
        self._used |= options
        for option in options:
            self.unused.pop(option, None)

    def _is_own(self, config: Config, smaller: Config) -> bool:
        """Whether the smaller config lacks a name of `options`."""
        return bool((_options(config) - _options(smaller)) & _options(self.options))

    def unused_options(self) -> list[ShapeInferenceError]:
        """The errors for names in `options` that no model has; none where no model could be read."""
        own = {*_options(self.options), FORMAT_OPTION}
        return [error for option, error in self.unused.items() if option in own and option not in self._used]

    def unused_in_config(self) -> list[str]:
        """The assumptions of the config that no checked model has used."""
        own = _options(self.options)
        names = [option for option in self.unused if option not in own and option != FORMAT_OPTION]
        return [f"{key}: {name}" for key, name in names]


def _with_choices_of(error: UnknownNameError, other: ShapeInferenceError | None) -> ShapeInferenceError:
    """The error for a name that neither of two models has, with the names of both."""
    if not isinstance(other, UnknownNameError) or isinstance(error, UnnamedInputError):
        return error
    return UnknownNameError(error.kind, error.name, {*error.choices, *other.choices})


def check_files(paths: str | Iterable[str], config: CheckConfig | None = None, **assumptions: Any) -> list[ModelCheck]:
    """Check the models that paths, folders and glob patterns name.

    Args:
        paths: one path or several.
        config: the codes to report, assumptions, and a baseline (see `load_check_config`).
        assumptions: further keys of a `Config`, such as `dims={"batch": "1..8"}`.

    Raises PathPatternError for a path that names no model, and UnknownNameError for an assumption that fits no model.
    A model that cannot be read has the diagnostic C100.

    >>> [check.path for check in check_files("examples/dec*.onnx")]
    ['examples/decoder.onnx']
    """
    config = config or CheckConfig()
    models = find_models([paths] if isinstance(paths, str) else paths, config.exclude, config.folder)
    baseline = None if config.baseline is None else read_baseline(config.baseline)
    checker = ModelChecker(config, read_config(assumptions), baseline=baseline)
    checks = [checker.check_safely(path) for path in models.paths]
    for error in checker.unused_options():
        raise error
    return checks


def without_declarations(graph: Graph) -> Graph:
    """The graph without the declared types of values that nodes compute."""
    declared = {name: declared for name, declared in graph.declared.items() if name in graph.inputs}
    return attrs.evolve(graph, declared=declared)


def without_name(config: Config, error: UnknownNameError) -> Config | None:
    """The config without the assumptions about the unknown name of an error; None where it has none."""
    changes: dict[str, Any] = {}
    unknown = None if isinstance(error, UnnamedInputError) else error.name
    for field in attrs.fields(Config):
        value = getattr(config, field.name)
        if (
            isinstance(value, Mapping)
            and (error.kind == "input") == (field.name in ("inputs", "values"))
            and unknown in value
        ):
            changes[field.name] = {name: item for name, item in value.items() if name != unknown}
    if error.kind == "dim" and not changes:
        remaining = tuple(text for text in config.assume if error.name not in assumption_names(text))
        changes = {"assume": remaining} if len(remaining) < len(config.assume) else {}
    return attrs.evolve(config, **changes) if changes else None


def _options(config: Config) -> set[Option]:
    options = {("assume", text) for text in config.assume}
    for key in config.used_keys:
        value = getattr(config, key)
        if isinstance(value, Mapping):
            options.update((key, str(name)) for name in value)
    return options


def _inference_options(config: Config, graph: Graph, progress: Progress | None) -> InferenceOptions:
    values = {key: getattr(config, key) for key in config.used_keys if key not in ("inputs", "declared")}
    names = input_names(graph)
    if None in config.inputs and len(names) != 1:
        raise UnnamedInputError(config.inputs[None], names)
    inputs = {names[0] if name is None else name: spec for name, spec in config.inputs.items()}
    return InferenceOptions(inputs=inputs, declared="check", progress=progress, **values)
