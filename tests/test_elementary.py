"""Are the elementary functions of the native machine right to 2 units in the last place, over their whole range?

The reference is mpmath with 200 bits; infinities, NaN, zeros and remainders are compared with NumPy and SciPy.
"""

import ctypes
import os
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import minimax
import mpmath  # type: ignore[import-untyped]  # it has no stubs
import numpy as np
import pytest
from mpmath import mp, mpf

pytest.importorskip("llvmlite", reason="the native machine needs llvmlite")

from test_engine import levels

from symbolic.backends.native import angles, engine, error_function, host, tables
from symbolic.backends.native.elementary import ELEMENTARY, write
from symbolic.backends.native.host import Host
from symbolic.backends.native.text import Module

Array = np.ndarray[Any, np.dtype[Any]]
COUNT = 20000 if os.environ.get("SYMBOLIC_HYPOTHESIS") == "long" else 1000
TYPES: dict[str, np.dtype[np.floating[Any]]] = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}
BINARY = {
    *("arctan2", "power", "hypot", "logaddexp", "logaddexp2", "copysign", "fmod", "remainder", "floor_divide"),
    *("maximum", "minimum", "fmax", "fmin"),
}
SCALAR = "scalar"


# ---------------------------------------------------------------------- compiled functions
def module_of(name: str, element: str, lanes: int, on: Host, inline: bool = True) -> str:
    """`main` goes through arrays."""
    module = Module(on.fma, on.vector_bits == 512)
    f = module.function("main", ["ptr"] * (arity(name) + 1) + ["i64"], "void", "nounwind")
    *inputs, output, size = f.arguments
    with f.loop(f.index(0), size, max(lanes, 1)) as i:
        values = [f.load(f.at(one, i, element), element, lanes) for one in inputs]
        f.store(write(f, name, *values, inline=inline), f.at(output, i, element))
    f.give()
    return str(module)


def arity(name: str) -> int:
    return 2 if name in BINARY else 1


def target(way: str) -> tuple[Host, Callable[[str], int]]:
    """A level and how many lanes it is tried with: its own, and none on the best level."""
    if way == SCALAR:
        return host.host(), lambda element: 0
    level = host.LEVELS.get(way) or host.host()
    return level, level.lanes


@cache
def compiled(name: str, element: str, way: str) -> Callable[..., Array]:
    level, lanes = target(way)
    return runner(module_of(name, element, lanes(element), level), element, level)


def runner(text: str, element: str, level: Host) -> Callable[..., Array]:
    library = engine.load(text, level)
    whole = 16  # a multiple of all lanes

    def run(*given: Array) -> Array:
        rest = -len(given[0]) % whole
        padded = [np.concatenate([one, np.ones(rest)]).astype(TYPES[element]) for one in given]
        result = np.empty_like(padded[0])
        address = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(given) + 1), ctypes.c_int64)(library.address("main"))
        address(*(one.ctypes.data for one in padded), result.ctypes.data, len(result))
        found: Array = result[: len(given[0])]
        return found

    return run


WAYS = [*levels(), SCALAR]


# ---------------------------------------------------------------------- points
class Range(NamedTuple):
    """Where a function is tried: `kind` says how numbers are drawn between `low` and `high`."""

    kind: str
    low: float
    high: float


def uniform(low: float, high: float) -> Range:
    return Range("uniform", low, high)


def around(centre: float) -> Range:
    """At all distances from a number, down to its last digit."""
    return Range("around", centre, 0)


WIDE = Range("wide", -1, 1)
"""All exponents and both signs."""
ABOVE = Range("wide", 0, 1)
QUARTERS = Range("quarters", 0, 0)
"""Next to multiples of π/2."""
NEAREST_TO_QUARTER = 6381956970095103.0 * 2.0**797
"""The double that is nearest to a multiple of π/2 (Kahan; Muller, Elementary Functions, 2006, table 11.1)."""

