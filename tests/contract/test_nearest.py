"""The legal sizes next to illegal ones, against trying every size."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from shapeinf import infer_shapes
from shapeinf.cli import main
from shapeinf.contract.contract import NEAR
from shapeinf.contract.nearest import nearest_texts
from shapeinf.errors import MissingSizeError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CONVNET, DECODER = EXAMPLES / "convnet.onnx", EXAMPLES / "decoder.onnx"
CASES = [
    (CONVNET, {"height": 7, "width": 8}, ["height=6 or height=8"]),
    (CONVNET, {"height": 7, "width": 9}, ["height=6, width=8"]),
    (CONVNET, {"height": 1}, ["height=2"]),
    (CONVNET, {"batch": 1, "height": 8}, ["batch=2", "height=6 or height=10"]),
    (DECODER, {"seq": 513}, ["seq=512"]),
    (DECODER, {"seq": 100_000, "batch": 3}, ["seq=512"]),
]


@pytest.mark.parametrize(("path", "sizes", "expected"), CASES)
def test_texts(path, sizes, expected):
    assert list(nearest_texts(infer_shapes(path).contract, sizes)) == expected


@pytest.mark.parametrize("size", range(1, 12))
def test_nearest_sizes_are_those_of_a_search(size):
    contract = infer_shapes(CONVNET).contract
    legal = [n for n in range(1, size + NEAR) if contract.check(batch=1, height=n, width=4).verdict]
    expected = [n for n in legal if n < size][-1:] + [n for n in legal if n > size][:1]
    assert list(contract.nearest("height", {"batch": 1, "height": size, "width": 4})) == expected


def test_a_dim_without_a_size():
    with pytest.raises(MissingSizeError, match="no size for height"):
        infer_shapes(CONVNET).contract.nearest("height", {"width": 8})


COMMANDS = [
    (["check", "--at", "height=8,width=4"], 0, ""),
    (["check", "--at", "height=7"], 1, "error[C152]: at height=7: axis 2 must be equal"),
    (["check", "--at", "height=7"], 1, "help: legal: height=6 or height=8"),
    (["check", "--at", "height=8", "--at", "width=9"], 1, "at width=9"),
    (["check", "--at", "heigth=7"], 2, "did you mean 'height'"),
    (["contract", "--at", "height=7"], 1, "  legal: height=6 or height=8"),
    (["contract", "--at", "height=8,width=8"], 0, "height=8, width=8: yes"),
]


@pytest.mark.parametrize(("command", "code", "text"), COMMANDS)
def test_commands(command, code, text):
    name, *options = command
    result = CliRunner().invoke(main, [name, str(CONVNET), *options])
    assert (result.exit_code, text in result.output) == (code, True), result.output


@pytest.mark.parametrize("size", [513, 2**32])
def test_a_check_has_no_error_only_where_the_contract_has_none(size):
    """No node is certain to fail at the larger size, whose positions are too many to follow."""
    result = CliRunner().invoke(main, ["check", str(DECODER), "--at", f"batch=1,seq={size}"])
    assert result.exit_code == 1 and f"error[C152]: at batch=1, seq={size}: " in result.output, result.output
