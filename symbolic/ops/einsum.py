"""What does an Einstein sum mean, and how does its delta come back? As an Einstein sum again, for each operand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import Layer, refuse, unsupported
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.binding import Kernel, implements, written
from symbolic.ops.deltas import conjugate
from symbolic.ops.operation import Operation, array
from symbolic.ops.passing import Cast
from symbolic.spec import AnySpec, Dim, Shape, Spec, result_dtype, show

LETTERS = ascii_uppercase + ascii_lowercase  # in the order of their codes, so that sorting keeps the order of labels


class Einsum(Operation):
    """`np.einsum`, with the subscripts of the result written out.

    >>> import numpy as np
    >>> from symbolic import Identity
    >>> np.einsum("ii", Identity())
    Einsum(Identity(), subscripts='ii->')
    """

    __slots__ = ()
    variadic = True
    functions: ClassVar[Any] = (np.einsum,)
    defaults: ClassVar[Any] = {"subscripts": ""}

    @property
    def shares(self) -> bool:  # type: ignore[override]  # it depends on the operands
        """NumPy gives a view where it can: a diagonal, a transposition of one operand."""
        return len(self.operands) == 1

    def is_view(self, specs: Sequence[AnySpec]) -> bool | None:
        return len(specs) == 1 and "".join(sorted(set(self.subscripts.split("->")[0]))) == "".join(
            sorted(self.subscripts.split("->")[1])
        )

    def terms(self, ranks: Sequence[int]) -> tuple[list[str], str]:
        """The letters of each operand and of the result; an ellipsis becomes letters too."""
        inputs, result = self.subscripts.split("->")
        terms = inputs.split(",")
        free = [letter for letter in LETTERS if letter not in self.subscripts]
        counts = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
        widest = max([count for term, count in zip(terms, counts, strict=True) if "..." in term], default=0)
        dots = "".join(free[:widest])
        spelled = [term.replace("...", dots[widest - max(n, 0) :]) for term, n in zip(terms, counts, strict=True)]
        return spelled, result.replace("...", dots)

    def infer(self, *specs: AnySpec) -> AnySpec:
        given = [plain(spec) for spec in specs]
        shapes = [spec.shape for spec in given]
        known = [shape for shape in shapes if shape is not None]
        dtype = result_dtype(given)
        if len(known) != len(shapes):
            return Spec(None, dtype)
        terms, result = self.terms([len(shape) for shape in known])
        sizes = _sizes(self.subscripts, terms, known)
        return Spec(tuple([sizes[letter] for letter in result]), dtype)

    def evaluate(self, *values: Any) -> Any:
        return np.einsum(self.subscripts, *_promoted(values))

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        """With the order of the products chosen beforehand, where there are products and no stretched axes."""
        if len(specs) < 2:
            return self.evaluate, False
        if not all(array(spec).known for spec in specs):
            return self._along, False
        path = self._path(tuple([array(spec).shape or () for spec in specs]))
        subscripts = self.subscripts
        if path is None:
            return self.evaluate, False
        return (lambda *values: np.einsum(subscripts, *_promoted(values), optimize=path)[()]), False

    def _along(self, *values: Any) -> Any:
        """The same where only the values have shapes."""
        path = self._path(tuple(map(np.shape, values)))
        return (
            self.evaluate(*values)
            if path is None
            else np.einsum(self.subscripts, *_promoted(values), optimize=path)[()]
        )

    def _path(self, shapes: tuple[Shape, ...]) -> Any:
        """Which operands are multiplied first; `None` where axes are stretched."""
        terms, _ = self.terms(list(map(len, shapes)))
        pairs = [pair for term, shape in zip(terms, shapes, strict=True) for pair in zip(term, shape, strict=False)]
        return None if len(dict(pairs)) != len(set(pairs)) else _greedy(self.subscripts, shapes)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        terms, result = self.terms([operand.ndim for operand in operands])
        deltas = []
        for k, operand in enumerate(operands):
            others = [
                (term, conjugate(one)) for j, (term, one) in enumerate(zip(terms, operands, strict=True)) if j != k
            ]
            deltas.append(_delta(terms[k], operand, [(result, delta), *others]))
        return tuple(deltas)


@lru_cache(maxsize=256)
def _greedy(subscripts: str, shapes: tuple[Shape, ...]) -> Any:
    stand_ins: list[Any] = [np.broadcast_to(np.empty(()), shape) for shape in shapes]  # type: ignore[arg-type]  # known
    return np.einsum_path(subscripts, *stand_ins, optimize="greedy")[0]


def _promoted(values: Sequence[Any]) -> list[Any]:
    """Flags beside numbers as numbers: NumPy's way with pairs would first join them by "or"."""
    kinds = [np.asarray(one).dtype for one in values]
    if all(kind.kind != "b" for kind in kinds) or all(kind.kind == "b" for kind in kinds):
        return list(values)
    dtype = np.result_type(*kinds)
    return [np.asarray(one, dtype) if kind.kind == "b" else one for one, kind in zip(values, kinds, strict=True)]


