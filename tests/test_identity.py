"""Is a program recognized by all that its code is made of, and is code that was kept the same as code made anew?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symbolic as s
from symbolic import SGD, Adam, Weight, conv2d, symbolic
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.backends.native import blas, engine, host, making, store
from symbolic.backends.native.identity import words_of
from symbolic.backends.native.machine import Native
from symbolic.backends.native.store import outline_of
from symbolic.ops.operation import OPERATIONS, Operation
from symbolic.plan import Program

X = np.linspace(-1.0, 2.0, 12).reshape(4, 3)
pytest.importorskip("llvmlite", reason="the native machine needs llvmlite")


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SYMBOLIC_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(store, "_COARSE", -(1 << 62))  # our own files may have been written just now
    store._makers.cache_clear()
    yield
    store._makers.cache_clear()


def program(body: Callable[..., Any], *inputs: Any, optimizer: Any = None) -> Program:
    net: Any = symbolic(body, *[np.ndarray] * len(inputs))
    found: Program = net.program(*inputs, optimizer=optimizer)
    return found


# --------------------------------------------------------------------------- words
SAME: list[Callable[[Any], Any]] = [
    lambda x: np.sum(np.exp(x) * 2.0),
    lambda x: np.sum(np.exp(x) * -2.0),
    lambda x: np.sum(np.exp(x) * 0.0),
    lambda x: np.sum(np.exp(x) * -0.0),
    lambda x: np.sum(np.exp(x) * 2),
    lambda x: np.sum(np.exp(x) * True),
    lambda x: np.sum(np.exp(x) * np.float32(2.0)),
    lambda x: np.sum(np.exp(x) * np.array([2.0])),
    lambda x: np.sum(np.exp(x) * np.array([[2.0]])),
    lambda x: np.sum(np.exp(x) * np.array([2.0, 3.0, 4.0])),
    lambda x: np.sum(np.exp(x) * np.array([2.0, 3.0, 5.0])),
    lambda x: np.sum(np.exp2(x) * 2.0),
    lambda x: np.max(np.exp(x) * 2.0),
    lambda x: np.sum(np.exp(x) * 2.0, axis=0),
    lambda x: np.sum(np.exp(x) * 2.0, axis=1),
    lambda x: np.sum(np.exp(x) * 2.0, axis=(0, 1)),
    lambda x: np.sum(np.exp(x) * 2.0, keepdims=True),
    lambda x: np.sum(np.exp(x[1:]) * 2.0),
    lambda x: np.sum(np.exp(x[:-1]) * 2.0),
    lambda x: np.sum(np.exp(x[::-1]) * 2.0),
    lambda x: np.sum(np.exp(x[1]) * 2.0),
    lambda x: np.sum(np.exp(x.T) * 2.0),
    lambda x: np.sum(np.exp(x) + np.exp(x)),
    lambda x: np.sum(np.exp(x) - np.exp(-x)),
    lambda x: np.sum(np.exp(-x) - np.exp(x)),
    lambda x: (np.exp(x), np.sum(x)),
    lambda x: (np.sum(x), np.exp(x)),
    lambda x: np.exp(x).astype(np.float32),
]
TWO: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x - y,
    lambda x, y: y - x,
    lambda x, y: x - x,
    lambda x, y: y - y,
    lambda x, y: (y - x, x),
    lambda x, y: (y - x, y),
    lambda x, y: (x, y - x),
]
INPUTS = [X, X[:3], X.astype(np.float32), X.astype(">f8"), X.reshape(2, 6), X > 0, X.astype(np.int64)]


def test_programs_that_differ_have_other_words() -> None:
    programs = [program(body, X) for body in SAME]
    programs += [program(SAME[0], x) for x in INPUTS[1:]]
    programs += [program(body, X, X + 1.0) for body in TWO]
    for start in (1.0, X):
        programs += [program(lambda x, w=start: np.sum(x * Weight(w)), X, optimizer=one) for one in (None, SGD(0.1))]
    words = [words_of(one) for one in programs]
    assert all(words) and len(set(words)) == len(words)
    assert [words_of(program(body, X)) for body in SAME] == words[: len(SAME)]


def test_what_the_results_are_written_into_is_in_the_words() -> None:
    one = program(lambda x: np.exp(x) * 2.0, X)
    assert len({words_of(one), words_of(one, (0,)), words_of(one, [0])}) == 2


def test_floating_point_settings_of_the_body_are_in_the_words() -> None:
    def silent(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.sum(np.exp(x) * 2.0)

    assert "" != words_of(program(silent, X)) != words_of(program(SAME[0], X))


class Mine(Operation):
    """An operation of somebody else's."""

    __slots__ = ()

    def infer(self, *specs: Any) -> Any:
        return specs[0]

    def evaluate(self, *values: Any) -> Any:
        return values[0] * 2.0


