"""How is a row times a matrix written whose columns are contiguous? In vectors along both, summed at the end."""

from __future__ import annotations

from collections.abc import Iterator

from symbolic.backends.native.counting import known, lanes_within, least, minus, over, plus, times
from symbolic.backends.native.packing import summed
from symbolic.backends.native.sums import added
from symbolic.backends.native.text import Function, Value
from symbolic.backends.native.tiles import Host


def dots(
    f: Function, element: str, lanes: int, a: Value, b: tuple[Value, Value], sizes: tuple[Value, Value], host: Host
) -> Iterator[tuple[Value, Value, Value | None]]:
    """Σ over i < k of a[i] · b[i, j], of which b is the address and the distance of columns, and sizes n and k.

    What follows is written for a vector of them, its first j and its mask; it is within the loop over them.
    """
    n, k = sizes
    zero = f.constant(element, 0.0, lanes)
    whole = times(f, over(f, k, lanes), f.index(lanes))
    with f.loop(f.index(0), n, lanes) as column:
        most = minus(f, n, f.index(1))
        places = [least(f, plus(f, column, f.index(j)), most) for j in range(lanes)]  # the last column again and again
        columns = [f.at(b[0], times(f, one, b[1]), element) for one in places]
        sums = [f.variable(zero) for _ in columns]
        for one in sums:
            f.put(zero, one)
        with f.loop(f.index(0), whole, lanes) as i:
            factor = f.load(f.at(a, i, element), element, lanes)
            for place, one in zip(columns, sums, strict=True):
                right = f.load(f.at(place, i, element), element, lanes)
                f.put(added(f, factor, right, f.get(one, element, lanes), host), one)
        if known(k) != known(whole) or known(k) is None:
            rest = f.compare("slt", f.iota("i64", lanes), f.splat(minus(f, k, whole), lanes))
            factor = f.load_some(f.at(a, whole, element), rest, element, lanes, zero)
            for place, one in zip(columns, sums, strict=True):
                right = f.load_some(f.at(place, whole, element), rest, element, lanes, zero)
                f.put(added(f, factor, right, f.get(one, element, lanes), host), one)
        mask = lanes_within(f, minus(f, n, column), lanes)
        yield summed(f, [f.get(one, element, lanes) for one in sums]), column, mask
