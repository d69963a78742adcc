"""What arguments do SciPy's functions take? By the kind of their operands, one maker each."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume
from makers import BY_KIND, Maker, elementwise
from scipy.linalg import lu_factor
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


# --------------------------------------------------------------------------- matrices


def in_single(make: Maker) -> Maker:
    """No half precision and no empty stacks: SciPy takes them here and there."""

    def made(draw: Draw, domain: Any) -> Call:
        call = make(draw, domain)
        assume(draw.dtype.itemsize >= 4 and all(0 not in np.shape(one) for one in call.arrays))
        return call

    return made


def _square(draw: Draw, n: int, shift: float = 0.0) -> Any:
    """Far from singular, with values far from each other."""
    return draw.array((n, n), "unit") * 0.3 + np.diag(np.arange(1, n + 1) + shift)


def _equations(draw: Draw, domain: Any) -> Call:
    n = draw.pick([2, 1, 3])
    return Call((_square(draw, n), draw.array(draw.pick([(n,), (n, 2)]))))


def _factor_and_right(draw: Draw, domain: Any) -> Call:
    n, lower = draw.pick([2, 1, 3]), draw.pick([False, True])
    return Call((_square(draw, n), draw.array(draw.pick([(n,), (n, 2)]))), lambda c, b: ((c, lower), b))


def _lu_and_right(draw: Draw, domain: Any) -> Call:
    n = draw.pick([2, 1, 3])
    factors = lu_factor(_square(draw, n)[::-1])
    return Call((draw.array(draw.pick([(n,), (n, 2)])),), lambda b: (factors, b))


def _sylvester(draw: Draw, domain: Any) -> Call:
    n, m = draw.pick([2, 1, 3]), draw.pick([2, 1])
    return Call((_square(draw, n), _square(draw, m), draw.array((n, m))))


def _lyapunov(draw: Draw, domain: Any) -> Call:
    n = draw.pick([2, 1, 3])
    return Call((_square(draw, n), draw.array((n, n))))


def _discrete_lyapunov(draw: Draw, domain: Any) -> Call:
    n = draw.pick([2, 1, 3])
    return Call((draw.array((n, n), "unit") * 0.3, draw.array((n, n))))


def _overdetermined(draw: Draw, domain: Any) -> Call:
    """The sums of squares have no gradient here, nor has the rank."""
    a = np.concatenate([_square(draw, 2), draw.array((1, 2))])
    return Call((a, draw.array(draw.pick([(3,), (3, 2)]))))


def _blocks(draw: Draw, domain: Any) -> Call:
    return Call(tuple([draw.array(shape) for shape in draw.pick([[(2, 2), (1, 3)], [(2,), (2, 1)], [(1, 1)]])]))


def _column_and_row(draw: Draw, domain: Any) -> Call:
    shapes = draw.pick([[(3,)], [(3,), (2,)], [(1,), (4,)]])
    return Call(tuple([draw.array(shape) for shape in shapes]))


def _some_vector(draw: Draw, domain: Any) -> Call:
    return Call((draw.array(draw.pick([(3,), (1,), (4,)])),))


def _same_columns(draw: Draw, domain: Any) -> Call:
    return Call((draw.array((2, 3)), draw.array((4, 3))))


def _toeplitz_equations(draw: Draw, domain: Any) -> Call:
    c = draw.array((3,), "unit") * 0.3 + np.array([2.0, 0.0, 0.0])
    r = draw.array((3,), "unit") * 0.3
    return Call((c, r, draw.array((3,))), lambda c, r, b: ((c, r), b))


def _matrix(draw: Draw, domain: Any) -> Call:
    return Call((draw.array(draw.pick([(2, 3), (3, 3), (1, 2)])),))


# --------------------------------------------------------------------------- signals and points


def _signal(draw: Draw, domain: Any) -> Call:
    return Call((draw.array(draw.pick([(3, 4), (2, 3, 2), (4, 5)])),))


def _signal_and_filter(draw: Draw, domain: Any) -> Call:
    shapes = draw.pick([[(5,), (3,)], [(2,), (4,)], [(3, 4), (2, 3)]])
    return Call(tuple([draw.array(shape) for shape in shapes]))


def _image_and_filter(draw: Draw, domain: Any) -> Call:
    return Call((draw.array((3, 4)), draw.array((2, 3))))


def _samples_in_rows(draw: Draw, domain: Any) -> Call:
    shape = draw.pick([(3, 3), (4, 4), (2, 2), (5, 5)])
    if draw.pick([False, True]):
        return Call((draw.array(shape),))
    return Call((draw.array(shape), np.sort(draw.apart(shape[:1])).astype(np.zeros(0, draw.dtype).real.dtype)))


def _points(*shapes: tuple[int, ...]) -> Maker:
    return lambda draw, domain: Call(tuple([draw.array(shape, "positive") for shape in shapes]))


BY_KIND.update(
    {
        "by_last": by_last(2),
        "numbers_of_choices": of_domains("above_three", "positive"),
        "real": of_domains("real"),
        "positive": of_domains("positive"),
        "multigamma": _multigamma,
        "with_weights": _with_weights,
        "signal": _signal,
        "signal_and_filter": _signal_and_filter,
        "image_and_filter": _image_and_filter,
        "samples_in_rows": _samples_in_rows,
        "two_sets_of_points": _points((2, 3), (4, 3)),
        "set_of_points": _points((3, 2)),
        "two_points": _points((3,), (3,)),
        "equations": _equations,
        "factor_and_right": _factor_and_right,
        "lu_and_right": _lu_and_right,
        "sylvester": _sylvester,
        "lyapunov": _lyapunov,
        "discrete_lyapunov": _discrete_lyapunov,
        "overdetermined_scipy": _overdetermined,
        "blocks": _blocks,
        "column_and_row": _column_and_row,
        "some_vector": _some_vector,
        "same_columns": _same_columns,
        "toeplitz_equations": _toeplitz_equations,
        "matrix_of_norm": _matrix,
        "some_square": lambda draw, domain: Call((_square(draw, draw.pick([2, 1, 3]), -1.5),)),
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
