"""Are gradients over windows right in the native machine for every small size, where little is read and much is border?

NumPy's machine is the oracle. Sizes are enumerated rather than drawn: a fault at a size of 1 shows there alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

import symbolic as s
from symbolic import avg_pool2d, conv2d, max_pool2d, value_and_grad, windows

pytest.importorskip("llvmlite")


def drawn(shape: Sequence[int], seed: int = 3) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def both(function: Any) -> Any:
    """The value and the gradient by an image and by its weights."""
    return value_and_grad(s.symbolic(function, np.ndarray, np.ndarray, returns=float), (0, 1))


class Slide(NamedTuple):
    """How windows slide along one axis: its size, the window's, the zeros at both ends, stride, dilation."""

    size: int
    kernel: int
    padding: int
    stride: int
    dilation: int


SLIDES = [
    one
    for one in (Slide(*sizes) for sizes in product((1, 2, 3), (1, 2), (0, 1, 2), (1, 2, 3), (1, 2)))
    if one.size + 2 * one.padding > (one.kernel - 1) * one.dilation
]
"""Every one of these sizes that has a window: many read only zeros, and many leave entries that none reads."""


def right_for_each(slides: Sequence[Slide], loss: Any, x: Any, w: Any) -> None:
    """Each has a row of both arrays for itself; one program has them all, for the time that a program takes."""

    def total(x: Any, w: Any) -> Any:
        found = 0.0
        for n, one in enumerate(slides):
            found = found + loss(one, x[n], w[n])
        return found

    found = []
    for machine in ("native", "numpy"):
        with s.use(machine):
            found.append(both(total).predict(x, w))
    (value, got), (known, want) = found
    assert value == pytest.approx(known, rel=1e-11)
    for n, one in enumerate(slides):
        for some, other in zip(got, want, strict=True):
            assert np.allclose(some[n], other[n], rtol=1e-11, atol=1e-11), one


@pytest.mark.parametrize("stretch", range(3))
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_gradient_of_a_convolution_is_that_of_numpy_for_all_small_sizes(rank: int, stretch: int) -> None:
    """Slid along the last axis; along the others windows overlap, and there is no padding. Of rank 3 a third is run."""
    slides = SLIDES[stretch :: 3 if rank < 3 else 9]
    places, entries, more = "pqr"[:rank], "xyz"[:rank], rank - 1

    def loss(of: Slide, x: Any, w: Any) -> Any:
        image = np.pad(np.tanh(x[..., : of.size]), ((0, 0),) * (2 + more) + ((of.padding, of.padding),))
        kernel, ones = w[..., : of.kernel], (1,) * more
        parts = windows(image, kernel.shape[2:], (*ones, of.stride), (*ones, of.dilation))
        return np.sum(np.sin(np.einsum(f"oc{entries},nc{places}{entries}->no{places}", kernel, parts)))

    count = len(slides)
    x, w = drawn((count, 2, 2, *[3] * rank)), drawn((count, 3, 2, *[2] * more, 3), 4)
    right_for_each(slides, loss, x, w)


@pytest.mark.parametrize("stretch", range(3))
@pytest.mark.parametrize("pool", [max_pool2d, avg_pool2d])
def test_the_gradient_of_pooling_is_that_of_numpy_for_all_small_sizes(pool: Any, stretch: int) -> None:
    """Where no window is, the gradient is zero."""

    def loss(of: Slide, x: Any, w: Any) -> Any:
        image = np.tanh(x[..., : of.size])
        pooled = pool(image, (1, of.kernel), (1, of.stride), (0, of.padding), (1, of.dilation))
        return np.sum(np.tanh(pooled) * w)

    slides = SLIDES[stretch::3]
    right_for_each(slides, loss, drawn((len(slides), 2, 2, 3, 3)), drawn((len(slides),)))


def test_an_image_that_no_window_reads_has_a_gradient_of_zeros() -> None:
    """Whatever the memory held before: all windows stand in the padding, along one axis of two that they slide over."""

    def loss(x: Any, w: Any) -> Any:
        return np.sum(np.sin(conv2d(np.tanh(x), w, stride=(1, 2), padding=(0, 1))))

    with s.use("native"):
        gradient = both(loss)
        for seed in range(3):
            x, w = drawn((1, 2, 5, 1), seed), drawn((3, 2, 2, 1), seed)
            assert not any(one.any() for one in gradient.predict(x, w)[1])
            w[0] = np.inf
            with np.errstate(all="ignore"):
                assert not gradient.predict(x, w)[1][0].any()
