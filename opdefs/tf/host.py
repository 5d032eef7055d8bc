"""What leaves the graph: prints, checks, functions of Python and remote procedure calls."""

from __future__ import annotations

from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@tf("Assert")
def assertion(c: InferenceContext, condition: Shape, *data: Shape) -> tuple[Shape, ...]:
    """Nothing, for a scalar condition."""
    c.with_rank(condition, 0)
    return ()


@tf("Print", views={0: 0})
def print_value(c: InferenceContext, input: TensorType, *data: Shape) -> TensorType:
    """The input with its contents."""
    return input


@tf("EagerPyFunc", "PyFunc", "PyFuncStateless")
def python_function(c: InferenceContext, *input: Shape) -> tuple[Shape, ...]:
    """Whatever the function returns."""
    raise c.unknowable("the outputs of a function of Python may have any shape")


@tf("RpcClient")
def rpc_client(c: InferenceContext, server_address: Shape, timeout_in_ms: Shape) -> tuple[Shape, Shape]:
    """A handle, and the specifications of the methods."""
    return c.scalar(), c.vector(c.fresh("methods"))


@tf("RpcCall", "RpcCheckStatus")
def rpc_call(c: InferenceContext, *inputs: Shape) -> tuple[Shape, Shape]:
    """A handle with its deleter, or a code with its message."""
    return c.scalar(), c.scalar()


@tf("RpcServer")
def rpc_server(c: InferenceContext, server_address: Shape) -> Shape:
    """A handle."""
    return c.scalar()


@tf("RpcGetValue")
def rpc_value(c: InferenceContext, status_or: Shape) -> tuple[Shape, ...]:
    """Whatever the remote function returns."""
    raise c.unknowable("the outputs of a remote function may have any shape")
