"""What do NumPy's functions that write into an array mean for a traced one? The assignment that each stands for.

They are handed the array as the body holds it, so they are not formulas: those see what an array stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from symbolic.layer import FUNCTIONS, METHODS, Layer, plainly, refuse
from symbolic.ops.binding import array_method


def writing(function: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a NumPy function that writes into its first argument its assignment."""

    def decorate(written: Callable[..., None]) -> Callable[..., None]:
        def call(args: Any, kwargs: Any) -> None:
            target = args[0] if args else None
            if not isinstance(target, Layer):
                refuse(
                    f"np.{function.__name__} would write traced values into an array that is not traced",
                    "make the array in the traced function (np.zeros, np.copy), or use y[index] = value on one",
                )
            written(*args, **plainly(kwargs))

        FUNCTIONS[function] = call
        return written

    return decorate


@writing(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    dst[...] = src if where is True else np.where(where, src, dst)


@writing(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    if wrap or a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1):
        refuse("np.fill_diagonal of a traced array with wrap=True, or with no diagonal", "assign entries: a[i, i] = v")
    along = np.arange(min(a.shape))
    _as_many(val, len(along), "np.fill_diagonal")
    a[(along,) * a.ndim] = val


@writing(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    if mode != "raise":
        refuse(f"np.put(mode={mode!r}) into a traced array", "leave mode= out, and keep the indices in range")
    _as_many(v, np.size(ind), "np.put")
    Flat(a)[np.ravel(ind)] = v if np.ndim(v) == 0 else np.ravel(v)


@writing(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    if np.size(values) != 1 and tuple(np.shape(values)) != tuple(a.shape):
        _uneven("np.putmask")
    a[...] = np.where(mask, values, a)


@writing(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    if np.size(vals) != 1:
        _uneven("np.place")
    arr[...] = np.where(mask, vals, arr)


def _as_many(values: Any, count: int, title: str) -> None:
    if np.ndim(values) and np.size(values) != count:
        _uneven(title)


def _uneven(title: str) -> NoReturn:
    refuse(f"{title} with another number of values than of places, in a traced array", "give a value for each place")


# --------------------------------------------------------------------------- methods


@array_method("fill")
def fill(layer: Any, value: Any) -> None:
    layer[...] = value


@array_method("sort")
def sort(layer: Any, axis: int = -1, kind: Any = None, **kwargs: Any) -> None:
    layer[...] = np.sort(layer, axis=axis, kind=kind, **kwargs)


METHODS["put"] = lambda layer: lambda indices, values, mode="raise": put(layer, indices, values, mode)


class Flat:
    """`y.flat`: the entries in a row, which can also be written."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __len__(self) -> int:
        return int(self.array.size)

    def __iter__(self) -> Iterator[Any]:
        return iter(np.ravel(self.array))

    def __getitem__(self, index: Any) -> Any:
        return np.copy(np.ravel(self.array)[index])[()]

    def __setitem__(self, index: Any, value: Any) -> None:
        entries = np.copy(np.ravel(self.array))
        entries[index] = value
        self.array[...] = np.reshape(entries, self.array.shape)


METHODS["flat"] = Flat
