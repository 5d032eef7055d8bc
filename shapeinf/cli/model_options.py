"""The options for the assumptions of an inference, shared by all commands that infer a model."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import click
from click.core import ParameterSource

from shapeinf.api import as_graph, infer
from shapeinf.cli.config import load_config
from shapeinf.cli.format_options import add_format_options, take_format_options
from shapeinf.cli.options import bindings, check_bindings, dim_ranges, input_shapes, input_values, named_inputs
from shapeinf.cli.output import LateProgress
from shapeinf.cli.sections import INFERENCE, Command, section_options
from shapeinf.cli.stdin import path_or_stdin, stdin_errors
from shapeinf.engine.declarations import only_compares_declarations
from shapeinf.expr.parsing import MAX_NUMBER
from shapeinf.graph import Graph
from shapeinf.inputs.config import CONFIG_KEYS, Config
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions, Mode, Progress
from shapeinf.inputs.reader import RangeLike, SpecLike, input_names, to_named_dim
from shapeinf.result import Result

if TYPE_CHECKING:
    from shapeinf.checks.config import CheckConfig


def read_graph(model: str, options: InferenceOptions) -> Graph:
    """The graph of a file; `-` is standard input."""
    with stdin_errors(model):
        return as_graph(path_or_stdin(model), options)


@attrs.frozen
class ModelOptions:
    """The options of a command line for the inference of a model."""

    inference: InferenceOptions = DEFAULT_OPTIONS
    """All but the shapes of inputs."""
    shapes: dict[str | None, SpecLike] = attrs.Factory(dict)
    """Shapes of inputs; the key None is the only input."""

    @classmethod
    def from_parameters(cls, typed: dict[str, Any]) -> ModelOptions:
        """The values of command-line options by name."""
        values = dict(typed)
        shapes = values.pop("shapes", {})
        mode: Mode = "strict" if values.pop("strict", False) else "best"
        return cls(InferenceOptions(mode=mode, **values), shapes)

    @property
    def dims(self) -> dict[str, RangeLike]:
        """Ranges of named dims."""
        assert isinstance(self.inference.dims, Mapping)
        return dict(self.inference.dims)

    def evolve(self, **changes: Any) -> ModelOptions:
        """These options with other values of some inference options."""
        return attrs.evolve(self, inference=attrs.evolve(self.inference, **changes))

    def merge_config(self, config: Config, typed: Collection[str]) -> ModelOptions:
        """These options and those of a config; the command line takes precedence for the `typed` options."""
        own = self.inference
        least = own.min_dim if config.min_dim is None or "min_dim" in typed else config.min_dim
        declared = own.declared if config.declared is None or "declared" in typed else config.declared
        inference = attrs.evolve(
            own,
            dims={**config.dims, **self.dims},
            bind={**config.bind, **own.bind},
            assume=(*config.assume, *own.assume),
            values={**config.values, **own.values},
            min_dim=least,
            declared=declared,
        )
        return ModelOptions(inference, {**config.inputs, **self.shapes})

    def as_config(self, typed: Collection[str]) -> Config:
        """These options as a config, with what is `typed` only."""
        own = self.inference
        values = {key: getattr(own, key) for key in CONFIG_KEYS if key in typed and key not in ("dims", "inputs")}
        dims = {name: to_named_dim(name, value) for name, value in self.dims.items()}
        return Config(dims=dims, inputs=self.shapes, **values)

    def read(self, model: str) -> Graph:
        """The graph of a file; `-` is standard input."""
        return read_graph(model, self.inference)

    def options_for(self, graph: Graph, progress: Progress | None = None) -> InferenceOptions:
        """The options with the shapes of this graph's inputs."""
        inputs = named_inputs(self.shapes, input_names(graph))
        return attrs.evolve(self.inference, inputs=inputs, progress=progress, format_options=None)

    def infer(self, model: str) -> Result:
        """Read a model and infer its shapes, with a progress bar where that takes long."""
        check_bindings(self.dims, self.inference.bind)
        return self.infer_graph(self.read(model))

    def infer_graph(self, graph: Graph) -> Result:
        """Infer the shapes of a graph, with a progress bar where that takes long."""
        with LateProgress() as progress:
            return infer(graph, self.options_for(graph, progress.listener))

    def compare_declarations(self, result: Result) -> Result:
        """The result that checks read, in which declarations complete no type: this one where none does."""
        if only_compares_declarations(result.engine.inference):
            return result
        return self.evolve(declared="check", mode="best").infer_graph(result.graph)

    def infer_unbound(self, model: str) -> tuple[Result, dict[str, int]]:
        """The inference with symbols for the dims of --bind, and their sizes; sizes that nodes create are bound.

        Raises UnknownNameError for a name that is neither.
        """
        result = self.evolve(bind={}).infer(model)
        names = {name: result.engine.find_dim(name) for name in self.inference.bind}
        nodes = {name: size for name, size in self.inference.bind.items() if names[name] is None}
        if nodes:
            result = self.evolve(bind=nodes).infer(model)
        return result, {name: size for name, size in self.inference.bind.items() if name not in nodes}


