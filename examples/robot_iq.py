"""Can a robot pass an intelligence test? It is shown number sequences and learns what to answer by itself."""

from typing import Annotated

import numpy as np

from symbolic import SGD, Symbolic, Weight, symbolic

Sequences = Annotated[np.ndarray, Symbolic["questions 3"]]
Answers = Annotated[np.ndarray, Symbolic["questions"]]


@symbolic
def robot(sequences: Sequences) -> Answers:
    return sequences @ Weight(np.zeros(3), name="thought")


@symbolic
def regret(sequences: Sequences, answers: Answers) -> Annotated[float, Symbolic]:
    return np.sum(np.abs(robot(sequences) - answers))


print("By how much does each sequence grow?")
QUESTIONS = np.array([[0.0, 1.0, 2.0], [3.0, 6.0, 9.0], [13.0, 15.0, 17.0]])
STEPS = np.array([1.0, 3.0, 2.0])
learn = regret.trainer(SGD(0.001))
print("losses:", *(f"{learn(QUESTIONS, STEPS):.3f}" for _ in range(5)), "...")
learn.run(395, QUESTIONS, STEPS)
print(f"after 400 lessons: {regret(QUESTIONS, STEPS):.3f}")
for question, answer in zip(QUESTIONS, robot(QUESTIONS), strict=True):
    print(f"    {question} grows by {answer:.3f}")


@symbolic
def forecaster(sequences: Sequences) -> Answers:
    return sequences @ Weight(np.zeros(3), name="thought")


@symbolic
def error(sequences: Sequences, answers: Answers) -> Annotated[float, Symbolic]:
    return np.mean((forecaster(sequences) - answers) ** 2)


print("\nWhich number comes next?")
BEGINNINGS = np.array([[0.0, 1.0, 2.0], [4.0, 7.0, 10.0], [13.0, 15.0, 17.0]])
NEXT = np.array([3.0, 13.0, 19.0])
learn = error.trainer(SGD(0.003))
print(f"first loss: {learn(BEGINNINGS, NEXT):.3f}")
learn.run(499, BEGINNINGS, NEXT)
print(f"after 500 lessons: {error(BEGINNINGS, NEXT):.3e}")
print(f"    3, 6, 9 goes on with {forecaster(np.array([[3.0, 6.0, 9.0]]))[0]:.5f}")
