"""Do `jvp`, `jacobian` and `hessian` keep structures, nest without confusion, and say what they refuse? JAX agrees."""

import dataclasses
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from answers import near
from hypothesis import given, settings
from hypothesis import strategies as st
from threads import in_threads

import symbolic as s
from symbolic import (
    DtypeError,
    ShapeError,
    Symbolic,
    TraceError,
    grad,
    hessian,
    jacobian,
    jvp,
    stop_gradient,
    symbolic,
    value_and_grad,
    vjp,
)
from symbolic.deriving import Call
from symbolic.forward import value_and_tangent
from symbolic.plan import Program
from symbolic.transformed import Transformed

X = np.array([0.5, -1.0, 2.0])
V = np.array([1.0, 0.25, -0.5])
A = np.arange(9.0).reshape(3, 3) / 5.0 - 0.5


def program(f: Callable[..., Any], *args: Any) -> Program:
    """The program by which `jvp` runs."""
    forward = Transformed(f, value_and_tangent, "jvp", first=True)
    call = Call(forward, (args, tuple(np.ones_like(one) for one in args)), {})
    return forward.on_path(call, forward._compiled).program


def close(got: Any, want: Any) -> None:
    """Equal structures of equal arrays, a structure of JAX's included."""
    import jax

    ours, theirs = jax.tree.flatten(got), jax.tree.flatten(want)
    assert str(ours[1]) == str(theirs[1])
    for one, other in zip(ours[0], theirs[0], strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


# --------------------------------------------------------------------------- forward mode


def mixed(np: Any) -> Callable[..., Any]:
    def f(x: Any, w: Any) -> Any:
        y = np.tanh(w @ np.sin(x)) * np.exp(x[::-1])
        return {"all": y[1:] ** 2, "some": (np.sum(y * x), np.outer(x, y)), "like": [np.max(w, axis=0)]}

    return f


def test_jvp_is_that_of_jax() -> None:
    import jax
    import jax.numpy

    ours = jvp(mixed(np), (X, A), (V, A.T))
    close(ours, jax.jvp(mixed(jax.numpy), (X, A), (V, A.T)))


@pytest.mark.parametrize(
    "f",
    [
        lambda np: lambda z: np.exp(z) * z**2,
        lambda np: lambda z: np.conj(z) * np.abs(z),
        lambda np: lambda z: np.real(z) * np.imag(z) + np.angle(z),
        lambda np: lambda z: np.fft.fft(z * np.conj(z[::-1])),
    ],
    ids=range(4),
)
def test_complex_tangents_are_those_of_the_real_linear_map(f: Any) -> None:
    import jax
    import jax.numpy

    z, v = X + 1j * X[::-1], V - 0.5j * V[::-1]
    close(jvp(f(np), (z,), (v,)), jax.jvp(f(jax.numpy), (z,), (v,)))


def test_a_real_argument_with_a_complex_value() -> None:
    value, tangent = jvp(lambda x: np.exp(1j * x), (X,), (V,))
    assert np.allclose(tangent, 1j * V * value)
    assert np.allclose(jvp(lambda z: z * 2.0, (X + 0j,), (V,))[1], 2.0 * V)


@pytest.mark.parametrize(
    ("f", "most"),
    [
        (lambda x: np.sin(np.exp(np.tanh(x))), 9),  # a product for each, and what a factor is made of
        (lambda x: np.sum(A @ x), 4),
        (lambda x: (A + x)[1:, ::2], 4),
        (lambda x: np.mean(np.sum(A * x, axis=0) ** 2), 11),
    ],
    ids=range(4),
)
def test_no_way_back_is_left_in_a_program_of_forward_mode(f: Any, most: int) -> None:
    found = program(f, X)
    kinds = [type(one.node).__name__ for one in found.instructions]
    assert len(kinds) <= most, str(found)
    assert not {"Scatter", "EntryLike", "Tuple", "Swapaxes", "SumLike", "Gradient"} & set(kinds), str(found)


def test_the_tangent_has_the_values_dtype() -> None:
    x = X.astype(np.float32)
    value, tangent = jvp(lambda x: np.sin(x) * 2.0, (x,), (V,))
    assert value.dtype == tangent.dtype == np.float32
    assert all(type(one) is float for one in jvp(lambda x: x * x, (3.0,), (1.0,)))


def test_leaves_without_a_tangent() -> None:
    counts = np.arange(3)
    value, tangent = jvp(lambda p: {"y": p["x"] * p["k"], "k": p["k"], "s": p["name"]}, *_named(counts))
    assert np.array_equal(tangent["y"], V * counts) and tangent["k"] is None and tangent["s"] is None
    assert np.array_equal(value["k"], counts) and value["s"] == "text"


def _named(counts: Any) -> tuple[Any, Any]:
    return ({"x": X, "k": counts, "name": "text"},), ({"name": None, "k": None, "x": V},)


@pytest.mark.parametrize(
    ("primals", "tangents", "error", "words"),
    [
        ((X,), (np.array([1, 2, 3]),), DtypeError, r"tangent of argument 0 is int64\[3\].*;.*1\.0"),
        ((0.5,), (1,), DtypeError, r"tangent of argument 0 is int.*;"),
        ((X,), (V * 1j,), DtypeError, r"complex128.*float64.*;"),
        ((X,), (np.ones(4),), ShapeError, r"argument 0 has shape \(4,\).*\(3,\).*;"),
        ((X,), (1.0,), ShapeError, r"shape \(\).*\(3,\).*;"),
        ((X,), (None,), DtypeError, r"NoneType.*;"),
        ((X,), (V, V), ShapeError, r"tangents.*tuple of 2.*tuple of 1.*;"),
        (({"a": X},), ({"b": V},), ShapeError, r"tangents.*\[0\].*\(b\).*;.*a"),
        (({"a": [X, X]},), ({"a": [V, V[:2]]},), ShapeError, r"argument 0\['a'\]\[1\].*\(2,\).*;"),
        ((np.arange(3),), (np.ones(3),), DtypeError, r"int64.*NoDelta.*;.*None"),
        ((np.arange(3),), (None,), DtypeError, r"none has a tangent.*;"),
        (X, V, DtypeError, r"primals of type ndarray.*;.*\(x,\)"),
    ],
)
def test_what_jvp_refuses(primals: Any, tangents: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        jvp(lambda x: np.sin(x), primals, tangents)
    with pytest.raises(error, match=words):  # within a trace, too
        grad(lambda t: t * np.sum(jvp(lambda x: np.sin(x), primals, tangents)[1]))(1.0)


# --------------------------------------------------------------------------- all of them at once


@given(st.sampled_from([(), (1,), (3,), (2, 3), (0,), (2, 0)]), st.sampled_from([(), (2,), (0, 2)]))
@settings(max_examples=12, deadline=None)
def test_a_jacobian_has_the_shapes_of_both(of: Any, by: Any) -> None:
    x = np.linspace(-1.0, 1.0, int(np.prod(by))).reshape(by)
    found = jacobian(lambda x: np.ones(of) * np.sum(x**2))(x)
    assert np.shape(found) == of + by and np.allclose(found, np.ones(of + (1,) * len(by)) * 2.0 * x)


def test_jacobians_are_those_of_jax() -> None:
    import jax
    import jax.numpy

    for argnums in (0, 1, (0, 1), (1,)):
        close(jacobian(mixed(np), argnums)(X, A), jax.jacobian(mixed(jax.numpy), argnums)(X, A))


def bowl(np: Any) -> Callable[..., Any]:
    return lambda p: np.sum(np.exp(p["w"]) * p["w"][::-1]) * p["b"][0] + np.sum(p["w"] @ A) * p["b"][1] ** 2


def both(np: Any) -> Callable[..., Any]:
    return lambda x, y: np.sum(np.sin(x * y)) * np.prod(x)


def test_hessians_are_those_of_jax() -> None:
    import jax
    import jax.numpy

    given_ = {"b": (np.array(0.5), np.array(2.0)), "w": X}
    close(hessian(bowl(np))(given_), jax.hessian(bowl(jax.numpy))(given_))
    close(hessian(both(np), (0, 1))(X, V), jax.hessian(both(jax.numpy), (0, 1))(X, V))


def test_a_complex_value_by_a_real_argument() -> None:
    assert np.allclose(jacobian(lambda x: np.exp(1j * x))(X), np.diag(1j * np.exp(1j * X)))
    with pytest.raises(DtypeError, match=r"complex argument.*;.*jvp and vjp"):
        jacobian(lambda z: z * 2.0)(X + 0j)


def test_what_jacobian_refuses() -> None:
    with pytest.raises(DtypeError, match=r"argument 0.*int64.*NoDelta.*;"):
        jacobian(lambda x: x * 2.0)(np.arange(3))
    with pytest.raises(ShapeError, match=r"argument 2.*;"):
        jacobian(lambda x: x * 2.0, 2)(X)  # type: ignore[symbolic-shape]  # what is tested
    with pytest.raises(DtypeError, match="argnums"):
        jacobian(np.sin, "x")  # type: ignore[symbolic]  # what is tested
    with pytest.raises(DtypeError, match=r"not callable.*;"):
        jvp(3, (X,), (V,))  # type: ignore[arg-type]  # what is tested


# --------------------------------------------------------------------------- nesting


def test_perturbations_are_not_confused() -> None:
    """Siskind and Pearlmutter's: the inner derivative is by y alone, so the answers are 1 and 2, not 2 and 3."""
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0) == 1.0
    assert jvp(lambda x: x * jvp(lambda y: x + y, (1.0,), (1.0,))[1], (1.0,), (1.0,))[1] == 1.0
    assert grad(lambda x: x * jvp(lambda y: x * y, (2.0,), (1.0,))[1])(3.0) == 6.0
    assert jvp(lambda x: x * grad(lambda y: x * y)(2.0), (3.0,), (1.0,))[1] == 6.0


def test_a_derivative_that_makes_functions() -> None:
    """Manzyuk and others' amazing bug: the derivative of a curried shift, applied to itself."""

    def shift(u: Any) -> Any:
        return lambda f: lambda x: f(x + u)

    def shifted(f: Any) -> Any:
        return lambda x: jvp(lambda u: shift(u)(f)(x), (0.0,), (1.0,))[1]

    assert shifted(shifted(np.exp))(1.0) == pytest.approx(np.exp(1.0))
    assert shifted(shifted(np.sin))(0.5) == pytest.approx(-np.sin(0.5))


def test_orders_mix() -> None:
    def f(x: Any) -> Any:
        return np.sin(x) * x**3

    def slope(g: Any) -> Any:
        return lambda x: jvp(g, (x,), (1.0,))[1]

    want = {1: grad(f)(0.7), 2: grad(grad(f))(0.7), 3: grad(grad(grad(f)))(0.7)}
    assert slope(slope(f))(0.7) == pytest.approx(want[2])
    for one in (grad, slope, jacobian):
        for two in (grad, slope, jacobian):
            assert float(one(two(f))(0.7)) == pytest.approx(want[2])
            for three in (grad, slope):
                assert float(three(one(two(f)))(0.7)) == pytest.approx(want[3])
    assert want[1] == pytest.approx(np.cos(0.7) * 0.7**3 + 3 * np.sin(0.7) * 0.7**2)


def test_hessian_times_vector() -> None:
    f = lambda x: np.sum(np.exp(x) * x[::-1]) * x[0]  # noqa: E731 - an expression among others
    whole = hessian(f)(X) @ V
    assert np.allclose(jvp(grad(f), (X,), (V,))[1], whole)
    assert np.allclose(grad(lambda x: np.vdot(grad(f)(x), V))(X), whole)
    assert np.allclose(grad(lambda x: jvp(f, (x,), (V,))[1])(X), whole)
    third = jvp(lambda x: jvp(grad(f), (x,), (V,))[1], (X,), (V,))[1]
    step = 1e-5
    rough = (hessian(f)(X + step * V) @ V - hessian(f)(X - step * V) @ V) / (2 * step)
    assert np.allclose(third, rough, rtol=1e-6)


# --------------------------------------------------------------------------- whatever can be called


class Model:
    scale = 2.0

    def value(self, x: Any, power: Any = 2.0) -> Any:
        return self.scale * x**power

    turned = jacobian(value)


@symbolic
def decorated(x: Annotated[np.ndarray, Symbolic]) -> np.ndarray:
    y: np.ndarray = 2.0 * x**2.0
    return y


def test_whatever_can_be_called() -> None:
    layer = s.Times(s.Literal(2.0), s.Square())
    partial = functools.partial(Model().value, power=2.0)
    for f in (Model().value, decorated, layer, partial, lambda x: 2.0 * x**2):
        assert np.allclose(jvp(f, (X,), (V,))[1], 4.0 * X * V)
        assert np.allclose(jacobian(f)(X), np.diag(4.0 * X))
    assert np.allclose(Model().turned(X, power=3.0), np.diag(6.0 * X**2))
    assert np.allclose(jvp(np.sin, (X,), (V,))[1], np.cos(X) * V)


def test_within_a_symbolic_function() -> None:
    net = symbolic(lambda x: np.sum(jacobian(np.sin)(x)) + np.sum(jvp(np.cos, (x,), (x,))[1]), np.ndarray)
    for _ in range(3):
        assert net(X) == pytest.approx(np.sum(np.cos(X) - np.sin(X) * X))


def test_threads() -> None:
    second = hessian(lambda x: np.sum(np.sin(x) * x[0]))
    want, found = second(X), [X] * 8

    def work(k: int) -> None:
        for _ in range(5):
            found[k] = second(X)

    in_threads(work, 8)
    assert all(near(one, want) for one in found)


# --------------------------------------------------------------------------- structures


class Pair(NamedTuple):
    x: Any
    y: Any


class Two(tuple[Any, ...]):
    """A tuple that is made of two things, not of one sequence."""

    def __new__(cls, a: Any, b: Any) -> "Two":
        return tuple.__new__(cls, (a, b))


class Listed(list[Any]):
    pass


@dataclasses.dataclass
class Parameters:
    w: Any
    name: str = "linear"
    act: Any = np.tanh
    hidden: Any = dataclasses.field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.note = "set by hand"


STRUCTURES: list[Any] = [
    Pair(X, 2.0),
    Two(X, 2.0),
    Listed([X, 2.0]),
    {"b": X, "a": 2.0},
    OrderedDict(b=X, a=2.0),
    defaultdict(list, {"b": X, "a": 2.0}),
    {1: (X, [2.0]), ("k", 2): {}},
    Parameters(X, hidden=2.0),
]


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda one: type(one).__name__)
def test_structures_go_in_and_come_out_as_they_are(structure: Any) -> None:
    def f(p: Any) -> Any:
        return p

    def loss(p: Any) -> Any:
        return np.sum(_leaves(p)[0] ** 2) * _leaves(p)[1]

    gradient = grad(loss)(structure)
    value, pullback = vjp(f, structure)
    same, tangent = jvp(f, (structure,), (_ones(structure),))
    for one in (gradient, value, pullback(value)[0], same, tangent):
        assert type(one) is type(structure)
        assert getattr(one, "default_factory", None) is getattr(structure, "default_factory", None)
        if isinstance(structure, dict):
            assert list(one) == list(structure)
    assert np.array_equal(_leaves(gradient)[0], 4.0 * X) and _leaves(gradient)[1] == np.sum(X**2)
    assert np.array_equal(_leaves(pullback(value)[0])[0], X) and np.array_equal(_leaves(value)[0], X)
    assert np.array_equal(_leaves(tangent)[0], np.ones(3)) and _leaves(tangent)[1] == 1.0
    block = jacobian(f)(structure)
    assert type(block) is type(structure) and np.array_equal(_leaves(_leaves(block)[0])[0], np.eye(3))


