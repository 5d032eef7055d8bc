"""Options of commands that count the memory of a runtime: `--runtime` and those of its sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from shapeinf.cli.sections import RUNTIME, section_options

if TYPE_CHECKING:
    from shapeinf.memory.runtimes.protocol import RuntimeOptions

RUNTIMES = ["onnxruntime"]
LEVELS = ["off", "basic", "extended", "all"]
"""As `memory.runtimes.protocol` has them, whose import takes time."""

_option = section_options(RUNTIME)

RUNTIME_OPTIONS = (
    _option(
        "--runtime",
        type=click.Choice(RUNTIMES),
        help="Count what this runtime allocates: its order, shared buffers, alignment, and temporaries of kernels.",
    ),
    _option("--threads", type=click.IntRange(min=1), metavar="N", default=1, help="The threads in a kernel."),
    _option("--no-reuse", is_flag=True, help="Values use no free buffers of others."),
    _option("--no-pattern", is_flag=True, help="Later runs do not place their buffers in one block."),
    _option("--no-arena", is_flag=True, help="No arena takes regions of memory from the system."),
    _option("--no-prepacking", is_flag=True, help="Constant weights are not packed for kernels."),
    _option(
        "--optimized",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="The file that a session wrote after its optimizations, which it runs in place of MODEL.",
    ),
    _option(
        "--optimize",
        type=click.Choice(LEVELS),
        metavar="LEVEL",
        help="Write this file in a temporary folder, at a level of optimization; needs the runtime.",
    ),
)
NAMES = ("threads", "no_reuse", "no_pattern", "no_arena", "no_prepacking", "optimized", "optimize")


def read_runtime_options(arguments: dict[str, Any]) -> tuple[str | None, RuntimeOptions | None]:
    """Take the options of a runtime out of the arguments of a command. Raises UsageError for those without one."""
    runtime = arguments.pop("runtime")
    values = {name: arguments.pop(name) for name in NAMES}
    if runtime is None and (values["threads"] > 1 or any(values[name] for name in NAMES[1:])):
        raise click.UsageError(f"options of sessions need --runtime: {', '.join(RUNTIMES)}")
    if runtime is None:
        return None, None
    if values["optimized"] and values["optimize"]:
        raise click.UsageError("--optimized names the file that --optimize would write: specify one of them")
    from shapeinf.memory.runtimes.protocol import RuntimeOptions

    return runtime, RuntimeOptions(
        threads=values["threads"],
        reuse=not values["no_reuse"],
        pattern=not values["no_pattern"],
        arena=not values["no_arena"],
        prepacking=not values["no_prepacking"],
        optimized=values["optimized"],
        optimize=values["optimize"],
    )
