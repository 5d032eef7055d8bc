"""Models of transformers with random weights, exported by torch: dims that the sizes of the inputs decide are exact."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check
from shapeinf.runtime import verify

pytestmark = pytest.mark.slow

Sizes = dict[str, int]


@attrs.frozen
class Export:
    """A model to export: its creation, the dims of its inputs with sizes for the export, and sizes for runs.

    The traced code of a model may depend on the sizes of the export: sizes that onnxruntime refuses are `illegal`.
    """

    create: Callable[[Any], Any]
    inputs: dict[str, tuple[str | int, ...]]
    traced: Sizes
    runs: tuple[Sizes, ...]
    illegal: tuple[Sizes, ...] = ()
    integers: bool = True


def _deberta(t: Any) -> Any:
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    relative = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_position_embeddings": 64}
    return t.DebertaModel(t.DebertaConfig(vocab_size=99, **shape, **relative))


def _led(t: Any) -> Any:
    layers = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
    widths = {"d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "attention_window": 8}
    positions = {"max_encoder_position_embeddings": 128, "max_decoder_position_embeddings": 64}
    return t.LEDModel(t.LEDConfig(vocab_size=99, **layers, **widths, **positions))


def _prophetnet(t: Any) -> Any:
    encoder = {"num_encoder_layers": 2, "num_encoder_attention_heads": 4, "encoder_ffn_dim": 64}
    decoder = {"num_decoder_layers": 2, "num_decoder_attention_heads": 4, "decoder_ffn_dim": 64, "ngram": 2}
    return t.ProphetNetModel(t.ProphetNetConfig(vocab_size=99, hidden_size=32, **encoder, **decoder))


def _vitmatte(t: Any) -> Any:
    windows = {"window_size": 2, "window_block_indices": [0], "residual_block_indices": [1]}
    backbone = t.VitDetConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=64, patch_size=16, num_channels=4,
        pretrain_image_size=64, out_features=["stage2"], use_relative_position_embeddings=False, **windows,
    )  # fmt: skip
    return t.VitMatteForImageMatting(
        t.VitMatteConfig(
            backbone_config=backbone,
            hidden_size=32,
            convstream_hidden_sizes=[4, 8, 16],
            fusion_hidden_sizes=[16, 8, 4, 4],
        )
    )


EXPORTS = {
    "deberta": Export(_deberta, {"input_ids": ("n", "s")}, {"n": 2, "s": 11}, ({"n": 1, "s": 5}, {"n": 3, "s": 24})),
    "led": Export(
        _led,
        {"input_ids": ("n", "s"), "decoder_input_ids": ("n", "t")},
        {"n": 2, "s": 16, "t": 5},
        ({"n": 2, "s": 24, "t": 3}, {"n": 3, "s": 40, "t": 7}),
        # The strides of a write into a view are those of a batch of 2 of 16 tokens: a batch of 1 is out of range.
        ({"n": 1, "s": 24, "t": 3}, {"n": 1, "s": 72, "t": 3}, {"n": 2, "s": 8, "t": 3}, {"n": 2, "s": 20, "t": 3}),
    ),
    "prophetnet": Export(
        _prophetnet,
        {"input_ids": ("n", "s"), "decoder_input_ids": ("n", "t")},
        {"n": 2, "s": 9, "t": 5},
        ({"n": 1, "s": 6, "t": 3}, {"n": 3, "s": 12, "t": 7}, {"n": 1, "s": 6, "t": 510}),
        ({"n": 1, "s": 6, "t": 511},),
    ),
    "vitmatte": Export(
        _vitmatte,
        {"pixel_values": ("n", 4, "h", "w")},
        {"n": 2, "h": 64, "w": 96},
        ({"n": 1, "h": 96, "w": 160}, {"n": 2, "h": 128, "w": 64}),
        integers=False,
    ),
}


def export(case: Export, path: Path) -> None:
    """Write the model by torch's exporter of traced modules; a model that torch cannot trace is skipped."""
    torch: Any = pytest.importorskip("torch", reason="torch exports the models")
    transformers: Any = pytest.importorskip("transformers", reason="the models are those of transformers")
    pytest.importorskip("onnxscript", reason="torch's exporter needs onnxscript")
    torch.manual_seed(0)
    model = case.create(transformers).eval()
    model.config.return_dict = False
    if hasattr(model.config, "use_cache"):
        model.config.use_cache = False
    shapes = {name: [case.traced.get(str(d), d) for d in dims] for name, dims in case.inputs.items()}
    arguments = {
        name: torch.randint(1, 9, shape) if case.integers else torch.rand(shape) for name, shape in shapes.items()
    }
    axes = {name: {i: d for i, d in enumerate(dims) if isinstance(d, str)} for name, dims in case.inputs.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, (arguments,), str(path), input_names=list(axes), dynamic_axes=axes, opset_version=17, dynamo=False
        )


@pytest.mark.parametrize("name", EXPORTS)
def test_dims_that_sizes_decide_are_exact(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of this test")
    path, case = tmp_path / "model.onnx", EXPORTS[name]
    export(case, path)
    result = infer_shapes(path)
    unknown = [
        f"{tensor}: {info}"
        for tensor, info in result.tensors.items()
        if info.shape.dims is None or any(s.is_anonymous for s in info.shape.symbols())
    ]
    assert not unknown
    verification = verify(str(path), at=case.runs)
    assert verification.ok, str(verification)
    assert all(run.tensors and not run.unknown for run in verification.runs)
    assert all(result.contract.check(sizes).verdict is True for sizes in case.runs)
    for sizes in case.illegal:
        assert result.contract.check(sizes).verdict is False
        assert all(run.refused for run in verify(str(path), at=(sizes,)).runs)
    assert not check(infer_shapes(path, declared="check"))
