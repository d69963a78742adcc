"""Are convolutions, their gradients and pooling the same, to the last bit, on however many threads they run?

What is divided for another number of threads is the same program, and NumPy's machine is the oracle of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_native_threads import code_of, on_threads
from test_native_windows import CASES, Geometry, both, convolved, operands, same, terms

import symbolic as s
from symbolic import avg_pool2d, conv2d, max_pool2d
from symbolic.backends.native import blocks, shares, waiting
from symbolic.backends.native.lowering import Contract, Write
from symbolic.backends.native.nests import Nest
from symbolic.backends.native.orders import Blocks, Shared

pytest.importorskip("llvmlite")

RNG = np.random.default_rng(21)


@pytest.fixture(params=[False, True], ids=["stage by stage", "image by image"])
def blocked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that can be runs block by block, or nothing."""
    monkeypatch.setattr(blocks, "_WORTH", 1 if request.param else 1 << 60)
    monkeypatch.setattr(blocks, "_ROOM", 1 << 10)
    monkeypatch.setattr(blocks, "_LONG", 1)
    monkeypatch.setattr(waiting, "_LARGE", 1)


def on_all(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Any]) -> Any:
    """The same for 1, 2 and 4 threads, among which all work is divided that can be; and that is given."""
    monkeypatch.setattr(shares, "LEAST", -1.0)
    monkeypatch.setattr(shares, "_TERMS", 8)
    found: dict[bytes, Any] = {}
    for threads in (1, 2, 4):
        monkeypatch.setenv("SYMBOLIC_THREADS", str(threads))
        on_threads(monkeypatch, threads > 1)
        with s.use("native"):
            value, gradients = run()
        found[b"".join(np.asarray(one).tobytes() for one in (value, *gradients))] = value, gradients
    assert len(found) == 1
    return next(iter(found.values()))


MORE = [
    Geometry(2, 1, 1, 3, 16, (32, 32), (3, 3), (1, 1), 1, (1, 1), False, "float32"),
    Geometry(2, 16, 1, 4, 32, (12, 12), (3, 3), (1, 1), 1, (1, 1), False, "float64"),
    Geometry(2, 9, 1, 16, 40, (11, 13), (5, 5), (1, 1), 2, (1, 1), False, "float32"),
    Geometry(2, 5, 1, 3, 6, (8, 32), (3, 3), (1, 1), 1, (1, 1), False, "float32"),
    Geometry(1, 3, 2, 5, 7, (40,), (3,), (2,), 1, (1,), False, "float64"),
    Geometry(2, 8, 1, 2, 3, (40, 40), (3, 3), (1, 1), 0, (2, 2), False, "float32"),
]  # one image, few channels, many


@pytest.mark.parametrize("of", [*CASES, *MORE], ids=str)
@pytest.mark.usefixtures("blocked")
def test_divided_convolutions_are_the_same_convolutions(of: Geometry, monkeypatch: pytest.MonkeyPatch) -> None:
    def loss(x: Any, w: Any) -> Any:
        out = np.maximum(convolved(x, w, of), 0)
        return np.sum(out * out)

    x, w = operands(of)
    got = on_all(monkeypatch, lambda: both(loss, x, w).predict(x, w))
    with s.use("numpy"):
        same(got, both(loss, x, w).predict(x, w), terms(of), of.dtype)


def layers(x: Any, k: Any, b: Any, k2: Any) -> Any:
    edges = np.maximum(conv2d(x, k, b, padding=1), 0)
    return np.mean(np.maximum(conv2d(edges, k2, padding=1), 0) ** 2)


def pooled(x: Any, k: Any, b: Any, k2: Any) -> Any:
    edges = max_pool2d(np.tanh(conv2d(x, k, b, padding=1)), 2)
    return np.sum(avg_pool2d(conv2d(edges, k2, stride=2, padding=1), 2) ** 2)


def overlapping(x: Any, k: Any, b: Any, k2: Any) -> Any:
    """Windows that meet in one entry, along the axes of images as well."""
    edges = max_pool2d(conv2d(x, k, b), 3, stride=1) + avg_pool2d(conv2d(x, k, b), 3, stride=1)
    return np.sum(np.maximum(conv2d(edges, k2, stride=2), 0.1) ** 2)


@pytest.mark.parametrize("images", [1, 5])
@pytest.mark.parametrize("sides", [(10, 32), (11, 21)], ids=str)
@pytest.mark.parametrize("of", [layers, pooled, overlapping])
@pytest.mark.usefixtures("blocked")
def test_divided_layers_are_the_same_layers(
    of: Any, sides: tuple[int, int], images: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for dtype in (np.float32, np.float64):
        shapes = (images, 3, *sides), (6, 3, 3, 3), (6,), (9, 6, 3, 3)
        given = [RNG.normal(size=shape).astype(dtype) for shape in shapes]
        got = on_all(monkeypatch, lambda given=given: both(of, *given).predict(*given))  # type: ignore[misc]  # it is bound here
        with s.use("numpy"):
            want = both(of, *given).predict(*given)
        same(got, want, sum(one.size for one in given), dtype)


def test_windows_that_meet_are_in_one_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of one image add to each other's entries, images to none of another's."""
    on_threads(monkeypatch, True)
    monkeypatch.setattr(shares, "LEAST", -1.0)

    def divided(*shape: int) -> list[bool]:
        x = RNG.normal(size=shape)
        with s.use("native"):
            net = both(lambda x: np.sum(avg_pool2d(x, 3, stride=1) ** 2), x)
            code = code_of(net.program(x), monkeypatch)
        adding = [
            isinstance(stage, Nest) and any(isinstance(step.task, Write) and step.task.adds for step in stage.steps)
            for stage in code.native.schedule.stages
        ]
        calls = zip(code.segments[0], adding, strict=True)
        return [isinstance(call, Shared) for call, adds in calls if adds]

    assert divided(1, 1, 40, 40) == [False]
    assert divided(8, 2, 40, 40) == [True]


LONG = (64, 16, 32, 32), (16, 16, 3, 3), (16,), (32, 16, 3, 3)


def code_of_layers(monkeypatch: pytest.MonkeyPatch) -> Any:
    on_threads(monkeypatch, True)
    given = [RNG.normal(size=shape).astype(np.float32) for shape in LONG]
    with s.use("native"):
        code = code_of(both(layers, *given).program(*given), monkeypatch)
    assert len(code.segments) == 1
    return code


def test_all_of_a_step_that_takes_long_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over windows, over images, over places; their bias, mask and padding."""
    monkeypatch.setattr(blocks, "_WORTH", 1 << 60)
    code = code_of_layers(monkeypatch)
    stages = zip(code.native.schedule.stages, code.segments[0], strict=True)
    whole = [stage for stage, call in stages if not isinstance(call, Shared)]
    assert not [stage for stage in whole if isinstance(stage, Contract)]
    assert not [stage for stage in whole if isinstance(stage, Nest) and len(stage.steps) > 2 and len(stage.domain) > 3]


def test_convolutions_run_image_by_image_with_what_is_around_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both, with bias and mask, on the way there; the mask and the gradient by the image on the way back."""
    code = code_of_layers(monkeypatch)
    groups = code.native.groups.values()
    within = [one for group in groups for one in code.native.schedule.stages[group.first : group.last + 1]]
    assert sum(isinstance(one, Contract) for one in within) == 4
    divided = [one for one in code.segments[0] if isinstance(one, Shared) and isinstance(one.calls[0], Blocks)]
    assert len(divided) == len(groups)
