"""The cases of the passes, a module a subject."""

from tests.passes.cases import batch_norms, constants, descriptions, forms, products, scopes

CASES = [*batch_norms.CASES, *products.CASES, *constants.CASES, *scopes.CASES, *forms.CASES, *descriptions.CASES]
