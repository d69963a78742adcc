"""How is a convolution written? As a product whose second operand is read where the image lies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from symbolic.backends.native.canvas import Canvas, Reading, Taps, Window, clear, fill, flatten, place, up
from symbolic.backends.native.counting import each, inner, lanes_within, minus, plus, times
from symbolic.backends.native.host import Host
from symbolic.backends.native.sums import Sums, looped, nothing, stored, term
from symbolic.backends.native.text import BITS, Function, Module, Value
from symbolic.backends.native.tiles import lanes, strips, widest

Epilogue = Callable[[Function, Value, Value, Value, Value, "Value | None"], None]
"""`(f, sums, image, channel, pixel, mask)`: what becomes of a vector of results that lie beside each other, while it is
in its register. Pixels are numbered through the rows; `mask` says which lanes exist, None that all do."""

Sink = Callable[[Value, Value, Value, Value, "Value | None"], None]
"""The same for a vector of a channel, a row and columns: `(sums, channel, row, column, mask)`."""

Four = tuple[int, int, int, int]
Three = tuple[int, int, int]

SLACK = 128  # entries that a last vector may touch behind what is there


def convolution_bytes(window: Window, element: str) -> int:
    """How much memory `convolution` needs besides its operands; aligned to 64 bytes it is fastest."""
    reading = forward(window)
    entries = room(reading.canvas.entries) + room(window.out * reading.terms) + room(reading.flattened().canvas.entries)
    return entries * BITS[element] // 8


def convolution(
    module: Module,
    name: str,
    element: str,
    host: Host,
    window: Window,
    *,
    images: int | None = None,
    x: Four | None = None,
    w: Four | None = None,
    y: Three | None = None,
    epilogue: Epilogue | None = None,
    extra: Sequence[str] = (),
    private: bool = False,
) -> Function:
    """A function that computes the cross-correlation of images with a kernel, of "float" or "double".

    Its parameters are the addresses of the images, of the weight (out, channels // groups, kh, kw), of the result and
    of a workspace (`convolution_bytes`), then, as i64, the number of images if it is None here, then `extra`, which are
    for the epilogue. Strides, in entries, are those of contiguous arrays if not given: of `x` (image, channel, row,
    column), of `w` along its axes, of `y` (image, channel, pixel). With an `epilogue` the result is only touched by
    what that writes. The zeros of the padding are terms like others: 0 · inf is NaN. Sums are in the order of the
    kernel's rows, of channels, of the kernel's columns.
    """
    f, many = begun(module, name, images, extra, private)
    source, weight, result, work = f.arguments[:4]
    xs, ws = x or dense(window.channels, window.height, window.width), w or dense(*window.weight)
    ys = y or (window.out * window.pixels, window.pixels, 1)
    reading, width = forward(window), lanes(element, host)
    canvas, (_, results) = reading.canvas, window.group
    packed = f.at(work, f.index(room(canvas.entries)), element)
    spare = f.at(packed, f.index(room(window.out * reading.terms)), element)
    clear(f, element, width, work, f.index(canvas.entries))
    pack(f, element, reading, (weight, ws), packed, (results, ws[0] * results))
    with each(f, f.index(0), many) as image:
        fill(f, element, width, canvas, work, f.at(source, times(f, image, f.index(xs[0])), element), xs[1:])

        def sink(sums: Value, channel: Value, row: Value, column: Value, mask: Value | None) -> None:
            pixel = inner(f, column, (row, f.index(window.columns)))
            give(f, sums, (image, channel, pixel), mask, (result, ys), epilogue)

        correlate(f, element, host, reading, (work, packed, spare), results, sink)
    f.give()
    return f


def forward(window: Window) -> Reading:
    """How the results of a convolution are read."""
    (kh, kw), (sy, sx), (py, px), (dy, dx) = window.kernel, window.stride, window.padding, window.dilation
    high, wide = window.height + 2 * py, window.width + 2 * px
    canvas = Canvas(window.groups, window.group[0], window.height, window.width, py, px, high, -(-wide // sx), sx)
    return Reading(canvas, Taps(0, 1, kh, 0, dy), Taps(0, 1, kw, 0, dx), (window.rows, window.columns), sy)


# --------------------------------------------------------------------------- what all convolutions do


def begun(module: Module, name: str, images: int | None, extra: Sequence[str], private: bool) -> tuple[Function, Value]:
    """A function of three operands and a workspace, and the number of images."""
    f = module.function(name, ["ptr"] * 4 + ["i64"] * (images is None) + [*extra], private=private)
    return f, f.arguments[4] if images is None else f.index(images)


def dense(*shape: int) -> Four:
    """The strides of a contiguous array whose last three axes these are; a first length is of no account."""
    channels, height, width = shape[-3:]
    return channels * height * width, height * width, width, 1


def room(entries: int) -> int:
    return up(entries + SLACK)


def give(
    f: Function,
    sums: Value,
    at: tuple[Value, Value, Value],
    mask: Value | None,
    result: tuple[Value, Three],
    epilogue: Epilogue | None,
) -> None:
    """Hand results on, or store them: `at` is image, channel and pixel."""
    if epilogue is not None:
        epilogue(f, sums, *at, mask)
        return
    base, strides = result
    index = inner(f, f.index(0), *((one, f.index(step)) for one, step in zip(at, strides, strict=True)))
    stored(f, sums, f.at(base, index, sums.element), f.index(strides[2]), mask, False)


def pack(
    f: Function, element: str, reading: Reading, weight: tuple[Value, Four], to: Value, groups: tuple[int, int]
) -> None:
    """The weight as [group][result][row, channel, column of the kernel], in the order in which the sums are made.

    `weight` has the strides of results, channels, rows and columns; `groups` are results of a group, and how far apart
    groups are.
    """
    (source, (result, channel, row, column)), (results, apart) = weight, groups
    canvas, rows, columns = reading.canvas, reading.rows, reading.columns
    origin = f.index(rows.first * row + columns.first * column)
    with each(f, f.index(0), f.index(canvas.groups)) as g, each(f, f.index(0), f.index(results)) as r:
        first = inner(f, origin, (g, f.index(apart)), (r, f.index(result)))
        place_ = times(f, plus(f, times(f, g, f.index(results)), r), f.index(reading.terms))
        with each(f, f.index(0), f.index(rows.many)) as i, each(f, f.index(0), f.index(canvas.channels)) as c:
            number = plus(f, times(f, i, f.index(canvas.channels)), c)
            start = inner(f, first, (i, f.index(rows.step * row)), (c, f.index(channel)))
            target = inner(f, place_, (number, f.index(columns.many)))
            with each(f, f.index(0), f.index(columns.many)) as k:
                entry = f.load(f.at(source, inner(f, start, (k, f.index(columns.step * column))), element), element)
                f.store(entry, f.at(to, plus(f, target, k), element))


def correlate(
    f: Function,
    element: str,
    host: Host,
    reading: Reading,
    memory: tuple[Value, Value, Value],
    results: int,
    sink: Sink,
) -> None:
    """All results of one image from its canvas, in tiles: `memory` is the canvas, the packed weight, and spare room."""
    source, packed, spare = memory
    width, size = lanes(element, host), reading.size
    if _narrow(reading, results, width):
        flatten(f, element, width, reading, source, spare)

        def unfolded(sums: Value, channel: Value, row: Value, column: Value, mask: Value | None) -> None:
            sink(sums, channel, f.index(0), column, mask)

        correlate(f, element, host, reading.flattened(), (spare, packed, spare), results, unfolded)
        return
    canvas, terms = reading.canvas, f.index(reading.terms)
    with each(f, f.index(0), f.index(canvas.groups)) as g:
        image = f.at(source, times(f, g, f.index(canvas.group)), element)
        weight = f.at(packed, times(f, times(f, g, f.index(results)), terms), element)
        at = 0
        for strip in strips(results, size[1], widest(host), element, host):
            begin, first = f.index(at), f.index(0)
            at += strip.many * strip.vectors * width
            for height, count in strip.rows:
                end = plus(f, first, f.index(height * count))
                every = each(f, first, end, height), each(f, f.index(0), f.index(size[0]))
                with every[0] as r, every[1] as y, each(f, f.index(0), f.index(strip.many)) as number:
                    x = inner(f, begin, (number, f.index(strip.vectors * width)))
                    base = f.at(image, inner(f, x, (y, f.index(reading.step * canvas.row))), element)
                    own = f.at(weight, times(f, r, terms), element)
                    sums = tile(f, element, host, reading, (own, base), (height, strip.vectors))
                    left = minus(f, f.index(size[1]), x) if not strip.full else f.index(strip.vectors * width)
                    mask = lanes_within(f, minus(f, left, f.index((strip.vectors - 1) * width)), width)
                    for row, line in enumerate(sums):
                        channel = inner(f, plus(f, r, f.index(row)), (g, f.index(results)))
                        for v, one in enumerate(line):
                            last = mask if v == strip.vectors - 1 else None
                            sink(one, channel, y, plus(f, x, f.index(v * width)), last)
                first = end


def _narrow(reading: Reading, results: int, width: int) -> bool:
    """Are rows of results so short that many lanes were empty? Then they are laid one after the other."""
    high, wide = reading.size
    if reading.terms == 0 or high == 1 or high * wide == 0:
        return False
    empty = up(wide, width) / wide
    return results >= 8 and empty > 1.25 * up(high * wide, width) / (high * wide)


def tile(
    f: Function, element: str, host: Host, reading: Reading, places: tuple[Value, Value], size: tuple[int, int]
) -> Sums:
    """The sums of a few results and vectors of columns: over the kernel's rows and channels, and its columns."""
    (own, base), width = places, lanes(element, host)
    canvas, rows, columns = reading.canvas, reading.rows, reading.columns

    def along(first: Value, number: Value, sums: Sums) -> Sums:
        """The columns of the kernel, where row and channel begin at `first`; `number` is theirs in the weight."""
        for k in range(columns.many):
            entry = f.at(own, plus(f, times(f, number, f.index(columns.many)), f.index(k)), element)
            pixels = f.at(base, plus(f, first, f.index(place(canvas, columns, k))), element)
            sums = term(f, sums, partial(left, entry), partial(right, pixels), host)
        return sums

    def left(entry: Value, r: int) -> Value:
        return f.load(f.at(entry, f.index(r * reading.terms), element), element)

    def right(pixels: Value, v: int) -> Value:
        return f.load(f.at(pixels, f.index(v * width), element), element, width)

    def channels(i: Value, sums: Sums, many: int = canvas.channels) -> Sums:
        start = plus(f, f.index(rows.offset * canvas.row), times(f, i, f.index(rows.apart * canvas.row)))

        def step(c: Value, sums: Sums) -> Sums:
            first = inner(f, start, (c, f.index(canvas.channel)))
            return along(first, inner(f, c, (i, f.index(canvas.channels))), sums)

        return looped(f, sums, f.index(many), step)

    sums = nothing(f, element, width, size)
    if rows.apart == 1:  # then channels follow each other from row to row
        return channels(f.index(0), sums, rows.many * canvas.channels)
    return looped(f, sums, f.index(rows.many), channels)
