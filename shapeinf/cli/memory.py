"""`shapeinf memory MODEL`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import attrs
import click

from shapeinf.cli.codes import FINDINGS
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, json_option, model_options
from shapeinf.cli.output import echo, echo_json
from shapeinf.cli.timeline_options import timeline_options
from shapeinf.errors import MissingSizeError
from shapeinf.expr import Dim, evaluate
from shapeinf.memory import Memory
from shapeinf.memory.peak import PeakAt, PeakBound, parse_budget
from shapeinf.texts import exact_bytes

SCHEMA = "shapeinf.memory.summary/1"
LONG = 400
"""Characters of a symbolic peak that are printed; --json has all."""


@attrs.frozen
class Answer:
    """What there is to say of the memory of a model: the peak at the given sizes, else its bound over all of them.

    Args:
        memory: with symbols for all dims.
        bound: the same, or with the given sizes put in: what was `found` is the peak of this one.
        sizes: the given sizes.
        found: the peak at these sizes; its bound over all sizes where some are missing.
        budget: bytes.
    """

    memory: Memory
    bound: Memory
    sizes: dict[str, int]
    found: PeakAt | PeakBound
    budget: int | None

    @property
    def bytes(self) -> int | None:
        """The peak, or its bound; None where there is none."""
        return self.found.bytes if isinstance(self.found, PeakAt) else self.found.value

    @property
    def fits(self) -> bool:
        """Whether the peak is known to fit into the budget; without one it does."""
        known = self.bytes is not None and not self.found.at_least
        return self.budget is None or (known and (self.bytes or 0) <= self.budget)

    @property
    def where(self) -> str:
        """For which sizes."""
        return ", ".join(f"{name}={size}" for name, size in self.sizes.items())


def _asked(memory: Memory, sizes: dict[str, int], budget: int | None, again: Callable[[], Memory]) -> Answer:
    """The peak at these sizes; `again` infers with them put in, which bounds more of what depends on data."""
    try:
        found: PeakAt | PeakBound = memory.peak.at(sizes)
        if memory.peak.exact or not sizes:
            return Answer(memory, memory, sizes, found, budget)
    except MissingSizeError:
        if not sizes:
            return Answer(memory, memory, sizes, memory.peak.over(), budget)
    bound = again()
    try:
        found = bound.peak.at()
    except MissingSizeError:
        found = bound.peak.over()
    return Answer(memory, bound, sizes, found, budget)


@click.command(name="memory", short_help="Say how much memory a model needs when it runs.")
@click.argument("model", type=click.Path())
@model_options()
@timeline_options
@click.option("--budget", metavar="AMOUNT", help="Fail when the peak is not known to fit: 64MiB, 1.5GB, or bytes.")
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True, help="Tensors to list at the peak.")
@click.option("--html", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help="A page with the picture.")
@click.option(
    "--png", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help="The picture; needs matplotlib."
)
@click.option(
    "--plan", type=click.Path(), metavar="PLAN", help="A plan to draw below: JSON or CSV, as `shapeinf plan` writes it."
)
@click.option(
    "--export",
    "exported",
    type=click.Path(dir_okay=False, writable=True),
    metavar="OUT",
    help="Write all buffers, their lifetimes and sizes: OUT.json, OUT.csv, OUT.parquet, or OUT.h for C.",
)
@json_option
def memory_command(
    model: str,
    given: ModelOptions,
    order: Literal["file", "least"],
    aliases: bool,
    in_place: bool,
    work: int,
    budget: str | None,
    top: int,
    html: str | None,
    png: str | None,
    plan: str | None,
    exported: str | None,
    json_wanted: bool,
) -> None:
    """Say how much memory MODEL needs when it runs: the peak as a formula, and in bytes at the sizes of --bind.

    The peak counts what nodes make; inputs and weights are apart. Without all sizes it is bounded over the ranges of
    the dims (--dim, --assume). Pictures need all sizes.

    Exit codes: 0 fine, 1 the peak is not known to fit into --budget, 2 usage, 3 could not run.
    """
    if plan is not None and html is None and png is None:
        raise click.UsageError("--plan is drawn into a picture: give --html or --png too")
    with readable_errors():
        limit = None if budget is None else parse_budget(budget)

        def infer(options: ModelOptions) -> Memory:
            return options.infer(model).memory(order=order, aliases=aliases, in_place=in_place, work=work)

        answer = _asked(infer(given.evolve(bind={})), dict(given.options.bind), limit, lambda: infer(given))
        if html is not None or png is not None:
            _draw(answer, model, html, png, plan)
        if exported is not None:
            from shapeinf.memory.exports import export

            export(answer.memory, exported, sizes=answer.sizes)
            echo(f"saved {exported}", err=True)
        if json_wanted:
            echo_json({"schema": SCHEMA, "model": model, **_as_json(answer)})
        else:
            echo(*_lines(answer, top))
    if not answer.fits:
        raise click.exceptions.Exit(FINDINGS)


def _draw(answer: Answer, model: str, html: str | None, png: str | None, plan: str | None) -> None:
    from shapeinf.memory.planning import load_plan
    from shapeinf.report.memory_picture import memory_page
    from shapeinf.report.memory_view import view_of_memory

    slots = () if plan is None else load_plan(plan).slots
    sizes = {} if answer.bound is not answer.memory else answer.sizes
    view = attrs.evolve(view_of_memory(answer.bound, sizes, Path(model).name, slots), sizes=answer.where)
    if html is not None:
        Path(html).write_text(memory_page(view), encoding="utf-8", errors="backslashreplace")
        echo(f"saved {html}", err=True)
    if png is not None:
        from shapeinf.report.memory_png import save_png

        save_png(view, png)
        echo(f"saved {png}", err=True)


def _lines(answer: Answer, top: int) -> Iterator[str]:
    memory, found = answer.memory, answer.found
    yield f"peak         {_cut(str(memory.peak))}"
    qualifier = "at least " if found.at_least else "at most " if found.at_most else ""
    if isinstance(found, PeakAt):
        place = f" at {found.moment.op} '{found.moment.node}' (#{found.index})" if found.moment else ""
        yield f"  {answer.where or 'always'}: {qualifier}{exact_bytes(found.bytes)}{place}"
        uncounted = {one.name for one in answer.bound.peak.unbounded}
        for buffer, size in found.alive[:top]:
            share = 100 * size / max(found.bytes, 1)
            least = " (at least)" if buffer.name in uncounted else ""
            yield f"  {size:>16,}  {share:5.1f}%  {buffer.name}: {buffer.dtype or '?'}{buffer.shape}{least}"
        if len(found.alive) > top:
            rest = sum(size for _, size in found.alive[top:])
            yield f"  {rest:>16,}  {100 * rest / max(found.bytes, 1):5.1f}%  {len(found.alive) - top} more"
    else:
        yield f"  for all sizes{' with ' + answer.where if answer.where else ''}: {_bound(found)}"
    unsized = {buffer.role for buffer in memory.unsized}
    for role, total in _roles(memory).items():
        yield f"{role + 's':<13}{'at least ' if role in unsized else ''}{_total(answer, total)}"
    if memory.bodies != 0:
        yield f"  in bodies  {_total(answer, memory.bodies)}"
    for one in answer.bound.peak.unbounded:
        yield f"not counted  {one.name}: {one.cause}"
    if answer.budget is not None:
        verdict = "fits" if answer.fits else "is not known to fit" if answer.found.at_least else "does not fit"
        yield f"budget       {exact_bytes(answer.budget)}: the peak {verdict}"


def _roles(memory: Memory) -> dict[str, Dim]:
    return {
        "weight": memory.weights,
        "input": memory.inputs,
        "output": memory.outputs,
        "activation": memory.activations,
    }


def _total(answer: Answer, total: Dim) -> str:
    """The bytes of all tensors of a role, whether or not they are there at one time."""
    if isinstance(total, int):
        return exact_bytes(total)
    try:
        return f"{exact_bytes(int(evaluate(total, answer.sizes)))} of {_cut(str(total))}"
    except KeyError:
        return f"{_cut(str(total))} bytes"


def _bound(found: PeakBound) -> str:
    if found.cause:
        return f"no bound: {found.cause}"
    if found.value is None:
        return f"no bound: {', '.join(found.unbounded)} may be as large as you like (--dim gives ranges)"
    least = "at least " if found.at_least else ""
    reached = ", ".join(f"{name}={size}" for name, size in found.sizes.items())
    return f"{least}{exact_bytes(found.value)}, {f'reached at {reached}' if found.tight and reached else found.engine}"


def _cut(formula: str) -> str:
    return formula if len(formula) <= LONG else f"{formula[:LONG]} ... (--json has all of it)"


def _as_json(answer: Answer) -> dict[str, Any]:
    found, memory = answer.found, answer.memory
    moment = found.moment
    told: dict[str, Any] = {
        "sizes": answer.sizes,
        "bytes": answer.bytes,
        "of": "these sizes" if isinstance(found, PeakAt) else "all sizes",
        "node": moment.node if moment else None,
        "op": moment.op if moment else None,
        "at_least": found.at_least,
        "at_most": found.at_most,
    }
    if isinstance(found, PeakAt):
        told["alive"] = [{"tensor": buffer.name, "bytes": size} for buffer, size in found.alive]
    return {
        "peak": {"formula": str(memory.peak), **told},
        "roles": {f"{role}s": str(total) for role, total in _roles(memory).items()},
        "bodies": str(memory.bodies),
        "unsized": [{"tensor": b.name, "role": b.role, "cause": b.cause} for b in memory.unsized],
        "not_counted": [{"tensor": one.name, "cause": one.cause} for one in answer.bound.peak.unbounded],
        "budget": answer.budget,
        "fits": answer.fits,
    }
