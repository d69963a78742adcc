"""Do all operations keep the laws? Each law is one loop over the registry: a new operation costs no line here.

The value is NumPy's, `infer` says what comes out, first and second derivatives meet central differences, JAX's vjp
agrees, and compiled programs give the interpreter's bits. Where NumPy raises, layers raise too. Specs are drawn.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from answers import assert_equal, attempt, bits, same_family
from differences import Loss, agree, along, direction, inner, like_argument, richardson
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from makers import BY_KIND
from strategies import DOMAINS, Call, Draw
from subjects import OWNERS, SUBJECTS, Subject, entries, leaves, network
from twins import JAX_DIFFERS, NO_RULE, NO_TWIN, in_jax, twin

from symbolic import Identity, grad, jvp, value_and_grad, vjp, vmap
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.batching import Mapped
from symbolic.context import inside
from symbolic.execution import flat
from symbolic.hidden import hidden
from symbolic.inference import Inference
from symbolic.layer import AnyLayer
from symbolic.machines import chosen
from symbolic.ops.binding import FORMULAS
from symbolic.ops.operation import topological
from symbolic.slices import Walk
from symbolic.spec import Spec, spec_of
from symbolic.trace import trace

PROFILE = settings.default
EXAMPLES = 6 if PROFILE is None else max(6, PROFILE.max_examples // 4)
OPTIONS: Any = {
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.generate, Phase.shrink],
}


def drawn(
    law: Callable[[Subject, st.DataObject], bool], examples: int = EXAMPLES, subjects: list[Subject] = SUBJECTS
) -> Callable[[Subject], None]:
    """A law as a test: a subject for which no example meant anything fails, so that nothing is skipped in silence."""

    def test(subject: Subject) -> None:
        for more in (1, 4, 16):
            if _tried(law, subject, examples * more):
                return
        raise AssertionError(f"no example of {subject} was valid: give it a maker in strategies.py")

    marked = pytest.mark.parametrize("subject", subjects, ids=str)(test)
    return marked  # type: ignore[no-any-return]  # pytest marks give back what they mark


def _tried(law: Callable[[Subject, st.DataObject], bool], subject: Subject, examples: int) -> bool:
    """Whether one of so many examples at least was valid."""
    meant: list[bool] = []

    @settings(max_examples=examples, **OPTIONS)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            meant.append(law(subject, data))

    run()
    return any(meant)


# --------------------------------------------------------------------------- what NumPy says

DATA_DEPENDENT = {
    *("bincount", "nonzero", "argwhere", "flatnonzero", "where", "repeat"),
    *("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    *("intersect1d", "setdiff1d", "setxor1d", "union1d", "trim_zeros", "polydiv"),
}
"""Functions the shape of whose result only the run knows."""


KINDS = ["float64", "float64", "float32", "float16", "complex128"]


def law_value(subject: Subject, data: st.DataObject) -> bool:
    """The value, shape and dtype are NumPy's; where NumPy raises, so do layers. Compiled, the bits stay."""
    draw = Draw(data, data.draw(st.sampled_from(KINDS)), loose=True, python=True)
    call = subject.arguments(draw, special=True)
    function = subject.of(call)
    want, net = attempt(function, call.arrays), network(function, len(call.arrays))
    got = attempt(net.predict, call.arrays)
    nothing = isinstance(want, tuple) and not want  # unstacked along an axis of size 0
    if isinstance(want, AttributeError) or nothing:
        return False  # where NumPy takes no Python number, too
    if isinstance(want, Exception):
        assert isinstance(got, Exception), f"{subject}: NumPy raises {want!r}, layers give {got!r}"
        assert same_family(got, want), f"{subject}: NumPy raises {want!r}, layers {got!r}"
        return False
    if isinstance(got, Exception):  # an error where NumPy has a value
        raise AssertionError(f"{subject}: NumPy gives {want!r}, layers raise {got!r}") from got
    _compare(subject, call, got, want)
    for _ in range(4):
        again = net.predict(*call.arrays)
        for one, other in zip(leaves(entries(got)), leaves(entries(again)), strict=True):
            assert bits(one) == bits(other), f"{subject}: {other!r} when compiled, {one!r} when interpreted"
    return True


def _compare(subject: Subject, call: Call, got: Any, want: Any) -> None:
    ours, theirs = leaves(entries(got)), leaves(entries(want))
    assert len(ours) == len(theirs), f"{subject}: {len(ours)} results, NumPy {len(theirs)}"
    numbers = all(isinstance(one, (float, int, complex)) for one in call.arrays)
    for one, other in zip(ours, theirs, strict=True):
        assert_equal(one, other, subject, exact=not numbers)


