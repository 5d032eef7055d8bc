"""Sizes of sparse, ragged and parsed tensors that are symbols, in shapes and in contents."""

import pytest

from opdefs.tf import tf
from shapeinf.errors import ShapeError
from shapeinf.graph import DeclaredType
from shapeinf.lattice import PartialTensor, Shape, ShapeStore, TensorType
from shapeinf.ops import Call


def run(op, inputs, outputs=1, **attributes):
    """The outputs of a call: inputs are `dtype`, dims (None: unknown rank), and contents where they are known."""
    store = ShapeStore()
    names = {name: store.scope.symbol(name) for name in "BKMN"}

    def value(item):
        return names.get(item, item) if isinstance(item, str) else item

    types = []
    for dtype, dims, *contents in inputs:
        shape = Shape.unknown() if dims is None else Shape(map(value, dims))
        known = [value(item) if dtype != "string" else item for item in contents[0]] if contents else None
        types.append(PartialTensor(dtype, shape, known))
    outcome = Call(tf.lookup("", op, 0), attributes, 0, (True,) * outputs).run(types, store, "node")
    return [str(store.canon_shape(t.shape)) for t in outcome.types], [t.elements for t in outcome.types]


INDICES, VALUES, SIZES = ("int64", ("N", 2)), ("float32", ("N",)), ("int64", (2,), ("B", 3))
SPARSE = (INDICES, VALUES, SIZES)


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "attributes", "expected"),
    [
        ("SparseReorder", SPARSE, 2, {}, ["[N, 2]", "[N]"]),
        ("SparseToDense", (INDICES, SIZES, VALUES, ("float32", ())), 1, {}, ["[B, 3]"]),
        ("SparseReduceSum", (*SPARSE, ("int32", (1,), (0,))), 1, {"keep_dims": True}, ["[1, 3]"]),
        ("SparseReduceMax", (*SPARSE, ("int32", (1,), (-1,))), 1, {}, ["[B]"]),
        ("SparseTensorDenseMatMul", (*SPARSE, ("float32", (3, "K"))), 1, {}, ["[B, K]"]),
        ("SparseTensorDenseMatMul", (*SPARSE, ("float32", ("K", 3))), 1, {"adjoint_b": True}, ["[B, K]"]),
        ("SerializeManySparse", SPARSE, 1, {}, ["[B, 3]"]),
        ("SparseDenseCwiseMul", (*SPARSE, ("float32", (3,))), 1, {}, ["[N]"]),
        ("RaggedTensorToSparse", (("int64", ("N",)), ("float32", ("M", 4))), 3, {}, ["[4*M, 3]", "[4*M]", "[3]"]),
        ("RaggedTensorToVariant", (("int64", ("N",)), ("float32", ("M",))), 1, {"batched_input": True}, ["[N - 1]"]),
        ("DecodePaddedRaw", (("string", ("B",)), ("int32", (), (8,))), 1, {"out_type": "int16"}, ["[B, 4]"]),
        ("UnicodeEncode", (("int32", ("N",)), ("int64", ("B",))), 1, {}, ["[B - 1]"]),
        ("SparseMatrixZeros", (SIZES,), 1, {"type": "float32"}, ["[]"]),
        ("DecodeProtoV2", (("string", ("B", "K")),), 1, {"field_names": (), "output_types": ()}, ["[B, K, 0]"]),
    ],
)
def test_sizes(op, inputs, outputs, attributes, expected):
    assert run(op, inputs, outputs, **attributes)[0] == expected


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "outputs", "expected"),
    [
        ("SparseReshape", (INDICES, SIZES, ("int64", (1,), (-1,))), {}, 2, ["3*B"]),
        ("SparseReshape", (INDICES, SIZES, ("int64", (3,), (3, 1, -1))), {}, 2, ["3", "1", "B"]),
        ("SparseSplit", (("int64", (), (0,)), *SPARSE), {"num_split": 2}, 6, ["B//2", "3"]),
        ("SparseSlice", (*SPARSE, ("int64", (2,), (0, 1)), ("int64", (2,), (2, 5))), {}, 3, ["min(B, 2)", "2"]),
        ("SparseAdd", (*SPARSE, *SPARSE, ("float32", ())), {}, 3, ["B", "3"]),
        ("SparseReduceSumSparse", (*SPARSE, ("int32", (1,), (1,))), {}, 3, ["B"]),
        ("StringSplitV2", (("string", ("B",)), ("string", ())), {}, 3, ["B", "?"]),
        ("RaggedTensorToSparse", (("int64", ("N",)), ("float32", ("M", 4))), {}, 3, ["N - 1", "?", "4"]),
        ("RaggedRange", (("int32", (), (0,)), ("int32", (2,), (3, 1)), ("int32", (), (2,))), {}, 2, ["0", "2", "3"]),
    ],
)
def test_contents(op, inputs, attributes, outputs, expected):
    contents = run(op, inputs, outputs, **attributes)[1]
    known = contents[0] if op == "RaggedRange" else contents[-1]
    texts = ["?" if e is None or "node" in str(e) else str(e) for e in known]
    assert texts == expected


