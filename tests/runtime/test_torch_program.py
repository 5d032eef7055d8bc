"""torch agrees on programs of torch.export: live ones and files. Needs the extra `torch`."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shapeinf import InferenceOptions, infer_shapes
from shapeinf.cli import main
from shapeinf.errors import ModelError
from shapeinf.formats.torch_export import TorchExportOptions
from shapeinf.runtime import verify
from tests.formats.torch_export.programs import flattening, package

torch = pytest.importorskip("torch", reason="torch is not installed: no runtime agrees on programs of torch.export")


class Net(torch.nn.Module):
    """Layers, a branch on data, a size that depends on data, an integer argument, several results of a node."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.last = torch.nn.Conv2d(3, 4, 3, 2), torch.nn.BatchNorm2d(4), torch.nn.Linear(4, 5)

    def forward(self, x: Any, n: int) -> Any:
        y = self.norm(self.conv(x))
        _, row = y.split([y.shape[2] - 1, 1], 2)
        z = torch.cond(x.sum() > 0, lambda v: v.relu(), lambda v: v.sin(), (x.mean((2, 3)),))
        return self.last(torch.cat([z, z[:, :1]], 1)), (z > 0).nonzero(), torch.arange(n), row


@pytest.fixture(scope="module")
def program() -> Any:
    free = torch.export.Dim.AUTO
    return torch.export.export(
        Net().eval(), (torch.rand(2, 3, 9, 11), 5), dynamic_shapes=({0: free, 2: free, 3: free}, free), strict=False
    )


@pytest.fixture(scope="module")
def saved(program: Any) -> bytes:
    file = io.BytesIO()
    torch.export.save(program, file)
    return file.getvalue()


def test_a_live_program_is_verified(program: Any) -> None:
    verification = verify(program, at=[{"x_0": 3, "x_2": 9, "x_3": 4, "n": 6}])
    assert verification.ok, str(verification)
    run = verification.runs[0]
    assert (run.tensors, run.bounded, run.unknown) == (run.exact + 1, 1, 0), str(verification)
    assert [item.tensor.rpartition("/")[0][:5] for item in run.skipped] == ["cond/"]  # the branch that did not run
    assert "torch writes no outputs into buffers" in run.unbound[0].reason


def test_a_decomposed_program_is_verified(program: Any) -> None:
    verification = verify(program.run_decompositions())
    assert verification.ok and len(verification.runs[0].skipped) == 1, str(verification)


def test_a_file_is_verified(saved: bytes, tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    path.write_bytes(saved)
    assert verify(saved).ok
    result = CliRunner().invoke(main, ["verify", str(path), "--runtime", "torch", "--at", "x_0=2"])
    assert result.output.startswith("torch 2") and result.output.endswith("verified\n"), result.output


def test_a_graph_is_verified(saved: bytes) -> None:
    """Its nodes have the inputs of their rules, not the arguments of the file."""
    assert verify(infer_shapes(saved).graph).ok


def test_a_program_of_a_package_is_verified(program: Any, tmp_path: Path) -> None:
    package_module = pytest.importorskip("torch.export.pt2_archive._package", reason="an earlier torch")
    path = str(tmp_path / "two.pt2")
    package_module.package_pt2(path, exported_programs={"model": program, "other": program.run_decompositions()})
    counts = []
    for name in ("model", "other"):
        options = InferenceOptions(format_options=TorchExportOptions(program=name))
        verification = verify(path, options=options)
        assert verification.ok, str(verification)
        counts.append(verification.runs[0].tensors)
    assert counts[0] != counts[1]


def test_guards_of_torch_are_no_refusal(program: Any) -> None:
    """torch requires at least 2 rows; the operators take one."""
    assert verify(program, at=[{"x_0": 1}]).ok


def test_a_run_that_torch_refuses_is_not_verified(program: Any) -> None:
    verification = verify(program, at=[{"x_2": 2, "x_3": 2}])
    assert not verification.ok and "Kernel size can't be greater" in verification.runs[0].refused


def test_a_difference_is_found(program: Any) -> None:
    """A wrong declaration that is trusted, of an operator without a rule."""
    graph = infer_shapes(program).graph
    graph.constants["p_last_weight"] = infer_shapes(program).graph.constants["p_conv_weight"]
    verification = verify(graph)
    assert not verification.ok


def test_a_program_without_weights_is_not_run(saved: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        name = next(name for name in archive.namelist() if "/models/" in name)
        text = archive.read(name)
    with pytest.raises(ModelError, match="the JSON of a program has no weights"):
        verify(text)
    verification = verify(package(("model", flattening())))
    assert not verification.ok and verification.runs[0].refused


def test_a_file_without_its_weights_is_not_run(saved: bytes) -> None:
    stripped = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved)) as source, zipfile.ZipFile(stripped, "w") as target:
        for name in source.namelist():
            if "/data/weights/weight_" not in name:
                target.writestr(name, source.read(name))
    with pytest.raises(ModelError, match="the file has no weights"):
        verify(stripped.getvalue(), at=[{"x_0": 3, "x_2": 9, "x_3": 4, "n": 6}])


def test_a_run_ends_after_its_time(program: Any) -> None:
    assert "stopped after" in verify(program, timeout=1e-9).runs[0].refused
