"""The element types of functions under autocast that are composed of others, against torch."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from opdefs.torch.autocast_einsum import lowered_operands
from shapeinf import infer_shapes

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

EQUATIONS = [
    *("ab,ac,bc->ab", "ab,ac,bd->abcd", "ab,bc,cd,de->ae", "ab,ab,ac->bc", "aa,aa,aa->", "ab,b,b->a", "ab,b,b->ab"),
    *("...a,ab,bc->...c", "ab,cb,db->acd", "a,b,c->a", "ab,bc", "a,a", "ab->ba", "ab,ab->ab", "ab,cd->ac"),
]


def einsum(equation: str) -> Callable[[Any], Any]:
    def compute(x: Any) -> Any:
        operands = equation.partition("->")[0].split(",")
        return torch.einsum(equation, *(x if len(text) > 1 else x[0] for text in operands))

    return compute


FUNCTIONS: list[Callable[[Any], Any]] = [
    *map(einsum, EQUATIONS),
    lambda x: torch.einsum("ab,bc->ac", x[:, :1], x[:1]),
    *(lambda x, count=count: torch.tensordot(x, x, count) for count in (0, 1, 2)),
    *(lambda x, power=power: torch.linalg.matrix_power(x, power) for power in (-2, -1, 0, 1, 2, 3)),
    lambda x: torch.inner(x, x),
    lambda x: torch.inner(x, x[0]),
    lambda x: torch.inner(x[0], x[0]),
    lambda x: torch.chain_matmul(x, x, x),
    lambda x: torch.linalg.multi_dot([x, x, x]),
    torch.linalg.pinv,
    torch.pinverse,
    lambda x: torch.nn.functional.affine_grid(x[None, :2, :3], [1, 1, 2, 2]),
    lambda x: torch.conv_tbc(x[None], torch.ones(1, 4, 3), torch.ones(3)),
    lambda x: torch.nn.RNNCell(4, 3)(x),
    lambda x: torch.nn.GRUCell(4, 3)(x),
    lambda x: torch.nn.functional.bilinear(x, x, torch.ones(2, 4, 4)),
    lambda x: torch.kron(x, x),
    lambda x: torch.mv(x, x[0]),
    lambda x: torch.dot(x[0], x[0]),
    lambda x: torch.where(x > 0, x, x @ x),
    lambda x: (x @ x).sum(),
]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_functions_under_autocast_have_the_types_of_torch(dtype: Any) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            with torch.autocast("cpu", dtype=dtype):
                return tuple([function(x) for function in FUNCTIONS])

    x = torch.eye(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [f"{str(y.dtype).removeprefix('torch.')}{list(y.shape)}" for y in Model()(x)]
        program = torch.export.export(Model(), (x,))
    result = infer_shapes(program, declared="ignore")
    types = [str(result.tensors[name]) for name in result.graph.outputs]
    assert types == wanted


@pytest.mark.parametrize("seed", range(4))
def test_drawn_equations_lower_the_operands_that_torch_lowers(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(60):
        operands = [source.sample("abcde", source.randint(1, 3)) for _ in range(source.randint(1, 5))]
        used = sorted({letter for letters in operands for letter in letters})
        sizes = {letter: source.choice((1, 2, 2, 3)) for letter in used}
        equation = ",".join(map("".join, operands))
        if source.random() < 0.8:
            equation += "->" + "".join(source.sample(used, source.randint(0, len(used))))
        tensors = [torch.ones([sizes[letter] for letter in letters]) for letters in operands]
        path = []
        for count in range(len(tensors), 1, -1):
            path += sorted(source.sample(range(count), 2))
        for order in (None, path or None):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                result = torch._VF.einsum(equation, tensors, path=order)
            lowered = lowered_operands(equation, order, [tuple(x.shape) for x in tensors])
            assert (result.dtype == torch.bfloat16) is (len(lowered) == len(tensors)), (equation, order)
