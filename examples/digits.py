"""Can plain functions read handwriting? A convolutional network on scikit-learn's digits; it draws digits.png."""

import os
from typing import Annotated, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # images of 8 x 8 are not worth a second thread

import numpy as np
from rich.progress import BarColumn, Progress, TimeElapsedColumn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from symbolic import Adam, CosineDecay, Symbolic, Weight, conv2d, he, log_softmax, max_pool2d, seed, symbolic

BATCHES, EPOCHS = 21, 1 if os.environ.get("SYMBOLIC_EXAMPLE_SIZE") == "small" else 20
Batch = Annotated[np.ndarray, Symbolic[np.float32, "batch ..."]]


@symbolic
def convolution(x: Batch, channels: int, maps: int) -> Batch:
    kernel = Weight(he(maps, channels, 3, 3, dtype=np.float32))
    bias = Weight(np.zeros(maps, np.float32))
    return np.maximum(conv2d(x, kernel, bias, padding=1), 0)


@symbolic
def dense(x: Batch, inputs: int, outputs: int) -> Batch:
    weight = Weight(he(inputs, outputs, dtype=np.float32))
    bias = Weight(np.zeros(outputs, np.float32))
    return x @ weight + bias


@symbolic
def reader(images: Batch, maps: int) -> Batch:
    edges = convolution(images, channels=1, maps=maps)
    strokes = max_pool2d(convolution(edges, channels=maps, maps=2 * maps), 2)
    hidden = np.maximum(dense(strokes.reshape(-1, 32 * maps), inputs=32 * maps, outputs=64), 0)
    return dense(hidden, inputs=64, outputs=10)


@symbolic
def cross_entropy(images: Batch, labels: Annotated[np.ndarray, Symbolic["batch"]], read: Any) -> float:
    return -np.mean(np.take_along_axis(log_softmax(read(images)), labels[:, np.newaxis], axis=1))


def draw(losses: list[float], accuracies: list[float], images: Any, labels: Any, logits: Any) -> None:
    from matplotlib import pyplot

    figure, (curve, strip) = pyplot.subplots(2, 1, figsize=(8, 6), height_ratios=(3, 1), layout="constrained")
    curve.semilogy(losses, linewidth=0.8)
    curve.set(title=f"held-out accuracy {accuracies[-1]:.4f} (orange)", xlabel="step", ylabel="loss (blue)")
    curve.twinx().plot(np.arange(len(accuracies)) * BATCHES, accuracies, "tab:orange", marker=".")
    worst = np.argsort(log_softmax(logits)[np.arange(len(labels)), labels])[:8]
    strip.imshow(np.hstack([np.pad(images[k, 0], 1) for k in worst]), cmap="gray_r")
    strip.set_xticks(np.arange(4.5, 80, 10), [f"{labels[k]} read as {logits[k].argmax()}" for k in worst])
    strip.set(title="worst mistakes, then the doubtful ones", yticks=[])
    figure.savefig("digits.png", dpi=150)


def main(number: int = 0) -> None:
    seed(number)
    images, digits = load_digits().images[:, np.newaxis].astype(np.float32) / 16, load_digits().target
    X, held, y, truth = train_test_split(images, digits, test_size=0.25, random_state=0, stratify=digits)
    read, order = reader(maps=16), np.random.default_rng(number)
    step = cross_entropy(read=read).trainer(Adam(CosineDecay(0.005, EPOCHS * BATCHES)))
    losses, accuracies = [], [np.mean(read(held).argmax(axis=1) == truth)]
    with Progress("{task.description}", BarColumn(), TimeElapsedColumn()) as bar:
        bar.print(read, *(f"{k:20}{w.value.shape!s:>20}{w.value.size:8,}" for k, w in read.weights().items()), sep="\n")
        for _ in bar.track(range(EPOCHS), description="untrained"):
            for batch in np.array_split(order.permutation(len(X)), BATCHES):
                losses.append(step(X[batch], y[batch]))
            accuracies.append(np.mean(read(held).argmax(axis=1) == truth))
            bar.update(bar.task_ids[0], description=f"loss {losses[-1]:.4f}  accuracy {accuracies[-1]:.4f}")
    draw(losses, accuracies, held, truth, read(held))
    print(f"the curve and the worst mistakes are in digits.png\nheld-out accuracy {accuracies[-1]:.4f}")


if __name__ == "__main__":
    main()
