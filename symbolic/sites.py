"""Which weight belongs to a line of a body? It is found again by the chain of call sites and the count there."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from symbolic.context import source, user_frame
from symbolic.errors import ShapeError, place_of
from symbolic.leaves import Weight
from symbolic.spec import Spec, spec_of


class Shared:
    """The generator that serves where no seed is given and no layer is being built; see `initializers.seed`."""

    generator: Any = None


def fresh_seed() -> int:
    """A seed for the own generator of a new layer.

    While nobody has asked for a number, or for the same ones again, it comes from the system, as the generator's own
    would: NumPy loads its generators when they are first used, and most layers draw nothing.
    """
    if Shared.generator is None:
        return int.from_bytes(os.urandom(8), sys.byteorder) >> 1
    return int(Shared.generator.integers(2**63))


class Store:
    """What a traced function owns beyond its code: weights by call site, and the seed of their initial values."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.weights: dict[Any, Weight[Any, Any]] = {}
        self.draws: dict[Any, int] = {}
        self.layers: dict[Any, Store] = {}


class Owner:
    """The layer whose body is being run: its weights live in `store`, by the chain of call sites."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.counts: dict[Any, int] = {}
        self.frame: FrameType | None = None

    def _site(self, what: str) -> Any:
        """Code and instruction of each frame between the body and here, ours and NumPy's left out; and the count."""
        chain: list[Any] = [what]
        frame = user_frame(sys._getframe(2))
        while frame is not None and frame is not self.frame:
            if user_frame(frame) is frame:
                chain.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        site = tuple(chain)
        count = self.counts[site] = self.counts.get(site, -1) + 1
        return site, count

    def weight(self, make: Callable[[], Any], value: Any) -> Any:
        site = self._site("weight")
        found = self.store.weights.get(site)
        if found is None:
            made = self.store.weights[site] = make()
            return made
        old, new = spec_of(found.cell.value), spec_of(value)
        if isinstance(old, Spec) and isinstance(new, Spec) and old[:2] != new[:2]:
            raise ShapeError(
                f"a weight of {new} is made where this layer already has one of {old} ({place_of(found._origin)})",
                where=place_of(source()),
                remedy="let the size come from a hyperparameter, or make a layer for each size",
            )
        return found

    def layer(self) -> Store:
        """The store of a layer that is made at this call site: the same one at every trace."""
        site = self._site("layer")
        if site not in self.store.layers:
            self.store.layers[site] = Store(self.store.seed + len(self.store.layers) + 1)
        return self.store.layers[site]

    def generator(self) -> Any:
        """The layer's own generator for this call site: tracing again draws the same numbers."""
        site = self._site("draw")
        number = self.store.draws.setdefault(site, len(self.store.draws))
        return np.random.default_rng([self.store.seed, number])


def place_name(weight: Weight[Any, Any], title: str) -> str:
    """`dense/w`: the layers between the network and the weight, and the name that it is given on its line."""
    path, file, line = weight._origin[:3]
    inner = [part for part in path.split("/") if part]
    if inner and inner[0] == title:
        inner = inner[1:]
    return "/".join([*inner, weight.name or _assigned_name(file, line) or "weight"])


def _assigned_name(file: str, line: int) -> str:
    found = re.match(r"\s*(\w+)\s*(?::[^=]+)?=[^=]", linecache.getline(file, line))
    return found[1] if found else ""
