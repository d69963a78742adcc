"""Can a robot pass an intelligence test? It is shown sequences of numbers and finds out how they go on."""

from typing import Annotated, Any

import numpy as np

from symbolic import SGD, Symbolic, Weight, symbolic

Sequences = Annotated[np.ndarray, Symbolic["questions terms"]]
Answers = Annotated[np.ndarray, Symbolic["questions"]]


@symbolic
def robot(sequences: Sequences, terms: int) -> Answers:
    return sequences @ Weight(np.zeros(terms))


@symbolic
def distance(sequences: Sequences, answers: Answers, answer: Any) -> Annotated[float, Symbolic]:
    return np.sum(np.abs(answer(sequences) - answers))


@symbolic
def mean_square(sequences: Sequences, answers: Answers, answer: Any) -> Annotated[float, Symbolic]:
    return np.mean((answer(sequences) - answers) ** 2)


def steps() -> None:
    """By how much does each sequence grow?"""
    questions = np.array([[0.0, 1.0, 2.0], [3.0, 6.0, 9.0], [13.0, 15.0, 17.0]])
    answers = np.array([1.0, 3.0, 2.0])
    growth = robot(terms=3)
    loss = distance(answer=growth)
    lesson = loss.trainer(SGD(0.001))
    print("losses", *(f"{lesson(questions, answers):.3f}" for _ in range(5)), "...")
    lesson.run(395, questions, answers)
    print(f"after 400 lessons {loss(questions, answers):.3f}")
    for question, guess in zip(questions, growth(questions), strict=True):
        print(f"    {question} grows by {guess:.3f}")


def continuations() -> None:
    """Which number comes next?"""
    questions = np.array([[0.0, 1.0, 2.0], [4.0, 7.0, 10.0], [13.0, 15.0, 17.0]])
    answers = np.array([3.0, 13.0, 19.0])
    following = robot(terms=3)
    loss = mean_square(answer=following)
    lesson = loss.trainer(SGD(0.003))
    print(f"first loss {lesson(questions, answers):.3f}")
    lesson.run(499, questions, answers)
    print(f"after 500 lessons {loss(questions, answers):.3e}")
    print(f"    [3. 6. 9.] goes on with {following(np.array([[3.0, 6.0, 9.0]]))[0]:.5f}")


for test in (steps, continuations):
    print(test.__doc__)
    test()
