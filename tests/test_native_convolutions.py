"""Is a convolution that is written as LLVM's text right, and are its gradients, for any window and processor?

The oracle is the definition: a sum over the entries of the kernel, each with the pixels that it reads.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from compiling import PROCESSORS, compiled, element, processor, read, steps, workspace

import symbolic as s
from symbolic.backends.native.canvas import Window
from symbolic.backends.native.conv import convolution, convolution_bytes
from symbolic.backends.native.conv_image import image_gradient, image_gradient_bytes
from symbolic.backends.native.conv_weight import weight_gradient, weight_gradient_bytes
from symbolic.backends.native.counting import inner
from symbolic.backends.native.sums import stored
from symbolic.backends.native.text import Function, Module, Value

WINDOWS = [
    Window(3, 8, 8, 5, (3, 3)),
    Window(2, 6, 33, 9, (3, 3), padding=(1, 1)),
    Window(4, 9, 11, 6, (3, 2), stride=(2, 3), padding=(1, 2), dilation=(1, 2)),
    Window(6, 13, 21, 10, (3, 3), padding=(1, 1), dilation=(2, 2), groups=2),
    Window(2, 5, 40, 3, (5, 7), stride=(2, 1), padding=(2, 3)),
    Window(3, 4, 4, 16, (1, 1)),
    Window(8, 7, 7, 16, (3, 3), padding=(1, 1)),
    Window(3, 20, 20, 4, (3, 3), stride=(4, 5)),  # some pixels are read by none
    Window(1, 3, 3, 1, (3, 3)),
    Window(8, 9, 9, 16, (3, 3), stride=(2, 2), padding=(1, 1), groups=4),
    Window(5, 6, 6, 5, (2, 2), stride=(2, 4), dilation=(2, 4), groups=5),
    Window(2, 1, 50, 2, (1, 9), padding=(0, 4), dilation=(1, 3)),
]
IMAGES = 2


@pytest.fixture(params=PROCESSORS)
def host(request: pytest.FixtureRequest) -> Any:
    return processor(request.param)


def shapes(window: Window) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Of images, weight and result."""
    images = IMAGES, window.channels, window.height, window.width
    return images, window.weight, (IMAGES, window.out, window.rows, window.columns)


def drawn(window: Window, dtype: Any) -> list[Any]:
    rng = np.random.default_rng(5)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes(window)]


def parts(window: Window) -> Any:
    """For each entry of the kernel and each group: the pixels that it reads, and the channels and results."""
    (dy, dx), (sy, sx) = window.dilation, window.stride
    channels, results = window.group
    for g in range(window.groups):
        for i in range(window.kernel[0]):
            for j in range(window.kernel[1]):
                rows = slice(i * dy, i * dy + (window.rows - 1) * sy + 1, sy)
                columns = slice(j * dx, j * dx + (window.columns - 1) * sx + 1, sx)
                inputs, outputs = (slice(g * one, (g + 1) * one) for one in (channels, results))
                yield (slice(None), inputs, rows, columns), outputs, (outputs, slice(None), i, j)


def padded(x: Any, window: Window) -> Any:
    return np.pad(x, ((0, 0), (0, 0), *((one, one) for one in window.padding)))


def expected(window: Window, x: Any, w: Any, delta: Any) -> tuple[Any, Any, Any]:
    """The result, and both gradients, from the definition."""
    x, w, delta = (one.astype(np.float64) for one in (x, w, delta))
    wide = padded(x, window)
    result, image, weight = np.zeros_like(delta), np.zeros_like(wide), np.zeros_like(w)
    for pixels, outputs, entry in parts(window):
        result[:, outputs] += np.einsum("ncyx,oc->noyx", wide[pixels], w[entry])
        image[pixels] += np.einsum("noyx,oc->ncyx", delta[:, outputs], w[entry])
        weight[entry] += np.einsum("ncyx,noyx->oc", wide[pixels], delta[:, outputs])
    (py, px), (height, width) = window.padding, x.shape[2:]
    return result, image[:, :, py : py + height, px : px + width], weight


WRITERS = {
    "result": (convolution, convolution_bytes),
    "image": (image_gradient, image_gradient_bytes),
    "weight": (weight_gradient, weight_gradient_bytes),
}


def run(what: str, host: Any, window: Window, first: Any, second: Any, into: Any, **options: Any) -> None:
    writer, size = WRITERS[what]
    module, kind = Module(), element(into.dtype)
    extra = options.pop("given", [])
    writer(module, "conv", kind, host, window, extra=["ptr"] * len(extra), **options)  # type: ignore[operator]
    room, untouched = workspace(size(window, kind))
    kinds = [ctypes.c_void_p] * 4 + [ctypes.c_int64] + [ctypes.c_void_p] * len(extra)
    pointers = (one.ctypes.data for one in (first, second, into))
    compiled(module, "conv", host, *kinds)(*pointers, room, IMAGES, *(one.ctypes.data for one in extra))
    assert untouched()


