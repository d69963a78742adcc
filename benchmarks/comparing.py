"""Do all libraries compute the same? Before that is certain, no time counts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

Arrays = dict[str, np.ndarray]


def read(folder: Path) -> list[Arrays]:
    """What a worker has written: after the first run, and after some more."""
    found: list[Arrays] = []
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            found.append({name: file[name] for name in file.files})
    return found


def reference(several: Mapping[str, list[Arrays]]) -> list[Arrays]:
    """Entry by entry the median of the peers' results, so that no single library is the judge; else of ours."""
    peers = [one for name, one in several.items() if not name.startswith("symbolic") and any(one)]
    judges = peers or [one for one in several.values() if any(one)]
    if not judges:
        return []
    names = [[key for key in first if all(key in one[k] for one in judges)] for k, first in enumerate(judges[0])]
    return [
        {name: np.median([one[k][name].reshape(judges[0][k][name].shape) for one in judges], axis=0) for name in given}
        for k, given in enumerate(names)
    ]


def difference(results: list[Arrays], right: list[Arrays]) -> tuple[float, str]:
    """The largest difference, as a part of the largest entry of its array, and the name of that array."""
    worst, where = 0.0, ""
    for mine, expected in zip(results, right, strict=True):
        for name, one in expected.items():
            if name not in mine or mine[name].size != one.size:
                return float("inf"), name
            given = mine[name].reshape(one.shape).astype(np.float64)
            scale = max(float(np.max(np.abs(one), initial=0.0)), 1e-300)
            error = float(np.max(np.abs(given - one), initial=0.0)) / scale
            if not error <= worst:  # a NaN is worse than any number
                worst, where = error if np.isfinite(error) else float("inf"), name
    return worst, where