_FIELDS = {"inputs": "shapes"}
"""Keys of a config whose option has another name."""

_option = section_options(INFERENCE)

_CONFIG = _option(
    "--config",
    type=click.Path(dir_okay=False),
    callback=load_config,
    metavar="TOML",
    help="A file with dims, bind, inputs, values, assume, min_dim and declared, or a pyproject.toml with these keys "
    "in [tool.shapeinf]. Options on the command line take precedence.",
)

_OPTIONS: dict[str, Callable[[Command], Command]] = {
    "dims": _option(
        "--dim",
        "dims",
        multiple=True,
        callback=dim_ranges,
        metavar="NAME=LO..HI",
        help="Bounds of a dim, by the name that shapes show: a named dim, an axis without a name ('x.shape[0]=1..8') "
        "or a size that depends on data. LO:HI, LO.., ..HI and a number are bounds, too. Repeatable.",
    ),
    "bind": _option(
        "--bind",
        "-f",
        multiple=True,
        callback=bindings,
        metavar="NAME=N,...",
        help="Sizes of named dims; NAME:N means the same. Repeatable.",
    ),
    "shapes": _option(
        "--input-shapes",
        "--overwrite-input-shape",
        "-d",
        "shapes",
        multiple=True,
        metavar="[NAME:]SHAPE",
        callback=input_shapes,
        help="Shape of an input instead of the declared one: 'x:[batch,3,224,224]', 'x:1x3xhxw', '[1..8,?]'. "
        "Repeatable; a value may hold several shapes.",
    ),
    "assume": _option(
        "--assume",
        multiple=True,
        metavar="RELATION",
        help="A relation of dims that holds: 'past + seq <= 4096'. Repeatable.",
    ),
    "values": _option(
        "--value",
        "values",
        multiple=True,
        callback=input_values,
        metavar="NAME=VALUE",
        help="The value of a small input, on which shapes may depend: 'sr=16000', 'axes=[0,2]', 'shape=[batch,3,?]'. "
        "Repeatable.",
    ),
    "declared": _option(
        "--declared",
        type=click.Choice(["trust", "check", "ignore"]),
        help="Whether declared types of node outputs are trusted, checked against inference, or ignored. The default "
        "is trust, and for the types of a traced run (PNNX) ignore.",
    ),
    "min_dim": _option(
        "--min-dim",
        type=click.IntRange(0, MAX_NUMBER),
        metavar="N",
        default=1,
        show_default=True,
        help="The minimum size of named dims.",
    ),
    "strict": _option(
        "--strict", is_flag=True, help="Stop at the first error instead of continuing with unknown shapes."
    ),
    "format_options": add_format_options,
}


def model_options(*, without: Collection[str] = (), merge: bool = True) -> Callable[[Command], Command]:
    """Add the options of a model to a command, which receives them as its argument `options: ModelOptions`.

    `without` names fields of `ModelOptions` that the command does not offer, or offers in its own way. With `merge`,
    the options of `--config` are among them; else the command receives `config: CheckConfig | None` too.
    """
    wanted = [name for name in _OPTIONS if name not in without]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(**arguments: Any) -> None:
            loaded: CheckConfig | None = arguments["config"]
            config = Config() if loaded is None or not merge else loaded.inference_of(arguments.get("model"))
            refused = [key for key in config.used_keys if _FIELDS.get(key, key) in without]
            if refused:
                raise click.UsageError(f"--config: this command does not accept {refused[0]}")
            if merge:
                del arguments["config"]
            if "format_options" in wanted:
                arguments["format_options"] = take_format_options(arguments)
            options = ModelOptions.from_parameters({name: arguments.pop(name) for name in wanted})
            source = click.get_current_context().get_parameter_source
            typed = [name for name in wanted if source(name) is not ParameterSource.DEFAULT]
            command(options=options.merge_config(config, typed), **arguments)

        decorated: Command = _CONFIG(run)
        for name in reversed(wanted):
            decorated = _OPTIONS[name](decorated)
        return decorated

    return decorate