def test_what_has_no_words_is_never_taken_for_another() -> None:
    """An operation of somebody else's, a function as a parameter, constants that are long to read."""
    seen: list[Any] = []
    watched: Any = symbolic(SAME[0], np.ndarray)
    assert words_of(program(lambda x: Mine(x) + 1.0, X)) == ""
    assert words_of(watched.on_output(seen.append).program(X)) == ""
    assert words_of(program(lambda x: np.sum(x) * np.ones(1 << 18), X)) == ""


def test_an_operation_that_was_put_in_the_place_of_another_has_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    one = program(SAME[0], X)
    kind = next(type(each.node) for each in one.instructions if type(each.node).__name__ == "Exp")
    assert words_of(one) and kind in OPERATIONS
    monkeypatch.setattr(f"{kind.__module__}.Exp", Mine)
    monkeypatch.setattr("symbolic.backends.native.identity._NAMES", {})
    assert words_of(one) == ""


# --------------------------------------------------------------------------- what is kept for them
def only_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("code was kept, and is made again")

    monkeypatch.setattr(making, "Making", never)
    monkeypatch.setattr(engine, "object_code", never)


PROGRAMS: list[tuple[Callable[..., Any], list[Any]]] = [
    (lambda x: np.sum(np.exp(x) * 2.0), [X]),
    (lambda x: (np.exp(x), np.sum(x, axis=0), x.T * 1.0, x), [X]),
    (lambda x: np.sort(np.exp(x), axis=0)[1:] + np.cumsum(x)[-1], [X]),
    (lambda x: np.cumsum(np.sort(np.exp(x.T)).T, axis=0)[::2] * np.array([2.0, 3.0, 4.0]), [X]),
    (lambda x: np.exp(x) @ np.ones((400, 300)), [np.linspace(0.0, 1.0, 160_000).reshape(400, 400)]),
    (lambda x: np.tanh(x), [np.linspace(0.0, 1.0, 200_000)]),
    (lambda x, y: x @ y, [np.ones((3, 4), np.float32), np.arange(8.0, dtype=np.float32).reshape(4, 2)]),
    (lambda x, y: np.where(x > y, x, 0.5), [X, X[::-1]]),
    (lambda x: np.mean(x) * 3 + x[1, 2], [X]),
    (lambda x, w: conv2d(np.tanh(x), w, padding=2), [np.ones((2, 3, 9, 9)), np.ones((4, 3, 3, 3))]),
]


@pytest.mark.parametrize("level", ["host", "sse2"])
@pytest.mark.parametrize(("body", "inputs"), PROGRAMS, ids=range(len(PROGRAMS)))
def test_kept_code_gives_the_same_bits(
    monkeypatch: pytest.MonkeyPatch, body: Callable[..., Any], inputs: list[Any], level: str
) -> None:
    one = program(body, *inputs)
    on = None if level == "host" else host.LEVELS[level]
    made = Native(one, on=on)
    assert made.key
    only_kept(monkeypatch)
    found = Native(one, on=on)
    for _ in range(2):
        values = [made.run(inputs), made.general(*inputs), found.run(inputs), found.general(*inputs)]
        for other in values[1:]:
            for a, b in zip(values[0], other, strict=True):  # type: ignore[arg-type]  # nobody else runs them
                assert (
                    type(a) is type(b) and np.array_equal(a, b) and np.asarray(a).tobytes() == np.asarray(b).tobytes()
                )
    assert found.work == made.work and list(found.makers) == list(made.makers)


def test_one_look_says_whether_code_may_be_kept() -> None:
    """Whatever is kept is found by it: programs of the same words have one outline."""
    programs = [program(body, X) for body in SAME] + [program(body, *inputs) for body, inputs in PROGRAMS]
    outlines = {words_of(one): outline_of(one) for one in programs}
    assert all(outlines[words_of(one)] == outline_of(one) for one in programs)
    assert len(set(outlines.values())) > len(PROGRAMS)  # and most others have another
    assert not any(map(store.is_known, outlines.values()))
    made = program(SAME[0], X)
    assert not Native(made, makes=False).ready and not store.is_known(outline_of(made))
    assert Native(made).ready and store.is_known(outline_of(program(SAME[0], X)))
    assert not store.is_known(outline_of(made, [0]))


