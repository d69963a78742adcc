"""How is the gradient of a convolution by its weight written? As sums of products over the pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symbolic.backends.native.canvas import Window, clear
from symbolic.backends.native.conv import Four, begun, dense, room
from symbolic.backends.native.counting import each, inner, lanes_within, minus, plus, times
from symbolic.backends.native.gemm import Epilogue
from symbolic.backends.native.host import Host
from symbolic.backends.native.packing import lay
from symbolic.backends.native.sums import Sums, looped, stored, term
from symbolic.backends.native.text import BITS, Function, Module, Value
from symbolic.backends.native.tiles import lanes, strips, widest


class _Plan(NamedTuple):
    """Entries of the kernel that lie beside each other where channels come last."""

    window: Window

    @property
    def pitch(self) -> int:
        return self.window.width + 2 * self.window.padding[1]

    @property
    def entries(self) -> int:
        """Of an image with its border, as [row][column][channel]."""
        return (self.window.height + 2 * self.window.padding[0]) * self.pitch * self.window.channels

    @property
    def joined(self) -> bool:
        """Are the columns of the kernel beside each other too?"""
        return self.window.groups == 1 and self.window.dilation[1] == 1

    @property
    def segments(self) -> tuple[int, int]:
        """How many, along rows and columns of the kernel."""
        return self.window.kernel[0], 1 if self.joined else self.window.kernel[1]

    @property
    def length(self) -> int:
        return self.window.group[0] * (self.window.kernel[1] if self.joined else 1)

    @property
    def step(self) -> int:
        """Entries of the sums from segment to segment: as many as whole vectors have on every host."""
        return -(-self.length // 16) * 16

    @property
    def row(self) -> int:
        """Entries of the sums of one result."""
        return self.segments[0] * self.segments[1] * self.step


def weight_gradient_bytes(window: Window, element: str) -> int:
    """How much memory `weight_gradient` needs besides its operands; aligned to 64 bytes it is fastest."""
    plan = _Plan(window)
    entries = room(plan.entries) + room(window.out * plan.row) + room(window.out * window.terms)
    return entries * BITS[element] // 8


def weight_gradient(
    module: Module,
    name: str,
    element: str,
    host: Host,
    window: Window,
    *,
    images: int | None = None,
    x: Four | None = None,
    delta: tuple[int, int, int] | None = None,
    w: tuple[int, int] | None = None,
    epilogue: Epilogue | None = None,
    extra: Sequence[str] = (),
    private: bool = False,
) -> Function:
    """A function that computes the gradient of a convolution by its weight, summed over the images.

    Its parameters are the addresses of the images, of the delta (n, out, rows, columns), of the gradient (out, channels
    // groups, kh, kw) and of a workspace (`weight_gradient_bytes`), the number of images if that is None here, then
    `extra`. Strides as for `convolution`: of `x` (image, channel, row, column), of `delta` (image, channel, pixel), of
    the gradient `w` (result, entry): entries are numbered through channels, rows and columns of the kernel. The
    `epilogue` is that of a product: `(f, sums, row, column, mask)`, with the result as row and the entry as column.
    """
    f, many = begun(module, name, images, extra, private)
    source, deltas, result, work = f.arguments[:4]
    plan, width = _Plan(window), lanes(element, host)
    xs = x or dense(window.channels, window.height, window.width)
    ds = delta or (window.out * window.pixels, window.pixels, 1)
    sums = f.at(work, f.index(room(plan.entries)), element)
    ordered = f.at(sums, f.index(room(window.out * plan.row)), element)
    clear(f, element, width, work, f.index(plan.entries))
    clear(f, element, width, sums, f.index(window.out * plan.row))
    with each(f, f.index(0), many) as image:
        _fill(f, element, width, plan, work, f.at(source, times(f, image, f.index(xs[0])), element), xs)
        origin = f.at(deltas, times(f, image, f.index(ds[0])), element)
        _image(f, element, host, plan, (work, origin, sums), ds)
    _order(f, element, plan, sums, ordered)
    terms, steps = f.index(window.terms), w or (window.terms, 1)
    with each(f, f.index(0), f.index(window.out)) as row, each(f, f.index(0), terms, width) as column:
        one = f.load(f.at(ordered, inner(f, column, (row, terms)), element), element, width)
        mask = lanes_within(f, minus(f, terms, column), width)
        if epilogue is not None:
            epilogue(f, one, row, column, mask)
        else:
            at = f.at(result, inner(f, f.index(0), (row, f.index(steps[0])), (column, f.index(steps[1]))), element)
            stored(f, one, at, f.index(steps[1]), mask, False)
    f.give()
    return f


def _fill(f: Function, element: str, width: int, plan: _Plan, to: Value, image: Value, strides: Four) -> None:
    """An image, with its channels last, in its border."""
    window = plan.window
    (_, channel, row, column), channels = strides, f.index(window.channels)
    first = (window.padding[0] * plan.pitch + window.padding[1]) * window.channels
    with each(f, f.index(0), f.index(window.height)) as y:
        target = f.at(to, inner(f, f.index(first), (y, f.index(plan.pitch * window.channels))), element)
        start = f.at(image, times(f, y, f.index(row)), element)
        steps = f.index(column), f.index(channel)
        lay(f, element, width, (start, *steps), (target, channels), (f.index(window.width), channels))


def _image(
    f: Function, element: str, host: Host, plan: _Plan, memory: tuple[Value, Value, Value], delta: tuple[int, int, int]
) -> None:
    """Add what one image gives, in tiles of results and vectors of a segment: memory is image, delta and sums."""
    (source, deltas, sums), window, width = memory, plan.window, lanes(element, host)
    (channels, results), (high, wide) = window.group, plan.segments
    zero, (dy, dx) = f.index(0), window.dilation
    with (
        each(f, zero, f.index(window.groups)) as g,
        each(f, zero, f.index(high)) as ky,
        each(f, zero, f.index(wide)) as kx,
    ):
        first = inner(f, zero, (ky, f.index(dy * plan.pitch * window.channels)), (kx, f.index(dx * window.channels)))
        read = f.at(source, inner(f, first, (g, f.index(channels))), element)
        segment = times(f, inner(f, kx, (ky, f.index(wide))), f.index(plan.step))
        at = 0
        for strip in strips(results, plan.length, widest(host), element, host):
            begin, end = f.index(at), zero
            at += strip.many * strip.vectors * width
            for height, count in strip.rows:
                start, end = end, plus(f, end, f.index(height * count))
                with each(f, start, end, height) as r, each(f, zero, f.index(strip.many)) as number:
                    column = inner(f, begin, (number, f.index(strip.vectors * width)))
                    result = inner(f, r, (g, f.index(results)))
                    own = f.at(deltas, times(f, result, f.index(delta[1])), element)
                    kept = f.at(sums, inner(f, plus(f, segment, column), (result, f.index(plan.row))), element)
                    places = (own, f.at(read, column, element), kept)
                    _tile(f, element, host, plan, places, (height, strip.vectors), delta)


def _tile(
    f: Function,
    element: str,
    host: Host,
    plan: _Plan,
    places: tuple[Value, Value, Value],
    size: tuple[int, int],
    delta: tuple[int, int, int],
) -> None:
    """Sums over all pixels of one image: places are those of the delta, of the image and of the sums so far."""
    (own, read, kept), window, width = places, plan.window, lanes(element, host)
    (height, vectors), (sy, sx) = size, window.stride
    at = [[f.at(kept, f.index(r * plan.row + v * width), element) for v in range(vectors)] for r in range(height)]

    def across(y: Value, sums: Sums) -> Sums:
        line = f.at(own, times(f, y, f.index(window.columns * delta[2])), element)
        start = f.at(read, times(f, y, f.index(sy * plan.pitch * window.channels)), element)

        def step(x: Value, sums: Sums) -> Sums:
            index, first = times(f, x, f.index(delta[2])), times(f, x, f.index(sx * window.channels))

            def left(r: int) -> Value:
                return f.load(f.at(line, plus(f, index, f.index(r * delta[1])), element), element)

            def right(v: int) -> Value:
                return f.load(f.at(start, plus(f, first, f.index(v * width)), element), element, width)

            return term(f, sums, left, right, host)

        return looped(f, sums, f.index(window.columns), step)

    sums = [[f.load(one, element, width) for one in line] for line in at]
    sums = looped(f, sums, f.index(window.rows), across)
    for row, line in enumerate(sums):
        for v, one in enumerate(line):
            f.store(one, at[row][v])


def _order(f: Function, element: str, plan: _Plan, sums: Value, to: Value) -> None:
    """The sums in the order of the weight: channel, row and column of the kernel."""
    window, zero = plan.window, f.index(0)
    (kh, kw), (channels, _) = window.kernel, window.group
    aside = channels if plan.joined else plan.step  # from column to column of the kernel
    loops = [f.loop(zero, f.index(many)) for many in (window.out, channels, kh, kw)]
    with loops[0] as o, loops[1] as c, loops[2] as ky, loops[3] as kx:
        row = f.index(plan.segments[1] * plan.step)
        index = inner(f, c, (o, f.index(plan.row)), (ky, row), (kx, f.index(aside)))
        place = inner(f, kx, (ky, f.index(kw)), (c, f.index(kh * kw)), (o, f.index(window.terms)))
        f.store(f.load(f.at(sums, index, element), element), f.at(to, place, element))
