"""The snippets of the seed documents, in Python, with the expansions that they state."""

from collections.abc import Callable
from typing import Annotated, reveal_type

import numpy as np

from symbolic import SGD, Identity, Layer, Literal, Plus, Symbolic, Tape, Times, ToLiteral, Weight, symbolic


# the first usage: parameters of a symbolic function, @Symbolic is an Identity
@symbolic
def sum_network1(scores: Annotated[np.ndarray, Symbolic]) -> float:
    reveal_type(scores)  # R: Identity[ndarray, ndarray]
    return np.sum(np.exp(scores))


# the second usage: variables and the return of a symbolic function, @Symbolic is a Layer
@symbolic
def sum_network2(scores: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
    exp_scores: Annotated[np.ndarray, Symbolic] = np.exp(scores)
    reveal_type(exp_scores)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    result: Annotated[float, Symbolic] = exp_scores.sum()
    reveal_type(result)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    return result


reveal_type(sum_network1)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(sum_network2)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]

# the third usage: elsewhere, @Symbolic of a function is a Layer
predictor: Annotated[Callable[[np.ndarray], float], Symbolic] = sum_network2
reveal_type(predictor)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]


# custom symbolic types: a mapping from a native type to its delta
class ShortToLiteral(ToLiteral[np.int16, np.float32]):
    def __call__(self, data: np.int16) -> Literal[np.int16, np.float32]:
        return Literal(data)


@symbolic
def make_short_network(input: Annotated[np.int16, Symbolic]) -> Annotated[np.int16, Symbolic]:
    reveal_type(input)  # R: Identity[int16, float32]
    return input


short_network: Annotated[Callable[[np.int16], np.int16], Symbolic] = make_short_network
reveal_type(short_network)  # R: Layer[Tape[int16, float32], Tape[int16, float32]]
reveal_type(make_short_network)  # R: Layer[Tape[int16, float32], Tape[int16, float32]]

# a layer is a tree of case classes
my_layer: Layer[Tape[float, float], Tape[float, float]] = Times(Plus(Literal(1.0), Identity()), Weight(2.0))
reveal_type(my_layer)  # R: Layer[Tape[float, float], Tape[float, float]]
typed_layer: Layer[Tape[float, float], Tape[float, float]] = Times(
    Plus(Literal(1.0), Identity[float, float]()), Weight(2.0)
)


@symbolic
def same_layer(x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(1.0 + x)  # R: Layer[Tape[float, float], Tape[float, float]]
    reveal_type((1.0 + x) * Weight(2.0))  # R: Layer[Tape[float, float], Tape[float, float]]
    return (1.0 + x) * Weight(2.0)


# forward, backward, close
def iterate(a: float) -> float:
    input_tape: Tape[float, float] = Literal(a)
    output_tape = my_layer.forward(input_tape)
    reveal_type(output_tape)  # R: Tape[float, float]
    try:
        loss = output_tape.value
        reveal_type(loss)  # R: float
        output_tape.backward(loss)
        return loss
    finally:
        output_tape.close()


def iterate_within(a: float) -> float:
    with SGD(0.01), my_layer.forward(Literal(a)) as output:
        output.backward(output.value)
        return output.value


with predictor.forward(Literal(np.ones(3))) as tape:
    reveal_type(tape)  # R: Tape[float, float]
    reveal_type(tape.value)  # R: float


def check_values() -> None:
    assert predictor(np.zeros(3)) == sum_network1(np.zeros(3)) == 3.0
    assert type(short_network(np.int16(7))) is np.int16
    assert str(my_layer) == str(same_layer) == "Times(Plus(Literal(1.0), Identity()), Weight(2.0))"
    with SGD(0.01):
        assert iterate(3.0) == 8.0
    assert iterate_within(3.0) < 8.0
