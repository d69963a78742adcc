"""Does every method and attribute of arrays work on a traced one, or is it refused by its name?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from answers import assert_equal
from subjects import network

from symbolic import Exp, Layer, SymbolicError, grad
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.layer import METHODS

X = np.array([[0.3, -1.2, 2.5], [1.7, 0.9, -0.4]])
NAMES = [name for name in dir(np.ndarray) if not name.startswith("_") and hasattr(X, name)]

CALLS: dict[str, Callable[[Any], Any]] = {
    "argpartition": lambda x: x.argpartition(1),
    "astype": lambda x: x.astype(np.float32),
    "choose": lambda x: (x > 0).astype(int).choose([x, x * x]),
    "clip": lambda x: x.clip(-0.5, 0.5),
    "compress": lambda x: x.compress([True, False, True], axis=1),
    "dot": lambda x: x.dot(x.T),
    "repeat": lambda x: x.repeat(2, axis=0),
    "reshape": lambda x: x.reshape(3, 2),
    "searchsorted": lambda x: x[0].searchsorted(x[1]),
    "squeeze": lambda x: x[:, :1].squeeze(1),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "take": lambda x: x.take([0, 2], axis=1),
    "to_device": lambda x: x.to_device("cpu"),
    "view": lambda x: x.view(),
    "fill": lambda x: x.fill(2.5),
    "partition": lambda x: x.partition(1),
    "put": lambda x: x.put([0, 4], [7.5, 8.5]),
    "resize": lambda x: x.resize((3, 2)),
    "setflags": lambda x: x.setflags(write=True),
    "byteswap": lambda x: x.byteswap(),
    "getfield": lambda x: x.getfield(np.float64),
    "setfield": lambda x: x.setfield(1.0, np.float64),
    "dump": lambda x: x.dump("nowhere"),
    "tofile": lambda x: x.tofile("nowhere"),
    "item": lambda x: x.item(0),
}
"""How a method is called that needs arguments; any other takes none."""
REFUSED = {
    *("base", "byteswap", "ctypes", "data", "dump", "dumps", "flags", "getfield", "resize", "setfield"),
    *("setflags", "strides", "tobytes", "tofile", "tostring"),
} & set(NAMES)
PLAIN = {"device", "dtype", "itemsize", "nbytes", "ndim", "shape", "size"}


def use(name: str, x: Any) -> Any:
    """What the method gives, or, of one that gives nothing, what the array is afterwards."""
    if name in CALLS:
        found = CALLS[name](x)
    else:
        found = getattr(x, name)
        found = found() if callable(found) and not isinstance(found, Layer) else found
    return x if found is None else found


@pytest.mark.parametrize("name", sorted(set(NAMES) - REFUSED - PLAIN))
def test_a_method_does_what_it_does_to_an_array(name: str) -> None:
    got = network(lambda x: use(name, x + 0.0), 1).predict(X)
    want = use(name, X + 0.0)
    for one, other in zip(_parts(got), _parts(want), strict=True):
        assert_equal(one, np.array(other) if name == "flat" else other, name)


def _parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_method_that_needs_memory_is_refused_by_name(name: str) -> None:
    def body(x: Any) -> Any:
        use(name, x)
        return np.sum(x)

    with pytest.raises(SymbolicError, match=rf"\.{name}\b"):
        grad(body)(X)


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_an_attribute_without_numbers_is_known(name: str) -> None:
    found: list[Any] = []

    def body(x: Any) -> Any:
        value = getattr(x, name)
        found.append(tuple(value) if name == "shape" else value)
        return np.sum(x)

    grad(body)(X)
    assert found[0] == getattr(X, name)


def test_no_name_is_unknown() -> None:
    assert [name for name in NAMES if name not in METHODS and not hasattr(Layer, name)] == []


def test_what_a_layer_has_of_arrays_its_class_has_not() -> None:
    """So a field of such a name has no value before it is given one; and a class may have what it wants."""
    assert [name for name in METHODS if hasattr(Layer, name)] == ["__round__"]
    assert sorted(set(METHODS) - set(dir(Layer))) == []

    class Own(Exp):
        __slots__ = ("std",)
        mean = 3.0

    own: Any = Own
    assert (own().mean, str(own().T)) == (3.0, "Transpose(Own(Identity()))")
    with pytest.raises(AttributeError, match="type object 'Own' has no attribute 'T'"):
        own.T  # noqa: B018 - it raises
    with pytest.raises(AttributeError, match="std"):
        own().std  # noqa: B018 - the field has no value


class Named:
    """A mixin that knows nothing of arrays."""

    T = "a class attribute"

    def mean(self) -> str:
        return f"the mean of {type(self).__name__}"

    @property
    def real(self) -> str:
        return "a property"

    @classmethod
    def std(cls) -> str:
        return cls.__name__

    @staticmethod
    def var(x: Any) -> Any:
        return x


class Inherited(Named):
    """Its names are its base's."""


