"""tf.signal and audio."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

SIGNAL = Family("signal")


@SIGNAL.graph("float32[b, 2048]", extreme=False)
def stft_of_known_size(x):
    return [
        tf.signal.stft(x, 256, 64),
        tf.signal.inverse_stft(tf.signal.stft(x, 256, 64), 256, 64),
        tf.signal.mfccs_from_log_mel_spectrograms(tf.abs(tf.signal.stft(x, 256, 64))),
        tf.signal.frame(x, 100, 30, pad_end=True),
        tf.signal.overlap_and_add(tf.signal.frame(x, 100, 50), 50),
        tf.signal.mdct(x, 64),
        tf.signal.linear_to_mel_weight_matrix(20, 129),
    ]


@SIGNAL.graph("float32[b, n]", extreme=False)
def stft(x):
    return [
        tf.signal.stft(x, 4, 2, pad_end=True),
        tf.signal.frame(x, 3, 2),
        tf.signal.frame(x, 3, 2, pad_end=True),
        tf.signal.dct(x),
        tf.signal.idct(x),
        tf.signal.rfft(x),
        tf.signal.irfft(tf.signal.rfft(x)),
        tf.signal.fft(tf.cast(x, tf.complex64)),
        tf.signal.fftshift(x),
        tf.signal.dct(x, n=5),
        tf.signal.rfft(x, [9]),
        tf.signal.hann_window(tf.shape(x)[1]),
        tf.signal.kaiser_window(tf.shape(x)[1]),
        tf.signal.hamming_window(tf.shape(x)[1]),
    ]


@SIGNAL.graph("float32[b, h, w]", extreme=False)
def fft2(x):
    return [
        tf.signal.rfft2d(x),
        tf.signal.irfft2d(tf.signal.rfft2d(x)),
        tf.signal.fft2d(tf.cast(x, tf.complex64)),
        tf.signal.rfft3d(x),
        tf.signal.ifftshift(x, [1, 2]),
        tf.signal.rfft2d(x, [8, 9]),
    ]


@SIGNAL.graph("float32[4000, 2]")
def spectrogram(x):
    return [
        tf.audio.encode_wav(x, 8000),
        tf.raw_ops.AudioSpectrogram(input=x, window_size=256, stride=128),
        tf.raw_ops.Mfcc(
            spectrogram=tf.raw_ops.AudioSpectrogram(input=x, window_size=256, stride=128), sample_rate=8000
        ),
    ]


@SIGNAL.graph("float32[h, 2]", extreme=False)
def spectrogram_of_unknown_length(x):
    return [tf.raw_ops.AudioSpectrogram(input=x, window_size=8, stride=3)]
