"""What does division leave? All digits, be the quotient as large as numbers go, with the sign that NumPy gives.

A remainder is a floating-point number, and so is a - q·b for each whole q near a/b: if the quotient has not more digits
than a number, one step finds it. Larger ones are made smaller first, 50 binary digits (21 of float32) at a time.
"""

from __future__ import annotations

import math

from symbolic.backends.native.formulas import Term, rarely, residual, where
from symbolic.backends.native.logarithms import NORMAL
from symbolic.backends.native.rounding import floor, trunc
from symbolic.backends.native.text import Function


def fmod(x: Term, y: Term) -> Term:
    """With the sign of x."""
    a, b = abs(x), abs(y)
    fine = (a < math.inf) & (b > 0)
    a, b = where(fine, a, 0), where(fine, b, 1)
    a = reduced(a, b)
    left = one_step(a, b)
    return where(fine, left, where(x.is_nan() | y.is_nan(), x + y, x.like(math.nan))).signed(x)


def remainder(x: Term, y: Term) -> Term:
    """With the sign of y."""
    return moved(fmod(x, y), y)


def moved(left: Term, y: Term) -> Term:
    other = (left < 0) ^ (y < 0)
    return where(left.eq(0), x_zero(y), where(other, left + y, left))


def x_zero(y: Term) -> Term:
    return y.like(0).signed(y)


def floor_divide(x: Term, y: Term) -> Term:
    """(x - remainder)/y, rounded to a whole number; x/0 is what division gives."""
    left = fmod(x, y)
    quotient = (x - left) / y
    quotient = where(left.ne(0) & ((left < 0) ^ (y < 0)), quotient - 1, quotient)
    below = floor(quotient)
    nearest = where(quotient - below > 0.5, below + 1, below)
    plain = x / y
    return where(y.eq(0), plain, where(quotient.eq(0), x_zero(plain), nearest))


def one_step(a: Term, b: Term) -> Term:
    """a modulo b, if the quotient has not more digits than a number."""
    if not a.function.module.fma:  # the product of halves may then be infinite
        scale = where(b > 1, a.like(2.0**-60), 1)
        left = exact(a * scale, b * scale) / scale
    else:
        left = exact(a, b)
    return where(a < b, a, left)


def exact(a: Term, b: Term) -> Term:
    left = residual(a, trunc(a / b), b)
    return where(left < 0, left + b, left)


# ---------------------------------------------------------------------- large quotients
def reduced(a: Term, b: Term) -> Term:
    """A number congruent to a that is not much larger than b."""
    f, kind = a.function, a.value.type
    name = f"far.remainder.{a.value.lanes}{a.element}"

    def by_steps() -> list[Term]:
        if not f.module.has(name):
            _write_steps(f.module.function(name, [kind, kind], kind, "nounwind noinline cold", private=True))
        return [Term(f, f.make(a.element, a.value.lanes, f"call {kind} @{name}({a.value}, {b.value})"))]

    (result,) = rarely(too_large(a, b), [a], by_steps)
    return result


def too_large(a: Term, b: Term) -> Term:
    return a * 2.0**-a.digits > b


def _write_steps(f: Function) -> None:
    a, b = (Term(f, one) for one in f.arguments)
    place = f.variable(a.value)
    again, done = f.label("again"), f.label("done")
    f.jump(again)
    f.start(again)
    a = Term(f, f.get(place, a.element, a.value.lanes))
    f.put(step(a, b).value, place)
    a = Term(f, f.get(place, a.element, a.value.lanes))
    f.branch(f.across("or", too_large(a, b).value), again, done)
    f.start(done)
    f.give(a.value)


def step(a: Term, b: Term) -> Term:
    """a modulo b·2ᵉ, with e such that the quotient has nearly the digits of a number; a itself if it is small."""
    lift = a.digits + 2
    denormal = b < NORMAL[b.element]
    exponent = where(denormal, (b * 2.0**lift).bits, b.bits) >> b.digits
    e = (a.bits >> a.digits) - where(denormal, exponent - lift, exponent) - (a.digits - 1)
    half = e >> 1  # two factors, for 2ᵉ may be out of range where the product is not
    first, second = (((one + a.bias) << a.digits).number for one in (half, e - half))
    return where(too_large(a, b), one_step(a, b * first * second), a)