def test_code_of_another_processor_is_not_taken() -> None:
    one = program(SAME[0], X)
    assert Native(one, on=host.SSE2).ready
    for other in (host.AVX2, host.SSE2._replace(l2=1 << 16), host.SSE2._replace(features="+fma")):
        assert not Native(one, on=other, makes=False).ready
    assert Native(one, on=host.SSE2, makes=False).ready
    assert not Native(one, on=host.SSE2, apart=True, makes=False).ready


def test_code_that_calls_what_is_gone_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's BLAS may be another one tomorrow."""
    if blas.routine("dgemm") is None:
        pytest.skip("there is no BLAS to call")
    monkeypatch.setattr("symbolic.backends.native.matrices.better", lambda *_: False)
    x = np.linspace(0.0, 1.0, 90_000).reshape(300, 300)
    one = program(lambda x: np.exp(x @ x), x)
    made = Native(one)
    assert made.library.notes["products"] and Native(one, makes=False).ready
    monkeypatch.setattr(blas, "routine", lambda name: None)
    monkeypatch.setattr("symbolic.backends.native.matrices.routine", lambda name: None)
    found = Native(one)
    assert found.key == "" and found.library.notes["products"] == []
    assert np.allclose(found.run([x])[0], made.run([x])[0])  # type: ignore[index]  # nobody else runs them


# --------------------------------------------------------------------------- ourselves
@pytest.mark.parametrize("room", ["ops/exponential.py", "plan.py", "backends/native/rules.py", "spec.py"])
def test_another_text_of_ours_has_other_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: str) -> None:
    package = tmp_path / "package"
    for part in store._PARTS:
        (package / part).mkdir(parents=True, exist_ok=True)
    for name in ("ops/exponential.py", "plan.py", "spec.py", "backends/native/rules.py", "backends/native/store.py"):
        (package / name).write_text("# the first text\n")
    monkeypatch.setattr(store, "__file__", str(package / "backends" / "native" / "store.py"))

    def key() -> str:
        store._makers.cache_clear()
        return store.key_of("text", host.SSE2)

    first = key()
    assert key() == first
    (package / room).write_text("# another one   \n")
    second = key()
    assert second != first and key() == second
    (package / room).rename(package / "aside")
    (package / room).write_text("# another one   \n")  # the same text, by another file: it might be any
    assert key() not in (first, second)
    (package / "ops" / "further.py").write_text("")
    assert key() not in (first, second)


def test_nothing_is_kept_of_a_text_that_has_changed_since_it_was_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_COARSE", 0)
    monkeypatch.setattr(store, "LOADED", 0)  # everything has changed since 1970
    keys = set()
    for _ in range(3):
        store._makers.cache_clear()
        keys.add(store.key_of("text", host.SSE2))
    assert len(keys) == 3


def test_a_step_that_was_kept_is_the_same_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def losses() -> list[float]:
        w = Weight(np.full((3, 2), 0.5))
        net = symbolic(lambda x: np.sum(np.tanh(x @ w) ** 2), np.ndarray)
        step = net.trainer(Adam(0.1))
        found = [float(step(X)) for _ in range(5)]
        assert step.steps is not None and step.steps.held
        return [*found, float(step.run(7, X)), *[float(net.predict(X)) for _ in range(4)]]

    with s.use("native"):
        first = losses()
        only_kept(monkeypatch)
        assert losses() == first


def test_code_that_calls_other_code_is_kept_for_that_one() -> None:
    """Whose values lie where they lay when it was written, or it is not taken."""

    def text(number: int) -> Callable[[], tuple[str, Any]]:
        return lambda: (f"define i64 @f() {{ ret i64 {number} }}\n", number)

    one = program(SAME[0], X)
    first, second, third = Native(one), Native(one), Native(one)
    assert first.noted(text(1), "call").notes == second.noted(text(2), "call").notes == 1
    third.recipe = third.recipe.replace("'arena': ", "'arena': 1")
    assert third.noted(text(3), "call").notes == 3
    assert Native(program(SAME[1], X)).noted(text(4), "call").notes == 4
