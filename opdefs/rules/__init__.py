"""Rules that dialects share, on dims and on known elements. They take shapes and values, and name no operator.

Docstrings state shapes as in `[N, *S], [K] -> [N, K]`, where `*S` is any number of dims. The contents of a tensor, a
`PartialTensor`, are None where all are unknown, and a single unknown element is None among them.
"""
