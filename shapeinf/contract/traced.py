"""Failures of a traced program that may not be failures of the module it was exported from.

An exporter runs a module once. Where two sizes are equal in that run, the program may compute one of them in place of
the other, or have a number; a guard states that they are equal. At sizes that break the guard the module may run where
the program fails: then only the failures count that depend on no such size.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from shapeinf.constraints.records import try_evaluate
from shapeinf.contract.conditions import DimCondition, DimRelation, read_guards
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.inference import Inference, Refine
from shapeinf.engine.session import rerun
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph.guards import Guard, InputGuards
from shapeinf.lattice import SCALAR, PartialTensor, TensorType

Sizes = Mapping[str, int]
"""The sizes of the axes of inputs, by the names that guards have for them."""

POINTS = 3
"""Other sizes at which a computed number and a side of an equation must agree, to be taken for the same size."""


class Trace:
    """A traced program with its guards."""

    def __init__(self, inputs: InputGuards, inference: Inference) -> None:
        """`inputs` are the guards of the program of an inference."""
        self.inputs = inputs
        self.compiled = inference.compiled
        self.conditions = list(zip(inputs.guards, read_guards(inputs, inference.store.scope), strict=True))

    def checked_guard(self, inference: Inference) -> Guard | None:
        """A guard that the module itself checks and that the sizes of an inference break; None where there is none."""
        if not self.inputs.module_checks:
            return None
        sizes = self._sizes(inference)
        return next((g for g, c in self.conditions if c is not None and g.checked and c.holds(sizes) is False), None)

    def excusing_guard(self, inference: Inference, failed: Collection[str]) -> Guard | None:
        """The guard for which the failures of these nodes may not be failures of the module; None where one is."""
        sizes = self._sizes(inference)
        checks = self._checks()
        for guard, condition in self.conditions:
            if (
                guard.checked
                and condition is not None
                and condition.holds(sizes) is False
                and checks.issuperset(failed)
            ):
                return guard  # the exporter derived the checks from its guards
        broken = self._broken_equations(sizes)
        for guard, relation in broken:
            if any(isinstance(side, int) and side for side in (relation.left, relation.right)):
                written = self._nodes_with_numbers()
                if all(name in written or "/" in name for name in failed):
                    return guard
        replacements = [self._replacements(sizes, relation) for _, relation in broken]
        both = [{name: size for pair in replacements for name, size in pair[at].items()} for at in (0, 1)]
        tried = [(guard, numbers) for (guard, _), pair in zip(broken, replacements, strict=True) for numbers in pair]
        tried += [(guard, numbers) for guard, _ in broken[:1] for numbers in both]
        return next((guard for guard, numbers in tried if numbers and not self._fails(inference, numbers)), None)

    def doubtful_guard(self, inference: Inference) -> Guard | None:
        """The guard for which a run of the program may be no run of the module; None where there is none.

        Two sizes differ that were equal in the traced run, and the program fails with one in place of the other. Sizes
        of 1 are not examined: the program may state one size both where the module broadcasts it and elsewhere.
        """
        sizes = self._sizes(inference)
        for guard, relation in self._broken_equations(sizes):
            sides = [sizes.get(str(side), 0) for side in (relation.left, relation.right)]
            for numbers in self._replacements(sizes, relation) if min(sides) > 1 else ():
                if numbers and self._fails(inference, numbers):
                    return guard
        return None

    def _broken_equations(self, sizes: Sizes) -> list[tuple[Guard, DimRelation]]:
        """The equations in guards that do not hold at these sizes."""
        return [
            (guard, relation)
            for guard, condition in self.conditions
            for relation in (_relations(condition) if condition is not None and condition.holds(sizes) is False else ())
            if relation.operator == "==" and relation.holds(sizes) is False
        ]

    def _checks(self) -> set[str]:
        """The nodes that only check sizes."""
        dialect = self.compiled.registry.dialect(self.compiled.graph.dialect)
        if dialect is None:
            return set()
        return {step.node_name for step in self.compiled.steps if dialect.is_check(step.node)}

    def _sizes(self, inference: Inference) -> Sizes:
        """The known sizes of the axes of inputs, and the known integer arguments."""
        return {label: size for label, size in self._dims(inference) if isinstance(size, int)}

    def _dims(self, inference: Inference) -> Iterator[tuple[str, object]]:
        slots = self.compiled.slots
        for name, labels in self.inputs.axes.items():
            type_ = inference.type_of(slots[name]) if name in slots else None
            if isinstance(type_, TensorType) and type_.shape.dims is not None:
                dims: tuple[object, ...] = type_.shape.dims or type_.elements or ()
                yield from zip(labels, dims, strict=False)

    def _nodes_with_numbers(self) -> set[str]:
        """The nodes that depend on a number that may be a size of the traced run."""
        dialect = self.compiled.registry.dialect(self.compiled.graph.dialect)
        names: set[str] = set()
        values: set[str] = set()
        for step in self.compiled.steps:
            node = step.node
            if not values.isdisjoint(node.inputs) or (dialect is not None and dialect.may_hold_size(node)):
                names.add(step.node_name)
                values.update(node.outputs)
        return names

    def _replacements(self, sizes: Sizes, equation: DimRelation) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """The numbers that the program computes for each side of an equation, each with that for the other side."""
        left, right = equation.left, equation.right
        return self._replacement(sizes, left, right), self._replacement(sizes, right, left)

    def _replacement(self, sizes: Sizes, side: DimSize, other: DimSize) -> Mapping[str, int]:
        value = try_evaluate(other, sizes)
        if value is None or not isinstance(side, Dimension):
            return {}
        now = self._numbers(sizes)
        if side.is_symbol:
            changed = self._numbers({**sizes, str(side): value})
            return {name: number for name, number in changed.items() if now.get(name) != number}
        points = [{label: size * (2 + at) + 3 + at for label, size in sizes.items()} for at in range(POINTS)]
        wanted = [(try_evaluate(side, point), self._numbers(point)) for point in (sizes, *points)]
        return {name: value for name in now if all(numbers.get(name) == number for number, numbers in wanted)}

    def _fails(self, inference: Inference, numbers: Mapping[str, int]) -> bool:
        """Whether a node certainly fails if the program computes these numbers."""

        def replace(fresh: Inference) -> None:
            for name, number in numbers.items():
                fresh.refiners[self.compiled.slots[name]] = _constant(number)

        return bool(certain_violations(rerun(inference, inference.initial_store.copy(), replace, assume=False)))

    def _numbers(self, sizes: Sizes) -> Mapping[str, int]:
        """The integers that the program computes from sizes of its inputs."""
        dialect = self.compiled.registry.dialect(self.compiled.graph.dialect)
        shapes = {name: [sizes.get(label, 0) for label in labels] for name, labels in self.inputs.axes.items()}
        numbers = {} if dialect is None else dialect.compute_sizes(self.compiled.graph, shapes)
        return {name: number for name, number in numbers.items() if isinstance(number, int)}


def _constant(number: int) -> Refine:
    """What has a value be a number, whatever its node computes."""
    return lambda inference, _, __: inference.table.add(PartialTensor("int64", SCALAR, (number,)))


def _relations(condition: DimCondition) -> Iterator[DimRelation]:
    for part in condition.parts:
        if isinstance(part, DimCondition):
            yield from _relations(part)
        else:
            yield part
