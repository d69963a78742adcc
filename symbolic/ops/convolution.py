"""How does a kernel slide over an image? Windows as a view, and convolution and pooling written with them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import as_strided

from symbolic.context import here
from symbolic.errors import ShapeError
from symbolic.layer import Layer, refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import ints, plain
from symbolic.ops.families import Like
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Dim, Shape, Spec, show

__all__ = ["Unwindows", "Windows", "avg_pool2d", "conv2d", "max_pool2d", "windows"]


def _counts(shape: Shape, size: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Shape:
    """How many windows stand along each of the trailing axes."""
    if len(shape) < len(size):
        raise ShapeError(
            f"windows of size {size} over an array of shape {show(shape)}: too few axes",
            remedy=f"give an array with at least {len(size)} axes",
        )
    counts: list[Dim] = []
    for n, k, s, d in zip(shape[len(shape) - len(size) :], size, stride, dilation, strict=True):
        if n is not None and n < (k - 1) * d + 1:
            raise ShapeError(
                f"a window of size {size} (dilation {dilation}) over an array of shape {show(shape)}: "
                f"it spans {(k - 1) * d + 1} entries of an axis of size {n}",
                remedy="use a smaller window, or more padding",
            )
        counts.append(None if n is None else (n - (k - 1) * d - 1) // s + 1)
    return tuple(counts)


def sliding(x: Any, size: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Any:
    """The windows of an array, as a view: its leading axes, the places, and the entries of a window."""
    lead = x.ndim - len(size)
    counts = _counts(x.shape, size, stride, dilation)
    steps, tail = x.strides[:lead], x.strides[lead:]
    strides = (
        *steps,
        *[step * s for step, s in zip(tail, stride, strict=True)],
        *[step * d for step, d in zip(tail, dilation, strict=True)],
    )
    return as_strided(x, (*x.shape[:lead], *counts, *size), strides, writeable=False)  # type: ignore[arg-type]  # known


class Windows(Operation):
    """Every window over the trailing axes, as a view: leading axes, places, entries of the window."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"window": (), "stride": (), "dilation": ()}
    view = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = plain(specs[0])
        if spec.shape is None:
            return spec
        lead = len(spec.shape) - len(self.window)
        counts = _counts(spec.shape, *self.parameters)
        return Spec((*spec.shape[: max(lead, 0)], *counts, *self.window), spec.dtype)

    def evaluate(self, *values: Any) -> Any:
        return sliding(np.asarray(values[0]), *self.parameters)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (Unwindows.make((as_layer(delta), operand), self.parameters),)


