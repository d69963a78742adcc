"""Can a network learn the exclusive or? Three pairs of bits in, the three exclusive ors out."""

import os
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from symbolic import Adam, Symbolic, Weight, he, seed, symbolic

SEEDS = 2 if os.environ.get("SYMBOLIC_EXAMPLE_SIZE") == "small" else 10
EPOCHS, BATCHES = 20, 100
Bits = Annotated[np.ndarray, Symbolic["samples bits"]]
Outcomes = Annotated[np.ndarray, Symbolic["samples outcomes"]]
EVERY_INPUT = np.array([[number >> bit & 1 for bit in range(6)] for number in range(64)], float)


def exclusive_or(bits: Any) -> Any:
    return (bits[:, :3] != bits[:, 3:]).astype(float)


@symbolic
def dense(x: Bits, inputs: int, outputs: int) -> Outcomes:
    weight = Weight(he(inputs, outputs))
    bias = Weight(np.zeros(outputs))
    return x @ weight + bias


@symbolic
def predict(bits: Bits, sizes: tuple[int, ...]) -> Outcomes:
    x = bits
    for inputs, outputs in pairwise(sizes[:-1]):
        x = np.maximum(dense(x, inputs=inputs, outputs=outputs), 0)
    return dense(x, inputs=sizes[-2], outputs=sizes[-1])


@symbolic
def cross_entropy(bits: Bits, outcomes: Outcomes, logits: Any) -> Annotated[float, Symbolic]:
    """The mean of -log sigmoid(z) where the outcome is 1 and of -log(1 - sigmoid(z)) where it is 0."""
    z = logits(bits)
    return np.mean(np.logaddexp(0, z) - outcomes * z)


def right_after(epochs: int, number: int) -> list[int]:
    """How many of the 64 inputs are right after each epoch."""
    seed(number)
    samples = np.random.default_rng(number).integers(0, 2, (1000, 6)).astype(float)
    logits = predict(sizes=(6, 50, 50, 50, 3))
    step = cross_entropy(logits=logits).trainer(Adam(0.003))
    right = []
    for _ in range(epochs):
        for batch in np.split(samples, BATCHES):
            step(batch, exclusive_or(batch))
        right.append(int(np.sum(np.all((logits(EVERY_INPUT) > 0) == exclusive_or(EVERY_INPUT), axis=1))))
    return right


for number in range(SEEDS):
    right = right_after(EPOCHS, number)
    print(f"seed {number}: right of 64 after epoch 1, 2, …:", *right[:5], "…", right[-1])
    assert right[-1] == 64
