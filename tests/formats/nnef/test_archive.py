"""Folders and archives of models: their contents, and why hostile ones are rejected."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import tarfile
import zipfile

import nnef
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats import zipped as zips
from shapeinf.formats.nnef.files import archive as archives
from shapeinf.formats.nnef.files import unpacking
from shapeinf.formats.nnef.files import unpacking as stream
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


@pytest.mark.parametrize("mode", ["w:gz", "w", "w:xz", "w:bz2"])
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("folder", ["", "./", "model/", "./a/b/"])
def test_contents(mode, form, folder):
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
    archive = read_archive(data)
    assert set(archive.contents) == {"graph.nnef", "graph.quant", "empty.dat", "large.dat", long}
    assert archive.text("graph.nnef") == TEXT.decode()
    assert archive.text("other.nnef") is None and archive.entry("other.dat") is None
    large = archive.entry("large.dat")
    assert (large.size, len(large.head)) == (3_000_000, MAX_HEADER)
    assert archive.entry(long).read() == b"s" * 600
    assert locate(data).document.text == TEXT.decode()


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    """A zip archive; a member is a name, its data, and the mode of the file where that is unusual."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data, *mode in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            info.external_attr = (mode[0] if mode else 0o100644) << 16
            archive.writestr(info, data)
    return stream.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("folder", ["", "./", "model/"])
def test_contents_of_a_zip(method, folder, tmp_path):
    members = [
        (f"{folder}graph.nnef", TEXT),
        (f"{folder}README.md", b"skipped"),
        (f"{folder}block/w.dat", b"s" * 600),
        (f"{folder}large.dat", b"l" * 3_000_000),
    ]
    data = zipped(*([(folder, b"", 0o040755)] if folder.endswith("l/") else []), *members, method=method)
    archive = read_archive(data)
    assert set(archive.contents) == {"graph.nnef", "large.dat", "block/w.dat"}
    large = archive.entry("large.dat")
    assert (large.size, len(large.head)) == (3_000_000, MAX_HEADER)
    assert archive.entry("block/w.dat").read() == b"s" * 600
    (tmp_path / "m.zip").write_bytes(data)
    assert locate(tmp_path / "m.zip").document.text == locate(data).document.text == TEXT.decode()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (("../w.dat", b""), "not a simple path inside"),
        (("/etc/w.dat", b""), "not a simple path inside"),
        (("a/../../w.dat", b""), "not a simple path inside"),
        (("a//w.dat", b""), "not a simple path inside"),
        (("w.dat", b"/etc/passwd", 0o120777), "not a regular file"),
        (("w.dat", b"", 0o020666), "not a regular file"),
        (("graph.nnef", TEXT), "twice"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_a_zip_that_no_model_has(bad, message):
    with pytest.raises(ModelError, match=message):
        read_archive(zipped(("graph.nnef", TEXT), bad))


def test_ways_to_pack_that_are_not_read():
    with pytest.raises(ModelError, match="deflate"):
        read_archive(zipped(("graph.nnef", TEXT), method=zipfile.ZIP_LZMA))
    data = bytearray(zipped(("graph.nnef", TEXT)))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # as an encrypted one is marked
        data[data.index(signature) + offset] |= 1
    with pytest.raises(ModelError, match="encrypted"):
        read_archive(bytes(data))


def test_zips_that_grow(monkeypatch):
    zeros = bytes(30 << 20)
    bomb = zipped(("graph.nnef", TEXT), ("w.dat", zeros))
    assert len(bomb) < 1 << 16
    assert read_archive(bomb).entry("w.dat").size == 30 << 20  # of which only the header is unpacked
    monkeypatch.setattr(archives, "MAX_TEXT", 1 << 20)
    with pytest.raises(LimitError):
        read_archive(zipped(("graph.nnef", zeros)))
    monkeypatch.setattr(archives, "MAX_MEMBERS", 10)
    many = [(f"{i}.dat", b"") for i in range(11)]
    with pytest.raises(LimitError, match="more than 10 files"):
        read_archive(zipped(*many))
    monkeypatch.setattr(zips, "MAX_LIST", 100)
    with pytest.raises(LimitError, match="list of files"):
        read_archive(zipped(*many[:5]))
    monkeypatch.setattr(archives, "MAX_CONTENTS", 5000)
    with pytest.raises(LimitError, match="5000 bytes"):
        read_archive(packed(*(member(f"{i}.dat", bytes(2000)) for i in range(3))))


def test_a_zip_whose_list_is_of_the_longer_form(monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 2)
    data = zipped(("graph.nnef", TEXT), ("a.dat", b""), ("b.dat", b""))
    assert b"PK\x06\x06" in data
    assert set(read_archive(data).contents) == {"graph.nnef", "a.dat", "b.dat"}
    monkeypatch.setattr(zips, "MAX_LIST", 100)
    with pytest.raises(LimitError, match="list of files"):
        read_archive(data)


def test_a_compressed_archive_of_several_streams():
    plain = packed(member("graph.nnef", TEXT), mode="w")
    for pack in (lzma.compress, bz2.compress, gzip.compress):
        first = pack(plain[:300])
        data = first + pack(plain[300:])
        assert read_archive(data).text("graph.nnef") == TEXT.decode()
        with pytest.raises(ModelError, match=r"damaged|cut off|no archive"):
            read_archive(data[: len(first) + 12])


def test_a_decompressor_that_wants_too_much_memory(monkeypatch):
    monkeypatch.setattr(unpacking, "MAX_MEMORY", 1 << 20)
    with pytest.raises(LimitError, match="memory"):
        read_archive(packed(member("graph.nnef", TEXT), mode="w:xz"))


ZIPPED = zipped(("graph.nnef", TEXT * 300), ("w.dat", bytes(range(256)) * 99))


@given(st.integers(0, len(ZIPPED) - 1), st.binary(min_size=1, max_size=8), st.booleans())
def test_damaged_zips(at, junk, cut):
    with contextlib.suppress(ModelError):
        read_archive(ZIPPED[:at] + (b"" if cut else junk + ZIPPED[at + len(junk) :]))


COMPRESSED = {
    mode: packed(member("graph.nnef", TEXT * 30), member("w.dat", bytes(range(256)) * 9), mode=mode)
    for mode in ("w:xz", "w:bz2")
}


@given(st.sampled_from(sorted(COMPRESSED)), st.floats(0, 1), st.binary(min_size=1, max_size=8), st.booleans())
def test_damaged_compressed_archives(mode, where, junk, cut):
    data = COMPRESSED[mode]
    at = int(where * (len(data) - 1))
    with contextlib.suppress(ModelError):
        read_archive(data[:at] + (b"" if cut else junk + data[at + len(junk) :]))


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
    ("bad", "message"),
    [
        (member("../w.dat"), "not a simple path inside"),
        (member("/etc/w.dat"), "not a simple path inside"),
        (member("a/../../w.dat"), "not a simple path inside"),
        (member("a//w.dat"), "not a simple path inside"),
        (member("w.dat", kind=tarfile.SYMTYPE, link="/etc/passwd"), "not a regular file"),
        (member("w.dat", kind=tarfile.LNKTYPE, link="graph.nnef"), "not a regular file"),
        (member("w.dat", kind=tarfile.CHRTYPE), "not a regular file"),
        (member("w.dat", kind=tarfile.BLKTYPE), "not a regular file"),
        (member("w.dat", kind=tarfile.FIFOTYPE), "not a regular file"),
        (member("graph.nnef", TEXT), "twice"),
    ],
)
def test_members_that_no_model_has(bad, message):
    with pytest.raises(ModelError, match=message):
        read_archive(packed(member("graph.nnef", TEXT), bad))


