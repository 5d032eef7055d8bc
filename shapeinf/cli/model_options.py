"""The options that say under which assumptions a model is inferred, shared by all commands that infer one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any

import attrs
import click
from click.core import ParameterSource

from shapeinf.api import as_graph, infer
from shapeinf.cli import options
from shapeinf.cli.config import Config, load_config
from shapeinf.cli.progress import LateProgress
from shapeinf.graph import Graph
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions, Mode, Progress
from shapeinf.inputs.reader import RangeLike, SpecLike, input_names
from shapeinf.result import Result

Command = Callable[..., None]

json_option = click.option(
    "--json", "json_wanted", is_flag=True, help="Print JSON; its field `schema` names the version."
)
"""Of every command that prints something."""


@attrs.frozen
class ModelOptions:
    """What the user says of a model on the command line; `given.infer(model)` infers under it."""

    options: InferenceOptions = DEFAULT_OPTIONS
    """All but the shapes of inputs."""
    shapes: dict[str | None, SpecLike] = attrs.Factory(dict)
    """Shapes of inputs; one without a name is that of the only input."""

    @classmethod
    def from_parameters(cls, typed: dict[str, Any]) -> ModelOptions:
        """The values of command-line options by name."""
        values = dict(typed)
        shapes = values.pop("shapes", {})
        mode: Mode = "strict" if values.pop("strict", False) else "best"
        expand = values.pop("expand", ())
        return cls(InferenceOptions(mode=mode, expand="all" if "all" in expand else expand, **values), shapes)

    @property
    def dims(self) -> dict[str, RangeLike]:
        """Ranges of named dims."""
        assert isinstance(self.options.dims, Mapping)
        return dict(self.options.dims)

    def evolve(self, **changes: Any) -> ModelOptions:
        """The same with other inference options."""
        return attrs.evolve(self, options=attrs.evolve(self.options, **changes))

    def over(self, config: Config, typed: Collection[str]) -> ModelOptions:
        """These options, and what a config says besides; `typed` are the options that the user has typed."""
        own = self.options
        least = own.min_dim if config.min_dim is None or "min_dim" in typed else config.min_dim
        declared = own.declared if config.declared is None or "declared" in typed else config.declared
        inference = attrs.evolve(
            own,
            dims={**config.dims, **self.dims},
            bind={**config.bind, **own.bind},
            assume=(*config.assume, *own.assume),
            min_dim=least,
            declared=declared,
        )
        return ModelOptions(inference, {**config.inputs, **self.shapes})

    def read(self, model: str) -> Graph:
        """The graph of a file."""
        return as_graph(model, self.options)

    def options_for(self, graph: Graph, progress: Progress | None = None) -> InferenceOptions:
        """The options with the shapes of this graph's inputs."""
        inputs = options.named_inputs(self.shapes, input_names(graph))
        return attrs.evolve(self.options, inputs=inputs, progress=progress)

    def infer(self, model: str) -> Result:
        """Read a model and infer its shapes; shows how far it is when that takes long."""
        options.check_bindings(self.dims, self.options.bind)
        graph = self.read(model)
        with LateProgress() as progress:
            return infer(graph, self.options_for(graph, progress))


_FIELDS = {"inputs": "shapes"}
"""Keys of a config that have another name here."""

_CONFIG = click.option(
    "--config",
    type=click.Path(dir_okay=False),
    callback=load_config,
    metavar="TOML",
    help="A file with dims, bind, inputs, assume, min_dim and declared; what is typed goes before it.",
)

_OPTIONS: dict[str, Callable[[Command], Command]] = {
    "dims": click.option(
        "--dim",
        "dims",
        multiple=True,
        callback=options.dim_ranges,
        metavar="NAME=LO..HI",
        help="Bounds of a named dim; also LO:HI, LO.., ..HI or one number. May be repeated.",
    ),
    "bind": click.option(
        "--bind",
        "-f",
        multiple=True,
        callback=options.bindings,
        metavar="NAME=N,...",
        help="Values of named dims; also NAME:N. May be repeated.",
    ),
    "shapes": click.option(
        "--input-shapes",
        "--overwrite-input-shape",
        "-d",
        "shapes",
        multiple=True,
        metavar="[NAME:]SHAPE",
        callback=options.input_shapes,
        help="Shape of an input in place of the declared one, such as 'x:[batch,3,224,224]', 'x:1x3xhxw', "
        "'[1..8,?]'. May be repeated, or hold several.",
    ),
    "assume": click.option(
        "--assume", multiple=True, metavar="RELATION", help="A relation that holds: 'past + seq <= 4096'."
    ),
    "declared": click.option(
        "--declared",
        type=click.Choice(["trust", "check", "ignore"]),
        default="trust",
        show_default=True,
        help="What to do with shapes that the file declares for values inside the graph.",
    ),
    "min_dim": click.option(
        "--min-dim", type=click.IntRange(min=0), default=1, show_default=True, help="The least size of a named dim."
    ),
    "strict": click.option(
        "--strict", is_flag=True, help="Stop at the first error instead of going on with unknown shapes."
    ),
    "dialect": click.option(
        "--dialect",
        type=click.Choice(["provisional", "final", "tract"]),
        help="The dialect of an NNEF document; told from its text by default.",
    ),
    "expand": click.option(
        "--expand",
        multiple=True,
        metavar="OPERATION",
        help="A compound operation of NNEF to replace by its body, or `all`. May be repeated.",
    ),
}


def model_options(*, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Give a command the options of a model; it takes them as one argument `given: ModelOptions`.

    `without` names fields of `ModelOptions` that the command does not offer, or offers in its own way.
    """
    wanted = [name for name in _OPTIONS if name not in without]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(**arguments: Any) -> None:
            config: Config = arguments.pop("config")
            refused = [key for key in config.given if _FIELDS.get(key, key) in without]
            if refused:
                raise click.UsageError(f"--config: this command takes no {refused[0]} from a file")
            given = ModelOptions.from_parameters({name: arguments.pop(name) for name in wanted})
            source = click.get_current_context().get_parameter_source
            typed = [name for name in wanted if source(name) is not ParameterSource.DEFAULT]
            command(given=given.over(config, typed), **arguments)

        decorated: Command = _CONFIG(run)
        for name in reversed(wanted):
            decorated = _OPTIONS[name](decorated)
        return decorated

    return decorate
