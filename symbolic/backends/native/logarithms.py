"""How is log x computed, and what is made of it? x = 2ᵏ·m with m near 1, and log m = 2 artanh s of s = (m - 1)/(m + 1).

The sum is taken in the order of fdlibm (Sun, 1993): f - (f²/2 - s·(f²/2 + R)) with f = m - 1 loses nothing near 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from symbolic.backends.native.coefficients import COEFFICIENTS
from symbolic.backends.native.exponentials import LEAST, LN2, exp2, unclamped_exp
from symbolic.backends.native.formulas import (
    Term,
    bits_of,
    exponent_and_mantissa,
    fast_two_sum,
    polynomial,
    two_parts,
    two_product,
    two_sum,
    where,
)

LN2_FROM_BELOW = {"double": LN2["double"], "float": (0.69140625, 0.00174093055994531)}
"""The same with a second part that is positive, so that k may be infinite."""
NORMAL = {"double": 2.0**-1022, "float": 2.0**-126}


class Parts(NamedTuple):
    """2ᵏ·(1 + f), with √½ ≤ 1 + f < √2."""

    k: Term
    f: Term
    exponent: Term
    """The bits k + bias."""


def parts(x: Term, more: Term | float = 0) -> Parts:
    """Of a positive normal number; `more` is added to k."""
    least = bits_of(x.element, math.sqrt(0.5))
    bits = x.bits + (bits_of(x.element, 1.0) - least)
    exponent = bits >> x.digits
    m = ((bits & (1 << x.digits) - 1) + least).number
    biased = (exponent | bits_of(x.element, 2.0**x.digits)).number  # quicker than to convert whole numbers
    bias = 2.0**x.digits + x.bias
    return Parts(biased - (bias - more), m - 1, exponent)


def lifted(x: Term) -> tuple[Term, Term]:
    """x with denormal numbers made normal, and what is then to be added to its exponent."""
    lift = x.digits + 2.0
    denormal = x < NORMAL[x.element]
    return where(denormal, x * 2.0**lift, x), where(denormal, x.like(-lift), 0)


def special(x: Term, result: Term) -> Term:
    """log 0 = -∞, log ∞ = ∞, and NaN of what is negative."""
    other = where(x.eq(0), x.like(-math.inf), where(x < 0, x.like(math.nan), x))
    return where((x > 0) & (x < math.inf), result, other)


def of_rest(f: Term, kind: str = "", name: str = "log") -> tuple[Term, Term]:
    """log(1 + f) = f - (a - b): a is f²/2, and b = s·(a + R)."""
    s = f / (f + 2)
    z = s * s
    half_square = f * f * 0.5
    return half_square, s * z.muladd(polynomial(z, COEFFICIENTS[name][kind or f.element]), half_square)


def whole(k: Term, f: Term, rest: Term | None = None, kind: str = "") -> Term:
    """k·ln 2 + log(1 + f), and a small number more."""
    high, low = LN2[f.element]
    half_square, curve = of_rest(f, kind)
    curve = k.muladd(low, curve if rest is None else curve + rest)
    return k.muladd(high, f - (half_square - curve))


def log(x: Term) -> Term:
    taken = exponent_and_mantissa(x)
    if taken is None:
        k, f, _ = parts(*lifted(x))
        return special(x, whole(k, f))
    (k, m), (high, low) = taken, LN2_FROM_BELOW[x.element]
    f = m - 1
    half_square, curve = of_rest(f, name="log_of_mantissa")
    return k.muladd(high, f - (half_square - k.muladd(low, curve)))


def parts_of_sum(u: Term, rest: Term, more: Term | float = 0) -> tuple[Term, Term, Term]:
    """k, f, and what a rest below the last digit of a normal u adds to log(1 + f)."""
    k, f, exponent = parts(u, more)
    scale = ((2 * u.bias + 1) - exponent << u.digits).number  # 2·2⁻ᵏ, and 0 for the greatest k
    return k, f, rest * scale / f.muladd(2, 2)


def log_of_sum(u: Term, rest: Term, more: Term | float = 0) -> Term:
    """log(2ᵐᵒʳᵉ·(u + rest))."""
    return whole(*parts_of_sum(u, rest, more))


def log1p(x: Term) -> Term:
    u, rest = two_sum(x.like(1), x)
    return where(abs(x) < 2.0 ** (-x.digits - 2), x, special(u, log_of_sum(u, rest)))


# ---------------------------------------------------------------------- other bases
class Base(NamedTuple):
    """1/ln b and the base's logarithm of 2, each in two parts; k times the first part of that has no error."""

    inverse: tuple[float, float]
    digit: dict[str, tuple[float, float]]


