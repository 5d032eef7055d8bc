"""The files of the page: which Pyodide is accepted, equal sources are equal files, the policy; the command."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from shapeinf.cli.main import main
from shapeinf.errors import PageError
from shapeinf.page import pyodide
from shapeinf.page.bundle import bundle_packages
from shapeinf.page.files import FRAME_POLICY, content_policy, page_files, write_page

ROOT = Path(__file__).parents[2]


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small files in place of those of Pyodide, and their checksums."""
    folder = tmp_path / "pyodide"
    folder.mkdir()
    for name in pyodide.DIGESTS:
        (folder / name).write_text(name)
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in pyodide.DIGESTS}
    monkeypatch.setattr(pyodide, "DIGESTS", digests)
    return folder


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["page", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_the_command_writes_a_folder(tmp_path: Path, runtime: Path) -> None:
    site = tmp_path / "site"
    code, output = run("-o", site, "--pyodide", runtime)
    assert code == 0 and output.startswith(f"saved {site}: "), output
    manifest = json.loads(re.findall(r'id="manifest">(.*?)</script>', (site / "index.html").read_text())[0])
    for file in manifest["files"]:
        content = (site / file["name"]).read_bytes()
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        assert file == {"name": file["name"], "bytes": len(content), "integrity": f"sha256-{digest}"}
    first = {path.name: path.read_bytes() for path in site.iterdir()}
    assert run("-o", site, "--pyodide", runtime)[0] == 0  # an older page is replaced
    assert first == {path.name: path.read_bytes() for path in site.iterdir()}


def test_other_files_stay(tmp_path: Path, runtime: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "mine.txt").write_text("mine")
    assert run("-o", tmp_path / "site", "--pyodide", runtime)[0] == 3
    with pytest.raises(PageError, match=r"mine\.txt"):
        write_page(str(tmp_path / "site"), str(runtime))
    with pytest.raises(PageError, match="is not a folder"):
        write_page(str(runtime / "pyodide.mjs"), str(runtime))
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["mine.txt"]


def test_a_changed_runtime_is_refused(tmp_path: Path, runtime: Path) -> None:
    (runtime / "pyodide.asm.wasm").write_bytes(b"changed")
    with pytest.raises(PageError, match=f"is not the file of Pyodide {pyodide.VERSION}"):
        pyodide.read_pyodide(str(runtime))
    (runtime / "pyodide.asm.wasm").unlink()
    code, output = run("-o", tmp_path / "site", "--pyodide", runtime)
    assert code == 3 and f"npm install pyodide@{pyodide.VERSION}" in output
    assert not (tmp_path / "site").exists()
    assert run("--pyodide", runtime)[0] == 2


def test_the_packages_are_all_that_the_page_needs(tmp_path: Path) -> None:
    """In a process without any other package, also without the site packages of this one."""
    bundled = bundle_packages()
    with zipfile.ZipFile(io.BytesIO(bundled)) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert any("attrs" in name and name.endswith("LICENSE") for name in names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from shapeinf.page.session import PageSession\n"
        f"session = PageSession('/', '/none', print)\nsession.open({str(ROOT / 'examples' / 'convnet.onnx')!r})\n"
        "assert session.opened.result.coverage.known == 7\nassert 'Legal sizes' in session.report()\n"
        "foreign = {'numpy', 'onnx', 'islpy', 'ml_dtypes', 'networkx', 'rich', 'click'} & set(sys.modules)\n"
        "assert not foreign, foreign"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", script], check=True, capture_output=True, text=True)
    assert bundle_packages() == bundled


def test_the_policy_allows_own_files_only() -> None:
    assert "'unsafe-" not in content_policy() and "http" not in content_policy() and "*" not in content_policy()
    assert FRAME_POLICY.startswith("default-src 'none'") and "'self'" not in FRAME_POLICY


def test_texts_of_models_are_never_markup() -> None:
    page = page_files(dict.fromkeys(pyodide.DIGESTS, b""))
    scripts = page["page.js"] + page["worker.mjs"]
    assert not re.findall(rb"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval)\b", scripts)
    assert not re.findall(rb"https?://", scripts + page["index.html"] + page["page.css"])
