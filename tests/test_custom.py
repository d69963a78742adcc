"""Are gradients that a function says itself used and checked, and is what `remat` forgets computed again?"""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from answers import near
from threads import in_threads

import symbolic as s
from symbolic import (
    DtypeError,
    ShapeError,
    Symbolic,
    TraceError,
    Weight,
    custom_gradient,
    grad,
    jacobian,
    jvp,
    remat,
    stop_gradient,
    symbolic,
    value_and_grad,
    vjp,
)
from symbolic.deriving import Call, Derivative
from symbolic.plan import Program

X = np.array([0.5, -1.0, 2.0])
V = np.array([1.0, 0.25, -0.5])


@custom_gradient
def tripled(x: Any) -> Any:
    """The square, with a gradient that is wrong on purpose: three times as long."""
    return x * x, lambda delta: 6.0 * x * delta


@custom_gradient
def product(x: Any, y: Any) -> Any:
    return x * y, lambda delta: (delta * y * 10.0, None)


def test_the_pullback_is_used() -> None:
    assert tripled(3.0) == 9.0 and grad(tripled)(3.0) == 18.0
    assert np.array_equal(grad(lambda x: np.sum(tripled(x) * V))(X), 6.0 * X * V)
    assert grad(product, (0, 1))(2.0, 3.0) == (30.0, 0.0)
    assert value_and_grad(lambda x: product(x, y=x))(2.0) == (4.0, 20.0)
    assert tripled.__name__ == "tripled" and "wrong on purpose" in str(tripled.__doc__)


def test_further_orders_go_through_the_pullback() -> None:
    assert grad(grad(tripled))(3.0) == 6.0
    assert jvp(tripled, (3.0,), (1.0,)) == (9.0, 18.0)
    assert jvp(grad(tripled), (3.0,), (1.0,)) == (18.0, 6.0)
    assert np.allclose(jacobian(tripled)(X), np.diag(6.0 * X))
    value, pullback = vjp(tripled, X)
    assert np.array_equal(value, X * X) and np.array_equal(pullback(V)[0], 6.0 * X * V)


