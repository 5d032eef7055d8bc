"""Entry points of installed packages: those that `importlib.metadata` reads."""

from __future__ import annotations

import sys
import zipfile
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from shapeinf.ops import entry_points
from shapeinf.ops.entry_points import InstalledEntryPoint, installed_entry_points

GROUP = "acme.plugins"
TEXT = f"""
[other]
x = os:sep
# a comment
[{GROUP}]
first = os.path:join
second.part=os.path : sep [extra]

# another one
third = json
[console_scripts]
y = os:sep
"""


def write_package(root: Path, folder: str, text: str | None) -> None:
    (root / folder).mkdir(parents=True)
    name, _, version = folder.rpartition(".")[0].partition("-")
    (root / folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if text is not None:
        (root / folder / "entry_points.txt").write_text(text)


def records(group: str) -> list[tuple[str, str, str]]:
    """The installed entry points: name, object, package."""
    return sorted((e.name, e.value, f"{e.dist.name} {e.dist.version}") for e in installed_entry_points(group))


def expected(group: str) -> list[tuple[str, str, str]]:
    return sorted((e.name, e.value, f"{e.dist.name} {e.dist.version}") for e in metadata.entry_points(group=group))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_all_groups_of_this_environment_are_the_same() -> None:
    groups = metadata.entry_points().groups
    assert groups
    assert {group: records(group) for group in groups} == {group: expected(group) for group in groups}


@pytest.mark.parametrize("folder", ["acme-1.0.dist-info", "acme-1.0.egg-info", "Acme_Shapes-2.DIST-INFO"])
def test_lines_of_a_file(site: Path, folder: str) -> None:
    write_package(site, folder, TEXT)
    assert [name for name, _, _ in records(GROUP)] == ["first", "second.part", "third"]
    assert records(GROUP) == expected(GROUP)
    assert [e.load() for e in installed_entry_points(GROUP)] == [e.load() for e in metadata.entry_points(group=GROUP)]


def test_the_first_of_two_versions_counts(site: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    later = tmp_path_factory.mktemp("later")
    write_package(site, "acme_shapes-2.0.dist-info", f"[{GROUP}]\nnew = os:sep\n")
    write_package(later, "acme.shapes-1.0.dist-info", f"[{GROUP}]\nold = os:sep\n")
    sys.path.append(str(later))
    assert [name for name, _, _ in records(GROUP)] == ["new"]
    assert records(GROUP) == expected(GROUP)


def test_packages_without_entry_points_and_folders_that_do_not_exist(site: Path) -> None:
    write_package(site, "acme-1.0.dist-info", None)
    sys.path.insert(0, str(site / "missing"))
    assert records(GROUP) == expected(GROUP) == []


def test_archives_are_left_to_importlib(site: Path) -> None:
    with zipfile.ZipFile(site / "acme.zip", "w") as archive:
        archive.writestr("acme-1.0.dist-info/METADATA", "Name: acme\nVersion: 1.0\n")
        archive.writestr("acme-1.0.dist-info/entry_points.txt", f"[{GROUP}]\nx = os:sep\n")
    sys.path.insert(0, str(site / "acme.zip"))
    assert records(GROUP) == expected(GROUP) == [("x", "os:sep", "acme 1.0")]


def test_importers_with_packages_of_their_own_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Importer:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            return None

        @staticmethod
        def find_distributions(context: object) -> list[object]:
            return []

    monkeypatch.setattr(sys, "meta_path", [PathFinder])  # other tests may have imported packages that add some
    assert entry_points._folders(sys.path) is not None
    monkeypatch.setattr(sys, "meta_path", [PathFinder, Importer])
    assert entry_points._folders(sys.path) is None


@pytest.mark.parametrize(("value", "error"), [("os:no_such_name", AttributeError), ("no_such_module", ImportError)])
def test_an_object_that_is_not_there(value: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        InstalledEntryPoint("x", value, "").load()
