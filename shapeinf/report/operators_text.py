"""Operators as text for a terminal, and as JSON-ready data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from shapeinf.ops import DialectEntry
from shapeinf.report.operators import (
    AttributeRecord,
    MissingOperator,
    OperatorDescription,
    OperatorRecord,
    ParameterRecord,
)
from shapeinf.report.table import Column
from shapeinf.schemas import OPS, OPS_MISSING, OPS_PACKAGES, OPS_SHOW
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
    op = description.operator
    versions = f", versions {', '.join(map(str, op.versions))}" if len(op.versions) > 1 else ""
    yield f"{op.full_name} of {op.dialect}{versions}{', deprecated' if description.deprecated else ''}"
    if len(op.versions) > 1:
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


def missing_lines(model: str, missing: Sequence[MissingOperator]) -> Iterator[str]:
    """The operators of a model without a rule, with their nodes and the nearest names."""
    count = sum(item.count for item in missing)
    yield f"{model}: " + (f"{format_count(count, 'node')} without a rule" if missing else "all operators have a rule")
    for item in missing:
        version = f" (version {item.version})" if item.version else ""
        nodes = f": {', '.join(item.nodes)}{', ...' if item.count > len(item.nodes) else ''}" if item.nodes else ""
        near = f"; did you mean {', '.join(map(repr, item.near))}?" if item.near else ""
        yield f"  {item.full_name}{version}, {format_count(item.count, 'node')}{nodes}{near}"


def operators_as_json(operators: Iterable[OperatorRecord]) -> dict[str, Any]:
    """A list of operators."""
    return {"schema": OPS, "operators": [_operator(operator) for operator in operators]}


def _operator(operator: OperatorRecord) -> dict[str, Any]:
    return {
        "dialect": operator.dialect,
        "domain": operator.domain,
        "name": operator.name,
        "versions": list(operator.versions),
    }


def descriptions_as_json(descriptions: Iterable[OperatorDescription]) -> dict[str, Any]:
    """The signatures of the operators of one name."""
    return {"schema": OPS_SHOW, "operators": [_description(description) for description in descriptions]}


def _description(description: OperatorDescription) -> dict[str, Any]:
    return {
        **_operator(description.operator),
        "version": description.version,
        "inputs": [_parameter(parameter) for parameter in description.inputs],
        "outputs": [_parameter(parameter) for parameter in description.outputs],
        "attributes": [
            {"name": a.name, "type": a.type, "default": a.default, "required": a.required}
            for a in description.attributes
        ],
        "rule": description.rule or None,
        "package": description.package or None,
        "text": description.text,
        "expands": description.expands,
        "cost": description.cost,
        "deprecated": description.deprecated,
    }


def _parameter(parameter: ParameterRecord) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": parameter.type,
        "optional": parameter.optional,
        "repeated": parameter.repeated,
    }


def missing_as_json(models: Iterable[tuple[str, Sequence[MissingOperator]]]) -> dict[str, Any]:
    """The operators of models without a rule."""
    return {
        "schema": OPS_MISSING,
        "models": [{"model": model, "missing": [_missing(item) for item in missing]} for model, missing in models],
    }


def _missing(item: MissingOperator) -> dict[str, Any]:
    return {
        "domain": item.domain,
        "name": item.name,
        "version": item.version,
        "count": item.count,
        "nodes": list(item.nodes),
        "near": list(item.near),
    }


def packages_as_json(entries: Iterable[DialectEntry]) -> dict[str, Any]:
    """The entry points of dialects."""
    return {
        "schema": OPS_PACKAGES,
        "entry_points": [
            {
                "name": entry.name,
                "dialect": entry.dialect,
                "object": entry.target,
                "package": entry.package or None,
                "problem": entry.problem or None,
            }
            for entry in entries
        ],
    }