class Unwindows(Like):
    """Zeros like an operand, to which every window is added at its place: one sum for each entry of a window."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"window": (), "stride": (), "dilation": ()}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        delta, total = values[0], np.zeros(np.shape(values[1]), values[0].dtype)
        rank = len(self.window)
        counts = delta.shape[delta.ndim - 2 * rank : delta.ndim - rank]
        for offset in np.ndindex(*self.window):
            places: Any = (Ellipsis, *self._places(offset, counts))
            total[places] += delta[(Ellipsis, *offset)]
        return total

    def _places(self, offset: tuple[int, ...], counts: tuple[int, ...]) -> list[slice]:
        """The entries of the array that stand at one place of their windows."""
        return [
            slice(at * d, at * d + (n - 1) * s + 1 if n else 0, s)
            for at, n, s, d in zip(offset, counts, self.stride, self.dilation, strict=True)
        ]

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return Windows.make((as_layer(delta),), self.parameters), None


def windows(x: Any, size: Any, stride: Any = 1, dilation: Any = 1) -> Any:
    """Sliding windows over the trailing axes of an array or a layer, without copies.

    `x` is (..., h, w) for a pair as `size`; the result is (..., places h, places w, *size), of the same dtype, and
    read-only. `stride` and `dilation` are an int or one for each axis. ShapeError for a window larger than the array.

    >>> import numpy as np
    >>> windows(np.arange(4.0), 2)
    array([[0., 1.],
           [1., 2.],
           [2., 3.]])
    """
    sizes = _several(size, "size", 1, len(size) if np.ndim(size) else 1)
    rest = [_several(one, name, 1, len(sizes)) for one, name in ((stride, "stride"), (dilation, "dilation"))]
    if isinstance(x, Layer):
        return Windows.make((as_layer(x),), (sizes, *rest))
    return sliding(np.asarray(x), sizes, *rest)


def _several(value: Any, name: str, least: int, count: int) -> tuple[int, ...]:
    """An int for each axis, from an int or a sequence."""
    given = ints(value, name)
    numbers = (given,) * count if isinstance(given, int) else given
    if numbers is None or len(numbers) != count or any(one < least for one in numbers):
        remedy = f"give an int or {count} of them, each at least {least}"
        refuse(f"{name}={value!r} for {count} axes", remedy, ShapeError)
    return tuple(numbers)


# --------------------------------------------------------------------------- images


def conv2d(x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1) -> Any:
    """The cross-correlation of images with a kernel, as deep learning calls convolution; arrays or layers.

    `x` is (n, channels, h, w), `w` is (out, channels, kh, kw), `bias` is (out,); the result is (n, out, h', w') in
    the dtype that x and w have together. `stride`, `padding` (zeros) and `dilation` are an int or a pair.
    ShapeError for ranks, channels or windows that do not fit.

    >>> import numpy as np
    >>> image = np.arange(1.0, 17.0).reshape(1, 1, 4, 4)
    >>> conv2d(image, np.ones((1, 1, 3, 3)), padding=1)[0, 0]
    array([[14., 24., 30., 22.],
           [33., 54., 63., 45.],
           [57., 90., 99., 69.],
           [46., 72., 78., 54.]])
    """
    image, kernel = _shape(x), _shape(w)
    if len(image) != 4 or len(kernel) != 4 or (image[1] != kernel[1] and None not in (image[1], kernel[1])):
        refuse(
            f"conv2d of an image of shape {show(image)} and a weight of shape {show(kernel)}",
            "give an image (n, channels, h, w) and a weight (out, channels, kh, kw) of as many channels",
            ShapeError,
        )
    size = kernel[2:]
    padded = _padded(x, _several(padding, "padding", 0, 2), 0)
    columns = windows(padded, size, _several(stride, "stride", 1, 2), _several(dilation, "dilation", 1, 2))
    # the weight first: what is copied out of the windows then lies in the order of the image
    out = np.moveaxis(np.tensordot(w, columns, axes=((1, 2, 3), (1, 4, 5))), 0, 1)
    return out if bias is None else out + np.expand_dims(bias, (1, 2))


def max_pool2d(x: Any, size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Any:
    """The greatest entry of each window of images (..., h, w); the border counts as -inf.

    `stride` is `size` where it is not given. Entries that are equally great share the gradient.

    >>> import numpy as np
    >>> max_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), 2)[0, 0]
    array([[ 5.,  7.],
           [13., 15.]])
    """
    return np.max(_pooled(x, size, stride, padding, dilation, -np.inf), axis=(-2, -1))


def avg_pool2d(x: Any, size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Any:
    """The mean of each window of images (..., h, w); the border counts, as zeros.

    >>> import numpy as np
    >>> avg_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), 2)[0, 0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]])
    """
    return np.mean(_pooled(x, size, stride, padding, dilation, 0), axis=(-2, -1))


def _pooled(x: Any, size: Any, stride: Any, padding: Any, dilation: Any, border: float) -> Any:
    sizes = _several(size, "size", 1, 2)
    padded = _padded(x, _several(padding, "padding", 0, 2), border)
    return windows(padded, sizes, sizes if stride is None else _several(stride, "stride", 1, 2), dilation)


def _padded(x: Any, padding: tuple[int, ...], border: float) -> Any:
    if not any(padding):
        return x
    lead = x.ndim - 2
    if lead < 0:
        refuse(f"padding of an image of shape {show(_shape(x))}", "give an image with the axes (..., h, w)", ShapeError)
    return np.pad(x, (*[(0, 0)] * lead, *[(p, p) for p in padding]), constant_values=border)


def _shape(x: Any) -> Any:
    """The shape; a constant or a weight knows its own, also outside a trace."""
    if isinstance(x, Layer) and here.facts is None and hasattr(type(x), "value"):
        return array(x.infer()).shape
    return tuple(x.shape) if isinstance(x, Layer) else np.shape(x)
