"""Do all operations keep the laws? Each law is one loop over the registry: a new operation costs no line here.

The value is NumPy's, `infer` says what comes out, first and second derivatives meet central differences, JAX's vjp
agrees, and compiled programs give the interpreter's bits. Where NumPy raises, layers raise too. Specs are drawn.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from strategies import BY_FUNCTION, BY_KIND, DOMAINS, Call, Draw
from subjects import FUNCTIONS_TESTED, OWNERS, REFUSED, SUBJECTS, Subject, entries, leaves, network

from symbolic import Identity, SymbolicError, grad, value_and_grad, vjp
from symbolic.context import inside
from symbolic.execution import flat
from symbolic.inference import Inference
from symbolic.layer import FUNCTIONS, qualified
from symbolic.ops.operation import FORMULAS
from symbolic.spec import Spec, TupleSpec, spec_of
from symbolic.trace import trace

PROFILE = settings.default
EXAMPLES = 6 if PROFILE is None else max(6, PROFILE.max_examples // 4)
OPTIONS: Any = {
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.generate, Phase.shrink],
}
each = pytest.mark.parametrize("subject", SUBJECTS, ids=str)


def drawn(law: Callable[[Subject, st.DataObject], bool], examples: int = EXAMPLES) -> Callable[[Subject], None]:
    """A law as a test: a subject for which no example meant anything fails, so that nothing is skipped in silence."""

    @each
    def test(subject: Subject) -> None:
        meant: list[bool] = []

        @given(st.data())
        def run(data: st.DataObject) -> None:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                meant.append(law(subject, data))

        for more in (1, 4, 16):
            settings(max_examples=examples * more, **OPTIONS)(run)()
            if any(meant):
                return
        raise AssertionError(f"no example of {subject} was valid: give it a maker in strategies.py")

    return test


# --------------------------------------------------------------------------- what NumPy says


def attempt(function: Callable[..., Any], arrays: Any) -> Any:
    """The result, or the exception."""
    try:
        return function(*arrays)
    except Exception as error:
        return error


FAMILIES = (IndexError, ValueError, TypeError, ArithmeticError)


def same_family(ours: BaseException, theirs: BaseException) -> bool:
    """One `except` catches both; where NumPy stumbles over a type, any error of ours will do."""
    if isinstance(ours, SymbolicError) and isinstance(theirs, TypeError):
        return True
    return any(isinstance(ours, family) and isinstance(theirs, family) for family in FAMILIES)


DATA_DEPENDENT = {"nonzero", "argwhere", "flatnonzero", "where", "repeat"}
"""Functions the shape of whose result only the run knows."""


def assert_equal(ours: Any, theirs: Any, subject: Subject, exact: bool = True) -> None:
    """One result: shape, dtype, and entries to a few units in the last place."""
    got, want = np.asarray(ours), np.asarray(theirs)
    assert got.shape == want.shape, f"{subject}: shape {got.shape}, NumPy {want.shape}"
    if exact:
        assert got.dtype == want.dtype, f"{subject}: dtype {got.dtype}, NumPy {want.dtype}"
    if want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want)
        return
    close = 16 * np.finfo(want.dtype).eps
    scale = np.max(np.abs(want[np.isfinite(want)]), initial=1.0)
    np.testing.assert_allclose(got, want, rtol=close, atol=close * float(scale))


KINDS = ["float64", "float64", "float32", "float16", "complex128"]


def law_value(subject: Subject, data: st.DataObject) -> bool:
    """The value, shape and dtype are NumPy's; where NumPy raises, so do layers. Compiled, the bits stay."""
    draw = Draw(data, data.draw(st.sampled_from(KINDS)), loose=True, python=True)
    call = subject.arguments(draw, special=True)
    function = subject.of(call)
    want, net = attempt(function, call.arrays), network(function, len(call.arrays))
    got = attempt(net.predict, call.arrays)
    if isinstance(want, Exception):
        assert isinstance(got, Exception), f"{subject}: NumPy raises {want!r}, layers give {got!r}"
        assert same_family(got, want), f"{subject}: NumPy raises {want!r}, layers {got!r}"
        return False
    if isinstance(got, Exception):
        raise AssertionError(f"{subject}: NumPy gives {want!r}, layers raise {got!r}") from got
    _compare(subject, call, got, want)
    for _ in range(4):
        again = net.predict(*call.arrays)
        for one, other in zip(leaves(entries(got)), leaves(entries(again)), strict=True):
            assert _bits(one) == _bits(other), f"{subject}: {other!r} when compiled, {one!r} when interpreted"
    return True


def _compare(subject: Subject, call: Call, got: Any, want: Any) -> None:
    ours, theirs = leaves(entries(got)), leaves(entries(want))
    assert len(ours) == len(theirs), f"{subject}: {len(ours)} results, NumPy {len(theirs)}"
    numbers = all(isinstance(one, (float, int, complex)) for one in call.arrays)
    for one, other in zip(ours, theirs, strict=True):
        assert_equal(one, other, subject, exact=not numbers)


