"""Correct programs: signals and pictures."""

from typing import Annotated

import numpy as np

from symbolic import Symbolic, symbolic

Signal = Annotated[np.ndarray, Symbolic[np.float64, "n"]]
Picture = Annotated[np.ndarray, Symbolic[np.float32, "h w"]]
Color = Annotated[np.ndarray, Symbolic[np.float32, "h w 3"]]


@symbolic
def differences(x: Signal) -> Annotated[np.ndarray, Symbolic[np.float64, "n-1"]]:
    return x[1:] - x[:-1]


@symbolic
def slope(x: Signal) -> Annotated[np.ndarray, Symbolic[np.float64, "n-1"]]:
    return np.diff(x) / 0.1


@symbolic
def filtered(
    x: Signal, taps: Annotated[np.ndarray, Symbolic[np.float64, "k"]]
) -> Annotated[np.ndarray, Symbolic[np.float64, "n+k-1"]]:
    return np.convolve(x, taps)


@symbolic
def moving_average(x: Signal) -> Annotated[np.ndarray, Symbolic[np.float64, "n-2"]]:
    return (x[:-2] + x[1:-1] + x[2:]) / 3


@symbolic
def running_mean(x: Signal) -> Signal:
    return np.cumsum(x) / np.arange(1, x.shape[0] + 1)


@symbolic
def smoothed(x: Annotated[np.ndarray, Symbolic[np.float64, "4"]]) -> Annotated[np.ndarray, Symbolic[np.float64, "4"]]:
    level = x[0]
    found = [level]
    for t in range(1, 4):
        level = 0.9 * level + 0.1 * x[t]
        found.append(level)
    return np.stack(found)


@symbolic
def windowed(x: Signal) -> Signal:
    n = x.shape[0]
    return x * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n))


@symbolic
def energy(x: Signal) -> Annotated[float, Symbolic]:
    return np.dot(x, x)


@symbolic
def padded(x: Signal) -> Annotated[np.ndarray, Symbolic[np.float64, "n+4"]]:
    return np.pad(x, 2)


@symbolic
def mirrored(x: Signal) -> Annotated[np.ndarray, Symbolic[np.float64, "2*n"]]:
    return np.concatenate([x, x[::-1]])


@symbolic
def stereo(left: Signal, right: Signal) -> Annotated[np.ndarray, Symbolic[np.float64, "n 2"]]:
    return np.stack([left, right], axis=-1)


@symbolic
def frames(x: Annotated[np.ndarray, Symbolic[np.float64, "8*n"]]) -> Annotated[np.ndarray, Symbolic[np.float64, "n 8"]]:
    return x.reshape(-1, 8)


@symbolic
def spectrum_by_matrix(x: Signal) -> Annotated[np.ndarray, Symbolic[np.float64, "n"]]:
    k = np.arange(x.shape[0])
    angles = 2 * np.pi * k[:, None] * k / x.shape[0]
    return (np.cos(angles) @ x) ** 2 + (np.sin(angles) @ x) ** 2


@symbolic
def grey(image: Color) -> Picture:
    return 0.299 * image[..., 0] + 0.587 * image[..., 1] + 0.114 * image[:, :, 2]


@symbolic
def whitened(image: Color) -> Color:
    return (image - image.mean(axis=(0, 1))) / (image.std(axis=(0, 1)) + 1e-3)


@symbolic
def channels_first(image: Color) -> Annotated[np.ndarray, Symbolic[np.float32, "3 h w"]]:
    return image.transpose(2, 0, 1)


@symbolic
def batched(image: Color) -> Annotated[np.ndarray, Symbolic[np.float32, "1 3 h w"]]:
    return np.moveaxis(image, -1, 0)[None]


@symbolic
def flipped(image: Picture) -> Picture:
    return image[:, ::-1]


@symbolic
def blended(one: Picture, other: Picture, mask: Annotated[np.ndarray, Symbolic[np.bool_, "h w"]]) -> Picture:
    return np.where(mask, one, other)


@symbolic
def brightened(
    image: Annotated[np.ndarray, Symbolic[np.uint8, "h w"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "h w"]]:
    return np.clip(image.astype(np.float32) / 255 * 1.5, 0.0, 1.0)


@symbolic
def laplacian(image: Picture) -> Annotated[np.ndarray, Symbolic[np.float32, "h-2 w-2"]]:
    around = image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:]
    return around - 4 * image[1:-1, 1:-1]


@symbolic
def doubled(image: Picture) -> Annotated[np.ndarray, Symbolic[np.float32, "2*h 2*w"]]:
    return image.repeat(2, axis=0).repeat(2, axis=1)
