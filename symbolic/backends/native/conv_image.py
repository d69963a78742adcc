"""How is the gradient of a convolution by its images written? As convolutions of the delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from symbolic.backends.native.canvas import Canvas, Pair, Reading, Taps, Window, clear, fill
from symbolic.backends.native.conv import (
    Epilogue,
    Four,
    Sink,
    Three,
    begun,
    correlate,
    dense,
    give,
    pack,
    room,
)
from symbolic.backends.native.counting import each, inner, lanes_within, minus, plus, times
from symbolic.backends.native.host import Host
from symbolic.backends.native.sums import stored
from symbolic.backends.native.text import BITS, Function, Module, Value
from symbolic.backends.native.tiles import lanes

Give = Callable[[Value, Value, Value, "Value | None"], None]
"""`(sums, channel, pixel, mask)`: what becomes of a vector of pixels that lie beside each other."""


class Phase(NamedTuple):
    """Pixels of the image that are one stride apart: they read the same entries of the kernel."""

    reading: Reading
    first: Pair  # row and column of the first of them
    packed: int  # where its part of the weight begins


def image_gradient_bytes(window: Window, element: str) -> int:
    """How much memory `image_gradient` needs besides its operands; aligned to 64 bytes it is fastest."""
    canvas, found = phases(window)
    spare = max((room(one.reading.flattened().canvas.entries) for one in found), default=0)
    entries = room(canvas.entries) + room(_image(window)) + room(_weights(window, found)) + spare
    return entries * BITS[element] // 8


def image_gradient(
    module: Module,
    name: str,
    element: str,
    host: Host,
    window: Window,
    *,
    images: int | None = None,
    delta: Four | None = None,
    w: Four | None = None,
    x: Three | None = None,
    epilogue: Epilogue | None = None,
    extra: Sequence[str] = (),
    private: bool = False,
) -> Function:
    """A function that computes the gradient of a convolution by its images.

    Its parameters are the addresses of the delta (n, out, rows, columns), of the weight, of the gradient (n, channels,
    height, width) and of a workspace (`image_gradient_bytes`), the number of images if that is None here, then `extra`.
    Strides as for `convolution`: of `delta` (image, channel, row, column), of `x` (image, channel, pixel). No term is
    added that the convolution has not: an infinite weight meets no zero of a border.
    """
    f, many = begun(module, name, images, extra, private)
    source, weight, result, work = f.arguments[:4]
    ds, ws = delta or dense(window.out, window.rows, window.columns), w or dense(*window.weight)
    xs = x or (_image(window), window.height * window.width, 1)
    width, (canvas, found) = lanes(element, host), phases(window)
    whole = f.at(work, f.index(room(canvas.entries)), element)
    packed = f.at(whole, f.index(room(_image(window))), element)
    spare = f.at(packed, f.index(room(_weights(window, found))), element)
    clear(f, element, width, work, f.index(canvas.entries))
    channels, results = window.group
    for one in found:
        turned = (ws[1], ws[0], ws[2], ws[3])
        to = f.at(packed, f.index(one.packed), element)
        pack(f, element, one.reading, (weight, turned), to, (channels, ws[0] * results))
    finite = _finite(f, element, packed, _weights(window, found))
    with each(f, f.index(0), many) as image:
        origin = f.at(source, times(f, image, f.index(ds[0])), element)
        fill(f, element, width, canvas, work, origin, ds[1:])

        def handed(sums: Value, channel: Value, pixel: Value, mask: Value | None) -> None:
            give(f, sums, (image, channel, pixel), mask, (result, xs), epilogue)

        with f.when(finite):
            for one in found:
                own = f.at(packed, f.index(one.packed), element)
                sink = _sink(f, window, one.first, whole, handed)
                correlate(f, element, host, one.reading, (work, own, spare), channels, sink)
            if window.stride != (1, 1):
                _hand_on(f, element, width, whole, window, handed)
        with f.when(f.invert(finite)):
            _scatter(f, element, width, (origin, ds), (weight, ws), whole, window)
            _hand_on(f, element, width, whole, window, handed)
    f.give()
    return f


def _image(window: Window) -> int:
    return window.channels * window.height * window.width


def _weights(window: Window, found: Sequence[Phase]) -> int:
    return sum(window.channels * one.reading.terms for one in found)


# --------------------------------------------------------------------------- phases


def phases(window: Window) -> tuple[Canvas, list[Phase]]:
    """The canvas of a delta, and how the pixels of each phase are read from it."""
    rows, columns = _axis(window, 0), _axis(window, 1)
    top, high = _reach([taps for taps, *_ in rows], [count for _, _, count in rows], window.rows)
    left, wide = _reach([taps for taps, *_ in columns], [count for _, _, count in columns], window.columns)
    canvas = Canvas(window.groups, window.group[1], window.rows, window.columns, top, left, high, wide)
    found, at = [], 0
    for up_down, first_row, high in rows:
        for across, first_column, wide in columns:
            moved = [taps._replace(offset=taps.offset + by) for taps, by in ((up_down, top), (across, left))]
            one = Reading(canvas, moved[0], moved[1], (high, wide), 1)
            found.append(Phase(one, (first_row, first_column), at))
            at += window.channels * one.terms
    return canvas, found


def _axis(window: Window, axis: int) -> list[tuple[Taps, int, int]]:
    """For each phase of an axis: what is read of the delta, the first pixel, and how many there are.

    Pixel i of the padded image, i = q + stride · t, is what entry k of the kernel reads for the result t + (q − k ·
    dilation) / stride, where that is whole: for every so many k.
    """
    size = (window.height, window.width)[axis]
    kernel, stride, padding, dilation = (
        one[axis] for one in (window.kernel, window.stride, window.padding, window.dilation)
    )
    every = stride // math.gcd(stride, dilation)
    found = []
    for q in range(stride):
        used = [k for k in range(kernel) if (q - k * dilation) % stride == 0]
        begin = -(-(padding - q) // stride)
        count = -(-(padding + size - q) // stride) - begin
        last = used[-1] if used else 0  # the last entry reads the first result
        offset = begin + (q - last * dilation) // stride if used else 0
        if count > 0:
            taps = Taps(last, -every, len(used), offset, every * dilation // stride)
            found.append((taps, begin * stride + q - padding, count))
    return found


def _reach(taps: Sequence[Taps], counts: Sequence[int], size: int) -> tuple[int, int]:
    """How much border a canvas needs before, and its whole length."""
    used = [(one, count) for one, count in zip(taps, counts, strict=True) if one.many]
    before = max((-one.offset for one, _ in used), default=0)
    before = max(before, 0)
    ends = [before + one.offset + (one.many - 1) * one.apart + count for one, count in used]
    return before, max([before + size, *ends])


def _sink(f: Function, window: Window, first: Pair, whole: Value, handed: Give) -> Sink:
    """Results are handed on, or where pixels of a phase are apart stored in the image."""
    (sy, sx), (row0, column0) = window.stride, first

    def sink(sums: Value, channel: Value, row: Value, column: Value, mask: Value | None) -> None:
        at = inner(f, f.index(row0 * window.width + column0), (row, f.index(sy * window.width)), (column, f.index(sx)))
        if window.stride == (1, 1):
            handed(sums, channel, at, mask)
        else:
            at = inner(f, at, (channel, f.index(window.height * window.width)))
            stored(f, sums, f.at(whole, at, sums.element), f.index(sx), mask, False)

    return sink


# --------------------------------------------------------------------------- other ways


def _hand_on(f: Function, element: str, width: int, whole: Value, window: Window, handed: Give) -> None:
    """An image that is complete, vector by vector."""
    pixels = f.index(window.height * window.width)
    with each(f, f.index(0), f.index(window.channels)) as channel, each(f, f.index(0), pixels, width) as pixel:
        at = f.at(whole, inner(f, pixel, (channel, pixels)), element)
        handed(f.load(at, element, width), channel, pixel, lanes_within(f, minus(f, pixels, pixel), width))


def _finite(f: Function, element: str, weights: Value, count: int) -> Value:
    """Is every weight finite? Then zeros of a border change no sum."""
    zero = f.constant(element, 0.0)
    found = f.variable(zero)
    f.put(zero, found)
    with f.loop(f.index(0), f.index(count)) as i:
        f.put(f.add(f.get(found, element), f.mul(f.load(f.at(weights, i, element), element), zero)), found)
    return f.compare("oeq", f.get(found, element), zero)


def _scatter(
    f: Function,
    element: str,
    width: int,
    delta: tuple[Value, Four],
    weight: tuple[Value, Four],
    whole: Value,
    window: Window,
) -> None:
    """Term by term, each at the pixel that it belongs to: slow, and for weights that are not finite."""
    clear(f, element, width, whole, f.index(_image(window)))
    (source, ds), (weights, ws), (channels, results) = delta, weight, window.group
    kernel, zero = window.kernel, f.index(0)
    with f.loop(zero, f.index(window.out)) as o, f.loop(zero, f.index(channels)) as c:
        group = f.two("udiv", o, f.index(results))
        plane = times(f, plus(f, times(f, group, f.index(channels)), c), f.index(window.height * window.width))
        with f.loop(zero, f.index(kernel[0])) as ky, f.loop(zero, f.index(kernel[1])) as kx:
            entry = inner(f, zero, (o, f.index(ws[0])), (c, f.index(ws[1])), (ky, f.index(ws[2])), (kx, f.index(ws[3])))
            factor = f.load(f.at(weights, entry, element), element)
            with f.loop(zero, f.index(window.rows)) as y, f.loop(zero, f.index(window.columns)) as x:
                row, column = (
                    inner(f, f.index(-p), (one, f.index(s)), (k, f.index(d)))
                    for one, k, s, p, d in zip(
                        (y, x), (ky, kx), window.stride, window.padding, window.dilation, strict=True
                    )
                )
                inside = f.bits(
                    "and",
                    f.compare("ult", row, f.index(window.height)),
                    f.compare("ult", column, f.index(window.width)),
                )
                with f.when(inside):
                    at = f.at(whole, inner(f, plus(f, plane, column), (row, f.index(window.width))), element)
                    index = inner(f, zero, (o, f.index(ds[1])), (y, f.index(ds[2])), (x, f.index(ds[3])))
                    product = f.mul(f.load(f.at(source, index, element), element), factor)
                    f.store(f.add(f.load(at, element), product), at)
