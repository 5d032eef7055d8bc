"""Checks of the names of dims: misspelled names, and one name for inputs of different sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from shapeinf.api import infer
from shapeinf.checks.checked_model import CheckedModel, dim_spec
from shapeinf.checks.operators import is_single_edit
from shapeinf.checks.registry import register_check
from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dimension
from shapeinf.formats.annotation import GENERATED
from shapeinf.inputs.options import InferenceOptions
from shapeinf.inputs.reader import SpecLike
from shapeinf.lattice import TensorType
from shapeinf.result import Result

_MIN_LETTERS = 5
"""Shorter words are not compared, since many of them are similar: `past` and `mask`, `seq` and `sep`."""

_MAX_LETTERS = 100
"""Longer names are not compared."""

_MAX_SIMILAR = 32
"""The most names that are compared of those that differ in one letter at the same position."""

_STEPS_PER_PAIR = 20
"""The steps of a budget for the comparison of two names."""


# -- C120 ----------------------------------------------------------------------------------------------------------


@register_check(
    "C120", "warning", "a name that is likely misspelled", "It resembles another name, or contains a blank."
)
def misspelled_names(model: CheckedModel) -> Iterator[Diagnostic]:
    """Names that differ by one typing error or by blanks, and names with a blank inside."""
    names = _declared_names(model)
    reported: set[str] = set()
    for first, second in similar_pairs(names):
        if not model.budget.take(_STEPS_PER_PAIR):
            break
        if is_misspelling(first, second) and not _are_different_sizes(model, first, second):
            reported.update((first, second))
            pair = f"{first!r} ({names[first]}) and {second!r} ({names[second]})"
            message = f"{pair} are likely one name, misspelled"
            yield Diagnostic("warning", "C120", message, tensor=_tensor_of_axis(names[second]))
    for name, axis in names.items():
        if name not in reported and re.search(r"\s_|_\s", name) and re.sub(r"\s+", "", name).isidentifier():
            plain = re.sub(r"\s+", "", name)
            message = f"{name!r} ({axis}) contains a blank: {plain!r} would be another name"
            yield Diagnostic("warning", "C120", message, tensor=_tensor_of_axis(axis))


def _tensor_of_axis(axis: str) -> str:
    return axis.rpartition(".shape[")[0]


def _declared_names(model: CheckedModel) -> dict[str, str]:
    """Names of dims, each with its first axis: of inputs, then of outputs, then of values inside the graph."""
    graph = model.graph
    names: dict[str, str] = {}
    for tensor in dict.fromkeys([*graph.inputs, *graph.outputs, *graph.declared]):
        declared = graph.declared.get(tensor)
        for axis, dim in enumerate((declared.dims or ()) if declared is not None else ()):
            if isinstance(dim, str) and dim and not GENERATED.fullmatch(dim):
                names.setdefault(dim, f"{tensor}.shape[{axis}]")
    return names


def _are_different_sizes(model: CheckedModel, first: str, second: str) -> bool:
    """Whether constraints prove that the two sizes differ."""
    scope, store = model.store.scope, model.store
    both = scope.has(first) and scope.has(second)
    return both and store.prove_eq(scope.symbol(first), scope.symbol(second)) is False


def similar_pairs(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of names that may differ by one edit, in the order of the names; a few other pairs may be among them.

    Names are grouped by the texts that remain without one letter, not compared in pairs: a model may have thousands.

    >>> list(similar_pairs(["batch", "seq", "batsh", "length", "bacth"]))
    [('batch', 'batsh'), ('batch', 'bacth'), ('batsh', 'bacth')]
    """
    listed = [name for name in names if len(name) <= _MAX_LETTERS and _consists_of_words(name)]
    sharing: dict[str, list[int]] = {}
    for position, name in enumerate(listed):
        for text in _texts_without_a_letter(name):
            sharing.setdefault(text, []).append(position)
    groups = (group[:_MAX_SIMILAR] for group in sharing.values() if len(group) > 1)
    pairs = {pair for group in groups for pair in combinations(group, 2)}
    return ((listed[first], listed[second]) for first, second in sorted(pairs))


def _texts_without_a_letter(name: str) -> set[str]:
    """A name, and its texts without one letter of a word; words with digits differ in no typing error."""
    plain, start = _plain(name), 0
    texts = {plain}
    for word in re.sub(r"\s+", "", name).lower().split("_"):
        if not any(map(str.isdigit, word)):
            texts.update(plain[:i] + plain[i + 1 :] for i in range(start, start + len(word)))
        start += len(word)
    return texts


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", "", name).lower()


