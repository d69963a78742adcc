"""Can plain functions read handwriting? A convolutional network on the digits that come with scikit-learn.

Run it as `python examples/digits.py [seed]`; it draws `digits.png` beside this file.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # digits of 8 x 8 are too small to be worth a second thread

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from symbolic import Adam, CosineDecay, Layer, Symbolic, Weight, conv2d, he, log_softmax, max_pool2d, seed, symbolic, zeros

EPOCHS, BATCH = (1 if os.environ.get("SYMBOLIC_EXAMPLE_SIZE") == "small" else 20), 64
Images = Annotated[np.ndarray, Symbolic[np.float32, "batch _ height width"]]
Rows = Annotated[np.ndarray, Symbolic[np.float32, "batch _"]]
Labels = Annotated[np.ndarray, Symbolic["batch"]]


@symbolic
def convolution(x: Images, channels: int, maps: int) -> Images:
    kernel = Weight(he(maps, channels, 3, 3, dtype=np.float32))
    bias = Weight(zeros(maps, dtype=np.float32))
    return np.maximum(conv2d(x, kernel, bias, padding=1), 0)


@symbolic
def dense(x: Rows, inputs: int, outputs: int) -> Rows:
    weight = Weight(he(inputs, outputs, dtype=np.float32))
    bias = Weight(zeros(outputs, dtype=np.float32))
    return x @ weight + bias


@symbolic
def reader(images: Images, maps: int) -> Rows:
    edges = convolution(images, channels=1, maps=maps)
    strokes = max_pool2d(convolution(edges, channels=maps, maps=2 * maps), 2)
    hidden = np.maximum(dense(strokes.reshape(-1, 32 * maps), inputs=32 * maps, outputs=64), 0)
    return dense(hidden, inputs=64, outputs=10)


@symbolic
def cross_entropy(images: Images, labels: Labels, read: Layer) -> Annotated[float, Symbolic]:
    return -np.mean(np.take_along_axis(log_softmax(read(images)), labels[:, np.newaxis], axis=1))


def main(number: int) -> None:
    seed(number)
    digits = load_digits()
    images = digits.images[:, np.newaxis].astype(np.float32) / 16
    X, X_test, y, y_test = train_test_split(images, digits.target, test_size=0.25, random_state=0, stratify=digits.target)
    read = reader(maps=16)
    step = cross_entropy(read=read).trainer(Adam(CosineDecay(0.005, EPOCHS * len(X) // BATCH)))
    shuffler = np.random.default_rng(number)
    losses, accuracies = [], []
    columns = TextColumn("epoch {task.completed:.0f}"), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns) as progress:
        task = progress.add_task("", total=EPOCHS)
        for _ in range(EPOCHS):
            order = shuffler.permutation(len(X))[: len(X) // BATCH * BATCH]
            for batch in order.reshape(-1, BATCH):
                losses.append(step(X[batch], y[batch]))
                progress.update(task, advance=BATCH / len(order), description=f"loss {losses[-1]:.4f}")
            accuracies.append(np.mean(read.predict(X_test).argmax(axis=1) == y_test))
