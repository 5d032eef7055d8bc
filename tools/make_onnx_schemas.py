"""Write `opdefs/onnx/schemas.txt`: all versions of all operators of the installed `onnx`.

Run it after a new release of onnx, look at the difference, and give new operators a rule:

    python tools/make_onnx_schemas.py

`opdefs/onnx/schema_table.py` describes the table and reads it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

import onnx

from opdefs.onnx.installed import all_schemas, newest, op_def
from opdefs.onnx.schema_table import DEFAULT_DOMAIN, FILE, TypeSets, op_def_text
from shapeinf.ops import OpDef

OPDEFS = Path(__file__).resolve().parent.parent / "opdefs"


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    definitions = [op_def(s) for s in all_schemas()]
    versions = {domain: newest(domain) for domain in {d.domain for d in definitions}}
    write(OPDEFS / "onnx" / FILE, f"onnx {onnx.__version__}", versions, definitions)


def write(path: Path, source: str, versions: Mapping[str, int], definitions: Iterable[OpDef]) -> None:
    """Write a table: the newest version of each domain, then its operators by name and version."""
    ordered = sorted(definitions, key=lambda d: (d.domain, d.name, d.since))
    type_sets, lines = TypeSets(), []
    for domain, version in sorted(versions.items()):
        lines += ["", f"[{domain or DEFAULT_DOMAIN} {version}]"]
        for d in ordered:
            if d.domain == domain:
                lines.append(f"{d.name}{f'@{d.since}' if d.since > 1 else ''}\t{op_def_text(d, type_sets)}")
    head = [f"# The operators of {source}; see opdefs/onnx/schema_table.py.", "", *type_sets.lines()]
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    print(f"{len(ordered)} operators in {path}")


if __name__ == "__main__":
    main()
