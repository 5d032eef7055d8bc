"""Models that are not ONNX are refused by name, and nothing in them runs."""

from __future__ import annotations

import pickle
from pathlib import Path

import networkx as nx
import pytest

from shapeinf.errors import ModelError, UnknownFormatError
from shapeinf.passes import clean

EXAMPLES = Path(__file__).parents[2] / "examples"


class Trap:
    """Unpickled, it creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (self.path,)  # type: ignore[return-value]


def field(number: int, data: bytes) -> bytes:
    """A field of bytes of a protobuf message."""
    tag = number << 3 | 2
    head = bytes([tag]) if tag < 128 else bytes([tag & 127 | 128, tag >> 7])
    size = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
    return head + size + data


LAYER = field(1, b"conv1") + field(2, b"Convolution") + field(3, b"data")
CAFFE = {
    "binary": field(1, b"LeNet") + field(100, LAYER) + field(100, LAYER),
    "binary, with input fields": field(1, b"LeNet") + field(3, b"data") + field(100, LAYER * 9),
    "binary, no name": field(100, LAYER),
    "binary, before 2014": field(1, b"AlexNet") + field(2, field(2, b"data") + field(4, b"conv1")),
    "binary, cut off": (field(1, b"LeNet") + field(100, LAYER + bytes(6000)))[:5000],
    "text": b'name: "LeNet"\nlayer {\n  name: "data"\n  type: "Input"\n  top: "data"\n}\n',
    "text, before 2014": b'name: "AlexNet"\ninput: "data"\nlayers {\n  bottom: "data"\n  type: CONVOLUTION\n}\n',
}


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["m.native", "m.onnx", "m.pkl", "m.json", "m.caffemodel"])
def test_a_pickle_is_never_loaded(tmp_path: Path, name: str, protocol: int) -> None:
    trap = tmp_path / "trap"
    data = pickle.dumps({"model": Trap(trap)}, protocol)
    path = tmp_path / name
    path.write_bytes(data)
    for model in (path, str(path), data):
        with pytest.raises(
            UnknownFormatError,
            match=r"is a pickle, .*and PPQ's native files are, which is never loaded",
        ):
            clean(model)
    assert not trap.exists()


@pytest.mark.parametrize("kind", CAFFE)
@pytest.mark.parametrize("name", ["net.onnx", "net", "net.pb", "net.caffemodel"])
def test_caffe_by_its_content(tmp_path: Path, kind: str, name: str) -> None:
    (tmp_path / name).write_bytes(CAFFE[kind])
    for model in (tmp_path / name, CAFFE[kind]):
        with pytest.raises(UnknownFormatError, match="is a Caffe model"):
            clean(model)


@pytest.mark.parametrize("name", ["net.prototxt", "net.caffemodel", "NET.PROTOTXT"])
def test_caffe_by_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"input: 'data'\ninput_dim: 1\n")
    with pytest.raises(UnknownFormatError, match=f"{name}: .*by its name it is a Caffe model: convert it to ONNX"):
        clean(tmp_path / name)


@pytest.mark.parametrize(
    ("model", "title"),
    [
        (EXAMPLES / "squeezenet.nnef", "NNEF"),
        ((EXAMPLES / "squeezenet.nnef").read_text(encoding="utf-8"), "<text>: is a model of NNEF"),
        (EXAMPLES / "recurrent.pbtxt", "TensorFlow"),
        (EXAMPLES / "enhancer.pnnx.param", "PNNX"),
        (b'<?xml version="1.0"?>\n<net name="m" version="11">', "OpenVINO"),
    ],
)
def test_other_formats_are_named(model: object, title: str) -> None:
    with pytest.raises(UnknownFormatError, match=title):
        clean(model)


@pytest.mark.parametrize("model", [nx.DiGraph(), None, 5, bytearray(b"\x08\x08"), [1]])
def test_objects_that_are_no_models(model: object) -> None:
    with pytest.raises(UnknownFormatError, match="is not an ONNX model"):
        clean(model)


@pytest.mark.parametrize("model", [b"", b"\x08", "absent.onnx", "m\0.onnx", b"hello", b"\x0a\xff"])
def test_what_is_no_model(model: object) -> None:
    with pytest.raises(ModelError):
        clean(model)
