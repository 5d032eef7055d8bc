"""Fresh exports of torch, which nobody has damaged: no error and no warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check

torch = pytest.importorskip("torch", reason="exports need torch")
pytest.importorskip("onnxscript", reason="exports need onnxscript")

from torch import nn  # noqa: E402  (torch may be absent)
from torch.nn import functional  # noqa: E402


class Network(NamedTuple):
    """A module, example inputs by name, and the names of their dynamic axes."""

    module: nn.Module
    inputs: dict[str, Any]
    axes: dict[str, dict[int, str]]


class Function(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., Any], *parts: nn.Module) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs, *self.parts)


IMAGE = {0: "batch", 2: "height", 3: "width"}
TEXT = {0: "batch", 1: "seq"}


def image_network(*layers: nn.Module, size: int = 64, dynamic: dict[int, str] = IMAGE) -> Network:
    return Network(nn.Sequential(*layers), {"x": torch.randn(2, 3, size, size)}, {"x": dynamic})


def unet() -> Network:
    def run(x, down, up, last):
        half = functional.max_pool2d(functional.relu(down(x)), 2)
        return last(torch.cat([up(half), down(x)], 1))

    parts = nn.Conv2d(3, 8, 3, padding=1), nn.ConvTranspose2d(8, 8, 2, 2), nn.Conv2d(16, 3, 1)
    return Network(Function(run, *parts), {"x": torch.randn(1, 3, 32, 48)}, {"x": IMAGE})


def interpolated() -> Network:
    def run(x, first, second):
        low = second(functional.relu(first(x)))
        return functional.interpolate(low, size=x.shape[2:], mode="bilinear", align_corners=False) + x.mean(1, True)

    parts = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.Conv2d(8, 4, 3, stride=2, padding=1)
    return Network(Function(run, *parts), {"x": torch.randn(1, 3, 40, 56)}, {"x": IMAGE})


def patches() -> Network:
    def run(x, embed, norm, mix, head):
        tokens = norm(embed(x).flatten(2).transpose(1, 2))
        return head(functional.gelu(mix(tokens)).mean(1))

    parts = nn.Conv2d(3, 16, 8, 8), nn.LayerNorm(16), nn.Linear(16, 16), nn.Linear(16, 5)
    return Network(Function(run, *parts), {"x": torch.randn(2, 3, 32, 48)}, {"x": IMAGE})


def windows() -> Network:
    """Windows of 4 x 4 pixels, padded where the image does not fill them."""

    def run(x, mix):
        height, width = x.shape[1:3]
        x = functional.pad(x, (0, 0, 0, -width % 4, 0, -height % 4))
        b, h, w, c = x.shape
        parts = x.view(b, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        parts = mix(parts).view(b, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5)
        return parts.reshape(b, h, w, c)[:, :height, :width]

    axes = {0: "batch", 1: "height", 2: "width"}
    return Network(Function(run, nn.Linear(8, 8)), {"x": torch.randn(2, 16, 24, 8)}, {"x": axes})


def attention() -> Network:
    def run(x, mask, query, key, value):
        b, s, _ = x.shape
        q, k, v = (part(x).view(b, s, 2, 8).transpose(1, 2) for part in (query, key, value))
        scores = q @ k.transpose(-1, -2) / 8**0.5 + mask[:, None, None, :]
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, s, 16)

    parts = [nn.Linear(16, 16) for _ in range(3)]
    inputs = {"x": torch.randn(2, 6, 16), "mask": torch.zeros(2, 6)}
    return Network(Function(run, *parts), inputs, {"x": TEXT, "mask": TEXT})


def cached_attention() -> Network:
    def run(x, past):
        keys = torch.cat([past, x], 1)
        return (x @ keys.transpose(1, 2)).softmax(-1) @ keys, keys

    inputs = {"x": torch.randn(2, 3, 8), "past": torch.randn(2, 5, 8)}
    return Network(Function(run), inputs, {"x": TEXT, "past": {0: "batch", 1: "past"}})


def recurrent() -> Network:
    def run(x, cell, head):
        return head(cell(x)[0])

    parts = nn.LSTM(8, 12, batch_first=True, bidirectional=True), nn.Linear(24, 4)
    return Network(Function(run, *parts), {"x": torch.randn(2, 7, 8)}, {"x": TEXT})


def positions() -> Network:
    """Rows of a table, a causal mask, and a sum of embeddings."""

    def run(tokens, embed, table):
        places = torch.arange(tokens.shape[1])
        x = embed(tokens) + table(places)
        causal = torch.ones(tokens.shape[1], tokens.shape[1]).tril()
        return causal @ x

    parts = nn.Embedding(40, 8), nn.Embedding(64, 8)
    return Network(Function(run, *parts), {"tokens": torch.randint(0, 40, (2, 9))}, {"tokens": TEXT})


def shuffled() -> Network:
    def run(x, first):
        b, _, h, w = x.shape
        mixed = first(x).view(b, 2, 4, h, w).transpose(1, 2).reshape(b, 8, h, w)
        return functional.pixel_shuffle(mixed, 2)

    return Network(Function(run, nn.Conv2d(3, 8, 1)), {"x": torch.randn(2, 3, 10, 12)}, {"x": IMAGE})


def pyramid() -> Network:
    def run(x, a, b, c):
        first = functional.relu(a(x))
        second = functional.relu(b(first))
        third = functional.relu(c(second))
        up = functional.interpolate(third, size=second.shape[-2:], mode="nearest") + second
        return functional.interpolate(up, size=first.shape[-2:], mode="nearest") + first

    parts = [nn.Conv2d(i, 8, 3, 2, 1) for i in (3, 8, 8)]
    return Network(Function(run, *parts), {"x": torch.randn(1, 3, 64, 80)}, {"x": IMAGE})


def audio() -> Network:
    layers = [nn.Conv1d(1, 8, 10, 5), nn.GELU(), nn.Conv1d(8, 8, 3, 2), nn.GELU(), nn.AdaptiveAvgPool1d(1)]
    return Network(nn.Sequential(*layers), {"x": torch.randn(2, 1, 400)}, {"x": {0: "batch", 2: "samples"}})


def selected() -> Network:
    """The best scores of a detector, with their boxes."""

    def run(x, head):
        scores = head(x).squeeze(-1).sigmoid()
        best, order = scores.topk(5, dim=1)
        return best, torch.gather(x, 1, order.unsqueeze(-1).expand(-1, -1, x.shape[2]))

    return Network(Function(run, nn.Linear(8, 1)), {"x": torch.randn(2, 20, 8)}, {"x": {0: "batch", 1: "boxes"}})


def fixed_image() -> Network:
    return image_network(
        nn.Conv2d(3, 8, 3, 2, 1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(8 * 32 * 32, 3),
        dynamic={0: "batch"},
    )


def residual() -> Network:
    def run(x, first, skip, norm):
        return functional.adaptive_avg_pool2d(functional.relu(norm(first(x)) + skip(x)), 1).flatten(1)

    parts = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(3, 8, 1, 2), nn.BatchNorm2d(8)
    return Network(Function(run, *parts), {"x": torch.randn(2, 3, 33, 47)}, {"x": IMAGE})


NETWORKS: dict[str, Callable[[], Network]] = {
    f.__name__: f
    for f in (
        unet,
        interpolated,
        patches,
        windows,
        attention,
        cached_attention,
        recurrent,
        positions,
        shuffled,
        pyramid,
        audio,
        selected,
        fixed_image,
        residual,
    )
}


def transformers_network(name: str) -> Network:
    """A model of transformers of this name, with few small layers."""
    import transformers

    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    small |= {"vocab_size": 50, "max_position_embeddings": 64, "num_labels": 3}
    config_class, model_class, more, inputs = _TRANSFORMERS[name]
    config = getattr(transformers, config_class)(**{**small, **more})
    config.use_cache = False
    module = getattr(transformers, model_class)._from_config(config, attn_implementation="eager").eval()
    image = {0: "batch"} if name in FIXED_IMAGES else IMAGE
    axes = {key: image if value.dim() == 4 else TEXT for key, value in inputs.items()}
    keys = list(inputs)
    return Network(
        Function(lambda *values: module(**dict(zip(keys, values[: len(keys)], strict=True)))[0], module), inputs, axes
    )


_TOKENS = {"input_ids": torch.randint(0, 50, (2, 7)), "attention_mask": torch.ones(2, 7, dtype=torch.int64)}
_PIXELS = {"pixel_values": torch.randn(2, 3, 32, 48)}
_TRANSFORMERS: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "bert": ("BertConfig", "BertForSequenceClassification", {}, _TOKENS),
    "distilbert": (
        "DistilBertConfig",
        "DistilBertForMaskedLM",
        {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
        _TOKENS,
    ),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", {"n_embd": 16, "n_layer": 2, "n_head": 2}, _TOKENS),
    "llama": ("LlamaConfig", "LlamaForCausalLM", {"num_key_value_heads": 1}, _TOKENS),
    "roberta": ("RobertaConfig", "RobertaForTokenClassification", {}, _TOKENS),
    "albert": ("AlbertConfig", "AlbertModel", {"embedding_size": 8}, _TOKENS),
    "electra": ("ElectraConfig", "ElectraModel", {"embedding_size": 8}, _TOKENS),
    "vit": ("ViTConfig", "ViTModel", {"image_size": 32, "patch_size": 8}, {"pixel_values": torch.randn(2, 3, 32, 32)}),
    "segformer": (
        "SegformerConfig",
        "SegformerForSemanticSegmentation",
        {
            "hidden_sizes": [8, 8, 16, 16],
            "num_attention_heads": [1, 1, 2, 2],
            "depths": [1, 1, 1, 1],
            "decoder_hidden_size": 16,
        },
        _PIXELS,
    ),
    "convnext": (
        "ConvNextConfig",
        "ConvNextModel",
        {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "num_hidden_layers": 4},
        _PIXELS,
    ),
    "resnet": (
        "ResNetConfig",
        "ResNetModel",
        {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "layer_type": "basic"},
        _PIXELS,
    ),
}
"""For each name the classes of the config and the model, further values of the config, and example inputs."""
TRANSFORMERS = tuple(_TRANSFORMERS)
FIXED_IMAGES = ("vit",)
"""Networks with a position for each patch of an image of one size: dynamic sizes are a finding, C101."""


def export(network: Network, path: str, dynamo: bool) -> None:
    """Write a network as an ONNX file with dynamic axes."""
    module = network.module.eval()
    names = list(network.inputs)
    if dynamo:
        dims: dict[str, Any] = {}
        shapes = [
            {axis: dims.setdefault(name, torch.export.Dim.DYNAMIC) for axis, name in network.axes.get(key, {}).items()}
            or None
            for key in names
        ]
        program = torch.onnx.export(
            module,
            tuple(network.inputs.values()),
            input_names=names,
            dynamic_shapes=(tuple(shapes),),
            dynamo=True,
            verbose=False,
        )
        program.save(path)
    else:
        torch.onnx.export(
            module,
            tuple(network.inputs.values()),
            path,
            input_names=names,
            dynamic_axes=network.axes,
            opset_version=17,
            dynamo=False,
        )


NOT_EXPORTED = {
    "audio": "torch.export fixes the samples",
    "fixed_image": "torch.export fixes the batch",
    "recurrent": "torch declares the length of the example behind the LSTM",
}
"""Networks that `torch.onnx.export(dynamo=True)` of torch 2.13 refuses, or damages."""


@pytest.mark.slow
@pytest.mark.parametrize("dynamo", [False, True], ids=["TorchScript", "dynamo"])
@pytest.mark.parametrize("name", NETWORKS)
def test_an_export_has_no_failing_diagnostic(name: str, dynamo: bool, tmp_path: Path) -> None:
    if dynamo and name in NOT_EXPORTED:
        pytest.skip(NOT_EXPORTED[name])
    path = tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        export(NETWORKS[name](), str(path), dynamo)
    assert [str(d) for d in check(infer_shapes(path, declared="check")) if d.fails] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_an_export_of_transformers_has_no_failing_diagnostic(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the networks are of transformers")
    path = tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        export(transformers_network(name), str(path), dynamo=False)
    assert [str(d) for d in check(infer_shapes(path, declared="check")) if d.fails] == []
