"""Does the native machine give what NumPy's gives? For every operation, on special values, and for whole programs.

The oracle is NumPy's machine, which has laws of its own. Where a machine may differ, it is by rounding: a few units in
the last place of the largest number that went in or came out.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from answers import assert_equal, attempt, same_family
from differences import Loss
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from native_programs import LAYOUTS, Drawn, described, program, special_values
from plain_programs import Program
from strategies import Draw
from subjects import SUBJECTS, Subject, entries, leaves, network
from test_laws import drawn
from test_plain_python import NAMED, copied

import symbolic as s
from symbolic import machines, value_and_grad
from symbolic.backends.native import assembly, blocks, elementary, pointwise

pytest.importorskip("llvmlite")
PROFILE = settings.default
EXAMPLES = (1 if "SYMBOLIC_CPU" in os.environ else 2) if PROFILE is None or PROFILE.max_examples < 100 else 60
KINDS = ["float64", "float64", "float32", "float16", "complex128"]
RNG = np.random.default_rng(8)


@contextmanager
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def on(machine: Any, function: Callable[..., Any], *arrays: Any) -> Any:
    """What a function gives on a machine, or the exception."""
    with s.use(machine), quiet():
        return attempt(function, arrays)


def agree(got: Any, want: Any, what: str, units: float = 64.0, scale: float = 0.0, dtype: Any = float) -> None:
    """All results alike: shape, dtype, type, and numbers to so many units in the last place of the largest one.

    `scale` is how large numbers were on the way, `dtype` the narrowest that they had.
    """
    ours, theirs = leaves(entries(got)), leaves(entries(want))
    assert len(ours) == len(theirs), what
    for one, other in zip(ours, theirs, strict=True):
        assert type(one) is type(other), f"{what}: {type(one).__name__}, NumPy's machine {type(other).__name__}"
        a, b = np.asarray(one), np.asarray(other)
        assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{what}: {a.dtype}{a.shape}, not {b.dtype}{b.shape}"
        if b.dtype.kind not in "fc":
            np.testing.assert_array_equal(a, b, what)
            continue
        close = units * float(max(np.finfo(b.dtype).eps, np.finfo(dtype).eps))
        largest = float(np.max(np.abs(b[np.isfinite(b)]), initial=scale))
        np.testing.assert_allclose(a, b, rtol=close, atol=close * largest, err_msg=what)


# --------------------------------------------------------------------------- every operation


def law_value(subject: Subject, data: st.DataObject) -> bool:
    """On any dtype and shape, special values among them, in any memory layout: NumPy's value, or its error."""
    draw = Draw(data, data.draw(st.sampled_from(KINDS)), loose=True, python=True)
    call = subject.arguments(draw, special=True)
    turn = zlib.crc32(str(subject).encode()) % len(LAYOUTS)  # each layout comes first for some subjects
    layout = data.draw(st.sampled_from([*sorted(LAYOUTS)[turn:], *sorted(LAYOUTS)[:turn]]))
    arrays = [LAYOUTS[layout](one) for one in call.arrays]
    net = network(subject.of(call), len(arrays))
    want, got = on("numpy", net.predict, *arrays), on("native", net.predict, *arrays)
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert same_family(got, want), f"{subject}, {layout}: {want!r}, native {got!r}"
        return False
    for one in (got, on("native", net.predict, *arrays)):
        for ours, theirs in zip(leaves(entries(one)), leaves(entries(want)), strict=True):
            assert_equal(ours, theirs, f"{subject}, {layout}")
    return True


def law_gradient(subject: Subject, data: st.DataObject) -> bool:
    """The same gradients, in float64 and float32."""
    draw = Draw(data, data.draw(st.sampled_from(["float64", "float32"])))
    call = subject.arguments(draw)
    if isinstance(attempt(subject.of(call), call.arrays), Exception):
        return False
    loss = Loss(subject, call, draw)
    if not loss.wanted:
        return True
    derivative = value_and_grad(loss.real, loss.positions)
    want, got = on("numpy", derivative, *loss.floats), on("native", derivative, *loss.floats)
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert same_family(got, want), f"{subject}: {want!r}, native {got!r}"
        return False
    largest = max([1.0, *[float(np.max(np.abs(one), initial=0.0)) for one in loss.floats]])
    agree((got[0], *got[1]), (want[0], *want[1]), str(subject), 512.0, largest, draw.dtype)
    return True


