"""What a body reaches through `super()`, and what stands within arrays of objects, is watched as all else is.

The oracle is the body itself, run by Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symbolic import symbolic, use, value_and_grad

X = np.array([1.0, 2.0])


class Base:
    scale = 1.0

    def method(self, x: Any) -> Any:
        return x * 1.0

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * 1.0

    @property
    def number(self) -> float:
        return 1.0

    def __call__(self, x: Any) -> Any:
        return x * 1.0


class Plain(Base):
    def method(self, x: Any) -> Any:
        return super().method(x) * 2

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return super().of_class(x) * 2

    @property
    def number(self) -> float:
        return super().number * 2

    def scaled(self, x: Any) -> Any:
        return x * super().scale

    def __call__(self, x: Any) -> Any:
        return super().__call__(x) * 2


class Middle(Base):
    def method(self, x: Any) -> Any:
        return super().method(x) + x


class Named(Middle):
    def method(self, x: Any) -> Any:
        return super(Named, self).method(x) * 2  # noqa: UP008 - as it is written where there is no `__class__`


HELD, FAR = Plain(), Named()
BODIES: dict[str, tuple[Callable[[Any], Any], str, Any]] = {
    "method": (lambda x: np.sum(Plain().method(x)), "method", lambda self, x: x * 5.0),
    "held": (lambda x: np.sum(HELD.method(x)), "method", lambda self, x: x * 5.0),
    "class method": (lambda x: np.sum(HELD.of_class(x)), "of_class", classmethod(lambda cls, x: x * 5.0)),
    "property": (lambda x: np.sum(x) * HELD.number, "number", property(lambda self: 5.0)),
    "attribute": (lambda x: np.sum(HELD.scaled(x)), "scale", 5.0),
    "call": (lambda x: np.sum(HELD(x)), "__call__", lambda self, x: x * 5.0),
    "two levels, by name": (lambda x: np.sum(FAR.method(x)), "method", lambda self, x: x * 5.0),
}


@pytest.mark.parametrize("machine", ["numpy", "auto"])
@pytest.mark.parametrize("kind", BODIES)
def test_what_super_finds(kind: str, machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    body, name, other = BODIES[kind]
    with use(machine):
        net, both = symbolic(body, np.ndarray), value_and_grad(body)
        for _ in range(3):
            assert both(X)[0] == net.predict(X) == net(X) == body(X)
        monkeypatch.setattr(Base, name, other)
        for _ in range(3):
            assert both(X)[0] == net.predict(X) == net(X) == body(X)
        monkeypatch.undo()
        assert both(X)[0] == net.predict(X) == net(X) == body(X)


def test_what_stands_in_arrays_of_objects() -> None:
    things = np.array([1.0, [2.0], {"k": np.ones(2)}, None], dtype=object)
    things[3] = things
    records = np.array([(1.0, [2.0])], dtype=[("a", float), ("b", object)])

    def body(x: Any) -> Any:
        return np.sum(x * things[2]["k"]) * things[1][0] * records[0]["b"][0]

    net = symbolic(body, np.ndarray)
    assert [net.predict(X) for _ in range(3)] == [body(X)] * 3
    things[1][0] = 3.0
    assert net.predict(X) == body(X)
    things[2]["k"][0] = 4.0
    assert net.predict(X) == body(X)
    records[0]["b"][0] = 5.0
    assert net.predict(X) == body(X)


def test_a_view_of_bytes_is_read() -> None:
    held = bytearray(b"\x01\x02")
    view = memoryview(held)

    def body(x: Any) -> Any:
        return np.sum(x) * view[0]

    net = symbolic(body, np.ndarray)
    assert [net.predict(X) for _ in range(3)] == [body(X)] * 3
    held[0] = 7
    assert net.predict(X) == body(X)