def law_buffers(subject: Subject, data: st.DataObject) -> bool:
    """Between other operations the value is the same: no buffer is reused while a view of it is still to be read."""
    call = subject.arguments(Draw(data))
    function = subject.of(call)
    if isinstance(attempt(function, call.arrays), Exception):
        return False

    def between(*arrays: Any) -> Any:
        fresh = [one + one if one.dtype.kind in "fc" else one for one in arrays]
        out = leaves(function(*fresh))
        others = [np.sin(one - 1.5) * 2.0 for one in arrays if one.dtype.kind in "fc"]
        return (*[np.logical_not(one) for one in out], *others, *[one * 1 for one in out])

    net, want = network(between, len(call.arrays)), attempt(between, call.arrays)
    for _ in range(4):
        for got, one in zip(net.predict(*call.arrays), want, strict=True):
            assert_equal(got, one, subject)
    return True


# --------------------------------------------------------------------------- what infer says


def law_infer(subject: Subject, data: st.DataObject) -> bool:
    """What `infer` says of the result is true, with all specs known, and with sizes, ranks and dtypes hidden."""
    draw = Draw(data, data.draw(st.sampled_from(KINDS)), python=True)
    call = subject.arguments(draw)
    function = subject.of(call)
    want = attempt(function, call.arrays)
    if isinstance(want, Exception) or leaves(want) == ():
        return False
    inputs: list[AnyLayer] = [Identity() for _ in call.arrays]
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
        pairs = zip(said.shape, value.shape, strict=False)
        fits = len(said.shape) == value.ndim and all(d in (None, n) for d, n in pairs)
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
    derivative = value_and_grad(loss.real, loss.positions)
    value, deltas = derivative(*loss.floats)
    want = loss(*loss.floats)
    alike = np.finfo(np.asarray(want).dtype).bits > 32 or chosen() == "numpy"
    within = 1e-12 if alike else 1e-6  # machine code adds in an order of its own
    np.testing.assert_allclose(value, want, rtol=within, atol=within)
    for k, delta in enumerate(deltas):
        what = f"{subject}, gradient by argument {k} of {loss.floats}"
        like_argument(delta, loss.floats[k], what)
        way = direction(draw, loss.floats[k])
        agree(delta, way, along(loss, loss.floats, k, way), what, loss.tolerance)
    for _ in range(3):
        again = derivative(*loss.floats)[1]
        for one, other in zip(deltas, again, strict=True):
            if dtype == "complex128" or any(
                map(np.iscomplexobj, loss.results)
            ):  # NumPy's own products of one complex number, in place or not, differ at the end
                assert_equal(other, one, subject)
            else:
                assert bits(one) == bits(other), f"{subject}: another gradient when compiled"
    return True


def law_complex(subject: Subject, data: st.DataObject) -> bool:
    """The same for complex arguments, where NumPy takes them: the delta is the conjugate cotangent."""
    law_gradient(subject, data, "complex128")
    return True


def law_single(subject: Subject, data: st.DataObject) -> bool:
    """In float32 the gradient is the float64 one to the precision of float32, and stays float32."""
    draw = Draw(data, "float32")
    loss = prepared(subject, draw)
    if isinstance(loss, bool):
        return loss
    deltas = grad(loss.real, loss.positions)(*loss.floats)
    wide = grad(loss.real, loss.positions)(*[np.asarray(one, np.float64) for one in loss.floats])
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
    first = grad(loss.real, loss.positions)

    def slope(*floats: Any) -> Any:
        deltas = first(*floats)
        return functools.reduce(np.add, [np.sum(delta * way) for delta, way in zip(deltas, ways, strict=True)])

    for k, delta in enumerate(grad(slope, loss.positions)(*loss.floats)):
        what = f"{subject}, second derivative by argument {k} of {loss.floats}"
        like_argument(delta, loss.floats[k], what)
        way = direction(draw, loss.floats[k])
        agree(delta, way, along(slope, loss.floats, k, way), what, loss.tolerance)
    return True