EXPONENTIAL = (WIDE, uniform(-1, 1), uniform(-3, 3))
POINTS: dict[str, tuple[Range, ...]] = {
    "exp": (*EXPONENTIAL, uniform(-746, 710), uniform(-105, 89)),
    "exp2": (*EXPONENTIAL, uniform(-1075, 1025), uniform(-150, 129)),
    "expm1": (*EXPONENTIAL, uniform(-40, 710), uniform(-18, 89)),
    "expit": (*EXPONENTIAL, uniform(-746, 40), uniform(-104, 20)),
    "sinh": (*EXPONENTIAL, uniform(-711, 711), uniform(-90, 90)),
    "cosh": (*EXPONENTIAL, uniform(-711, 711), uniform(-90, 90)),
    "tanh": (*EXPONENTIAL, uniform(-20, 20), uniform(8, 10)),
    "log": (ABOVE, uniform(0.4, 2.5), around(1)),
    "log2": (ABOVE, uniform(0.4, 2.5), around(1)),
    "log10": (ABOVE, uniform(0.4, 2.5), around(1)),
    "log1p": (ABOVE, uniform(-1, 2), around(-1), WIDE),
    "arcsinh": (WIDE, uniform(-3, 3)),
    "arccosh": (ABOVE, uniform(1, 4), around(1)),
    "arctanh": (uniform(-1, 1), around(1), around(-1), WIDE),
    "sin": (WIDE, uniform(-4, 4), QUARTERS, uniform(-2e6, 2e6)),
    "cos": (WIDE, uniform(-4, 4), QUARTERS, uniform(-2e6, 2e6)),
    "tan": (WIDE, uniform(-4, 4), QUARTERS, uniform(-2e6, 2e6)),
    "sinc": (WIDE, uniform(-4, 4), around(1), around(-3)),
    "arcsin": (uniform(-1, 1), around(1), around(-1), around(0.5), WIDE),
    "arccos": (uniform(-1, 1), around(1), around(-1), around(0.5), WIDE),
    "arctan": (WIDE, uniform(-3, 3), around(0.5), around(2)),
    "arctan2": (WIDE, uniform(-3, 3)),
    "power": (ABOVE, uniform(0, 8), around(1), uniform(-9, 9)),
    "cbrt": (WIDE, uniform(-10, 10)),
    "sqrt": (ABOVE,),
    "hypot": (WIDE, uniform(-3, 3)),
    "logaddexp": (WIDE, uniform(-2, 2), uniform(-800, 800), uniform(-40, 0)),
    "logaddexp2": (WIDE, uniform(-2, 2), uniform(-1200, 1200), uniform(-60, 0)),
    "erf": (WIDE, uniform(-1, 1), uniform(-6, 6)),
    "erfc": (WIDE, uniform(-1, 1), uniform(-6, 28), uniform(0, 10.1)),
    "ndtr": (WIDE, uniform(-1, 1), uniform(-39, 9), uniform(-14.5, 0)),
    "log_ndtr": (WIDE, uniform(-1, 1), uniform(-60, 39), uniform(-15, 14)),
}


def drawn(one: Range, element: str, random: np.random.Generator) -> Array:
    """Numbers of a range, in the type."""
    info = np.finfo(TYPES[element])
    if one.kind == "wide":
        size = 2.0 ** random.uniform(info.minexp - info.nmant - 1, info.maxexp - 0.01, COUNT)
        x = size * random.choice([-1.0 if one.low < 0 else 1.0, 1.0], COUNT)
    elif one.kind == "around":
        x = one.low * (1 + 2.0 ** random.uniform(-info.nmant - 1, -1, COUNT) * random.choice([-1, 1], COUNT))
    elif one.kind == "quarters":
        many = {"double": 10**6, "float": 2 * 10**4}[element]
        x = random.integers(-many, many, COUNT) * (np.pi / 2) * 2.0 ** random.integers(0, 3, COUNT)
        x[:2] = NEAREST_TO_QUARTER if element == "double" else 1.0, -1.0
    else:
        x = random.uniform(one.low, one.high, COUNT)
    with np.errstate(over="ignore"):
        x = x.astype(info.dtype)
    return np.where(np.isfinite(x), x, info.dtype.type(1))


@cache
def points(name: str, element: str) -> tuple[Array, ...]:
    """The arguments that a function is tried with."""
    random = np.random.default_rng(len(name) + len(element))
    rows = [[drawn(one, element, random) for one in POINTS[name]] for _ in range(arity(name))]
    if name == "power":  # exponents of a moderate size, some of them whole
        whole = random.integers(-40, 40, COUNT)
        rows[1] = [
            random.uniform(-2, 2, COUNT),
            random.uniform(-40, 40, COUNT),
            2.0 ** random.uniform(0, 40, COUNT),
            whole,
        ]
    if name.startswith("logaddexp"):  # one of two next to 0, so that the result is that of the other
        rows[1][-1] = -(2.0 ** random.uniform(-40, -1, COUNT))
    return tuple(np.concatenate(one).astype(TYPES[element]) for one in rows)


# ---------------------------------------------------------------------- the reference
def log_ndtr(x: Any) -> Any:
    if x > 0:
        return mpmath.log1p(-mpmath.erfc(x / mpmath.sqrt(2)) / 2) if x < 200 else mpf(0)
    if x > -200:
        return mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2)
    series = -1 / x**2 + 3 / x**4 - 15 / x**6 + 105 / x**8 - 945 / x**10
    return -x * x / 2 - mpmath.log(-x * mpmath.sqrt(2 * mpmath.pi)) + mpmath.log1p(series)


