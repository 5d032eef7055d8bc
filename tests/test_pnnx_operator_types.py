"""Every operator type that pnnx emits has a rule, and the rule reads every argument that pnnx writes."""

from __future__ import annotations

import json
import re

import pytest

from opdefs.pnnx import pnnx
from opdefs.pnnx.operator_types import GRAPH_TYPES, names
from shapeinf.formats.pnnx.document import parse
from tests.differential.pnnx.record import RECORDED
from tests.vectors import ROOT

FOLDERS = ("nets", "kuiper", "probe")

VALUES_ONLY = {
    *("align_corners", "alpha", "approximate", "beta", "count_include_pad", "dropout_p", "eps", "is_causal", "k"),
    *("lambd", "largest", "lower", "max_val", "min_val", "negative_slope", "nonlinearity", "norm_type", "normalized"),
    *("p", "padding_mode", "recompute_scale_factor", "scale", "scale_grad_by_freq", "sorted", "sparse", "threshold"),
    *("upper", "value"),
}
"""Arguments of functions and modules that change the values of elements only, never their number or type."""

IGNORED = {
    ("torch.std", "correction"): "the degrees of freedom change values only",
    ("torch.std", "unbiased"): "as correction",
    ("torch.var", "unbiased"): "as correction",
    **{
        (f"nn.{module}", "affine"): "the weights are there or not"
        for module in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm")
    },
    **{(f"nn.{module}", "elementwise_affine"): "the weights are there or not" for module in ("LayerNorm", "RMSNorm")},
    **{
        (f"nn.{module}", "bias"): "the weights are there or not"
        for module in ("GRU", "LSTM", "RNN", "MultiheadAttention")
    },
    ("nn.MultiheadAttention", "out_proj.bias"): "embed_dim states its size",
    ("nn.MultiheadAttention", "out_proj.weight"): "embed_dim states its sizes",
}
"""Arguments of single operators that their rules ignore, and why."""

RECURRENT = re.compile(r"(weight|bias)_(ih|hh|hr)_l\d+(_reverse)?")
"""The weights of recurrent modules, whose sizes the module states."""


def texts():
    """The `.param` texts of all networks that pnnx converted."""
    for file in sorted(RECORDED.glob("*.json")):
        for record in json.loads(file.read_text(encoding="utf8")).values():
            networks = [network for network in record.values() if isinstance(network, dict)]
            yield from (network["param"] for network in networks if "param" in network)
    for folder in FOLDERS:
        for file in sorted((ROOT / "pnnx" / folder).glob("*.param")):
            yield file.read_text(encoding="utf8")


def unread_arguments():
    """(operator type, argument) of all arguments that no parameter or attribute of the rule has the name of."""
    unread = set()
    for operator in (operator for text in texts() for operator in parse(text, "text").operators):
        op_def = pnnx.lookup("", operator.type, 1)
        if op_def is None or op_def.rule is None:
            continue
        rule = op_def.rule
        known = rule.attribute_names | {param.name.removesuffix("_") for param in rule.params}
        stated = [*operator.parameters, *operator.weights, *(() if rule.variadic else operator.arguments)]
        unread |= {(operator.type, name) for name in stated if name not in known}
    return unread


@pytest.mark.parametrize("name", names())
def test_every_type_has_a_rule(name):
    op_def = pnnx.lookup("", name, 1)
    assert name in GRAPH_TYPES or (op_def is not None and op_def.rule is not None)


def test_the_number_of_types():
    assert len(names()) == 304


def test_rules_read_the_arguments_that_pnnx_writes():
    unread = unread_arguments()
    ignored = {(operator, name) for operator, name in unread if name in VALUES_ONLY or (operator, name) in IGNORED}
    ignored |= {(o, name) for o, name in unread if o in ("nn.GRU", "nn.LSTM", "nn.RNN") and RECURRENT.fullmatch(name)}
    assert not unread - ignored


def test_no_ignored_argument_is_read():
    """The lists above have no entry that a rule reads."""
    for operator, name in IGNORED:
        rule = pnnx.lookup("", operator, 1).rule
        assert name not in rule.attribute_names
