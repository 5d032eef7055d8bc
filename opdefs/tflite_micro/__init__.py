"""The reference kernels of TensorFlow Lite Micro: the scratch buffers and the persistent memory that each takes.

Read in tflite-micro (micro/kernels, October 2026), and measured on x86-64 with tflite-micro 0.dev20261023: models of
one operator, whose interpreter records its allocations. Kernels of a vendor, such as CMSIS-NN, need other buffers.
"""

from opdefs.tflite_micro.kernels import tflite_micro

__all__ = ["tflite_micro"]