def _leaves(p: Any) -> list[Any]:
    from symbolic.structure import flatten

    if isinstance(p, Parameters):
        return [p.w, p.hidden]
    return flatten(p, leaf=lambda one: isinstance(one, Parameters))[0]


def _ones(p: Any) -> Any:
    from symbolic.structure import flatten, unflatten

    leaves, tree = flatten(p)
    return unflatten(tree, iter([one * 0.0 + 1.0 if isinstance(one, (float, np.ndarray)) else None for one in leaves]))


def test_arguments_may_hold_what_has_no_derivative() -> None:
    given_ = {"w": X, "act": np.tanh, "f": lambda x: x * 2.0, "flag": True, "name": None, "n": np.int64(2), "s": "sum"}

    def loss(p: Any) -> Any:
        assert p["flag"] and p["name"] is None and p["s"] == "sum"
        return np.sum(p["f"](p["act"](p["w"]))) * p["n"]

    found = grad(loss)(given_)
    assert np.allclose(found["w"], 4.0 / np.cosh(X) ** 2) and set(found) == set(given_)
    assert all(found[name] is None for name in given_ if name != "w")
    tangents = {**dict.fromkeys(given_), "w": V}
    assert jvp(loss, (given_,), (tangents,))[1] == pytest.approx(np.sum(found["w"] * V))
    assert np.allclose(jacobian(loss)(given_)["w"], found["w"])


