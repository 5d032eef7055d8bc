"""Caches of keys and values as records and text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from shapeinf.errors import MissingSizeError, ShapeInferenceError
from shapeinf.memory import Memory
from shapeinf.memory.kv_cache import KvCache
from shapeinf.texts import exact_bytes, format_count, shorten_end, shorten_text

EXAMPLE_TOKENS = 4096
"""The tokens of the printed example where the number after a run is not known."""
MAX_FORMULA = 160
"""Characters of a formula in text; the JSON has all."""
MAX_NAME = 60


@attrs.frozen
class CachePairRecord:
    """An input and the longer output that it comes back as.

    Args:
        past: the input.
        present: the output.
        axis: the axis of the tokens.
    """

    past: str
    present: str
    axis: int


@attrs.frozen
class KvCacheRecord:
    """A cache of keys and values. Formulas are texts in the grammar of dims.

    Args:
        pairs: the inputs and outputs that hold the same tokens.
        past_tokens: the tokens in the inputs.
        tokens: the tokens in the outputs, after a run.
        bytes_per_token: the bytes that one token takes in all outputs.
        sizes: those of the dims of `bytes_per_token` for which `token_bytes` holds; 1 for a dim without a size.
        token_bytes: `bytes_per_token` at `sizes`; None where the model does not run with them.
        run_tokens: `tokens` at the user's sizes; None where some are missing.
        run_bytes: the bytes of all outputs at the user's sizes; None where some are missing.
        largest: the most tokens that fit into the memory limit, at `sizes` and with nothing else; None without a limit.
    """

    pairs: tuple[CachePairRecord, ...]
    past_tokens: str
    tokens: str
    bytes_per_token: str
    sizes: Mapping[str, int]
    token_bytes: int | None
    run_tokens: int | None
    run_bytes: int | None
    largest: int | None


def report_kv_caches(memory: Memory, sizes: Mapping[str, int], limit: int | None = None) -> tuple[KvCacheRecord, ...]:
    """The caches of a model, with numbers at the user's sizes."""
    return tuple([_record(cache, sizes, limit) for cache in memory.kv_caches])


def _record(cache: KvCache, sizes: Mapping[str, int], limit: int | None) -> KvCacheRecord:
    ones = dict.fromkeys(_missing(cache, sizes), 1)
    used = {name: size for name, size in sizes.items() if name in _missing(cache, {})} | ones
    token_bytes = run_tokens = None
    try:
        token_bytes = cache.at(1, {**sizes, **ones})
        run_tokens = cache.tokens_at(sizes)
    except ShapeInferenceError:
        pass  # a size is missing, or the model does not run with a size of 1
    known = token_bytes is not None and run_tokens is not None and not ones
    return KvCacheRecord(
        tuple([CachePairRecord(pair.past, pair.present, pair.axis) for pair in cache.pairs]),
        str(cache.past_tokens),
        str(cache.tokens),
        str(cache.bytes_per_token),
        used,
        token_bytes,
        run_tokens,
        (run_tokens or 0) * (token_bytes or 0) if known else None,
        limit // token_bytes if limit is not None and token_bytes else None,
    )


def _missing(cache: KvCache, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The dims of the bytes a token that have no size."""
    try:
        cache.at(1, sizes)
    except MissingSizeError as error:
        return tuple(error.names)
    except ShapeInferenceError:
        pass  # the caller's next query fails in the same way
    return ()


def kv_cache_lines(cache: KvCacheRecord) -> Iterator[str]:
    """The pairs with their formulas; then the numbers, if there are some."""
    first = cache.pairs[0]
    names = f"{shorten_text(first.past, MAX_NAME)} -> {shorten_text(first.present, MAX_NAME)}"
    pairs = f"{format_count(len(cache.pairs), 'pair')} ({names}{', ...' if len(cache.pairs) > 1 else ''})"
    yield f"{pairs}: {tokens_text(cache)} tokens, {shorten_end(cache.bytes_per_token, MAX_FORMULA)} bytes a token"
    numbers = numbers_text(cache)
    if numbers:
        yield f"  {numbers}"
    if cache.largest is not None:
        yield f"  the limit holds {format_count(cache.largest, 'token')}, with nothing else in memory"


def tokens_text(cache: KvCacheRecord) -> str:
    """The tokens before and after a run."""
    return f"{shorten_end(cache.past_tokens, MAX_FORMULA)} -> {shorten_end(cache.tokens, MAX_FORMULA)}"


def numbers_text(cache: KvCacheRecord) -> str:
    """The bytes of a token and of those after a run, or of an example; empty without a number."""
    if cache.token_bytes is None:
        return ""
    tokens = EXAMPLE_TOKENS if cache.run_tokens is None else cache.run_tokens
    sizes = ", ".join(f"{name}={size}" for name, size in cache.sizes.items())
    amount = f"{format_count(tokens, 'token')}: {exact_bytes(tokens * cache.token_bytes)}"
    return f"{sizes or 'always'}: {exact_bytes(cache.token_bytes)} a token; {amount}"
