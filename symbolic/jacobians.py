"""What are all the derivatives of all results at once? `jacobian` and `hessian`: one pullback, or
one tangent, mapped over a basis.
"""

# The overloads overlap on purpose: the first that fits is meant.
# mypy: disable-error-code="overload-overlap"

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

import numpy as np

from symbolic import batches as _batches  # noqa: F401 - it fills the table of rules
from symbolic import contractions as _contractions  # noqa: F401 - it fills the table of rules
from symbolic import indices as _indices  # noqa: F401 - it fills the table of rules
from symbolic.context import here, source
from symbolic.derivatives import grad
from symbolic.differentiate import gradients
from symbolic.differentiated import check_position, no_gradient, positions
from symbolic.errors import DtypeError, ShapeError, place_of
from symbolic.forward import has_delta, known_spec, operand, pushed
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal
from symbolic.ops.deltas import SumLike
from symbolic.ops.passing import BatchMark, Cast, Mark
from symbolic.outcome import is_layer, outcome
from symbolic.slices import Batch
from symbolic.spec import UNKNOWN, Spec, describe, product
from symbolic.structure import flatten, unflatten
from symbolic.tape import A, B
from symbolic.trace import Tracing
from symbolic.transformed import Transformed

P = ParamSpec("P")
N = TypeVar("N", bound=np.ndarray)
V = TypeVar("V", bound=float | np.floating[Any] | np.ndarray)


@overload
def jacobian(f: AnyLayer, argnums: int | Sequence[int] = 0) -> Any: ...
@overload
def jacobian(
    f: Callable[Concatenate[N, P], V], argnums: typing.Literal[0] = 0
) -> Callable[Concatenate[N, P], np.ndarray]: ...
@overload
def jacobian(
    f: Callable[Concatenate[float, P], float], argnums: typing.Literal[0] = 0
) -> Callable[Concatenate[float, P], float]: ...
@overload
def jacobian(f: Callable[Concatenate[A, P], B], argnums: typing.Literal[0] = 0) -> Callable[Concatenate[A, P], Any]: ...
@overload
def jacobian(f: Callable[..., Any], argnums: int | Sequence[int]) -> Any: ...
def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """The derivative of every entry of `f`'s value by every entry of an argument: of shape `value.shape + x.shape`.

    Where the value is a structure (tuples, lists, dictionaries, dataclasses), so is the Jacobian, and each of its
    entries is built as the argument is; several positions give a tuple there. `None` stands where there is no
    derivative. The dtype is the argument's; of a complex value by a real argument it is complex. DtypeError for a
    complex argument, by which a function has in general no single derivative, and for one of integers.

    >>> import numpy as np
    >>> jacobian(lambda x: x ** 2)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])
    """
    return Transformed(f, partial(_jacobian, *positions(argnums)), "jacobian")