def test_results_may_hold_what_no_trace_knows() -> None:
    value, tangent = jvp(lambda x: {"y": x * 2.0, "f": np.sin, "k": (1, None, "s", True)}, (X,), (V,))
    assert value["f"] is np.sin and value["k"] == (1, None, "s", True)
    assert tangent["f"] is None and tangent["k"][1:] == (None, None, None)
    with pytest.raises(TraceError, match=r"entry of a set.*test_forward\.py.*;"):
        jvp(lambda x: {x}, (X,), (V,))
    with pytest.raises(TraceError, match=r"function that holds traced values.*;"):
        jvp(lambda x: (x, lambda: x), (X,), (V,))


def test_what_is_returned_beside_the_value_is_of_each_call() -> None:
    kept = [1]
    f = grad(lambda x: (np.sum(x), {"kept": kept[0], "x": x}), has_aux=True)
    assert f(X)[1]["kept"] == 1
    kept[0] = 2
    assert f(X)[1]["kept"] == 2 and np.array_equal(f(V)[1]["x"], V)


def test_more_than_the_loss() -> None:
    def f(x: Any, y: Any) -> Any:
        z = x * y
        return np.sum(z), {"z": z, "count": 3, "name": "run"}

    gradient, more = grad(f, has_aux=True)(X, 2.0)
    assert np.array_equal(gradient, [2.0] * 3) and np.array_equal(more["z"], 2.0 * X) and more["name"] == "run"
    (value, more), both = value_and_grad(f, (0, 1), has_aux=True)(X, 2.0)
    assert value == 3.0 and more["count"] == 3 and both[1] == np.sum(X)
    both_ = symbolic(lambda x: (np.sum(x**2), x * 2.0), np.ndarray)
    assert np.array_equal(grad(both_, has_aux=True)(X)[1], 2.0 * X)
    nested = grad(lambda t: np.sum(grad(f, has_aux=True)(X, t)[1]["z"]))(2.0)
    assert nested == np.sum(X)
    for wrong in (lambda x: np.sum(x), lambda x: (np.sum(x),), lambda x: [np.sum(x), 1]):
        with pytest.raises(ShapeError, match=r"has_aux.*;.*pair"):
            grad(wrong, has_aux=True)(X)
    with pytest.raises(ShapeError, match=r"shape \(3,\)"):
        grad(lambda x: (x, 1), has_aux=True)(X)


