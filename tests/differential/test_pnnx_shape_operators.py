"""Operators on shapes in forms that pnnx does not write for the cases of `pnnx/`: lists, computed arguments, errors.

The expectations are torch's semantics, computed by hand.
"""

import pytest

from shapeinf import infer_shapes


def network(lines, inputs):
    """A network of these lines, whose inputs x, y, ... have the element types and shapes of the texts."""
    sources = [f"pnnx.Input in_{name} 0 1 {name} #{name}={text}" for name, text in zip("xyzuv", inputs, strict=False)]
    operators = [*sources, *(line.format(end=2**31 - 1) for line in lines), "pnnx.Output last 1 0 out"]
    blobs = {blob for line in operators for blob in line.split()[4 : 4 + int(line.split()[2]) + int(line.split()[3])]}
    return f"7767517\n{len(operators)} {len(blobs)}\n" + "\n".join(operators) + "\n"


def infer(lines, inputs, **options):
    return infer_shapes(network(lines, inputs), declared="ignore", **options)


SHAPES = [
    (
        ["torch.split s 1 1 x list dim=1 split_size_or_sections=2", "prim::ListUnpack u 1 3 list a b out"],
        ["(4,5)f32"],
        "float32[4, 1]",
    ),
    (["torch.unbind s 1 1 x list dim=0", "torch.cat c 1 1 list out dim=0"], ["(3,4,5)f32"], "float32[12, 5]"),
    (["torch.chunk s 1 1 x list chunks=2 dim=0", "torch.stack c 1 1 list out dim=-1"], ["(4,5)i64"], "int64[2, 5, 2]"),
    (
        ["Tensor.size s 1 1 x n $input=x", "torch.ones z 1 1 n out dtype=torch.bool $size=n"],
        ["(2,3)f32"],
        "bool[2, 3]",
    ),
    (
        ["Tensor.size s 1 1 x n dim=-1 $input=x", "Tensor.expand e 2 1 y n out $input=y $sizes=n"],
        ["(2,3)f32", "(1)f16"],
        "float16[3]",
    ),
    (
        ["Tensor.size s 1 1 x n $input=x", "torch.flip f 1 1 n m dims=(0)", "Tensor.reshape r 2 1 x m out $shape=m"],
        ["(2,3,7)f32"],
        "float32[7, 3, 2]",
    ),
    (
        [
            "Tensor.size s 1 1 x n $input=x",
            "Tensor.slice l 1 1 n m dim=0 end={end} start=1 step=1",
            "torch.full f 1 1 m out dtype=None fill_value=True $size=m",
        ],
        ["(2,3,7)f32"],
        "bool[3, 7]",
    ),
    (
        [
            "pnnx.Expression e 1 1 y n expr=size(@0,0)",
            "pnnx.SliceIndexes i 1 1 n ends indexes=(@0,5)",
            "Tensor.slice l 2 1 x ends out dims=(1,2) selects=({end},{end}) starts=(1,-2) steps=(2,1) $ends=ends",
        ],
        ["(2,9,7)f32", "(6)f32"],
        "float32[2, 3, 0]",
    ),
    (
        ["Tensor.size s 1 1 y n $input=y", "torch.split p 2 2 x n out other dim=0 $tensor=x $split_size_or_sections=n"],
        ["(7,2)f32", "(3,4)f32"],
        "float32[3, 2]",
    ),
    (["Tensor.copy c 2 1 x y out $self=x $src=y"], ["(2,3)f16", "(3)i64"], "float16[2, 3]"),
    (["torch.normal n 1 1 x out generator=None mean=0.0 std=1.0"], ["(2,3)f16"], "float16[2, 3]"),
    (["torch.cat c 3 1 x y z out dim=1"], ["(0)f32", "(2,3)f32", "(2,4)f32"], "float32[2, 7]"),
    (["torch.arange a 0 1 out end=5 start=0 step=0.3 dtype=None"], ["(1)f32"], "float32[17]"),
    (["torch.arange a 0 1 out end=2.9 dtype=torch.long"], ["(1)f32"], "int64[2]"),
    (["Tensor.index i 1 1 x out expr=[None,[0,2],None,[1,1]]"], ["(2,3,4,5)f32"], "float32[2, 2, 4]"),
    (["Tensor.index i 1 1 x out expr=[[True,False]]"], ["(2,3)f32"], "float32[1, 3]"),
    (["torch.masked_select m 2 1 x y out"], ["(2,3)f32", "(2,3)bool"], "float32[≤ 6]"),
    (["torch.squeeze s 1 1 x out dim=(0,-2)"], ["(1,2,1,1)f32"], "float32[2, 1]"),
    *(
        ([f"prim::Constant k 0 1 d value={code}", "aten::prod o 2 1 x d out"], ["(2,3)bool"], f"{dtype}[]")
        for code, dtype in {0: "uint8", 1: "int8", 4: "int64", 5: "float16", 6: "float32", 7: "float64"}.items()
    ),
]


