"""What an installation takes: the bytes and the time of shapeinf alone, and with extras, each in a new environment.

    python tools/bench/install.py [--extras onnx,proofs,all] [--save-figures]

Bytes are those of the files in the environment's folder of packages, with the bytecode that pip compiles, without pip
and setuptools. The time is that of `pip install`, which builds the wheel and downloads what is not in its cache.
`--save-figures` replaces the section of `docs/figures.json`, of which `figures.py` makes the table of docs/install.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import figures

EXTRAS = ("", "onnx", "proofs", "all")
TOOLS = ("_distutils_hack", "distutils-precedence.pth", "pip", "pkg_resources", "setuptools")
OWN = ("opdefs", "shapeinf")
"""The packages of this repository."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", default=",".join(EXTRAS), help="the extras; none stands for shapeinf alone")
    parser.add_argument("--save-figures", action="store_true", help="save the rows into docs/figures.json")
    options = parser.parse_args()
    rows = []
    for extra in options.extras.split(","):
        row = measure(extra)
        print({**row, "packages": dict(Counter(row["packages"]).most_common(12))})
        rows.append(row)
    if options.save_figures:
        figures.save("install", rows, platform=sys.platform)


def measure(extra: str) -> dict[str, Any]:
    """Seconds, and bytes by package, of one installation in a new environment."""
    name = f"shapeinf[{extra}]" if extra else "shapeinf"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        target = f"{figures.ROOT}[{extra}]" if extra else str(figures.ROOT)
        start = time.perf_counter()
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", target]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        site = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        return {"name": name, "seconds": round(seconds, 1), "packages": package_bytes(Path(site))}


def package_bytes(site: Path) -> dict[str, int]:
    """The bytes of each top-level package; its metadata and its libraries (`numpy.libs`) count with it."""
    sizes: Counter[str] = Counter()
    for path in site.rglob("*"):
        top = path.relative_to(site).parts[0]
        name = top.partition(".")[0].partition("-")[0].lower()
        if path.is_file() and not path.is_symlink() and name not in TOOLS and top not in TOOLS:
            sizes["shapeinf" if name in OWN else name] += path.stat().st_size
    return dict(sorted(sizes.items()))


if __name__ == "__main__":
    main()