def test_vjp_of_structures() -> None:
    value, pullback = vjp(lambda p, n, scale: {"y": p["x"] * n * scale, "n": n}, {"x": X, "t": "a"}, 3, scale=2.0)
    assert np.array_equal(value["y"], 6.0 * X) and value["n"] == 3
    dp, dn = pullback({"n": 0.0, "y": V})
    assert np.array_equal(dp["x"], 6.0 * V) and dp["t"] is None and dn == np.sum(2.0 * X * V)
    with pytest.raises(ShapeError, match=r"\(z\).*;.*y, n"):
        pullback({"z": V})


def test_stop_gradient() -> None:
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3.0
    assert jvp(lambda x: x * stop_gradient(x), (3.0,), (1.0,)) == (9.0, 3.0)
    assert grad(lambda x: stop_gradient({"a": [x]})["a"][0] * x)(3.0) == 3.0
    assert grad(grad(lambda x: stop_gradient(x**2) * x**2))(3.0) == 18.0
    assert stop_gradient(X) is X and stop_gradient("text") == "text"
    layer = stop_gradient(s.Identity()) * s.Identity()
    assert layer.predict(3.0) == 9.0 and grad(layer)(3.0) == 3.0


def root(x: Any) -> Any:
    return np.sum(np.sqrt(x))


