"""How does a kernel slide over an image? Convolution and pooling, for arrays and for layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.context import here
from symbolic.errors import ShapeError
from symbolic.layer import AnyLayer, Layer, refuse
from symbolic.leaves import Identity
from symbolic.literal import as_layer
from symbolic.ops.axes import ints
from symbolic.ops.operation import Operation, array
from symbolic.ops.sliding import WindowMax, Windows, WindowSum, sliding
from symbolic.spec import show

__all__ = ["avg_pool2d", "conv2d", "max_pool2d", "windows"]


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
    if len(image) != 4 or len(kernel) != 4 or image[1] != kernel[1]:
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
    return _pooled(WindowMax, x, size, stride, padding, dilation, -np.inf)


def avg_pool2d(x: Any, size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Any:
    """The mean of each window of images (..., h, w); the border counts, as zeros.

    >>> import numpy as np
    >>> avg_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), 2)[0, 0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]])
    """
    height, width = _several(size, "size", 1, 2)
    return _pooled(WindowSum, x, size, stride, padding, dilation, 0) / (height * width)


def _pooled(kind: type[Operation], x: Any, size: Any, stride: Any, padding: Any, dilation: Any, border: float) -> Any:
    sizes = _several(size, "size", 1, 2)
    steps = sizes if stride is None else _several(stride, "stride", 1, 2)
    padded = _padded(x, _several(padding, "padding", 0, 2), border)
    operand: AnyLayer = as_layer(padded) if isinstance(x, Layer) else Identity()
    node = kind.make((operand,), (sizes, steps, _several(dilation, "dilation", 1, 2)))
    return node if isinstance(x, Layer) else node.evaluate(padded)


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
    return x.shape if isinstance(x, Layer) else np.shape(x)  # of a traced value: only what is read becomes a guard