def erfc(x: Any) -> Any:
    return mpmath.erfc(x) if x < 1000 else mpf(0)


EXACT: dict[str, Callable[..., Any]] = {
    "arcsin": mpmath.asin, "arccos": mpmath.acos, "arctan": mpmath.atan, "arctan2": mpmath.atan2,
    "arcsinh": mpmath.asinh, "arccosh": mpmath.acosh, "arctanh": mpmath.atanh,
    "exp2": lambda x: mpf(2) ** x, "log2": lambda x: mpmath.log(x, 2), "sinc": mpmath.sincpi,
    "expit": lambda x: 1 / (1 + mpmath.exp(-x)),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "erfc": erfc, "ndtr": lambda x: erfc(-x / mpmath.sqrt(2)) / 2, "log_ndtr": log_ndtr,
    "logaddexp": lambda x, y: max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y))),
    "logaddexp2": lambda x, y: max(x, y) + mpmath.log1p(mpf(2) ** -abs(x - y)) / mpmath.log(2),
}  # fmt: skip


class Reference(NamedTuple):
    """The exact results (high + low)·2ᵉ with 1 ≤ |high| < 2; NaN where there is none."""

    high: Array
    low: Array
    e: Array


@cache
def reference(name: str, element: str) -> Reference:
    exact = EXACT.get(name) or getattr(mpmath, name)
    with mp.workprec(200):
        rows = [scaled(exact(*map(mpf, one))) for one in zip(*(x.tolist() for x in points(name, element)), strict=True)]
    high, low, e = np.array(rows).T
    return Reference(high, low, e.astype(int))


def scaled(value: Any) -> tuple[float, float, int]:
    if isinstance(value, mpmath.mpc) or mpmath.isnan(value):
        return np.nan, 0.0, 0
    if not value:
        return 0.0, 0.0, 0
    e = mpmath.mag(value) - 1
    fraction = mpmath.ldexp(value, -e)
    return float(fraction), float(fraction - float(fraction)), min(max(e, -9999), 9999)


def errors(got: Array, exact: Reference, least: Array | float = -np.inf) -> Array:
    """In units of the last place of the exact result, or of 2^least if that is greater."""
    info = np.finfo(got.dtype)
    places = np.maximum(np.maximum(exact.e, least), info.minexp).astype(int) - info.nmant
    beyond = exact.e >= info.maxexp  # an infinity is right, and so is the last number where it is nearer
    value = np.where(np.isinf(got) & (exact.e >= info.maxexp - 1), np.copysign(2.0, got), 0)
    with np.errstate(all="ignore"):
        fraction = np.ldexp(got.astype(np.float64), -np.clip(exact.e, -1070, 1020))
        fraction = np.ldexp(fraction, -(exact.e - np.clip(exact.e, -1070, 1020)))
        error = np.ldexp((fraction - exact.high) - exact.low, exact.e - places)
    error = np.where(value != 0, np.where(beyond, 0, np.inf), error)
    error = np.where(beyond & np.isfinite(got), np.inf, error)
    unknown = np.isnan(exact.high)
    return np.where(unknown, np.where(np.isnan(got), 0, np.inf), np.where(np.isnan(got), np.inf, np.abs(error)))


# ---------------------------------------------------------------------- laws
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", POINTS)
def test_errors_are_of_two_units_at_most(name: str, element: str, way: str) -> None:
    given = points(name, element)
    got = compiled(name, element, way)(*given)
    least: Array | float = -np.inf
    if name.startswith("logaddexp"):  # below 0 two numbers cancel, of which the greater one counts
        most = np.maximum(*given).astype(np.float64)
        cancel = np.maximum(np.frexp(most)[1], np.frexp(got - most)[1]) - 1
        least = np.where(most < 0, cancel, -np.inf)
    found = errors(got, reference(name, element), least)
    worst = int(np.argmax(found))
    assert found[worst] <= 2, f"{found[worst]:.2f} units at {[float(x[worst]) for x in given]}: {got[worst]!r}"


SPECIAL = [
    *(0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 40.0, 100.0, 720.0, 1e4, 3e4 + 1, 2e6, 1e10, 1e19, 1e30, 1e155),
    *(1e300, 1.7e308, 3e38, 2.0**52 + 0.5, 2.0**23 + 0.5, 2.0**52 - 0.5, 2.0**22 + 0.5, np.inf, np.nan, 5e-324, 1e-310),
    *(1.4e-45, 1e-39, 1e-30, 1e-20, 1e-9, 1e-4),
]
FREE_ZERO = {"maximum", "minimum", "fmax", "fmin"}
"""Of two zeros NumPy gives one or the other, as its vectors fall."""


