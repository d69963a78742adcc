"""How does an image lie as a convolution reads it? With its border, and each row's channels beside each other."""

from __future__ import annotations

from typing import NamedTuple

from symbolic.backends.native.counting import each, inner, over, plus, times
from symbolic.backends.native.packing import lay
from symbolic.backends.native.text import Function, Value

Pair = tuple[int, int]


class Window(NamedTuple):
    """The sizes of a convolution of images (n, channels, height, width) to (n, out, rows, columns), all of them known.

    The weight is (out, channels // groups, *kernel); padding is of zeros.
    """

    channels: int
    height: int
    width: int
    out: int
    kernel: Pair
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)
    groups: int = 1

    @property
    def rows(self) -> int:
        return (self.height + 2 * self.padding[0] - (self.kernel[0] - 1) * self.dilation[0] - 1) // self.stride[0] + 1

    @property
    def columns(self) -> int:
        return (self.width + 2 * self.padding[1] - (self.kernel[1] - 1) * self.dilation[1] - 1) // self.stride[1] + 1

    @property
    def group(self) -> Pair:
        """Channels and results of a group."""
        return self.channels // self.groups, self.out // self.groups

    @property
    def pixels(self) -> int:
        """Of a result."""
        return self.rows * self.columns

    @property
    def terms(self) -> int:
        """Of each result."""
        return self.group[0] * self.kernel[0] * self.kernel[1]

    @property
    def weight(self) -> tuple[int, int, int, int]:
        """Its shape."""
        return self.out, self.group[0], *self.kernel


class Taps(NamedTuple):
    """Along one axis: the entries of the kernel that are used, from `first` on, `step` apart, and where each reads.

    Entry first + i · step reads the canvas at `offset` + i · `apart` from the place of the result.
    """

    first: int
    step: int
    many: int
    offset: int
    apart: int


class Canvas(NamedTuple):
    """Room for one image: [group][row][channel][phase][column]; a phase is the columns that are one stride apart."""

    groups: int
    channels: int  # of a group
    height: int  # of the image, which begins at (top, left)
    width: int
    top: int
    left: int
    rows: int
    pitch: int
    phases: int = 1

    @property
    def channel(self) -> int:
        return self.phases * self.pitch

    @property
    def row(self) -> int:
        return self.channels * self.channel

    @property
    def group(self) -> int:
        return self.rows * self.row

    @property
    def entries(self) -> int:
        return self.groups * self.group


def fill(
    f: Function, element: str, lanes: int, canvas: Canvas, to: Value, image: Value, strides: tuple[int, int, int]
) -> None:
    """Copy an image to its place; strides are of its channels, rows, columns."""
    channel, row, column = strides
    with each(f, f.index(0), f.index(canvas.groups)) as g, each(f, f.index(0), f.index(canvas.channels)) as c:
        number = plus(f, times(f, g, f.index(canvas.channels)), c)
        source = f.at(image, times(f, number, f.index(channel)), element)
        place = inner(f, f.index(canvas.top * canvas.row), (g, f.index(canvas.group)), (c, f.index(canvas.channel)))
        for phase in range(canvas.phases):
            begin = -(-(canvas.left - phase) // canvas.phases)  # the first column of this phase that is the image's
            first = phase + begin * canvas.phases - canvas.left
            count = -(-(canvas.width - first) // canvas.phases)
            if count > 0:
                target = f.at(to, plus(f, place, f.index(phase * canvas.pitch + begin)), element)
                start = f.at(source, f.index(first * column), element)
                steps = f.index(row), f.index(column * canvas.phases)
                sizes = f.index(canvas.height), f.index(count)
                lay(f, element, lanes, (start, *steps), (target, f.index(canvas.row)), sizes)


def clear(f: Function, element: str, lanes: int, room: Value, entries: Value) -> None:
    """Zeros, in whole vectors."""
    many = over(f, plus(f, entries, f.index(lanes - 1)), lanes)
    with f.loop(f.index(0), many) as i:
        f.store(f.constant(element, 0.0, lanes), f.at(room, times(f, i, f.index(lanes)), element))


def place(canvas: Canvas, columns: Taps, k: int) -> int:
    """Where, in a row of a channel, the k-th tap reads the first column."""
    column = columns.offset + k * columns.apart
    return column % canvas.phases * canvas.pitch + column // canvas.phases


class Reading(NamedTuple):
    """How results are read from a canvas: rows and columns of the kernel, of the results, and rows between these."""

    canvas: Canvas
    rows: Taps
    columns: Taps
    size: Pair
    step: int

    @property
    def terms(self) -> int:
        return self.rows.many * self.canvas.channels * self.columns.many

    def flattened(self) -> Reading:
        """The same with one row of results, and a kernel of one entry for as many channels as there are terms."""
        size, one = self.size[0] * self.size[1], Taps(0, 1, 1, 0, 1)
        canvas = Canvas(self.canvas.groups, self.terms, 1, size, 0, 0, 1, up(size))
        return Reading(canvas, one, one, (1, size), 1)


def flatten(f: Function, element: str, lanes: int, reading: Reading, source: Value, to: Value) -> None:
    """Copy what each term reads, for all results, into rows; whole vectors, of which the next row covers the rest."""
    canvas, rows, columns, (high, wide), step = reading
    target, zero = reading.flattened().canvas, f.index(0)
    loops = [each(f, zero, f.index(many)) for many in (canvas.groups, rows.many, canvas.channels)]
    with loops[0] as g, loops[1] as i, loops[2] as c:
        number = times(f, plus(f, times(f, i, f.index(canvas.channels)), c), f.index(columns.many))
        origin = inner(f, f.index(rows.offset * canvas.row), (g, f.index(canvas.group)), (c, f.index(canvas.channel)))
        origin = inner(f, origin, (i, f.index(rows.apart * canvas.row)))
        for k in range(columns.many):
            first = f.at(source, plus(f, origin, f.index(place(canvas, columns, k))), element)
            row = inner(f, f.index(k * target.pitch), (g, f.index(target.group)), (number, f.index(target.pitch)))
            begin = f.at(to, row, element)
            with each(f, zero, f.index(high)) as y, each(f, zero, f.index(wide), lanes) as x:
                entry = f.load(f.at(first, inner(f, x, (y, f.index(step * canvas.row))), element), element, lanes)
                f.store(entry, f.at(begin, inner(f, x, (y, f.index(wide))), element))


def up(count: int, to: int = 16) -> int:
    return -(-count // to) * to
