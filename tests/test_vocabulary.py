"""The source speaks the field's language: neither names nor sentences have words of the private dialect it once had."""

from __future__ import annotations

import ast
import functools
import io
import json
import keyword
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for package in ("shapeinf", "opdefs") for path in (ROOT / package).rglob("*.py"))

# What to write, and the private words that it replaces; docs/glossary.md says what each term means.
REPLACEMENTS = {
    "constraint, source": "blame blamed demand demanded demands fact facts law laws tell telling tells told",
    "pending, stored": "kept",
    "diagnostic, check": "believer doubt doubts finding findings look looks remark remarks",
    "requested, query, user value": "asked asking given meant wish wishes",
    "result, or the noun": "found made one ones",
    "index, location, subject": "place places what who whole whom nobody somebody",
    "text, display": "said say says shown",
    "producer, consumer, builder": "beside maker makers taker takers",
    "type_only, with_contents": "bare",
    "redundant": "useless",
    "what-if run": "trial trials",
    "conflicting, over-constrained, merged": "pinned torn united",
    "program point, event, overlap, live range": ("happening happenings life lives meeting meetings moment moments"),
    "widening, undo log": "growth growths journal news",
    "congruence, witness": "feasible residue residues",
    "node name, join point": "site sites",
    "outline": "skeleton skeletons",
    "assume": "presume presumed presumes",
    "American spelling": (
        "analyse behaviour cancelled centre colour favour grey initialise initialised labelled neighbour neighbours"
        " normalise normalised optimise organise recognise recognised serialise serialised summarise travelled"
    ),
}
INSTEAD = {word: term for term, words in REPLACEMENTS.items() for word in words.split()}

# Terms of the field, of numpy (`ones`) and of Python's files (`tell`) that contain such a word.
TERMS = re.compile(
    r"one_?hot\w*|\w*in_?place\w*|\w*placeholder\w*|\w*what_?if\w*|\w*not_?found\w*|ones|tell",
    re.IGNORECASE,
)

# Words with a plain meaning in identifiers, of which a key has another: skipped, observed, change; a budget is steps of
# work, and an amount of memory is a limit.
PRIVATE_KEYS = {"left", "real", "how", "budget"}
SCHEMAS = sorted((ROOT / "shapeinf" / "schemas").glob("*.json"))

# In sentences, more of these words have a plain meaning ("on demand", "a warning says so").
PRIVATE_PROSE = re.compile(
    r"\b(told|tells|asked|asks|said|says(?! so)|nobody|somebody|whom|demanded|demands|doubts?|beside|meant|makers?"
    r"|takers?|torn|united|happenings?|residues?|skeletons?|presum\w+|left (?:out|alone|over|unchanged)"
    r"|(?<!call )sites?(?= of | is | has ))\b",
    re.IGNORECASE,
)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)

PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def identifiers(source: str) -> Iterator[tuple[int, str]]:
    """Every name in the code with its line; no strings, comments or keywords."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
            yield token.start[0], token.string


def remainders(source: str) -> list[str]:
    """The variables named `left` in a definition without a `right`: what remains is meant, not a side.

    A parameter `left` that is a bool is a side: torch has it.
    """
    bad: set[str] = set()
    for definition in ast.parse(source).body:
        nodes = list(ast.walk(definition))
        names = {str(getattr(node, field, "")) for node in nodes for field in ("id", "attr", "arg", "name")}
        flags = [node for node in nodes if isinstance(node, ast.arg) and ast.unparse(node) == "left: bool"]
        if not flags and not any("right" in name or "shift" in name for name in names):
            bad |= {node.id for node in nodes if isinstance(node, ast.Name) and "left" in PARTS.findall(node.id)}
    return sorted(bad - {"bisect_left", "fold_left"})


@functools.cache
def private_words(name: str) -> set[str]:
    return set() if TERMS.fullmatch(name) else {part.lower() for part in PARTS.findall(name)} & INSTEAD.keys()


def violations(paths: Iterable[Path], find: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """What a function finds in the text of each of these files, without the files in which it finds nothing."""
    return {str(path.relative_to(ROOT)): items for path in paths if (items := find(path.read_text(encoding="utf-8")))}


def private_identifiers(source: str) -> list[str]:
    return [
        f"line {line}: {name} (use: {INSTEAD[word]})"
        for line, name in identifiers(source)
        for word in private_words(name)
    ]


def test_identifiers_use_the_words_of_the_field() -> None:
    assert not violations(SOURCES, private_identifiers)


def test_what_remains_is_not_named_left() -> None:
    assert not violations(SOURCES, remainders)


def test_left_is_a_side() -> None:
    assert remainders("def f(left, right):\n    return left\n") == []
    assert remainders("left = 3\n") == ["left"]
    assert remainders("def f(*, left: bool):\n    return g(left=left)\n") == []
    assert remainders("def f(items):\n    return [left_out for left_out in items]\n") == ["left_out"]
    assert remainders("def f(node):\n    return node.left\n") == []


def keys(schema: object) -> Iterator[str]:
    """The names of all properties in a JSON Schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        schema = list(schema.values())
    if isinstance(schema, list):
        yield from (key for part in schema for key in keys(part))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_keys_of_json_use_the_words_of_the_field(path: Path) -> None:
    names = set(keys(json.loads(path.read_text(encoding="utf-8"))))
    assert len(names) > 3
    assert not {name for name in names if private_words(name) or name in PRIVATE_KEYS}


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """The lines of comments, docstrings and texts; a text without a space is a key or a name."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING) and " " in token.string:
            yield from enumerate(token.string.splitlines(), token.start[0])


def private_prose(lines: Iterable[tuple[int, str]]) -> list[str]:
    return [f"line {line}: {text.strip()}" for line, text in lines if PRIVATE_PROSE.search(text)]


def test_sentences_use_the_words_of_the_field() -> None:
    assert not violations(SOURCES, lambda source: private_prose(sentences(source)))


def test_pages_use_the_words_of_the_field() -> None:
    def find(page: str) -> list[str]:
        prose = FENCE.sub(lambda block: "\n" * block[0].count("\n"), page)
        return private_prose(enumerate(prose.splitlines(), 1))

    assert not violations(PAGES, find)


@pytest.mark.parametrize(
    ("text", "is_private"),
    [
        ("# the size that nobody knows", True),
        ("'the file says 3'", True),
        ("'a warning says so'", False),
        ("'computed on demand'", False),
        ("'said'", False),
        ("# small sums are left out", True),
        ("# the left side of an assignment", False),
        ("# an unknown of a site is unique", True),
        ("# a body for each call site, with its symbols", False),
    ],
)
def test_a_private_word_in_a_sentence(text: str, is_private: bool) -> None:
    assert bool(private_prose(sentences(text))) == is_private


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("_sizes_found", {"found"}),
        ("PlanFinding", {"finding"}),
        ("one_hot", set()),
        ("in_place", set()),
        ("foundation", set()),
    ],
)
def test_a_private_word_is_a_part_of_a_name(name: str, words: set[str]) -> None:
    assert private_words(name) == words
