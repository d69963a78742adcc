"""How are powers and roots computed? xʸ = exp(y·log x), with a logarithm that has some 15 digits more than a double."""

from __future__ import annotations

import math

from symbolic.backends.native.coefficients import COEFFICIENTS
from symbolic.backends.native.exponentials import LEAST, LN2, MOST, moved, power_less_one, reduced
from symbolic.backends.native.formulas import (
    Term,
    bits_of,
    fast_two_sum,
    magic,
    polynomial,
    power_of_two,
    quotient,
    rarely,
    residual,
    times_power,
    two_product,
    where,
)
from symbolic.backends.native.logarithms import lifted, parts, whole
from symbolic.backends.native.rounding import trunc

THIRD = (1 / 3, 1.850371707708594e-17)


def power(x: Term, y: Term) -> Term:
    """With the special cases of C99, appendix F."""
    a = abs(x)
    bounded = y.clamped(-(2.0**70), 2.0**70)  # beyond, the power is 0, 1 or infinite
    result = power_of_positive(a, bounded) if x.element == "double" else short_power(a, bounded)
    usual = (x > 0) & (x < math.inf) & y.eq(y)
    (result,) = rarely(~usual, [result], lambda: [special_power(x, y, result)])
    return result


def special_power(x: Term, y: Term, result: Term) -> Term:
    """Of numbers that are not positive, or infinite, or NaN; `result` is that of |x|, if that is a positive number."""
    a = abs(x)
    infinite = a.eq(math.inf)
    result = where(infinite | a.eq(0), where(infinite ^ (y < 0), x.like(math.inf), 0), result)
    integral = trunc(y).eq(y)
    odd = integral & trunc(y * 0.5).ne(y * 0.5)
    result = where(odd, result.signed(x), result)
    result = where((x < 0) & ~(integral | infinite), x.like(math.nan), result)
    result = where(x.is_nan() | y.is_nan(), x + y, result)
    return where(y.eq(0) | x.eq(1), 1, result)


def power_of_positive(a: Term, y: Term) -> Term:
    """For a double."""
    high, low = long_log(a)
    product, lost = two_product(y, high)
    lost = where(abs(product) > 800, 0, y.muladd(low, lost))
    by = reduced(product.clamped(LEAST["double"], MOST["double"]))
    high, low = power_less_one(moved(by, lost))
    total, less = fast_two_sum(a.like(1), high)
    return times_power(total + (less + low), by.k, by.rounded)


def long_log(x: Term) -> tuple[Term, Term]:
    """log x in two parts: of artanh s = s + s·z·(1/3 + z·(1/5 + z·T)), z = s², all but the inner bracket."""
    k, f, _ = parts(*lifted(x))
    s, rest = quotient((f, f.like(0)), fast_two_sum(f.like(2), f))
    z, z_rest = two_product(s, s)
    z_rest = (s + s).muladd(rest, z_rest)
    inner, lost = two_product(z, polynomial(z, (0.2, *COEFFICIENTS["log_rest"]["double"])))
    most, least = fast_two_sum(z.like(THIRD[0]), inner)
    least = least + (lost + THIRD[1])
    curve, lost = two_product(z, most)
    lost = z.muladd(least, z_rest.muladd(most, lost))
    product, error = two_product(s, curve)
    twice, less = fast_two_sum(s, product)
    less = less + (rest + s.muladd(lost, rest.muladd(curve, error)))
    high, low = LN2["double"]
    total, error = fast_two_sum(k * high, twice + twice)
    return fast_two_sum(total, error + k.muladd(low, less + less))


def short_power(a: Term, y: Term) -> Term:
    """For float32, in double, where a logarithm has digits enough."""
    k, f, _ = parts(a.to("double"))
    product = (y.to("double") * whole(k, f, kind="between")).clamped(-110, 92)
    rounded = product.muladd(1 / math.log(2), magic(product))
    k = rounded - magic(product)
    r = k.muladd(-math.log(2), product)
    value = (r * r).muladd(polynomial(r, COEFFICIENTS["exp"]["between"]), r) + 1
    return (value * power_of_two(rounded)).to("float")


# ---------------------------------------------------------------------- roots
def hypot(x: Term, y: Term) -> Term:
    a, b = abs(x), abs(y)
    infinite = a.eq(math.inf) | b.eq(math.inf)
    return where(infinite, x.like(math.inf), _long_hypot(a, b) if x.element == "double" else _short_hypot(a, b))


def _short_hypot(a: Term, b: Term) -> Term:
    a, b = a.to("double"), b.to("double")
    return a.muladd(a, b * b).root().to("float")


def _long_hypot(a: Term, b: Term) -> Term:
    """Scaled, where squares would leave the range."""
    most = where(a > b, a, b)
    huge, tiny = most > 2.0**500, most < 2.0**-400
    scale = where(huge, a.like(2.0**-600), where(tiny, a.like(2.0**600), 1))
    back = where(huge, a.like(2.0**600), where(tiny, a.like(2.0**-600), 1))
    a, b = a * scale, b * scale
    return a.muladd(a, b * b).root() * back


def cbrt(x: Term) -> Term:
    """Of m·8ᵏ, 1 ≤ m < 8: r = m⁻¹ᐟ³ by a polynomial and a step of third order, and m·r² with what that lacks."""
    a, more = lifted(abs(x))
    exponent = (a.bits >> a.digits | bits_of(a.element, 2.0**a.digits)).number - (2.0**a.digits + a.bias - more)
    rounded = (exponent - 1).muladd(1 / 3, magic(a))
    left = (rounded - magic(a)).muladd(-3, exponent)
    one, two = left.eq(1), left.eq(2)
    m = (a.bits & (1 << a.digits) - 1 | bits_of(a.element, 1.0)).number
    r = polynomial(m, COEFFICIENTS["cbrt"][a.element]) * where(
        two, a.like(4 ** (-1 / 3)), where(one, a.like(2 ** (-1 / 3)), 1)
    )
    m = m * where(two, a.like(4), where(one, a.like(2), 1))
    h = (r * r).muladd(-(r * m), 1)
    r = (r * h).muladd(h.muladd(2 / 9, 1 / 3), r)
    square = r * r
    root = m * square
    cube, lost = two_product(root, root)
    lack = residual(m, cube, root) - lost * root
    root = (lack * (1 / 3)).muladd(square, root)
    return where((abs(x) > 0) & (abs(x) < math.inf), (root * power_of_two(rounded)).signed(x), x)
