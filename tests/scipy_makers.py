"""What arguments do SciPy's functions take? By the kind of their operands, one maker each."""

from __future__ import annotations

from typing import Any

from makers import BY_KIND, Maker, elementwise
from strategies import Call, Draw


def of_domains(*domains: str) -> Maker:
    """Operands that broadcast, each in a domain of its own."""
    make = elementwise(len(domains))
    return lambda draw, domain: make(draw, domains)


def by_last(count: int) -> Maker:
    """The same in the domains that an operation declares; all but the last operand are plain arrays."""
    make = elementwise(count)

    def made(draw: Draw, domain: Any) -> Call:
        *plain, last = make(draw, domain).arrays
        return Call((last,), lambda x: (*plain, x))

    return made


def _multigamma(draw: Draw, domain: Any) -> Call:
    order = draw.pick([2, 1, 3])
    return Call((draw.array(draw.shape(), "above_one"),), lambda a: (a, order))


def _with_weights(draw: Draw, domain: Any) -> Call:
    """No weight is negative, so that the sum has a logarithm. SciPy stumbles over empty arrays."""
    shape = draw.pick([(2, 3), (1, 2), (2, 1, 3)])
    values = draw.array(shape)
    if draw.pick([False, True]):
        return Call((values,))
    weights = draw.array(shape, "positive")
    return Call((values, weights), lambda a, b: (a, None, b))


BY_KIND.update(
    {
        "by_last": by_last(2),
        "numbers_of_choices": of_domains("above_three", "positive"),
        "real": of_domains("real"),
        "positive": of_domains("positive"),
        "multigamma": _multigamma,
        "with_weights": _with_weights,
    }
)


def through(function: Any) -> Any:
    """A function as a traced program sees it: with a layer among the arguments its handler is called."""
    from symbolic import Layer
    from symbolic.ops.foreign import handler, refusal

    def traced(value: Any) -> bool:
        many = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        return isinstance(value, Layer) or any(map(traced, many))

    def call(*args: Any, **kwargs: Any) -> Any:
        if not traced((args, kwargs)):
            return function(*args, **kwargs)
        found = handler(function)
        if found is None:
            raise refusal(function)
        return found(args, kwargs)

    return call


