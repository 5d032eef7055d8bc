"""Matrix products, Einstein sums, decompositions, solvers, diagonals and Fourier transforms."""

import numpy as np

from tests.differential.tf.case import Case, Runtime

ZERO = np.array(0, np.float32)
SPECTRAL = ("FFT", "FFT2D", "FFT3D")


def ints(*values):
    return np.array(values, np.int32)


def scalar(value):
    return np.array(value, np.int32)


def definite(*lead, size=3):
    """Symmetric positive definite matrices."""
    return np.broadcast_to(np.eye(size, dtype=np.float32) * 2, (*lead, size, size))


CASES = [
    # products
    *(
        Case("MatMul", (a, b), {"transpose_a": ta, "transpose_b": tb})
        for a, b, ta, tb in (
            ("float32[2, 3]", "float32[3, 5]", False, False),
            ("float32[3, 2]", "float32[3, 5]", True, False),
            ("float32[3, 2]", "float32[5, 3]", True, True),
            ("float32[0, 3]", "float32[3, 5]", False, False),
            ("float32[2, 0]", "float32[0, 5]", False, False),
        )
    ),
    Case("SparseMatMul", ("float32[2, 3]", "float32[5, 3]"), {"transpose_b": True}),
    Case("BatchMatMul", ("float32[2, 3, 4]", "float32[2, 4, 5]")),
    Case("BatchMatMul", ("float32[2, 4, 3]", "float32[2, 5, 4]"), {"adj_x": True, "adj_y": True}),
    *(
        Case(op, inputs, {"Tout": "float32"} if op.endswith("3") else {})
        for op in ("BatchMatMulV2", "BatchMatMulV3")
        for inputs in (
            ("float32[2, 3, 4]", "float32[4, 5]"),
            ("float32[7, 1, 3, 4]", "float32[2, 4, 5]"),
            ("float32[0, 3, 4]", "float32[1, 4, 5]"),
        )
    ),
    Case("BatchMatMulV2", ("float32[2, 4, 3]", "float32[1, 5, 4]"), {"adj_x": True, "adj_y": True}),
    *(
        Case("Einsum", (list(operands),), {"equation": equation})
        for equation, *operands in (
            ("ij,jk->ik", "float32[2, 3]", "float32[3, 4]"),
            ("...ij,...jk->...ik", "float32[5, 1, 2, 3]", "float32[6, 3, 4]"),
            ("abc->cab", "float32[2, 3, 4]"),
            ("ii->i", "float32[3, 3]"),
            ("i->ii", "float32[3]"),
            ("ij->", "float32[2, 3]"),
            ("b...n,bn->b...", "float32[2, 5, 7, 3]", "float32[2, 3]"),
            ("bhqk,bkhd->bqhd", "float32[2, 3, 4, 5]", "float32[2, 5, 3, 6]"),
            ("...a,a->...", "float32[3]", "float32[3]"),
            ("ij,k->ijk", "float32[0, 3]", "float32[4]"),
        )
    ),
    # decompositions
    *(
        Case(op, (definite(*lead),))
        for op in ["Cholesky", "Lu", "MatrixDeterminant", "MatrixInverse", "LogMatrixDeterminant", "MatrixSquareRoot"]
        for lead in ((), (2,), (2, 1))
    ),
    Case("MatrixLogarithm", (definite(2).astype(np.complex64),)),
    Case("MatrixSquareRoot", ("float32[0, 3, 3]",)),
    Case("CholeskyGrad", (definite(2), definite(2))),
    *(
        Case(op, (definite(2),), {"compute_v": vectors} | ({"Tout": "complex64"} if op == "Eig" else {}))
        for op in ("Eig", "SelfAdjointEigV2")
        for vectors in (False, True)
    ),
    *(
        Case("Qr", (shape,), {"full_matrices": full})
        for shape in ("float32[2, 3, 4]", "float32[5, 2]")
        for full in (False, True)
    ),
    *(
        Case("Svd", (shape,), {"full_matrices": full, "compute_uv": matrices})
        for shape in ("float32[2, 3, 4]", "float32[5, 2]")
        for full, matrices in ((False, True), (True, True), (False, False))
    ),
    # solvers
    Case("MatrixSolve", (definite(2), "float32[2, 3, 5]"), {"adjoint": True}),
    Case("MatrixSolve", (definite(), "float32[3, 0]")),
    Case("MatrixSolveLs", ("float32[2, 4, 3]", "float32[2, 4, 5]", np.array(0.1))),
    Case("MatrixSolveLs", ("float32[3, 4]", "float32[3, 5]", np.array(0.1)), {"fast": False}),
    Case("MatrixTriangularSolve", (definite(1), "float32[2, 3, 5]")),
    Case("MatrixTriangularSolve", (definite(2), "float32[3, 5]"), {"lower": False}),
    Case("BandedTriangularSolve", ("float32[2, 2, 4]", "float32[2, 4, 5]")),
    Case("BandedTriangularSolve", ("float32[2, 2, 4]", "float32[4, 5]"), {"lower": False}),
    Case("TridiagonalMatMul", (*("float32[2, 1, 4]",) * 3, "float32[2, 4, 5]")),
    Case("TridiagonalSolve", ("float32[2, 3, 4]", "float32[2, 4, 5]")),
    Case("TridiagonalSolve", ("float32[3, 4]", "float32[4, 1]"), {"partial_pivoting": False}),
    # diagonals
    *(Case("MatrixDiag", (shape,)) for shape in ("float32[4]", "float32[2, 3]", "float32[2, 0]")),
    *(Case("MatrixDiagPart", (shape,)) for shape in ("float32[4, 3]", "float32[2, 3, 4]")),
    Case("MatrixSetDiag", ("float32[2, 3, 4]", "float32[2, 3]")),
    Case("MatrixBandPart", ("float32[2, 3, 4]", "int64[]", "int64[]")),
    *(
        Case(op, ("float32[2, 3, 4]", k, ZERO), data=isinstance(k, Runtime), ranked=not isinstance(k, Runtime))
        for op in ("MatrixDiagPartV2", "MatrixDiagPartV3")
        for k in (
            scalar(0),
            scalar(-1),
            ints(1),
            ints(1, 1),
            ints(-2, 3),
            ints(1, 2),
            Runtime(scalar(1)),
            Runtime(ints(0, 1)),
        )
    ),
    *(
        Case(op, ("float32[2, 3, 4]", diagonal, k), {})
        for op in ("MatrixSetDiagV2", "MatrixSetDiagV3")
        for diagonal, k in (
            ("float32[2, 3]", scalar(1)),
            ("float32[2, 2]", scalar(-1)),
            ("float32[2, 2, 3]", ints(0, 1)),
            ("float32[2, 2, 3]", Runtime(ints(0, 1))),
        )
    ),
    *(
        Case(op, (diagonal, k, scalar(rows), scalar(columns), ZERO))
        for op in ("MatrixDiagV2", "MatrixDiagV3")
        for diagonal, k, rows, columns in (
            ("float32[2, 3]", scalar(0), -1, -1),
            ("float32[2, 3]", scalar(1), -1, -1),
            ("float32[2, 3]", scalar(-2), -1, -1),
            ("float32[2, 3]", scalar(-1), 7, -1),
            ("float32[2, 3]", scalar(1), -1, 6),
            ("float32[2, 3]", ints(2), 3, 7),
            ("float32[2, 2, 3]", ints(0, 1), -1, -1),
            ("float32[2, 3, 3]", ints(-1, 1), 3, 3),
            ("float32[2, 2, 3]", ints(1, 2), -1, 5),
        )
    ),
    Case(
        "MatrixDiagV3",
        ("float32[2, 3]", Runtime(scalar(1)), scalar(-1), scalar(-1), ZERO),
        {"align": "LEFT_RIGHT"},
        data=True,
    ),
    Case("MatrixDiagV3", ("float32[2, 3]", scalar(1), scalar(-1), Runtime(scalar(-1)), ZERO), data=True),
    Case("MatrixDiagV3", ("float32[2, 3]", scalar(1), Runtime(scalar(3)), scalar(-1), ZERO), data=True),
    # Fourier transforms
    *(Case(kind + op, ("complex64[2, 3, 4]",)) for op in SPECTRAL for kind in ("", "I")),
    *(
        Case("RFFT" + op, ("float32[2, 9, 9, 9]", length), data=isinstance(length, Runtime))
        for op, lengths in (
            ("", (ints(8), ints(9), ints(1), Runtime(ints(5)))),
            ("2D", (ints(8, 7), Runtime(ints(5, 6)))),
            ("3D", (ints(9, 8, 7), Runtime(ints(5, 6, 7)))),
        )
        for length in lengths
    ),
    *(
        Case("IRFFT" + op, ("complex64[2, 9, 9, 9]", length), data=isinstance(length, Runtime))
        for op, lengths in (
            ("", (ints(8), ints(9), ints(1), Runtime(ints(5)))),
            ("2D", (ints(8, 7), Runtime(ints(5, 6)))),
            ("3D", (ints(9, 8, 7), Runtime(ints(5, 6, 7)))),
        )
        for length in lengths
    ),
    Case("RFFT", ("float32[2, 0]", ints(0))),
]