TWO = Base((1.4426950408889634, 2.0355273740931033e-17), {"double": (1.0, 0.0), "float": (1.0, 0.0)})
TEN = Base(
    (0.4342944819032518, 1.098319650216765e-17),
    {"double": (0.3010299956640665, -8.532344317057107e-14), "float": (0.301025390625, 4.605038981195214e-06)},
)


def in_base(base: Base, k: Term, f: Term, rest: Term | None = None) -> Term:
    """What `whole` is for the natural logarithm."""
    half_square, curve = of_rest(f)
    high, low = fast_two_sum(f, -half_square)
    low = low + (curve if rest is None else curve + rest)
    much, little = two_parts(f.element, *base.inverse)
    digit, digit_rest = base.digit[f.element]
    product, lost = two_product(high, f.like(much))
    low = low.muladd(much, high.muladd(little, lost))
    total, lost = fast_two_sum(k * digit, product)
    return total + (lost + k.muladd(digit_rest, low))


def log2(x: Term) -> Term:
    k, f, _ = parts(*lifted(x))
    return special(x, in_base(TWO, k, f))


def log10(x: Term) -> Term:
    k, f, _ = parts(*lifted(x))
    return special(x, in_base(TEN, k, f))


# ---------------------------------------------------------------------- inverses of sinh, cosh, tanh
def without_square(x: Term) -> Term:
    """Where x² + 1 and x² - 1 are x² in all digits."""
    return x > 2.0 ** (x.digits // 2 + 2)


def arcsinh(x: Term) -> Term:
    """log(a + √(a² + 1)) of a = |x|, as log(1 + (a + a²/(1 + √(a² + 1))))."""
    a = abs(x)
    far = without_square(a)
    square = a * a
    more, lost = fast_two_sum(a, square / ((square + 1).root() + 1))
    u, rest = two_sum(a.like(1), more)
    result = log_of_sum(where(far, a, u), where(far, 0, rest + lost), where(far, a.like(1), 0))
    return where(a < math.inf, result, a).signed(x)


def arccosh(x: Term) -> Term:
    """log(x + √((x - 1)·(x + 1))), the square root in two parts."""
    far = without_square(x)
    t = x - 1
    square, lost = two_product(t, t)
    radicand, less = two_sum(t + t, square)
    root = radicand.root()
    back, error = two_product(root, root)
    correction = ((radicand - back) - error + (less + lost)) / (root + root)
    u, rest = two_sum(x, root)
    rest = where(t > 0, rest + correction, 0)
    result = log_of_sum(where(far, x, u), where(far, 0, rest), where(far, x.like(1), 0))
    return where(x < math.inf, where(x < 1, x.like(math.nan), result), x)


def arctanh(x: Term) -> Term:
    """½·log(1 + 2a/(1 - a)) of a = |x|, the quotient in two parts."""
    a = abs(x)
    twice = a + a
    divisor = 1 - a
    less = (1 - divisor) - a
    quotient = twice / divisor
    back, error = two_product(quotient, divisor)
    correction = ((twice - back) - error - quotient * less) / divisor
    u, rest = two_sum(a.like(1), quotient)
    result = log_of_sum(u, rest + correction) * 0.5
    return where(a < 1, result, where(a.eq(1), a.like(math.inf), math.nan)).signed(x)


# ---------------------------------------------------------------------- sums of powers
def logaddexp(x: Term, y: Term) -> Term:
    """max + log(1 + e^-|x - y|): where the two cancel, right to 2 units of the greater one, as NumPy's about is."""
    most, d, rest = ordered(x, y)
    e = unclamped_exp((-d).clamped(LEAST[x.element], None))
    u, lost = fast_two_sum(x.like(1), e)
    return where(x.eq(y), x + math.log(2), most + log_of_sum(u, lost - e * rest))


def ordered(x: Term, y: Term) -> tuple[Term, Term, Term]:
    """The greater of two, and how much it is greater, in two parts: e⁻ᵈ would show what the first one lacks."""
    greater = x > y
    most, least = where(greater, x, y), where(greater, y, x)
    d, rest = two_sum(most, -least)
    return most, d, where(d < math.inf, rest, 0)


def logaddexp2(x: Term, y: Term) -> Term:
    most, d, rest = ordered(x, y)
    e = exp2(-d)
    u, lost = fast_two_sum(x.like(1), e)
    return where(x.eq(y), x + 1, most + in_base(TWO, *parts_of_sum(u, lost - e * (rest * math.log(2)))))