def law_forward(subject: Subject, data: st.DataObject, dtype: str = "float64") -> bool:
    """The tangent meets central differences, and the pullback: <u, J v> = <J* u, v>. It is of its value's kind."""
    draw = Draw(data, dtype, python=dtype == "float64")
    loss = prepared(subject, draw)
    if isinstance(loss, bool):
        return loss
    function, floats = loss.over(subject.function, subject.parameters), tuple(loss.floats)
    ways = tuple([_like(direction(draw, one), one) for one in floats])
    value, tangents = jvp(function, floats, ways)
    pulled, pullback = vjp(function, *floats)
    deltas, moved, size = [], 0.0, 0.0
    for weight, one, tangent in zip(loss.weights, leaves(value), leaves(tangents), strict=True):
        deltas.append(weight if tangent is not None else None)
        if tangent is not None:
            assert np.shape(tangent) == np.shape(one), f"{subject}: a tangent of shape {np.shape(tangent)}"
            if np.asarray(one).dtype.kind in "fc":
                assert np.asarray(tangent).dtype == np.asarray(one).dtype, f"{subject}: {tangent!r} of {one!r}"
            step, far = inner(weight, tangent)
            moved, size = moved + step, size + far
    for one, other in zip(leaves(value), leaves(pulled), strict=True):
        assert_equal(one, other, subject)
    what = f"{subject}, tangent at {floats} along {ways}"
    back = [inner(delta, way) for delta, way in zip(pullback(_shaped(deltas, value)), ways, strict=True)]
    size += sum(far for _, far in back)
    want = richardson(lambda t: loss(*[one + t * way for one, way in zip(floats, ways, strict=True)]))
    if math.isfinite(want):
        assert_close(moved, sum(step for step, _ in back), size, what + ", against the pullback", loss.tolerance)
        assert_close(moved, want, size + abs(want), what + ", against central differences", loss.tolerance)
    return True


def _like(way: Any, argument: Any) -> Any:
    return way.astype(argument.dtype) if isinstance(argument, np.ndarray) else type(argument)(way)


def _shaped(deltas: list[Any], value: Any) -> Any:
    return tuple(deltas) if isinstance(value, tuple) else deltas[0]


def assert_close(got: float, want: float, size: float, what: str, tolerance: float) -> None:
    assert abs(got - want) <= tolerance * (1 + size), f"{what}: {got}, not {want}"


def law_forward_complex(subject: Subject, data: st.DataObject) -> bool:
    """The same for complex arguments: the derivative as a real-linear map."""
    law_forward(subject, data, "complex128")
    return True


def law_forward_second(subject: Subject, data: st.DataObject) -> bool:
    """The tangent of the gradient is the gradient of the tangent, H v; along v it meets central differences."""
    draw = Draw(data)
    loss = prepared(subject, draw)
    if isinstance(loss, bool):
        return loss
    floats = tuple(loss.floats)
    ways = tuple([_like(direction(draw, one), one) for one in floats])
    real = loss.real
    slopes = grad(real, loss.positions)
    one = jvp(slopes, floats, ways)[1]

    def along_ways(t: float) -> float:
        moved = slopes(*[x + t * way for x, way in zip(floats, ways, strict=True)])
        return float(sum(inner(delta, way)[0] for delta, way in zip(moved, ways, strict=True)))

    curvature, rough = [inner(delta, way) for delta, way in zip(one, ways, strict=True)], richardson(along_ways)
    if math.isfinite(rough):
        size = sum(far for _, far in curvature) + abs(rough)
        assert_close(sum(step for step, _ in curvature), rough, size, f"{subject}, v H v at {floats}", loss.tolerance)
    other = grad(lambda *moved: jvp(real, moved, ways)[1], loss.positions)(*floats)
    for got, want, argument in zip(one, other, floats, strict=True):
        like_argument(got, argument, f"{subject}, H v")
        scale = float(np.max(np.abs(want[np.isfinite(want)]), initial=1.0)) if np.ndim(want) else 1.0 + abs(want)
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9 * scale, err_msg=f"{subject}: H v at {floats}")
    return True


