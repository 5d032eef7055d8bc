"""Modules: exporters write the path of the module that a node belongs to into the name of the node."""

from __future__ import annotations


def module_path(name: str) -> tuple[str, ...]:
    """The modules that a node belongs to, the outermost first; empty where its name holds no path.

    The parts of a path end with `/`, as torch, TensorFlow and JAX write them; without one, with `.`, as PNNX does.

    >>> module_path("/encoder/layer.0/attention/MatMul")
    ('encoder', 'layer.0', 'attention')
    >>> module_path("backbone.layer1.0.conv1"), module_path("Conv.12"), module_path("conv1")
    (('backbone', 'layer1', '0'), (), ())
    """
    separator = "/" if "/" in name else "."
    *modules, last = [part for part in name.split(separator) if part] or [""]
    if separator == "." and last.isdigit():  # a number that makes the name of a node unique
        return ()
    return tuple(modules)
