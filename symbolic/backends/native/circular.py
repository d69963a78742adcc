"""How are sine, cosine and tangent computed? A polynomial of the distance to the nearest multiple of π, or of π/2."""

from __future__ import annotations

import math

from symbolic.backends.native.angles import angle
from symbolic.backends.native.coefficients import COEFFICIENTS
from symbolic.backends.native.formulas import (
    Term,
    fast_two_sum,
    horner,
    quotient,
    two_parts,
    two_product,
    where,
)
from symbolic.backends.native.rounding import rint
from symbolic.backends.native.text import BITS

PI = (3.141592653589793, 1.2246467991473532e-16)


def sin(x: Term) -> Term:
    return where(abs(x) < 2.0**-28, x, turned(x, 0))


def cos(x: Term) -> Term:
    return turned(x, 1)


def turned(x: Term, quarters: int) -> Term:
    """sin(x + quarters·π/2)."""
    by = angle(x)
    k = by.whole.bits + quarters if quarters else by.whole.bits
    value = where((k & 1).ne(0), sum_of(cosine(by.r, by.rest)), sum_of(sine(by.r, by.rest)))
    bits = BITS[k.element]
    return (value.bits ^ (k << bits - 2 & 1 << bits - 1)).number


def sum_of(pair: tuple[Term, Term]) -> Term:
    return pair[0] + pair[1]


def sine(r: Term, rest: Term) -> tuple[Term, Term]:
    """sin(r + rest) for |r| ≤ π/4, in two parts."""
    square = r * r
    return r, (r * square).muladd(horner(square, COEFFICIENTS["sin"][r.element]), rest)


def cosine(r: Term, rest: Term) -> tuple[Term, Term]:
    """cos(r + rest) for |r| ≤ π/4, in two parts."""
    square = r * r
    tail = (square * square).muladd(horner(square, COEFFICIENTS["cos"][r.element]), r * -rest)
    most, lost = fast_two_sum(r.like(1), square * -0.5)
    return most, lost + tail


def tan(x: Term) -> Term:
    """sin r/cos r, or -cos r/sin r in odd quarters."""
    by = angle(x)
    sines, cosines = fast_two_sum(*sine(by.r, by.rest)), fast_two_sum(*cosine(by.r, by.rest))
    odd = (by.whole.bits & 1).ne(0)
    (above, below), (more, less) = ((where(odd, -b, a), where(odd, a, b)) for a, b in zip(sines, cosines, strict=True))
    q, lack = quotient((above, more), (below, less))
    return where(abs(x) < 2.0**-28, x, q + lack)


def sinc(x: Term) -> Term:
    """sin(π·x)/(π·x), the angle taken of x and not of the rounded product."""
    quarters = rint(x + x)
    part = x - quarters * 0.5
    turns = quarters - 4 * rint(quarters * 0.25)  # from -2 to 2
    high, low = two_parts(x.element, *PI)
    r, lost = two_product(part, x.like(high))
    rest = part.muladd(low, lost)
    odd = abs(turns).eq(1)
    above = [where(odd, b, a) for a, b in zip(sine(r, rest), cosine(r, rest), strict=True)]
    negative = turns.eq(-1) | abs(turns).eq(2)
    top = fast_two_sum(*(where(negative, -one, one) for one in above))
    product, lost = two_product(x, x.like(high))
    q, lack = quotient(top, (product, x.muladd(low, lost)))
    size = abs(x)
    far = where(size < math.inf, x.like(0), x.like(0) * x)
    return where(size < 2.0**-30, x.like(1), where(size > 2.0**60, far, q + lack))
