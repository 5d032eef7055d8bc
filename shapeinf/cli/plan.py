"""`shapeinf plan MODEL` and `shapeinf plan verify PLAN`."""

from __future__ import annotations

from typing import Any, Literal

import click

from shapeinf.cli.codes import FINDINGS
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.listing import dims_line
from shapeinf.cli.model_options import ModelOptions, json_option, model_options
from shapeinf.cli.output import echo, echo_json
from shapeinf.cli.timeline_options import timeline_options
from shapeinf.errors import LimitError
from shapeinf.memory import Memory
from shapeinf.memory.planning import PLANNERS, Plan, PlanFinding, load_plan, save_plan, to_json
from shapeinf.result import Result
from shapeinf.solver.budget import cut_text
from shapeinf.texts import exact_bytes, format_count

SCHEMA = "shapeinf.plan.verify/1"


class _WithVerify(click.Command):
    """A command that hands its arguments to `verify` where that is the first one."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == ["verify"]:
            return verify.make_context(f"{info_name} verify", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(cls=_WithVerify, short_help="Place all tensors in one arena, or verify such a plan.")
@click.argument("model", type=click.Path())
@model_options()
@timeline_options
@click.option(
    "--planner",
    type=click.Choice([*PLANNERS, "omnimalloc"]),
    default="best",
    show_default=True,
    help="Who places the tensors; omnimalloc is a package of its own, and takes some seconds.",
)
@click.option(
    "--alignment",
    type=click.IntRange(1, 2**30),
    default=64,
    show_default=True,
    help="What every offset is a multiple of.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, writable=True),
    metavar="OUT",
    help="Write the plan: OUT.json, or minimalloc's CSV by any other name.",
)
@json_option
def plan(
    model: str,
    given: ModelOptions,
    order: Literal["file", "least"],
    aliases: bool,
    in_place: bool,
    work: int,
    planner: str,
    alignment: int,
    output: str | None,
    json_wanted: bool,
) -> None:
    """Place what the nodes of MODEL make in one arena, at offsets that are valid for all sizes that its dims may have.

    With --bind of all dims, for these sizes. With ranges (--dim, --assume), every slot is as large as its tensor can
    be. `shapeinf plan verify PLAN --model MODEL` checks a plan of any tool.

    Exit codes: 0 fine, 1 some tensors have no place (they are listed), 2 usage, 3 could not run.
    """
    with readable_errors():
        result = given.infer(model)
        memory = result.memory(order=order, aliases=aliases, in_place=in_place, work=work)
        made = memory.plan(planner=planner, alignment=alignment)
        if json_wanted:
            echo_json(to_json(made))
        else:
            _print_plan(made, result, memory)
        if output is not None:
            save_plan(made, output)
            echo(f"saved {output}", err=True)
    if made.unplaced:
        raise click.exceptions.Exit(FINDINGS)


@click.command()
@click.argument("plan", type=click.Path())
@click.option("--model", "-m", required=True, type=click.Path(), help="The model that the plan is for.")
@model_options()
@timeline_options
@click.option(
    "--alignment",
    type=click.IntRange(1, 2**30),
    help="What every offset must be a multiple of; what the plan says by default, and a CSV says nothing.",
)
@json_option
def verify(
    plan: str,
    model: str,
    given: ModelOptions,
    order: Literal["file", "least"],
    aliases: bool,
    in_place: bool,
    work: int,
    alignment: int | None,
    json_wanted: bool,
) -> None:
    """Check PLAN, of any tool, against a model: is it valid for all sizes that the dims of the model may have?

    PLAN is minimalloc's CSV (id,lower,upper,size,offset), or JSON as `shapeinf plan -o plan.json` writes it. Ids are
    names of tensors; moments count the nodes from 0.

    Exit codes: 0 fine, 1 findings, 2 usage, 3 could not run.
    """
    with readable_errors():
        made = load_plan(plan)
        memory = given.infer(model).memory(order=order, aliases=aliases, in_place=in_place, work=work)
        found = memory.verify_plan(made, alignment=alignment)
        if json_wanted:
            _print_json(plan, model, found)
        else:
            told = f"valid: {format_count(len(made.slots), 'slot')}, an arena of {exact_bytes(made.arena)}"
            echo(*(map(str, found) if found else [told]))
    if found:
        raise click.exceptions.Exit(FINDINGS)


def _print_plan(made: Plan, result: Result, memory: Memory) -> None:
    """A line a slot, from the bottom of the arena to its top; and for which sizes that is."""
    echo(
        f"arena {exact_bytes(made.arena)} for {format_count(len(made.slots), 'tensor')} by {made.planner}, "
        f"offsets are multiples of {made.alignment}; no plan needs less than {exact_bytes(made.problem.least_arena)}"
    )
    dims = dims_line(result)
    if dims:
        echo(f"valid for {dims}")
    rows = [("offset", "bytes", "moments", "tensor")]
    for s in sorted(made.slots, key=lambda slot: (slot.offset, slot.lower)):
        rows.append((str(s.offset), str(s.size), f"{s.lower}..{s.upper - 1}", s.name))
    wide = [max(len(row[k]) for row in rows) for k in range(3)]
    for row in rows if made.slots else []:
        echo("  ".join([*(row[k].rjust(wide[k]) for k in range(3)), row[3]]))
    if made.cut:
        echo(f"upper bounds of sizes, and so the arena, may be too large: {cut_text('--work')}")
    for one in made.unplaced:
        echo(f"no place for {one.name}: {one.cause}")
    endless = _endless(memory) if made.unplaced else ()
    if endless:
        echo(f"--bind or --dim says how large {', '.join(endless)} may be")


def _endless(memory: Memory) -> tuple[str, ...]:
    """The dims whose sizes nothing bounds; none where there are too many formulas to find out."""
    try:
        return memory.peak.over().unbounded
    except LimitError:
        return ()


def _print_json(plan: str, model: str, found: list[PlanFinding]) -> None:
    records = [
        {"kind": one.kind, "tensor": one.tensor, "other": one.other or None, "cause": one.cause} for one in found
    ]
    echo_json({"schema": SCHEMA, "plan": plan, "model": model, "findings": records})
