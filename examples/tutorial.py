"""What do `@symbolic`, `Layer`, `Tape` and `ToLiteral` mean? The ideas one by one, each with its output."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from symbolic import SGD, Identity, Layer, Literal, Plus, Symbolic, Tape, Times, ToLiteral, Weight, symbolic


# 1. A hint marks the input of a symbolic function: `scores` is an Identity while the body is traced.
@symbolic
def sum_network(scores: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
    # 2. Within the body a hint stands for a layer from that input to the variable's type.
    exp_scores: Annotated[np.ndarray, Symbolic] = np.exp(scores)
    result: Annotated[float, Symbolic] = np.sum(exp_scores)
    return result


# 3. Elsewhere, the hint of a function stands for the whole network.
predictor: Annotated[Callable[[np.ndarray], float], Symbolic] = sum_network

print(f"{sum_network}       at [0, 1] is {predictor(np.array([0.0, 1.0])):.4f}")
assert str(sum_network) == "Sum(Exp(Identity()))"
assert predictor(np.zeros(3)) == 3.0 and type(predictor(np.zeros(3))) is float


# 4. Any native type can take part, once its delta type is known: 16-bit integers with float32 deltas.
class ShortToLiteral(ToLiteral[np.int16, np.float32]):
    def __call__(self, data: np.int16) -> Literal[np.int16, np.float32]:
        return Literal(data)


@symbolic
def make_short_network(input: Annotated[np.int16, Symbolic]) -> Annotated[np.int16, Symbolic]:
    return input


short_network: Annotated[Callable[[np.int16], np.int16], Symbolic] = make_short_network
print(f"{short_network}               at 7 is {short_network(np.int16(7))!r}")
assert short_network(np.int16(7)).dtype == np.int16 and ToLiteral.of(np.int16).delta is np.float32

# 5. A layer is a tree of case classes. This one is (1.0 + x) * Weight(2.0).
my_layer = Times(Plus(Literal(1.0), Identity()), Weight(2.0))
print(my_layer)


@symbolic
def same_layer(x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    return (1.0 + x) * Weight(2.0)


assert str(my_layer) == str(same_layer) == "Times(Plus(Literal(1.0), Identity()), Weight(2.0))"
match my_layer:
    case Times(Plus(Literal(one), Identity()), Weight(two)):
        print(f"taken apart: {one} and {two}")


# 6. One iteration: forward gives a tape, backward sends the delta of the output, closing moves the weight.
def iterate(layer: Layer[Any, Any], a: float) -> float:
    input_tape: Tape[float, float] = Literal(a)
    with SGD(0.01), layer.forward(input_tape) as output_tape:
        loss: float = output_tape.value
        output_tape.backward(loss)
    return loss


losses = [iterate(my_layer, 3.0) for _ in range(10)]
print("iterations: ", *(f"{loss:.3f}" for loss in losses))
assert losses[0] == 8.0 and my_layer.operand2.value < 2.0
assert my_layer.predict(3.0) == my_layer.predict(3.0) < losses[-1]  # predict moves nothing
