"""The workloads by name; each lies in a file of its own, which is only read when it is run."""

from __future__ import annotations

from importlib import import_module

from benchmarks.workload import Workload

PLACES = {
    "W1": "scalar",
    "W2": "logistic",
    "W3": "perceptron",
    "W3a": "perceptron",
    "W4": "options",
    "W5": "recurrent",
    "W6": "convolution",
    "W7": "chain",
    "W8": "prediction",
    "M1": "memory",
    "S1": "kalman",
    "S2": "messages",
    "S3": "attention",
    "S4": "heat",
    "S5": "norms",
    "S6": "convergence",
    "L1": "loops",
    "L2": "loops",
}
"""W: the eight of the design; M: bound by memory; S: six of other kinds; L: many steps inside one call."""


def find(name: str) -> Workload:
    """The workload of that name."""
    module = import_module(f"benchmarks.workloads.{PLACES[name]}")
    found: Workload = module.WORKLOADS[name]
    return found
