"""Mappings of native types to their deltas, which `literals.py` imports."""

import numpy as np

from symbolic import Literal, ToLiteral


class Celsius:
    def __init__(self, degrees: float) -> None:
        self.degrees = degrees


class CelsiusToLiteral(ToLiteral[Celsius, float]):
    def __call__(self, data: Celsius) -> Literal[Celsius, float]:
        return Literal(data)


class UInt8ToLiteral(ToLiteral[np.uint8, np.float32]):
    pass
