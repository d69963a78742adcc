"""Can plain functions read handwriting? A convolutional network on the digits that come with scikit-learn.

Run it as `python examples/digits.py [seed]`; it draws `digits.png` beside this file.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # images of 8 x 8 are too small to be worth a second thread

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from symbolic import Adam, CosineDecay, Symbolic, Weight, conv2d, he, log_softmax, max_pool2d, seed, symbolic, zeros

EPOCHS, BATCH = (1 if os.environ.get("SYMBOLIC_EXAMPLE_SIZE") == "small" else 20), 64
FLOAT = np.float32
Image = Annotated[np.ndarray, Symbolic[np.float32, "batch channels height width"]]
Rows = Annotated[np.ndarray, Symbolic[np.float32, "batch features"]]
Labels = Annotated[np.ndarray, Symbolic["batch"]]


@symbolic
def convolution(x: Image, channels: int, maps: int) -> Image:
    kernel = Weight(he(maps, channels, 3, 3, dtype=FLOAT))
    bias = Weight(zeros(maps, dtype=FLOAT))
    return np.maximum(conv2d(x, kernel, bias, padding=1), 0)


@symbolic
def dense(x: Rows, inputs: int, outputs: int) -> Rows:
    weight = Weight(he(inputs, outputs, dtype=FLOAT))
    bias = Weight(zeros(outputs, dtype=FLOAT))
    return x @ weight + bias


@symbolic
def read(images: Image, maps: int) -> Rows:
    edges = convolution(images, channels=1, maps=maps)
    strokes = max_pool2d(convolution(edges, channels=maps, maps=2 * maps), 2)
    features = np.maximum(dense(strokes.reshape(-1, 32 * maps), inputs=32 * maps, outputs=64), 0)
    return dense(features, inputs=64, outputs=10)


@symbolic
def cross_entropy(images: Image, labels: Labels, network: Callable[[Any], Any]) -> Annotated[float, Symbolic]:
    return -np.mean(np.take_along_axis(log_softmax(network(images)), labels[:, np.newaxis], axis=1))
