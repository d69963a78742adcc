"""How are the inverses of sine, cosine and tangent computed? A polynomial up to ½, and what leads there from beyond."""

from __future__ import annotations

from symbolic.backends.native.angles import HALF_PI
from symbolic.backends.native.coefficients import COEFFICIENTS
from symbolic.backends.native.formulas import Term, fast_two_sum, polynomial, where

HUGE = {"double": 2.0**1020, "float": 2.0**124}


def arcsin(x: Term) -> Term:
    """Beyond ½, π/2 - 2·arcsin √((1 - |x|)/2)."""
    beyond, root, tail = halved(abs(x))
    high, low, _ = HALF_PI[x.element]
    most, lost = fast_two_sum(x.like(high), root * -2)
    far = most + (lost + (low - tail * 2))
    return where(beyond, far, root + tail).signed(x)


def arccos(x: Term) -> Term:
    """π/2 - arcsin x; beyond ½, 2·arcsin √((1 - x)/2), and below -½, π less that of -x."""
    beyond, root, tail = halved(abs(x))
    high, low, _ = HALF_PI[x.element]
    negative = x < 0
    near = high - ((root.signed(x) - low) + tail.signed(x))
    twice = (root + tail) * 2
    far = where(negative, 2 * high - (twice - 2 * low), twice)
    return where(beyond, far, near)


def halved(a: Term) -> tuple[Term, Term, Term]:
    """Whether a is beyond ½; the arcsine of a, or else of √((1 - a)/2), in two parts."""
    beyond = a > 0.5
    square = where(beyond, a.muladd(-0.5, 0.5), a * a)
    root = where(beyond, square.root(), a)
    return beyond, root, root * square * polynomial(square, COEFFICIENTS["arcsin"][a.element])


def arctan(x: Term) -> Term:
    return of_quotient(abs(x), abs(x).like(1)).signed(x)


def of_quotient(a: Term, b: Term, behind: Term | None = None) -> Term:
    """arctan(a/b) of positive a and b, as an angle from 0 to π/2 and, if it is behind the vertical axis, π less that.

    Up to ½ of a/b itself; up to 2 it is π/4 + arctan((a - b)/(a + b)), and then π/2 - arctan(b/a).
    """
    high, low, _ = HALF_PI[a.element]
    small, large = a + a < b, b + b < a
    above = where(small, a, where(large, -b, a - b))
    below = where(small, b, where(large, a, a + b))
    q = above / below
    square = q * q
    tail = q * square * polynomial(square, COEFFICIENTS["arctan"][a.element])
    base = where(small, a.like(0), where(large, a.like(high), high * 0.5))
    rest = where(small, a.like(0), where(large, a.like(low), low * 0.5))
    if behind is not None:
        base, rest = where(behind, 2 * high - base, base), where(behind, 2 * low - rest, rest)
        q, tail = where(behind, -q, q), where(behind, -tail, tail)
    return base + (q + (tail + rest))


def arctan2(y: Term, x: Term) -> Term:
    a, b = abs(y), abs(x)
    both = a.eq(b)  # also 0 and ∞, whose quotient would be NaN
    a, b = where(both & (a > 0), 1, a), where(both, 1, b)
    huge = (a > HUGE[x.element]) | (b > HUGE[x.element])  # the sum may be infinite
    scale = where(huge, x.like(0.25), 1)
    return of_quotient(a * scale, b * scale, x.bits < 0).signed(y)
