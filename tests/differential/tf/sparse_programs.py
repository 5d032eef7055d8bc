"""Programs of sparse matrices in row form, and of ragged tensors as variants."""

import numpy as np

from tests.differential.tf.program import Program, step

FLOAT = "float32"
PLACES = np.array([[0, 1], [1, 4], [3, 0]], np.int64)
BATCHED_PLACES = np.array([[0, 0, 1], [0, 3, 4], [1, 2, 2]], np.int64)
SQUARE_PLACES = np.array([[0, 0], [1, 1], [2, 2], [3, 3]], np.int64)


LABEL = np.int64(-1)
LABELS = np.array([[0, 0], [1, 0], [2, 1]], np.int64)


def longs(*values):
    return np.array(values, np.int64)


def dense(name, source):
    """The dense form of a sparse matrix."""
    return step(name, "CSRSparseMatrixToDense", source, type=FLOAT)


def arithmetic(places):
    """The operators with CPU kernels, for one matrix or a batch of matrices."""
    return [
        step("m", "DenseToCSRSparseMatrix", "x", places, T=FLOAT),
        dense("same", "m"),
        step("count", "SparseMatrixNNZ", "m"),
        step("parts", "CSRSparseMatrixComponents", "m", 0, type=FLOAT),
        step("sparse", "CSRSparseMatrixToSparseTensor", "m", type=FLOAT),
        step("back", "SparseTensorToCSRSparseMatrix", "sparse", "sparse:1", "sparse:2", T=FLOAT),
        step("t", "SparseMatrixTranspose", "m", type=FLOAT),
        dense("turned", "t"),
        step("product", "SparseMatrixSparseMatMul", "m", "t", type=FLOAT),
        dense("square", "product"),
        step("other", "SparseMatrixSparseMatMul", "m", "m", type=FLOAT, transpose_a=True),
        dense("columns", "other"),
        step("times", "SparseMatrixMatMul", "m", "y", T=FLOAT),
        step("turn", "SparseMatrixMatMul", "m", "y", T=FLOAT, transpose_output=True),
        step("adjoint", "SparseMatrixMatMul", "t", "y", T=FLOAT, adjoint_a=True),
    ]


OPEN = ("parts", "sparse")
SPARSE = [
    Program("sparse matrix", {"x": "float32[4, 5]", "y": "float32[5, 3]"}, arithmetic(PLACES), open=OPEN),
    Program(
        "sparse matrices",
        {"x": "float32[2, 4, 5]", "y": "float32[2, 5, 3]"},
        arithmetic(BATCHED_PLACES),
        open=OPEN,
    ),
    Program(
        "sparse decomposition",
        {"x": "float32[4, 4]"},
        [
            step("m", "DenseToCSRSparseMatrix", "x", SQUARE_PLACES, T=FLOAT),
            step("order", "SparseMatrixOrderingAMD", "m"),
            step("factor", "SparseMatrixSparseCholesky", "m", "order", type=FLOAT),
            dense("triangle", "factor"),
        ],
    ),
    *(
        Program(
            f"decoded labels, {op}",
            {"x": "float32[6, 3, 5]"},
            [
                step("d", op, "x", np.array([6, 4, 2], np.int32), T=FLOAT, **attributes),
                step(
                    "dense",
                    "SparseToDense",
                    "d",
                    f"d:{shape}",
                    f"d:{values}",
                    np.int64(-1),
                    Tindices="int64",
                    T="int64",
                ),
                step("far", "EditDistance", *operands, *operands, T="int64"),
                step("near", "EditDistance", *operands, LABELS, longs(1, 2, 3), longs(3, 4), T="int64"),
            ],
            open=("d", "dense"),
        )
        for op, attributes, values, shape in (
            ("CTCGreedyDecoder", {}, 1, 2),
            ("CTCBeamSearchDecoder", {"beam_width": 4, "top_paths": 2}, 2, 4),
        )
        for operands in [("d", f"d:{values}", f"d:{shape}")]
    ),
    Program(
        "ragged rows as variants",
        {"x": "float32[3, 4]"},
        [
            step(
                "v",
                "RaggedTensorToVariant",
                [np.array([0, 2, 3], np.int64)],
                "x",
                RAGGED_RANK=1,
                Tvalues=FLOAT,
                batched_input=True,
            ),
            step("rows", "RaggedTensorFromVariant", "v", input_ragged_rank=0, output_ragged_rank=1, Tvalues=FLOAT),
            step(
                "gradient", "RaggedTensorToVariantGradient", "v", np.array([0, 2, 3], np.int64), [3, 4], Tvalues=FLOAT
            ),
        ],
        unknown=("rows",),
    ),
]
