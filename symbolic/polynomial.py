"""What is a size that only a name says? A polynomial of names with whole coefficients: `batch`, `2*batch`, `n-1`.

Names are rigid: inside the function that declares it, `n` is neither `m` nor 784 nor 1. What cannot be decided
(`n < 3`, the number of `n`) raises `Undecided`. A quotient that does not come out even is kept as it is, `n//2`, and of
such a one nobody knows whether it equals another size.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

Monomial: TypeAlias = tuple[str, ...]
"""Names and opaque quotients, sorted; one that stands twice is squared."""


class Undecided(Exception):  # noqa: N818 - it is no error of anybody's: a question stays open
    """What was asked of a named size only its number could answer."""


class Size:
    """A size that is not a number: at least one name is in it. Make one with `Size.named` or `parsed`."""

    __slots__ = ("_hash", "terms")
    __array_ufunc__ = None  # NumPy's integers leave the arithmetic to us
    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms, self._hash = terms, hash(terms)

    @staticmethod
    def named(name: str) -> Size:
        return Size((((name,), 1),))

    @property
    def names(self) -> frozenset[str]:
        """The names in it, those in its quotients too."""
        found: set[str] = set()
        for monomial, _ in self.terms:
            for factor in monomial:
                found |= _names_in(factor)
        return frozenset(found)

    @property
    def opaque(self) -> bool:
        """Whether a quotient stands in it whose value nobody knows."""
        return any("//" in factor for monomial, _ in self.terms for factor in monomial)

    def at(self, numbers: Mapping[str, Any]) -> Any:
        """The size where the names stand for these numbers (or other sizes)."""
        total: Any = 0
        for monomial, count in self.terms:
            for factor in monomial:
                count = count * (_evaluated(factor, numbers) if "//" in factor else numbers[factor])
            total = total + count
        return total

    # ------------------------------------------------------------------ arithmetic
    def __add__(self, other: Any) -> Any:
        terms = _terms(other)
        return NotImplemented if terms is None else _collected((*self.terms, *terms))

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        terms = _terms(other)
        return NotImplemented if terms is None else self + _collected([(one, -count) for one, count in terms])

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        terms = _terms(other)
        if terms is None:
            return NotImplemented
        return _collected(
            [(tuple(sorted((*one, *two))), a * b) for one, a in self.terms for two, b in terms],
        )

    __rmul__ = __mul__

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, int) or exponent < 0:
            return NotImplemented
        power: Any = 1
        for _ in range(exponent):
            power = self * power
        return power

    def __floordiv__(self, other: Any) -> Any:
        return NotImplemented if _terms(other) is None else _quotient(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return NotImplemented if _terms(other) is None else _quotient(other, self)

    def __mod__(self, other: Any) -> Any:
        return NotImplemented if _terms(other) is None else self - other * _quotient(self, other)

    def __rmod__(self, other: Any) -> Any:
        return NotImplemented if _terms(other) is None else other - self * _quotient(other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    # ------------------------------------------------------------------ comparison
    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if type(other) is Size and other.terms == self.terms:
            return True
        if _terms(other) is None:
            return False
        apart: Any = self - other
        if isinstance(apart, Size) and apart.opaque:
            raise Undecided(f"whether {self} is {other}")
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return _is_less(self, other)

    def __gt__(self, other: Any) -> bool:
        return _is_less(other, self)

    def __le__(self, other: Any) -> bool:
        return not _is_less(other, self)

    def __ge__(self, other: Any) -> bool:
        return not _is_less(self, other)

    def __bool__(self) -> bool:
        return self != 0

    def __index__(self) -> int:
        raise Undecided(f"the number of {self}")

    __int__ = __index__
    __trunc__ = __index__

    def __float__(self) -> float:
        raise Undecided(f"the number of {self}")

    # ------------------------------------------------------------------ printing
    def __str__(self) -> str:
        text = ""
        for monomial, count in sorted(self.terms, key=_place):
            part = _written(monomial, abs(count), bracket=count < 0)
            text += ("-" if count < 0 else "+" if text else "") + part
        return text

    __repr__ = __str__  # as it stands in a shape

    def __reduce__(self) -> tuple[Callable[[str], Any], tuple[str]]:
        return parsed, (str(self),)


class Rest:
    """Any number of axes in a declared shape: `*batch`, or `...`, which no name says."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rest) and other.name == self.name

    def __hash__(self) -> int:
        return hash((Rest, self.name))

    def __str__(self) -> str:
        return f"*{self.name}" if self.name else "..."

    __repr__ = __str__


def is_name(text: str) -> bool:
    """Whether a text is a name, `n`, or one of a record, `batch.n`."""
    return all(part.isidentifier() for part in text.split("."))