@pytest.mark.parametrize(("lines", "inputs", "expected"), SHAPES)
def test_shapes(lines, inputs, expected):
    result = infer(lines, inputs)
    out = result.tensors["out"]
    assert not [d for d in result.diagnostics if d.severity == "error"]
    low, high = expected.split("[")
    assert out.dtype == low
    if "≤" in expected:
        (count,) = out.shape
        assert str(result.engine.store.scope.limits[count]) == high.strip("≤ ]")
    else:
        assert str(out.shape) == f"[{high}"


UNKNOWN_RANK = [
    ("torch.transpose o 1 1 x out dim0=0 dim1=1", "?"),
    ("torch.flatten o 1 1 x out start_dim=0 end_dim=-1", "?"),
    ("Tensor.permute o 1 1 x out dims=(2,0,1)", "[`x.2`, `x.0`, `x.1`]"),
    ("Tensor.reshape o 1 1 x out shape=(2,3)", "[2, 3]"),
    ("Tensor.slice o 1 1 x out dim=0 start=1 end=2 step=1", "?"),
    ("torch.flip o 1 1 x out dims=(0)", "?"),
    ("torch.repeat_interleave o 1 1 x out dim=None repeats=2", "[2*`size`]"),
    ("Tensor.repeat o 1 1 x out sizes=(1,2)", "[`repeat.0`, `repeat.1`]"),
    ("torch.as_strided o 1 1 x out size=(2,3) stride=(1,1)", "[2, 3]"),
    ("torch.zeros_like o 1 1 x out dtype=None", "?"),
]


@pytest.mark.parametrize(("line", "expected"), UNKNOWN_RANK)
def test_an_input_of_unknown_rank(line, expected):
    text = network([line], []).replace("7767517\n2 ", "7767517\n3 ").replace(line, f"pnnx.Input in_x 0 1 x\n{line}")
    result = infer_shapes(text)
    shape = result.tensors["out"].shape
    assert (shape.dims is None) == (expected == "?")
    if shape.dims is not None:
        sizes = expected.strip("[]").split(", ")
        assert [d for d in map(str, shape) if d.isdigit()] == [s for s in sizes if s.isdigit()]
        assert len(shape) == len(sizes)


OWN_TYPES = [
    (["Tensor.type_as t 2 1 x y out $input=x $other=y"], ["(2,3)f32"], None),
    (["Tensor.size s 1 1 y n $input=y", "Tensor.new_zeros o 2 1 x n out dtype=torch.int $size=n"], ["(2)f32"], None),
    (["Tensor.size s 1 1 y out $input=y"], ["(2,3)f32"], None),
    (["torch.cat c 2 1 x y out dim=0"], ["(2,3)f32"], None),
    (["Tensor.clone c 1 1 y z", "Tensor.to t 1 1 z out dtype=torch.half copy=False"], ["(2,3)f32"], "float16"),
]


@pytest.mark.parametrize(("lines", "inputs", "dtype"), OWN_TYPES)
def test_element_types_where_an_input_is_not_known(lines, inputs, dtype):
    text = network(["pnnx.Input unknown 0 1 y", *lines], inputs)
    assert infer_shapes(text).tensors["out"].dtype == dtype


COMPUTED = [
    ("torch.squeeze o 2 1 x n out $input=x $dim=n", "?"),
    ("torch.repeat_interleave o 2 1 x n out repeats=2 $input=x $dim=n", "?"),
    ("Tensor.slice o 2 1 x n out starts=(0) ends=(1) steps=(1) $input=x $dims=n", "?"),
    ("Tensor.slice o 2 1 x n out dim=1 start=1 step=1 $input=x $end=n", "[1, *, 8]"),
    ("Tensor.select o 2 1 x n out dim=1 $input=x $index=n", "[1, 8]"),
    ("torch.narrow o 2 1 x n out dim=1 start=0 $input=x $length=n", "[1, *, 8]"),
    ("torch.sum o 2 1 x n out keepdim=False $input=x $dim=n", "?"),
    ("torch.fft.fft o 2 1 x n out dim=1 $input=x $n=n", "?"),
    ("torch.zeros o 1 1 n out dtype=None $size=n", "?"),
    ("Tensor.reshape o 2 1 x n out $input=x $shape=n", "?"),
]
"""Computed arguments of unknown contents, which must not be read as absent ones, nor as lists of one item."""


@pytest.mark.parametrize(("line", "expected"), COMPUTED)
def test_an_argument_that_is_not_known(line, expected):
    shape = infer_shapes(network(["pnnx.Input unknown 0 1 n", line], ["(1,3,8)f32"])).tensors["out"].shape
    assert (shape.dims is None) == (expected == "?")
    if shape.dims is not None:
        sizes = [str(d) if isinstance(d, int) else "*" for d in shape]
        assert sizes == expected.strip("[]").split(", ")


COMPUTED = [
    ("torch.fft.rfft", "n=None norm=None $dim=y"),
    ("torch.fft.rfft", "dim=-1 norm=None $n=y"),
    *(
        (f"torch.fft.rfft{suffix}", f"{rest} norm=None")
        for suffix in "2n"
        for rest in ("s=None $dim=y", "dim=None $s=y")
    ),
]


