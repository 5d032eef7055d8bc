"""Folders and archives of models: what is found in them, and what hostile ones are refused for."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import tarfile

import nnef
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats.nnef.files import archive as archives
from shapeinf.formats.nnef.files import stream
from shapeinf.formats.nnef.files.archive import Folder, read_archive
from shapeinf.formats.nnef.files.dat import MAX_HEADER, read_header
from shapeinf.formats.nnef.files.source import has_nnef_name, is_document, is_nnef, locate

TEXT = b"version 1.0;\ngraph g( x ) -> ( y ) { x = external(shape = [1]); y = relu(x); }\n"


def member(name, data=b"", kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(data), kind, link
    return info, io.BytesIO(data)


def packed(*members, mode="w:gz", form=tarfile.PAX_FORMAT):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode, format=form) as archive:
        for info, data in members:
            archive.addfile(info, data)
    return stream.getvalue()


@pytest.mark.parametrize("mode", ["w:gz", "w"])
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("folder", ["", "./", "model/", "./a/b/"])
def test_what_is_kept(mode, form, folder):
    long = "block/" * 14 + "w.dat"
    data = packed(
        member(folder or ".", kind=tarfile.DIRTYPE),
        member(f"{folder}graph.nnef", TEXT),
        member(f"{folder}graph.quant", b""),
        member(f"{folder}README.md", b"skipped"),
        member(f"{folder}empty.dat"),
        member(f"{folder}{long}", b"s" * 600),
        member(f"{folder}large.dat", b"l" * 3_000_000),
        mode=mode,
        form=form,
    )
    found = read_archive(data)
    assert set(found.kept) == {"graph.nnef", "graph.quant", "empty.dat", "large.dat", long}
    assert found.text("graph.nnef") == TEXT.decode()
    assert found.text("other.nnef") is None and found.entry("other.dat") is None
    large = found.entry("large.dat")
    assert (large.size, len(large.head)) == (3_000_000, MAX_HEADER)
    assert found.entry(long).read() == b"s" * 600
    assert locate(data).document.text == TEXT.decode()


def test_tensors_that_the_nnef_package_writes(tmp_path):
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    os.mkdir(tmp_path / "a")
    with open(tmp_path / "a" / "w.dat", "wb") as file:
        nnef.write_tensor(file, array)
    (tmp_path / "graph.nnef").write_bytes(TEXT)
    with tarfile.open(tmp_path / "m.tgz", "w:gz") as archive:
        archive.add(tmp_path / "a" / "w.dat", "a/w.dat")
        archive.add(tmp_path / "graph.nnef", "graph.nnef")
    for files in (Folder(str(tmp_path)), read_archive(str(tmp_path / "m.tgz"))):
        entry = files.entry("a/w.dat")
        assert read_header(entry.head, entry.size, "w").dims == (3, 4)
        assert entry.read().endswith(array.tobytes())


@pytest.mark.parametrize(
    ("bad", "law"),
    [
        (member("../w.dat"), "outside"),
        (member("/etc/w.dat"), "outside"),
        (member("a/../../w.dat"), "outside"),
        (member("a//w.dat"), "outside"),
        (member("w.dat", kind=tarfile.SYMTYPE, link="/etc/passwd"), "no regular file"),
        (member("w.dat", kind=tarfile.LNKTYPE, link="graph.nnef"), "no regular file"),
        (member("w.dat", kind=tarfile.CHRTYPE), "no regular file"),
        (member("w.dat", kind=tarfile.BLKTYPE), "no regular file"),
        (member("w.dat", kind=tarfile.FIFOTYPE), "no regular file"),
        (member("graph.nnef", TEXT), "twice"),
    ],
)
def test_members_that_no_model_has(bad, law):
    with pytest.raises(ModelError, match=law):
        read_archive(packed(member("graph.nnef", TEXT), bad))


def test_an_archive_has_one_document():
    for members in ((), (member("w.dat"),), (member("a.nnef", TEXT), member("b.nnef", TEXT))):
        with pytest.raises(UnknownFormatError, match="one document"):
            locate(packed(*members))


GOOD = packed(member("graph.nnef", TEXT * 300), member("w.dat", bytes(range(256)) * 99))


NO_ARCHIVES = {
    "empty": b"",
    "text": b"abc",
    "two bytes": b"\x1f\x8b",
    "head": GOOD[:12],
    "first part": GOOD[:200],
    "junk inside": GOOD[:40] + b"??" + GOOD[42:],
    "document": TEXT,
}


# The names are ours: a name made of the bytes would hold the time of packing, and differ from worker to worker.
@pytest.mark.parametrize("data", NO_ARCHIVES.values(), ids=NO_ARCHIVES)
def test_what_is_no_archive(data):
    with pytest.raises(ModelError):
        read_archive(data)


@given(st.integers(0, len(gzip.decompress(GOOD)) - 1), st.binary(min_size=1, max_size=8))
def test_damaged_archives(at, junk):
    plain = gzip.decompress(GOOD)
    with contextlib.suppress(ModelError):
        read_archive(plain[:at] + junk + plain[at + len(junk) :])


def test_sizes_that_headers_claim():
    info = tarfile.TarInfo("w.dat")
    info.size = 1 << 40
    with pytest.raises(ModelError, match="cut off"):
        read_archive(info.tobuf() + TEXT)
    for kind in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE):
        info.type, info.size = kind, 1 << 32
        with pytest.raises(LimitError):
            read_archive(info.tobuf() + b"\0" * 1024)


def test_names_of_names_of_names():
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 10
    with pytest.raises(ModelError):
        read_archive((info.tobuf() + b"a" * 512) * 5000)


def test_archives_that_grow(monkeypatch):
    monkeypatch.setattr(stream, "FREE_SIZE", 1 << 20)
    zeros = bytes(30 << 20)
    with pytest.raises(LimitError, match="becomes larger"):
        read_archive(packed(member("w.dat", zeros)))
    assert read_archive(packed(member("w.dat", zeros), mode="w")).entry("w.dat").size == 30 << 20


def test_archives_of_many_files(monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBERS", 10)
    many = [member(f"{i}.dat") for i in range(11)]
    with pytest.raises(LimitError, match="more than 10 files"):
        read_archive(packed(*many))
    assert len(read_archive(packed(*many[:10])).kept) == 10


def test_texts_that_are_too_long(monkeypatch, tmp_path):
    monkeypatch.setattr(archives, "MAX_TEXT", 1000)
    (tmp_path / "graph.nnef").write_bytes(TEXT * 100)
    for model in (packed(member("graph.nnef", TEXT * 100)), tmp_path):
        with pytest.raises(LimitError):
            locate(model)


def test_nothing_outside_of_a_folder_is_opened(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (tmp_path / "secret.dat").write_bytes(b"x")
    (model / "link.dat").symlink_to(tmp_path / "secret.dat")
    os.mkfifo(model / "pipe.dat")
    (model / "folder.dat").mkdir()
    folder = Folder(str(model))
    for path in ("../secret.dat", "link.dat", str(tmp_path / "secret.dat"), "./link.dat"):
        with pytest.raises(ModelError, match="outside"):
            folder.entry(path)
    assert folder.entry("pipe.dat") is None and folder.entry("folder.dat") is None and folder.entry("no.dat") is None


def test_places_of_documents(tmp_path):
    (tmp_path / "graph.nnef").write_bytes(TEXT)
    (tmp_path / "graph.quant").write_text("")
    (tmp_path / "other.txt").write_bytes(b"\xef\xbb\xbf# about\n" + TEXT)
    (tmp_path / "m.nnef.tgz").write_bytes(packed(member("graph.nnef", TEXT)))
    for model in (tmp_path, str(tmp_path), tmp_path / "graph.nnef"):
        found = locate(model)
        assert found.document.name == found.path == str(tmp_path / "graph.nnef")
        assert found.quantization.name == str(tmp_path / "graph.quant")
    assert locate(tmp_path / "other.txt").document.text == "# about\n" + TEXT.decode()
    assert locate(tmp_path / "m.nnef.tgz").document.name == str(tmp_path / "m.nnef.tgz") + ":graph.nnef"
    assert locate(TEXT.decode()).files is None and locate(TEXT).files is None
    with pytest.raises(ModelError, match="No such file"):
        locate(tmp_path / "none.nnef")
    (tmp_path / "latin.nnef").write_bytes(TEXT + "# \u00e9".encode("latin-1"))
    with pytest.raises(ModelError, match="UTF-8"):
        locate(tmp_path / "latin.nnef")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("version 1.0;", True),
        ("\ufeff \n# version\n\tversion 1.0", True),
        ("version.nnef", False),
        ("model/version 1", False),
        ("versions 1.0;", False),
        ("", False),
    ],
)
def test_documents_by_their_text(text, expected):
    assert is_document(text) is expected
    assert is_nnef(text.encode()) is expected


def test_models_by_name_and_by_bytes(tmp_path):
    names = ["a.nnef", "a.nnef.tgz", "A.TGZ", "a.tar.gz", str(tmp_path)]
    assert all(map(has_nnef_name, names)) and not any(map(has_nnef_name, ["a.onnx", "nnef", "a.json"]))
    assert is_nnef(GOOD[:512]) and is_nnef(gzip.decompress(GOOD)[:512]) and not is_nnef(b"\x08\x07")