def is_misspelling(a: str, b: str) -> bool:
    """Whether one of two names may be a misspelling of the other; False for words that are short or have digits.

    >>> is_misspelling("batch", "batsh"), is_misspelling("batch_size", "batch _size"), is_misspelling("seq", "seq2")
    (True, True, False)
    >>> is_misspelling("batch", "patch"), is_misspelling("token", "tokens"), is_misspelling("past_seq", "seq")
    (False, False, False)
    >>> is_misspelling("Concath_dim_1", "Concatc_dim_1")
    False
    """
    if not _consists_of_words(a) or not _consists_of_words(b):
        return False
    plain = [_plain(name) for name in (a, b)]
    if plain[0] == plain[1]:  # H and h, as N and n, are two sizes
        return a != b and len(plain[0]) >= _MIN_LETTERS
    words = [re.sub(r"\s+", "", name).lower().split("_") for name in (a, b)]
    if len(words[0]) != len(words[1]) or any(word.isdigit() for word in words[0]):
        return False  # numbered names are generated: Concath_dim_1, Concatc_dim_1
    different = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
    return len(different) == 1 and _is_typing_error(*different[0])


def _consists_of_words(name: str) -> bool:
    """Whether a name has only words, with blanks next to underscores; False for expressions and generated names."""
    return bool(re.fullmatch(r"[^\W\d](\w|\s(?=_)|(?<=_)\s)*", name))


def _is_typing_error(a: str, b: str) -> bool:
    """Whether one letter is added, removed or replaced, or two are exchanged; not the first letter, nor a final s."""
    if min(len(a), len(b)) < _MIN_LETTERS - 1 or max(len(a), len(b)) < _MIN_LETTERS or a[0] != b[0]:
        return False
    if any(c.isdigit() for c in a + b) or a + "s" == b or b + "s" == a:
        return False
    return is_single_edit(a, b)


# -- C104 ----------------------------------------------------------------------------------------------------------


@register_check("C104", "error", "one name of inputs that must have two values")
def conflicting_names(model: CheckedModel) -> Iterator[Diagnostic]:
    """Names that must have two values: the errors vanish in a what-if run that gives each axis its own name."""
    if not any(d.severity == "error" for d in model.result.diagnostics):
        return
    shared = {s for s in model.named_symbols if len(model.axes[s]) > 1}
    split = _infer_with_split_names(model, shared) if shared else None
    if split is None:
        return
    for symbol in sorted(shared, key=str):
        sizes: dict[int, tuple[str, str]] = {}
        for tensor, axis in model.axes[symbol]:
            own = _input_symbol(split, tensor, axis)
            size = own if own is None else split.engine.store.canon(own)
            if isinstance(size, int) and own is not None:
                sizes.setdefault(size, (f"{tensor}.shape[{axis}]", split.engine.store.sources[own].node))
        if len(sizes) > 1:
            required = ", but ".join(f"{axis} must be {size} ({node})" for size, (axis, node) in sizes.items())
            node = max((node for _, node in sizes.values()), key=lambda name: model.order.get(name, -1))
            message = f"{symbol} must have {len(sizes)} values: {required}"
            yield Diagnostic("error", "C104", message, node, model.op(node), help="give each axis its own name")


def _infer_with_split_names(model: CheckedModel, shared: set[Dimension]) -> Result | None:
    """The inference with a name for each axis of these symbols; None where it fails or has errors too."""
    inputs: dict[str, SpecLike] = {}
    for name, dims in model.input_dims.items():
        own = [f"`{name}.shape[{axis}]`" if dim in shared else "" for axis, dim in enumerate(dims)]
        inputs[name] = [axis_name or dim_spec(dim) for axis_name, dim in zip(own, dims, strict=True)]
    try:
        result = infer(model.graph, InferenceOptions(inputs=inputs, values=model.result.values, declared="check"))
    except ShapeInferenceError:
        return None
    return None if any(d.severity == "error" for d in result.diagnostics) else result


def _input_symbol(result: Result, tensor: str, axis: int) -> Dimension | None:
    input_type = result.engine.inference.input_types.get(tensor)
    if not isinstance(input_type, TensorType) or input_type.shape.dims is None:
        return None
    dim = input_type.shape.dims[axis]
    return dim if isinstance(dim, Dimension) and dim.is_symbol else None
