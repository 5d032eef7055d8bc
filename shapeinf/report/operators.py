"""The installed operators as records: lists, signatures, and the operators of a model that have no rule."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

import attrs

from shapeinf.errors import UnknownNameError
from shapeinf.graph import Graph, Node
from shapeinf.ops import ArgDef, AttrDef, Dialect, DialectEntry, OpDef, OpRegistry, Rule
from shapeinf.ops.parameters import outer_name
from shapeinf.report.bodies import inner_graphs
from shapeinf.schemas import json_record
from shapeinf.texts import nearest_names

MAX_NAMES = 3
"""Limit on the listed near names, and on the listed nodes."""


@attrs.frozen
class OperatorRecord:
    """An operator with a rule.

    Args:
        dialect: its dialect.
        domain: empty for the domain of the format.
        name: its name.
        versions: the versions of its domain that add or change it, the oldest first.
    """

    dialect: str
    domain: str
    name: str
    versions: tuple[int, ...]

    @property
    def full_name(self) -> str:
        """`com.microsoft.FusedMatMul`; without the domain where that is the one of the format."""
        return _full_name(self.domain, self.name)


@attrs.frozen
class ParameterRecord:
    """An input or output.

    Args:
        name: its name.
        type: an element type, or a type variable such as `T`.
        optional: whether it may be omitted.
        repeated: whether it stands for any number of values.
    """

    name: str
    type: str
    optional: bool = False
    repeated: bool = False


@attrs.frozen
class AttributeRecord:
    """An attribute.

    Args:
        name: its name.
        type: as text.
        default: as text; None where it has none.
        required: whether each node must have it.
    """

    name: str
    type: str
    default: str | None
    required: bool


@attrs.frozen
class OperatorDescription(OperatorRecord):
    """The signature of an operator at one version.

    Args:
        version: the version from which on this signature holds.
        inputs: the inputs.
        outputs: the outputs.
        attributes: the attributes, by name.
        rule: the function that infers its outputs, by module and name; empty where it has none.
        package: the package that has this function, with its version; empty where that is not known.
        text: the docstring of the rule.
        expands: whether the operator is defined by other operators, from which it is inferred.
        cost: whether a cost rule counts its multiply-accumulates and operations.
        deprecated: whether it is deprecated at this version.
    """

    version: int
    inputs: tuple[ParameterRecord, ...]
    outputs: tuple[ParameterRecord, ...]
    attributes: tuple[AttributeRecord, ...]
    rule: str
    package: str
    text: str
    expands: bool
    cost: bool
    deprecated: bool


@attrs.frozen
class MissingOperator:
    """An operator of a model without a rule.

    Args:
        name: its name.
        domain: its domain, empty for that of the format.
        version: the version that the model imports; 0 where it imports none.
        count: the number of nodes.
        nodes: the names of the first ones.
        near: the nearest names of operators with a rule.
    """

    name: str
    domain: str
    version: int
    count: int
    nodes: tuple[str, ...]
    near: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """Its name with the domain."""
        return _full_name(self.domain, self.name)


@json_record("shapeinf.ops/1")
@attrs.frozen
class OperatorList:
    """Installed operators: the output of `shapeinf ops list --json`."""

    operators: tuple[OperatorRecord, ...]


@json_record("shapeinf.ops.show/1")
@attrs.frozen
class DescriptionList:
    """The operators of a name in all dialects and domains: the output of `shapeinf ops show OPERATOR --json`."""

    operators: tuple[OperatorDescription, ...]


@attrs.frozen
class ModelOperators:
    """The operators of a model without a rule.

    Args:
        model: the path of the model.
        missing: the operators, the most frequent first.
    """

    model: str
    missing: tuple[MissingOperator, ...]


@json_record("shapeinf.ops.missing/1")
@attrs.frozen
class MissingList:
    """The operators without a rule of the models that can be read: the output of `shapeinf ops missing --json`."""

    models: tuple[ModelOperators, ...]


@json_record("shapeinf.ops.packages/1")
@attrs.frozen
class PackageList:
    """The entry points of dialects: the output of `shapeinf ops packages --json`."""

    entry_points: tuple[DialectEntry, ...]


json_record(add=("dialect",))(DialectEntry)


def _full_name(domain: str, name: str) -> str:
    return f"{domain}.{name}" if domain else name


def dialects(registry: OpRegistry, name: str | None = None) -> list[Dialect]:
    """The installed dialects, or the one of this name. Raises UnknownNameError."""
    names = sorted({entry.dialect for entry in registry.entries()})
    if name is not None and registry.dialect(name) is None:
        raise UnknownNameError("dialect", name, names)
    loaded = (registry.dialect(known) for known in ([name] if name is not None else names))
    return [dialect for dialect in loaded if dialect is not None]


def list_operators(registry: OpRegistry, pattern: str = "*", dialect: str | None = None) -> list[OperatorRecord]:
    """The operators with a rule whose name, with or without its domain, matches a glob in any case.

    >>> from shapeinf.ops import default_registry
    >>> [(op.full_name, op.versions) for op in list_operators(default_registry(), "globala*", "onnx")]
    [('GlobalAveragePool', (1, 22)), ('com.microsoft.nchwc.GlobalAveragePool', (1,))]
    """
    wanted = pattern.lower()
    return [
        operator
        for known in dialects(registry, dialect)
        for operator in _operators(known)
        if fnmatchcase(operator.name.lower(), wanted) or fnmatchcase(operator.full_name.lower(), wanted)
    ]


def _operators(dialect: Dialect) -> Iterator[OperatorRecord]:
    rules: dict[tuple[str, str], list[int]] = {}
    for domain, name, since in dialect:
        rules.setdefault((domain, name), []).append(since)
    for (domain, name), versions in rules.items():
        yield OperatorRecord(dialect.name, domain, name, _versions(dialect, domain, name, versions))


def _versions(dialect: Dialect, domain: str, name: str, rules: Iterable[int]) -> tuple[int, ...]:
    """The versions at which the signature of an operator changes; those of its rules where nothing else defines it."""
    versions: set[int] = set()
    op_def = newest = dialect.lookup(domain, name, 0)
    while op_def is not None and newest is not None and op_def.since not in versions:
        if newest.outputs and not op_def.outputs:  # before the first schema
            break
        versions.add(op_def.since)
        op_def = dialect.lookup(domain, name, op_def.since - 1) if op_def.since > 1 else None
    return tuple(sorted(versions)) if versions - {1} else tuple(rules)


def _takes_any_name(dialect: Dialect, domain: str) -> bool:
    """Whether a domain has an operator of every name, as that of custom operators."""
    return dialect.lookup(domain, " ", 0) is not None


def describe_operator(
    registry: OpRegistry, name: str, dialect: str | None = None, version: int = 0
) -> list[OperatorDescription]:
    """The signatures of the operators of a name in all dialects and domains, or in one dialect.

    `name` may begin with the domain. The version is that of an opset, 0 for the newest. Raises UnknownNameError.
    """
    descriptions = []
    for known in dialects(registry, dialect):
        records = {(record.domain, record.name): record for record in _operators(known)}
        domains = sorted({"", *(domain for domain, _ in records)})
        for domain in domains:
            op = name.removeprefix(f"{domain}.") if domain else name
            op_def = known.lookup(domain, op, version)
            named = op_def is not None and op_def.name == op and not _takes_any_name(known, domain)
            if op_def is not None and (op_def.rule is not None or named):
                record = records.get((domain, op), OperatorRecord(known.name, domain, op, ()))
                descriptions.append(_describe(registry, record, op_def, version))
    if not descriptions:
        at = f" at version {version}" if version else ""
        raise UnknownNameError(f"operator{at}", name, {op.full_name for op in list_operators(registry, "*", dialect)})
    return descriptions


def _describe(registry: OpRegistry, record: OperatorRecord, op_def: OpDef, version: int) -> OperatorDescription:
    rule = op_def.rule
    function = None if rule is None else rule.function
    inputs = tuple(map(_parameter, op_def.inputs))
    attributes = tuple(map(_attribute, op_def.attributes.values()))
    if rule is not None and not attributes and (rule.kinds or not inputs):  # no schema has them: the rule defines them
        inputs, attributes = _inputs_of_rule(rule), _attributes_of_rule(rule)
    return OperatorDescription(
        **attrs.asdict(record),
        version=op_def.since,
        inputs=inputs,
        outputs=tuple(map(_parameter, op_def.outputs)),
        attributes=attributes,
        rule="" if function is None else f"{function.__module__}.{outer_name(function)}",
        package="" if function is None else _package(registry.entries(), function.__module__),
        text=inspect.getdoc(function) or "" if function is not None else "",
        expands=op_def.expand is not None,
        cost=registry.cost_rule(record.dialect, record.domain, record.name, version) is not None,
        deprecated=op_def.deprecated,
    )


def _package(entries: list[DialectEntry], module: str) -> str:
    """The package whose entry point refers to the same top-level package as a module."""
    top = module.partition(".")[0]
    return next((entry.package for entry in entries if entry.target.partition(":")[0].partition(".")[0] == top), "")


def _parameter(arg: ArgDef) -> ParameterRecord:
    text = arg.type or arg.type_attr or arg.type_list_attr or "any"
    text = text if arg.kind == "tensor" else f"{arg.kind}({text})"
    return ParameterRecord(arg.name, text, arg.optional, arg.variadic or arg.repeated)


def _inputs_of_rule(rule: Rule) -> tuple[ParameterRecord, ...]:
    return tuple([ParameterRecord(p.name, "any", p.optional, p.variadic) for p in rule.params])


def _attribute(attribute: AttrDef) -> AttributeRecord:
    default = repr(attribute.default) if attribute.has_default else None
    return AttributeRecord(attribute.name, attribute.type, default, attribute.required)


def _attributes_of_rule(rule: Rule) -> tuple[AttributeRecord, ...]:
    required = inspect.Parameter.empty
    return tuple(
        [
            AttributeRecord(name, kind, None if default in (None, required) else repr(default), default is required)
            for name, kind in rule.kinds.items()
            for default in [rule.attributes.get(name)]
        ]
    )


def missing_operators(registry: OpRegistry, graph: Graph) -> list[MissingOperator]:
    """The operators of a graph, its bodies and functions that have no rule and no definition, the most frequent first.

    >>> from shapeinf.ops import default_registry
    >>> graph = Graph(dialect="onnx", opsets={"": 18}, nodes=[Node.make("Rellu", ("x",), ("y",), name="act")])
    >>> [(op.name, op.count, op.near) for op in missing_operators(default_registry(), graph)]
    [('Rellu', 1, ('Relu', 'PRelu', 'Selu'))]
    """
    nodes: dict[tuple[str, str, int], list[Node]] = {}
    for body in [graph, *inner_graphs(graph)]:
        for node in body.nodes:
            if (node.domain, node.op, node.kind.overload) not in graph.functions:
                nodes.setdefault((node.domain, node.op, body.opsets.get(node.domain, 0)), []).append(node)
    missing = [(key, listed) for key, listed in nodes.items() if not _is_supported(registry, graph.dialect, *key)]
    missing.sort(key=lambda item: -len(item[1]))
    known = list_operators(registry, "*", graph.dialect) if missing else []
    return [
        MissingOperator(
            op,
            domain,
            version,
            len(listed),
            tuple([node.name for node in listed if node.name][:MAX_NAMES]),
            _near_operators(known, domain, op),
        )
        for (domain, op, version), listed in missing
    ]


def _near_operators(known: Sequence[OperatorRecord], domain: str, op: str) -> tuple[str, ...]:
    """Similar names of the domain; for a domain that is not known, operators of other domains with the same name."""
    own = [record.name for record in known if record.domain == domain]
    if own:
        return tuple([_full_name(domain, name) for name in nearest_names(op, own)[:MAX_NAMES]])
    return tuple([record.full_name for record in known if record.name == op][:MAX_NAMES])


def _is_supported(registry: OpRegistry, dialect: str, domain: str, op: str, version: int) -> bool:
    op_def = registry.lookup(dialect, domain, op, version)
    return op_def is not None and (op_def.rule is not None or op_def.expand is not None)
