"""Operators that leave the graph: prints, assertions, Python functions and remote procedure calls."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape, TensorType


@tf("Assert")
def assertion(c: TensorFlowContext, condition: Shape, *data: Shape) -> tuple[Shape, ...]:
    """[], [*S]... -> no outputs."""
    c.with_rank(condition, 0)
    return ()


@tf("Print", views={0: 0})
def print_value(c: TensorFlowContext, input: TensorType, *data: Shape) -> TensorType:
    """[*S], others -> [*S], with its contents."""
    return input


@tf("EagerPyFunc", "PyFunc", "PyFuncStateless")
def python_function(c: TensorFlowContext, *input: Shape) -> tuple[Shape, ...]:
    """Outputs of any shape: those of a Python function."""
    raise c.unknowable("the outputs of a Python function may have any shape")


@tf("RpcClient")
def rpc_client(c: TensorFlowContext, server_address: Shape, timeout_in_ms: Shape) -> tuple[Shape, Shape]:
    """[], [] -> a handle [], and the specifications of the methods [*]."""
    return c.scalar(), c.vector(c.fresh("methods"))


@tf("RpcCall", "RpcCheckStatus")
def rpc_call(c: TensorFlowContext, *inputs: Shape) -> tuple[Shape, Shape]:
    """A handle [] and its deleter [], or a code [] and its message []."""
    return c.scalar(), c.scalar()


@tf("RpcServer")
def rpc_server(c: TensorFlowContext, server_address: Shape) -> Shape:
    """[] -> a handle []."""
    return c.scalar()


@tf("RpcGetValue")
def rpc_value(c: TensorFlowContext, status_or: Shape) -> tuple[Shape, ...]:
    """Outputs of any shape: those of a remote function."""
    raise c.unknowable("the outputs of a remote function may have any shape")
