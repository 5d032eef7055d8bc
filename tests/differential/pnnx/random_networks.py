"""Random networks: a chain of random operators with random arguments over random inputs, as cases for `record.py`.

Each step applies an operator that suits the ranks and element types so far; torch decides whether it runs. What has no
axes, or too many elements, ends a branch. Seeds name the networks, so that one that fails can be made again.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import sys
from pathlib import Path

import attrs

from tests.differential.pnnx.case import Case

MAX_ELEMENTS = 20_000
MAX_RANK = 5
FILE = Path(__file__).parent / "random_cases.json"


def random_case(seed, steps=9):
    """A network of up to `steps` operators that runs in torch at three sizes of its inputs; None if there is none."""
    rng = random.Random(seed)
    specs = _random_inputs(rng)
    builder = _Builder(rng, specs)
    for _ in range(steps * 3):
        builder.step()
        if len(builder.lines) == steps:
            break
    return builder.case(f"seed {seed}") if builder.lines else None


def _random_inputs(rng):
    """The sizes of two inputs in three runs; an axis is the same in all of them, or different."""
    rank = rng.choice([2, 3, 3, 4, 4])
    fixed = [rng.random() < (0.8 if axis == 1 else 0.3) for axis in range(rank)]
    first = [rng.choice([2, 3, 4, 6, 8, 9, 12]) for _ in range(rank)]
    runs = [first]
    for _ in range(2):
        runs.append([d if f else d + rng.choice([1, 2, 4, 6]) for d, f in zip(first, fixed, strict=True)])
    runs[2] = [d if f else d + rng.choice([0, 1, 3]) for d, f in zip(runs[1], fixed, strict=True)]
    return runs


class _Builder:
    """Statements `v3 = F.relu(v1)`; a statement stays if torch runs it in all three runs."""

    def __init__(self, rng, specs):
        import torch
        from torch import nn
        from torch.nn import functional

        self.names = {"torch": torch, "nn": nn, "F": functional}
        self.torch, self.rng, self.specs = torch, rng, specs
        torch.manual_seed(0)
        self.runs = [{"x": torch.rand(s), "y": torch.rand(s)} for s in specs]
        self.lines, self.modules, self.used = [], {}, set()

    def step(self):
        """Add one statement, or none where the random operator does not run."""
        values = list(self.runs[0])
        name = self.rng.choice(values[-3:] if self.rng.random() < 0.7 else values)
        text = self._random_operator(name, self.runs[0][name])
        module = f"m{len(self.modules)}" if text.startswith("nn.") else None
        call = text if module is None else f"{module}({name})"
        results = self._results(module, text, call)
        if results is None or not self._fit(results):
            return
        new = f"v{len(self.lines)}"
        for run, result in zip(self.runs, results, strict=True):
            run[new] = result
        if module is not None:
            self.modules[module] = text
        self.lines.append((new, call))
        self.used.update(set(re.findall(r"\w+", call)) & set(values))

    def _results(self, module, text, call):
        """The values of a call in all runs; None where torch refuses one."""
        try:
            scope = self.names | ({} if module is None else {module: eval(text, self.names).eval()})
            with self.torch.no_grad():
                return [eval(call, scope | run) for run in self.runs]
        except Exception:
            return None

    def _fit(self, results):
        """Whether they are tensors of one rank, neither empty nor large."""
        tensors = all(isinstance(r, self.torch.Tensor) and 0 < r.numel() <= MAX_ELEMENTS for r in results)
        return tensors and len({r.dim() for r in results}) == 1 and 0 < results[0].dim() <= MAX_RANK

    def case(self, name):
        """All statements as assignment expressions in one tuple; its items that nothing reads are the outputs."""
        parts = [f"({new} := {text})" for new, text in self.lines]
        outputs = [new for new, _ in self.lines if new not in self.used] or [self.lines[-1][0]]
        forward = f"({', '.join(parts)}, ({', '.join(outputs)},))[-1]"
        texts = [" ".join([f"f32[{','.join(map(str, s))}]"] * 2) for s in self.specs]
        return Case(name, forward, texts[0], texts[1], self.modules, third=texts[2])

    def _random_operator(self, name, value):
        rng, rank = self.rng, value.dim()
        tables = [_ANY]
        if value.dtype.is_floating_point:
            tables.append(_FLOATS)
            tables += [_IMAGES] * 3 if rank == 4 else [_SERIES] * 2 if rank == 3 else []
        template = rng.choice(rng.choice(tables))
        axis, other_axis = (rng.randrange(-rank, rank) for _ in range(2))
        shape = value.shape
        same = [n for n, v in self.runs[0].items() if v.dim() == rank and v.dtype == value.dtype]
        order = rng.sample(range(rank), rank)
        return eval(
            f"f{template!r}",
            {
                "v": name,
                "o": rng.choice(same),
                "d": axis,
                "e": other_axis,
                "n": shape[axis],
                "last": shape[-1],
                "c": shape[1] if rank > 1 else shape[0],
                "k": rng.choice([1, 2, 3, 4]),
                "q": rng.choice([1, 2, 3]),
                "s": rng.choice([1, 2, 3]),
                "p": rng.choice([0, 1, 2]),
                "g": rng.choice([1, 1, 2, shape[1] if rank > 1 else 1]),
                "t": rng.choice([True, False]),
                "u": rng.choice([True, False]),
                "i": rng.randrange(-2, 3),
                "j": rng.randrange(1, 6),
                "f": rng.choice([0.5, 1.5, 2.0, 2.5]),
                "order": order,
                "tail": [f"{name}.size({a})" for a in range(2, rank)],
                "letters": "abc"[: rank - 2],
                "rank": rank,
                "slices": ", ".join(_slice(rng) for _ in range(rng.randrange(1, rank + 1))),
            },
        )


def _slice(rng):
    return rng.choice([":", "1:", ":-1", "::2", "1:3", "0:2", "-2:", "0", "-1", "1:-1:2", "..."])


_ANY = [
    "{v}.permute{tuple(order)}",
    "{v}.transpose({d}, {e})",
    "{v}.unsqueeze({d})",
    "{v}.flatten({d})",
    "{v}.flatten(0, {e})",
    "{v}.reshape({v}.size(0), -1)",
    "{v}.reshape(-1, {v}.size(-1))",
    "{v}.reshape({v}.size(0), {v}.size(1) * {v}.size(-1), -1)",
    "{v}.view({v}.size(0), -1, {q})",
    "torch.cat([{v}, {o}], {d})",
    "torch.stack([{v}, {o}], {d})",
    "torch.flip({v}, [{d}])",
    "torch.roll({v}, {i}, {d})",
    "{v}.chunk({k}, {d})[0]",
    "{v}.chunk({k}, {d})[-1]",
    "{v}.split({k}, {d})[0]",
    "{v}.select({d}, {i})",
    "{v}.narrow({d}, {p}, {q})",
    "{v}[{slices}]",
    "{v}.repeat(*[1, {q}, 1, {s}, 1][:{rank}])",
    "{v}.unsqueeze({d}).expand_as(torch.stack([{v}, {v}, {v}], {d}))",
    "{v}.repeat_interleave({q}, {d})",
    "{v} + {o}",
    "{v} * {v}.size({d})",
    "{v} > 0.5",
    "{v}.argmax({d}, keepdim={t})",
    "{v}.amax({d}, keepdim={t})",
    "{v}.sum(({d},), keepdim={t})",
    "torch.topk({v}, {q}, {d})[0]",
    "{v}.cumsum({d})",
    "{v}.unsqueeze({d}).squeeze({d})",  # of an open size, the rank would depend on the size
    "torch.where({v} > 0.3, {v}, {o})",
    "torch.zeros({v}.size({d}), {v}.size({e}) + 1)",
    "torch.arange({v}.size({d}))",
    "torch.ones_like({v})",
    "{v}.gather({d}, {v}.argmax({d}, keepdim=True))",
    "{v}.index_select({d}, torch.tensor([0, 1]))",
    "{v}.float()",
    "{v}.max({d}, keepdim={t})[0]",
    "torch.tensor_split({v}, {k}, {d})[-1]",
]

_FLOATS = [
    "F.relu({v})",
    "{v}.softmax({d})",
    "{v}.mean({d}, keepdim={t})",
    "{v}.std({d})",
    "{v}.norm(2, {d}, {t})",
    "F.normalize({v}, dim={d})",
    "F.glu({v}, {d})",
    "nn.Linear({last}, {j})",
    "nn.LayerNorm({last})",
    "F.pad({v}, ({p}, {q}))",
    "F.pad({v}, ({p}, -1, {q}, {s}))",
    "{v} @ {o}.transpose(-1, -2)",
    "torch.sqrt({v} + {k}) / {v}.size({d})",
    "{v}.clamp(0.1, 0.6)",
    "torch.einsum('{letters}ij,{letters}kj->{letters}ik', {v}, {o})",
]

_IMAGES = [
    "nn.Conv2d({c}, {j}, ({k}, {q}), stride={s}, padding={p}, dilation={q})",
    "nn.Conv2d({c}, {c}, {k}, padding='same', groups={c})",
    "nn.ConvTranspose2d({c}, {j}, {k}, stride={s}, padding={p} % {k}, output_padding={p} % {s})",
    "nn.BatchNorm2d({c})",
    "nn.MaxPool2d({k}, {s}, {p}, ceil_mode={t})",
    "nn.AvgPool2d({k}, {s}, {p}, ceil_mode={t}, count_include_pad={u})",
    "nn.AdaptiveAvgPool2d(({q}, None))",
    "nn.AdaptiveMaxPool2d({k})",
    "F.interpolate({v}, scale_factor={f}, mode='nearest')",
    "F.interpolate({v}, scale_factor=({f}, {q}), mode='bilinear', align_corners={t})",
    "F.interpolate({v}, size=({v}.size(2) + {p}, {v}.size(3) * {q}), mode='bilinear')",
    "F.interpolate({v}, size=({j}, {k}))",
    "nn.PixelShuffle({q})",
    "nn.PixelUnshuffle({q})",
    "F.unfold({v}, {k}, {q}, {p}, {s})",
    "nn.ReflectionPad2d(({p}, {q}, 0, 1))",
    "nn.Upsample(scale_factor={f})",
    "nn.InstanceNorm2d({c})",
    "nn.ZeroPad2d(({p}, {q}, {s}, 0))",
    "nn.ChannelShuffle({g})",
    "F.lp_pool2d({v}, 2, {k}, {s}, {t})",
    "nn.GroupNorm(1, {c})",
]

_SERIES = [
    "nn.Conv1d({c}, {j}, {k}, stride={s}, padding={p}, dilation={q})",
    "nn.ConvTranspose1d({c}, {j}, {k}, stride={s}, padding={p} % {k}, output_padding={p} % {s})",
    "nn.MaxPool1d({k}, {s}, {p}, {q}, ceil_mode={t})",
    "nn.AvgPool1d({k}, {s}, {p}, {t})",
    "nn.AdaptiveAvgPool1d({k})",
    "nn.BatchNorm1d({c})",
    "F.interpolate({v}, scale_factor={f}, mode='linear')",
    "torch.bmm({v}, {o}.transpose(1, 2))",
    "F.scaled_dot_product_attention({v}, {o}, {o})",
    "nn.ReplicationPad1d(({p}, {q}))",
]


def main(seeds):
    """Write the networks of these seeds that pnnx converts, as `cases_random.py` reads them."""
    from tests.differential.pnnx.record import record

    cases = []
    for case in filter(None, map(random_case, seeds)):
        with contextlib.suppress(Exception):  # pnnx fails, or writes a program that does not run
            record(case)
            cases.append(attrs.asdict(case))
    FILE.write_text("[\n" + ",\n".join(f" {json.dumps(case)}" for case in cases) + "\n]\n", encoding="utf8")


if __name__ == "__main__":
    main(range(int(sys.argv[1]), int(sys.argv[2])))
