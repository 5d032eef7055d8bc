"""Write `tests/vectors/vectors.tar.xz`, the test vectors that a clone has, from a folder of conformance suites.

    python tools/make_vectors.py ../shared/conformance

The archive depends only on the names and contents of the files: the same folder gives the same bytes.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "tests" / "vectors" / "vectors.tar.xz"
SUITES = (
    *("findings", "findings3", "memory", "models", "nnef", "nnef_torch", "onnx", "passes", "pnnx"),
    *("runtime_memory", "tf", "tf_graphs", "xla"),
)
"""The suites that tests read."""
SKIPPED_SUFFIXES = (".md", ".py", ".sh")
"""Adapters of other tools and pages; no test reads them."""
SCORERS = ("score_tf.py",)
"""The programs that tests run."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    TARGET.parent.mkdir(exist_ok=True)
    with lzma.open(TARGET, "wb", preset=9) as stream, tarfile.open(fileobj=stream, mode="w") as archive:
        for path in files(folder):
            add(archive, path, str(path.relative_to(folder)))
    print(f"{TARGET.stat().st_size:,} bytes in {TARGET.name}")
    return 0


def files(folder: Path) -> Iterator[Path]:
    for suite in SUITES:
        paths = (path for path in (folder / suite).rglob("*") if path.is_file() and not path.is_symlink())
        yield from sorted(path for path in paths if path.suffix not in SKIPPED_SUFFIXES or path.name in SCORERS)


def add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    """Without the owner and the time of the file."""
    entry = tarfile.TarInfo(name)
    entry.size = path.stat().st_size
    entry.mode = 0o644
    with path.open("rb") as stream:
        archive.addfile(entry, stream)


if __name__ == "__main__":
    sys.exit(main())
