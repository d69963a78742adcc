"""What do the methods of SciPy's distributions do with layers? They move a law of the table to its place and scale.

Outside the support a density is 0 and its logarithm -inf, and nothing flows; wrong parameters give NaN, as in SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
import scipy.stats as st

from symbolic.callees import BOUND
from symbolic.errors import DtypeError
from symbolic.layer import refuse
from symbolic.ops.foreign import refusal
from symbolic.ops.scipy_distributions import LAWS, Law


class Place(NamedTuple):
    """One call: where the law is asked, and with which parameters."""

    law: Law
    dist: Any
    shapes: tuple[Any, ...]
    loc: Any
    scale: Any

    @property
    def discrete(self) -> bool:
        return isinstance(self.dist, st.rv_discrete)

    @property
    def ends(self) -> tuple[Any, Any]:
        return self.law.support(*self.shapes) if self.law.support else (self.dist.a, self.dist.b)

    @property
    def valid(self) -> Any:
        fine = self.law.valid(*self.shapes)
        return fine if self.scale is None else np.logical_and(fine, np.greater(self.scale, 0))

    def standard(self, x: Any) -> Any:
        """x without place and scale. A scale that is not positive gives NaN in the end."""
        moved = _wide(x) - self.loc
        return moved if self.scale is None else moved / np.where(np.greater(self.scale, 0), self.scale, 1)

    def within(self, z: Any, closed: bool) -> tuple[Any, Any, Any]:
        """Whether z is below the support, whether above, and z itself with a point of the support elsewhere."""
        low, high = self.ends
        below = np.less(z, low) if closed and not self.law.open else np.less_equal(z, low)
        above = np.greater(z, high) if closed else np.greater_equal(z, high)
        return below, above, np.where(np.logical_or(below, above), self.law.middle, z)

    def checked(self, value: Any) -> Any:
        return np.where(self.valid, value, np.nan)


def _wide(x: Any) -> Any:
    return np.multiply(x, np.float64(1))  # SciPy computes distributions in double precision


def _place(dist: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Place:
    law = LAWS.get(type(dist))
    assert law is not None
    shapes = dist.shapes.split(", ") if dist.shapes else []
    names = [*shapes, "loc"] if isinstance(dist, st.rv_discrete) else [*shapes, "loc", "scale"]
    given: dict[str, Any] = {"loc": 0, "scale": 1, **dict(zip(names, args, strict=False)), **kwargs}
    missing = [name for name in shapes if name not in given]
    if missing or len(args) > len(names) or not set(kwargs) <= set(names) - set(names[: len(args)]):
        refuse(f"parameters of scipy.stats.{dist.name} that do not fit", f"give each once: {names}", DtypeError)
    scale = _wide(given["scale"]) if "scale" in names else None
    return Place(law, dist, tuple([_wide(given[name]) for name in shapes]), _wide(given["loc"]), scale)


# --------------------------------------------------------------------------- densities


def log_density(place: Place, x: Any) -> Any:
    return place.checked(_log_density(place, x)[0])


def _log_density(place: Place, x: Any) -> tuple[Any, Any, Any]:
    """The logarithm, the place in standard form, and whether it is outside the support."""
    z = place.standard(x)
    below, above, inside = place.within(z, closed=True)
    outside = np.logical_or(below, above)
    if place.discrete:
        outside = np.logical_or(outside, np.not_equal(z, np.floor(z)))
    value = place.law.density(inside, *place.shapes)
    if place.scale is not None:
        value = value - np.log(np.where(np.greater(place.scale, 0), place.scale, 1))
    return np.where(outside, -np.inf, value), inside, outside


def density(place: Place, x: Any) -> Any:
    value, z, outside = _log_density(place, x)
    found = np.exp(value)
    if place.law.edge is not None:  # where the logarithm is -inf the density is 0, but its slope is not
        edge = np.logical_and(np.equal(value, -np.inf), np.logical_not(outside))
        at_edge = place.law.edge(z, *place.shapes)
        found = np.where(edge, at_edge if place.scale is None else at_edge / place.scale, found)
    return place.checked(found)


# --------------------------------------------------------------------------- shares


Share: TypeAlias = Callable[[Place, Any], Any]


def _sided(name: str, at_low: float, at_high: float) -> Share:
    """A share of the law: constant on both sides of the support."""

    def share(place: Place, x: Any) -> Any:
        formula = getattr(place.law, name)
        z = place.standard(x)
        below, above, inside = place.within(np.floor(z) if place.discrete else z, closed=place.discrete)
        value = np.where(below, at_low, np.where(above, at_high, formula(inside, *place.shapes)))
        return place.checked(value)

    return share


share: Share = _sided("share", 0.0, 1.0)
log_share: Share = _sided("log_share", -np.inf, 0.0)
rest: Share = _sided("rest", 1.0, 0.0)
log_rest: Share = _sided("log_rest", 0.0, -np.inf)


def _log(plain: Callable[[Place, Any], Any]) -> Share:
    def logarithm(place: Place, x: Any) -> Any:
        value = plain(place, x)
        none = np.equal(value, 0)
        return np.where(none, -np.inf, np.log(np.where(none, 1, value)))

    return logarithm


def _other(plain: Callable[[Place, Any], Any]) -> Share:
    return lambda place, x: 1 - plain(place, x)


def _quantile(name: str) -> Share:
    def quantile(place: Place, q: Any) -> Any:
        share = _wide(q)
        outside = np.logical_not(np.logical_and(np.greater_equal(share, 0), np.less_equal(share, 1)))
        value = getattr(place.law, name)(np.where(outside, 0.5, share), *place.shapes)
        return place.checked(np.where(outside, np.nan, place.loc + place.scale * value))

    return quantile


quantile: Share = _quantile("quantile")
from_above: Share = _quantile("from_above")

METHODS: dict[str, tuple[tuple[str, Callable[[Place, Any], Any]], ...]] = {
    "logpdf": (("density", log_density),),
    "logpmf": (("density", log_density),),
    "pdf": (("density", density),),
    "pmf": (("density", density),),
    "cdf": (("share", share), ("rest", _other(rest))),
    "sf": (("rest", rest), ("share", _other(share))),
    "logcdf": (("log_share", log_share), ("share", _log(share))),
    "logsf": (("log_rest", log_rest), ("rest", _log(rest)), ("share", _log(_other(share)))),
    "ppf": (("quantile", quantile),),
    "isf": (("from_above", from_above),),
}
"""For each method what the law must have for it, and the formula; the first that it has is taken."""


def method(dist: Any, name: str) -> Share:
    """The formula of a method; a distribution or method that has none is refused by name."""
    law = LAWS.get(type(dist))
    for needed, formula in METHODS[name] if law is not None else ():
        if getattr(law, needed) is not None and hasattr(dist, name):
            return formula
    raise refusal(getattr(dist, name))


class Frozen:
    """A distribution with traced parameters: `scipy.stats.norm(mu, sd)`, where `mu` is a layer."""

    dist: Any
    args: tuple[Any, ...]
    kwds: dict[str, Any]

    def __init__(self, dist: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.dist, self.args, self.kwds = dist, args, kwargs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("dist", "args", "kwds"):  # asked before there is anything, by a copy
            raise AttributeError(name)
        if name not in METHODS or not hasattr(self.dist, name):
            _refuse(self.dist, name)
        return lambda x: called(name, (self.dist, x, *self.args), self.kwds)


def _refuse(dist: Any, name: str) -> NoReturn:
    if not hasattr(dist, name):
        raise AttributeError(f"scipy.stats.{dist.name} has no {name!r}")
    raise refusal(getattr(dist, name))


def called(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`dist.name(x, *parameters)`."""
    dist, *rest_of = args
    formula = method(dist, name)
    if not rest_of:
        first = "q" if name in ("ppf", "isf") else "k" if isinstance(dist, st.rv_discrete) else "x"
        kwargs = dict(kwargs)
        rest_of = [kwargs.pop(first)] if first in kwargs else refuse(f"{name} of nothing", "give where", DtypeError)
    x, *parameters = rest_of
    return formula(_place(dist, tuple(parameters), kwargs), x)


def _of_frozen(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    frozen, *given = args
    return called(name, (frozen.dist, *(given or kwargs.values()), *frozen.args), frozen.kwds)


def _bind(name: str) -> None:
    for kind in (st.rv_continuous, st.rv_discrete):
        BOUND[kind, name] = lambda args, kwargs: called(name, args, kwargs)
    for kind in (type(st.norm()), type(st.poisson(1.0))):
        BOUND[kind, name] = lambda args, kwargs: _of_frozen(name, args, kwargs)


for _name in METHODS:
    _bind(_name)
for _kind in (st.rv_continuous, st.rv_discrete):
    for _name in ("__call__", "freeze"):
        BOUND[_kind, _name] = lambda args, kwargs: Frozen(args[0], args[1:], kwargs)
