"""What are all the derivatives of all results at once? `jacobian` and `hessian`, one pullback for each result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symbolic.context import here, source
from symbolic.derivatives import grad
from symbolic.differentiate import gradients
from symbolic.differentiated import check_position, no_gradient, positions
from symbolic.errors import DtypeError, ShapeError, _place
from symbolic.forward import has_delta, known_spec
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal
from symbolic.literal import as_layer
from symbolic.ops.deltas import SumLike
from symbolic.ops.passing import Mark
from symbolic.outcome import is_layer, outcome
from symbolic.spec import UNKNOWN, Spec, describe, product
from symbolic.structure import flatten, unflatten
from symbolic.trace import Tracing
from symbolic.transformed import Transformed
from symbolic.values import native


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
    single, numbers = positions(argnums)

    def inline(of: Transformed, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return _Jacobian(of, single, numbers, args).of(kwargs)

    return Transformed(f, inline, "jacobian")


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
        found: list[Any] = [Mark.make((as_layer(native(one)),)) if has_delta(one) else None for one in leaves]
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
            if _spec(one, "an argument").dtype.kind == "c":  # type: ignore[union-attr]  # known
                raise DtypeError(
                    "the Jacobian by a complex argument, which is two real derivatives in general",
                    where=_place(source()),
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
        spec = _spec(output, "the value")
        real = self._rows(output, spec, 1.0)
        if spec.dtype.kind != "c":  # type: ignore[union-attr]  # known
            return real
        return [re + 1j * im for re, im in zip(real, self._rows(output, spec, 1j), strict=True)]

    def _rows(self, output: AnyLayer, spec: Spec, unit: complex) -> list[Any]:
        assert spec.shape is not None
        size = product(spec.shape) or 0
        basis = (np.eye(size) * unit).astype(spec.dtype).reshape(size, *spec.shape)
        rows = [gradients(output, SumLike.make((Literal(one), output)), self.variables) for one in basis]
        known = [_spec(one, "an argument") for one in self.variables]
        shapes: list[Any] = [(*spec.shape, *(one.shape or ())) for one in known]
        if not rows:
            return [np.zeros(shape, one.dtype) for one, shape in zip(known, shapes, strict=True)]
        columns: Any = zip(zip(*rows, strict=True), shapes, strict=True)
        return [np.reshape(np.stack(column), shape) if shape else column[0] for column, shape in columns]


def _spec(node: AnyLayer, what: str) -> Spec:
    """The spec of a node, whose sizes the trace then depends on."""
    if isinstance(here.trace, Tracing):
        spec = here.trace.facts.spec(node)
        if isinstance(spec, Spec) and spec.known:
            tuple(here.trace.ask(node, "shape")), here.trace.ask(node, "dtype")
            return spec
    raise ShapeError(
        f"the Jacobian needs the shape of {what}, which is not known here",
        where=_place(source()),
        remedy="call it with data, or within a traced function",
    )