def pulled_later(x: Any) -> Any:
    """The pullback alone stands in the block."""
    _, pullback = vjp(root, x)
    with s.check_finite():
        return pullback(1.0)


@pytest.mark.parametrize(
    "derived",
    [
        grad(root),
        value_and_grad(root),
        hessian(root),
        jacobian(np.sqrt),
        grad(s.remat(root)),
        s.vmap(grad(np.sqrt)),
        lambda x: jvp(root, (x,), (np.ones(2),)),
        lambda x: vjp(root, x)[1](1.0),
        pulled_later,
        lambda x: s.vmap(lambda t: np.sqrt(t) if t > 5.0 else 1.0 / t)(x),
    ],
)
def test_what_is_not_finite_is_told_by_every_transformation(derived: Any) -> None:
    with s.check_finite(), pytest.raises(s.NonFiniteError, match="came from Divide"):
        derived(np.array([0.0, 1.0]))
    with s.check_finite():
        derived(np.array([2.0, 1.0]))


@pytest.mark.parametrize(
    "mixed",
    [
        lambda: grad(lambda x: grad(lambda y: np.exp(y * x))(1.0))(2.0),
        lambda: grad(lambda x: jvp(lambda y: np.exp(y * x), (1.0,), (1.0,))[1])(2.0),
        lambda: jvp(lambda x: grad(lambda y: np.exp(y * x))(1.0), (2.0,), (1.0,))[1],
        lambda: grad(lambda x: vjp(lambda y: np.exp(y * x), 1.0)[1](1.0)[0])(2.0),
        lambda: grad(lambda x: jacobian(lambda y: np.exp(y * x))(1.0))(2.0),
    ],
)
def test_derivatives_by_constants_see_each_other_within_a_trace(mixed: Any) -> None:
    """The mixed derivative of exp(x y) at (2, 1) is 3 exp(2), though a body knows both numbers."""
    assert mixed() == pytest.approx(3.0 * np.exp(2.0), rel=1e-12)
    assert grad(lambda a: a * mixed())(3.0) == pytest.approx(3.0 * np.exp(2.0), rel=1e-12)