test_value = drawn(law_value, EXAMPLES - 1 or 1)
test_gradient = drawn(law_gradient, max(EXAMPLES // 2, 1), SUBJECTS if EXAMPLES > 2 else SUBJECTS[::2])


# --------------------------------------------------------------------------- special values


def looked_at(function: Any) -> Callable[..., Any]:
    """What can be said of a result without giving an infinity away, for which NumPy itself would be asked."""

    def f(*arrays: Any) -> Any:
        y = function(*arrays)
        return np.where(np.isfinite(y), y, 0.0), np.isnan(y), np.isinf(y), np.signbit(y) & ~np.isnan(y)

    return f


WRITTEN = [
    one
    for one in sorted({*pointwise.BASIC, *elementary.ELEMENTARY})
    if isinstance(getattr(np, one, None), np.ufunc) and getattr(np, one).nout == 1
]


DTYPES = ["f8", "f4", "i8", "i1", "u4", "?"] + (["i4", "i2", "u8", "u2", "u1"] if EXAMPLES > 2 else [])


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("dtype", DTYPES)
def test_special_values_of_every_dtype(name: str, dtype: str) -> None:
    """In each lane and behind the last whole vector: all pairs of special values, all of them, and only a few."""
    ufunc, values = getattr(np, name), special_values(dtype)
    arrays = [one.ravel() for one in np.meshgrid(*[values] * ufunc.nin)]
    with quiet():
        known = attempt(ufunc, arrays)
    if isinstance(known, Exception):
        return
    floating = known.dtype.kind == "f"
    function = looked_at(ufunc) if floating else lambda *given: (ufunc(*given), given[0])
    net = network(function, ufunc.nin)
    for size in (len(arrays[0]), 13) if floating else (13,):
        given = [one[-size:].copy() for one in arrays]
        want, got = on("numpy", function, *given), on("native", net.predict, *given)
        assert not isinstance(got, Exception), got
        if floating:
            limits = np.finfo(known.dtype)
            units, least = 8 * limits.eps, 8 * limits.smallest_subnormal
            least = units if name.startswith("logaddexp") else least  # a sum of an exponent and a logarithm near it
            tied = name in ("maximum", "minimum") and (given[0] == given[1])  # of 0.0 and -0.0 either may be taken
            np.testing.assert_array_equal(got[3] | tied, want[3] | tied, f"signs of {name}")
            np.testing.assert_allclose(got[0], want[0], units, least, err_msg=name)
            got, want = got[1:3], want[1:3]
        for one, other in zip(got, want, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other, name)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2), (1, 2)])
def test_what_is_not_finite_comes_through_reductions(dtype: Any, axis: Any) -> None:
    """Wherever it stands, in arrays that fill vectors and in those that do not."""

    def f(x: Any) -> Any:
        found = [one(x, axis=axis) for one in (np.sum, np.max, np.min, np.prod, np.mean)]
        found += [np.logaddexp.reduce(x, axis=axis)] if isinstance(axis, int) else []
        kinds = [part for one in found for part in (np.isnan(one), np.isposinf(one), np.isneginf(one))]
        return (*kinds, np.any(x > 0.5, axis=axis), np.all(x < 1e300, axis=axis))

    net = network(f, 1)
    for shape in ((2, 3, 5), (3, 2, 33)):
        for value in (np.nan, np.inf, -np.inf):
            for place in {0, 1, 7, 15, int(np.prod(shape)) - 1}:
                x = (RNG.choice([-1.0, 1.0], shape) * (0.75 + RNG.random(shape) / 2)).astype(dtype)  # no product is 0
                x.flat[place] = value
                agree(on("native", net.predict, x), on("numpy", f, x), f"{value} at {place} of {shape}")


