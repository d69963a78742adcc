"""How does a formula on values of LLVM read? As one on numbers: `(x * x + 1).root()`, and each operation is a line.

No operation here may be fused or reordered with another: sums and products that rely on how they are rounded stay as
they are written. Where a product may be rounded once or twice with its sum, `muladd` says so.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import reduce

from symbolic.backends.native.text import BITS, Function, Value, number


class Term:
    """A value within the function that is being written; an operation with it writes a line.

    Floating-point comparisons are false for NaN, but `ne`; shifts to the right shift zeros in.
    """

    __slots__ = ("function", "value")
    function: Function
    value: Value

    def __init__(self, function: Function, value: Value) -> None:
        self.function, self.value = function, value

    # ------------------------------------------------------------------ arithmetic
    def like(self, number: Term | float) -> Term:
        """A constant in every lane."""
        return number if isinstance(number, Term) else Term(self.function, self.function.like(self.value, number))

    def _two(self, floating: str, whole: str, other: Term | float) -> Term:
        operation = floating if self.value.is_float else whole
        return Term(self.function, self.function.two(operation, self.value, self.like(other).value))

    def __add__(self, other: Term | float) -> Term:
        return self._two("fadd", "add", other)

    def __sub__(self, other: Term | float) -> Term:
        return self._two("fsub", "sub", other)

    def __mul__(self, other: Term | float) -> Term:
        return self._two("fmul", "mul", other)

    def __truediv__(self, other: Term | float) -> Term:
        return self._two("fdiv", "", other)

    def __radd__(self, other: float) -> Term:
        return self.like(other) + self

    def __rsub__(self, other: float) -> Term:
        return self.like(other) - self

    def __rmul__(self, other: float) -> Term:
        return self.like(other) * self

    def __rtruediv__(self, other: float) -> Term:
        return self.like(other) / self

    def __neg__(self) -> Term:
        return Term(self.function, self.function.neg(self.value))

    def intrinsic(self, name: str, *others: Term | float) -> Term:
        return Term(self.function, self.function.intrinsic(name, self.value, *(self.like(one).value for one in others)))

    def muladd(self, by: Term | float, plus: Term | float) -> Term:
        """self · by + plus, rounded once or twice."""
        return self.intrinsic("fmuladd", by, plus)

    def __abs__(self) -> Term:
        return self.intrinsic("fabs")

    def root(self) -> Term:
        return self.intrinsic("sqrt")

    def signed(self, like: Term) -> Term:
        """With the sign of another, be it that of a zero."""
        return self.intrinsic("copysign", like)

    # ------------------------------------------------------------------ bits
    def __lshift__(self, other: int) -> Term:
        return self._two("", "shl", other)

    def __rshift__(self, other: int) -> Term:
        return self._two("", "lshr", other)

    def __and__(self, other: Term | int) -> Term:
        return self._two("", "and", other)

    def __or__(self, other: Term | int) -> Term:
        return self._two("", "or", other)

    def __xor__(self, other: Term | int) -> Term:
        return self._two("", "xor", other)

    def __invert__(self) -> Term:
        return Term(self.function, self.function.invert(self.value))

    @property
    def bits(self) -> Term:
        return Term(self.function, self.function.as_bits(self.value))

    @property
    def number(self) -> Term:
        """The floating-point number that has these bits."""
        return Term(self.function, self.function.as_float(self.value))

    def to(self, element: str) -> Term:
        """The same numbers as `double` or as `float`."""
        if self.value.element == element:
            return self
        operation = "fpext" if element == "double" else "fptrunc"
        return Term(self.function, self.function.convert(operation, self.value, element))

    # ------------------------------------------------------------------ comparisons
    def _compare(self, floating: str, whole: str, other: Term | float) -> Term:
        how = floating if self.value.is_float else whole
        return Term(self.function, self.function.compare(how, self.value, self.like(other).value))

    def __lt__(self, other: Term | float) -> Term:
        return self._compare("olt", "slt", other)

    def __le__(self, other: Term | float) -> Term:
        return self._compare("ole", "sle", other)

    def __gt__(self, other: Term | float) -> Term:
        return self._compare("ogt", "sgt", other)

    def __ge__(self, other: Term | float) -> Term:
        return self._compare("oge", "sge", other)

    def eq(self, other: Term | float) -> Term:
        return self._compare("oeq", "eq", other)

    def ne(self, other: Term | float) -> Term:
        return self._compare("une", "ne", other)

    def is_nan(self) -> Term:
        return self._compare("uno", "", self)

    def clamped(self, low: float | None, high: float | None) -> Term:
        """Within bounds; NaN stays NaN, which is why the bound is compared with x and not x with the bound."""
        if low is not None:
            self = where(self.like(low) > self, low, self)
        return self if high is None else where(self.like(high) < self, high, self)

    # ------------------------------------------------------------------ what the type has
    @property
    def element(self) -> str:
        return self.value.element

    @property
    def digits(self) -> int:
        """Bits after the leading one: 52 or 23."""
        return {"double": 52, "i64": 52, "float": 23, "i32": 23}[self.value.element]

    @property
    def bias(self) -> int:
        return 1023 if BITS[self.value.element] == 64 else 127


def where(condition: Term, a: Term | float, b: Term | float) -> Term:
    """a in the lanes where the condition holds, b in the others."""
    model = a if isinstance(a, Term) else b
    assert isinstance(model, Term), "one of the two has a type"
    f = condition.function
    return Term(f, f.select(condition.value, model.like(a).value, model.like(b).value))


def rarely(condition: Term, usual: Sequence[Term], instead: Callable[[], Sequence[Term]]) -> list[Term]:
    """Values as usual, and where a lane meets the condition, all lanes of others, which are computed only then."""
    f = condition.function
    before, then, done = f.block, f.label("rare"), f.label("usual")
    f.branch(f.across("or", condition.value), then, done)
    f.start(then)
    others, after = instead(), f.block
    f.jump(done)
    f.start(done)
    return [
        Term(
            f,
            f.make(
                a.element,
                a.value.lanes,
                f"phi {a.value.type} [ {a.value.name}, %{before} ], [ {b.value.name}, %{after} ]",
            ),
        )
        for a, b in zip(usual, others, strict=True)
    ]


def bits_of(element: str, number: float) -> int:
    """The bits of a number, as a whole number."""
    ways = ("<d", "<q") if BITS[element] == 64 else ("<f", "<i")
    return int(struct.unpack(ways[1], struct.pack(ways[0], number))[0])


def two_parts(element: str, high: float, low: float) -> tuple[float, float]:
    """A constant of twice the digits of a double, as the same of another type."""
    if element == "double":
        return high, low
    short = float(struct.unpack("<f", struct.pack("<f", high))[0])
    return short, high - short + low


def polynomial(x: Term, coefficients: Sequence[Term | float]) -> Term:
    """Σ cₖ·xᵏ: from six terms on, even and odd powers side by side, which halves the time of one."""
    if len(coefficients) < 6:
        return horner(x, coefficients)
    square = x * x
    return horner(square, coefficients[1::2]).muladd(x, horner(square, coefficients[::2]))


def horner(x: Term, coefficients: Sequence[Term | float]) -> Term:
    *rest, last = map(x.like, coefficients)
    return reduce(lambda total, c: total.muladd(x, c), reversed(rest), last)


# ---------------------------------------------------------------------- sums and products without error
def fast_two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """a + b and what rounding took from it, if |a| ≥ |b| or a = 0 (Dekker 1971)."""
    total = a + b
    return total, b - (total - a)


def two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """The same for any a and b (Knuth)."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def two_product(a: Term, b: Term) -> tuple[Term, Term]:
    """a · b and what rounding took from it: by one fma, or by halves of the digits (Dekker 1971, Veltkamp)."""
    product = a * b
    if a.function.module.fma:
        return product, a.intrinsic("fma", b, -product)
    (high, low), (other, rest) = halves(a), halves(b)
    return product, ((high * other - product) + high * rest + low * other) + low * rest


