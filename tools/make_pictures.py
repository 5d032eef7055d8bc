"""Make the pictures of the docs: what commands print, as SVG, and the report in a browser, as PNG.

    python tools/make_pictures.py [--browser chromium]

The commands run on the examples, from the root of the repository. Without a browser only the SVG files are made.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
COLUMNS = 104

TERMINAL = {
    "summary": "shapeinf summary examples/decoder.onnx --bind batch=1,seq=128",
    "infer": "shapeinf infer examples/convnet.onnx --dim batch=1..8",
    "error": "shapeinf infer examples/convnet.onnx --bind height=7 --outputs",
    "cost": "shapeinf cost examples/convnet.onnx --bind batch=1,height=256,width=256",
}
"""The commands whose output is drawn, by the name of the picture."""

VIEWS = {"report": (1200, 900, False), "report-dark": (1200, 900, True), "report-phone": (390, 844, False)}
"""Width, height and colors of the pictures of the report."""

FONT_FACES = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)


def draw_terminal(command: str) -> str:
    """What a command prints, as SVG; the fonts are those of the reader, since a picture must not load anything."""
    variables = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", *command.split()]
    done = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {command}", style="bold"))
    console.print(Text.from_ansi(done.stdout.rstrip()))
    code_format = FONT_FACES.sub("", CONSOLE_SVG_FORMAT)
    return console.export_svg(title="shapeinf", code_format=code_format, unique_id=command.split()[1])


def draw_report(browser: str, folder: Path) -> None:
    """Pictures of the report of the decoder."""
    page = folder / "report.html"
    command = "-m shapeinf report examples/decoder.onnx --bind batch=4,seq=128 -o"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, *command.split(), str(page)], cwd=ROOT, env=environment, check=True)
    for name, (width, height, dark) in VIEWS.items():
        flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--window-size={width},{height}",
        ]
        if dark:
            flags += ["--blink-settings=preferredColorScheme=0"]
        picture = PICTURES / f"{name}.png"
        subprocess.run([browser, *flags, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True)


def main() -> None:
    """Write all pictures."""
    parser = argparse.ArgumentParser(description="Make the pictures of the docs.")
    parser.add_argument("--browser", default="chromium", help="a browser of the family of Chromium")
    browser = shutil.which(parser.parse_args().browser)
    PICTURES.mkdir(exist_ok=True)
    for name, command in TERMINAL.items():
        (PICTURES / f"{name}.svg").write_text(draw_terminal(command), encoding="utf-8")
    if browser is None:
        sys.exit("no browser: the pictures of the report are not made")
    with tempfile.TemporaryDirectory() as folder:
        draw_report(browser, Path(folder))
    print(f"pictures in {PICTURES}")


if __name__ == "__main__":
    main()
