"""How many entries fall into each bin? Counts have no gradient; weights have one, and so have edges between the
smallest and the largest entry."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import Layer, refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.binding import implements
from symbolic.ops.operation import Operation, array, static
from symbolic.spec import AnySpec, Spec, dtype_by_trial

INDEX = np.dtype(np.intp)


class BinEdges(Operation):
    """The edges of bins of equal width, from the smallest entry to the largest, or over `range`."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.histogram_bin_edges,)
    defaults: ClassVar[Any] = {"bins": 10, "range": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        dtype = plain(specs[0]).dtype
        count = None if isinstance(self.bins, str) else self.bins + 1
        trial = partial(np.histogram_bin_edges, range=self.range)
        return Spec((count,), None if dtype is None else dtype_by_trial(trial, dtype))

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        if self.range is not None:
            return (None,)
        part = Rising(out)
        ends = (np.min(operand, initial=np.inf), 1.0 - part), (np.max(operand, initial=-np.inf), part)
        return (sum(np.sum(delta * share) * _among(operand, end) for end, share in ends),)


def _among(x: Any, end: Any) -> Any:
    """An equal share for each entry that is the end."""
    best = np.equal(x, end)
    return best / np.maximum(np.sum(best), 1)


class Rising(Operation):
    """From 0 to 1 in equal steps, as many as there are entries."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        return array(specs[0])

    def evaluate(self, *values: Any) -> Any:
        return np.linspace(0, 1, len(values[0]), dtype=values[0].dtype)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


@implements(np.histogram_bin_edges, operands="binned", samples=({"bins": 3}, {"bins": 2, "range": (-1.5, 2.5)}))
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Without automatic bins the weights make no difference."""
    if np.ndim(bins) == 1:
        return bins
    if isinstance(bins, str) and weights is not None:
        raise TypeError("NumPy chooses the number of bins only where there are no weights; give bins as a number")
    if not isinstance(bins, str) and int(static(bins, "bins of a histogram")) < 1:
        raise ValueError(f"{bins} bins; give a number of 1 or more")
    ends = None if range is None else tuple([float(static(end, "range of a histogram")) for end in range])
    return BinEdges(a, bins=bins if isinstance(bins, str) else int(bins), range=ends)


# --------------------------------------------------------------------------- entries into bins


class BinNumber(Operation):
    """The number of the bin that each entry falls into; outside of all bins, the number of bins."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "edges")

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, INDEX)

    def evaluate(self, *values: Any) -> Any:
        x, edges = np.asarray(values[0]), np.asarray(values[1])
        if np.any(edges[1:] < edges[:-1]):
            raise ShapeError("the edges of a histogram go down", remedy="give edges that increase (np.sort)")
        numbers = np.searchsorted(edges, x, side="right") - 1
        numbers = np.where(x == edges[-1], len(edges) - 2, numbers)
        return np.where((x >= edges[0]) & (x <= edges[-1]), numbers, len(edges) - 1)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return None, None


class Tally(Operation):
    """How often each number occurs, of as many as there are bins between edges (or `size`)."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("numbers", "edges")
    defaults: ClassVar[Any] = {"size": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec((self.count(array(specs[1]).shape),), INDEX)

    def count(self, edges: Any) -> Any:
        if self.size is not None:
            return self.size
        return None if edges is None or edges[0] is None else edges[0] - 1

    def evaluate(self, *values: Any) -> Any:
        count = self.count(np.shape(values[1]))
        return np.bincount(values[0], minlength=count)[:count]

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return None, None


class WeightedTally(Tally):
    """The sum of the weights of each number."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("numbers", "edges", "weights")

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec((self.count(array(specs[1]).shape),), plain(specs[2]).dtype)

    def evaluate(self, *values: Any) -> Any:
        numbers, edges, weights = values
        total = np.zeros((self.count(np.shape(edges)) or 0) + 1, np.asarray(weights).dtype)
        np.add.at(total, numbers, weights)
        return total[:-1]

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return None, None, np.pad(delta, (0, 1))[operands[0]]


def _tally(numbers: Any, edges: Any, weights: Any, size: int | None = None) -> Any:
    if weights is None:
        return Tally(numbers, edges, size=size)
    return WeightedTally(numbers, edges, np.ravel(as_layer(weights)), size=size)


@implements(np.histogram, operands="binned", samples=({"bins": 3}, {"bins": 3, "density": True}))
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The counts (or the sums of the weights), and the edges."""
    if weights is not None and np.shape(weights) != np.shape(a):
        raise ValueError("a histogram takes as many weights as entries; give weights of the same shape")
    edges = np.histogram_bin_edges(a, bins, range)
    counts = _tally(BinNumber(np.ravel(as_layer(a)), edges), edges, weights)
    return (counts / np.diff(edges) / np.sum(counts) if density else counts), edges


# --------------------------------------------------------------------------- several dimensions


@implements(np.histogramdd, operands="binned_rows", samples=({"bins": 3}, {"bins": [2, 3], "density": True}))
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    columns = _columns(sample)
    each = [bins] * len(columns) if np.ndim(static(bins, "bins of a histogram")) == 0 else list(bins)
    ranges = [None] * len(columns) if range is None else list(range)
    if len(each) != len(columns) or len(ranges) != len(columns):
        raise ValueError(f"bins and range for {len(columns)} dimensions are needed; give one for each")
    edges = [np.histogram_bin_edges(*one) for one in zip(columns, each, ranges, strict=True)]
    counts = _counted(columns, edges, weights)
    return (_density(counts, edges) if density else counts), edges


def _columns(sample: Any) -> list[Any]:
    """The coordinates by dimension: the columns of an array, the entries of a sequence."""
    if not isinstance(sample, (Layer, np.ndarray)):
        return [np.ravel(as_layer(one)) for one in sample]
    layer: Any = as_layer(sample)
    if layer.ndim != 2:
        layer = np.transpose(np.atleast_2d(layer))
    return [layer[:, k] for k in np.arange(layer.shape[1]).tolist()]


def _counted(columns: Sequence[Any], edges: Sequence[Any], weights: Any) -> Any:
    sizes = [len(one) - 1 for one in edges]
    numbers: Any = as_layer(0)
    outside: Any = as_layer(False)
    for column, places, size in zip(columns, edges, sizes, strict=True):
        number = BinNumber(column, places)
        numbers = numbers * size + np.minimum(number, size - 1)
        outside = np.logical_or(outside, np.equal(number, size))
    total = int(np.prod(sizes))
    counts: Any = _tally(np.where(outside, total, numbers), edges[0], weights, total)
    return np.reshape(np.astype(counts, np.dtype(float)), tuple(sizes))


def _density(counts: Any, edges: Sequence[Any]) -> Any:
    share = counts / np.sum(counts)
    for axis, one in enumerate(edges):
        share = share / np.reshape(np.diff(one), [-1 if k == axis else 1 for k in range(len(edges))])
    return share


@implements(np.histogram2d, operands="two_binned", samples=({"bins": 3}, {"bins": [2, 3], "density": True}))
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """One array of edges, or one number of bins, is for both."""
    if len(x) != len(y):
        refuse(
            f"np.histogram2d of {len(x)} and {len(y)} entries", "give as many of the one as of the other", ShapeError
        )
    if np.ndim(bins) == 1 and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
