"""Which programs, values and layouts of memory is the native machine tried on?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

# --------------------------------------------------------------------------- layouts


def _strided(x: Any) -> Any:
    """Every second entry of a larger array, in each axis."""
    wide = np.empty([2 * n for n in x.shape], x.dtype)[tuple([slice(None, None, 2)] * x.ndim)]
    wide[...] = x
    return wide


def _backwards(x: Any) -> Any:
    """The same entries, stored from the last to the first."""
    turn = tuple([slice(None, None, -1)] * x.ndim)
    return x[turn].copy()[turn]


def _read_only(x: Any) -> Any:
    x = x.copy()
    x.flags.writeable = False
    return x


def _askew(x: Any) -> Any:
    """Not aligned to its entries' size."""
    memory = np.empty(x.nbytes + 1, np.uint8)
    skewed = memory[1:].view(x.dtype).reshape(x.shape)
    skewed[...] = x
    return skewed


def _of_arrays(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: change(x) if isinstance(x, np.ndarray) and x.ndim and x.dtype != object else x


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "in C order": lambda x: x,
    "in Fortran's order": _of_arrays(np.asfortranarray),
    "with gaps": _of_arrays(_strided),
    "backwards": _of_arrays(_backwards),
    "read-only": _of_arrays(_read_only),
    "not aligned": _of_arrays(_askew),
    "of swapped bytes": _of_arrays(lambda x: x.astype(x.dtype.newbyteorder("S"))),
    "stretched": _of_arrays(lambda x: np.broadcast_to(x[:1], x.shape) if x.ndim and x.shape[0] else x),
}


