"""Can a recurrent network learn a text by heart? It is shown "DeepLearning.scala", and writes it letter by letter."""

from typing import Annotated, Any

import numpy as np

from symbolic import Adagrad, Symbolic, Weight, logsumexp, normal, seed, symbolic

TEXT = "DeepLearning.scala"
LETTERS = sorted(set(TEXT))
HIDDEN, ROUNDS = 100, (1, 3, 10, 30, 100, 300, 600)
Memory = Annotated[np.ndarray, Symbolic["hidden"]]
Letter = Annotated[np.ndarray, Symbolic["letters"]]
Letters = Annotated[np.ndarray, Symbolic["steps letters"]]

seed(0)  # the functions below draw their initial weights after it


@symbolic
def remember(letter: Letter, memory: Memory) -> Memory:
    W = Weight(normal(len(LETTERS), HIDDEN, std=0.01))
    U = Weight(normal(HIDDEN, HIDDEN, std=0.01))
    b = Weight(np.zeros(HIDDEN))
    return np.tanh(letter @ W + memory @ U + b)


@symbolic
def expect(memory: Memory) -> Letter:
    V = Weight(normal(HIDDEN, len(LETTERS), std=0.01))
    c = Weight(np.zeros(len(LETTERS)))
    return memory @ V + c


@symbolic
def surprise(letters: Letters, following: Letters) -> Annotated[float, Symbolic]:
    memory, total = np.zeros(HIDDEN), 0.0
    for letter, right in zip(letters, following, strict=True):
        memory = remember(letter, memory)
        logits = expect(memory)
        total += logsumexp(logits) - right @ logits
    return total


def one_hot(text: str) -> Any:
    return np.eye(len(LETTERS))[[LETTERS.index(letter) for letter in text]]


def generate(text: str, count: int) -> str:
    memory = np.zeros(HIDDEN)
    for _ in range(count):
        memory = remember(one_hot(text)[-1], memory)
        text += LETTERS[expect(memory).argmax()]
    return text


lesson = surprise.trainer(Adagrad(0.05))
letters = one_hot(TEXT)
print("round  surprise  what it writes")
done = 0
for rounds in ROUNDS:
    loss = lesson.run(rounds - done, letters[:-1], letters[1:])
    print(f"{rounds:5}  {loss:8.4f}  {generate('D', len(TEXT) - 1)}")
    done = rounds
assert generate("D", len(TEXT) - 1) == TEXT