def test_archives_have_a_single_document():
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


# Explicit names: a name from the bytes would contain the time of packing, and differ from worker to worker.
@pytest.mark.parametrize("data", NO_ARCHIVES.values(), ids=NO_ARCHIVES)
def test_malformed_archives(data):
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


@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w:bz2"])
def test_archives_that_grow(monkeypatch, mode):
    monkeypatch.setattr(stream, "FREE_SIZE", 1 << 20)
    zeros = bytes(30 << 20)
    with pytest.raises(LimitError, match="becomes larger"):
        read_archive(packed(member("w.dat", zeros), mode=mode))
    assert read_archive(packed(member("w.dat", zeros), mode="w")).entry("w.dat").size == 30 << 20


def test_archives_of_many_files(monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBERS", 10)
    many = [member(f"{i}.dat") for i in range(11)]
    with pytest.raises(LimitError, match="more than 10 files"):
        read_archive(packed(*many))
    assert len(read_archive(packed(*many[:10])).contents) == 10


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


def test_locations_of_documents(tmp_path):
    (tmp_path / "graph.nnef").write_bytes(TEXT)
    (tmp_path / "graph.quant").write_text("")
    (tmp_path / "other.txt").write_bytes(b"\xef\xbb\xbf# about\n" + TEXT)
    (tmp_path / "m.nnef.tgz").write_bytes(packed(member("graph.nnef", TEXT)))
    for model in (tmp_path, str(tmp_path), tmp_path / "graph.nnef"):
        location = locate(model)
        assert location.document.name == location.path == str(tmp_path / "graph.nnef")
        assert location.quantization.name == str(tmp_path / "graph.quant")
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
    names = ["a.nnef", "a.nnef.tgz", "A.TGZ", "a.tar.gz", "a.tar.xz", "a.tar.bz2", "a.zip"]
    assert all(map(has_nnef_name, names))
    assert not any(map(has_nnef_name, ["a.onnx", "nnef", "a.json", str(tmp_path)]))
    (tmp_path / "net.nnef").write_text("version 1.0;")
    assert has_nnef_name(str(tmp_path))
    assert is_nnef(GOOD[:512]) and is_nnef(gzip.decompress(GOOD)[:512]) and not is_nnef(b"\x08\x07")
    assert is_nnef(ZIPPED[:512]) and all(is_nnef(data[:512]) for data in COMPRESSED.values())
    assert not is_nnef(zipped(("archive/data.pkl", b""))[:512])  # torch's files are zip archives too
