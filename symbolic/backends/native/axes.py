"""In which order do loops walk the axes of what they read and write? Two are one where memory allows."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from symbolic.backends.native.access import Sizes, in_order


class Axes(NamedTuple):
    """The loops of a nest: their sizes, and for each access its strides."""

    sizes: Sizes
    strides: dict[Any, Sizes]


def walked(
    domain: Sizes,
    accesses: Mapping[Hashable, Sizes],
    jumps: Mapping[Hashable, Collection[int]],
    fixed: Sequence[Collection[int]],
) -> Axes:
    """The axes in the order of the loops, joined where every access walks two of them as one.

    Along the axes of `jumps` an access goes where numbers say. Those of each of `fixed` stay in their order: what is
    written there may meet in one entry.
    """
    order = list(range(len(domain)))
    if order:
        free = [k for k in order if all(k not in axes or k == max(axes) for axes in fixed)]

        def worth(k: int) -> float:
            return sum(_worth(-1 if k in jumps.get(key, ()) else one[k]) for key, one in accesses.items())

        inner = max(free, key=lambda k: (worth(k), k))
        order.remove(inner)
        order.append(inner)
    sizes: list[int] = []
    strides: dict[Any, list[int]] = {key: [] for key in accesses}
    for k in order:
        if sizes and all(strides[key][-1] == one[k] * domain[k] for key, one in accesses.items()):
            sizes[-1] *= domain[k]
            for key, one in accesses.items():
                strides[key][-1] = one[k]
        else:
            sizes.append(domain[k])
            for key, one in accesses.items():
                strides[key].append(one[k])
    return Axes(tuple(sizes), {key: tuple(one) for key, one in strides.items()})


def _worth(stride: int) -> float:
    """How well vectors can be made along an axis of this stride."""
    return 2.0 if stride == 1 else 1.0 if stride == 0 else -3.0


def kept_strides(domain: Sizes, axes: Sequence[int]) -> Sizes:
    """How a reduction's result, which lies in C order, is walked: it stays along the axes that are reduced."""
    kept = iter(in_order([size for k, size in enumerate(domain) if k not in axes]))
    return tuple([0 if k in axes else next(kept) for k in range(len(domain))])