def numpys(name: str) -> Any:
    return getattr(np, name, None) or getattr(pytest.importorskip("scipy.special"), name)


def same(got: Array, wanted: Array, close: float, free_zero: bool) -> Array:
    """NaN for NaN, and the same sign and nearly the same number; infinities and zeros are not merely near."""
    with np.errstate(invalid="ignore"):
        near = np.abs(got - wanted) <= np.maximum(close * np.abs(wanted), 4 * np.finfo(got.dtype).smallest_subnormal)
    near &= np.isfinite(got) & np.isfinite(wanted)
    equal = ((got == wanted) | near) & ((np.signbit(got) == np.signbit(wanted)) | free_zero & (got == wanted))
    right: Array = equal | (np.isnan(got) & np.isnan(wanted))
    return right


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", sorted(set(ELEMENTARY) - {"sinc"}))
def test_special_values_are_numpys(name: str, element: str, way: str) -> None:
    with np.errstate(all="ignore"):
        one = np.array([*SPECIAL, *(-x for x in SPECIAL)]).astype(TYPES[element])
        given = tuple(x.ravel() for x in np.meshgrid(one, one)) if name in BINARY else (one,)
        got, wanted = compiled(name, element, way)(*given), numpys(name)(*given)
        right = same(got, wanted, {"double": 1e-13, "float": 1e-5}[element], name in FREE_ZERO)
        if name == "expit":  # whose denormal numbers SciPy gives as 0
            right |= (wanted == 0) & (got >= 0) & (got < np.finfo(got.dtype).smallest_normal)
    wrong = [([float(x[i]) for x in given], got[i], wanted[i]) for i in np.flatnonzero(~right)]
    assert not wrong, wrong[:5]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("element", TYPES)
def test_sinc_is_exact_where_numpys_product_is_not(element: str, way: str) -> None:
    """np.sinc rounds π·x first, so that its zeros are none."""
    x = np.array([0.0, -0.0, 1.0, -2.0, 1e30, np.inf, np.nan, 1e-30]).astype(TYPES[element])
    np.testing.assert_array_equal(compiled("sinc", element, way)(x), [1, 1, 0, 0, 0, np.nan, np.nan, 1])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_remainders_are_numpys_to_the_last_digit(name: str, element: str, way: str) -> None:
    """Of quotients small and large, whole and nearly whole, and of denormal numbers."""
    random, dtype = np.random.default_rng(3), TYPES[element]
    divisor, many = random.uniform(0.1, 3, COUNT).astype(dtype), random.integers(1, 2**20, COUNT)
    least = float(np.finfo(dtype).smallest_subnormal)
    large = drawn(ABOVE, element, random)
    pairs = [
        (drawn(WIDE, element, random), drawn(WIDE, element, random)),
        (random.uniform(-100, 100, COUNT), random.uniform(-5, 5, COUNT)),
        (random.integers(-100, 100, COUNT), random.integers(-12, 12, COUNT)),
        (divisor * many, divisor),
        (-large, large / random.integers(1, 9, COUNT)),
        (large, random.integers(1, 2000, COUNT) * least),
        (many * least, random.integers(1, 2000, COUNT) * least),
    ]
    x, y = (np.concatenate(one).astype(dtype) for one in zip(*pairs, strict=True))
    with np.errstate(all="ignore"):
        got, wanted = compiled(name, element, way)(x, y), numpys(name)(x, y)
    right = same(got, wanted, 0, False) & ((got == wanted) | np.isnan(wanted))
    wrong = [(float(x[i]), float(y[i]), got[i], wanted[i]) for i in np.flatnonzero(~right)]
    assert not wrong, wrong[:5]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("tanh", -1, 1), ("erf", -1, 1), ("expit", 0, 1), ("ndtr", 0, 1), ("sin", -1, 1), ("cos", -1, 1)],
)
def test_no_rounding_leaves_the_range(name: str, low: float, high: float, element: str, way: str) -> None:
    x = np.linspace(-40, 40, 40 * COUNT)
    got = compiled(name, element, way)(x)
    assert low <= got.min() and got.max() <= high


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", ELEMENTARY)
def test_a_function_of_its_own_gives_the_same(name: str, element: str) -> None:
    """Written once for a type, however often it is called."""
    level = host.host()
    module = Module(level.fma, level.vector_bits == 512)
    lanes = level.lanes(element)
    kind = f"<{lanes} x {element}>"
    f = module.function("twice", [kind] * arity(name), kind)
    again = [write(f, name, *f.arguments, inline=False), write(f, name, *f.arguments, inline=False)]
    f.give(again[1])
    assert str(module).count("define") == str(module).count("internal") + 1
    assert len(re.findall(rf"define internal \S+ x \S+ @{name}\.", str(module))) == 1
    x = [np.linspace(0.1 + k, 0.9, 64).astype(TYPES[element]) for k in range(arity(name))]
    apart = runner(module_of(name, element, lanes, level, inline=False), element, level)(*x)
    np.testing.assert_array_equal(apart, compiled(name, element, WAYS[-2])(*x))


