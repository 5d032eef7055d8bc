"""What programs of torch.export assert of remainders and quotients of sizes, as congruences of the contract.

The oracle is Python's own arithmetic, which is what torch evaluates.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from shapeinf import infer_shapes
from tests.formats.torch_export.programs import graph, node, number, program, symbol, tensor

Calls = list[tuple[str, Any, Any]]
"""Operators of Python with two operands: numbers, `n` for the size, or `k` for the result of the k-th call before."""

TABLE: list[tuple[Calls, Callable[[int], bool], str]] = [
    ([("mod", "n", 8), ("eq", "v0", 0)], lambda n: n % 8 == 0, "x_0 % 8 == 0"),
    ([("mod", "n", 8), ("eq", "v0", 3)], lambda n: n % 8 == 3, "x_0 % 8 == 3"),
    ([("mod", "n", 8), ("ne", "v0", 0)], lambda n: n % 8 != 0, ""),
    ([("mod", "n", 8), ("le", "v0", 0)], lambda n: n % 8 <= 0, "x_0 % 8 == 0"),
    ([("mod", "n", 8), ("lt", "v0", 4)], lambda n: n % 8 < 4, ""),
    ([("mul", 2, "n"), ("mod", "v0", 6), ("eq", "v1", 2)], lambda n: 2 * n % 6 == 2, "x_0 % 3 == 1"),
    ([("mul", "n", "n"), ("mod", "v0", 4), ("eq", "v1", 0)], lambda n: n * n % 4 == 0, "x_0*x_0 % 4 == 0"),
    ([("sub", 2, "n"), ("mod", "v0", 4), ("eq", "v1", 0)], lambda n: (2 - n) % 4 == 0, "x_0 % 4 == 2"),
    ([("add", "n", 1), ("mod", "v0", 8), ("eq", "v1", 0)], lambda n: (n + 1) % 8 == 0, "x_0 % 8 == 7"),
    ([("floordiv", "n", 4), ("mul", 4, "v0"), ("eq", "v1", "n")], lambda n: n // 4 * 4 == n, "x_0 % 4 == 0"),
    ([("floordiv", "n", 4), ("mul", 4, "v0"), ("ge", "v1", "n")], lambda n: n // 4 * 4 >= n, "x_0 % 4 == 0"),
    ([("floordiv", "n", 4), ("eq", "v0", 3)], lambda n: n // 4 == 3, ""),
    ([("floordiv", "n", 2), ("mod", "v0", 3), ("eq", "v1", 1)], lambda n: n // 2 % 3 == 1, ""),
    ([("floordiv", "n", 2), ("mod", "v0", 3), ("eq", "v1", 0)], lambda n: n // 2 % 3 == 0, ""),
    ([("mod", 24, "n"), ("eq", "v0", 0)], lambda n: 24 % n == 0, ""),
]
"""Calls whose last result is asserted, what it is for a size n, and the condition of the contract if it is one."""


def contract_of(calls: Calls) -> Any:
    """The contract of a program that asserts the last result."""
    nodes = [node("torch.ops.aten.sym_size.int", {"self": "x", "dim": 0}, number("n"))]
    for at, (name, *operands) in enumerate(calls):
        arguments = dict(zip("ab", [number(x) if isinstance(x, str) else x for x in operands], strict=True))
        is_truth = at == len(calls) - 1
        output = {"as_sym_bool": {"as_name": f"v{at}"}} if is_truth else number(f"v{at}")
        nodes.append(node(f"_operator.{name}", arguments, output))
    truth = {"as_sym_bool": {"as_name": f"v{len(calls) - 1}"}}
    nodes.append(node("torch.ops.aten._assert_scalar.default", {"self": truth, "assert_msg": {"as_string": ""}}))
    nodes.append(node("torch.ops.aten.relu.default", {"self": "x"}, "y"))
    top = graph(["x"], nodes, ["y"], tensors={"x": tensor(symbol("s0"))}, numbers={"n": symbol("s0")})
    return infer_shapes(json.dumps(program(top)).encode()).contract


@pytest.mark.parametrize(("calls", "holds", "text"), TABLE)
def test_an_asserted_remainder_is_a_condition(calls: Calls, holds: Callable[[int], bool], text: str) -> None:
    contract = contract_of(calls)
    assert [contract.check(x_0=n).verdict for n in range(1, 30)] == [holds(n) for n in range(1, 30)]
    assert not text or str(contract).startswith(f"{text}, required by")