def law_batch(subject: Subject, data: st.DataObject) -> bool:
    """All slices at once are the slices one by one: values, what is pulled back, and the pullback of each slice."""
    draw = Draw(data, data.draw(st.sampled_from(["float64", "float64", "float32", "complex128"])))
    call = subject.arguments(draw)
    function = subject.of(call)
    count, slices, axes = _sliced(draw, call)
    want = [attempt(function, one) for one in slices]
    if any(isinstance(one, Exception) or leaves(one) == () for one in want):
        return False
    whole = [one if axis is None else np.stack(column, axis) for one, column, axis in _columns(slices, axes)]
    mapped = vmap(function, tuple(axes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Mapped, "_by_slice", _never)
        patch.setattr(Walk, "fits", _always(Walk.fits))
        got = leaves(mapped(*whole))
        for k, one in enumerate(got):
            column = np.stack([np.asarray(leaves(result)[k]) for result in want])
            _near(one, column, f"{subject}, result {k} by in_axes={axes}")
        _pulled(subject, function, mapped, slices, whole, axes, count, draw)
    return True


def _sliced(draw: Draw, call: Call) -> tuple[int, list[tuple[Any, ...]], list[Any]]:
    """The slices, near to one another, so that each is in the domain; and the axis to map of each array."""
    count = draw.pick([2, 1, 3])
    axes = [draw.pick([0, *range(-np.ndim(one) - 1, np.ndim(one) + 1), None]) for one in call.arrays]
    axes = axes if any(axis is not None for axis in axes) else [0] * len(axes)
    slices = []
    for k in range(count):
        far = 1.0 + 0.01 * k
        moving = [axis is not None and np.asarray(one).dtype.kind in "fc" for one, axis in _pairs(call.arrays, axes)]
        given = [(one * np.asarray(far, one.dtype))[()] if moves else one for one, moves in _pairs(call.arrays, moving)]
        slices.append(tuple([np.asarray(one) for one in given]))
    return count, slices, axes


def _pairs(one: Any, other: Any) -> Any:
    return zip(one, other, strict=True)


def _columns(slices: list[tuple[Any, ...]], axes: list[Any]) -> Any:
    return zip(slices[0], zip(*slices, strict=True), axes, strict=True)


def _never(mapped: Any) -> Any:
    raise AssertionError("a vmap went slice by slice")


def _always(fits: Any) -> Any:
    def checked(walk: Any, layer: Any, at: Any) -> bool:
        assert fits(walk, layer, at), f"the rule of {type(at.node).__name__} gives another shape than {at.out}"
        return True

    return checked


def _near(got: Any, want: Any, what: str) -> None:
    assert np.shape(got) == np.shape(want), f"{what}: shape {np.shape(got)}, not {np.shape(want)}"
    assert np.asarray(got).dtype == np.asarray(want).dtype, f"{what}: dtype {np.asarray(got).dtype}"
    single = np.asarray(want).dtype in (np.dtype("f4"), np.dtype("c8"))
    scale = float(np.max(np.abs(np.where(np.isfinite(want), want, 0)), initial=1.0)) if np.size(want) else 1.0
    rtol, atol = (1e-3, 1e-4) if single else (1e-7, 1e-9)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol * scale, err_msg=what)


def _pulled(
    subject: Subject, function: Any, mapped: Any, slices: Any, whole: Any, axes: list[Any], count: int, draw: Draw
) -> None:
    """The pullback of all, and all pullbacks."""
    value = leaves(function(*slices[0]))
    if not any(np.asarray(one).dtype.kind in "fc" for one in slices[0]):
        return
    if not all(np.asarray(one).dtype.kind in "fc" for one in value):
        return
    weights = [draw.uniform(0.5, 1.5, (count, *np.shape(one))).astype(np.asarray(one).dtype) for one in value]
    kind = isinstance(function(*slices[0]), tuple)
    every = [vjp(function, *one)[1](_weights(weights, kind, k)) for k, one in enumerate(slices)]
    together_ = vjp(mapped, *whole)[1](tuple(weights) if kind else weights[0])
    each_ = vmap(lambda given, *args: vjp(function, *args)[1](given), (0, *axes))(
        tuple(weights) if kind else weights[0], *whole
    )
    for k, (one, axis) in enumerate(zip(together_, axes, strict=True)):
        if one is None:
            continue
        column = np.stack([deltas[k] for deltas in every])
        what = f"{subject}, the delta of argument {k} by in_axes={axes}"
        _near(each_[k], column, what + ", slice by slice")
        _near(one, np.sum(column, 0, column.dtype) if axis is None else np.moveaxis(column, 0, axis), what)


def _weights(weights: Any, several: bool, k: int) -> Any:
    return tuple([one[k] for one in weights]) if several else weights[0][k]


