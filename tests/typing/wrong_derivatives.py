"""Wrong arguments of a derivative are found where they are given."""

# run: no

import numpy as np

from symbolic import grad, value_and_grad, vmap


def loss(w: np.ndarray, x: np.ndarray, rate: float = 1.0) -> float:
    total: float = np.sum((w - x) ** 2) * rate
    return total


w = np.ones(2)
grad(loss)(w)  # E:  [symbolic|call-arg]
grad(loss)(w, "a")  # E:  [symbolic|arg-type]
grad(loss)(w, w, 1.0, 2.0)  # E:  [symbolic|call-arg]
grad(loss)(w, w, speed=2.0)  # E:  [symbolic|call-arg]
grad(3)  # E: grad of int, which is not callable; give a function or a layer  [symbolic]
grad(loss, "x")  # E: argnums is str; give the position of an argument, or a tuple of them  [symbolic]
grad(loss, argnums=(0, 1.0))  # E: argnums is (int, float)  [symbolic]
value_and_grad(loss)("a", w)  # E:  [symbolic|arg-type]
slope: str = grad(loss)(w, w)  # E:  [symbolic|assignment]
vmap(loss)(w)  # E:  [symbolic|call-arg]
grad(loss, argnums=3)  # E:1: grad of loss by argument 3, but there are 3 by position; pass the argument by position  [symbolic-shape]
