"""Do whole computations come out as they were worked out independently of this library?"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from symbolic import (
    SGD,
    Adagrad,
    Adam,
    Identity,
    Layer,
    Linear,
    ReLU,
    Sequential,
    Symbolic,
    Weight,
    conv2d,
    he,
    log_softmax,
    logsumexp,
    max_pool2d,
    normal,
    seed,
    symbolic,
)

Array = Annotated[np.ndarray, Symbolic]
Number = Annotated[float, Symbolic]


def weight_of(value: Any) -> Weight[Any, Any]:
    return Weight(value)


def push(layer: Layer[Any, Any], optimizer: SGD, input: Any = 0.0) -> Any:
    """One step whose delta is the output itself; the output from before it."""
    with optimizer, layer.forward(input) as tape:
        tape.backward(tape.value)
        return np.array(tape.value)


def test_a_convolution_of_one_to_sixteen() -> None:
    image = np.arange(1.0, 17.0).reshape(1, 1, 4, 4)
    expected = [[14, 24, 30, 22], [33, 54, 63, 45], [57, 90, 99, 69], [46, 72, 78, 54]]
    network = symbolic(lambda x: conv2d(x, np.ones((1, 1, 3, 3)), padding=1), np.ndarray)
    assert np.array_equal(network.predict(image), [[expected]])
    assert np.array_equal(conv2d(image, Weight(np.ones((1, 1, 3, 3))), padding=1).predict(0.0), [[expected]])


def test_a_product_that_is_pushed_to_zero() -> None:
    weight = weight_of(np.array([[0.0, 5.0]]))
    network = -(weight @ Identity())
    x, optimizer = np.array([[2.5, -3.2, -19.5], [7.5, -5.4, 4.5]]), SGD(0.0003)
    assert push(network, optimizer, x).sum() == pytest.approx(-33)
    for _ in range(99):
        push(network, optimizer, x)
    assert network.predict(x).sum() == pytest.approx(-0.7961, abs=5e-5)


def test_a_maximum_of_windows_moves_the_largest_only() -> None:
    weight = weight_of(np.arange(1.0, 97.0).reshape(2, 3, 4, 4))
    network = max_pool2d(weight, 2)
    assert push(network, SGD(1.0)).sum() == 1224
    assert weight.value.sum() == 3432


# --------------------------------------------------------------------------- sequences of numbers

GROWING = np.array([[0.0, 1.0, 2.0], [3.0, 6.0, 9.0], [13.0, 15.0, 17.0]])
GOING_ON = np.array([[0.0, 1.0, 2.0], [4.0, 7.0, 10.0], [13.0, 15.0, 17.0]])


def test_by_how_much_sequences_grow() -> None:
    weight, answers = weight_of(np.zeros(3)), np.array([1.0, 3.0, 2.0])
    guess = symbolic(lambda x: x @ weight, np.ndarray)
    loss = symbolic(lambda x: np.sum(np.abs(x @ weight - answers)), np.ndarray)
    step = loss.trainer(SGD(0.001))
    first = [step(GROWING) for _ in range(5)]
    assert first == pytest.approx([6, 4.476, 3.008, 3.456, 3.312], abs=1e-12)
    step.run(395, GROWING)
    assert loss.predict(GROWING) == pytest.approx(1.068, abs=5e-4)
    assert guess.predict(GROWING) == pytest.approx([1.002, 3.204, 2.862], abs=5e-4)


def test_how_sequences_go_on() -> None:
    weight, answers = weight_of(np.zeros(3)), np.array([3.0, 13.0, 19.0])
    guess = symbolic(lambda x: x @ weight, np.ndarray)
    loss = symbolic(lambda x: np.mean((x @ weight - answers) ** 2), np.ndarray)
    step = loss.trainer(SGD(0.003))
    assert step(GOING_ON) == pytest.approx(179.667, abs=5e-4)
    step.run(499, GOING_ON)
    assert loss.predict(GOING_ON) == pytest.approx(3.464e-7, rel=2e-4)
    assert guess.predict(np.array([3.0, 6.0, 9.0])) == pytest.approx(11.99907, abs=5e-6)


# --------------------------------------------------------------------------- exclusive or


@symbolic
def bit_loss(bits: Array, outcomes: Array, network: Any) -> Number:
    """Sigmoid cross-entropy on logits."""
    logits = network(bits)
    loss: Number = np.mean(np.logaddexp(0.0, logits) - outcomes * logits)
    return loss


def perceptron(sizes: Sequence[int]) -> Sequential:
    """Linear layers with ReLU between them."""
    layers: list[Layer[Any, Any]] = []
    for inputs, outputs in pairwise(sizes):
        layers += [Linear(inputs, outputs, initializer=he), ReLU()]
    return Sequential(*layers[:-1])


def exclusive_or(bits: Any) -> Any:
    return (bits[:, :3] != bits[:, 3:]).astype(float)


@pytest.mark.parametrize("number", [0, 1])
def test_exclusive_or_is_learnt(number: int) -> None:
    seed(number)
    network = perceptron((6, 50, 50, 50, 3))
    samples = np.random.default_rng(number).integers(0, 2, (1000, 6)).astype(float)
    step = bit_loss(network=network).trainer(Adam(0.003))
    for _ in range(20):
        for batch in np.split(samples, 100):
            step(batch, exclusive_or(batch))
    every = np.array([[k >> bit & 1 for bit in range(6)] for k in range(64)], float)
    assert np.array_equal(network.predict(every) > 0, exclusive_or(every) > 0)


# --------------------------------------------------------------------------- letters

TEXT = "DeepLearning.scala"
LETTERS = sorted(set(TEXT))
ONE_HOT = np.eye(len(LETTERS))[[LETTERS.index(letter) for letter in TEXT]]


@symbolic
def remember(letter: Array, memory: Array, size: int) -> Array:
    W, U = weight_of(normal(len(LETTERS), size, std=0.01)), weight_of(normal(size, size, std=0.01))
    after: Array = np.tanh(letter @ W + memory @ U + Weight(np.zeros(size)))
    return after


@symbolic
def expect(memory: Array, size: int) -> Array:
    return memory @ Weight(normal(size, len(LETTERS), std=0.01)) + Weight(np.zeros(len(LETTERS)))


@symbolic
def surprise(letters: Array, following: Array, cell: Any, logits: Any, size: int) -> Number:
    memory, total = np.zeros(size), 0.0
    for letter, right in zip(letters, following, strict=True):
        memory = cell(letter, memory)
        total += logsumexp(logits(memory)) - right @ logits(memory)
    return total


def generated(cell: Any, logits: Any, first: int, count: int, size: int) -> str:
    memory, letter, text = np.zeros(size), first, LETTERS[first]
    for _ in range(count):
        memory = cell(np.eye(len(LETTERS))[letter], memory)
        letter = int(logits(memory).argmax())
        text += LETTERS[letter]
    return text


def test_a_text_is_learnt_by_heart() -> None:
    seed(0)
    size = 100
    cell, logits = remember(size=size), expect(size=size)
    step = surprise(cell=cell, logits=logits, size=size).trainer(Adagrad(0.05))
    assert step(ONE_HOT[:-1], ONE_HOT[1:]) == pytest.approx(17 * np.log(13), abs=0.05)
    step.run(599, ONE_HOT[:-1], ONE_HOT[1:])
    assert generated(cell, logits, LETTERS.index("D"), 17, size) == TEXT


# --------------------------------------------------------------------------- digits


@symbolic
def softmax_loss(images: Array, labels: Array, weight: Any) -> Number:
    loss: Number = -np.mean(np.take_along_axis(log_softmax(images @ weight), labels[:, np.newaxis], axis=1))
    return loss


def test_softmax_regression_on_digits() -> None:
    images, labels = load_digits(return_X_y=True)
    X, y, held, truth = images[:1000] / 16, labels[:1000], images[1000:] / 16, labels[1000:]
    weight = weight_of(0.001 * np.random.RandomState(0).randn(64, 10))
    loss = softmax_loss(weight=weight)
    step = loss.trainer(SGD(0.1))
    assert step(X, y) == pytest.approx(2.30203, abs=5e-6)
    step.run(99, X, y)
    assert loss.predict(X, y) == pytest.approx(1.10841, abs=5e-6)
    step.run(400, X, y)
    assert loss.predict(X, y) == pytest.approx(0.38024, abs=5e-6)
    step.run(1499, X, y)
    assert loss.predict(X, y) == pytest.approx(0.15889, abs=5e-6)
    assert np.mean((held @ weight.value).argmax(axis=1) == truth) == pytest.approx(0.9197, abs=5e-5)


# --------------------------------------------------------------------------- whole numbers


def test_an_int_weight_takes_whole_steps() -> None:
    weight = weight_of(5)
    network, seen = weight + 1, []
    for _ in range(5):
        push(network, SGD(0.6))
        seen.append(weight.value)
    assert seen == [1, 0, -1, -1, -1] and type(weight.value) is int
    assert network.predict(0.0) == 0
