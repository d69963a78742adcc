"""How do operands of a product come to lie as its kernel reads them? Copied, a square of registers at a time."""

from __future__ import annotations

from symbolic.backends.native.counting import inner, known, minus, over, plus, times
from symbolic.backends.native.text import Function, Module, Value


def turn(f: Function, rows: list[Value]) -> list[Value]:
    """The transpose of a square of as many vectors as each has lanes."""
    rows, step = list(rows), 1
    while step < len(rows):
        low, high = crossed(len(rows), step)
        for i in range(len(rows)):
            if not i & step:
                a, b = rows[i], rows[i + step]
                rows[i], rows[i + step] = f.shuffle(a, b, low), f.shuffle(a, b, high)
        step *= 2
    return rows


def summed(f: Function, rows: list[Value], step: int = 1) -> Value:
    """The sums of the lanes of vectors, in one vector, if they are as many as each has lanes.

    If they are fewer, a power of two, each sum is in parts, so many lanes apart; `step` goes on from there.
    """
    while len(rows) > 1:
        low, high = crossed(rows[0].lanes, step)
        pairs = zip(rows[::2], rows[1::2], strict=True)
        rows = [f.add(f.shuffle(a, b, low), f.shuffle(a, b, high)) for a, b in pairs]
        step *= 2
    return rows[0]


def crossed(size: int, step: int) -> tuple[list[int], list[int]]:
    """Which lanes of two vectors make the two that have their pieces of `step` lanes exchanged."""
    return (
        [k if not k & step else size + k - step for k in range(size)],
        [k + step if not k & step else size + k for k in range(size)],
    )


def transposer(module: Module, element: str, lanes: int) -> Function:
    """A function `(from, its stride, to, its stride, i, j)`: to[i, j] = from[j, i]; entries of rows are neighbours."""
    name = f"transposed.{element}.{lanes}"
    for one in module.functions:
        if one.name == name:
            return one
    f = module.function(name, ["ptr", "i64", "ptr", "i64", "i64", "i64"], private=True)
    lanes = min(lanes, 8)  # larger squares are compiled for four times as long, and hardly faster
    source, pitch, target, target_pitch, ni, nj = f.arguments
    fi, fj = (times(f, over(f, one, lanes), f.index(lanes)) for one in (ni, nj))
    with f.loop(f.index(0), fj, lanes) as j, f.loop(f.index(0), fi, lanes) as i:
        first = inner(f, i, (j, pitch))
        square = [
            f.load(f.at(source, inner(f, first, (f.index(k), pitch)), element), element, lanes) for k in range(lanes)
        ]
        first = inner(f, j, (i, target_pitch))
        for k, row in enumerate(turn(f, square)):
            f.store(row, f.at(target, inner(f, first, (f.index(k), target_pitch)), element))
    one_ = f.index(1)
    copy(f, element, (source, one_, pitch), (target, target_pitch, one_), (fi, ni), (f.index(0), fj))
    copy(f, element, (source, one_, pitch), (target, target_pitch, one_), (f.index(0), ni), (fj, nj))
    f.give()
    return f


def copy(
    f: Function,
    element: str,
    source: tuple[Value, Value, Value],
    target: tuple[Value, Value, Value],
    rows: tuple[Value, Value],
    columns: tuple[Value, Value],
) -> None:
    """Entry by entry, with any strides; rows and columns from where to where."""
    with f.loop(*rows) as i, f.loop(*columns) as j:
        entry = f.load(f.at(source[0], inner(f, f.index(0), (i, source[1]), (j, source[2])), element), element)
        f.store(entry, f.at(target[0], inner(f, f.index(0), (i, target[1]), (j, target[2])), element))


def lay(
    f: Function,
    element: str,
    lanes: int,
    source: tuple[Value, Value, Value],
    target: tuple[Value, Value],
    count: tuple[Value, Value],
) -> None:
    """Rows of `target`, whose entries are neighbours, from a matrix with any strides: source and target are the address
    and the strides, `count` is the rows and columns. What of the strides is known when writing chooses the way, else
    the strides themselves."""
    base, row, column = source
    if known(column) == 1:
        _rows(f, element, lanes, (base, row), target, count)
    elif known(row) == 1:
        f.call(transposer(f.module, element, lanes), base, column, *target, *count)
    elif known(row) is not None and known(column) is not None:
        copy(f, element, source, (*target, f.index(1)), (f.index(0), count[0]), (f.index(0), count[1]))
    else:
        f.call(anyhow(f.module, element, lanes), *source, *target, *count)


def anyhow(module: Module, element: str, lanes: int) -> Function:
    """A function that lays rows by strides that are only known when it runs."""
    name = f"laid.{element}.{lanes}"
    for one in module.functions:
        if one.name == name:
            return one
    f = module.function(name, ["ptr", "i64", "i64", "ptr", "i64", "i64", "i64"], private=True)
    base, row, column, target, pitch, ni, nj = f.arguments
    one_ = f.index(1)
    near = f.compare("eq", column, one_)
    with f.when(near):
        lay(f, element, lanes, (base, row, one_), (target, pitch), (ni, nj))
    far = f.invert(near)
    turned = f.bits("and", far, f.compare("eq", row, one_))
    with f.when(turned):
        lay(f, element, lanes, (base, one_, column), (target, pitch), (ni, nj))
    with f.when(f.bits("and", far, f.compare("ne", row, one_))):
        copy(f, element, (base, row, column), (target, pitch, one_), (f.index(0), ni), (f.index(0), nj))
    f.give()
    return f


def _rows(
    f: Function,
    element: str,
    lanes: int,
    source: tuple[Value, Value],
    target: tuple[Value, Value],
    count: tuple[Value, Value],
) -> None:
    """Row by row, a vector at a time; the last entries one by one."""
    rows, columns = count
    full = times(f, over(f, columns, lanes), f.index(lanes))
    with f.loop(f.index(0), rows) as i:
        place, to = (f.at(base, times(f, i, pitch), element) for base, pitch in (source, target))
        width = known(full)
        if width is not None and width <= 8 * lanes:
            for j in range(0, width, lanes):
                f.store(f.load(f.at(place, f.index(j), element), element, lanes), f.at(to, f.index(j), element))
        else:
            with f.loop(f.index(0), full, lanes) as k:
                f.store(f.load(f.at(place, k, element), element, lanes), f.at(to, k, element))
        left = minus(f, columns, full)
        if known(left) != 0:
            with f.loop(f.index(0), left) as k:
                at = plus(f, full, k)
                f.store(f.load(f.at(place, at, element), element), f.at(to, at, element))