SIGNED: dict[str, Callable[[Any, Any], Any]] = {
    "maximum": np.maximum,
    "minimum": np.minimum,
    "of a number": lambda a, b: (np.maximum(a, 0.0), np.maximum(-0.0, a), np.minimum(a, -0.0), np.minimum(0.0, b)),
    "clip": lambda a, b: (np.clip(a, 0.0, 1.0), np.clip(b, -0.0, 1.0), np.clip(a, -1.0, 0.0), np.clip(b, -1.0, -0.0)),
    "clip by arrays": lambda a, b: (
        np.clip(a, b, 1.0),
        np.clip(b, -1.0, a),
        np.clip(a, 0.0, None),
        np.clip(a, None, -b),
    ),
    "relu": lambda a, b: (np.where(a > 0, a, 0.0), np.where(a <= 0, b, a), a * (a > 0), np.where(b >= 0, b, 0.0)),
    "along an axis": lambda a, b: (np.max(np.stack([a, b]), axis=0), np.min(np.stack([a, b, a]), axis=0)),
    "arithmetic": lambda a, b: (a + b, a - b, -a, a * b, a / 2, np.abs(a), np.sign(a), np.copysign(a, b), np.sqrt(a)),
    "roundings": lambda a, b: (np.rint(a - 0.25), np.floor(a), np.ceil(a - 0.5), np.trunc(b), np.remainder(a, -1.0)),
}


@pytest.mark.parametrize("function", SIGNED.values(), ids=SIGNED)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("machine", ["native", "numpy"])
@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="Arm has another order of zeros")
def test_a_zero_has_the_sign_that_numpy_gives_it(function: Callable[[Any, Any], Any], dtype: Any, machine: str) -> None:
    """Plain NumPy's, wherever in an array it stands. Of two zeros `np.fmax` takes now one, now the other: no law."""
    net = network(function, 2)
    for size in (1, 3, 8, 19, 64):
        a, b = (np.resize(np.array(one, dtype), size) for one in ([0.0, 0.0, -0.0, -0.0], [0.0, -0.0]))
        for x, y in ((a, b), (b, a), (a[::-1], b)):
            for got, want in zip(leaves(on(machine, net.predict, x, y)), leaves(function(x, y)), strict=True):
                np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
                np.testing.assert_array_equal(got, want)


KINKED: list[Callable[[Any], Any]] = [
    lambda x: np.maximum(x, 0.0),
    lambda x: s.ReLU(x) if isinstance(x, s.Layer) else np.where(x <= 0, 0.0, x),
    lambda x: np.minimum(x, 1.0) + np.abs(x),
    lambda x: np.where(x > 0, x, 0.5 * x),
    lambda x: np.clip(x, -1.0, 2.0),
    lambda x: np.sign(x) * np.sqrt(np.abs(x)),
    lambda x: np.heaviside(x, 0.5) - np.exp(-np.abs(x)),
]


@pytest.mark.parametrize("function", KINKED, ids=range(len(KINKED)))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kinks_at_special_values(function: Callable[[Any], Any], dtype: Any) -> None:
    x = special_values(dtype)
    slope = value_and_grad(lambda v: np.sum(np.where(np.isfinite(v), function(v), 0.0)))
    net = network(lambda v: looked_at(function)(v), 1)
    for given_ in (x, x[-5:], x[::-1]):
        agree(on("native", net.predict, given_), on("numpy", net.predict, given_), "values")
        (_, got), (_, want) = on("native", slope, given_), on("numpy", slope, given_)
        np.testing.assert_allclose(got, want, rtol=1e-5 if dtype is np.float32 else 1e-13)


# --------------------------------------------------------------------------- programs


@pytest.mark.parametrize(
    "subscripts", ["ii,i->i", "iij,j->i", "ij,ji->", "ij,jk->ki", "ij,ij->j", "ijk,j->ik", "i,j->"]
)
def test_sums_of_products_of_every_form(subscripts: str) -> None:
    sizes = [[3] * len(one) for one in subscripts.partition("->")[0].split(",")]
    x, y = (RNG.normal(size=one) for one in sizes)
    loss = value_and_grad(lambda x, y: np.sum(np.sin(np.einsum(subscripts, x, y))), (0, 1))
    (value, got), (wanted, want) = on("native", loss, x, y), on("numpy", loss, x, y)
    agree((value, *got), (wanted, *want), subscripts, 1e3, 1.0)


