"""What do whole numbers, signs, remainders and the greater of two mean, lane by lane, as NumPy means them?"""

from __future__ import annotations

from symbolic.backends.native.formulas import Term, where


def sqrt(x: Term) -> Term:
    return x.root()


def floor(x: Term) -> Term:
    return whole(x, "floor")


def ceil(x: Term) -> Term:
    return whole(x, "ceil")


def trunc(x: Term) -> Term:
    return whole(x, "trunc")


def rint(x: Term) -> Term:
    """Half to even."""
    return whole(x, "roundeven")


def whole(x: Term, how: str) -> Term:
    return x.intrinsic(how)


def absolute(x: Term) -> Term:
    return abs(x)


def sign(x: Term) -> Term:
    """±0 and NaN as they are."""
    return where(abs(x) > 0, x.like(1).signed(x), x)


def copysign(x: Term, y: Term) -> Term:
    return x.signed(y)


# ---------------------------------------------------------------------- the greater of two
def maximum(x: Term, y: Term) -> Term:
    """NaN if one is NaN."""
    return where((x >= y) | x.is_nan(), x, y)


def minimum(x: Term, y: Term) -> Term:
    return where((x <= y) | x.is_nan(), x, y)


def fmax(x: Term, y: Term) -> Term:
    """NaN only if both are."""
    return where((x >= y) | y.is_nan(), x, y)


def fmin(x: Term, y: Term) -> Term:
    return where((x <= y) | y.is_nan(), x, y)
