"""Does `vmap` give what the slices give one by one, whatever is mapped and however it is nested? JAX agrees."""

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from threads import in_threads

import symbolic as s
from symbolic import (
    DtypeError,
    ShapeError,
    Symbolic,
    SymbolicError,
    TraceError,
    Weight,
    custom_gradient,
    grad,
    hessian,
    jacobian,
    jvp,
    remat,
    symbolic,
    value_and_grad,
    vjp,
    vmap,
)
from symbolic.batching import Mapped
from symbolic.plan import Program
from symbolic.transformed import Transformed

RNG = np.random.default_rng(7)
X = RNG.normal(size=(4, 3))
Y = RNG.normal(size=(4, 3))
W = RNG.normal(size=(3, 5))


def close(got: Any, want: Any) -> None:
    import jax

    ours, theirs = jax.tree.flatten(got), jax.tree.flatten(want)
    assert str(ours[1]) == str(theirs[1])
    for one, other in zip(ours[0], theirs[0], strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)


def kinds(mapped: Any, *args: Any) -> list[str]:
    """The operations of the program that a mapped function runs."""
    seen: list[Any] = []
    compiled = Transformed._compiled

    def noted(self: Any, on: Any) -> Any:
        seen.append(compiled(self, on))
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transformed, "_compiled", noted)
        mapped(*args)
    program: Program = seen[-1].program
    return [type(one.node).__name__ for one in program.instructions]


def step(np: Any) -> Callable[..., Any]:
    def f(x: Any, w: Any) -> Any:
        h = np.tanh(x @ w)
        return {"h": h[1:] * h[0], "pair": (np.sum(h), np.outer(x, h)), "most": np.max(w, axis=0) + x[0]}

    return f


@pytest.mark.parametrize("in_axes", [(0, None), (1, None), (-1, None), (None, 0), (None, -1), [0, None]])
def test_axes_are_those_of_jax(in_axes: Any) -> None:
    import jax
    import jax.numpy

    args: list[Any] = [X[0], W]
    for k, axis in enumerate(in_axes):
        if axis is not None:
            args[k] = np.stack([args[k] * far for far in (1.0, 0.5, -2.0)], axis)
    close(vmap(step(np), in_axes)(*args), jax.vmap(step(jax.numpy), tuple(in_axes))(*args))
    out: Any = {"h": -1, "pair": (0, 1), "most": 0}
    close(vmap(step(np), in_axes, out)(*args), jax.vmap(step(jax.numpy), tuple(in_axes), out)(*args))


def test_it_nests() -> None:
    outer = vmap(vmap(lambda a, b: a * b, (None, 0)), (0, None))
    assert np.allclose(outer(X[:, 0], Y[:, 0]), np.outer(X[:, 0], Y[:, 0]))
    dots = vmap(vmap(np.dot, (None, 0)), (0, None), out_axes=1)
    assert np.allclose(dots(X, Y), (X @ Y.T).T)
    cube = RNG.normal(size=(2, 3, 4))
    assert np.allclose(vmap(vmap(vmap(lambda x: np.sin(x))), 2, 2)(cube), np.sin(cube))


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Model:
    w: Any
    name: str = "model"


def test_structures_and_what_is_not_mapped() -> None:
    def f(p: Any, k: int, scale: Any = 1.0) -> Any:
        assert k == 2
        return Point(p["m"].w * scale, [p["q"], "text", 3, None, p["m"].name])

    given = {"m": Model(X), "q": Y[:, 0]}
    found = vmap(f, (0, None))(given, 2, scale=np.arange(4.0))
    assert type(found) is Point and np.allclose(found.x, X * np.arange(4.0)[:, None])
    assert np.array_equal(found.y[0], Y[:, 0]) and found.y[1] == "text" and found.y[3:] == [None, "model"]
    assert np.array_equal(found.y[2], [3, 3, 3, 3])
    some = vmap(lambda p: p["a"] * p["b"], ({"a": 0, "b": None},))({"a": X, "b": Y[0]})
    assert np.allclose(some, X * Y[0])
    assert np.array_equal(vmap(lambda x: 2.0)(X), [2.0] * 4)
    assert vmap(lambda x, y: (x, y * 2.0), (0, None), (0, None))(X, 3.0)[1] == 6.0


