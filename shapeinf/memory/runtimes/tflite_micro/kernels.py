"""What the kernels of TensorFlow Lite Micro take from the arena; the rules are in `opdefs/tflite_micro`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs

from shapeinf.errors import NotKnown
from shapeinf.memory.runtimes.kernels import RuntimeKernels
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext


@attrs.frozen
class MicroNeeds:
    """The bytes that a node takes from the arena, on a machine with pointers of eight bytes.

    Args:
        options: its options.
        stored: blocks that its kernel keeps, in the order in which it takes them.
        scratch: buffers that it needs while it runs.
    """

    options: int = 0
    stored: Sequence[int] = ()
    scratch: Sequence[int] = ()


NeedsRule = Callable[[LiteRtContext], MicroNeeds]


class MicroKernels(RuntimeKernels):
    """The kernels of TensorFlow Lite Micro; also the decorator that registers their rules."""

    def __init__(self, name: str, alignment: int, modules: Iterable[str] = ()) -> None:
        """Without rules; arguments as for `RuntimeKernels`."""
        super().__init__(name, alignment, modules)
        self._needs: dict[tuple[str, str], NeedsRule] = {}

    def needs(self, *names: str, domain: str = "") -> Callable[[NeedsRule], NeedsRule]:
        """Register the decorated function as the rule of these operators."""

        def register(rule: NeedsRule) -> NeedsRule:
            self._needs.update({(domain, name): rule for name in names})
            return rule

        return register

    def always(self, *names: str, options: int = 0, stored: Sequence[int] = ()) -> None:
        """Register operators that need the same bytes in each call, and no scratch buffers."""
        self.needs(*names)(lambda c: MicroNeeds(options, tuple(stored)))

    def find_needs(self, c: LiteRtContext) -> MicroNeeds:
        """What a node takes from the arena. Raises NotKnown, with the reason, for an operator without a rule."""
        self._scratch.import_modules()
        rule = self._needs.get((c.op_def.domain, c.op_def.name))
        if rule is None:
            raise NotKnown(f"{self.name} was not measured with this operator, or has no kernel for it")
        return self._apply(rule, c)