def law_oracle(subject: Subject, data: st.DataObject) -> bool:
    """JAX's function of the same name has the same value and the same vjp."""
    theirs = twin(subject.name)
    if theirs is None or not subject.twin or str(subject) in JAX_DIFFERS or subject.name in NO_RULE:
        return True
    draw = Draw(data)
    draw.least = 1  # some functions of JAX take no 0-d arrays
    loss = prepared(subject, draw)
    if isinstance(loss, bool):
        return loss
    import jax

    floats = [np.asarray(one) for one in loss.floats]
    value, pullback = jax.vjp(loss.over(theirs, in_jax(subject)), *floats)
    ours, back = vjp(loss.over(subject.function, subject.parameters), *floats)
    for one, other in zip(leaves(ours), leaves(value), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=f"{subject}: value")
    if all(weight.dtype.kind in "fc" and one.dtype.kind in "fc" for weight, one in loss.weighted()):
        given = tuple(loss.weights) if isinstance(ours, tuple) else loss.weights[0]
        theirs_given = jax.tree.map(np.conj, given)  # of a complex result JAX takes the conjugate of what we take
        for one, other in zip(back(given), map(np.conj, pullback(theirs_given)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8, err_msg=f"{subject}: vjp of {floats}")
    return True


def law_hidden(subject: Subject, data: st.DataObject) -> bool:
    """NaN in an entry on which the results rest is in them, unless the function is known to hide it."""
    call = subject.arguments(Draw(data, data.draw(st.sampled_from(["float64", "float32"]))))
    places = [
        (k, at) for k, one in enumerate(call.arrays) if np.asarray(one).dtype.kind == "f" for at in range(np.size(one))
    ]
    if isinstance(attempt(subject.of(call), call.arrays), Exception):
        return False
    if not places:
        return True  # nothing of it can be NaN
    k, at = data.draw(st.sampled_from(places))
    net = network(subject.of(call), len(call.arrays))
    changed = [_changed(call.arrays, k, at, to) for to in (-1e3, -1.7, 0.0, 0.4, 3.0, 1e3)]
    found = [one for one in [attempt(net.predict, each) for each in changed] if not isinstance(one, Exception)]
    if len({tuple([bits(each) for each in leaves(entries(one))]) for one in found}) < 2:
        return True
    shown = attempt(net.predict, _changed(call.arrays, k, at, math.nan))
    if isinstance(shown, Exception) or any(np.any(one != one) for one in leaves(entries(shown))):
        return True
    inputs: list[AnyLayer] = [Identity() for _ in call.arrays]
    facts = Inference(dict(zip(inputs, map(spec_of, call.arrays), strict=True)))
    with inside(path=""):
        roots = list(flat(trace(lambda: subject.of(call)(*inputs), inputs, facts, twice=False).output))
    assert inputs[k] in hidden(topological(roots), facts, roots), f"{subject} gives {shown!r} for a NaN"
    return True


def _changed(arrays: Sequence[Any], k: int, at: int, to: float) -> list[Any]:
    new = [np.array(one) if here == k else one for here, one in enumerate(arrays)]
    new[k].flat[at] = to
    return new


test_value = drawn(law_value)
test_buffers = drawn(law_buffers, EXAMPLES // 3)
test_infer = drawn(law_infer, EXAMPLES // 2)
test_gradient = drawn(law_gradient)
test_complex_gradient = drawn(law_complex, EXAMPLES // 3)
test_single_precision = drawn(law_single, EXAMPLES // 3)
test_second_derivative = drawn(law_second, EXAMPLES // 2)
test_forward = drawn(law_forward, EXAMPLES // 2)
test_forward_complex = drawn(law_forward_complex, EXAMPLES // 3)
test_forward_second = drawn(law_forward_second, EXAMPLES // 3)
test_batch = drawn(law_batch, EXAMPLES // 2)
test_hidden = drawn(law_hidden, EXAMPLES // 3)
test_oracle = drawn(law_oracle, EXAMPLES // 6)  # JAX compiles for each new shape


# --------------------------------------------------------------------------- the registry itself


def test_every_domain_and_every_kind_of_operands_is_known() -> None:
    named = [one.domain for one in OWNERS.values()] + [laws.get("domain") for laws in FORMULAS.values()]
    flat_names = {name for one in named for name in (one if isinstance(one, tuple) else (one,))}
    assert flat_names - {None} <= set(DOMAINS)
    assert {laws.get("operands") for laws in FORMULAS.values()} - {None} <= set(BY_KIND)


def test_functions_without_a_twin_in_jax_are_the_ones_listed() -> None:
    assert {one.name for one in SUBJECTS if one.twin and twin(one.name) is None} == NO_TWIN
