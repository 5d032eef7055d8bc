"""TensorFlow operators.

`signatures.txt` lists the rules; a module is imported when an operator of it is first looked up.
"""

from __future__ import annotations

from opdefs.tf.dialect import tf

__all__ = ["tf"]
