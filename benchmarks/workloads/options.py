"""W4: Black-Scholes: the price of a million calls, and all first-order greeks in reverse mode, float64.

The greeks are the gradient of the sum of the prices by spot, strike, years, rate and volatility: five arrays.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks.forms import Formula, Gradients, speaking
from benchmarks.workload import Goal, Inputs, Size, Workload, library, ours

NAMES = ("spot", "strike", "years", "rate", "volatility")
GRADIENTS = Gradients(NAMES, by=NAMES)
RANGES = ((80.0, 120.0), (80.0, 120.0), (0.1, 2.0), (0.0, 0.05), (0.1, 0.5))


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(4)
    return {name: random.uniform(*range_, size["options"]) for name, range_ in zip(NAMES, RANGES, strict=True)}


def symbolic() -> Any:
    from scipy.special import ndtr

    from symbolic import Symbolic, symbolic

    Many = Annotated[np.ndarray, Symbolic["options"]]

    @symbolic
    def total(spot: Many, strike: Many, years: Many, rate: Many, volatility: Many) -> float:
        spread = volatility * np.sqrt(years)
        d1 = (np.log(spot / strike) + rate * years) / spread + 0.5 * spread
        price = spot * ndtr(d1) - strike * np.exp(-rate * years) * ndtr(d1 - spread)
        return np.sum(price)

    return total


def total(spot: Any, strike: Any, years: Any, rate: Any, volatility: Any) -> Any:
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + rate * years) / spread + 0.5 * spread
    price = spot * ndtr(d1) - strike * np.exp(-rate * years) * ndtr(d1 - spread)
    return np.sum(price)


def ndtr(x: Any) -> Any:
    """Stands in the text above for the function of each library."""
    raise NotImplementedError  # it is never called by this name


def with_jax() -> Formula:
    return speaking(total, library("jax.numpy"), ndtr=library("jax.scipy.special").ndtr)


def with_autograd() -> Formula:
    return speaking(total, library("autograd.numpy"), ndtr=library("autograd.scipy.stats").norm.cdf)


def with_torch(spot: Any, strike: Any, years: Any, rate: Any, volatility: Any) -> Any:
    """The same in PyTorch's words: its compiler reads no functions that are made anew."""
    torch = library("torch")
    spread = volatility * torch.sqrt(years)
    d1 = (torch.log(spot / strike) + rate * years) / spread + 0.5 * spread
    price = spot * torch.special.ndtr(d1) - strike * torch.exp(-rate * years) * torch.special.ndtr(d1 - spread)
    return price.sum()


def with_pytensor(*given: Any) -> Any:
    pt = library("pytensor.tensor")
    return speaking(total, pt, ndtr=lambda x: 0.5 * pt.erfc(-x * np.sqrt(0.5)))(*given)


def by_hand(spot: Any, strike: Any, years: Any, rate: Any, volatility: Any) -> Any:
    """The greeks by their textbook formulas: no reverse mode, and far fewer operations."""
    from scipy.special import ndtr

    root = np.sqrt(years)
    spread = volatility * root
    d1 = (np.log(spot / strike) + rate * years) / spread + 0.5 * spread
    delta, exercised = ndtr(d1), ndtr(d1 - spread)
    discount = np.exp(-rate * years)
    bond = strike * discount * exercised
    density = spot * np.exp(-0.5 * d1 * d1) * (1 / np.sqrt(2 * np.pi))
    vega = density * root
    theta = density * volatility / (2 * root) + rate * bond
    return np.sum(spot * delta - bond), (delta, -discount * exercised, theta, years * bond, vega)


WORKLOADS = {
    "W4": Workload(
        name="W4",
        title="Black-Scholes price and greeks, 1e6 options",
        sizes={"1e6": {"options": 1_000_000}, **{f"1e{k}": {"options": 10**k} for k in (2, 3, 4, 5)}},
        tiny={"options": 7},
        inputs=inputs,
        contestants={
            **ours(GRADIENTS.symbolic(symbolic)),
            "jax": GRADIENTS.jax(with_jax),
            "torch": GRADIENTS.torch(with_torch),
            "torch compile": GRADIENTS.torch(with_torch, compiled=True),
            "pytensor": GRADIENTS.pytensor(with_pytensor),
            "autograd": GRADIENTS.autograd(with_autograd),
            "numpy": GRADIENTS.numpy(by_hand),
        },
        threads=(1, 2),
        imports=("scipy.special",),
        skipped={"mygrad": "it has no error function"},
        goals=(
            Goal("≥ 6×", least=6.0),
            Goal("≥ 10× on two threads", least=10.0, threads=2),
            Goal("peak memory ≤ half", measure="peak", least=2.0),
            Goal("first call < 100 ms", measure="first", most=0.1),
            Goal("cached < 5 ms", measure="cached", most=0.005),
            Goal("NumPy alone ahead of JAX", of="symbolic numpy", against="jax"),
        ),
    )
}
