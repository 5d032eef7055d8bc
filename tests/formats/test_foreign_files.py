"""Files that hold no model: one line says what each one is, and what to do. Contents count before names."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

from shapeinf import ModelError, NnefOptions, TensorFlowOptions, infer_shapes
from shapeinf.cli import main
from shapeinf.errors import UnknownFormatError
from shapeinf.formats import FORMATS

EXAMPLES = Path(__file__).parents[2] / "examples"
MODEL = (EXAMPLES / "convnet.onnx").read_bytes()


def zipped(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, b"{}")
    return data.getvalue()


SAFETENSORS = (
    (64).to_bytes(8, "little") + b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' + b" " * 12 + bytes(4)
)
HTML = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n"


def delimited(number, *parts):
    """A field of bytes; see `Model.proto` of Core ML's specification for the messages below."""
    data = b"".join(parts)
    return bytes([number << 3 | 2, len(data)]) + data


FEATURE_TYPE = delimited(3, delimited(5, b"\x08\x03\x08\x08\x10\xa0\x80\x04"))
CORE_ML = b"\x08\x05" + delimited(2, delimited(1, delimited(1, b"image"), FEATURE_TYPE), b"\x52\x00") + b"\xa2\x1f\x00"
CORE_ML_DESCRIBED = b"\x08\x07" + delimited(
    2, delimited(1, delimited(1, b"x"), delimited(2, b"an image"), FEATURE_TYPE)
)