def special_values(dtype: Any) -> Any:
    """Zeros, denormals, infinities, NaN, the largest and the smallest numbers, and some usual ones."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return np.array(sorted({0, 1, 2, 3, 7, info.max, info.max - 1, info.min, max(info.min, -1)}), kind)
    limits = np.finfo(kind)
    least, tiny = float(limits.smallest_subnormal), float(limits.tiny)
    sizes = [0.0, least, 3 * least, tiny, float(limits.eps), 0.5, 1.0, 1.5, 2.5, 3.0, np.pi / 2, 88.0, 709.0, 1e10]
    sizes += [float(limits.max), np.inf]
    return np.array([*sizes, *[-one for one in sizes], np.nan], kind)


# --------------------------------------------------------------------------- programs


class Drawn(NamedTuple):
    """One operation of a program: which, on which of the values so far, with which choice of its own."""

    which: int
    first: int
    second: int
    choice: int


def _axis(x: Any, k: int) -> Any:
    """An axis, several, or all of them."""
    if x.ndim == 0:
        return None
    if x.ndim > 1 and k % 5 == 4:
        return tuple(sorted({k % x.ndim, (k // 2) % x.ndim}))
    return None if k % 5 == 3 else k % x.ndim


def _with(x: Any, y: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """Two values together, if they broadcast."""
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return None
    return combine(x, y) if np.prod(shape) <= 4000 and len(shape) <= 4 else None


def _product(x: Any, y: Any, k: int) -> Any:
    if x.ndim == 0 or y.ndim == 0:
        return None
    if k % 3 == 0 and x.shape[-1] == y.shape[max(y.ndim - 2, 0)]:
        try:
            np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        except ValueError:
            return None
        return x @ y
    if k % 3 == 1 and x.shape[-1] == y.shape[-1]:
        return np.tensordot(x, y, (x.ndim - 1, y.ndim - 1)) if x.ndim + y.ndim <= 5 else None
    if x.ndim == 2 and y.ndim == 2 and x.shape[0] == y.shape[0]:
        return np.einsum(("ij,ik->jk", "ij,ik->kj", "ij,ik->i")[k % 2], x, y)
    return np.outer(x, y) if x.ndim == 1 and y.ndim == 1 else None


def _slice(x: Any, k: int) -> Any:
    if x.ndim == 0:
        return None
    forms: list[Any] = [
        *(slice(None, None, -1), slice(1, None), slice(None, -1), slice(None, None, 2), slice(k % 2, None, 3)),
        *((Ellipsis, slice(None, None, -2)), (None, slice(1, None)), (Ellipsis, None), np.array([0, -1, 0])),
    ]
    found = x[forms[k % len(forms)]]
    return found if found.size else None


def _join(x: Any, y: Any, k: int) -> Any:
    if x.shape == y.shape and k % 2:
        return np.stack([x, y, x], axis=k % (x.ndim + 1)) if x.ndim < 4 else None
    axis = k % x.ndim if x.ndim else 0
    if (
        not x.ndim
        or x.ndim != y.ndim
        or any(a != b for n, (a, b) in enumerate(zip(x.shape, y.shape, strict=False)) if n != axis)
    ):
        return None
    return np.concatenate([x, y], axis=axis)


def _pad(x: Any, k: int) -> Any:
    widths = [(k % 3, (k + n) % 2) for n in range(x.ndim)]
    return np.pad(x, widths, constant_values=0.5 * (k % 2)) if x.ndim else None


def _softmax(x: Any, k: int) -> Any:
    if x.ndim == 0:
        return None
    axis = k % x.ndim
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def _write(x: Any, y: Any, k: int) -> Any:
    """A copy, into a part of which is written."""
    if x.ndim == 0 or x.shape[0] < 2:
        return None
    z = x * 1.0
    if k % 3 == 0:
        z[1:] += x[:-1]
    elif k % 3 == 1:
        z[::2] = 0.25
    else:
        z[0] = np.mean(y)
    return z


def _places(size: int, k: int) -> Any:
    """Numbers that name entries, some of them more than once, and some from the end."""
    return np.array([0, -1, k % size, (k // 2) % size - size, 0][: 2 + k % 4])


def _picked(x: Any, k: int) -> Any:
    """Entries that numbers name."""
    if x.ndim == 0:
        return None
    places = _places(x.shape[0], k)
    if x.ndim > 1 and k % 3 == 0:
        return x[places, _places(x.shape[1], k)]
    return np.take(x, places, axis=k % x.ndim) if k % 3 == 1 else x[places]


def _written(x: Any, y: Any, k: int) -> Any:
    """Entries that numbers name are written, or added to, one after the other, and read again."""
    if x.ndim == 0:
        return None
    z, places = x * 1.0, _places(x.shape[0], k)
    z[places] = z[places] * 2.0 - 0.5
    if x.ndim > 1:
        columns = _places(x.shape[1], k // 2)
        z[0, columns] = 0.25
        z[-1, columns] = z[0, columns] + np.mean(y)
    np.add.at(z, places[:2], 0.5)
    return z + z[places[0]]


def _run_on(x: Any, k: int) -> Any:
    """What was put together, flat: its parts run on from one row to the next."""
    if x.ndim < 2 or x.size > 600:
        return None
    z = x * 1.0
    z[:, 0] = 0.5
    flat = np.concatenate([z, x], axis=1).ravel() if k % 2 else z.ravel()
    return np.roll(flat, k % 7 - 3) + flat if k % 3 else np.pad(flat, (1, k % 4))


def _solved(x: Any, k: int) -> Any:
    """Equations of a matrix that has an inverse."""
    if x.ndim != 2 or x.shape[0] > 12:
        return None
    square = np.tanh(x) @ np.tanh(x).T + (1.0 + x.shape[1]) * np.eye(x.shape[0])
    return np.linalg.solve(square, x) if k % 2 else np.linalg.inv(square) * np.linalg.slogdet(square)[1]


def _move(x: Any, k: int) -> Any:
    if x.ndim == 0:
        return np.reshape(x, (1, 1))
    return (np.transpose(x), np.ravel(x), x[::-1], np.expand_dims(x, k % (x.ndim + 1)), np.moveaxis(x, 0, -1))[k % 5]


def _windows(x: Any, k: int) -> Any:
    """A convolution along the last axis."""
    if x.ndim == 0 or x.shape[-1] < 3:
        return None
    parts = np.lib.stride_tricks.sliding_window_view(x, 3, axis=-1)
    return parts @ np.array([0.5, -1.0, 0.25], dtype=np.float64) if k % 2 else np.sum(parts, axis=-1) * 0.3


def _spread(x: Any, k: int) -> Any:
    """Normalized by mean and spread."""
    axis = _axis(x, k)
    if x.size < 2 or x.ndim == 0:
        return None
    centre = x - np.mean(x, axis=axis, keepdims=True)
    return (
        centre / (np.sqrt(np.var(x, axis=axis, keepdims=True)) + 0.5)
        if k % 2
        else centre * np.std(x, axis=axis)[()]
        if axis is None
        else centre / (1.0 + np.std(x, axis=axis, keepdims=True))
    )


OPERATIONS: list[Callable[[Any, Any, int], Any]] = [
    lambda x, y, k: np.tanh(x),
    lambda x, y, k: np.sin(x) * 1.5 - x,
    lambda x, y, k: np.exp(-x * x) + np.log1p(np.abs(x)),
    lambda x, y, k: 1.0 / (1.0 + np.exp(-x)),
    lambda x, y, k: np.sqrt(x * x + 0.25) ** (k % 4),
    lambda x, y, k: np.where(x > 0.1, x, -0.5 * x) if k % 2 else np.maximum(x, 0.0),
    lambda x, y, k: np.clip(x, -0.9, 1.1) * (x != 0.0),
    lambda x, y, k: np.arctan2(x, 1.5) + np.logaddexp(x, 0.3),
    lambda x, y, k: _with(x, y, (lambda a, b: a + b, lambda a, b: a * b - b, lambda a, b: a / (2.0 + b * b))[k % 3]),
    lambda x, y, k: _with(x, y, (np.maximum, np.minimum, np.hypot, lambda a, b: np.where(a > b, a, 2.0 * b))[k % 4]),
    lambda x, y, k: np.sum(x, axis=_axis(x, k), keepdims=bool(k % 2)) / max(x.size, 1) ** 0.5,
    lambda x, y, k: np.mean(x, axis=_axis(x, k), keepdims=not k % 2),
    lambda x, y, k: (np.max, np.min)[k % 2](x, axis=_axis(x, k // 2), keepdims=bool(k % 3)),
    lambda x, y, k: x * np.sum(x, axis=_axis(x, k), keepdims=True) / x.size,
    lambda x, y, k: np.prod(np.tanh(x), axis=_axis(x, k)),
    lambda x, y, k: _product(x, y, k),
    lambda x, y, k: _product(np.swapaxes(x, 0, -1), y, k) if x.ndim else None,
    lambda x, y, k: _slice(x, k),
    lambda x, y, k: _join(x, y, k),
    lambda x, y, k: _pad(x, k),
    lambda x, y, k: _softmax(x, k),
    lambda x, y, k: _write(x, y, k),
    lambda x, y, k: _move(x, k),
    lambda x, y, k: _windows(x, k),
    lambda x, y, k: _picked(x, k),
    lambda x, y, k: _written(x, y, k),
    lambda x, y, k: _run_on(x, k),
    lambda x, y, k: _solved(x, k),
    lambda x, y, k: _spread(x, k),
    lambda x, y, k: np.broadcast_to(x, (3, *x.shape)) * 1.0 if x.ndim < 3 else None,
    lambda x, y, k: np.cumsum(x, axis=k % x.ndim) if x.ndim else None,  # no loops are written for it
]


def program(steps: Sequence[Drawn], outputs: int) -> Callable[..., Any]:
    """A function of arrays: each operation on some of the values so far; the last few are what it gives."""

    def f(*inputs: Any) -> Any:
        values = list(inputs)
        for one in steps:
            x, y = values[-1 - one.first % min(len(values), 3)], values[one.second % len(values)]
            made = OPERATIONS[one.which % len(OPERATIONS)](x, y, one.choice)
            if made is not None and 0 < made.size <= 4000 and made.ndim <= 4:
                values.append(made)
        return tuple(values[-outputs:]) if outputs > 1 else values[-1]

    return f


def described(steps: Sequence[Drawn]) -> str:
    return " ".join(f"{one.which % len(OPERATIONS)}({one.first},{one.second},{one.choice})" for one in steps)
