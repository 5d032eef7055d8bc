"""Small graphs whose inputs are specified, and the shape of their output."""

from shapeinf import DeclaredType, Graph, Node, infer_shapes


def graph(nodes, inputs, constants=()):
    return Graph(
        dialect="onnx",
        opsets={"": 18},
        inputs=list(inputs),
        outputs=["y"],
        nodes=[Node.make(op, tuple(ins), tuple(outs), attrs, outs[0]) for op, ins, outs, attrs in nodes],
        declared={name: DeclaredType("float32", dims) for name, dims in inputs.items()},
        constants=dict(constants),
    )


IMAGE = graph([("Relu", ["x"], ["y"], {})], {"x": ("batch", 3, "H", "W")})
PAIR = graph([("Concat", ["a", "b"], ["y"], {"axis": 0})], {"a": ("n", 4), "b": ("m", 4)})


def shape(model=IMAGE, **options):
    return str(infer_shapes(model, **options).tensors["y"].shape)
