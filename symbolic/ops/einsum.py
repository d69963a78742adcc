"""What does an Einstein sum mean, and how does its delta come back? As an Einstein sum again, for each operand."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any, ClassVar

import numpy as np

from symbolic.context import here
from symbolic.errors import ShapeError
from symbolic.layer import AnyLayer, Layer, refuse, unsupported
from symbolic.leaves import Literal
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.binding import Kernel, implements, written
from symbolic.ops.creation import DiagonalLike
from symbolic.ops.deltas import SumLike, conjugate
from symbolic.ops.operation import Operation, array
from symbolic.ops.pairing import Step, promoted, sizes_of, steps
from symbolic.ops.passing import Cast
from symbolic.spec import AnySpec, Spec, result_dtype

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
        sizes = sizes_of(self.subscripts, terms, known)
        return Spec(tuple([sizes[letter] for letter in result]), dtype)

    def evaluate(self, *values: Any) -> Any:
        return np.einsum(self.subscripts, *promoted(values))

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        """With the order of the products chosen beforehand, where there are products and no stretched axes."""
        if len(specs) < 2:
            return self.evaluate, False
        if not all(array(spec).known for spec in specs):
            return self._along, False
        path = _path(self._steps(specs))
        if path is None:
            return self.evaluate, False
        subscripts = self.subscripts
        return (lambda *values: np.einsum(subscripts, *promoted(values), optimize=path)[()]), False

    def _along(self, *values: Any) -> Any:
        """The same where only the values have shapes."""
        path = _path(self._ordered(tuple(map(np.shape, values))))
        return (
            self.evaluate(*values) if path is None else np.einsum(self.subscripts, *promoted(values), optimize=path)[()]
        )

    def _steps(self, specs: Sequence[AnySpec]) -> Sequence[Step] | None:
        """The products that it is, two or more operands at a time; `None` where axes are stretched or not known."""
        given = [array(spec) for spec in specs]
        if len(given) < 2 or not all(spec.known for spec in given):
            return None
        return self._ordered(tuple([tuple([n for n in spec.shape or () if n is not None]) for spec in given]))

    def _ordered(self, shapes: tuple[tuple[int, ...], ...]) -> Sequence[Step] | None:
        terms, result = self.terms(list(map(len, shapes)))
        return steps(tuple(terms), result, shapes)

    def _in_pairs(self, operands: Sequence[Any], specs: Sequence[AnySpec]) -> Pairs | None:
        """The same as a tree of sums of two operands each, where there are more and nothing speaks against it."""
        if len(specs) < 3:
            return None
        found, kinds = self._steps(specs), [array(spec).dtype for spec in specs]
        if found is None or any(len(step.places) != 2 for step in found):
            return None
        if any(kind is None or kind.kind not in "iufc" for kind in kinds):
            return None
        dtype = result_dtype([array(spec) for spec in specs])
        values = [
            as_layer(one) if kind == dtype else Cast(one, to=dtype) for one, kind in zip(operands, kinds, strict=True)
        ]
        terms, _ = self.terms([len(array(spec).shape or ()) for spec in specs])
        return Pairs(values, terms, found)

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        pairs = self._in_pairs(self.operands, specs)
        return None if pairs is None else as_layer(pairs.values[-1])

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        facts: Any = here.facts
        pairs = None if facts is None else self._in_pairs(operands, [facts.spec(one) for one in operands])
        if pairs is not None:
            return pairs.back(delta)[: len(operands)]
        terms, result = self.terms([operand.ndim for operand in operands])
        deltas = []
        for k, operand in enumerate(operands):
            others = [
                (term, conjugate(one)) for j, (term, one) in enumerate(zip(terms, operands, strict=True)) if j != k
            ]
            deltas.append(_delta(terms[k], operand, [(result, delta), *others]))
        return tuple(deltas)


def _path(found: Sequence[Step] | None) -> list[Any] | None:
    """The same products for NumPy."""
    return None if found is None else ["einsum_path", *[step.places for step in found]]


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
    twice = [letter for letter in unique if term.count(letter) > 1]
    facts: Any = here.facts
    spec = None if facts is None else facts.spec(operand)
    unstretched = isinstance(spec, Spec) and spec.known and spec.shape is not None and 1 not in spec.shape
    if unstretched and len(twice) == 1 and len(term) == len(unique) + 1:
        (letter,) = twice
        moved = np.moveaxis(delta, unique.index(letter), -1)
        return DiagonalLike.make((as_layer(moved), operand), (0, term.index(letter), term.rindex(letter)))
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


class Pairs:
    """Sums of two operands each, after one another: the operands, then what each step makes of two of those before."""

    terms: list[str]
    values: list[Any]

    __slots__ = ("made", "terms", "values")

    def __init__(self, values: list[Any], spelled: Sequence[str], steps: Sequence[Step]) -> None:
        self.values, self.terms = values, list(spelled)
        self.made: list[tuple[int, int]] = []
        left = list(range(len(values)))
        for step in steps:
            one, other = (left[k] for k in step.places)
            left = [k for k in left if k not in (one, other)] + [len(self.values)]
            self.made.append((one, other))
            terms, factors = (self.terms[one], self.terms[other]), (values[one], values[other])
            self.values.append(einsum_of(terms, step.result, factors))
            self.terms.append(step.result)

    def back(self, delta: Any) -> list[Any]:
        """The delta of each value, given that of the last."""
        terms, values, count = self.terms, self.values, len(self.values)
        deltas: list[Any] = [None] * (count - 1) + [delta]
        for at in range(count - 1, count - 1 - len(self.made), -1):
            pair = self.made[at - count]
            for mine, other in (pair, pair[::-1]):
                factors = [(terms[at], deltas[at]), (terms[other], conjugate(values[other]))]
                deltas[mine] = SumLike.make((_delta(terms[mine], values[mine], factors), values[mine]))
        return deltas


_SMALL = 4096
"""Entries up to which a unit matrix is a constant."""


class EyeLike(Operation):
    """The unit matrix of the size of an axis."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        size = None if spec.shape is None else spec.shape[self.axis]
        return Spec((size, size), spec.dtype)

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        spec = array(specs[0])
        size = spec.shape[self.axis] if spec.known and spec.shape is not None else None
        return None if size is None or size**2 > _SMALL else Literal(np.eye(size, dtype=spec.dtype))

    def evaluate(self, *values: Any) -> Any:
        return np.eye(np.shape(values[0])[self.axis], dtype=np.asarray(values[0]).dtype)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


def einsum_of(terms: Sequence[str], result: str, values: Sequence[Any]) -> Any:
    return Einsum.make(tuple([as_layer(value) for value in values]), (f"{','.join(terms)}->{result}",))


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
