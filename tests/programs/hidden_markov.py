"""A hidden Markov model: the forward algorithm in logarithms, and Viterbi's path.

Checked against the sum over all paths, and, for the gradient of the transition logits, the expected counts over them.
"""

import itertools
from typing import Annotated, Any, NamedTuple

import numpy as np

import symbolic as s
from symbolic import Symbolic, symbolic


class Logits(NamedTuple):
    start: np.ndarray
    transition: np.ndarray
    emission: np.ndarray


def logsumexp(values: np.ndarray, axis: int = -1) -> np.ndarray:
    top = np.max(values, axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.sum(np.exp(values - top), axis=axis))


def normalized(logits: np.ndarray) -> np.ndarray:
    return logits - np.expand_dims(logsumexp(logits), -1)


def log_likelihood(logits: Logits, symbols: list[int]) -> float:
    start, transition, emission = (normalized(one) for one in logits)
    states = len(start)
    alpha = start + emission[:, symbols[0]]
    for symbol in symbols[1:]:
        new = np.zeros(states)
        for state in range(states):
            new[state] = logsumexp(alpha + transition[:, state]) + emission[state, symbol]
        alpha = new
    return logsumexp(alpha)


def viterbi(logits: Logits, symbols: list[int]) -> tuple[float, list[int]]:
    start, transition, emission = (normalized(one) for one in logits)
    score, back = start + emission[:, symbols[0]], []
    for symbol in symbols[1:]:
        paths = score[:, None] + transition
        back.append(np.argmax(paths, axis=0))
        score = np.max(paths, axis=0) + emission[:, symbol]
    path = [int(np.argmax(score))]
    for pointers in reversed(back):
        path.append(int(pointers[path[-1]]))
    return np.max(score), path[::-1]


RNG = np.random.default_rng(0)
LOGITS = Logits(RNG.standard_normal(3), RNG.standard_normal((3, 3)), RNG.standard_normal((3, 4)))
SYMBOLS = [0, 3, 1, 1, 2, 0]


def all_paths() -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """The probability of each path together with the symbols."""
    start, transition, emission = [np.exp(one) / np.exp(one).sum(axis=-1, keepdims=True) for one in LOGITS]
    paths = list(itertools.product(range(3), repeat=len(SYMBOLS)))
    found = [
        start[path[0]]
        * np.prod([transition[a, b] for a, b in itertools.pairwise(path)])
        * np.prod([emission[state, symbol] for state, symbol in zip(path, SYMBOLS, strict=True)])
        for path in paths
    ]
    return np.array(found), paths


def check_value() -> None:
    expected = np.log(all_paths()[0].sum())
    np.testing.assert_allclose(log_likelihood(LOGITS, SYMBOLS), expected, rtol=1e-12)
    np.testing.assert_allclose(s.value_and_grad(log_likelihood)(LOGITS, SYMBOLS)[0], expected, rtol=1e-12)


def check_gradient() -> None:
    """By logits: expected count of a transition − expected count of its state × its probability."""
    weights, paths = all_paths()
    counts = np.zeros((3, 3))
    for weight, path in zip(weights / weights.sum(), paths, strict=True):
        for a, b in itertools.pairwise(path):
            counts[a, b] += weight
    probabilities = np.exp(LOGITS.transition) / np.exp(LOGITS.transition).sum(axis=1, keepdims=True)
    delta = s.grad(log_likelihood)(LOGITS, SYMBOLS)
    assert type(delta) is Logits
    expected = counts - counts.sum(axis=1, keepdims=True) * probabilities
    np.testing.assert_allclose(delta.transition, expected, rtol=1e-9)


def check_viterbi() -> None:
    weights, paths = all_paths()
    score, path = viterbi(LOGITS, SYMBOLS)
    assert path == list(paths[np.argmax(weights)])
    value, delta = s.value_and_grad(lambda logits: viterbi(logits, SYMBOLS)[0])(LOGITS)
    np.testing.assert_allclose([score, value], np.log(weights.max()), rtol=1e-12)
    start = np.exp(LOGITS.start) / np.exp(LOGITS.start).sum()
    np.testing.assert_allclose(delta.start, np.eye(3)[path[0]] - start, rtol=1e-9)


def check_layer() -> None:
    @symbolic
    def surprise(symbols: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        weights: Any = Logits(*[s.Weight(one) for one in LOGITS])
        return -log_likelihood(weights, symbols)

    symbols = np.array(SYMBOLS)
    first = surprise.train(symbols, optimizer=s.SGD(0.5))
    np.testing.assert_allclose(first, -log_likelihood(LOGITS, SYMBOLS), rtol=1e-12)
    for _ in range(50):
        last = surprise.train(symbols, optimizer=s.SGD(0.5))
    assert last < first - 1.0
