"""How is a function of one slice run on all of them? `vmap`: its graph for one slice, written for all at once.

Where the function asks for the truth of a value that each slice has its own of, there is no one graph: then it is
traced for each slice, and the results are stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn, ParamSpec, TypeAlias, TypeVar, overload

import numpy as np

from symbolic import batches as _batches  # noqa: F401 - it fills the table of rules
from symbolic import contractions as _contractions  # noqa: F401 - it fills the table of rules
from symbolic import indices as _indices  # noqa: F401 - it fills the table of rules
from symbolic.context import here, source
from symbolic.errors import DtypeError, ShapeError, TraceError, place_of
from symbolic.forward import known_spec, operand
from symbolic.layer import AnyLayer, Layer
from symbolic.leaves import Literal
from symbolic.ops.operation import Operation, topological
from symbolic.ops.passing import BatchMark, open_slices
from symbolic.outcome import HOLE, Outcome, is_layer, outcome
from symbolic.printing import alike, bits
from symbolic.slices import Batch
from symbolic.spec import Spec
from symbolic.structure import Tree, flatten, paths, spread, unflatten
from symbolic.transformed import Transformed
from symbolic.values import native

Axes: TypeAlias = Any
P = ParamSpec("P")
B = TypeVar("B")
Slice = TypeVar("Slice", bound=complex | np.generic | np.ndarray)
Slice2 = TypeVar("Slice2", bound=complex | np.generic | np.ndarray)


# One callable after the other, all with P: where they hold Any, mypy takes the first of those that are the same.
@overload
def vmap(f: np.ufunc, in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[..., np.ndarray]: ...
@overload
def vmap(f: Callable[P, Slice], in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[..., np.ndarray]: ...
@overload
def vmap(
    f: Callable[P, tuple[Slice, Slice2]], in_axes: Axes = 0, out_axes: Axes = 0
) -> Callable[..., tuple[np.ndarray, np.ndarray]]: ...
@overload
def vmap(f: Callable[P, B], in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[..., Any]: ...
def vmap(f: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[..., Any]:
    """The function that maps `f` over an axis of its arguments, all slices at once.

    `in_axes` is the axis of every argument, or a tuple of one for each: an int (negative from the end), `None` for an
    argument that is the same for all slices, or a structure like the argument's; keyword arguments are mapped over
    axis 0. `out_axes` says in the same way where the axis stands in the results; `None` asks for a result that does
    not depend on the slices. Strings, flags and functions among the arguments stay as they are. ShapeError where the
    sizes differ, an argument has no such axis, or none is mapped.

    >>> import numpy as np
    >>> vmap(np.dot)(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 4.])
    >>> vmap(lambda x, y: x * y, in_axes=(0, None), out_axes=1)(np.array([1.0, 2.0]), np.array([1.0, 10.0]))
    array([[ 1.,  2.],
           [10., 20.]])
    """
    return _Vmap(f, partial(_mapped, in_axes, out_axes), "vmap")


def _mapped(in_axes: Axes, out_axes: Axes, of: Transformed, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return Mapped(of, in_axes, out_axes, args, kwargs).result()


class _Vmap(Transformed):
    """A mapped function; one that cannot be traced is run for each slice."""

    def over(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return _Vmap(f, self.inline, self.verb, self.first)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except TraceError:
            if here.trace is not None or any(map(is_layer, flatten((args, kwargs), leaf=is_layer)[0])):
                raise
        return self.inline(self, args, kwargs)  # outside of a trace: slice by slice, by NumPy


class Mapped:
    """One call: which leaves are mapped, along which axes."""

    of: Transformed
    out_axes: Axes
    leaves: list[Any]
    tree: Tree
    names: list[str]
    axes: list[Any]
    mapped: list[int]

    def __init__(
        self, of: Transformed, in_axes: Axes, out_axes: Axes, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.of, self.out_axes = of, out_axes
        self.leaves, self.tree = flatten((args, kwargs), leaf=is_layer)
        self.names = _names(self.tree)
        self.axes = _spread_axes(self.tree, in_axes, of.title)
        self.mapped = [k for k, axis in enumerate(self.axes) if axis is not None and self._is_array(k)]
        if not self.mapped:
            raise ShapeError(
                f"vmap of {of.title} maps none of its arguments",
                where=place_of(source()),
                remedy="give an array, and the axis to map in in_axes",
            )
        for k in self.mapped:
            self._check(k)
        self._check_sizes()

    def _is_array(self, k: int) -> bool:
        value = self.leaves[k]
        if is_layer(value):
            return True
        spec = known_spec(value)
        return isinstance(spec, Spec) and spec.python is not bool

    def _check(self, k: int) -> None:
        spec, axis = known_spec(self.leaves[k]), self.axes[k]
        rank = len(spec.shape) if isinstance(spec, Spec) and spec.shape is not None else None
        if rank is not None and not -rank <= axis < rank:
            raise ShapeError(
                f"vmap of {self.of.title} over axis {axis} of {self.names[k]}, which has {rank} axes",
                where=place_of(source()),
                remedy="map an axis that it has, or give None for it in in_axes",
            )

    def _check_sizes(self) -> None:
        """Before the function runs, where the sizes are known; else `Batch` looks at them."""
        specs = [(k, known_spec(self.leaves[k])) for k in self.mapped]
        sizes = {k: spec.shape[self.axes[k]] for k, spec in specs if isinstance(spec, Spec) and spec.shape is not None}
        if len({size for size in sizes.values() if size is not None}) > 1:
            told = ", ".join(f"{size} for {self.names[k]}" for k, size in sizes.items())
            raise ShapeError(
                f"vmap of {self.of.title} over axes of different sizes: {told}",
                where=place_of(source()),
                remedy="map axes of one size, or give None for one in in_axes",
            )

    def result(self) -> Any:
        if here.trace is None and not any(map(is_layer, self.leaves)):
            return self._by_slice()
        try:
            return self._at_once()
        except TraceError:
            if here.trace is None:
                raise
        return self._by_slice()  # not while that error is handled: an error of the body's own is what comes out

    # ------------------------------------------------------------------ all slices at once
    def _at_once(self) -> Any:
        marks: dict[int, AnyLayer] = {
            k: BatchMark.make((operand(self.leaves[k]),), (self.axes[k],)) for k in self.mapped
        }
        result = outcome(self._called([marks.get(k, leaf) for k, leaf in enumerate(self.leaves)]))
        self._unchanged(marks)
        found = Batch.of([*marks.values()], result.layers, [self.names[k] for k in self.mapped])
        return self._placed(result, found, set(marks.values()))

    def _called(self, leaves: Sequence[Any]) -> Any:
        args, kwargs = unflatten(self.tree, iter(leaves))
        return self.of.applied(*args, **kwargs)

    def _unchanged(self, marks: dict[int, AnyLayer]) -> None:
        for one in marks.values():
            if here.trace is not None and here.trace.resolve(one) is not one:
                raise DtypeError(
                    f"{self.of.title}, given to vmap, assigns to its argument",
                    where=place_of(source()),
                    remedy="copy the argument first (np.copy), and return the new value",
                )

    def _placed(self, result: Outcome, found: Sequence[Any], marks: set[AnyLayer]) -> Any:
        """The results with the axis of the slices where it is wanted."""
        axes = result.holes(spread(result.tree, self.out_axes, "out_axes", _is_axis))
        placed: list[Any] = []
        for one, whole, plain, axis in zip(result.layers, found, result.plain, axes, strict=True):
            if plain is not HOLE and not isinstance(plain, _NUMBERS):
                placed.append(plain)
            elif axis is None:
                placed.append(self._same_for_all(one, marks))
            else:
                placed.append(whole if axis == 0 else np.moveaxis(whole, 0, axis))
        return result.rebuilt(placed)

    def _same_for_all(self, one: AnyLayer, marks: set[AnyLayer]) -> AnyLayer:
        if open_slices(one) & marks:
            self._differs()
        return one

    def _differs(self) -> NoReturn:
        raise ShapeError(
            f"vmap of {self.of.title} with out_axes=None for a result that depends on the mapped arguments",
            where=place_of(source()),
            remedy="give the axis that the slices shall have in it",
        )

    # ------------------------------------------------------------------ one after the other
    def _by_slice(self) -> Any:
        count = np.shape(self.leaves[self.mapped[0]])[self.axes[self.mapped[0]]]
        if not count:
            raise TraceError(
                f"vmap of {self.of.title} over no slices, where it asks for values",
                where=place_of(source()),
                remedy="skip empty arrays",
            )
        results = [outcome(self._called([self._slice(k, at) for k in range(len(self.leaves))])) for at in range(count)]
        first = results[0]
        columns = [[_plain(one, k) for one in results] for k in range(len(first.layers))] if _alike(results) else None
        if columns is None or not all(map(_can_be_stacked, columns)):
            raise ShapeError(
                f"{self.of.title}, given to vmap, returns other structures for other slices",
                where=place_of(source()),
                remedy="return the same structure for each, with arrays and numbers where they differ",
            )
        axes = first.holes(spread(first.tree, self.out_axes, "out_axes", _is_axis))
        for column, axis in zip(columns, axes, strict=True):
            if axis is None and not all(_is_same(one, column[0]) for one in column):
                self._differs()
        return first.rebuilt([_stacked(column, axis) for column, axis in zip(columns, axes, strict=True)])

    def _slice(self, k: int, at: int) -> Any:
        if k not in self.mapped:
            return self.leaves[k]
        leaf, axis = native(self.leaves[k]), self.axes[k]
        return leaf[(slice(None),) * axis + (at,)] if axis >= 0 else leaf[(Ellipsis, at, *[slice(None)] * (-axis - 1))]


def _plain(result: Outcome, k: int) -> Any:
    return result.layers[k] if result.plain[k] is HOLE else result.plain[k]


def _alike(results: Sequence[Outcome]) -> bool:
    first = results[0]
    return all(len(one.layers) == len(first.layers) and not one.differs(first) for one in results)


_NUMBERS = (Layer, float, int, complex, np.ndarray, np.generic)


def _can_be_stacked(column: Sequence[Any]) -> bool:
    return isinstance(column[0], _NUMBERS) or all(bits(one) == bits(column[0]) for one in column)


def _is_same(one: Any, first: Any) -> bool:
    """Whether the result of one slice is that of the first: the same number, or the same tree over the same leaves."""
    if not is_layer(one) or not is_layer(first):
        return is_layer(one) == is_layer(first) and bits(native(one)) == bits(native(first))
    return alike(one, first) and _leaves(one) == _leaves(first)


def _leaves(node: AnyLayer) -> list[AnyLayer]:
    return [one for one in topological([node]) if not isinstance(one, (Operation, Literal))]


def _stacked(column: Sequence[Any], axis: Any) -> Any:
    return column[0] if axis is None or not isinstance(column[0], _NUMBERS) else np.stack(column, axis=axis)


def _is_axis(value: Any) -> bool:
    return value is None or (isinstance(value, (int, np.integer)) and not isinstance(value, bool))


def _names(tree: Tree) -> list[str]:
    args, kwargs = tree[2]
    return [
        *[name for k, child in enumerate(args[2]) for name in paths(child, f"argument {k}")],
        *[name for key, child in zip(kwargs[1], kwargs[2], strict=True) for name in paths(child, f"argument {key}")],
    ]


def _spread_axes(tree: Tree, in_axes: Axes, title: str) -> list[Any]:
    """The axis of each leaf of the arguments."""
    args, kwargs = tree[2]
    if not _is_axis(in_axes) and not isinstance(in_axes, (tuple, list)):
        raise DtypeError(
            f"vmap of {title} with in_axes={in_axes!r}",
            where=place_of(source()),
            remedy="give an int, None, or a tuple of one entry for each argument",
        )
    given = [in_axes] * len(args[2]) if _is_axis(in_axes) else list(in_axes)
    if len(given) != len(args[2]):
        raise ShapeError(
            f"vmap of {title} with in_axes of {len(given)} entries for {len(args[2])} arguments",
            where=place_of(source()),
            remedy="give one entry for each argument by position",
        )
    axes: list[Any] = []
    for k, (child, axis) in enumerate(zip(args[2], given, strict=True)):
        axes += spread(child, axis, f"in_axes[{k}]", _is_axis)
    return axes + spread(kwargs, 0, "", _is_axis)
