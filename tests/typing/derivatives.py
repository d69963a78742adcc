"""Do derivatives keep the types of the arguments, of plain functions and of layers?"""

from collections.abc import Callable
from typing import Annotated, reveal_type

import numpy as np

from symbolic import (
    Symbolic,
    Weight,
    custom_gradient,
    grad,
    hessian,
    jacobian,
    jvp,
    remat,
    stop_gradient,
    symbolic,
    value_and_grad,
    vjp,
    vmap,
)


def loss(w: np.ndarray, x: np.ndarray, rate: float = 1.0) -> float:
    total: float = np.sum((w - x) ** 2) * rate
    return total


def cube(x: float) -> float:
    return x**3


def vector(x: np.ndarray) -> np.ndarray:
    return x**2


def of_two(x: float, w: np.ndarray) -> float:
    total: float = x * np.sum(w)
    return total


def with_more(w: np.ndarray) -> tuple[float, str]:
    return np.sum(w), "more"


@symbolic
def net(x: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
    return np.sum(x * Weight(2.0))


@symbolic
def kernel(x: Annotated[np.ndarray, Symbolic], width: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    return np.sum(x) / width


w, x = np.ones(2), np.zeros(2)

# ------------------------------------------------------------------ grad
reveal_type(grad(cube)(2.0))  # R: float
reveal_type(grad(grad(cube))(2.0))  # R: float
reveal_type(grad(loss)(w, x))  # R: ndarray
reveal_type(grad(loss)(w, x, 2.0))  # R: ndarray
reveal_type(grad(loss)(w, x, rate=2.0))  # R: ndarray
reveal_type(grad(loss, 1)(w, x))  # R: ndarray
reveal_type(grad(loss, argnums=2)(w, x, 2.0))  # R: float
reveal_type(grad(loss, (0, 1))(w, x))  # R: tuple[ndarray, ndarray]
reveal_type(grad(of_two, (0, 1))(2.0, w))  # R: tuple[float, ndarray]
reveal_type(grad(of_two, argnums=1)(2.0, w))  # R: ndarray
reveal_type(grad(with_more, has_aux=True)(w))  # R: tuple[ndarray, str]
reveal_type(grad(net)(w))  # R: ndarray
reveal_type(grad(kernel)(w, 2.0))  # R: ndarray
reveal_type(grad(kernel, 1)(w, 2.0))  # R: float
reveal_type(grad(kernel, (0, 1))(w, 2.0))  # R: tuple[ndarray, float]

# ------------------------------------------------------------------ value_and_grad
reveal_type(value_and_grad(cube)(2.0))  # R: tuple[float, float]
reveal_type(value_and_grad(loss)(w, x))  # R: tuple[float, ndarray]
reveal_type(value_and_grad(of_two, (0, 1))(2.0, w))  # R: tuple[float, tuple[float, ndarray]]
reveal_type(value_and_grad(with_more, has_aux=True)(w))  # R: tuple[tuple[float, str], ndarray]
reveal_type(value_and_grad(net)(w))  # R: tuple[float, ndarray]

# ------------------------------------------------------------------ the others
value, pullback = vjp(vector, w)
reveal_type(value)  # R: ndarray
reveal_type(jvp(cube, (2.0,), (1.0,)))  # R: tuple[float, float]
reveal_type(jvp(vector, (w,), (x,)))  # R: tuple[ndarray, ndarray]
reveal_type(jacobian(vector)(w))  # R: ndarray
reveal_type(hessian(loss)(w, x))  # R: ndarray
reveal_type(hessian(cube)(2.0))  # R: float
reveal_type(vmap(vector)(np.ones((3, 2))))  # R: ndarray
reveal_type(vmap(grad(loss))(np.ones((3, 2)), np.ones((3, 2))))  # R: ndarray
reveal_type(stop_gradient(2.0))  # R: float
reveal_type(stop_gradient(w))  # R: ndarray…
reveal_type(remat(cube)(2.0))  # R: float
reveal_type(remat(loss)(w, x))  # R: float


@custom_gradient
def clipped(x: float) -> tuple[float, Callable[[float], float]]:
    return x, lambda delta: min(delta, 1.0)


reveal_type(clipped(2.0))  # R: float

reveal_type(remat(net)(w))  # R: float
reveal_type(remat(kernel)(w, 2.0))  # R: float
reveal_type(grad(remat(lambda x: x * 2.0))(2.0))  # R: Any
reveal_type(vmap(custom_gradient(lambda x, k: (x * k, lambda d: (d, d))), (0, None))(w, 2.0))  # R: Any
reveal_type(grad(cube).traces().paths)  # R: int
for function in (cube, lambda x: x * 2.0):  # unlike ones, each of which can be called
    reveal_type(grad(function))  # R: (def (x: float) -> float) | (def (x: Any) -> Any)
for pair in (lambda x: x, lambda x: (x, x)):
    reveal_type(grad(pair, has_aux=True))  # R: def (x: Any) -> tuple[Any, Any]


class Model:
    scale = 2.0

    def loss(self, x: float, w: np.ndarray) -> float:
        total: float = np.sum(w) * x * self.scale
        return total

    slope = grad(loss)

    @value_and_grad
    def both(self, x: float) -> float:
        return x * self.scale


reveal_type(Model().slope(2.0, w))  # R: float
reveal_type(Model().both(2.0))  # R: tuple[float, float]


# ------------------------------------------------------------------ in a body
@symbolic
def slope(x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(grad(cube)(x))  # R: Layer[Tape[float, float], Tape[float, float]]
    return grad(cube)(x) + 1.0


reveal_type(slope(2.0))  # R: float


def check_values() -> None:
    assert grad(cube)(2.0) == 12.0 and grad(grad(cube))(2.0) == 12.0 and slope(2.0) == 13.0
    assert grad(loss)(w, x).tolist() == [2.0, 2.0] and grad(loss, argnums=2)(w, x, 2.0) == 2.0
    assert Model().slope(2.0, w) == 4.0 and Model().both(2.0) == (4.0, 2.0)
    gradients = grad(loss, (0, 1))(w, x)
    assert type(gradients) is tuple and gradients[1].tolist() == [-2.0, -2.0]
    assert grad(with_more, has_aux=True)(w)[1] == "more" and value_and_grad(net)(w)[0] == 4.0
    (back,) = pullback(w)
    assert value.tolist() == [1.0, 1.0] and back.tolist() == [2.0, 2.0]
    assert value_and_grad(with_more, has_aux=True)(w)[0] == (2.0, "more")
    assert type(grad(kernel, (0, 1))(w, 2.0)[1]) is float and clipped(2.0) == 2.0 and hessian(cube)(2.0) == 12.0
