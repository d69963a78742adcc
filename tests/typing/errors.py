"""Wrong uses: a wrong layer, a wrong composition, wrong arguments; one short error each, at the wrong place."""

# run: no

from collections.abc import Callable
from typing import Annotated

import numpy as np

from symbolic import SGD, Identity, Layer, Literal, Plus, Symbolic, Tape, Times, ToLiteral, Weight, symbolic

V = Annotated[np.ndarray, Symbolic]
F = Annotated[float, Symbolic]


@symbolic
def total(x: V) -> F:
    return np.sum(x)


@symbolic
def doubled(x: F) -> F:
    return x * 2.0


@symbolic
def scaled(x: V, factor: F) -> V:
    return x * factor


@symbolic
def dense(x: V, inputs: int, outputs: int) -> V:
    return x @ Weight(np.ones((inputs, outputs)))


# ------------------------------------------------------------------ a layer where another is wanted
wrong_input: Annotated[Callable[[float], float], Symbolic] = total  # E:  [symbolic|assignment]
wrong_output: Annotated[Callable[[np.ndarray], np.ndarray], Symbolic] = total  # E:  [symbolic|assignment]
too_few: Annotated[Callable[[np.ndarray], np.ndarray], Symbolic] = scaled  # E:  [symbolic|assignment]
too_many: Annotated[Callable[[np.ndarray, float], float], Symbolic] = total  # E:  [symbolic|assignment]
other_order: Annotated[Callable[[float, np.ndarray], np.ndarray], Symbolic] = scaled  # E:  [symbolic|assignment]
written: Layer[Tape[float, float], Tape[float, float]] = total  # E:  [symbolic|assignment]
factory: Annotated[Callable[[np.ndarray], np.ndarray], Symbolic] = dense  # E:  [symbolic|assignment]
no_layer: Annotated[Callable[[np.ndarray], float], Symbolic] = np.sum  # E:  [symbolic|assignment]
a_lambda: Annotated[Callable[[float], float], Symbolic] = lambda x: x  # E:  [symbolic|assignment|misc]
good: Annotated[Callable[[np.ndarray], float], Symbolic] = total


def wants_float(net: Annotated[Callable[[float], float], Symbolic]) -> float:
    return net(1.0)


wants_float(total)  # E:  [symbolic|arg-type]
wants_float(doubled)
nets: list[Annotated[Callable[[float], float], Symbolic]] = [doubled, total]  # E:  [symbolic|list-item]


def gives_float() -> Annotated[Callable[[float], float], Symbolic]:
    return total  # E:  [symbolic|return-value]


# ------------------------------------------------------------------ composition
doubled.compose(total)
total.compose(doubled)  # E:  [symbolic|arg-type]
doubled(total)
total(doubled)  # E:  [symbolic|arg-type|call-overload]
scaled(total, 2.0)  # E:  [symbolic|arg-type|call-overload]

# ------------------------------------------------------------------ layers of two functions
both = total + doubled  # E:8: layers of different symbolic functions  [symbolic]
product = Times(total, doubled)  # E:11: layers of different symbolic functions  [symbolic]
stacked = np.stack([total, doubled])  # E: layers of different symbolic functions  [symbolic]
larger = np.maximum(doubled, total)  # E:10: layers of different symbolic functions  [symbolic]
fine = total + total * Weight(2.0) + Literal(1.0) + 3.0

# ------------------------------------------------------------------ arguments of a call
total(1.0)  # E:  [symbolic|arg-type|call-overload]
total("a")  # E:  [symbolic|arg-type|call-overload]
total(np.ones(2), np.ones(2))  # E:  [symbolic|call-arg|call-overload]
total()  # E:  [symbolic|call-arg|call-overload]
total(y=np.ones(2))  # E:  [symbolic|call-arg|call-overload]
doubled(np.ones(2))  # E:  [symbolic|arg-type|call-overload]
scaled(np.ones(2))  # E:  [symbolic|call-arg|call-overload]
scaled(2.0, np.ones(2))  # E:  [symbolic|arg-type|call-overload]
total.predict(1.0)  # E:  [symbolic|arg-type|call-overload|misc]
total.predict(np.ones(2), 1.0)  # E:  [symbolic|call-arg|call-overload|misc]
total.train("a", optimizer=SGD(0.1))  # E:  [symbolic|arg-type|call-overload|misc]
total.train(np.ones(2), optimizer=0.1)  # E:  [symbolic|arg-type|call-overload]
total.trainer(SGD(0.1))(1.0)  # E:  [symbolic|arg-type|call-overload|misc]
total.trainer(0.1)  # E:  [symbolic|arg-type]
total.nothing  # E: nothing  [symbolic|attr-defined]
dense(inputs=4).predict(np.ones((3, 4)))  # E: no value for outputs  [symbolic]
dense(inputs="4", outputs=2)  # E:  [symbolic|arg-type|call-overload]
dense(inputs=4, outputs=2, units=3)  # E:  [symbolic|call-arg|call-overload]
dense.predict(np.ones((3, 4)))  # E:  [symbolic|attr-defined|call-arg|misc]
value: float = scaled(np.ones(2), 2.0)  # E:  [symbolic|assignment]
good.forward(Literal("a"))  # E:  [symbolic|arg-type]
SGD("fast")  # E:  [arg-type]


@symbolic
def calls(x: V) -> V:
    a = doubled(x)  # E:9:  [symbolic|arg-type|call-overload]
    b = total(x, x)  # E:9:  [symbolic|call-arg|call-overload]
    c = dense(x, inputs=4)  # E:9:  [symbolic|call-arg|call-overload]
    d = scaled(x, 2.0)
    e = scaled(x, total(x))
    return d + e


# ------------------------------------------------------------------ what a function returns
@symbolic
def no_array(x: V) -> Annotated[np.ndarray, Symbolic]:
    return "a"  # E:  [symbolic|return-value]


@symbolic
def no_hint(x: V):  # E:  [no-untyped-def]
    return x


@symbolic
def nothing_returned(x: V) -> F:  # E:  [return]
    y = np.sum(x)


@symbolic
def wrong_local(x: V) -> F:
    s: F = np.exp(x)  # E:  [symbolic|assignment]
    return np.sum(x)


class BadToLiteral(ToLiteral[np.int16, np.float32]):
    def __call__(self, data: np.int16) -> str:  # E:  [override]
        return "a"


@symbolic
def of_three(x: Annotated[np.ndarray, Symbolic]) -> tuple[Annotated[np.ndarray, Symbolic], float]:
    return x, 1.0, x  # E:12: the returned value has 3 entries where 2 are declared; return as many values as the hint says  [symbolic]


@symbolic
def in_a_dictionary(x: Annotated[np.ndarray, Symbolic]) -> dict[str, Annotated[np.ndarray, Symbolic]]:
    return {"a": x}  # E:12: the function returns a dict that holds traced values; return one value, or a tuple  [symbolic]


total.train(np.ones(3), optimiser=None)  # E:1: Layer.train() got an unexpected keyword argument 'optimiser'; give the inputs  [symbolic]


@symbolic
def union_of(x: V, bias: V | None = "a") -> V | None:  # E: str  [symbolic]
    y: V | None = "a"  # E: str where ndarray is declared  [symbolic]
    return "a"  # E: str where ndarray is declared  [symbolic]
