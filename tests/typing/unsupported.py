"""What the library does not support is said once, where it is written, in the sentence of run time."""

# run: no

from collections.abc import Callable
from typing import Annotated

import numpy as np

from symbolic import Symbolic, symbolic

V = Annotated[np.ndarray, Symbolic]


@symbolic
def functions(x: V) -> V:
    np.save("file", x)  # E:5: np.save is not supported on layers; a traced value has no numbers to write  [symbolic]
    np.savetxt("file", x)  # E:5: np.savetxt is not supported on layers  [symbolic]
    np.savetxt("file", np.exp(x))  # E:5: np.savetxt is not supported on layers  [symbolic]
    words = np.array2string(x)  # E:13: np.array2string is not supported on layers  [symbolic]
    more = np.array_str(2.0 * x)  # E:12: np.array_str is not supported on layers  [symbolic]
    shared = np.may_share_memory(x, x)  # E:14: np.may_share_memory is not supported on layers  [symbolic]
    return x


@symbolic
def nested(x: V) -> V:
    if np.may_share_memory(x, x):  # E:8: np.may_share_memory is not supported on layers  [symbolic]
        return x
    for _ in range(2):
        np.save("file", x)  # E:9: np.save is not supported on layers  [symbolic]
    y = [np.array_str(row) for row in x]  # E:10: np.array_str is not supported on layers  [symbolic]
    return x


@symbolic
def keywords(x: V) -> V:
    np.save(file="file", arr=x)  # E:5: np.save is not supported on layers  [symbolic]
    return x


@symbolic
def methods(x: V) -> V:
    x.tofile("file")  # E: .tofile() of a traced layer, which has no memory of its own  [symbolic]
    x.tobytes()  # E: .tobytes() of a traced layer, which has no memory of its own; compute it outside the traced function  [symbolic]
    np.exp(x).dumps()  # E: .dumps() of a traced layer  [symbolic]
    x.setflags(write=False)  # E: .setflags() of a traced layer  [symbolic]
    x.astype(np.float64).view(np.int64)  # E: .view() of a traced layer as another type; use x.astype(dtype), which keeps the gradient  [symbolic]
    y = x.strides  # E: .strides of a traced layer, which has no memory of its own; use NumPy functions on the layer itself  [symbolic]
    z = x.ctypes  # E: .ctypes of a traced layer  [symbolic]
    w = x.foo  # E: foo  [symbolic|attr-defined]
    return x


@symbolic
def ufunc_methods(x: V) -> V:
    np.exp.at(x, 0)  # E: np.exp.at is not supported on layers  [symbolic]
    return x


@symbolic
def once_inside_others(x: V) -> V:
    """mypy tries the alternatives of overloads and the reflected operators; the error is still one."""
    a = np.ones(3) + np.array_str(x)  # E:22: np.array_str is not supported on layers  [symbolic]
    b = max(np.may_share_memory(x, x), True)  # E:13: np.may_share_memory is not supported on layers  [symbolic]
    c = np.where(x > 0.0, np.may_share_memory(x, x), x)  # E:27: np.may_share_memory is not supported on layers  [symbolic]
    d = np.exp(x.strides)  # E:16: .strides of a traced layer  [symbolic]
    return x


@symbolic
def on_several_lines(x: V) -> V:
    y = (
        x
        + np.array_str(  # E:11: np.array_str is not supported on layers  [symbolic]
            x,
        )
    )
    return x


def outside(x: np.ndarray, net: Annotated[Callable[[np.ndarray], float], Symbolic]) -> None:
    """Of arrays nothing is said, nor of anything that is no layer."""
    np.save("file", x)
    x.tofile("file")
    np.array2string(x)
    np.save("file", net)  # E:5: np.save is not supported on layers  [symbolic]
    np.save("file", net.predict(x))
