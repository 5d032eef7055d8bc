"""What the kernels of LiteRT decide when they are prepared: where their outputs are, and the temporaries they need.

`LiteRtKernels` has the rules of the operators, which are in `opdefs/litert`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.lattice import ShapeStore, Type
from shapeinf.memory.runtimes.kernels import KernelContext, KernelOptions, RuntimeKernels
from shapeinf.memory.runtimes.litert.planner import Storage
from shapeinf.ops import OpDef


@attrs.frozen
class Temporary:
    """A tensor that a kernel needs while it runs, or (`persistent`) keeps for later runs.

    Args:
        size: bytes.
        storage: where it is.
    """

    size: DimSize
    storage: Storage = "arena"


@attrs.frozen
class Sharing:
    """The inputs whose memory the first output may use, and whether its contents differ from theirs."""

    inputs: tuple[int, ...]
    copies: bool = True


NO_SHARING = Sharing(())


@attrs.frozen
class BodyRole:
    """How a node runs a subgraph.

    Args:
        shares_inputs: whether the inputs of the subgraph are tensors of the node.
        drops_unused: whether the subgraph has no inputs that none of its nodes reads.
    """

    shares_inputs: bool = True
    drops_unused: bool = True


@attrs.frozen
class PreparedBody:
    """A subgraph that a node runs, after its kernels were prepared.

    Args:
        outputs: the types of its outputs.
        has_unsized: whether only a run decides the size of a tensor.
        passed: the positions of inputs that it returns as the outputs of the same positions.
    """

    outputs: tuple[Type | None, ...]
    has_unsized: bool
    passed: tuple[int, ...]


class LiteRtContext(KernelContext):
    """One call of a kernel.

    Args:
        known: the positions of inputs whose contents are known when it is prepared: constants, and results of kernels
            that ran then.
        scales: by position, the scales of quantized inputs.
        sparse: the positions of inputs of which the file has only some elements.
        intermediates: the number of tensors that only have scales.
        bodies: the subgraphs that the node runs.
    """

    def __init__(
        self,
        op_def: OpDef,
        inputs: Sequence[Type | None],
        outputs: Sequence[Type | None],
        attributes: Mapping[str, object],
        store: ShapeStore,
        *,
        constants: Iterable[int] = (),
        known: Iterable[int] = (),
        scales: Mapping[int, Sequence[float]] | None = None,
        sparse: Iterable[int] = (),
        intermediates: int = 0,
        bodies: Sequence[PreparedBody] = (),
        options: KernelOptions | None = None,
    ) -> None:
        """As for `KernelContext`."""
        super().__init__(op_def, inputs, outputs, attributes, store, constants=constants, options=options)
        self.known = frozenset(known) | self.constants
        self.scales = scales or {}
        self.sparse = frozenset(sparse)
        self.intermediates = intermediates
        self.bodies = tuple(bodies)

    @property
    def is_all_known(self) -> bool:
        """Whether the contents of all inputs are known."""
        return all(value is None or position in self.known for position, value in enumerate(self.types))


TemporariesRule = Callable[[LiteRtContext], Sequence[Temporary]]
StorageRule = Callable[[LiteRtContext], Storage]
DelegateRule = Callable[[LiteRtContext], bool]
DroppedRule = Callable[[LiteRtContext], Sequence[int]]
"""The positions of outputs that a node does not write where nothing reads them."""


class LiteRtKernels(RuntimeKernels):
    """The kernels of LiteRT; also the decorators that register their rules."""

    def __init__(self, name: str, alignment: int, modules: Iterable[str] = ()) -> None:
        """Without rules; arguments as for `RuntimeKernels`."""
        super().__init__(name, alignment, modules)
        self._temporaries: dict[tuple[str, str], TemporariesRule] = {}
        self._storage: dict[tuple[str, str], StorageRule] = {}
        self._sharing: dict[tuple[str, str], Sharing] = {}
        self._roles: dict[tuple[str, str], tuple[BodyRole, ...]] = {}
        self._dropped: dict[tuple[str, str], DroppedRule] = {}
        self._delegated: DelegateRule = _never

    def temporaries(self, *names: str, domain: str = "") -> Callable[[TemporariesRule], TemporariesRule]:
        """Register the decorated function as the rule for the temporaries of these operators."""

        def register(rule: TemporariesRule) -> TemporariesRule:
            self._temporaries.update({(domain, name): rule for name in names})
            return rule

        return register

    def no_temporaries(self, *names: str, domain: str = "") -> None:
        """Register operators whose kernels need none."""
        self.temporaries(*names, domain=domain)(_none)

    def outputs(self, *names: str, domain: str = "") -> Callable[[StorageRule], StorageRule]:
        """Register the decorated function as the rule for where the outputs of these operators are."""

        def register(rule: StorageRule) -> StorageRule:
            self._storage.update({(domain, name): rule for name in names})
            return rule

        return register

    def needs(self, names: Iterable[str], *positions: int, folds: bool = False) -> None:
        """Register operators that need the contents of the inputs at these positions for the sizes of their outputs.

        Where some are not known, the outputs are on the heap. With `folds`, the kernel runs when it is prepared where
        all inputs are known.
        """

        def storage(c: LiteRtContext) -> Storage:
            if any(c.has_input(position) and position not in c.known for position in positions):
                return "heap"
            return "read_only" if folds and c.is_all_known else "arena"

        self.outputs(*names)(storage)

    def shares(self, *names: str, inputs: Sequence[int] = (0,), copies: bool = True) -> None:
        """Register operators whose first output may use the memory of one of these inputs."""
        self._sharing.update({("", name): Sharing(tuple(inputs), copies) for name in names})

    def delegated(self, rule: DelegateRule) -> DelegateRule:
        """Register the decorated function as the rule for the calls that the default delegate runs."""
        self._delegated = rule
        return rule

    def runs(self, *names: str, roles: Sequence[BodyRole], dropped: DroppedRule | None = None) -> None:
        """Register operators that run subgraphs, how each (the last for all others), and outputs that are dropped."""
        self._roles.update({("", name): tuple(roles) for name in names})
        if dropped is not None:
            self._dropped.update({("", name): dropped for name in names})

    # -- lookups -----------------------------------------------------------------------------------------------------

    def find_temporaries(self, c: LiteRtContext) -> Sequence[Temporary]:
        """The temporaries of a call. Raises NotKnown, with the reason, for a kernel without a rule."""
        self._scratch.import_modules()
        rule = self._temporaries.get((c.op_def.domain, c.op_def.name))
        if rule is None:
            raise NotKnown(f"the temporaries of this kernel of {self.name} are not known")
        return self._apply(rule, c)

    def find_storage(self, c: LiteRtContext) -> Storage:
        """Where the outputs of a call are. Raises NotKnown where that depends on what is not known."""
        self._scratch.import_modules()
        rule = self._storage.get((c.op_def.domain, c.op_def.name))
        return "arena" if rule is None else self._apply(rule, c)

    def find_sharing(self, domain: str, op: str) -> Sharing:
        """The inputs whose memory the first output of an operator may use."""
        self._scratch.import_modules()
        return self._sharing.get((domain, op), NO_SHARING)

    def find_body_roles(self, domain: str, op: str, count: int) -> tuple[BodyRole, ...]:
        """How an operator runs each of its subgraphs."""
        self._scratch.import_modules()
        roles = self._roles.get((domain, op), (BodyRole(),))
        return tuple([roles[min(i, len(roles) - 1)] for i in range(count)])

    def is_delegated(self, c: LiteRtContext) -> bool:
        """Whether the default delegate runs a call, as far as that is known."""
        self._scratch.import_modules()
        try:
            return self._apply(self._delegated, c)
        except NotKnown:
            return False

    def find_dropped(self, c: LiteRtContext) -> Sequence[int]:
        """The positions of outputs that are not written where nothing reads them."""
        self._scratch.import_modules()
        rule = self._dropped.get((c.op_def.domain, c.op_def.name))
        return () if rule is None else [position for position in rule(c) if position < len(c.output_types)]


def _never(c: LiteRtContext) -> bool:
    return False


def _none(c: LiteRtContext) -> Sequence[Temporary]:
    return ()
