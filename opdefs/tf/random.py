"""Random numbers, mostly of a shape that an input requests."""

from __future__ import annotations

from opdefs.rules.reshaping import shape_from_sizes
from opdefs.tf.common import require_scalars, scalar_shape, size_from_scalar
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value

SEEDS = 2
KEY = 1
COUNTER = 2


def _requested_shape(c: TensorFlowContext, shape: PartialTensor) -> Shape:
    """The shape in a vector."""
    c.with_rank(shape.shape, 1)
    return shape_from_sizes(c, shape, "shape")


@tf("NonDeterministicInts", "RandomStandardNormal", "RandomUniform", "RiscRandomUniform", "TruncatedNormal")
def random(c: TensorFlowContext, shape: Value) -> Shape:
    """[R] -> the requested shape."""
    return _requested_shape(c, shape)


@tf("RandomUniformInt")
def random_integers(c: TensorFlowContext, shape: Value, minval: Shape, maxval: Shape) -> Shape:
    """[R], [], [] -> the requested shape."""
    require_scalars(c, minval, maxval)
    return _requested_shape(c, shape)


@tf("ParameterizedTruncatedNormal")
def parameterized_normal(
    c: TensorFlowContext, shape: Value, means: Shape, stdevs: Shape, minvals: Shape, maxvals: Shape
) -> Shape:
    """[R], four parameters [] or [n] -> the requested shape, whose first axis has size n."""
    for parameter in (means, stdevs, minvals, maxvals):
        c.with_rank_at_most(parameter, 1)
    return _requested_shape(c, shape)


@tf("RandomGamma", "RandomPoisson", "RandomPoissonV2")
def random_per_parameter(c: TensorFlowContext, shape: Value, parameter: Shape) -> Shape:
    """[R], [*P] -> [*shape, *P]: the requested shape for each parameter."""
    return c.concatenate(_requested_shape(c, shape), parameter)


@tf("Multinomial")
def multinomial(c: TensorFlowContext, logits: Shape, num_samples: Value) -> Shape:
    """[B, classes], num_samples [] -> [B, num_samples]."""
    rows = c.with_rank(logits, 2)
    c.with_rank(num_samples.shape, 0)
    return c.matrix(rows[0], size_from_scalar(c, num_samples, 1))


@tf("RandomShuffle")
def shuffle(c: TensorFlowContext, value: Shape) -> Shape:
    """[*S] -> [*S]."""
    return value


# -- with a seed as an input -------------------------------------------------------------------------------------------


def _require_seed(c: TensorFlowContext, seed: Shape) -> None:
    """Require a seed [2]."""
    c.with_value(c.with_rank(seed, 1)[0], SEEDS)


@tf(
    *("StatelessRandomBinomial", "StatelessRandomGammaV2", "StatelessRandomNormal", "StatelessRandomPoisson"),
    *("StatelessRandomUniform", "StatelessRandomUniformFullInt", "StatelessTruncatedNormal"),
    "StatelessParameterizedTruncatedNormal",
)
def random_from_seed(c: TensorFlowContext, shape: Value, seed: Shape, *parameters: Shape) -> Shape:
    """[R], seed [2], parameters -> the requested shape, to which the parameters broadcast."""
    _require_seed(c, seed)
    return _requested_shape(c, shape)


@tf("StatelessRandomUniformInt")
def integers_from_seed(c: TensorFlowContext, shape: Value, seed: Shape, minval: Shape, maxval: Shape) -> Shape:
    """[R], seed [2], [], [] -> the requested shape."""
    _require_seed(c, seed)
    require_scalars(c, minval, maxval)
    return _requested_shape(c, shape)


@tf("StatelessMultinomial")
def multinomial_from_seed(c: TensorFlowContext, logits: Shape, num_samples: Value, seed: Shape) -> Shape:
    """[B, classes], num_samples [], seed [2] -> [B, num_samples]."""
    _require_seed(c, seed)
    return multinomial(c, logits, num_samples)


def _require_key(c: TensorFlowContext, key: Shape, counter: Shape, alg: Shape) -> None:
    """Require the key [1], the counter [*] and the algorithm [] of a generator."""
    c.with_value(c.with_rank(key, 1)[0], KEY)
    c.with_rank(counter, 1)
    c.with_rank(alg, 0)