@pytest.mark.parametrize("level", [host.SSE2, host.AVX2, host.AVX512, host.ARM], ids=["sse2", "avx2", "avx512", "arm"])
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", ELEMENTARY)
def test_nothing_is_left_to_the_c_library(name: str, element: str, level: Host) -> None:
    """Whose results differ from system to system; and no flag lets LLVM forget NaN, ∞, or how a sum is rounded."""
    text = module_of(name, element, level.lanes(element), level)
    assert not re.search(r"\b(nnan|ninf|nsz|arcp|afn|reassoc|contract|fast|minnum|maxnum)\b", text)
    whole = "floor|ceil|trunc|roundeven"
    ours = r"x86\.avx512\.(mask\.(scalef|getexp|getmant)|vpermi2var)"
    allowed = rf"fma|fmuladd|fabs|sqrt|copysign|{whole}|fshl|ctlz|vector\.reduce\.or|{ours}"
    names = re.findall(r"^declare .*@llvm\.(\S+?)\(", text, re.MULTILINE)
    assert all(re.match(allowed, one) for one in names), names
    used = {re.match(allowed, one).group() for one in names}  # type: ignore[union-attr]  # it has matched
    assert level.fma or not used & {"fma", "floor", "ceil", "trunc", "roundeven"}, "SSE2 calls the C library for these"
    assert engine.object_code(text, level).names == ["main"]


def test_the_coefficients_are_those_that_were_computed() -> None:
    assert (minimax.NATIVE / "coefficients.py").read_text(encoding="utf-8") == minimax.page()
    assert (minimax.NATIVE / "tables.py").read_text(encoding="utf-8") == minimax.tables()


@pytest.mark.parametrize("name", tables.TABLES)
def test_where_coefficients_are_looked_up_fewer_are_needed(name: str) -> None:
    """And every piece is met by some tail, from 0 to where it is 0."""
    level = host.AVX512
    short, long = (module_of(name, "double", lanes, level).count("@llvm.fmuladd") for lanes in (8, 4))
    assert short < long - 10
    table = tables.TABLES[name]
    x = np.linspace(0.0, getattr(error_function, {"ndtr": "NORMAL", "erfc": "ERFC"}[name]).end["double"], 10_001)
    at = table.factor / (x + table.pole) + table.start
    assert at.min() > 1 and at.max() < 2
    pieces = ((at - 1) * 16).astype(int)
    assert set(pieces) == set(range(16)) == set(range(len(table.centres)))
    centres = ((table.factor / (np.array(table.centres) + table.pole) + table.start - 1) * 16).astype(int)
    assert centres.tolist() == list(range(16))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", ["ndtr", "erfc"])
def test_no_piece_of_a_tail_has_a_larger_error(name: str, element: str) -> None:
    """Next to the ends of pieces, at centres, and at places between."""
    table = tables.TABLES[name]
    ends = table.factor / (1 + np.arange(17) / 16 - table.start) - table.pole
    places = np.concatenate([*(ends * (1 + k * 1e-15) for k in (-2, 0, 2)), table.centres, ends * 0.99, ends * 1.01])
    x = np.clip(places, 0, {"ndtr": 37.5, "erfc": 26.5}[name] if element == "double" else 9.0).astype(TYPES[element])
    x = np.concatenate([x, -x])
    with mp.workprec(200):
        rows = [scaled(EXACT[name](mpf(float(one)))) for one in x]
    high, low, e = np.array(rows).T
    found = errors(compiled(name, element, WAYS[-2])(x), Reference(high, low, e.astype(int)))
    assert found.max() <= 2, x[found.argmax()]


def test_the_digits_of_two_over_pi() -> None:
    words = angles.two_over_pi()
    number = sum((word % 2**64) << 64 * k for k, word in enumerate(reversed(words[1:])))
    with mp.workprec(2000):
        assert number == int(mpmath.floor(2 / mpmath.pi * 2 ** (64 * (len(words) - 1))))
