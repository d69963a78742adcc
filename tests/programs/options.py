"""Option prices and their greeks: Black–Scholes, a binomial tree with early exercise, and Monte Carlo with a barrier.

Checked against the greeks on paper with SciPy's normal distribution, and each method against the others.
"""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import scipy.stats

import symbolic as s
from symbolic import Symbolic, symbolic


@dataclass(frozen=True)
class Market:
    spot: float
    rate: float
    volatility: float


@dataclass(frozen=True)
class Option:
    strike: float
    years: float
    kind: str = "call"


def normal(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def black_scholes(market: Market, option: Option) -> float:
    spread = market.volatility * math.sqrt(option.years)
    d1 = (math.log(market.spot / option.strike) + market.rate * option.years) / spread + spread / 2
    discounted = option.strike * math.exp(-market.rate * option.years)
    if option.kind == "call":
        return market.spot * normal(d1) - discounted * normal(d1 - spread)
    if option.kind == "put":
        return discounted * normal(spread - d1) - market.spot * normal(-d1)
    raise ValueError(f"unknown kind {option.kind!r}")


def tree(market: Market, option: Option, steps: int = 50, american: bool = False) -> float:
    dt = option.years / steps
    up = math.exp(market.volatility * math.sqrt(dt))
    p = (math.exp(market.rate * dt) - 1 / up) / (up - 1 / up)
    sign = 1.0 if option.kind == "call" else -1.0
    prices = market.spot * up ** (2.0 * np.arange(steps + 1) - steps)
    values = np.maximum(sign * (prices - option.strike), 0.0)
    for n in range(steps - 1, -1, -1):
        values = math.exp(-market.rate * dt) * (p * values[1:] + (1 - p) * values[:-1])
        if american:
            prices = market.spot * up ** (2.0 * np.arange(n + 1) - n)
            values = np.maximum(values, sign * (prices - option.strike))
    return float(values[0])


def monte_carlo(market: Market, option: Option, draws: np.ndarray, barrier: float = math.inf) -> float:
    """The mean over paths; a path that touches the barrier is worth nothing."""
    _, steps = draws.shape
    dt = option.years / steps
    logs = np.cumsum((market.rate - market.volatility**2 / 2) * dt + market.volatility * dt**0.5 * draws, axis=1)
    prices = market.spot * np.exp(logs)
    payoff = np.where(prices[:, -1] > option.strike, prices[:, -1] - option.strike, 0.0)
    payoff = np.where(prices.max(axis=1) < barrier, payoff, 0.0)
    return np.exp(-market.rate * option.years) * payoff.mean()


MARKET = Market(100.0, 0.03, 0.25)
CALL, PUT = Option(105.0, 0.75), Option(105.0, 0.75, "put")


def check_greeks() -> None:
    spread = 0.25 * math.sqrt(0.75)
    d1 = (math.log(100 / 105) + 0.03 * 0.75) / spread + spread / 2
    n = scipy.stats.norm
    for option, sign in ((CALL, 1), (PUT, -1)):
        price, delta = s.value_and_grad(black_scholes)(MARKET, option)
        shift = 105 * math.exp(-0.03 * 0.75) * n.cdf(sign * (d1 - spread))
        np.testing.assert_allclose(price, sign * (100 * n.cdf(sign * d1) - shift), rtol=1e-12)
        np.testing.assert_allclose(delta.spot, sign * n.cdf(sign * d1), rtol=1e-12)
        np.testing.assert_allclose(delta.volatility, 100 * n.pdf(d1) * math.sqrt(0.75), rtol=1e-12)
        np.testing.assert_allclose(delta.rate, sign * 0.75 * shift, rtol=1e-12)


def check_gamma() -> None:
    """The second derivative by the spot, as a gradient of a gradient."""

    def price(spot: float) -> float:
        return black_scholes(replace(MARKET, spot=spot), CALL)

    spread = 0.25 * math.sqrt(0.75)
    d1 = (math.log(100 / 105) + 0.03 * 0.75) / spread + spread / 2
    np.testing.assert_allclose(s.grad(s.grad(price))(100.0), scipy.stats.norm.pdf(d1) / (100 * spread), rtol=1e-10)


def check_tree() -> None:
    value, delta = s.value_and_grad(tree)(MARKET, PUT, 200)
    assert type(value) is float
    exact, greeks = s.value_and_grad(black_scholes)(MARKET, PUT)
    np.testing.assert_allclose(value, exact, rtol=2e-3)
    np.testing.assert_allclose(delta.spot, greeks.spot, atol=1e-2)
    early, american = s.value_and_grad(tree)(MARKET, PUT, 50, american=True)
    assert early > value
    up, down = [tree(replace(MARKET, volatility=0.25 + h), PUT, 50, american=True) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(american.volatility, (up - down) / 2e-6, rtol=1e-5)


def check_monte_carlo() -> None:
    draws = np.random.default_rng(0).standard_normal((20000, 8))
    value, delta = s.value_and_grad(monte_carlo)(MARKET, CALL, draws)
    exact, greeks = s.value_and_grad(black_scholes)(MARKET, CALL)
    np.testing.assert_allclose(value, exact, rtol=0.02)
    np.testing.assert_allclose(delta.spot, greeks.spot, atol=0.01)
    _, knocked = s.value_and_grad(monte_carlo)(MARKET, CALL, draws, barrier=130.0)
    up, down = [monte_carlo(replace(MARKET, rate=0.03 + h), CALL, draws, barrier=130.0) for h in (1e-7, -1e-7)]
    np.testing.assert_allclose(knocked.rate, (up - down) / 2e-7, rtol=1e-4)


def check_layer() -> None:
    """The volatility that the market's price implies."""

    @symbolic
    def implied(price: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
        market: Any = Market(100.0, 0.03, s.Weight(0.4))
        return (black_scholes(market, CALL) - price) ** 2

    price = black_scholes(MARKET, CALL)
    np.testing.assert_allclose(
        implied.predict(price), (black_scholes(replace(MARKET, volatility=0.4), CALL) - price) ** 2, rtol=1e-12
    )
    for _ in range(60):
        implied.train(price, optimizer=s.SGD(3e-4))
    (volatility,) = implied.weights().values()
    np.testing.assert_allclose(volatility.value, 0.25, rtol=1e-6)