def residual(a: Term, q: Term, d: Term) -> Term:
    """a - q·d for q = a/d, without error."""
    if a.function.module.fma:
        return (-q).intrinsic("fma", d, a)
    product, lost = two_product(q, d)
    return (a - product) - lost


def quotient(a: tuple[Term, Term], d: tuple[Term, Term]) -> tuple[Term, Term]:
    """The quotient of two numbers in two parts each, and what it still lacks."""
    inverse = 1 / d[0]
    q = a[0] * inverse
    lack = residual(a[0], q, d[0]) + (-q).muladd(d[1], a[1])
    return q, lack * inverse


def halves(a: Term) -> tuple[Term, Term]:
    """a as a sum of two numbers of half its digits."""
    far = a * (134217729.0 if a.element == "double" else 4097.0)
    high = far - (far - a)
    return high, a - high


# ---------------------------------------------------------------------- powers of two
def magic(x: Term) -> float:
    """A number whose ulp is 1: added to a small one, it rounds that half to even, and its last bits hold the result."""
    return 1.5 * 2.0**x.digits


def power_of_two(rounded: Term) -> Term:
    """2ᵏ of k + magic, for k within the normal exponents."""
    bits = rounded.bits
    return ((bits << bits.digits) + bits_of(bits.element, 1.0)).number


