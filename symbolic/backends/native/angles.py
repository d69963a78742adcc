"""How far is an angle from the nearest multiple of π/2, be it as large as numbers go?

Up to some 10⁶ (10⁴ in float32), k times π/2 in three parts is taken off (Cody and Waite 1980). Beyond, the bits of 2/π
that matter for an exponent are multiplied with the number as whole numbers (Payne and Hanek 1983), lane by lane.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from symbolic.backends.native.formulas import (
    Term,
    fast_two_sum,
    magic,
    rarely,
    two_product,
    where,
)
from symbolic.backends.native.text import Function, Module, Value

HALF_PI = {
    "double": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
    "float": (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
}
SHORT = (1.5707963267341256, 6.077094383272197e-11, 6.077100506506192e-11)
"""33 digits of π/2, which times 20 digits are no longer than a double; what a double has beyond them; what π/2 has."""
LIMIT = {"double": 1.6e6, "float": 3e4}
"""Up to here, k has 20 digits and is found by a rounded product, in float32 nearly."""


class Angle(NamedTuple):
    """x = k·π/2 + r + rest, with |r| ≤ π/4 or hardly more."""

    r: Term
    rest: Term
    whole: Term
    """k + magic, whose last bits are those of k."""


def angle(x: Term) -> Angle:
    """The way of large numbers is taken if one lane is beyond the limit."""
    near, large = near_angle(x), abs(x) > LIMIT[x.element]

    def beyond() -> list[Term]:
        return [where(large, there, here) for there, here in zip(far_angle(x), near, strict=True)]

    return Angle(*rarely(large, near, beyond))


def near_angle(x: Term) -> Angle:
    whole = x.muladd(2 / math.pi, magic(x))
    k = whole - magic(x)
    if x.element == "float" and not x.function.module.fma:
        return _by_double(x, k, whole)
    first, second, third = HALF_PI[x.element]
    # no error: what is left is a multiple of the last digits of x and of π/2, and small
    left = k.muladd(-first, x) if x.function.module.fma else (x - k * SHORT[0]) - k * SHORT[1]
    product, lost = two_product(k, x.like(second))
    r = left - product
    return Angle(r, ((left - r) - product) - k.muladd(third, lost), whole)


def _by_double(x: Term, k: Term, whole: Term) -> Angle:
    wide = k.to("double")
    r = (x.to("double") - wide * SHORT[0]) - wide * SHORT[2]
    return Angle(*split(r, x.like(0)), whole)


def split(wide: Term, model: Term) -> tuple[Term, Term]:
    """A double as a sum of two floats; of two doubles, the second is 0."""
    if model.element == "double":
        return wide, model.like(0)
    high = wide.to("float")
    return high, (wide - high.to("double")).to("float")


# ---------------------------------------------------------------------- the way of large numbers
def far_angle(x: Term) -> Angle:
    """In quarters, of the lanes beyond the limit; NaN of ∞."""
    f, value = x.function, x.value
    name = f"far.angle.{value.lanes}{value.element}"
    kind = f"{{ {value.type}, {value.type}, {value.type} }}"
    if not f.module.has(name):
        _write_lanes(f.module.function(name, [value.type], kind, "nounwind noinline cold", private=True), kind)
    large = abs(x)
    safe = where((large > LIMIT[x.element]) & (large < math.inf), x, LIMIT[x.element] * 2)
    answer = f.make(kind, 0, f"call {kind} @{name}({safe.value})")
    r, rest, quarters = (
        Term(f, f.make(value.element, value.lanes, f"extractvalue {kind} {answer.name}, {k}")) for k in range(3)
    )
    return Angle(where(large.eq(math.inf), x.like(math.nan), r), rest, quarters)


def _write_lanes(f: Function, kind: str) -> None:
    (value,) = f.arguments
    name = far_of_one(f.module)
    x = Term(f, value)
    parts: list[Value] = [x.like(0).value] * 3
    for lane in range(max(1, value.lanes)):
        one = Term(f, f.lane(value, lane)).to("double")
        answer = f.make("double", 4, f"call <4 x double> @{name}({one.value})")
        high, low, quarters = (Term(f, f.lane(answer, k)) for k in range(3))
        if value.element == "float":
            short, left = split(high, Term(f, f.constant("float", 0)))
            high, low = short, left
        found = (high, low, quarters.to(value.element) + magic(x))
        parts = [
            f.insert(all_, lane, one.value) if value.lanes else one.value
            for all_, one in zip(parts, found, strict=True)
        ]
    answer = Value(kind, 0, "poison")
    for k, part in enumerate(parts):
        answer = f.make(kind, 0, f"insertvalue {kind} {answer.name}, {part}, {k}")
    f.give(answer)


def far_of_one(module: Module) -> str:
    """The name of a function of a double of at least 1: r, rest, quarters."""
    name = "far.angle.of.one"
    if not module.has(name):
        f = module.function(name, ["double"], "<4 x double>", "nounwind noinline cold", private=True)
        _write_one(f)
    return name


def _write_one(f: Function) -> None:
    """x = m·2ᵉ, and of m·(2/π) the bits from 4 down: two of the quarter, then those of the part of it."""
    x = Term(f, f.arguments[0])
    bits = abs(x).bits
    m = (bits & (1 << 52) - 1) | (1 << 52)
    place = (bits >> 52) - (1075 + 2 - 64)  # of the first bit that counts, in a table that begins with 64 zeros
    table = Value("ptr", 0, f.module.table("i64", two_over_pi()))
    word = place >> 6
    words = [f.load(f.at(table, (word + k).value, "i64"), "i64") for k in range(4)]
    window = [f.intrinsic("fshl", a, b, (place & 63).value) for a, b in pairwise(words)]
    first, second, third = (Term(f, f.convert("zext", one, "i128")) for one in window)
    wide = Term(f, f.convert("zext", m.value, "i128"))
    middle = wide * second + (wide * third >> 64)
    top = (wide * first << 64) + middle  # the bits below are too small to be seen
    quarters = Term(f, f.convert("trunc", (top + (1 << 125) >> 126).value, "i64")) & 3
    fraction = top << 2
    high, low = _fraction(fraction)
    half_pi, half_pi_rest, _ = HALF_PI["double"]
    product, lost = two_product(high, high.like(half_pi))
    r, rest = fast_two_sum(product, lost + high.muladd(half_pi_rest, low * half_pi))
    negative = x < 0
    quarters = where(negative, 4 - quarters, quarters) & 3
    number = Term(f, f.convert("sitofp", quarters.value, "double"))
    answer = f.constant("double", 0, 4)
    for k, part in enumerate((where(negative, -r, r), where(negative, -rest, rest), number)):
        answer = f.insert(answer, k, part.value)
    f.give(answer)


def _fraction(signed: Term) -> tuple[Term, Term]:
    """A whole number of 128 bits over 2¹²⁸, in two parts."""
    f = signed.function
    negative = signed < 0
    size = where(negative, 0 - signed, signed)
    none = f.constant("i1", 0)
    zeros = Term(f, f.make("i128", 0, f"call i128 @llvm.ctlz.i128({size.value}, {none})"))
    f.module.declare("llvm.ctlz.i128", "declare i128 @llvm.ctlz.i128(i128, i1)")
    size = Term(f, f.bits("shl", size.value, zeros.value))
    high = Term(f, f.convert("sitofp", f.convert("trunc", (size >> 75).value, "i64"), "double"))
    low = Term(f, f.convert("sitofp", f.convert("trunc", ((size >> 22) & (1 << 53) - 1).value, "i64"), "double"))
    scale = (1023 - 53 - Term(f, f.convert("trunc", zeros.value, "i64")) << 52).number
    scale = where(negative, -scale, scale)
    return high * scale, low * 2.0**-53 * scale


@cache
def two_over_pi() -> tuple[int, ...]:
    """64 zeros and then the bits of 2/π, in words of 64 bits."""
    size = 64 * 24
    pi = 16 * _arctan_of_one_over(5, size) - 4 * _arctan_of_one_over(239, size)  # Machin 1706
    bits = (2 << 2 * size) // pi
    words = [bits >> 64 * k & (1 << 64) - 1 for k in reversed(range(1, 24))]
    return tuple(word - (word >> 63 << 64) for word in (0, *words))


def _arctan_of_one_over(n: int, size: int) -> int:
    """arctan(1/n)·2ˢⁱᶻᵉ, by its series."""
    power = (1 << size + 16) // n
    total, k = power, 1
    while power:
        power //= -n * n
        k += 2
        total += power // k
    return total >> 16
