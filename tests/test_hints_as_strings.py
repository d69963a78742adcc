"""Are hints read under `from __future__ import annotations`, which makes strings of them all?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pytest

import symbolic as s
from symbolic import SGD, DtypeError, ShapeError, Symbolic, Weight, symbolic

if TYPE_CHECKING:
    from decimal import Decimal

Vector = Annotated[np.ndarray, Symbolic]
X = np.array([1.0, 2.0])


@symbolic
def module_level(x: Vector, n: int = 2) -> Annotated[float, Symbolic]:
    total: Annotated[float, Symbolic] = np.sum(x) * n
    return total


class Model:
    @symbolic
    def net(self, x: Vector) -> Vector:
        y: np.ndarray = x * Weight(2.0)
        return y


def test_at_module_level_and_in_a_class() -> None:
    assert type(module_level(X)) is float and module_level(X) == 6.0
    model = Model()
    assert model.net(X).tolist() == [2.0, 4.0]
    model.net.train(X, optimizer=SGD(0.1))
    assert model.net(X)[0] == pytest.approx(2.0 - 0.3)


def test_names_of_the_function_around_it_are_seen() -> None:
    Local = Annotated[np.ndarray, Symbolic[np.float64, "n"]]

    @symbolic
    def f(x: Local, y: Local) -> Local:
        z: np.ndarray = x + y
        return z

    assert f(X, X).tolist() == [2.0, 4.0]
    with pytest.raises(ShapeError, match="argument y"):
        f(X, np.ones(3))


def test_in_a_class_of_a_function() -> None:
    class Inner:
        Alias = Annotated[np.ndarray, Symbolic]

        @symbolic
        def net(self, x: Alias) -> Alias:
            y: np.ndarray = x * 3.0
            return y

    assert Inner().net(X).tolist() == [3.0, 6.0]


def test_a_name_that_only_the_type_checker_has() -> None:
    def f(x: Annotated[Decimal, Symbolic]) -> None:  # type: ignore[symbolic]  # a name alone is wanted
        pass

    with pytest.raises(DtypeError, match=r"hint of f cannot be read.*Decimal.*;.*import"):
        symbolic(f)


LATER = """
import numpy as np
from typing import Annotated
from symbolic import Symbolic, Weight, value_and_grad, symbolic

@symbolic
def net(x: Annotated[np.ndarray, Symbolic["n"]], by: {name} = 2.0) -> Annotated[np.ndarray, Symbolic["n"]]:
    return x * Weight(3.0) * by

def loss(x, by: {name} = 2.0):
    return np.sum(x * x) * by
"""


@pytest.mark.parametrize(
    "name",
    [
        '"OfCheckersAlone"',
        '"list[OfCheckersAlone]"',
        pytest.param("OfCheckersAlone", marks=pytest.mark.skipif(sys.version_info < (3, 14), reason="read at once")),
        pytest.param("list[OfCheckersAlone]", marks=pytest.mark.skipif(sys.version_info < (3, 14), reason="the same")),
    ],
)
def test_a_plain_argument_may_name_what_only_the_type_checker_has(name: str) -> None:
    space: dict[str, Any] = {}
    exec(compile(LATER.format(name=name), "later.py", "exec", dont_inherit=True), space)
    assert space["net"].predict(X).tolist() == [6.0, 12.0]
    assert space["net"](X, by=1.0).tolist() == [3.0, 6.0]
    value, slope = s.value_and_grad(space["loss"])(X, by=3.0)
    assert (float(value), slope.tolist()) == (15.0, [6.0, 12.0])