def test_it_agrees_with_jax() -> None:
    import jax

    def make(np: Any, custom: Any) -> Any:
        def f(x: Any, y: Any) -> Any:
            e = np.exp(x)
            return {"a": e * y, "b": np.sum(e)}, lambda d: (d["a"] * e * y * 2.0 + d["b"] * e, d["a"] * e)

        f = custom(f)
        return lambda x, y: np.sum(f(x, y)["a"] ** 2) * f(x, y)["b"]

    ours, theirs = make(np, custom_gradient), make(jax.numpy, jax.custom_gradient)
    for one, other in zip(grad(ours, (0, 1))(X, V), jax.grad(theirs, (0, 1))(X, V), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    second = grad(lambda x: np.sum(grad(ours)(x, V) * V))(X)
    np.testing.assert_allclose(second, jax.grad(lambda x: jax.numpy.sum(jax.grad(theirs)(x, V) * V))(X), rtol=1e-9)


class Pair(NamedTuple):
    x: Any
    y: Any


def test_structures_in_and_out() -> None:
    @custom_gradient
    def f(p: Any, how: str = "sum") -> Any:
        assert how == "sum"
        return Pair(p["x"] * 2.0, [p["y"], 3]), lambda d: ({"y": d.y[0] * 5.0, "x": d.x * 7.0}, None)

    def loss(p: Any) -> Any:
        out = f(p, how="sum")
        assert type(out) is Pair and out.y[1] == 3
        return np.sum(out.x) + out.y[0]

    found = grad(loss)({"x": X, "y": 2.0})
    assert np.array_equal(found["x"], [7.0, 7.0, 7.0]) and found["y"] == 5.0
    assert f({"x": X, "y": 2.0}).y == [2.0, 3]


class Scaled:
    factor = 5.0

    @custom_gradient
    def act(self, x: Any, how: str = "tanh") -> Any:
        return np.tanh(x), lambda delta: delta * self.factor

    @custom_gradient
    def product(self, x: Any, y: Any) -> Any:
        return x * y, lambda delta: (None, delta * y, delta * x * self.factor)


def test_methods() -> None:
    assert np.array_equal(grad(lambda x: np.sum(Scaled().act(x)))(X), [5.0] * 3)
    assert grad(lambda x, y: Scaled().product(x, y), (0, 1))(2.0, 3.0) == (3.0, 10.0)


def test_layers_and_symbolic_functions() -> None:
    layer = tripled(s.Sin())
    assert layer.predict(0.5) == np.sin(0.5) ** 2
    assert grad(layer)(0.5) == pytest.approx(6.0 * np.sin(0.5) * np.cos(0.5))
    w = Weight(2.0)
    net = tripled(w * s.Identity())
    net.train(3.0, optimizer=s.SGD(0.01))
    assert w.value == pytest.approx(2.0 - 0.01 * 6.0 * 6.0 * 3.0)

    @symbolic
    def body(x: Annotated[float, Symbolic]) -> float:
        return tripled(x) * 2.0

    assert grad(body)(3.0) == 36.0


@pytest.mark.parametrize(
    ("pullback", "error", "words"),
    [
        (lambda d: np.ones(4), ShapeError, r"pullback of f returned for argument 0 has shape \(4,\).*\(3,\).*;"),
        (lambda d: 1.0, ShapeError, r"shape \(\).*\(3,\).*;"),
        (lambda d: d.astype(np.float32), DtypeError, r"float32.*float64.*;.*astype"),
        (lambda d: d * 1j, DtypeError, r"pullback of f.*complex128.*;"),
        (lambda d: (d, d), ShapeError, r"pullback of f returned 2 gradients for 1 arguments.*;"),
        (lambda d: {"a": d}, DtypeError, r"dict"),
    ],
)
def test_what_the_pullback_returns_is_checked(pullback: Any, error: Any, words: str) -> None:
    @custom_gradient
    def f(x: Any) -> Any:
        return x * 2.0, pullback

    with pytest.raises(error, match=words):
        grad(lambda x: np.sum(f(x)))(X)


def test_what_is_refused() -> None:
    with pytest.raises(TraceError, match=r"bad, given to custom_gradient, returns.*;.*pair"):
        grad(custom_gradient(_named("bad", lambda x: x * 2.0)))(1.0)
    assert grad(custom_gradient(lambda x: (float(x), lambda d: d)))(1.0) == 1.0
    with pytest.raises(TraceError, match=r"besides its arguments.*;.*argument"):
        grad(lambda x: custom_gradient(lambda y: (x * y, lambda d: d))(x))(1.0)
    w = Weight(2.0)
    with pytest.raises(TraceError, match=r"besides its arguments.*;"):
        grad(lambda x: custom_gradient(lambda y: (w * y, lambda d: d))(x))(1.0)
    held = grad(lambda x: custom_gradient(lambda y: (stop_gradient(x) * y, lambda d: d * stop_gradient(x)))(x))
    assert held(3.0) == 3.0
    with pytest.raises(TraceError, match=r"assigns to its argument.*;"):
        grad(lambda x: np.sum(custom_gradient(_assigning)(x)))(X)


def test_a_further_derivative_is_that_of_what_was_computed() -> None:
    """As in JAX: the gradient with a sign reversed is a function, and its derivative is that of this function."""
    reverse = custom_gradient(lambda x: (x, lambda delta: -delta))
    assert grad(lambda x: reverse(x) ** 3)(2.0) == -12.0
    assert grad(grad(lambda x: reverse(x) ** 3))(2.0) == -12.0


def _named(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    f.__name__ = name
    return f


def _assigning(x: Any) -> Any:
    x[0] = 1.0
    return x, lambda d: d


# --------------------------------------------------------------------------- remat

A = np.arange(9.0).reshape(3, 3) / 9.0 - 0.3


def block(x: Any) -> Any:
    for _ in range(6):
        x = np.sin(x) * np.exp(x * 0.1)
    return A @ x


def chain(wrap: Callable[..., Any], count: int = 8) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        for _ in range(count):
            x = wrap(block)(x)
        return np.sum(x**2)

    return f


def program(f: Callable[..., Any], x: Any) -> Program:
    derivative = Derivative(f, 0, value=True)
    call = Call(derivative, (x,), {})
    return derivative.on_path(call, lambda on: derivative._program(on, call)).program


def peak(program: Program) -> int:
    """The most values of a program that are alive at one time."""
    last: dict[int, int] = {}
    for at, one in enumerate(program.instructions):
        last.update(dict.fromkeys(one.sources, at))
    last.update(dict.fromkeys(program.outputs, len(program.instructions)))
    alive, most = set(), 0
    for at, one in enumerate(program.instructions):
        alive.add(one.target)
        most = max(most, len(alive))
        alive = {k for k in alive if last.get(k, -1) > at}
    return most


def same(value: Any) -> Any:
    return value


def test_less_is_kept_and_nothing_changes() -> None:
    kept, anew = program(chain(same), X), program(chain(remat), X)
    assert peak(anew) < peak(kept) / 3, f"{peak(anew)} values alive, {peak(kept)} without remat"
    assert len(anew.instructions) > len(kept.instructions)
    (v1, g1), (v2, g2) = value_and_grad(chain(same))(X), value_and_grad(chain(remat))(X)
    assert near(v1, v2) and near(g1, g2, 1e3)
    one, other = jvp(grad(chain(same)), (X,), (V,))[1], jvp(grad(chain(remat)), (X,), (V,))[1]
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_pullback_keeps_what_it_needs() -> None:
    """Between the passes of vjp, too, only the blocks' arguments are there."""

    def kept(f: Any) -> int:
        pullback = vjp(f, X)[1]
        cells = dict(zip(pullback.__code__.co_freevars, pullback.__closure__ or (), strict=True))
        return sum(isinstance(one, np.ndarray) for one in cells["slots"].cell_contents)

    assert kept(chain(remat)) < kept(chain(same)) / 3


def test_the_tangent_through_remat_is_computed_once() -> None:
    for one, other in zip(jvp(chain(remat), (X,), (V,)), jvp(chain(same), (X,), (V,)), strict=True):
        assert near(one, other, 1e3)


def test_what_is_closed_over_gets_its_gradient() -> None:
    def f(wrap: Any) -> Any:
        def of(x: Any, w: Any) -> Any:
            once, twice = np.sin(w), np.sin(w) * 2.0
            inner = wrap(lambda y: {"a": np.exp(y * once) * twice, "w": w, "n": 3, "s": "text"})
            out = inner(x)
            assert out["s"] == "text" and out["n"] == 3
            return np.sum(out["a"] * out["w"] * x)

        return of

    for argnums in (0, 1):
        one, other = grad(f(same), argnums)(X, V), grad(f(remat), argnums)(X, V)
        np.testing.assert_allclose(one, other, rtol=1e-13)
    one, other = (grad(lambda w, g=wrap: np.sum(grad(f(g), 1)(X, w) * X))(V) for wrap in (same, remat))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_remat_of_methods_layers_weights_and_plain_values() -> None:
    w = Weight(np.array([1.0, 2.0, 3.0]))
    net = s.Sum(remat(lambda x: np.sin(x * w))(s.Identity()))
    net.train(X, optimizer=s.SGD(0.1))
    assert np.allclose(w.value, [1.0, 2.0, 3.0] - 0.1 * X * np.cos(X * [1.0, 2.0, 3.0]))
    assert np.array_equal(remat(block)(X), block(X))
    layer = remat(s.Sin())
    assert grad(layer)(0.5) == np.cos(0.5)
    with pytest.raises(TraceError, match=r"remat, assigns to its argument.*;"):
        grad(lambda x: np.sum(remat(lambda y: _assigning(y)[0])(x)))(X)


def test_threads() -> None:
    derivative, found = grad(chain(remat)), [X] * 6

    def work(k: int) -> None:
        found[k] = derivative(X + k) + grad(lambda x: np.sum(tripled(x)))(X)

    in_threads(work, 6)
    for k, delta in enumerate(found):
        assert np.array_equal(delta, grad(chain(same))(X + k) + 6.0 * X)
