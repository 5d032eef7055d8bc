"""Layers and small networks of Keras, their weights as constants."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tests.differential.tf.graphs.case import Family, tf

KERAS = Family("keras")

SEQUENCE, IMAGE, VOLUME, TOKENS = "float32[b, t, 12]", "float32[b, h, w, 3]", "float32[b, t, h, w, 2]", "int32[b, t]"


@attrs.define
class Network:
    """A function that calls the layers which `make` builds from `keras.layers`, once: they create variables."""

    make: Callable
    network: Callable | None = None

    def __call__(self, *inputs):
        if self.network is None:
            self.network = self.make(tf.keras.layers)
        return self.network(*inputs)


LAYERS = {
    "lstm": (SEQUENCE, lambda k: k.LSTM(5)),
    "lstm_sequences": (SEQUENCE, lambda k: k.LSTM(5, return_sequences=True, return_state=True)),
    "lstm_backwards": (SEQUENCE, lambda k: k.LSTM(5, return_sequences=True, go_backwards=True)),
    "gru": (SEQUENCE, lambda k: k.GRU(5, return_sequences=True)),
    "gru_reset_before": (SEQUENCE, lambda k: k.GRU(5, reset_after=False)),
    "simple_rnn": (SEQUENCE, lambda k: k.SimpleRNN(6, return_sequences=True)),
    "stacked_rnn": (SEQUENCE, lambda k: k.RNN([k.LSTMCell(4), k.GRUCell(3)], return_sequences=True)),
    "bidirectional_lstm": (SEQUENCE, lambda k: k.Bidirectional(k.LSTM(5, return_sequences=True))),
    "bidirectional_gru_sum": (SEQUENCE, lambda k: k.Bidirectional(k.GRU(5), merge_mode="sum")),
    "conv_lstm_1d": ("float32[b, t, 9, 3]", lambda k: k.ConvLSTM1D(4, 3, padding="same", return_sequences=True)),
    "conv_lstm_2d": ("float32[b, t, 9, 8, 2]", lambda k: k.ConvLSTM2D(4, (3, 2), strides=2, padding="same")),
    "time_distributed": (VOLUME, lambda k: k.TimeDistributed(k.Conv2D(4, 3, padding="same", strides=2))),
    "conv_1d_causal": (SEQUENCE, lambda k: k.Conv1D(7, 3, padding="causal", dilation_rate=2)),
    "conv_2d_groups": ("float32[b, h, w, 4]", lambda k: k.Conv2D(6, 3, groups=2, padding="same")),
    "conv_1d_transpose": (SEQUENCE, lambda k: k.Conv1DTranspose(5, 4, strides=3, padding="same")),
    "conv_2d_transpose": (IMAGE, lambda k: k.Conv2DTranspose(5, (3, 4), strides=(2, 3), padding="valid")),
    "conv_2d_transpose_output_padding": (
        IMAGE,
        lambda k: k.Conv2DTranspose(5, 3, strides=2, padding="same", output_padding=1),
    ),
    "conv_3d_transpose": (VOLUME, lambda k: k.Conv3DTranspose(3, 2, strides=2, padding="same")),
    "separable_conv_1d": (SEQUENCE, lambda k: k.SeparableConv1D(6, 3, padding="same", strides=2)),
    "separable_conv_2d": (IMAGE, lambda k: k.SeparableConv2D(6, 3, padding="same", strides=2, depth_multiplier=2)),
    "depthwise_conv_1d": (SEQUENCE, lambda k: k.DepthwiseConv1D(3, padding="same", depth_multiplier=2)),
    "up_sampling_1d": (SEQUENCE, lambda k: k.UpSampling1D(3)),
    "up_sampling_2d": ("float32[b, 9, 8, 3]", lambda k: k.UpSampling2D((2, 3), interpolation="bilinear")),
    "up_sampling_3d": (VOLUME, lambda k: k.UpSampling3D(2)),
    "zero_padding": (IMAGE, lambda k: k.ZeroPadding2D(((1, 2), (0, 3)))),
    "global_pooling": (IMAGE, lambda k: k.GlobalAveragePooling2D(keepdims=True)),
    "batch_normalization": (IMAGE, lambda k: k.BatchNormalization()),
    "layer_normalization": (SEQUENCE, lambda k: k.LayerNormalization()),
    "group_normalization": ("float32[b, h, w, 6]", lambda k: k.GroupNormalization(3)),
    "unit_normalization": (SEQUENCE, lambda k: k.UnitNormalization()),
    "spectral_normalization": (IMAGE, lambda k: k.SpectralNormalization(k.Conv2D(4, 3))),
    "dense": ("float32[b, t, h, 12]", lambda k: k.Dense(7, activation="gelu")),
    "einsum_dense": (SEQUENCE, lambda k: k.EinsumDense("abc,cde->abde", output_shape=(None, 3, 4))),
    "flatten": ("float32[b, 4, 3]", lambda k: k.Flatten()),
    "reshape": (SEQUENCE, lambda k: k.Reshape((-1, 3, 2))),
    "permute": (VOLUME, lambda k: k.Permute((3, 1, 4, 2))),
    "repeat_vector": ("float32[b, 12]", lambda k: k.RepeatVector(4)),
    "multi_hot": (TOKENS, lambda k: k.CategoryEncoding(num_tokens=5, output_mode="multi_hot")),
    "discretization": (SEQUENCE, lambda k: k.Discretization(bin_boundaries=[0.2, 0.5])),
    "resizing": (IMAGE, lambda k: k.Resizing(9, 11, crop_to_aspect_ratio=True)),
    "center_crop": ("float32[b, 12, 14, 3]", lambda k: k.CenterCrop(7, 9)),
}

for name, (text, make) in LAYERS.items():
    KERAS.add(name, Network(make), text)


def network(*inputs):
    """Add a case of the network that a function builds from `keras.layers`."""

    def added(make):
        KERAS.add(make.__name__, Network(make), *inputs)
        return make

    return added


@network(TOKENS)
def masked_embedding(k):
    embedding, recurrent, dense = k.Embedding(10, 6, mask_zero=True), k.LSTM(4, return_sequences=True), k.Dense(3)
    return lambda tokens: dense(recurrent(embedding(tokens)))


@network(TOKENS)
def masked_bidirectional(k):
    embedding, recurrent = k.Embedding(10, 6, mask_zero=True), k.Bidirectional(k.GRU(4))
    return lambda tokens: recurrent(embedding(tokens))


@network(SEQUENCE, "float32[b, n, 12]")
def cross_attention(k):
    attention = k.MultiHeadAttention(3, 4)
    return lambda queries, values: attention(queries, values, return_attention_scores=True)


@network(SEQUENCE)
def causal_attention(k):
    attention, norm = k.MultiHeadAttention(2, 6), k.LayerNormalization()
    return lambda x: norm(x + attention(x, x, use_causal_mask=True))


@network("float32[b, t, n, 8]")
def attention_over_two_axes(k):
    attention = k.MultiHeadAttention(2, 4, attention_axes=(1, 2))
    return lambda x: attention(x, x)


@network(SEQUENCE)
def grouped_attention(k):
    attention = k.GroupQueryAttention(4, 4, 2)
    return lambda x: attention(x, x)


@network(SEQUENCE, "float32[b, n, 12]")
def dot_attention(k):
    plain, additive, dot = k.Attention(), k.AdditiveAttention(), k.Dot(axes=2, normalize=True)
    return lambda q, v: [plain([q, v]), additive([q, v]), dot([q, v])]


@network(IMAGE)
def merged(k):
    first, second, third = (k.Conv2D(4, size, padding="same") for size in (1, 3, 5))

    def branches(x):
        values = [first(x), second(x), third(x)]
        return [k.Concatenate()(values), k.Add()(values), k.Maximum()(values), k.Average()(values)]

    return branches


@network("float32[b, 32, 48, 3]")
def u_net(k):
    down, deep = k.Conv2D(4, 3, strides=2, padding="same"), k.Conv2D(6, 3, strides=2, padding="same")
    up, last = k.Conv2DTranspose(4, 3, strides=2, padding="same"), k.Conv2DTranspose(3, 3, strides=2, padding="same")

    def through(x):
        first = down(x)
        return last(k.Concatenate()([first, up(deep(first))]))

    return through