@pytest.mark.parametrize("shape", [(3, 3), (1, 1)])
def test_what_only_a_shape_is_asked_of_is_not_computed(shape: Any) -> None:
    def slope(x: Any, y: Any) -> Any:
        return s.grad(lambda x, y: np.sum((x @ y)[:1] * 2.0), (0, 1))(x, y)

    loss = value_and_grad(lambda x, y: np.sum(slope(x, y)[0] * 0.7) + np.sum(slope(x, y)[1] * 0.3), (0, 1))
    x, y = RNG.normal(size=shape), RNG.normal(size=shape)
    (value, got), (wanted, want) = on("native", loss, x, y), on("numpy", loss, x, y)
    agree((value, *got), (wanted, *want), "second order", 1e3, 1.0)


STEPS = st.lists(st.builds(Drawn, *[st.integers(0, 59) for _ in range(4)]), min_size=2, max_size=12)
SHAPES = st.sampled_from(
    [
        ((3, 4), (4,)),
        ((5,), (5,)),
        ((2, 3, 4), (4, 3)),
        ((17, 3), (1, 3)),
        ((4, 4), (4, 4)),
        ((1, 19), (7, 1)),
        ((), (3,)),
    ]
)
OPTIONS: Any = {"max_examples": 30 * EXAMPLES, "database": None, "suppress_health_check": list(HealthCheck)}


def check(steps: Any, shapes: Any, outputs: int, layout: str = "in C order", dtype: Any = float) -> None:
    """One program: the values, and the gradients of a sum of all its outputs, by both inputs."""
    f = program(steps, outputs)
    rng = np.random.default_rng(len(steps))
    arrays = [LAYOUTS[layout](rng.normal(size=shape).astype(dtype)) for shape in shapes]

    def loss(*given: Any) -> Any:
        return sum(np.sum(np.sin(one) * (k + 1.0)) for k, one in enumerate(leaves(f(*given))))

    what = f"{described(steps)} of {shapes}"
    net, slope = network(f, 2), value_and_grad(loss, (0, 1))
    want, got = on("numpy", net.predict, *arrays), on("native", net.predict, *arrays)
    if isinstance(want, Exception):
        assert same_family(got, want), f"{what}: {got!r}"
        return
    close: Any = {"units": 3e6 if dtype is float else 3e4, "scale": 1.0, "dtype": dtype}
    agree(got, want, what, **close)
    want, got = on("numpy", slope, *arrays), on("native", slope, *arrays)
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert same_family(got, want), f"{what}: {got!r}"
        return
    agree((got[0], *got[1]), (want[0], *want[1]), "the gradients of " + what, **close)


@given(STEPS, SHAPES, st.integers(1, 3), st.sampled_from(sorted(LAYOUTS)))
@settings(**OPTIONS)
def test_programs(steps: Any, shapes: Any, outputs: int, layout: str) -> None:
    check(steps, shapes, outputs, layout)


@given(STEPS, SHAPES)
@settings(**{**OPTIONS, "max_examples": 4 * EXAMPLES})
def test_programs_in_single_precision(steps: Any, shapes: Any) -> None:
    check(steps[:5], shapes, 2, dtype=np.float32)


