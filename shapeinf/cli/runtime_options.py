"""Options of commands that count the memory of a runtime: `--runtime` and those of its sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from shapeinf.cli.sections import RUNTIME, section_options

if TYPE_CHECKING:
    from shapeinf.memory.runtimes.executorch.options import ExecuTorchOptions
    from shapeinf.memory.runtimes.litert.options import LiteRtOptions
    from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
    from shapeinf.memory.runtimes.tflite_micro.options import TfliteMicroOptions

    RuntimeOptions = ExecuTorchOptions | LiteRtOptions | OnnxRuntimeOptions | TfliteMicroOptions

RUNTIMES = ["executorch", "litert", "litert-xnnpack", "onnxruntime", "tflite-micro"]
LEVELS = ["off", "basic", "extended", "all"]
"""As the modules of `memory.runtimes` have them, whose import takes time."""

_option = section_options(RUNTIME)

RUNTIME_OPTIONS = (
    _option(
        "--runtime",
        type=click.Choice(RUNTIMES),
        help="Count what this runtime allocates. onnxruntime: a run, with temporaries of kernels. executorch: the "
        "arena that it plans for upper bounds. litert, litert-xnnpack and tflite-micro: the arena at the sizes of "
        "--bind.",
    ),
    _option(
        "--no-reuse",
        is_flag=True,
        help="Values do not reuse memory that other values have freed (executorch: `naive`; litert: all tensors are "
        "preserved).",
    ),
    _option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help="onnxruntime, litert: the threads in a kernel, by default 1.",
    ),
    _option("--no-pattern", is_flag=True, help="onnxruntime: later runs do not place their buffers in one block."),
    _option("--no-arena", is_flag=True, help="onnxruntime: no arena takes regions of memory from the system."),
    _option("--no-prepacking", is_flag=True, help="onnxruntime: constant weights are not packed for kernels."),
    _option(
        "--optimized",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="onnxruntime: the file that a session wrote after its optimizations, which it runs in place of MODEL.",
    ),
    _option(
        "--optimize",
        type=click.Choice(LEVELS),
        metavar="LEVEL",
        help="onnxruntime: write this file in a temporary folder, at a level of optimization; needs the runtime.",
    ),
    _option("--caller-inputs", is_flag=True, help="executorch: inputs are in buffers of the caller, not in the arena."),
    _option("--caller-outputs", is_flag=True, help="executorch: outputs are in buffers of the caller."),
)
OPTIONS_OF = {
    "executorch": ("no_reuse", "caller_inputs", "caller_outputs"),
    "litert": ("no_reuse", "threads"),
    "litert-xnnpack": ("threads",),
    "onnxruntime": ("no_reuse", "threads", "no_pattern", "no_arena", "no_prepacking", "optimized", "optimize"),
    "tflite-micro": (),
}
"""The options that each runtime has, besides `--runtime`."""


def read_runtime_options(
    arguments: dict[str, Any],
) -> tuple[str | None, RuntimeOptions | None]:
    """Take the options of a runtime out of the arguments of a command. Raises UsageError for those of another."""
    runtime = arguments.pop("runtime")
    names = dict.fromkeys(name for listed in OPTIONS_OF.values() for name in listed)
    values = {name: arguments.pop(name) for name in names}
    for name in names:
        if values[name] and name not in OPTIONS_OF.get(runtime, ()):
            owners = " or ".join(owner for owner, listed in OPTIONS_OF.items() if name in listed)
            raise click.UsageError(f"--{name.replace('_', '-')} needs --runtime {owners}")
    if runtime is None:
        return None, None
    build = _BUILDERS.get(runtime)
    return runtime, None if build is None else build(values)


def _executorch_options(values: dict[str, Any]) -> ExecuTorchOptions:
    from shapeinf.memory.runtimes.executorch.options import ExecuTorchOptions

    return ExecuTorchOptions(
        algorithm="naive" if values["no_reuse"] else "greedy",
        inputs=not values["caller_inputs"],
        outputs=not values["caller_outputs"],
    )


def _tflite_options(values: dict[str, Any]) -> LiteRtOptions:
    from shapeinf.memory.runtimes.litert.options import LiteRtOptions

    return LiteRtOptions(threads=values["threads"] or 1, sharing=not values["no_reuse"])


def _onnxruntime_options(values: dict[str, Any]) -> OnnxRuntimeOptions:
    from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions

    if values["optimized"] and values["optimize"]:
        raise click.UsageError("--optimized names the file that --optimize would write: specify one of them")
    return OnnxRuntimeOptions(
        threads=values["threads"] or 1,
        reuse=not values["no_reuse"],
        pattern=not values["no_pattern"],
        arena=not values["no_arena"],
        prepacking=not values["no_prepacking"],
        optimized=values["optimized"],
        optimize=values["optimize"],
    )


_BUILDERS: Mapping[str, Callable[[dict[str, Any]], RuntimeOptions]] = {
    "executorch": _executorch_options,
    "litert": _tflite_options,
    "litert-xnnpack": _tflite_options,
    "onnxruntime": _onnxruntime_options,
}
"""The options of each runtime that has some, from the values on the command line."""
