"""How are the error function and the normal distribution computed, the tails with all their digits?

erf x = 1 - exp(-x·q(x)) needs no tail, and one polynomial serves from 0 to where it is 1. The tails are
exp(-x²)·p(t)/(x + d) with t = (x - c)/(x + c), which takes the whole half line into a short interval (Shepherd and
Laframboise 1981); the square is taken in two parts, since its error would be the exponent's. Where one instruction
finds coefficients in a table, sixteen shorter polynomials take the place of p(t)/(x + d).
"""

from __future__ import annotations

from typing import NamedTuple

from symbolic.backends.native.coefficients import COEFFICIENTS, FIRST_RESTS
from symbolic.backends.native.exponentials import Power, inverse_power, moved, power_of_e, reduced, reduced_expm1
from symbolic.backends.native.formulas import (
    Term,
    fast_two_sum,
    has_tables,
    one_of_sixteen,
    polynomial,
    quotient,
    residual,
    times_power,
    two_parts,
    two_product,
    where,
)
from symbolic.backends.native.logarithms import log_of_sum
from symbolic.backends.native.tables import TABLES


class Tail(NamedTuple):
    """exp(-x²·factor)·p(t)/(x + pole) of t = (x - centre)/(x + centre), as it stands in `coefficients`."""

    name: str
    factor: float
    pole: float
    centre: float
    end: dict[str, float]
    """Beyond, it is 0. Its square has no error."""


ERFC = Tail("erfc", 1.0, 0.875, 3.5, {"double": 27.5, "float": 10.125})
NORMAL = Tail("ndtr", 0.5, 1.25, 5.0, {"double": 38.75, "float": 14.5})
SLOPE = (1.1283791670955126, 1.533545961316588e-17)
"""2/√π."""


def erf(x: Term) -> Term:
    name, end = {"double": ("erf", 5.93), "float": ("erf_short", 3.95)}[x.element]
    a = abs(x).clamped(None, end)
    slope, least = two_parts(x.element, *SLOPE)
    q, lost = fast_two_sum(x.like(slope), a * polynomial(a, COEFFICIENTS[name][x.element]))
    exponent, rest = two_product(a, q)
    by = moved(reduced(-exponent), -a.muladd(lost + least, rest))
    return reduced_expm1(by, inverse_power(by)).signed(x)


def scaled(kind: Tail, a: Term) -> tuple[Term, Term]:
    """The tail over its exponential, in two parts."""
    name = kind.name if a.element == "double" else f"{kind.name}_short"
    t = (a - kind.centre) / (a + kind.centre)
    below = a + kind.pole
    lost = a - (below - kind.pole)
    first, *others = COEFFICIENTS[name][a.element]
    p, least = fast_two_sum(t.like(first), t * polynomial(t, others))
    return quotient((p, least + FIRST_RESTS[name][a.element]), (below, lost))


def looked_up(kind: Tail, a: Term) -> tuple[Term, Term]:
    """The same by the polynomial of the piece in which a is, up to the end."""
    table = TABLES[kind.name]
    t = 1 / (a + table.pole)
    at = t.muladd(table.factor, table.start).bits >> t.digits - 4
    u = (a - one_of_sixteen(at, table.centres)) * t
    first, *others = [one_of_sixteen(at, row) for row in table.coefficients]
    return fast_two_sum(first, u * polynomial(u, others))


class Value(NamedTuple):
    """2ᵏ·(power + less)·(scaled + rest)."""

    by: Power
    power: Term
    less: Term
    scaled: Term
    rest: Term

    @property
    def term(self) -> Term:
        rest = self.less.muladd(self.scaled, self.power * self.rest)
        return times_power(self.power.muladd(self.scaled, rest), self.by.k, self.by.rounded)

    @property
    def parts(self) -> tuple[Term, Term]:
        """The same in two parts."""
        product, error = two_product(self.power, self.scaled)
        parts = fast_two_sum(product, self.less.muladd(self.scaled, self.power.muladd(self.rest, error)))
        value, rest = (times_power(one, self.by.k, self.by.rounded) for one in parts)
        return value, rest


def tail(kind: Tail, x: Term) -> Value:
    """For |x|: the exponential of the rounded exponent, which gradients need, too; what rounding took comes after."""
    square = x * x
    by = power_of_e(-square if kind.factor == 1 else square * -kind.factor)
    power, less = by.parts
    end = kind.end[x.element]
    a = abs(x).clamped(None, end)
    lost = residual(square.clamped(None, end * end), a, a) * kind.factor
    return Value(by, power, power.muladd(lost, less), *(looked_up if has_tables(a) else scaled)(kind, a))


def erfc(x: Term) -> Term:
    value = tail(ERFC, x).term
    return where(x < 0, 2 - value, value)


def ndtr(x: Term) -> Term:
    """Φ, the distribution function of the standard normal."""
    value = tail(NORMAL, x).term
    return where(x > 0, 1 - value, value)


def log_ndtr(x: Term) -> Term:
    """log Φ: of a positive x log(1 - Φ(-x)), of a negative one log of the scaled tail less x²/2."""
    a = abs(x).clamped(None, {"double": 1e200, "float": 1e30}[x.element])
    value, rest = tail(NORMAL, x).parts
    sum_, lost = fast_two_sum(x.like(1), -value)
    ahead, more = scaled(NORMAL, a)
    positive = x > 0
    log = log_of_sum(where(positive, sum_, ahead), where(positive, lost - rest, more))
    return where(positive, log, log - a * 0.5 * a).signed(x.like(-1))
