"""Operators on strings."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Ints


@onnx("StringConcat")
def string_concat(c: InferenceContext, a: Shape, b: Shape) -> Shape:
    """[*A], [*B] -> [*broadcast(A, B)]."""
    return c.broadcast(a, b)


@onnx("RegexFullMatch")
def regex_full_match(c: InferenceContext, x: Shape, *, pattern: str | None = None) -> TensorType:
    """[*S] -> [*S] bools."""
    return TensorType("bool", x)


@onnx("StringSplit")
def string_split(
    c: InferenceContext, x: Shape, *, delimiter: str = "", maxsplit: int | None = None
) -> tuple[TensorType, TensorType]:
    """[*S] -> the parts [*S, P] and their numbers [*S]; P is the largest of these."""
    high = None if maxsplit is None or maxsplit < 0 else maxsplit + 1
    parts = c.unknown_shape() if x.dims is None else Shape((*x.dims, c.fresh("parts", 0, high)))
    return TensorType("string", parts), TensorType("int64", x)


@onnx("StringNormalizer")
def string_normalizer(c: InferenceContext, x: Shape, *, stopwords: tuple[str, ...] = ()) -> Shape:
    """[C] -> [W] or [1, C] -> [1, W]: the remaining words, or one empty string if none remains."""
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
