"""The diagnostic codes of NNEF models."""

from __future__ import annotations

from shapeinf.diagnostics import register_code

_ERRORS = {
    "N101": ("an illegal character", "It begins no token, or is not ASCII outside of strings and comments."),
    "N102": ("a malformed number or identifier", "Identifiers do not begin with a digit."),
    "N103": ("a string without a closing quote on its line", ""),
    "N201": ("a syntax error", "The message lists the tokens that the grammar allows there."),
    "N202": ("a keyword instead of an identifier", ""),
    "N203": ("an unsupported version", "Version 1.0 with its corrections 1.0.1 to 1.0.5 is supported."),
    "N204": ("a fragment without the extension that allows it", ""),
    "N205": ("an operator or expression without the extension that allows it", ""),
    "N301": ("a duplicate name of a fragment, or a graph with the name of an operation", ""),
    "N302": ("parameters or results in conflict", "A duplicate name, or a tensor parameter after an attribute."),
    "N303": ("an illegal type of a parameter or result", "Such as a mix of tensors and other values."),
    "N304": ("a fragment whose declaration and use of the type '?' differ", ""),
    "N305": ("a default of another type or that is not a literal, or a result without an assignment", ""),
    "N306": ("a default that is not a literal", ""),
    "N401": ("an undeclared name or operation", "Also a name that is read before it is assigned."),
    "N402": ("a duplicate assignment, or an array or tuple where each tensor of a graph needs a name", ""),
    "N403": ("arguments that do not match the parameters", ""),
    "N404": ("an argument of the wrong type, or a type argument that cannot be inferred", ""),
    "N405": ("an expression or assignment with the wrong type", ""),
    "N406": ("'external', 'variable' or 'update' outside of its legal use", ""),
    "N407": ("a parameter or result without an assignment", ""),
    "N501": ("an expression that cannot be evaluated", ""),
    "N502": ("a value or length that is unknown when the graph is built", ""),
    "N503": ("an assignment of another number of items", ""),
    "N601": ("an illegal input, variable or constant", "Such as an extent that is not positive."),
    "N701": ("an unreadable tensor file", "It is malformed, cut off, or outside of the model."),
    "N702": ("a tensor file whose shape or item type differs from its variable", ""),
    "N710": ("a quantization entry of an unknown tensor", ""),
    "N711": ("a duplicate quantization entry", ""),
    "N712": ("a quantization entry whose operation is not a quantization", ""),
    "N713": ("parameters of a quantization that do not match its declaration", ""),
    "N714": ("a parameter value of a quantization with the wrong type or length", ""),
    "N901": ("too many tokens", ""),
    "N902": ("a number, array or expression that is too large", ""),
    "N903": ("expressions or arrays that are nested too deep", ""),
    "N904": ("invocations that are nested too deep", ""),
    "N905": ("a graph or an evaluation that is too large", ""),
    "N906": ("a type with too many parts", ""),
}

for _code, (_title, _explanation) in _ERRORS.items():
    register_code(_code, "error", _title, _explanation)

register_code("N206", "warning", "an unknown extension", "It is ignored.")
register_code(
    "N307",
    "warning",
    "a fragment without a tensor result",
    "Version 1.0.0 allows it; since 1.0.1 all results of fragments are tensors.",
)
register_code(
    "N408",
    "warning",
    "a statement that the specification of 2017 forbids, although its own examples have such statements",
    "The statement is read as in these examples. The first statement of each kind is reported.",
)
register_code("N703", ("note", "warning"), "missing tensor files", "A note where all of them are missing.")