@pytest.mark.parametrize(
    ("f", "in_axes", "args", "error", "words"),
    [
        (np.dot, 0, (X, W), ShapeError, r"different sizes: 4 for argument 0, 3 for argument 1.*;"),
        (lambda p, y: p["a"] * y, 0, ({"a": X}, W), ShapeError, r"4 for argument 0\['a'\], 3 for argument 1"),
        (np.sin, None, (X,), ShapeError, r"sin maps none.*;.*in_axes"),
        (np.sin, 2, (X,), ShapeError, r"axis 2 of argument 0, which has 2 axes.*;"),
        (np.sin, -3, (X,), ShapeError, r"axis -3 of argument 0.*;"),
        (np.sin, 0, (2.0,), ShapeError, r"axis 0 of argument 0, which has 0 axes.*;.*None"),
        (np.dot, (0,), (X, Y), ShapeError, r"in_axes of 1 entries for 2 arguments.*;"),
        (np.sin, "x", (X,), DtypeError, r"in_axes='x'.*;"),
        (lambda p: p["a"], ({"b": 0},), ({"a": X},), ShapeError, r"in_axes\[0\].*\(b\).*\(a\).*;"),
        (lambda x: x.reshape(7), 0, (X,), ShapeError, r"shape \(3,\).*\(7,\)"),
    ],
)
def test_what_is_refused(f: Any, in_axes: Any, args: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        vmap(f, in_axes)(*args)
    with pytest.raises(error, match=words):  # within a trace, too
        grad(lambda t: t * np.sum(vmap(f, in_axes)(*args)))(1.0)


def test_a_result_that_is_one_for_all() -> None:
    with pytest.raises(ShapeError, match=r"out_axes=None.*depends.*;"):
        vmap(np.sin, out_axes=None)(X)
    with pytest.raises(ShapeError, match="out_axes"):
        vmap(lambda x: {"a": x}, out_axes={"b": 0})(X)


def test_a_result_that_is_one_for_all_slices_of_which_each_takes_its_branch() -> None:
    def one(x: Any, y: Any) -> Any:
        return y * len("many" if x > 1.0 else "few.")

    def many(x: Any, y: Any) -> Any:
        return y * (2.0 if x > 1.0 else 1.0)

    def of(f: Any, x: Any) -> Any:
        return vmap(f, in_axes=(0, None), out_axes=None)(x, np.ones(2))

    x = np.array([0.5, 1.5])
    assert of(one, x).tolist() == [4.0, 4.0]
    assert grad(lambda x: np.sum(of(one, x)) + x[0])(x).tolist() == [1.0, 0.0]
    cases: list[Callable[[Any], Any]] = [lambda x: of(many, x), grad(lambda x: np.sum(of(many, x)) + x[0])]
    for mapped in cases:
        with pytest.raises(ShapeError, match="out_axes=None"):
            mapped(x)


@pytest.mark.parametrize("f", [np.sin, np.sum, lambda x: x @ W, lambda x: np.sort(x)[:2], np.linalg.norm])
def test_no_slice_at_all(f: Any) -> None:
    none = np.zeros((0, 3))
    assert vmap(f)(none).shape == (0, *np.shape(f(X[0])))
    assert vjp(vmap(f), none)[1](np.zeros((0, *np.shape(f(X[0])))))[0].shape == (0, 3)


def test_dtypes_are_the_slices() -> None:
    single = X.astype(np.float32)
    assert vmap(lambda x: np.sin(x) * 2.0)(single).dtype == np.float32
    assert vmap(lambda x: grad(lambda y: y * x[0] * 2.0)(1.0) * x)(single).dtype == np.float32
    assert vmap(np.argmax)(X).dtype == np.intp and vmap(lambda x: x > 0)(X).dtype == bool
    assert np.allclose(vmap(lambda z: np.conj(z) * z)(X + 1j * Y), np.abs(X + 1j * Y) ** 2)


def test_usual_operations_run_all_at_once() -> None:
    def net(x: Any, w: Any) -> Any:
        h = np.maximum(x @ w, 0.0)
        e = np.exp(h - np.max(h))
        p = e / np.sum(e)
        return np.stack([np.mean(p), np.var(p), p[-1]]) + np.concatenate([x, x])[:3].reshape(3)

    for f in (net, lambda x, w: grad(lambda x: np.sum(net(x, w)))(x), lambda x, w: jacobian(net)(x, w)):
        assert "Map" not in kinds(vmap(f, (0, None)), X, W)


def test_an_operation_without_a_rule_runs_slice_by_slice() -> None:
    def f(x: Any) -> Any:
        return np.convolve(x, x[:2])[:3] + np.cross(x, np.sin(x[::-1]))

    assert "Map" in kinds(vmap(f), X)
    assert np.allclose(vmap(f)(X), np.stack([f(x) for x in X]))
    want = np.stack([grad(lambda x: np.sum(f(x) ** 2))(x) for x in X])
    assert np.allclose(grad(lambda x: np.sum(vmap(f)(x) ** 2))(X), want)
    assert np.allclose(vmap(grad(lambda x: np.sum(f(x) ** 2)))(X), want)
    second = np.stack([hessian(lambda x: np.sum(f(x) ** 2))(x) for x in X])
    assert np.allclose(vmap(hessian(lambda x: np.sum(f(x) ** 2)))(X), second)


AXES: list[Any] = [(0, None, None), (0, 0, 0), (None, 0, 0), (None, None, 0), (0, 0, None), (-1, 0, 1)]
INDICES: list[Any] = [
    lambda x, i, j: x[i],
    lambda x, i, j: x[:, j],
    lambda x, i, j: x[i, :, j],
    lambda x, i, j: x[:, i, j],
    lambda x, i, j: x[..., i],
    lambda x, i, j: x[None, j, 0],
    lambda x, i, j: x[0, :, j],
    lambda x, i, j: x[1:, i][:, None],
    lambda x, i, j: x[j[:, None], :, j],
    lambda x, i, j: x[:, j[:, None], j],
    lambda x, i, j: x[..., j, ::-1],
]


@pytest.mark.parametrize("pick", INDICES, ids=range(len(INDICES)))
@pytest.mark.parametrize("in_axes", AXES, ids=str)
def test_every_index(pick: Any, in_axes: Any) -> None:
    x, i, j = RNG.normal(size=(3, 3, 3)), np.array(1), np.array([2, 0, 2])
    slices = [(x + k, (i + k) % 3, (j + k) % 3) for k in range(4)]
    args = [
        one if axis is None else np.stack(column, axis)
        for one, column, axis in zip(slices[0], zip(*slices, strict=True), in_axes, strict=True)
    ]
    used = [
        tuple(one if axis is None else mine for one, mine, axis in zip(slices[0], row, in_axes, strict=True))
        for row in slices
    ]
    try:
        want = np.stack([pick(*row) for row in used])
    except IndexError:  # where the position of a scalar is mapped alone
        return
    mapped = vmap(pick, in_axes)
    assert "Map" not in kinds(mapped, *args) and np.array_equal(mapped(*args), want)
    weights = RNG.normal(size=want.shape)
    deltas = [vjp(lambda v, row=row: pick(v, *row[1:]), row[0])[1](w)[0] for row, w in zip(used, weights, strict=True)]
    whole = vjp(lambda v: mapped(v, *args[1:]), args[0])[1](weights)[0]
    axis = in_axes[0]
    assert np.allclose(whole, np.sum(deltas, 0) if axis is None else np.moveaxis(np.stack(deltas), 0, axis))


def test_assignment_in_a_slice() -> None:
    def f(x: Any, i: Any, v: Any) -> Any:
        y = np.copy(x)
        y[1:] = v
        y[i] = x[0] * 10.0
        y += 1.0
        return y

    i = np.array([0, 2, 1, 0])
    want = np.stack([f(x, k, v) for x, k, v in zip(X, i, Y[:, :2], strict=True)])
    assert np.allclose(vmap(f)(X, i, Y[:, :2]), want)
    slope = grad(lambda x: np.sum(np.sin(vmap(f)(x, i, Y[:, :2]))))(X)
    each = [grad(lambda x, k=k, v=v: np.sum(np.sin(f(x, k, v))))(x) for x, k, v in zip(X, i, Y[:, :2], strict=True)]
    assert np.allclose(slope, each)
    with pytest.raises(SymbolicError, match=r"assigns to its argument.*;"):
        vmap(_assigning)(X)


def _assigning(x: Any) -> Any:
    x[0] = 1.0
    return x


# --------------------------------------------------------------------------- among the others


def test_derivatives_of_and_in_a_map() -> None:
    import jax
    import jax.numpy

    def f(np: Any) -> Any:
        return lambda x, w: np.sum(np.tanh(x @ w) ** 2) * x[0]

    ours, theirs = f(np), f(jax.numpy)
    close(vmap(grad(ours), (0, None))(X, W), jax.vmap(jax.grad(theirs), (0, None))(X, W))
    close(vmap(hessian(ours), (0, None))(X, W), jax.vmap(jax.hessian(theirs), (0, None))(X, W))
    both = (vmap(value_and_grad(ours, (0, 1)), (0, None)), jax.vmap(jax.value_and_grad(theirs, (0, 1)), (0, None)))
    close(both[0](X, W), both[1](X, W))
    one, other = total(vmap, ours, np), total(jax.vmap, theirs, jax.numpy)
    close(grad(one)(W), jax.grad(other)(W))
    close(hessian(one)(W), jax.hessian(other)(W))
    moved = jax.jvp(jax.vmap(jax.grad(theirs), (0, None)), (X, W), (Y, W))
    close(jvp(vmap(grad(ours), (0, None)), (X, W), (Y, W)), moved)
    close(deep(vmap, grad, jacobian, ours)(X, W), deep(jax.vmap, jax.grad, jax.jacobian, theirs)(X, W))


def total(mapping: Any, f: Any, np: Any) -> Any:
    return lambda w: np.sum(mapping(f, (0, None))(X, w) ** 2)


def deep(mapping: Any, slope: Any, block: Any, f: Any) -> Any:
    return mapping(slope(lambda x, w: block(lambda v: f(v, w))(x).sum()), (0, None))


def test_gradients_of_each_sample() -> None:
    def loss(w: Any, x: Any, y: Any) -> Any:
        return (np.dot(w, x) - y) ** 2

    w, y = np.array([1.0, -1.0, 0.5]), Y[:, 0]
    each = vmap(grad(loss), (None, 0, 0))(w, X, y)
    assert np.allclose(each, 2.0 * (X @ w - y)[:, None] * X)


def test_a_vector_of_tangents_and_of_deltas() -> None:
    f = lambda x: np.sin(x) * np.sum(x)  # noqa: E731 - an expression among others
    x = X[0]
    columns = vmap(lambda v: jvp(f, (x,), (v,))[1], out_axes=1)(np.eye(3))
    _, pullback = vjp(f, x)
    rows = np.stack([pullback(one)[0] for one in np.eye(3)])
    assert np.allclose(columns, rows) and np.allclose(columns, jacobian(f)(x))
    within = grad(lambda x: np.sum(vmap(lambda v: vjp(f, x)[1](v)[0])(np.eye(3)) ** 2))
    assert np.allclose(within(x), grad(lambda x: np.sum(jacobian(f)(x) ** 2))(x))


def test_custom_gradients_and_remat_in_a_map() -> None:
    tripled = custom_gradient(lambda x, k: (x * k, lambda delta: (3.0 * delta * k, None)))
    assert np.array_equal(grad(lambda x: np.sum(vmap(tripled, (0, None))(x, 2.0)))(X), np.full((4, 3), 6.0))
    assert np.array_equal(vmap(grad(lambda x: np.sum(tripled(x, 2.0))))(X), np.full((4, 3), 6.0))
    mixed = grad(
        lambda k: np.sum(vmap(custom_gradient(lambda x, k: (x * k, lambda d: (d, np.sum(d * x)))), (0, None))(X, k))
    )
    assert mixed(2.0) == pytest.approx(np.sum(X))
    w = Weight(W)
    deep = remat(lambda x: np.tanh(np.tanh(x @ W) @ W.T))
    want = np.stack([grad(lambda x: np.sum(deep(x) ** 2))(x) for x in X])
    assert np.allclose(grad(lambda x: np.sum(vmap(deep)(x) ** 2))(X), want)
    assert np.allclose(vmap(grad(lambda x: np.sum(deep(x) ** 2)))(X), want)
    closed = grad(lambda v: np.sum(vmap(remat(lambda x: np.sin(x * v)))(X)))
    assert np.allclose(closed(Y[0]), np.sum(np.cos(X * Y[0]) * X, 0))
    assert w.value is not W


def test_within_symbolic_functions_and_with_weights() -> None:
    w = Weight(W.copy())

    @symbolic
    def net(x: Annotated[np.ndarray, Symbolic]) -> float:
        return np.sum(vmap(lambda row: np.tanh(row @ w))(x))

    assert net(X) == pytest.approx(np.sum(np.tanh(X @ W)))
    net.train(X, optimizer=s.SGD(0.1))
    assert np.allclose(w.value, W - 0.1 * X.T @ (1 - np.tanh(X @ W) ** 2))
    layer = s.Tanh(s.MatMul(s.Identity(), s.Literal(W)))
    assert np.allclose(vmap(layer)(X), np.tanh(X @ W))
    assert np.allclose(vmap(np.sin)(s.Identity()).predict(X), np.sin(X))
    assert np.allclose(grad(s.Sum(vmap(lambda x: x * x[0])(s.Identity())))(X), grad(lambda x: np.sum(x * x[:, :1]))(X))


class Scaled:
    factor = 2.0

    def value(self, x: Any) -> Any:
        return x * self.factor

    every = vmap(value, (None, 0))


def test_methods_partials_and_ufuncs() -> None:
    assert np.allclose(vmap(Scaled().value)(X), 2.0 * X)
    assert np.allclose(vmap(np.add)(X, Y), X + Y)
    double = Scaled()
    mapped = vmap(double.value)
    double.factor = 5.0
    assert np.allclose(mapped(X), 5.0 * X)


# --------------------------------------------------------------------------- what one graph cannot say


def choosing(x: Any) -> Any:
    return np.sum(x) if x[0] > 0 else np.prod(x)


def test_the_truth_of_a_slice() -> None:
    want = np.array([choosing(x) for x in X])
    assert np.allclose(vmap(choosing)(X), want)
    rows = X.copy()
    within = grad(lambda t: np.sum(t * vmap(choosing)(rows)))  # of plain arrays, within a trace
    assert within(1.0) == pytest.approx(np.sum(want))
    assert np.allclose(vmap(choosing, -1)(X.T), want)
    pairs = vmap(lambda x: {"a": choosing(x), "s": "t"})(X)
    assert np.allclose(pairs["a"], want) and pairs["s"] == "t"
    with pytest.raises(TraceError, match=r"no slices.*;"):
        vmap(choosing)(np.zeros((0, 3)))


def test_an_error_of_the_body_comes_out_of_a_map_by_slices() -> None:
    def f(x: Any) -> Any:
        if x > 1.0:
            raise LookupError("too large")
        return x

    with pytest.raises(LookupError, match="too large"):
        grad(lambda x: np.sum(vmap(f)(np.stack([x, x]))))(2.0)


def test_captured_arrays_are_read_at_every_call() -> None:
    held = X.copy()
    f = grad(lambda t: t * np.sum(vmap(np.sum)(held)))
    assert f(1.0) == pytest.approx(np.sum(X))
    held[...] = 1.0
    assert f(1.0) == 12.0


def test_slices_that_differ_in_structure() -> None:
    for f in (
        lambda x: (x, x) if x[0] > 0 else x,
        lambda x: (x, "up" if x[0] > 0 else "down"),
        lambda x: {float(x[0])},
    ):
        with pytest.raises(ShapeError, match=r"other structures.*;"):
            vmap(f)(X)


def test_a_slice_that_leaks_is_refused() -> None:
    kept: list[Any] = []

    def leak(x: Any) -> Any:
        kept.append(x)
        return x

    def f(x: Any) -> Any:
        vmap(leak)(x)
        return np.sum(kept.pop() * x[0])

    with pytest.raises(SymbolicError, match=r"slice of a vmap, outside.*;"):
        grad(f)(X)


def test_nothing_goes_slice_by_slice_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    monkeypatch.setattr(Mapped, "_by_slice", lambda self: called.append(self))
    vmap(step(np), (0, None))(X, W)
    assert called == []


def test_threads() -> None:
    mapped, found = vmap(grad(lambda x: np.sum(np.sin(x) * x[0]))), [X] * 6

    def work(k: int) -> None:
        found[k] = mapped(X + k)

    in_threads(work, 6)
    for k, delta in enumerate(found):
        assert np.allclose(delta, np.stack([grad(lambda x: np.sum(np.sin(x) * x[0]))(x) for x in X + k]))
