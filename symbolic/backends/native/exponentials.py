"""How are eˣ and what is made of it computed? eˣ = 2ᵏ·eʳ with |r| ≤ ln 2 / 2, and a polynomial for eʳ. Where an
instruction finds 2^(j/16) in a table, |r| ≤ ln 2 / 32, and the polynomial is half as long.

ln 2 is taken in two parts, the first so short that its product with k has no error (Cody and Waite 1980).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from symbolic.backends.native.coefficients import COEFFICIENTS
from symbolic.backends.native.formulas import (
    Term,
    bits_of,
    fast_two_sum,
    has_tables,
    horner,
    magic,
    one_of_sixteen,
    polynomial,
    quotient,
    times_power,
    where,
)
from symbolic.backends.native.tables import ROOTS

LN2 = {  # the first part ends in as many zeros as k has digits
    "double": (0.6931471803691238, 1.9082149292705877e-10),
    "float": (0.693359375, -0.00021219444),
}
LEAST = {"double": -746.0, "float": -104.5}
"""Below, eˣ is less than half of the least number, and 0."""
MOST = {"double": 710.0, "float": 89.0}
"""From here on, eˣ is infinite: as 2ᵏ·eʳ, without being looked at."""
LEAST_EXPM1 = {"double": -40.0, "float": -20.0}
"""Below, eˣ - 1 is -1."""


class Reduced(NamedTuple):
    """x = k·ln 2 + r + rest."""

    k: Term
    rounded: Term
    """k + magic, whose bits hold k."""
    r: Term
    rest: Term


def reduced(x: Term) -> Reduced:
    """For |x| of at most 2¹⁰·ln 2, or 2⁷·ln 2 in float32."""
    high, low = LN2[x.element]
    rounded = x.muladd(1 / math.log(2), magic(x))
    k = rounded - magic(x)
    near = k.muladd(-high, x)
    far = k * low
    r = near - far
    return Reduced(k, rounded, r, (near - r) - far)


def moved(by: Reduced, more: Term) -> Reduced:
    """That of x + more, which is below the last digit of x, though perhaps not of r."""
    r, rest = fast_two_sum(by.r, more)  # if r is the smaller one, k is not 0, and what that costs is below 1's digits
    return Reduced(by.k, by.rounded, r, rest + by.rest)


class Power(NamedTuple):
    """2ᵏ·(1 + rest), or with a root of 2 that was looked up 2ᵏ·(root + lost)·(1 + rest), k rounded down."""

    k: Term
    rounded: Term
    rest: Term
    root: tuple[Term, Term] | None = None

    @property
    def parts(self) -> tuple[Term, Term]:
        """What 2ᵏ is multiplied with: as a number, and what rounding took from it."""
        if self.root is None:
            value = self.rest + 1
            return value, self.rest - (value - 1)
        root, lost = self.root
        value = root.muladd(self.rest, root)
        return value, root.intrinsic("fma", self.rest, root - value) + lost


def exp(x: Term) -> Term:
    return value_of(power_of_e(x))


def unclamped_exp(x: Term) -> Term:
    return value_of(unclamped_power_of_e(x))


def value_of(power: Power) -> Term:
    return times_power(power.parts[0], power.k, power.rounded)


def power_of_e(x: Term) -> Power:
    """eˣ. Where two formulas of one loop need that of one x, LLVM computes it once."""
    return unclamped_power_of_e(x.clamped(LEAST[x.element], MOST[x.element]))


def unclamped_power_of_e(x: Term) -> Power:
    """The same for |x| up to 1075·ln 2. Where one instruction finds 16th roots in a table, r is a 16th part."""
    high, low = LN2[x.element]
    tabled = has_tables(x)
    unit = magic(x) / (16 if tabled else 1)
    rounded = x.muladd(1 / math.log(2), unit)
    k = rounded - unit
    r = k.muladd(-low, k.muladd(-high, x))
    rest = (r * r).muladd(polynomial(r, COEFFICIENTS["exp_of_16th" if tabled else "exp"][x.element]), r)
    if not tabled:
        return Power(k, rounded, rest)
    root, lost = (one_of_sixteen(rounded.bits, row) for row in ROOTS)
    return Power(k, rounded, rest, (root, lost))


def exp2(x: Term) -> Term:
    x = x.clamped(*{"double": (-1076.0, 1025.0), "float": (-151.0, 129.0)}[x.element])
    rounded = x + magic(x)
    k = rounded - magic(x)
    r = x - k
    return times_power(r.muladd(polynomial(r, COEFFICIENTS["exp2"][x.element]), 1), k, rounded)


# ---------------------------------------------------------------------- differences of eˣ and 1
def power_less_one(by: Reduced) -> tuple[Term, Term]:
    """eʳ - 1, in two parts."""
    r = by.r
    tail = (r * r).muladd(polynomial(r, COEFFICIENTS["expm1"][r.element]), by.rest)
    return fast_two_sum(r, tail)


def inverse_power(by: Reduced) -> Term:
    """2⁻ᵏ, for a normal one."""
    bits = by.rounded.bits
    return (bits_of(by.k.element, 1.0) - (bits << bits.digits)).number


def expm1(x: Term) -> Term:
    by = reduced(x.clamped(LEAST_EXPM1[x.element], MOST[x.element]))
    inverse = where(by.k > 100, 0, inverse_power(by))  # nobody sees the difference, and it may be out of range
    return reduced_expm1(by, inverse).signed(x)


def reduced_expm1(by: Reduced, inverse: Term) -> Term:
    """2ᵏ·(eʳ - 1 + (1 - 2⁻ᵏ))."""
    high, low = power_less_one(by)
    total, lost = fast_two_sum(1 - inverse, high)
    return times_power(total + (lost + low), by.k, by.rounded)


def tanh(x: Term) -> Term:
    """(e²ˣ - 1)/(e²ˣ + 1), above and below divided by 2ᵏ."""
    a = abs(x)
    by = reduced((a + a).clamped(None, {"double": 44.0, "float": 20.0}[x.element]))
    inverse = inverse_power(by)
    high, low = power_less_one(by)
    above, lost = fast_two_sum(1 - inverse, high)
    below, less = fast_two_sum(inverse + 1, high)
    q, lack = quotient((above, lost + low), (below, less + low))
    return (q + lack).signed(x)


def expit(x: Term) -> Term:
    """1/(1 + e⁻ˣ), and eˣ/(1 + eˣ) for negative x."""
    by = reduced((-abs(x)).clamped(LEAST[x.element], None))
    high, low = power_less_one(by)
    high, lost = fast_two_sum(x.like(1), high)
    e = times_power(high, by.k, by.rounded)
    rest = (lost + low) * e * (2 - high)  # divided by eʳ, nearly
    below, less = fast_two_sum(x.like(1), e)
    negative = x < 0
    q, lack = quotient((where(negative, e, 1), where(negative, rest, 0)), (below, less + rest))
    return q + lack


# ---------------------------------------------------------------------- sums and differences of eˣ and e⁻ˣ
def halves_of_powers(x: Term) -> tuple[Reduced, Term, Term, Term, Term]:
    """For |x| = k·ln 2 + r: the reduction; (1 ± 4⁻ᵏ)/2; cosh r - 1 and sinh r - r."""
    by = reduced(abs(x).clamped(None, MOST[x.element] + 1))
    bits = by.rounded.bits
    inverse = (bits_of(x.element, 1.0) - (bits << (bits.digits + 1))).number
    inverse = where(by.k > 50, 0, inverse)
    square = by.r * by.r
    coefficients = COEFFICIENTS["expm1"][x.element]
    even, odd = horner(square, coefficients[::2]) * square, horner(square, coefficients[1::2]) * square
    return by, inverse.muladd(0.5, 0.5), inverse.muladd(-0.5, 0.5), even, odd.muladd(by.r, by.rest)


def sinh(x: Term) -> Term:
    """2ᵏ·(½(1 - 4⁻ᵏ)·cosh r + ½(1 + 4⁻ᵏ)·sinh r)."""
    by, plus, minus, cosh_rest, sinh_rest = halves_of_powers(x)
    total, lost = fast_two_sum(minus, plus * by.r)
    total = total + minus.muladd(cosh_rest, plus.muladd(sinh_rest, lost))
    return times_power(total, by.k, by.rounded).signed(x)


def cosh(x: Term) -> Term:
    by, plus, minus, cosh_rest, sinh_rest = halves_of_powers(x)
    total, lost = fast_two_sum(plus, minus * by.r)
    total = total + plus.muladd(cosh_rest, minus.muladd(sinh_rest, lost))
    return times_power(total, by.k, by.rounded)
