"""What do whole numbers, signs, remainders and the greater of two mean, lane by lane, as NumPy means them?"""

from __future__ import annotations

from symbolic.backends.native.formulas import Term, where


def sqrt(x: Term) -> Term:
    return x.root()


# ---------------------------------------------------------------------- whole numbers
def rint(x: Term) -> Term:
    """Half to even; ±0, also where it is the result, keeps its sign."""
    return x.intrinsic("roundeven") if has_instructions(x) else nearest(x)


def floor(x: Term) -> Term:
    if has_instructions(x):
        return x.intrinsic("floor")
    near = nearest(x)
    return where(near > x, near - 1, near).signed(x)


def ceil(x: Term) -> Term:
    if has_instructions(x):
        return x.intrinsic("ceil")
    near = nearest(x)
    return where(near < x, near + 1, near).signed(x)


def trunc(x: Term) -> Term:
    return x.intrinsic("trunc") if has_instructions(x) else floor(abs(x)).signed(x)


def has_instructions(x: Term) -> bool:
    """Whether there are any for whole numbers: SSE2, which has no fma either, would call the C library."""
    return x.function.module.fma


def nearest(x: Term) -> Term:
    """By a sum in which the last digit is that of the units."""
    size = abs(x)
    units = 2.0**x.digits
    return where(size < units, (size + units) - units, size).signed(x)


# ---------------------------------------------------------------------- signs
def absolute(x: Term) -> Term:
    return abs(x)


def sign(x: Term) -> Term:
    """0 of -0, as in NumPy."""
    return where(abs(x) > 0, x.like(1).signed(x), x + 0)


def copysign(x: Term, y: Term) -> Term:
    return x.signed(y)


# ---------------------------------------------------------------------- the greater of two
def maximum(x: Term, y: Term) -> Term:
    """NaN if one is NaN; of two zeros the second. The inner choice is an instruction, in which the second is it, too,
    where one is NaN.
    """
    return where(x.is_nan(), x, where(x > y, x, y))


def minimum(x: Term, y: Term) -> Term:
    return where(x.is_nan(), x, where(x < y, x, y))


def fmax(x: Term, y: Term) -> Term:
    """NaN only if both are."""
    return where(y.is_nan(), x, where(x > y, x, y))


def fmin(x: Term, y: Term) -> Term:
    return where(y.is_nan(), x, where(x < y, x, y))