@pytest.mark.parametrize("mixin", [Named, Inherited])
def test_what_a_mixin_has_goes_before_what_arrays_have(mixin: Any) -> None:
    """On either side of `Layer` among the bases; all else stays an array's."""
    for bases in ((Layer, mixin), (mixin, Layer)):
        kind: Any = type("Mine", bases, {"apply": lambda self, input: input * 2.0})
        deeper: Any = type("Deeper", (kind,), {})
        for layer in (kind(), deeper()):
            name = type(layer).__name__
            assert (layer.mean(), layer.T, layer.real) == (f"the mean of {name}", "a class attribute", "a property")
            assert layer.std() == type(layer).std() == name and layer.var(3) == type(layer).var(3) == 3
            assert np.array_equal(layer.predict(X), 2.0 * X) and np.isclose(layer.sum().predict(X), np.sum(2.0 * X))
            assert np.isclose(np.mean(layer).predict(X), np.mean(2.0 * X))


@pytest.mark.parametrize("name", ["shape", "ndim", "size", "dtype"])
def test_a_fact_of_a_mixin_that_a_layer_would_hide_is_refused(name: str) -> None:
    mixin = type("Sized", (), {name: property(lambda self: 3)})
    with pytest.raises(SymbolicError, match=rf"Mine with \.{name} of Sized.*, in test_array_methods.py:\d+; name it"):
        type("Mine", (Layer, mixin), {})


def test_arrays_can_tell_their_namespace() -> None:
    def body(x: Any) -> Any:
        return x.__array_namespace__().sum(x)

    assert_equal(grad(body)(X), np.ones_like(X), "namespace")


IN_PLACE: dict[str, Callable[[Any, Any], object]] = {
    "fill": lambda y, v: y.fill(v[0]),
    "sort": lambda y, v: y.sort(axis=0),
    "put": lambda y, v: y.put([1, -1], v),
    "np.put": lambda y, v: np.put(y, [7, 1], v, mode="wrap"),
    "np.place": lambda y, v: np.place(y, y > 0, v),
    "np.putmask": lambda y, v: np.putmask(y, y < 1, v),
    "np.copyto": lambda y, v: np.copyto(y, v[1], where=y > 1),
    "np.put_along_axis": lambda y, v: np.put_along_axis(y, np.array([[0], [2]]), v[:, None], 1),
    "np.fill_diagonal": lambda y, v: np.fill_diagonal(y, v),
    "np.add.at": lambda y, v: np.add.at(y, ([0, 0], [1, 1]), v),
    "out": lambda y, v: np.cumsum(y * v[0], axis=1, out=y),
    "ufunc out": lambda y, v: np.multiply(y, v[1], out=y),
    "ufunc out where": lambda y, v: np.divide(v[0], y, out=y, where=y > 1),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_views_see_what_is_written_in_place(name: str) -> None:
    """The row is a view of the array, and both keep their gradient."""
    v = np.array([0.7, -1.3])

    def body(x: Any, v: Any) -> Any:
        y = x * 2.0
        row = y[1]
        IN_PLACE[name](y, v)
        return np.sum(np.sin(y) * np.arange(6.0).reshape(2, 3)) + np.sum(row * row)

    deltas = grad(body, (0, 1))(X, v)
    for k, given in enumerate((X, v)):
        step = np.zeros_like(given)
        step.flat[1] = 1e-6
        moved = [body(*[one + sign * step if j == k else one for j, one in enumerate((X, v))]) for sign in (1, -1)]
        np.testing.assert_allclose(deltas[k].flat[1], (moved[0] - moved[1]) / 2e-6, rtol=1e-6, atol=1e-8)


def test_a_number_takes_no_result() -> None:
    with pytest.raises(SymbolicError, match=r"np\.add"):
        grad(lambda x: np.add(x[0], 1.0, out=np.sum(x)))(X[0])


def test_a_division_that_is_left_out_leaves_no_nan() -> None:
    def body(x: Any) -> Any:
        return np.sum(np.divide(1.0, x, out=np.zeros_like(x), where=x != 0))

    assert_equal(grad(body)(np.array([0.0, 2.0])), np.array([0.0, -0.25]), "divide")


SEEN = [name for name in IN_PLACE if name.startswith("np.") and name != "np.fill_diagonal"]
"""Of the values of np.fill_diagonal NumPy tells nobody: it makes an array of them, which a traced value refuses."""


OUTSIDE = np.zeros((2, 3))
"""An array that no body has made."""


@pytest.mark.parametrize("name", SEEN)
def test_a_plain_array_takes_no_traced_values(name: str) -> None:
    def body(x: Any, v: Any) -> Any:
        IN_PLACE[name](OUTSIDE, v)
        return np.sum(x)

    with pytest.raises(SymbolicError, match=name.replace(".", r"\.")):
        grad(body, (0, 1))(X, np.array([0.7, -1.3]))