@pytest.mark.parametrize(("op", "parameters"), COMPUTED)
def test_an_axis_or_size_that_is_computed_is_not_the_default(op, parameters):
    lines = ["pnnx.Input unknown 0 1 y", f"{op} o 2 1 x y out $input=x {parameters}"]
    result = infer_shapes(network(lines, ["(4,6,8)f32"]))
    assert result.tensors["out"].shape.dims is None


ERRORS = [
    (
        "torch.cat o 2 1 x y out dim=0",
        ["(2,3)f32", "(2,4)f32"],
        "axis 1 must be equal in all inputs of",
    ),
    ("torch.stack o 2 1 x y out dim=0", ["(2,3)f32", "(2,4)f32"], "the tensors of a stack must have equal shapes"),
    ("torch.split o 1 2 x out b dim=0 split_size_or_sections=(1,2)", ["(4)f32"], "must add up to the axis"),
    ("torch.chunk o 1 3 x out b c chunks=3 dim=0", ["(4)f32"], "the node has 3 outputs"),
    ("torch.unbind o 1 2 x out b dim=0", ["(3,4)f32"], "the axis must have one element for each output"),
    ("Tensor.reshape o 1 1 x out shape=(2,-1)", ["(3,3)f32"], "the element count must not change"),
    ("torch.flatten o 1 1 x out start_dim=1 end_dim=0", ["(3,3)f32"], "start_dim must be at most end_dim"),
    ("Tensor.expand o 1 1 x out sizes=(3)", ["(2)f32"], "each axis of the input must have size 1"),
    ("Tensor.expand o 1 1 x out sizes=(-1,2)", ["(2)f32"], "the items of sizes for new axes must be at least 0"),
    ("Tensor.repeat o 1 1 x out sizes=(2)", ["(2,3)f32"], "sizes must have at least one item for each axis"),
    ("Tensor.select o 1 1 x out dim=0 index=2", ["(2,3)f32"], "indices must lie in [-2, 2)"),
    ("Tensor.slice o 1 1 x out dim=0 start=0 end=1 step=0", ["(2,3)f32"], "step must be at least 1"),
    ("Tensor.slice o 1 1 x out dims=(0,0) starts=(0,0) ends=(1,1) steps=(1,1)", ["(2)f32"], "axes must be distinct"),
    ("torch.narrow o 1 1 x out dim=0 start=1 length=2", ["(2)f32"], "start + length must be at most the size"),
    ("torch.gather o 2 1 x y out dim=0", ["(2,3)f32", "(2)i64"], "input and index must have the same rank"),
    ("torch.arange o 0 1 out start=3 end=1 dtype=None", ["(2)f32"], "step must lead from start to end"),
    ("torch.zeros o 0 1 out size=(2,-1) dtype=None", ["(2)f32"], "a size must be at least 0"),
    ("torch.zeros o 0 1 out size=(2,1) dtype=torch.foo", ["(2)f32"], "dtype must be an element type of torch"),
    ("pnnx.SliceIndexes o 1 1 x out indexes=(@1,0)", ["(2)i64"], "an input such as @0"),
    ("torch.positive o 1 1 x out", ["(2)bool"], "the input must have numbers"),
]


@pytest.mark.parametrize(("line", "inputs", "message"), ERRORS)
def test_errors(line, inputs, message):
    result = infer([line], inputs)
    (error,) = [d for d in result.diagnostics if d.severity == "error"]
    assert message in error.message
    assert error.node == "o"


CONDITIONS = [
    ("torch.chunk o 1 3 x out b c chunks=3 dim=0", 7, [5, 6, 7, 9], [4]),
    ("torch.split o 1 2 x out b dim=0 split_size_or_sections=4", 6, [5, 8], [4, 9]),
    ("torch.unbind o 1 2 x out b dim=0", 2, [2], [1, 3]),
    ("Tensor.select o 1 1 x out dim=0 index=-3", 4, [3, 4], [2]),
    ("torch.narrow o 1 1 x out dim=0 start=2 length=3", 8, [5, 9], [4]),
    ("torch.split o 1 3 x out b c dim=0 split_size_or_sections=(2,1,3)", 6, [6], [5, 7]),
    ("torch.tensor_split o 1 3 x out b c dim=0 sections=3", 7, [1, 2, 7], []),
]


@pytest.mark.parametrize(("line", "traced", "legal", "illegal"), CONDITIONS)
def test_the_sizes_that_a_network_accepts(line, traced, legal, illegal):
    text = network([line], [f"({traced},2)f32"])
    contract = infer_shapes(text, inputs={"x": ["n", 2]}, declared="ignore").contract
    verdicts = {n: contract.check(n=n).verdict for n in (*legal, *illegal)}
    assert verdicts == dict.fromkeys(legal, True) | dict.fromkeys(illegal, False)
    stated = {n: all(p.holds({"n": n}) for p in contract.preconditions) for n in verdicts}  # `check` infers again
    assert stated == verdicts
