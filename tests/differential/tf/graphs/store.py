"""The recorded graphs: one archive with `FAMILY/NAME.pb`, a GraphDef, and `FAMILY/NAME.json`, its shapes.

The JSON has `bindings`, the sizes that the graph ran at, and `tensors`: [element type, dims] of each tensor by name. A
dim is an int where it is the same at all bindings, else a list with an item for each binding: an int, or [least, most]
where the dim varies with the data. Dims are null where the rank varies.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import attrs

ARCHIVE = Path(__file__).parent / "graphs.zip"
EPOCH = (1980, 1, 1, 0, 0, 0)


@attrs.frozen
class Record:
    """A graph, the bindings of its runs, and the types of its tensors."""

    model: bytes
    bindings: list
    tensors: dict


def names(archive=ARCHIVE):
    """The names of all recorded graphs."""
    with zipfile.ZipFile(archive) as file:
        return sorted(name.removesuffix(".pb") for name in file.namelist() if name.endswith(".pb"))


def read(name, archive=ARCHIVE):
    with zipfile.ZipFile(archive) as file:
        return Record(file.read(f"{name}.pb"), **json.loads(file.read(f"{name}.json")))


def write(records, archive=ARCHIVE):
    """Write all records; the same records are the same bytes."""
    with zipfile.ZipFile(archive, "w") as file:
        for name, record in sorted(records.items()):
            text = json.dumps({"bindings": record.bindings, "tensors": record.tensors}, separators=(",", ":"))
            for entry, contents in ((f"{name}.pb", record.model), (f"{name}.json", text.encode())):
                info = zipfile.ZipInfo(entry, EPOCH)
                file.writestr(info, contents, zipfile.ZIP_DEFLATED, compresslevel=9)