def _jacobian(
    single: bool, numbers: tuple[int, ...], of: Transformed, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return _Jacobian(of, single, numbers, args).of(kwargs)


@overload
def hessian(f: AnyLayer, argnums: int | Sequence[int] = 0) -> Any: ...
@overload
def hessian(
    f: Callable[Concatenate[N, P], B], argnums: typing.Literal[0] = 0
) -> Callable[Concatenate[N, P], np.ndarray]: ...
@overload
def hessian(
    f: Callable[Concatenate[float, P], B], argnums: typing.Literal[0] = 0
) -> Callable[Concatenate[float, P], float]: ...
@overload
def hessian(f: Callable[Concatenate[A, P], B], argnums: typing.Literal[0] = 0) -> Callable[Concatenate[A, P], Any]: ...
@overload
def hessian(f: Callable[..., Any], argnums: int | Sequence[int]) -> Any: ...
def hessian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """The second derivatives of a scalar function: the Jacobian of its gradient, of shape `x.shape + x.shape`.

    Of a structure it is a structure of structures, as `jacobian` of `grad` is. Raises as these do.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    return jacobian(grad(f, argnums), argnums)


class _Jacobian:
    """One call: the arguments over variables, and the rows of the Jacobian by them."""

    def __init__(self, of: Transformed, single: bool, argnums: Sequence[int], args: tuple[Any, ...]) -> None:
        self.f, self.single, self.args, self.title = of.applied, single, list(args), of.title
        self.trees: list[Any] = []
        self.places: list[list[Any]] = []  # for each asked argument and each leaf of it the variable, or None
        self.variables: list[AnyLayer] = []
        for position in argnums:
            check_position(position, len(args), self.title)
            self._take(position % len(args))

    def _take(self, k: int) -> None:
        leaves, tree = flatten(self.args[k], leaf=is_layer)
        found: list[Any] = [Mark.make((operand(one),)) if has_delta(one) else None for one in leaves]
        if not any(one is not None for one in found):
            no_gradient(self.title, k, describe(known_spec(self.args[k]) or UNKNOWN))
        self.trees.append(tree)
        self.places.append(found)
        self.variables += [one for one in found if one is not None]
        filled = [leaf if one is None else one for leaf, one in zip(leaves, found, strict=True)]
        self.args[k] = unflatten(tree, iter(filled))

    def of(self, kwargs: dict[str, Any]) -> Any:
        result = outcome(self.f(*self.args, **kwargs))
        for one in self.variables:
            if _is_complex(_spec(one, "an argument")):
                raise DtypeError(
                    "the Jacobian by a complex argument, which is two real derivatives in general",
                    where=place_of(source()),
                    remedy="take it by the real and the imaginary part, or use jvp and vjp, which need no convention",
                )
        return result.deltas([self._block(one) if has_delta(one) else None for one in result.layers])

    def _block(self, output: AnyLayer) -> Any:
        """The derivatives of one result by every asked argument, in the arguments' structure."""
        derived = dict(zip(self.variables, self._derived(output), strict=True))
        blocks = [
            unflatten(tree, iter([None if one is None else derived[one] for one in places]))
            for tree, places in zip(self.trees, self.places, strict=True)
        ]
        return blocks[0] if self.single else tuple(blocks)

    def _derived(self, output: AnyLayer) -> list[Any]:
        """The derivatives of one result by each variable: by the mode that has fewer passes to make."""
        spec = _spec(output, "the value")
        known = [_spec(one, "an argument") for one in self.variables]
        sizes = [product(one.shape or ()) or 0 for one in known]
        if _is_complex(spec) or sum(sizes) < (product(spec.shape or ()) or 0):
            return self._columns(output, spec, known, sizes)
        return self._rows(output, spec, known)

    def _rows(self, output: AnyLayer, spec: Spec, known: Sequence[Spec]) -> list[Any]:
        """One pullback for each entry of the value."""
        shape: Any = spec.shape
        size = product(shape) or 0
        row = BatchMark.make((Literal(np.eye(size, dtype=spec.dtype).reshape(size, *shape)),), (0,))
        slices = gradients(output, SumLike.make((row, output)), self.variables)
        rows: list[Any] = Batch.of([row], slices, ["the entries of the value"])
        shapes: list[Any] = [(*shape, *(one.shape or ())) for one in known]
        return [np.reshape(one, both) if both else one[0] for one, both in zip(rows, shapes, strict=True)]

    def _columns(self, output: AnyLayer, spec: Spec, known: Sequence[Spec], sizes: Sequence[int]) -> list[Any]:
        """One tangent for each entry of the arguments."""
        total, stops = sum(sizes), np.cumsum(sizes)
        parts = np.split(np.eye(total), stops[:-1], axis=1)
        bases: list[Any] = [
            part.astype(one.dtype).reshape(total, *(one.shape or ())) for part, one in zip(parts, known, strict=True)
        ]
        marks = [BatchMark.make((Literal(basis),), (0,)) for basis in bases]
        ways = [SumLike.make(pair) for pair in zip(marks, self.variables, strict=True)]
        moved = pushed([output], self.variables, ways)
        (whole,) = Batch.of(marks, moved, ["the entries of the arguments"] * len(marks))
        columns: Any = np.moveaxis(whole, 0, -1)
        blocks: list[Any] = []
        for one, size, stop in zip(known, sizes, stops.tolist(), strict=True):
            shape: Any = (*(spec.shape or ()), *(one.shape or ()))
            block = np.reshape(columns[..., stop - size : stop], shape)
            blocks.append(block if _is_complex(spec) else Cast(block, to=one.dtype))
        return blocks


def _is_complex(spec: Spec) -> bool:
    return spec.dtype is not None and spec.dtype.kind == "c"


def _spec(node: AnyLayer, what: str) -> Spec:
    """The spec of a node, whose sizes the trace then depends on."""
    if isinstance(here.trace, Tracing):
        spec = here.trace.facts.spec(node)
        if isinstance(spec, Spec) and spec.known:
            tuple(here.trace.ask(node, "shape")), here.trace.ask(node, "dtype")
            return spec
    raise ShapeError(
        f"the Jacobian needs the shape of {what}, which is not known here",
        where=place_of(source()),
        remedy="call it with data, or within a traced function",
    )