def test_concatenated_sizes():
    operand = [[INDICES, ("int64", ("M", 2))], [VALUES, ("float32", ("M",))], [SIZES, ("int64", (2,), ("K", 3))]]
    shapes, contents = run("SparseConcat", [part for parts in operand for part in parts], 3, concat_dim=0, N=2)
    assert shapes == ["[M + N, 2]", "[M + N]", "[2]"]
    assert list(map(str, contents[2])) == ["B + K", "3"]


def test_features_of_a_batch():
    shape = DeclaredType(dims=(4, 5))
    inputs = [("string", ("B",)), ("string", (0,)), ("string", ()), ("string", ()), ("float32", (0,))]
    attributes = {
        "Nsparse": 1,
        "Ndense": 1,
        "sparse_types": ("int64",),
        "Tdense": ("float32",),
        "dense_shapes": (shape,),
    }
    shapes, contents = run("ParseExample", inputs, 4, **attributes)
    assert shapes[2:] == ["[2]", "[B, 4, 5]"]
    assert shapes[0] == shapes[1].replace("]", ", 2]")  # one count of values
    assert str(contents[2][0]) == "B"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4 8 0,2:-", "[2, 8]"), ("10 3,4", "[4]"), ("", "?"), ("4 8 -", "?"), ("a b", "?"), ("4 -:-", "?")],
)
def test_slices_of_checkpoints(text, expected):
    inputs = [("string", ()), ("string", (1,), ("w",)), ("string", (1,), (text,))]
    assert run("RestoreV2", inputs, dtypes=("float32",))[0] == [expected]


def test_a_sparse_matrix_carries_its_shape():
    store = ShapeStore()
    size = store.scope.symbol("B")
    sizes = PartialTensor("int64", Shape((2,)), [size, 3])
    (matrix,) = (
        Call(tf.lookup("", "SparseMatrixZeros", 0), {"type": "float32"}, 0, (True,)).run([sizes], store, "n").types
    )
    dense = Call(tf.lookup("", "CSRSparseMatrixToDense", 0), {"type": "float32"}, 0, (True,))
    assert str(dense.run([matrix], store, "n").types[0].shape) == "[B, 3]"
    nothing = dense.run([TensorType("variant", Shape(()))], store, "n")
    assert nothing.unknown == "the shape of the sparse matrix 'sparse_matrix' is unknown"


@pytest.mark.parametrize(("rows", "is_refused"), [((7, 7), False), ((7, 6), True), (("N", "M"), False)])
def test_components_of_slices_have_equally_many_rows(rows, is_refused):
    """As TensorFlow's kernel requires it."""
    store = ShapeStore()
    sizes = [store.scope.symbol(size) if isinstance(size, str) else size for size in rows]
    types = [TensorType("float32", Shape((sizes[0], 3))), TensorType("int32", Shape((sizes[1],)))]
    attributes = {
        "Toutput_types": ("float32", "int32"),
        "output_shapes": (DeclaredType(dims=(3,)), DeclaredType(dims=())),
    }
    call = Call(tf.lookup("", "TensorSliceDataset", 0), attributes, 0, (True,))
    if is_refused:
        with pytest.raises(ShapeError, match="same size in the 0th dimension"):
            call.run(types, store, "node")
        return
    call.run(types, store, "node")
    assert store.prove_eq(*sizes) is True
