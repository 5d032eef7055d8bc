"""Operators as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shapeinf.ops import DialectEntry
from shapeinf.report.operators import (
    AttributeRecord,
    ModelOperators,
    OperatorDescription,
    OperatorRecord,
    ParameterRecord,
)
from shapeinf.report.table import Column
from shapeinf.texts import format_count

_MARGIN = 14


OPERATOR_COLUMNS = tuple(map(Column, ("dialect", "domain", "operator", "versions")))
PACKAGE_COLUMNS = (*map(Column, ("entry point", "package", "object")), Column("state", 20))


def operator_cells(operators: Iterable[OperatorRecord]) -> Iterator[list[str]]:
    """One row per operator."""
    for op in operators:
        yield [op.dialect, op.domain, op.name, ", ".join(map(str, op.versions))]


def package_cells(entries: Iterable[DialectEntry]) -> Iterator[list[str]]:
    """One row per entry point; for one that is not used, with the reason."""
    for entry in entries:
        yield [entry.name, entry.package or "?", entry.target, entry.problem or "used"]


def description_lines(description: OperatorDescription) -> Iterator[str]:
    """The signature of an operator."""
    listed = ", ".join(map(str, description.versions)) if len(description.versions) > 1 else ""
    notes = [f"versions {listed}"] * bool(listed) + ["deprecated"] * description.deprecated
    yield ", ".join([f"{description.full_name} of {description.dialect}", *notes])
    if listed:
        yield from _section("at version", [str(description.version)])
    yield from _section("inputs", map(_parameter_line, description.inputs))
    yield from _section("outputs", map(_parameter_line, description.outputs))
    yield from _section("attributes", map(_attribute_line, description.attributes))
    yield from _section("rule", _rule_lines(description))
    yield from _section("cost", ["counted by a rule" if description.cost else "not counted"])


def _section(heading: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"  {'' if number else heading:{_MARGIN - 2}}{line}".rstrip()


def _parameter_line(parameter: ParameterRecord) -> str:
    notes = [note for note, holds in (("optional", parameter.optional), ("repeated", parameter.repeated)) if holds]
    return ", ".join([f"{parameter.name}: {parameter.type}", *notes])


def _attribute_line(attribute: AttributeRecord) -> str:
    default = "" if attribute.default is None else f" = {attribute.default}"
    return f"{attribute.name}: {attribute.type}{default}{', required' if attribute.required else ''}"


def _rule_lines(description: OperatorDescription) -> list[str]:
    if not description.rule:
        return ["none: it is defined by other operators" if description.expands else "none: its outputs are unknown"]
    package = f" of {description.package}" if description.package else ""
    return [f"{description.rule}{package}", *description.text.splitlines()]


def missing_lines(operators: ModelOperators) -> Iterator[str]:
    """The operators of a model without a rule, with their nodes and the nearest names."""
    model, missing = operators.model, operators.missing
    count = sum(item.count for item in missing)
    yield f"{model}: " + (f"{format_count(count, 'node')} without a rule" if missing else "all operators have a rule")
    for item in missing:
        version = f" (version {item.version})" if item.version else ""
        nodes = f": {', '.join(item.nodes)}{', ...' if item.count > len(item.nodes) else ''}" if item.nodes else ""
        near = f"; did you mean {', '.join(map(repr, item.near))}?" if item.near else ""
        yield f"  {item.full_name}{version}, {format_count(item.count, 'node')}{nodes}{near}"