def _bits(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind in "fc":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return type(value), array.dtype, array.shape, array.tobytes()


# --------------------------------------------------------------------------- what infer says


def law_infer(subject: Subject, data: st.DataObject) -> bool:
    """What `infer` says of the result is true, with all specs known, and with sizes, ranks and dtypes hidden."""
    draw = Draw(data, data.draw(st.sampled_from(KINDS)), python=True)
    call = subject.arguments(draw)
    function = subject.of(call)
    want = attempt(function, call.arrays)
    if isinstance(want, Exception):
        return False
    inputs = [Identity() for _ in call.arrays]
    specs = dict(zip(inputs, map(spec_of, call.arrays), strict=True))
    with inside(path=""):
        output = trace(lambda: function(*inputs), inputs, Inference(specs), twice=False).output
    for hide in (_nothing, _sizes, _ranks, _dtypes, _all):
        facts = Inference({one: hide(spec) for one, spec in specs.items()})
        for root, value in zip(flat(output), leaves(want), strict=True):
            said = facts.spec(root)
            assert isinstance(said, Spec), f"{subject}: {said} of {value!r}"
            _true(said, np.asarray(value), f"{subject}, {hide.__name__.strip('_')} hidden")
            complete = subject.name.rsplit(".", 1)[-1] in DATA_DEPENDENT or said.known
            assert hide is not _nothing or complete, f"{subject}: {said}, though all is known"
    return True


def _true(said: Spec, value: Any, where: str) -> None:
    if said.shape is not None:
        fits = len(said.shape) == value.ndim and all(d in (None, n) for d, n in zip(said.shape, value.shape, strict=True))
        assert fits, f"{where}: inferred shape {said.shape}, real {value.shape}"
    if said.dtype is not None and said.python is None:
        assert said.dtype == value.dtype, f"{where}: inferred dtype {said.dtype}, real {value.dtype}"


def _nothing(spec: Any) -> Any:
    return spec


def _sizes(spec: Any) -> Any:
    return spec._replace(shape=(None,) * len(spec.shape))


def _ranks(spec: Any) -> Any:
    return Spec(None, spec.dtype) if spec.python is None else spec


def _dtypes(spec: Any) -> Any:
    return Spec(spec.shape, None) if spec.python is None else spec


def _all(spec: Any) -> Any:
    return Spec()


# --------------------------------------------------------------------------- derivatives


class Loss:
    """A real number made of a function's results: each, weighted entry by entry, summed; and its derivatives."""

    def __init__(self, subject: Subject, call: Call, draw: Draw) -> None:
        self.subject, self.arrays = subject, call.arrays
        self.function = subject.of(call)
        self.wanted = [k for k, one in enumerate(call.arrays) if np.asarray(one).dtype.kind in "fc"]
        self.results = leaves(self.function(*call.arrays))
        self.weights = [self._weight(draw, np.asarray(one)) for one in self.results]

    @staticmethod
    def _weight(draw: Draw, like: Any) -> Any:
        weight = draw.uniform(0.5, 1.5, like.shape) * draw.sign(like.shape)
        if like.dtype.kind == "c":
            weight = weight + 1j * draw.uniform(-1, 1, like.shape)
        return weight.astype(like.dtype) if like.dtype.kind in "fc" else weight

    def __call__(self, *floats: Any) -> Any:
        given = list(self.arrays)
        for k, one in zip(self.wanted, floats, strict=True):
            given[k] = one
        total: Any = 0.0
        for weight, one in zip(self.weights, leaves(self.function(*given)), strict=True):
            part = np.sum(np.real(np.conjugate(weight) * one)) if weight.dtype.kind == "c" else np.sum(weight * one)
            total = total + part
        return total

    @property
    def floats(self) -> list[Any]:
        return [self.arrays[k] for k in self.wanted]

    @property
    def positions(self) -> tuple[int, ...]:
        return tuple(range(len(self.wanted)))


def richardson(function: Callable[[float], Any], step: float = 4e-3) -> float:
    """The derivative at 0 by central differences of three steps, extrapolated."""
    rough = [(float(function(h)) - float(function(-h))) / (2 * h) for h in (step, step / 2, step / 4)]
    finer = [(4 * b - a) / 3 for a, b in zip(rough, rough[1:], strict=False)]
    return (16 * finer[1] - finer[0]) / 15


def along(function: Callable[..., Any], floats: list[Any], k: int, direction: Any) -> float:
    """The derivative of a real function by its k-th argument, in a direction."""

    def line(t: float) -> Any:
        moved = list(floats)
        moved[k] = floats[k] + t * direction
        return function(*moved)

    return richardson(line)


def direction(draw: Draw, like: Any) -> Any:
    shape, kind = np.shape(like), np.asarray(like).dtype.kind
    way = draw.uniform(0.4, 1.0, shape) * draw.sign(shape)
    return way + 1j * draw.uniform(-1, 1, shape) if kind == "c" else way


def inner(delta: Any, way: Any) -> tuple[float, float]:
    """How far a delta moves the loss along a way, and how large the terms are."""
    terms = np.real(np.conjugate(delta) * way)
    terms = terms[~np.isnan(way)] if np.ndim(way) else terms
    return float(np.sum(terms)), float(np.sum(np.abs(terms)))


def agree(got: Any, way: Any, want: float, what: str, tolerance: float = 1e-6) -> None:
    moved, size = inner(got, way)
    if math.isfinite(want):
        assert abs(moved - want) <= tolerance * (1 + size + abs(want)), f"{what}: {moved}, central differences {want}"


def like_argument(delta: Any, argument: Any, what: str) -> None:
    assert np.shape(delta) == np.shape(argument), f"{what}: shape {np.shape(delta)} for {np.shape(argument)}"
    want, got = np.asarray(argument).dtype, np.asarray(delta).dtype
    assert got == want, f"{what}: dtype {got} for {want}"


def prepared(subject: Subject, draw: Draw) -> Loss | bool:
    """The loss; False where NumPy raises, True where nothing has a gradient."""
    call = subject.arguments(draw)
    if isinstance(attempt(subject.of(call), call.arrays), Exception):
        return False
    loss = Loss(subject, call, draw)
    return loss if loss.wanted else True


def law_gradient(subject: Subject, data: st.DataObject, dtype: str = "float64") -> bool:
    """The gradient meets central differences, in the argument's shape and dtype."""
    draw = Draw(data, dtype, python=dtype == "float64")
    loss = prepared(subject, draw)
    if isinstance(loss, bool):
        return loss
    value, deltas = value_and_grad(loss, loss.positions)(*loss.floats)
    np.testing.assert_allclose(value, loss(*loss.floats), rtol=1e-12, atol=1e-12)
    for k, delta in enumerate(deltas):
        what = f"{subject}, gradient by argument {k} of {loss.floats}"
        like_argument(delta, loss.floats[k], what)
        way = direction(draw, loss.floats[k])
        agree(delta, way, along(loss, loss.floats, k, way), what)
    return True


def law_complex(subject: Subject, data: st.DataObject) -> bool:
    """The same for complex arguments: the delta is the conjugate cotangent."""
    call = subject.arguments(Draw(data, "complex128"))
    taken = not isinstance(attempt(subject.of(call), call.arrays), Exception)
    return law_gradient(subject, data, "complex128") or not taken or True


def law_single(subject: Subject, data: st.DataObject) -> bool:
    """In float32 the gradient is the float64 one to the precision of float32, and stays float32."""
    draw = Draw(data, "float32")
    loss = prepared(subject, draw)
    if isinstance(loss, bool):
        return loss
    deltas = grad(loss, loss.positions)(*loss.floats)
    wide = grad(loss, loss.positions)(*[np.asarray(one, np.float64) for one in loss.floats])
    for k, (delta, want) in enumerate(zip(deltas, wide, strict=True)):
        like_argument(delta, loss.floats[k], f"{subject}, gradient by argument {k}")
        scale = float(np.max(np.abs(want[np.isfinite(want)]), initial=1.0))
        np.testing.assert_allclose(delta, want, rtol=1e-4, atol=1e-5 * scale, err_msg=str(subject))
    return True


def law_second(subject: Subject, data: st.DataObject) -> bool:
    """The gradient's gradient meets central differences of the gradient."""
    draw = Draw(data)
    loss = prepared(subject, draw)
    if isinstance(loss, bool):
        return loss
    ways = [direction(draw, one) for one in loss.floats]

    def slope(*floats: Any) -> Any:
        deltas = grad(loss, loss.positions)(*floats)
        return functools.reduce(np.add, [np.sum(delta * way) for delta, way in zip(deltas, ways, strict=True)])

    for k, delta in enumerate(grad(slope, loss.positions)(*loss.floats)):
        what = f"{subject}, second derivative by argument {k} of {loss.floats}"
        like_argument(delta, loss.floats[k], what)
        way = direction(draw, loss.floats[k])
        agree(delta, way, along(slope, loss.floats, k, way), what)
    return True


test_value = drawn(law_value)
test_infer = drawn(law_infer)
test_gradient = drawn(law_gradient)
test_complex_gradient = drawn(law_complex, EXAMPLES // 2)
test_single_precision = drawn(law_single, EXAMPLES // 2)
test_second_derivative = drawn(law_second, EXAMPLES // 2)