def parsed(text: str) -> Any:
    """What a printed size says: `2*n+1` is a Size, `784` an int; SyntaxError for what is none."""
    return _of(ast.parse(text, mode="eval").body, {})


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def same(one: Any, other: Any) -> bool:
    """Whether two values, with sizes in them, are certainly equal, and of one type."""
    try:
        return type(one) is type(other) and bool(one == other)
    except Undecided:
        return False


def expressed(expression: ast.expr) -> Any:
    """The size that an expression of names says."""
    return _of(expression, {})


def _of(node: ast.expr, numbers: Mapping[str, Any]) -> Any:
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = node.id if isinstance(node, ast.Name) else ast.unparse(node)
        return numbers.get(name, Size.named(name))
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_of(node.operand, numbers)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_of(node.left, numbers), _of(node.right, numbers))
    raise SyntaxError("a size is written with names, whole numbers, +, -, * and //")


@lru_cache(maxsize=1024)
def _tree(quotient: str) -> ast.expr:
    return ast.parse(quotient, mode="eval").body


def _evaluated(quotient: str, numbers: Mapping[str, Any]) -> Any:
    return _of(_tree(quotient), numbers)


@lru_cache(maxsize=1024)
def _names_in(factor: str) -> frozenset[str]:
    if "//" not in factor:
        return frozenset((factor,))
    return frozenset(node.id for node in ast.walk(_tree(factor)) if isinstance(node, ast.Name))


def _terms(value: Any) -> tuple[tuple[Monomial, int], ...] | None:
    if isinstance(value, Size):
        return value.terms
    try:
        number = operator.index(value)
    except TypeError:
        return None
    return (((), number),) if number else ()


def _collected(terms: Iterable[tuple[Monomial, int]]) -> Any:
    """Like terms together: a Size, or an int where no name is left."""
    counts: dict[Monomial, int] = {}
    for monomial, count in terms:
        counts[monomial] = counts.get(monomial, 0) + count
    left = tuple(sorted((one, count) for one, count in counts.items() if count))
    if not left:
        return 0
    return left[0][1] if len(left) == 1 and not left[0][0] else Size(left)


def _quotient(left: Any, right: Any) -> Any:
    """Exactly where it comes out even, else what comes out even and an opaque rest."""
    if isinstance(right, Size):
        even = _divided(left, right)
        return _opaque(left, right) if even is None else even
    if right == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    terms = _terms(left) or ()
    if right < 0:
        return _quotient(-left, -right)
    even = _collected([(one, count // right) for one, count in terms if count % right == 0 or not one])
    rest = _collected([(one, count if one else count % right) for one, count in terms if count % right or not one])
    return even if isinstance(rest, int) else even + _opaque(rest, right)


def _divided(left: Any, right: Size) -> Any:
    """The quotient of a division by one monomial, or by the very same size, that comes out even; else `None`."""
    if isinstance(left, Size) and left.terms == right.terms:
        return 1
    terms = _terms(left) or ()
    if len(right.terms) != 1 or not terms:
        return None if terms else 0
    ((by, count),) = right.terms
    found = []
    for monomial, times in terms:
        rest = list(monomial)
        for factor in by:
            if factor not in rest:
                return None
            rest.remove(factor)
        if times % count:
            return None
        found.append((tuple(rest), times // count))
    return _collected(found)


def _opaque(left: Any, right: Any) -> Size:
    if not all(is_name(name) for one in (left, right) if isinstance(one, Size) for name in one.names):
        raise Undecided(f"the quotient of {left} and {right}")  # of axes that may not be there
    return Size.named(f"{_bracketed(left)}//{_bracketed(right)}")


def _bracketed(value: Any) -> str:
    text = str(value)
    return text if is_name(text) or text.isdigit() else f"({text})"


def _is_less(left: Any, right: Any) -> bool:
    """Decided where it holds for names of any size from 0 on."""
    apart: Any = left - right
    if not isinstance(apart, Size):
        return bool(apart < 0)
    constant = dict(apart.terms).get((), 0)
    counts = [count for one, count in apart.terms if one]
    if all(count > 0 for count in counts) and constant >= 0:
        return False
    if all(count < 0 for count in counts) and constant < 0:
        return True
    raise Undecided(f"whether {left} is less than {right}")


def _place(term: tuple[Monomial, int]) -> tuple[Any, ...]:
    """The constant last, what is subtracted behind what is added, products before their factors."""
    monomial, count = term
    return not monomial, count < 0, -len(monomial), monomial


def _written(monomial: Monomial, count: int, bracket: bool) -> str:
    if not monomial:
        return str(count)
    alone = len(monomial) == 1 and count == 1 and not bracket
    factors = [one if alone or "//" not in one else f"({one})" for one in monomial]
    return "*".join(([] if count == 1 else [str(count)]) + factors)