def _delta(term: str, operand: Any, factors: list[tuple[str, Any]]) -> Any:
    """The delta of the operand with this term: the sum of the factors, in the order of its axes.

    An axis that no factor has was summed alone: it gets size 1, and SumLike stretches it, as it sums an axis that
    had been stretched. An axis that repeats a letter gets the delta on its diagonal.
    """
    unique = "".join(dict.fromkeys(term))
    there = "".join([letter for letter in unique if any(letter in one for one, _ in factors)])
    back = einsum_of([one for one, _ in factors], there, [value for _, value in factors])
    missing = tuple([k for k, letter in enumerate(unique) if letter not in there])
    back = np.expand_dims(back, missing) if missing else back
    return back if unique == term else _on_diagonal(unique, term, back, operand)


def _on_diagonal(unique: str, term: str, delta: Any, operand: Any) -> Any:
    """Spread a delta of unique letters over the diagonals of a term that repeats some."""
    free = iter([letter for letter in LETTERS if letter not in term])
    spelled, terms, values = "", [unique], [delta]
    for axis, letter in enumerate(term):
        if letter in spelled:
            twin = next(free)
            terms.append(letter + twin)
            values.append(EyeLike.make((operand,), (axis,)))
            letter = twin
        spelled += letter
    return einsum_of(terms, spelled, values)


class EyeLike(Operation):
    """The unit matrix of the size of an axis."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        size = None if spec.shape is None else spec.shape[self.axis]
        return Spec((size, size), spec.dtype)

    def evaluate(self, *values: Any) -> Any:
        return np.eye(np.shape(values[0])[self.axis], dtype=np.asarray(values[0]).dtype)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


def einsum_of(terms: Sequence[str], result: str, values: Sequence[Any]) -> Any:
    return Einsum.make(tuple([as_layer(value) for value in values]), (f"{','.join(terms)}->{result}",))


def _sizes(subscripts: str, terms: Sequence[str], shapes: Sequence[Shape]) -> dict[str, Dim]:
    """The size of each letter; a size of 1 is stretched."""
    sizes: dict[str, Dim] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if len(term) != len(shape):
            raise ShapeError(
                f"einsum {subscripts!r} of an array of shape {show(shape)}: {len(shape)} axes, {len(term)} subscripts",
                remedy="write one letter for each axis, or ... for those that are left",
            )
        for letter, size in zip(term, shape, strict=True):
            before = sizes.get(letter, 1)
            if None not in (before, size) and before != size and 1 not in (before, size):
                raise ShapeError(
                    f"einsum {subscripts!r} of arrays of shapes {' and '.join(map(show, shapes))}: "
                    f"the axes {letter!r} have sizes {before} and {size}",
                    remedy="axes with one letter must have one size, or 1",
                )
            sizes[letter] = (
                size if before in (1, None) and size != 1 and size is not None else before if letter in sizes else size
            )
    return sizes


@implements(np.einsum)
def einsum(*operands: Any, optimize: Any = False, out: Any = None, dtype: Any = None, **memory: Any) -> Any:
    for name in set(memory) - {"order", "casting"}:
        raise TypeError(f"np.einsum has no argument {name}; leave it out")
    if isinstance(out, np.ndarray):
        raise unsupported("the argument out= of np.einsum", "assign the result to a name")
    subscripts, values = _parsed(operands)
    values = values if dtype is None else [Cast(one, to=np.dtype(dtype)) for one in values]
    found = _einsum(subscripts, values)
    return found if out is None else written(out, found, "np.einsum")


def _einsum(subscripts: str, values: Sequence[Any]) -> Any:
    inputs, arrow, result = subscripts.partition("->")
    if not arrow:
        once = sorted(letter for letter in set(inputs) - set("., ") if inputs.count(letter) == 1)
        result = ("..." if "..." in inputs else "") + "".join(once)
    terms = inputs.split(",")
    _check(subscripts, terms, result, len(values))
    return Einsum.make(tuple([as_layer(value) for value in values]), (f"{inputs}->{result}",))


def _parsed(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    if not operands:
        refuse("np.einsum without operands", "give subscripts and arrays")
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), list(operands[1:])
    values, lists = list(operands[0:-1:2]), list(operands[1::2])
    text = ",".join([_spelled(one) for one in lists[: len(values)]])
    if len(operands) % 2:
        text += "->" + _spelled(operands[-1])
    return text, values


def _spelled(labels: Any) -> str:
    if isinstance(labels, Layer):
        refuse("np.einsum with traced subscripts", "write the subscripts as a string or as lists of ints")
    return "".join(["..." if label is Ellipsis else LETTERS[int(label)] for label in labels])


def _check(subscripts: str, terms: Sequence[str], result: str, count: int) -> None:
    wrong = ""
    if len(terms) != count:
        wrong = f"{len(terms)} terms for {count} operands"
    elif len(set(result.replace("...", ""))) != len(result.replace("...", "")):
        wrong = "the result names a letter twice"
    elif any(letter not in "".join(terms) for letter in result):
        wrong = "the result names a letter that no operand has"
    elif not all(one in LETTERS for one in "".join([*terms, result]).replace("...", "")):
        wrong = "a subscript is not a letter"
    if wrong:
        refuse(f"einsum {subscripts!r}: {wrong}", "write it as 'ij,jk->ik'", ShapeError)