def close(found: Any, wanted: Any, scale: Any) -> bool:
    """Within what so many rounded products may be wrong by; `scale` is the same of absolute values."""
    return bool((abs(found - wanted) <= 200 * np.finfo(found.dtype).eps * scale + 1e-30).all())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_a_convolution_and_its_gradients_are_the_sums_of_the_definition(host: Any, window: Window, dtype: Any) -> None:
    x, w, delta = drawn(window, dtype)
    wanted, scales = expected(window, x, w, delta), expected(window, abs(x), abs(w), abs(delta))
    operands = [(x, w), (delta, w), (x, delta)]
    for what, (first, second), right, scale in zip(WRITERS, operands, wanted, scales, strict=True):
        found = np.full(right.shape, np.nan, dtype)
        run(what, host, window, first, second, found)
        assert close(found, right, scale), what


def test_channels_may_come_last(host: Any) -> None:
    window = WINDOWS[3]
    x, w, delta = drawn(window, np.float32)
    wanted, scales = expected(window, x, w, delta), expected(window, abs(x), abs(w), abs(delta))

    def last(one: Any) -> Any:
        return np.ascontiguousarray(one.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)

    x, delta, w = last(x), last(delta), last(w)
    image, pixel = steps(x), steps(delta)
    result, gradient = last(np.zeros(shapes(window)[2], np.float32)), last(np.zeros(shapes(window)[0], np.float32))
    flat = (pixel[0], pixel[1], pixel[3])
    run("result", host, window, x, w, result, x=image, w=steps(w), y=flat)
    run("image", host, window, delta, w, gradient, delta=pixel, w=steps(w), x=(image[0], image[1], image[3]))
    weight = np.zeros(window.weight, np.float32)
    run("weight", host, window, x, delta, weight, x=image, delta=flat)
    for found, right, scale in zip((result, gradient, weight), wanted, scales, strict=True):
        assert close(found, right, scale)


def test_an_epilogue_has_each_result_once(host: Any) -> None:
    """Bias and a rectifier; a mask; a step of gradient descent."""
    window = WINDOWS[1]
    x, w, delta = drawn(window, np.float64)
    wanted = expected(window, x, w, delta)
    bias, mask = np.arange(window.out) - 4.0, (x > 0).astype(np.float64)

    def rectified(f: Function, sums: Value, image: Value, channel: Value, pixel: Value, some: Value | None) -> None:
        total = f.add(sums, f.splat(f.load(f.at(f.arguments[-1], channel, "double"), "double"), sums.lanes))
        total = f.select(f.compare("ogt", total, f.like(sums, 0.0)), total, f.like(sums, 0.0))
        keep(f, total, (image, channel, pixel), window.out, window.pixels, some)

    def keep(f: Function, sums: Value, at: Any, channels: int, pixels: int, some: Value | None) -> None:
        index = inner(f, at[2], (at[0], f.index(channels * pixels)), (at[1], f.index(pixels)))
        stored(f, sums, f.at(f.arguments[2], index, "double"), f.index(1), some, False)

    def masked(f: Function, sums: Value, image: Value, channel: Value, pixel: Value, some: Value | None) -> None:
        pixels = window.height * window.width
        index = inner(f, pixel, (image, f.index(window.channels * pixels)), (channel, f.index(pixels)))
        factor = read(f, f.at(f.arguments[-1], index, "double"), some, sums)
        keep(f, f.mul(sums, factor), (image, channel, pixel), window.channels, pixels, some)

    def descent(f: Function, sums: Value, row: Value, column: Value, some: Value | None) -> None:
        at = f.at(f.arguments[2], inner(f, column, (row, f.index(window.terms))), "double")
        stored(f, f.sub(read(f, at, some, sums), f.mul(f.like(sums, 0.5), sums)), at, f.index(1), some, False)

    result, gradient, weight = np.zeros_like(delta), np.zeros_like(x), w.copy()
    run("result", host, window, x, w, result, epilogue=rectified, given=[bias])
    run("image", host, window, delta, w, gradient, epilogue=masked, given=[mask])
    run("weight", host, window, x, delta, weight, epilogue=descent)
    np.testing.assert_allclose(result, np.maximum(wanted[0] + bias[:, None, None], 0), atol=1e-12)
    np.testing.assert_allclose(gradient, wanted[1] * mask, atol=1e-12)
    np.testing.assert_allclose(weight, w - 0.5 * wanted[2], atol=1e-12)


@pytest.mark.parametrize("window", [WINDOWS[1], WINDOWS[2]], ids=["direct", "strides"])
def test_infinities_are_where_the_library_has_them(host: Any, window: Window) -> None:
    x, w, delta = drawn(window, np.float64)
    x[0, 1, 2, 3], x[1, 0, 0, 0] = np.inf, np.nan
    delta[0, 1, 1, 2] = -np.inf
    w[2, 1, 0, 1] = np.inf
    found = np.zeros_like(delta)
    with np.errstate(invalid="ignore"):
        right = s.conv2d(x, w, stride=window.stride, padding=window.padding, dilation=window.dilation)
        run("result", host, window, x, w, found)
        np.testing.assert_allclose(found, right, atol=1e-11)
        for what, first, second, right in zip(
            ("image", "weight"), (delta, x), (w, delta), expected(window, x, w, delta)[1:], strict=True
        ):
            found = np.zeros_like(right)
            run(what, host, window, first, second, found)
            np.testing.assert_allclose(found, right, atol=1e-11)
