"""`shapeinf plan MODEL` and `shapeinf plan verify PLAN`."""

from __future__ import annotations

from typing import Any

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import Lifetimes, json_option, lifetime_options
from shapeinf.cli.output import echo, echo_json, fail_on, note_errors
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import check_outputs, output_option, saving
from shapeinf.memory import Memory
from shapeinf.memory.planning import PLANNERS, Plan, load_plan, save_plan
from shapeinf.memory.runtimes.planned_arena import PlannedArena
from shapeinf.memory.runtimes.protocol import RUNTIMES, load_runtime
from shapeinf.report.plan_report import PlanCheck, plan_check_lines, plan_lines
from shapeinf.texts import exact_bytes


class _PlanCommand(SectionedCommand):
    """A command whose first argument `verify` selects the command of that name."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == ["verify"]:
            return verify.make_context(f"{info_name} verify", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(cls=_PlanCommand)
@click.argument("model", type=click.Path())
@model_options()
@lifetime_options
@click.option(
    "--planner",
    type=click.Choice([*PLANNERS, "omnimalloc"]),
    help="The algorithm; by default `best`, or the algorithm of a --runtime that plans an arena. omnimalloc is a "
    "separate package, and takes some seconds.",
)
@click.option(
    "--alignment",
    type=click.IntRange(1, 2**30),
    metavar="N",
    help="Every offset is a multiple of N; by default 64, or the alignment of a --runtime that plans an arena.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    metavar="N",
    default=20,
    show_default=True,
    help="How many slots are listed, the largest first; OUT and JSON have all slots.",
)
@click.option(
    "--format",
    "written",
    type=click.Choice(["plan", "offline"]),
    default="plan",
    show_default=True,
    help="The content of OUT: the plan, or with --runtime tflite-micro a copy of MODEL with the offsets for its "
    "interpreter.",
)
@output_option("Write the plan to OUT: JSON where it ends in .json, else minimalloc's CSV; see --format.")
@json_option
def plan(
    model: str,
    options: ModelOptions,
    lifetimes: Lifetimes,
    planner: str | None,
    alignment: int | None,
    top: int,
    written: str,
    output: str | None,
    json_wanted: bool,
) -> None:
    """Place the outputs of the nodes of MODEL in one arena, at offsets that are valid for all sizes of its dims.

    With a size for every dim (--bind), the plan holds for these sizes. With ranges (--dim, --assume), each slot has the
    maximum size of its tensor. `shapeinf plan verify PLAN --model MODEL` checks a plan of any tool.

    Exit codes: 0 all tensors are placed, 1 some tensors are not placed (they are listed), or the model has errors or
    cannot run at the sizes of --bind, 2 usage, 3 a file cannot be read or written.
    """
    check_outputs(output=output)
    if written == "offline" and (output is None or not _stores_offsets(lifetimes.runtime)):
        names = " or ".join(filter(_stores_offsets, RUNTIMES))
        raise click.UsageError(f"--format offline needs --runtime {names} and --output")
    with readable_errors():
        result = options.infer(model)
        memory = lifetimes.memory(result)
        placed = memory.plan(planner=planner, alignment=alignment)
        if output is not None:
            with saving(output):
                _save(memory, placed, output, planner if written == "offline" else None, written)
        if json_wanted:
            echo_json(placed)
        else:
            echo(*plan_lines(placed, result, memory, top))
    fail_on(note_errors(model, result.diagnostics) or placed.unplaced)


def _stores_offsets(runtime: str | None) -> bool:
    """Whether the files of a runtime may have offsets."""
    return runtime is not None and load_runtime(runtime).stores_offsets


def _save(memory: Memory, placed: Plan, output: str, planner: str | None, written: str) -> None:
    """Write the plan, or a copy of the model with offsets for the interpreter."""
    if written == "plan":
        save_plan(placed, output)
        return
    assert isinstance(memory, PlannedArena)
    offline = memory.save_offline(output, planner=planner or "best")
    head, greedy_head = exact_bytes(offline.head), exact_bytes(offline.greedy_head)
    echo(f"{output}: head {head} with the planner {offline.planner}, {greedy_head} with that of the interpreter")


@click.command(cls=SectionedCommand, epilog="Example: shapeinf plan verify plan.json --model model.onnx")
@click.argument("plan", type=click.Path())
@click.option("--model", "-m", required=True, type=click.Path(), help="The model of the plan.")
@model_options()
@lifetime_options
@click.option(
    "--alignment",
    type=click.IntRange(1, 2**30),
    metavar="N",
    help="Every offset must be a multiple of N; by default the alignment of the plan (1 for a CSV).",
)
@json_option
def verify(
    plan: str,
    model: str,
    options: ModelOptions,
    lifetimes: Lifetimes,
    alignment: int | None,
    json_wanted: bool,
) -> None:
    """Check that PLAN, made by any tool, is valid for all sizes of the dims of a model.

    PLAN is minimalloc's CSV (id,lower,upper,size,offset), or JSON as `shapeinf plan -o plan.json` writes it. Ids are
    names of tensors; lifetimes count the nodes from 0.

    Exit codes: 0 the plan is valid, 1 the plan is not valid, or the model has errors or cannot run at the sizes of
    --bind, 2 usage, 3 a file cannot be read.
    """
    with readable_errors():
        loaded = load_plan(plan)
        result = options.infer(model)
        memory = lifetimes.memory(result)
        problems = memory.verify_plan(loaded, alignment=alignment)
        if json_wanted:
            echo_json(PlanCheck(plan, model, tuple(problems)))
        else:
            echo(*plan_check_lines(loaded, problems, memory))
    fail_on(note_errors(model, result.diagnostics) or problems)