@tf(
    *("StatelessRandomNormalV2", "StatelessRandomUniformFullIntV2", "StatelessRandomUniformV2"),
    "StatelessTruncatedNormalV2",
)
def random_from_key(c: TensorFlowContext, shape: Value, key: Shape, counter: Shape, alg: Shape) -> Shape:
    """[R], key [1], counter [*], algorithm [] -> the requested shape."""
    _require_key(c, key, counter, alg)
    return _requested_shape(c, shape)


@tf("StatelessRandomGammaV3")
def gamma_from_key(c: TensorFlowContext, shape: Value, key: Shape, counter: Shape, alg: Shape, alpha: Shape) -> Shape:
    """[R], key [1], counter [*], algorithm [], [*P] -> the requested shape, to which P broadcasts."""
    return random_from_key(c, shape, key, counter, alg)


@tf("StatelessRandomUniformIntV2")
def integers_from_key(
    c: TensorFlowContext, shape: Value, key: Shape, counter: Shape, alg: Shape, minval: Shape, maxval: Shape
) -> Shape:
    """[R], key [1], counter [*], algorithm [], [], [] -> the requested shape."""
    require_scalars(c, minval, maxval)
    return random_from_key(c, shape, key, counter, alg)


@tf("StatelessShuffle")
def shuffle_from_key(c: TensorFlowContext, value: Shape, key: Shape, counter: Shape, alg: Shape) -> Shape:
    """[*S], key [1], counter [*], algorithm [] -> [*S]."""
    _require_key(c, key, counter, alg)
    return value


@tf("StatelessRandomGetKeyCounter")
def key_and_counter(c: TensorFlowContext, seed: Shape) -> tuple[Shape, Shape]:
    """Seed [2] -> key [1], counter [2]."""
    _require_seed(c, seed)
    return c.vector(KEY), c.vector(COUNTER)


@tf("StatelessRandomGetKeyCounterAlg")
def key_counter_and_algorithm(c: TensorFlowContext, seed: Shape) -> tuple[Shape, Shape, Shape]:
    """Seed [2] -> key [1], counter [2], algorithm []."""
    return *key_and_counter(c, seed), c.scalar()


tf("StatelessRandomGetAlg")(scalar_shape)


@tf("RandomIndexShuffle")
def shuffle_index(c: TensorFlowContext, index: Shape, seed: Shape, max_index: Shape) -> Shape:
    """[] or [N], seed [3] or [N, 3], [] or [N] -> [], or [N] if any input has N rows."""
    inputs = ((index, 0), (seed, 1), (max_index, 0))
    shapes = [c.with_rank_at_most(shape, rank + 1) for shape, rank in inputs]
    sizes = [s[0] for s, (_, rank) in zip(shapes, inputs, strict=True) if s.dims is not None and len(s) == rank + 1]
    size: DimSize | None = None
    for other in sizes:
        size = other if size is None else c.merge(size, other)
    if size is None:
        return c.scalar() if all(s.dims is not None for s in shapes) else c.unknown_shape()
    return c.vector(size)


# -- with a generator --------------------------------------------------------------------------------------------------


@tf("StatefulStandardNormal")
def random_from_generator(c: TensorFlowContext, resource: Shape, shape: Value) -> Shape:
    """[], [R] -> the requested shape."""
    c.with_rank(resource, 0)
    return _requested_shape(c, shape)


@tf(
    *("StatefulStandardNormalV2", "StatefulTruncatedNormal", "StatefulUniform", "StatefulUniformFullInt"),
    *("StatefulRandomBinomial", "StatefulUniformInt"),
)
def random_from_algorithm(
    c: TensorFlowContext, resource: Shape, algorithm: Shape, shape: Value, *parameters: Shape
) -> Shape:
    """[], [], [R], parameters -> the requested shape; the range of integers is [], []."""
    require_scalars(c, resource, algorithm)
    if c.op_def.name == "StatefulUniformInt":
        require_scalars(c, *parameters)
    return _requested_shape(c, shape)


@tf("RngReadAndSkip")
def read_and_skip(c: TensorFlowContext, resource: Shape, alg: Shape, delta: Shape) -> Shape:
    """[], [], [] -> [3]: a counter and a key."""
    require_scalars(c, resource, alg, delta)
    return c.vector(COUNTER + KEY)


@tf("RngSkip")
def skip(c: TensorFlowContext, resource: Shape, algorithm: Shape, delta: Shape) -> tuple[()]:
    """[], [], [] -> no outputs."""
    require_scalars(c, resource, algorithm, delta)
    return ()
