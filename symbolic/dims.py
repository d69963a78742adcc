"""What does a dimension in a hint mean? A name, a number, a sum or product of names, or any number of them.

The language is jaxtyping's: `"batch 784"`, `"*batch n"`, `"... 3"`, `"_"`, `"#n"` (1 or n), `"2*n"`, `"n-1"`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from symbolic.errors import ShapeError
from symbolic.polynomial import Size
from symbolic.spec import Dim, Shape, show


class Axis(NamedTuple):
    """One written dimension: `text` as it stands, an expression of names, and the two marks."""

    text: str
    expression: ast.expr | None = None  # None: any size
    variadic: bool = False  # any number of axes
    stretch: bool = False  # #n: also 1


def parse(written: Iterable[Any]) -> tuple[Axis, ...]:
    """The dimensions of a subscript; SyntaxError-like ShapeError for what is none."""
    axes: list[Axis] = []
    for one in written:
        axes += [_axis(word) for word in str(one).split()] if isinstance(one, str) else [_number(one)]
    if sum(axis.variadic for axis in axes) > 1:
        raise ShapeError(
            f"the hint {' '.join(axis.text for axis in axes)!r} has two parts of any length",
            remedy="write only one of `*name` and `...`",
        )
    return tuple(axes)


def _number(size: Any) -> Axis:
    if size is Ellipsis:
        return Axis("...", variadic=True)
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return Axis(str(size), ast.Constant(size))
    raise ShapeError(
        f"the dimension {size!r} in a hint", remedy='write a name, a size or an expression: "batch", 784, "2*n"'
    )


def _axis(word: str) -> Axis:
    if word == "...":
        return Axis(word, variadic=True)
    if word == "_":
        return Axis(word)
    variadic, stretch = word.startswith("*"), word.startswith("#")
    body = word[1:] if variadic or stretch else word
    body = body.partition("=")[2] or body  # jaxtyping's `name=size` documents a size
    if body == "_":
        return Axis(word, variadic=variadic)
    try:
        expression = ast.parse(body, mode="eval").body
        _names(expression)
    except (SyntaxError, ShapeError):
        raise ShapeError(
            f"the dimension {word!r} in a hint",
            remedy='write names, sizes, sums and products: "batch 784", "2*n", "n-1"',
        ) from None
    return Axis(word, expression, variadic, stretch)


_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def _names(expression: ast.expr) -> set[str]:
    if isinstance(expression, ast.Name):
        return {expression.id}
    if isinstance(expression, ast.Constant) and type(expression.value) is int:
        return set()
    if isinstance(expression, ast.BinOp) and type(expression.op) in _OPERATORS:
        return _names(expression.left) | _names(expression.right)
    raise ShapeError("not an expression of names and sizes")


def value(expression: ast.expr, bound: Mapping[str, Any]) -> Dim:
    """The size that an expression stands for; `None` while a name in it is not bound."""
    if isinstance(expression, ast.Constant):
        return expression.value  # type: ignore[return-value]  # an int, as parsed
    if isinstance(expression, ast.Name):
        size = bound.get(expression.id)
        return size if isinstance(size, (int, Size)) else None  # type: ignore[return-value]  # a checker's sizes have names
    assert isinstance(expression, ast.BinOp)
    left, right = value(expression.left, bound), value(expression.right, bound)
    if left is None or right is None:
        return None
    if isinstance(expression.op, ast.FloorDiv) and right == 0:
        raise ShapeError(
            f"the dimension {ast.unparse(expression)!r} divides by 0", remedy="pass arrays that are not empty there"
        )
    result: int = _OPERATORS[type(expression.op)](left, right)
    return result


def written(axes: Sequence[Axis]) -> str:
    return " ".join(axis.text for axis in axes)


class Names:
    """What the names of one signature stand for, and where each was first seen."""

    def __init__(self) -> None:
        self.bound: dict[str, Any] = {}
        self.origin: dict[str, str] = {}
        self.waiting: list[tuple[Axis, int, str, Shape]] = []

    def match(self, axes: Sequence[Axis], shape: Shape | None, what: str) -> None:
        """Bind the names of a hint to a shape; ShapeError where they do not agree."""
        if shape is None:
            return
        star = next((k for k, axis in enumerate(axes) if axis.variadic), None)
        fixed = len(axes) - (star is not None)
        if len(shape) < fixed or (star is None and len(shape) != fixed):
            raise ShapeError(
                f"{what} has shape {show(shape)}, of rank {len(shape)}, where {written(axes)!r} is declared",
                remedy=f"pass an array of {'at least ' if star is not None else ''}{fixed} dimensions",
            )
        if star is None:
            pairs = list(zip(axes, shape, strict=True))
        else:
            tail = len(axes) - star - 1
            middle = shape[star : len(shape) - tail]
            self._variadic(axes[star], middle, what, shape)
            pairs = list(zip(axes[:star], shape[:star], strict=True))
            pairs += list(zip(axes[star + 1 :], shape[len(shape) - tail :], strict=True)) if tail else []
        for axis, size in pairs:
            self._one(axis, size, what, shape)

    def _variadic(self, axis: Axis, sizes: Shape, what: str, shape: Shape) -> None:
        if axis.expression is None:
            return
        key = axis.text
        if key in self.bound and self.bound[key] != sizes and None not in (*self.bound[key], *sizes):
            raise self._clash(axis, f"{show(sizes)}", f"{show(self.bound[key])}", what, shape)
        self.bound.setdefault(key, sizes)
        self.origin.setdefault(key, what)

    def _one(self, axis: Axis, size: Dim, what: str, shape: Shape) -> None:
        if axis.expression is None or size is None or (axis.stretch and size == 1):
            return
        if isinstance(axis.expression, ast.Name) and axis.expression.id not in self.bound:
            self.bound[axis.expression.id] = size
            self.origin[axis.expression.id] = what
            self._settle()
            return
        want = value(axis.expression, self.bound)
        if want is None:
            self.waiting.append((axis, size, what, shape))
        elif want != size:
            raise self._clash(axis, str(size), str(want), what, shape)

    def _settle(self) -> None:
        """Check the expressions whose names are all bound by now."""
        ready, self.waiting = self.waiting, []
        for axis, size, what, shape in ready:
            self._one(axis, size, what, shape)

    def settled(self) -> None:
        """After the whole signature: an expression whose names are bound nowhere cannot be checked."""
        for axis, size, what, _ in self.waiting:
            assert axis.expression is not None
            free = sorted(_names(axis.expression) - set(self.bound))
            raise ShapeError(
                f"{what} has size {size} where {axis.text!r} is declared, but no argument binds {', '.join(free)}",
                remedy=f"use {free[0]} as a dimension of its own in some hint of the signature",
            )

    def _clash(self, axis: Axis, size: str, want: str, what: str, shape: Shape) -> ShapeError:
        names = sorted(_names(axis.expression)) if axis.expression is not None and not axis.variadic else [axis.text]
        where = ", ".join([self._bound_by(name) for name in names if name in self.origin])
        declared = f"dimension {axis.text!r} is {want}" + (f" ({where})" if where else "")
        if names and want == axis.text and not where:  # within the function that declares it
            declared = f"{want!r} is declared"
        return ShapeError(
            f"{what} has shape {show(shape)}, with {size} where {declared}",
            remedy="pass arrays whose sizes agree with the hints, or change the hint",
        )

    def _bound_by(self, name: str) -> str:
        size = str(self.bound[name])
        return f"{name} by {self.origin[name]}" if size == name else f"{name} = {size} by {self.origin[name]}"
