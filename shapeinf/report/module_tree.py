"""The tensors of a model as a tree of modules, which are parts of the names of its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from shapeinf.graph.modules import module_path
from shapeinf.report.model import TensorRecord
from shapeinf.report.text import tensor_cells
from shapeinf.texts import format_count

MAX_DEPTH = 64
"""The parts of a path that are read."""
MAX_OPERATORS = 3
"""Operators of a module that are listed, the most frequent first."""

Row = tuple[str, ...]


class _Module:
    """A module: its modules and tensors in the order of the graph, and totals over all tensors inside of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.modules: dict[str, _Module] = {}
        self.items: list[_Module | TensorRecord] = []
        self.count = 0
        self.operators: Counter[str] = Counter()
        self.last: TensorRecord | None = None

    def add(self, tensor: TensorRecord) -> None:
        """Count a tensor of this module, or of one inside of it."""
        self.count += 1
        self.operators[tensor.producer] += 1
        if tensor.node or self.last is None:
            self.last = tensor

    def child(self, name: str) -> _Module:
        """The module of a name inside of this one."""
        if name not in self.modules:
            self.modules[name] = _Module(f"{self.name}{name}/")
            self.items.append(self.modules[name])
        return self.modules[name]


def module_rows(tensors: Iterable[TensorRecord], depth: int, values: bool = False) -> Iterator[Row]:
    """The cells of `tensor_columns`: a row for each module and tensor, with modules below `depth` collapsed.

    A module has the number of its tensors, its operators, and the type of the last tensor that a node computes. One
    with a single tensor is that tensor; modules with nothing but one module are one row.
    """
    root = _Module("")
    for tensor in tensors:
        module = root
        for part in module_path(tensor.node or (tensor.name if tensor.inner else ""))[:MAX_DEPTH]:
            module = module.child(part)
            module.add(tensor)
        module.items.append(tensor)
    return _rows(root, depth, 0, values)


def _rows(module: _Module, depth: int, level: int, values: bool) -> Iterator[Row]:
    for item in module.items:
        while isinstance(item, _Module) and len(item.items) == 1:
            item = item.items[0]
        if isinstance(item, TensorRecord):
            for name, *cells in tensor_cells([item], values):
                yield "  " * level + _short(name, module), *cells
        else:
            yield _module_row(item, item.name[len(module.name) :], level, values)
            if level + 1 < depth:
                yield from _rows(item, depth, level + 1, values)


def _short(name: str, module: _Module) -> str:
    """The name of a tensor without the path of the module that it is listed in."""
    return name.lstrip("/").removeprefix(module.name) if module.name else name


def _module_row(module: _Module, name: str, level: int, values: bool) -> Row:
    frequent = module.operators.most_common(MAX_OPERATORS)
    listed = [op if count == 1 else f"{op} x{count}" for op, count in frequent]
    more = len(module.operators) - len(frequent)
    operators = ", ".join(listed) + (f", {more} more" if more else "")
    assert module.last is not None
    (_, *cells), *_ = tensor_cells([module.last], values)
    return f"{'  ' * level}{name}  {format_count(module.count, 'tensor')}", *cells[:-1], operators
