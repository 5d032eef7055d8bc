"""Axes of images: channels first, [N, C, *S], or last, [N, *S, C]."""

from __future__ import annotations

from shapeinf.lattice import Shape


def channels_first(x: Shape) -> Shape:
    """[N, *S, C] -> [N, C, *S].

    >>> channels_first(Shape((1, 8, 9, 3)))
    Shape([1, 3, 8, 9])
    """
    dims = x.require()
    return Shape((*dims[:1], *dims[-1:], *dims[1:-1])) if len(dims) > 1 else x


def channels_last_again(x: Shape) -> Shape:
    """[N, C, *S] -> [N, *S, C].

    >>> channels_last_again(Shape((1, 3, 8, 9)))
    Shape([1, 8, 9, 3])
    """
    dims = x.require()
    return Shape((*dims[:1], *dims[2:], *dims[1:2]))
