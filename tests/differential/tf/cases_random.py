"""Random numbers, sets and quantized arithmetic."""

import numpy as np

from tests.differential.tf.case import Case, Runtime

SEED = np.array([1, 2], np.int64)
KEY, COUNTER = np.array([1], np.uint64), np.array([1, 2], np.uint64)
ALG = np.array(1, np.int32)
LIMITS = (np.array(0, np.int32), np.array(9, np.int32))


def ints(*values):
    return np.array(values, np.int32)


def longs(*values):
    return np.array(values, np.int64)


def scalar(value):
    return np.array(value, np.int32)


def unknown(shape):
    """The options of a case whose shape only the run has: with a symbolic length its rank is unknown."""
    return {"data": True, "ranked": False} if isinstance(shape, Runtime) else {}


SHAPES = (ints(2, 3), longs(4), ints(), ints(0, 3), Runtime(ints(2, 3)))
SETS = (longs([0, 0], [0, 2], [1, 0]), ints(1, 5, 3), longs(2, 3))
SPARSE = tuple(Runtime(part) for part in SETS)


CASES = [
    *(
        Case(op, (shape,), attributes, **unknown(shape))
        for op, attributes in (
            ("NonDeterministicInts", {}),
            ("RandomStandardNormal", {"dtype": "float32"}),
            ("RandomUniform", {"dtype": "float16"}),
            ("TruncatedNormal", {"dtype": "float64"}),
        )
        for shape in SHAPES
    ),
    *(Case("RandomUniformInt", (shape, *LIMITS), **unknown(shape)) for shape in SHAPES),
    Case("ParameterizedTruncatedNormal", (ints(2, 3), *(np.array(v, np.float32) for v in (0, 1, -1, 1)))),
    *(
        Case(op, (shape, parameter), **unknown(shape))
        for op in ("RandomGamma", "RandomPoissonV2")
        for shape in SHAPES
        for parameter in ("float32[]", "float32[5, 1]")
    ),
    *(
        Case("Multinomial", ("float32[3, 2]", n), {"output_dtype": "int32"}, data=isinstance(n, Runtime))
        for n in (scalar(4), scalar(0), Runtime(scalar(4)))
    ),
    Case("RandomShuffle", ("float32[3, 2]",)),
    # with a seed
    *(
        Case(op, (shape, SEED), **unknown(shape))
        for op in (
            [
                "StatelessRandomNormal",
                "StatelessRandomUniform",
                "StatelessRandomUniformFullInt",
                "StatelessTruncatedNormal",
            ]
        )
        for shape in SHAPES
    ),
    Case("StatelessRandomUniformInt", (ints(2, 3), SEED, *LIMITS)),
    Case("StatelessRandomGammaV2", (ints(2, 3), SEED, "float32[3]")),
    Case("StatelessRandomPoisson", (ints(2, 3), SEED, "float32[3]"), {"dtype": "float32"}),
    Case("StatelessRandomBinomial", (ints(2, 3), SEED, "float64[3]", "float64[]")),
    Case(
        "StatelessParameterizedTruncatedNormal",
        (ints(2, 3), SEED, *(np.array(v, np.float32) for v in (0, 1, -1, 1))),
    ),
    Case("StatelessMultinomial", ("float32[3, 2]", scalar(4), SEED)),
    Case("StatelessRandomGetKeyCounter", (SEED,)),
    Case("StatelessRandomGetKeyCounterAlg", (SEED,)),
    Case("StatelessRandomGetAlg", ()),
    *(
        Case(op, (shape, KEY, COUNTER, ALG), **unknown(shape))
        for op in ("StatelessRandomNormalV2", "StatelessRandomUniformV2", "StatelessTruncatedNormalV2")
        for shape in SHAPES
    ),
    Case("StatelessRandomUniformFullIntV2", (ints(2, 3), KEY, COUNTER, ALG)),
    Case("StatelessRandomUniformIntV2", (ints(2, 3), KEY, COUNTER, ALG, *LIMITS)),
    Case("StatelessRandomGammaV3", (ints(2, 3), KEY, COUNTER, ALG, "float32[3]")),
    Case("StatelessShuffle", ("float32[3, 2]", KEY, COUNTER, ALG)),
    *(
        Case("RandomIndexShuffle", (index, seed, limit), ranked=True)
        for index, seed, limit in (
            (scalar(1), ints(1, 2, 3), scalar(10)),
            (ints(1, 2), ints(1, 2, 3), scalar(10)),
            (scalar(1), np.array([[1, 2, 3], [4, 5, 6]], np.int32), scalar(10)),
            (scalar(1), ints(1, 2, 3), ints(10, 11, 12)),
        )
    ),
    # sets
    *(
        Case("DenseToDenseSetOperation", ("int32[2, 3]", "int32[2, 4]"), {"set_operation": operation}, data=True)
        for operation in ("union", "intersection", "a-b", "b-a")
    ),
    Case("DenseToDenseSetOperation", ("int32[2, 5, 3]", "int32[2, 5, 1]"), {"set_operation": "union"}, data=True),
    Case("DenseToSparseSetOperation", ("int32[2, 3]", *SPARSE), {"set_operation": "a-b"}, data=True),
    Case("DenseToSparseSetOperation", ("int32[2, 3]", *SETS), {"set_operation": "union"}, data=True),
    Case("SparseToSparseSetOperation", (*SETS, *SPARSE), {"set_operation": "intersection"}, data=True),
    Case("SetSize", SETS),
    Case("SetSize", SPARSE, data=True, ranked=False),
]