FILES = {
    "a checkpoint of PyTorch": ("net.pt", zipped("archive/data.pkl", "archive/version"), "torch.onnx.export"),
    "a checkpoint under the name of a model": ("net.onnx", zipped("net/data.pkl"), "checkpoint of PyTorch"),
    "TorchScript": ("net.pt", zipped("net/constants.pkl", "net/code/__torch__.py"), "torch.onnx.export"),
    "an old checkpoint": ("net.pth", pickle.dumps({"w": 1}, 2), "is a pickle.*never loaded.*torch.onnx.export"),
    "a zip archive": ("net.zip", zipped("readme.txt"), "zip archive without an NNEF model or a SavedModel: unpack"),
    "safetensors": ("model.safetensors", SAFETENSORS, "weights without a graph: export their model"),
    "safetensors under another name": ("model.onnx", SAFETENSORS, "weights without a graph"),
    "gzip": ("net.onnx.gz", gzip.compress(MODEL), "compressed with gzip: decompress it with gunzip"),
    "gzip under another name": ("net.onnx", gzip.compress(MODEL), "compressed with gzip"),
    "xz": ("net.onnx.xz", lzma.compress(MODEL), "compressed with xz: decompress it with unxz"),
    "bzip2": ("net.onnx.bz2", bz2.compress(MODEL), "compressed with bzip2: decompress it with bunzip2"),
    "zstd": ("net.onnx.zst", b"\x28\xb5\x2f\xfd" + bytes(30), "compressed with zstd: decompress it with unzstd"),
    "HDF5": ("net.h5", b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF5 file, as Keras writes them: .*tf2onnx"),
    "Keras 3": ("net.keras", zipped("metadata.json", "config.json", "model.weights.h5"), "is a Keras 3 model"),
    "Core ML": ("net.mlmodel", b"\x08\x05\x12\x04\x0a\x02ab", "is a Core ML model"),
    "Core ML with an input": ("net.mlmodel", CORE_ML, "is a Core ML model, a format that is not read"),
    "Core ML under another name": ("net.pb", CORE_ML, "is a Core ML model, a format that is not read"),
    "Core ML with a described input": ("net", CORE_ML_DESCRIBED, "is a Core ML model"),
    "torch.export": (
        "net.pt2",
        zipped("net/data/weights/w.json", "net/models/model.json"),
        "graph_module must be",
    ),
    "torch.export of 2.5": (
        "net.pt2",
        zipped("serialized_exported_program.json", "version"),
        "graph_module must be",
    ),
    "torch.export without a program": ("net.pt2", zipped("n/archive_format"), "without a program of torch.export"),
    "AOTInductor": ("net.pt2", zipped("n/data/aotinductor/m/m.so"), "compiled code only"),
    "TorchScript as pt2": ("net.pt2", zipped("n/data.pkl", "n/code/a.py", "n/constants.pkl"), "TorchScript archive"),
    "TensorRT": ("net.engine", b"ftrt" + bytes(60), "is a TensorRT engine.*: pass the ONNX model"),
    "TensorRT by its name": ("net.plan", bytes(range(200, 250)), "by its name it is a TensorRT engine"),
    "ONNX Runtime's format": ("net.ort", b"\x18\0\0\0ORTM" + bytes(60), "ONNX Runtime's own format: pass the .onnx"),
    "GGUF": ("net.gguf", b"GGUF\x03\0\0\0" + bytes(60), "GGUF file of llama.cpp"),
    "raw weights": (
        "net.bin",
        bytes(range(256)),
        "by its name it has the weights .*: pass its graph",
    ),
    "OpenVINO": ("net.xml", b'<?xml version="1.0"?>\n<net name="n" version="11"></net>', "is an OpenVINO model: pass"),
    "another XML file": ("net.xml", b'<?xml version="1.0"?>\n<project/>', "XML file, but no model"),
    "another protobuf": (
        "net.pb",
        b"\x4a\x03abc\x12\x04\x08\x01\x10\x02",
        "without an ONNX graph.*by its name it should be a GraphDef",
    ),
    "a Git LFS pointer": ("net.onnx", POINTER, "pointer of Git LFS, not the file itself: run `git lfs pull`"),
    "a Git LFS pointer of NNEF": ("graph.nnef", POINTER, "git lfs pull"),
    "a Git LFS pointer of PNNX": ("net.pnnx.param", POINTER, "git lfs pull"),
    "a login page": ("net.onnx", HTML, "HTML page, not a model: the download was a login or an error page"),
    "a login page of TensorFlow": ("saved_model.pb", b"\n  <html lang='en'>" + HTML, "HTML page"),
    "JSON": ("config.json", b'{"architectures": ["Bert"]}', "is JSON, but neither an ONNX model"),
    "JSON without a name": ("model", b'{"architectures": ["Bert"]}', "is JSON, but neither"),
    "a list in JSON": ("a.json", b'[{"name": "x"}]', "is JSON, but neither"),
    "an array": ("x.npy", b"\x93NUMPY\x01\0" + bytes(100), "an array or an archive of numpy"),
    "a library": ("net.so", b"\x7fELF" + bytes(60), "is a program or a library"),
    "Caffe": ("net.prototxt", b'input: "data"\ninput_dim: 1\n', "is a Caffe model: convert it to ONNX"),
    "an empty file": ("net.onnx", b"", r"is empty \(0 bytes\): download or export it again"),
    "a text": ("notes.txt", b"hello world\n", "text file of an unknown format"),
    "a download that was cut off": (
        "net.onnx",
        MODEL[: len(MODEL) // 2],
        "cut off or damaged: .*; download or export it again",
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_named(tmp_path: Path, kind: str) -> None:
    name, data, text = FILES[kind]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ModelError, match=text) as caught:
        infer_shapes(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / name))


BY_NAME = (
    *("Core ML", "torch.export", "torch.export of 2.5", "torch.export without a program", "AOTInductor"),
    *("TorchScript as pt2", "TensorRT by its name", "raw weights", "another XML file", "another protobuf"),
    *("JSON", "JSON without a name", "a list in JSON", "Caffe"),
)
"""The files whose names are needed for their messages."""


@pytest.mark.parametrize("kind", FILES)
def test_no_file_of_another_kind_is_read_as_onnx(tmp_path: Path, kind: str) -> None:
    """ONNX files are read before their kind is identified: `Format.refuses_others`."""
    _, data, text = FILES[kind]
    (tmp_path / "net.onnx").write_bytes(data)
    with pytest.raises(ModelError, match=None if kind in BY_NAME else text):
        infer_shapes(tmp_path / "net.onnx")


def test_a_file_of_another_kind_needs_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text forms of ONNX need one, and may have the suffix of JSON."""
    monkeypatch.setattr("shapeinf.packages.is_installed", lambda _: False)
    monkeypatch.setitem(sys.modules, "onnx", None)
    _, data, text = FILES["a login page"]
    (tmp_path / "net.json").write_bytes(data)
    with pytest.raises(ModelError, match=text):
        infer_shapes(tmp_path / "net.json")


@pytest.mark.parametrize("kind", [kind for kind, (_, data, _) in FILES.items() if data])
def test_the_command_line_ends_with_3(tmp_path: Path, kind: str) -> None:
    name, data, _ = FILES[kind]
    (tmp_path / name).write_bytes(data)
    for command in ("infer", "clean"):
        result = CliRunner().invoke(main, [command, str(tmp_path / name), *(["--dry-run"] * (command == "clean"))])
        assert result.exit_code == 3
        assert result.stderr.startswith("error: ") and "bug" not in result.stderr


def test_a_name_alone_is_no_verdict(tmp_path: Path) -> None:
    """A model is read under any name."""
    for name in ("net.bin", "net.pb", "net.pt", "net.plan", "net.gz", "net.json.bak", "net"):
        (tmp_path / name).write_bytes(MODEL)
        assert "mask" in infer_shapes(tmp_path / name).tensors


@pytest.mark.parametrize("suffix", ["gz", "xz", "bz2"])
def test_a_compressed_archive_of_a_model_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model.tar.{suffix}"
    with tarfile.open(path, f"w:{suffix}") as archive:  # type: ignore[call-overload]
        archive.add(EXAMPLES / "squeezenet.nnef", "graph.nnef")
    assert "stem" in infer_shapes(path).tensors


def test_folders(tmp_path: Path) -> None:
    for options in (None, NnefOptions(), TensorFlowOptions()):
        with pytest.raises(UnknownFormatError, match="is a folder without a model"):
            infer_shapes(tmp_path, format_options=options)
    for name in ("a.onnx", "b.onnx", "c.onnx", "d.onnx"):
        (tmp_path / name).write_bytes(MODEL)
    with pytest.raises(
        UnknownFormatError, match=r"pass a model in it, such as 'a\.onnx', 'b\.onnx', 'c\.onnx' and 1 more"
    ):
        infer_shapes(tmp_path)
    for name in ("one.nnef", "two.nnef"):
        (tmp_path / name).write_bytes((EXAMPLES / "squeezenet.nnef").read_bytes())
    with pytest.raises(UnknownFormatError, match=r"one document, graph\.nnef; this directory has several"):
        infer_shapes(tmp_path)


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> NoReturn:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "listdir", refuse)
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(ModelError, match="cannot be read: Permission denied"):
        infer_shapes(tmp_path)


def test_what_is_absent_is_not_named_by_its_suffix(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"net\.pt: cannot be read: No such file"):
        infer_shapes(tmp_path / "net.pt")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["m.onnx", "m.pt", "graph.nnef", "m.pnnx.param", "saved_model.pb", "m.json", "m"])
def test_no_reader_loads_a_pickle(tmp_path: Path, name: str, protocol: int) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[Path]]:
            return os.mkdir, (tmp_path / "trap",)

    (tmp_path / name).write_bytes(pickle.dumps(Trap(), protocol))
    with pytest.raises(UnknownFormatError, match="is a pickle"):
        infer_shapes(tmp_path / name)
    assert not (tmp_path / "trap").exists()


def test_every_example_begins_as_a_model() -> None:
    files = [path for path in EXAMPLES.iterdir() if path.suffix in (".onnx", ".pbtxt", ".nnef", ".param")]
    assert len(files) >= 5
    assert all(FORMATS.is_model_file(str(path)) for path in files)


@pytest.mark.parametrize("kind", [kind for kind in FILES if kind != "a download that was cut off"])
def test_what_is_no_model_does_not_begin_as_one(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_bytes(FILES[kind][1])
    assert not FORMATS.is_model_file(str(tmp_path / "file"))


def test_a_core_ml_package(tmp_path):
    package = tmp_path / "net.mlpackage"
    package.mkdir()
    (package / "Manifest.json").write_text("{}")
    with pytest.raises(UnknownFormatError, match="is a Core ML package, a format that is not read"):
        infer_shapes(package)


def test_a_saved_model_with_any_info_is_read():
    """The third field of a MetaInfoDef is an Any, whose first field is a URL: Core ML has another message there."""
    any_info = delimited(3, delimited(1, b"type.googleapis.com/x.Y"), delimited(2, b"z"))
    graph = delimited(1, delimited(1, b"x"), delimited(2, b"Placeholder"))
    meta = delimited(2, delimited(1, delimited(1, b"v1"), any_info), delimited(2, graph))
    assert infer_shapes(b"\x08\x01" + meta).dialect == "tf"
