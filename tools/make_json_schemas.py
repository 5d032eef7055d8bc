"""Write `shapeinf/schemas/*.json`: the JSON Schemas of all JSON, made from the classes of the records.

Run it after a change of a record:

    python tools/make_json_schemas.py

With `--check` it writes nothing, prints the difference between the files and the records, and fails if there is one.
Descriptions are those of the docstrings: of a class, of its `Args`, and of properties that are keys.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import inspect
import json
import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from shapeinf.schemas import CONVERTERS, FORMS, JsonSchema, json_keys

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "shapeinf" / "schemas"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
WIDTH = 118
"""Characters of a line that holds an entire object or list."""

_DECORATED = re.compile(r"^@json_record\(", re.MULTILINE)
_ARGUMENT = re.compile(r"^(\w+(?:, \w+)*): ", re.MULTILINE)


def documents() -> dict[str, type]:
    """The classes whose JSON is a document, by the name of its schema."""
    for path in sorted((ROOT / "shapeinf").rglob("*.py")):
        if _DECORATED.search(path.read_text(encoding="utf-8")):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    named = {form.schema: cls for cls, form in FORMS.items() if form.schema.startswith("shapeinf.")}
    return dict(sorted(named.items()))


def json_words(text: str) -> str:
    """A text of a docstring on one line, with the constants of JSON instead of those of Python."""
    for constant in (None, True, False):
        text = re.sub(rf"\b{constant}\b", json.dumps(constant), text)
    return " ".join(text.split())


def class_text(cls: type) -> str:
    """The first paragraph of the docstring of a class."""
    return json_words((inspect.getdoc(cls) or "").partition("\n\n")[0])


def field_texts(cls: type) -> dict[str, str]:
    """The descriptions of fields: the entries of `Args` in the docstrings of the class and its bases."""
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        section = inspect.cleandoc(base.__doc__ or "").partition("\nArgs:\n")[2].partition("\n\n")[0]
        _, *parts = _ARGUMENT.split(inspect.cleandoc(f"\n{section}"))
        for names, text in zip(parts[::2], parts[1::2], strict=True):
            texts |= dict.fromkeys(names.split(", "), json_words(text).removesuffix("."))
    return texts


class SchemaMaker:
    """The schema of one document, with the definitions of the records that it has."""

    def __init__(self) -> None:
        """Begin without definitions."""
        self.definitions: dict[str, JsonSchema] = {}

    def document(self, name: str, cls: type) -> JsonSchema:
        """The schema of a document."""
        schema = self.record(cls, {"schema": {"const": name}})
        definitions = {"$defs": dict(sorted(self.definitions.items()))} if self.definitions else {}
        return {"$schema": DRAFT, "title": name, **schema, **definitions}

    def record(self, cls: type, first: Mapping[str, JsonSchema] | None = None) -> JsonSchema:
        """The schema of the object of a record."""
        hints, texts = get_type_hints(cls), field_texts(cls)
        keys = hints if is_typeddict(cls) else json_keys(cls) or ()
        properties = dict(first or {})
        for key in keys:
            hint = hints.get(key)
            if hint is None:
                read = inspect.getattr_static(cls, key)
                function = getattr(read, "fget", None) or read.function
                hint = get_type_hints(function)["return"]
                text = json_words((function.__doc__ or "").partition("\n\n")[0]).removesuffix(".")
                texts[key] = text[:1].lower() + text[1:]
            properties[key] = {**self.value(hint), **({"description": texts[key]} if texts.get(key) else {})}
        return {
            "description": class_text(cls),
            "type": "object",
            "required": list(properties),
            "properties": properties,
        }

    def value(self, hint: Any) -> JsonSchema:
        """The schema of the values of a type."""
        if hint in PLAIN:
            return {"type": PLAIN[hint]}
        if hint in CONVERTERS:
            return CONVERTERS[hint].schema
        if hint is Any or hint is object:
            return {}
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, types.UnionType):
            return self.union([self.value(item) for item in arguments])
        if is_typeddict(hint) or (isinstance(hint, type) and origin is None and json_keys(hint) is not None):
            return self.reference(hint)
        assert isinstance(origin, type), f"{hint} has no schema"
        if issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.value(arguments[1])}
        if issubclass(origin, Iterable):
            return {"type": "array", "items": self.value(arguments[0])}
        raise TypeError(f"{hint} has no schema")

    def reference(self, cls: type) -> JsonSchema:
        """The reference to a record, which gets its definition once."""
        if cls.__name__ not in self.definitions:
            self.definitions[cls.__name__] = {}
            self.definitions[cls.__name__] = self.record(cls)
        return {"$ref": f"#/$defs/{cls.__name__}"}

    def union(self, options: list[JsonSchema]) -> JsonSchema:
        """The schema of values that are of one of several types: a list of names where all are plain."""
        if all(option.keys() == {"type"} for option in options):
            return {"type": list(dict.fromkeys(option["type"] for option in options))}
        return {"anyOf": options}


def json_lines(value: object, indent: str = "") -> str:
    """JSON with each object and list that fits on a line on one."""
    text = json.dumps(value)
    if len(indent) + len(text) <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return text
    inner = f"{indent}  "
    if isinstance(value, dict):
        items = [f"{inner}{json.dumps(key)}: {json_lines(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{inner}{json_lines(item, inner)}" for item in value) + f"\n{indent}]"


def schema_texts() -> Iterator[tuple[Path, str]]:
    """The file and the text of each schema."""
    for name, cls in documents().items():
        file = FOLDER / f"{name.removeprefix('shapeinf.').replace('/', '-')}.json"
        yield file, f"{json_lines(SchemaMaker().document(name, cls))}\n"


def main() -> None:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file differs")
    check = parser.parse_args().check
    texts = dict(schema_texts())
    differences = []
    for file in sorted({*FOLDER.glob("*.json"), *texts}):
        before, after = file.read_text(encoding="utf-8") if file.exists() else "", texts.get(file, "")
        differences += difflib.unified_diff(before.splitlines(), after.splitlines(), file.name, file.name, lineterm="")
        if not check and after:
            file.write_text(after, encoding="utf-8")
        elif not check:
            file.unlink()
    print("\n".join(differences) if check else f"{len(texts)} schemas")
    sys.exit(bool(check and differences))


if __name__ == "__main__":
    main()
