"""Print the instruction sets that numpy can do without on this machine, for the variable NPY_DISABLE_CPU_FEATURES.

    NPY_DISABLE_CPU_FEATURES="$(python tools/numpy_features.py)" python -m pytest tests/differential

With them disabled, numpy computes as it does on an old processor: a result that depends on one of them is visible.
"""

from __future__ import annotations


def optional_features() -> list[str]:
    """The instruction sets that numpy chooses at run time and that this processor has."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return [feature for feature in __cpu_dispatch__ if __cpu_features__.get(feature)]


if __name__ == "__main__":
    print(" ".join(optional_features()))
