"""Operators on strings."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import is_listable
from opdefs.rules.contents.text import join_texts, known_texts, split_text
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Ints, Operand, Value


@onnx("StringConcat")
def string_concat(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]."""
    return join_texts(c.broadcast(a.shape, b.shape), "", a, b)


@onnx("RegexFullMatch")
def regex_full_match(c: InferenceContext, x: Shape, *, pattern: str | None = None) -> TensorType:
    """[*S] -> [*S] bools."""
    return TensorType("bool", x)


@onnx("StringSplit")
def string_split(
    c: InferenceContext, x: Value, *, delimiter: str = "", maxsplit: int | None = None
) -> tuple[PartialTensor, PartialTensor]:
    """[*S] -> the parts [*S, P], completed by empty strings, and their numbers [*S]; P is the largest of these."""
    high = None if maxsplit is None or maxsplit < 0 else maxsplit + 1
    texts = known_texts(x)
    ambiguous = delimiter and texts is not None and "" in texts  # 0 parts in onnxruntime, 1 in the specification
    if texts is None or ambiguous or high is not None or x.shape.dims is None:
        parts = c.unknown_shape() if x.shape.dims is None else Shape((*x.shape.dims, c.fresh("parts", 0, high)))
        return PartialTensor("string", parts, None), PartialTensor("int64", x.shape, None)
    split = [split_text(text, delimiter) for text in texts]
    most = max(map(len, split), default=0)
    padded = [part for parts in split for part in (*parts, *[""] * (most - len(parts)))]
    shape = Shape((*x.shape.dims, most))
    return (
        PartialTensor("string", shape, padded if is_listable(shape) else None),
        PartialTensor("int64", x.shape, map(len, split)),
    )


@onnx("StringNormalizer")
def string_normalizer(
    c: InferenceContext, x: Value, *, stopwords: tuple[str, ...] = (), case_change_action: str = "NONE"
) -> PartialTensor:
    """[C] -> [W] or [1, C] -> [1, W]: the remaining words, or one empty string if none remains."""
    shape = _normalized_shape(c, x.shape, stopwords)
    unchanged = shape == x.shape and not stopwords and case_change_action == "NONE"
    return x if unchanged else PartialTensor("string", shape, None)


def _normalized_shape(c: InferenceContext, x: Shape, stopwords: tuple[str, ...]) -> Shape:
    """The shape of the words that remain."""
    if x.dims is None:
        return c.unknown_shape()
    if len(x.dims) not in (1, 2):
        c.fail("the input must be [C] or [1, C]", x)
    if len(x.dims) == 2:
        c.merge(x.dims[0], 1, "the input must be [C] or [1, C]")
    words = x.dims[-1]
    if not stopwords and c.prove_le(1, words) is True:
        return x
    high = c.interval(words).hi
    return Shape((*x.dims[:-1], c.fresh("words", 1, None if high is None else max(1, high))))


@onnx("TfIdfVectorizer")
def tf_idf_vectorizer(c: InferenceContext, x: Shape, *, ngram_indexes: Ints) -> TensorType:
    """[C] or [N, C] -> [1 + the largest index] or [N, 1 + the largest index]."""
    dims = x.require()
    if len(dims) not in (1, 2):
        c.fail("the input must be [C] or [N, C]", x)
    if not ngram_indexes or min(ngram_indexes) < 0:
        c.fail("ngram_indexes must have at least one item, and none may be negative", ngram_indexes)
    return TensorType("float32", Shape((*dims[:-1], 1 + max(ngram_indexes))))