@given(STEPS, SHAPES)
@settings(**{**OPTIONS, "max_examples": 10 * EXAMPLES})
def test_programs_run_block_by_block(steps: Any, shapes: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_WORTH", 8)
        patch.setattr(blocks, "_ROOM", 600)
        check(steps, shapes, 2)


@given(STEPS, SHAPES)
@settings(**{**OPTIONS, "max_examples": 6 * EXAMPLES})
def test_programs_whose_calls_are_data(steps: Any, shapes: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembly, "_LONG", 2)
        check(steps, shapes, 2)


@NAMED
def test_small_programs(program: Program) -> None:
    """Those of plain Python: on every path the value and the slope of NumPy's machine."""
    places = tuple(range(len(program.inputs[0])))
    few = program.inputs[-1:]
    for args in program.inputs if EXAMPLES > 2 else few:
        found = [
            on(machine, value_and_grad(program.function, places), *copied(args)) for machine in ("native", "numpy")
        ]
        if any(isinstance(one, Exception) for one in found):
            assert same_family(found[0], found[1]), found
            continue
        (value, slopes), (wanted, others) = found
        agree((value, *slopes), (wanted, *others), program.function.__name__, 1e5, 1.0)


def test_a_chain_of_large_arrays_in_blocks() -> None:
    def f(x: Any, w: Any) -> Any:
        y = np.tanh(x * w) + np.exp(-x * x)
        y = y / (1.0 + np.sum(y, axis=1, keepdims=True) ** 2)
        return np.sum(np.sqrt(np.abs(y) + 0.1) * x), np.max(y, axis=0), y[::7]

    x, w = RNG.normal(size=(3001, 130)), RNG.normal(size=130)
    net, slope = network(f, 2), value_and_grad(lambda x, w: f(x, w)[0], (0, 1))
    agree(on("native", net.predict, x, w), on("numpy", f, x, w), "values", 1e4)
    (value, deltas), (wanted, others) = on("native", slope, x, w), on("numpy", slope, x, w)
    agree((value, *deltas), (wanted, *others), "gradients", 1e4)


SUMS: list[Callable[[Any], Any]] = [
    np.sum,
    lambda v: np.mean(v * v),
    lambda v: v @ v,
    lambda v: np.einsum("i,i->", v, np.exp(-v)),
    lambda v: np.sum(v.reshape(-1, 7), axis=1)[-1],
    lambda v: np.sum(v[:, None] * np.ones(3, v.dtype), axis=0)[1],
    lambda v: np.var(v),
]


@pytest.mark.parametrize("sum_of", SUMS, ids=range(len(SUMS)))
def test_long_sums_are_accurate(sum_of: Callable[[Any], Any]) -> None:
    """About as NumPy's, which adds by halves what is contiguous."""
    for dtype, size in ((np.float64, 700_007), (np.float32, 7_000_007 if sum_of is np.sum else 700_007)):
        x = (RNG.random(size) + 0.1).astype(dtype)
        want = float(sum_of(x.astype(np.longdouble)))
        error, other = (abs(float(on(one, network(sum_of, 1).predict, x)) / want - 1) for one in ("native", "numpy"))
        assert error <= 2 * other + 6 * np.finfo(dtype).eps


def test_a_long_program_is_compiled_beside_the_calls() -> None:
    def f(x: Any) -> Any:
        for k in range(500):
            x = np.sin(x) * (1.0 + 0.001 * k)
        return np.sum(x)

    with s.use("auto"):
        slope: Any = value_and_grad(f)
        x = RNG.normal(size=5)
        values = [slope(x) for _ in range(4)]
        code = [one for one in machines._Choice.made if len(one.program.instructions) > 400]
        assert code
        for _ in range(600):
            if any("native" in one.code.explain() for one in code if one.code is not None):
                break
            values.append(slope(x))
            time.sleep(0.1)
        else:
            raise AssertionError("no native code after a minute")
        values += [slope(x) for _ in range(3)]
    for value, delta in values:
        agree((value, delta), values[0], "before and after", 1e6, 1.0)


@pytest.mark.parametrize("cpu", ["sse2", "avx2"])
def test_the_laws_hold_for_narrower_vectors(cpu: str) -> None:
    """In a process of its own, which writes code for that processor."""
    chosen = "(special_values and f8) or block_by_block or long_sums"
    if EXAMPLES > 2:
        chosen += " or (special_values and f4) or reductions or (test_programs and not data) or large_arrays"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", __file__, "-k", chosen],
        env={**os.environ, "SYMBOLIC_CPU": cpu, "SYMBOLIC_MACHINE": "native"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
