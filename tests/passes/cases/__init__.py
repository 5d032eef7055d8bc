"""The cases of the passes, a module a subject."""

from tests.passes.cases import batch_norms, constants, descriptions, opset_conversion, products, scopes, shapes

CASES = [
    *batch_norms.CASES,
    *products.CASES,
    *constants.CASES,
    *scopes.CASES,
    *opset_conversion.CASES,
    *descriptions.CASES,
    *shapes.CASES,
]