def times_power(x: Term, k: Term, rounded: Term) -> Term:
    """x · 2ᵏ, rounded once where it is denormal, for any whole k of twice the exponents; `rounded` is k + magic."""
    if _has_avx512(x):
        return _avx512(x, "scalef", k)
    half = k.muladd(0.5, magic(x))  # two factors, for 2ᵏ may be out of range where the product is not
    bits = half.bits
    rest = (rounded.bits - bits << bits.digits) + bits_of(bits.element, 1.0)
    return x * power_of_two(half) * rest.number


def exponent_and_mantissa(x: Term) -> tuple[Term, Term] | None:
    """k and m of |x| = 2ᵏ·m with 3/4 ≤ m < 3/2, where one instruction finds each: only with AVX-512.

    Of zeros they are -∞ and 1, of ∞ they are ∞ and 1; of what is negative, and of NaN, m is NaN.
    """
    if not _has_avx512(x):
        return None
    mantissa = _avx512(x, "getmant", "i32 15")  # 3 is the interval; 4 and 8 make m positive, or NaN
    return _avx512(x, "getexp") - _avx512(mantissa, "getexp"), mantissa


def has_tables(x: Term) -> bool:
    """Whether `one_of_sixteen` is an instruction."""
    return x.element == "double" and x.value.lanes == 8 and _has_avx512(x)


def one_of_sixteen(at: Term, numbers: Sequence[float]) -> Term:
    """In each lane the number that the last four digits of `at` name."""
    f, kind, whole = at.function, "<8 x double>", "<8 x i64>"
    words = [f"double {number('double', one)}" for one in numbers]
    low, high = (f"{kind} <{', '.join(one)}>" for one in (words[:8], words[8:]))
    name = "llvm.x86.avx512.vpermi2var.pd.512"
    f.module.declare(name, f"declare {kind} @{name}({kind}, {whole}, {kind})")
    return Term(f, f.make("double", 8, f"call {kind} @{name}({low}, {at.value}, {high})"))


def _has_avx512(x: Term) -> bool:
    return x.function.module.scalef and BITS[x.element] * x.value.lanes in (128, 256, 512)


def _avx512(x: Term, name: str, *more: Term | str) -> Term:
    """One of the instructions that have no name in LLVM for all processors."""
    f, kind, mask = x.function, x.value.type, f"i{max(8, x.value.lanes)}"
    width = BITS[x.element] * x.value.lanes
    full = f"llvm.x86.avx512.mask.{name}.p{x.element[0].replace('f', 's')}.{width}"
    rounds = width == 512
    kinds = [kind, *("i32" if isinstance(one, str) else kind for one in more), kind, mask, *["i32"] * rounds]
    f.module.declare(full, f"declare {kind} @{full}({', '.join(kinds)})")
    others = [one if isinstance(one, str) else str(one.value) for one in more]
    given = [str(x.value), *others, str(x.value), f"{mask} -1", *["i32 4"] * rounds]
    return Term(f, f.make(x.element, x.value.lanes, f"call {kind} @{full}({', '.join(given)})"))
