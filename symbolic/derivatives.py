"""What is the derivative of a plain function? `grad`, `value_and_grad` and `vjp`: its arguments' types are kept.

The overloads: first for layers, whose gradient is a layer, then for functions, by the arguments to differentiate by.
Where the types do not tell, the result is Any: between several callables mypy would give one that is "untyped".
"""

# The overloads overlap on purpose: the first that fits is meant.
# mypy: disable-error-code="overload-overlap"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, overload

import numpy as np

from symbolic.deriving import Derivative
from symbolic.differentiated import Differentiated
from symbolic.layer import Layer
from symbolic.tape import DB, B, Tape

if TYPE_CHECKING:  # with defaults, so that the parameter of a lambda is of any type
    from typing_extensions import TypeVar

    A = TypeVar("A", bound=Any, default=Any)
    A2 = TypeVar("A2", bound=Any, default=Any)
    A3 = TypeVar("A3", bound=Any, default=Any)
    G = TypeVar("G")
    In2 = TypeVar("In2")
P = ParamSpec("P")


@overload
def grad(f: np.ufunc, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]: ...
@overload
def grad(f: Layer[Tape[tuple[A, A2], G], Any], argnums: Literal[0] = 0) -> Layer[Tape[tuple[A, A2], G], Tape[A, A]]: ...
@overload
def grad(
    f: Layer[Tape[tuple[A, A2, A3], G], Any], argnums: Literal[0] = 0
) -> Layer[Tape[tuple[A, A2, A3], G], Tape[A, A]]: ...
@overload
def grad(f: Layer[Tape[A, G], Any], argnums: Literal[0] = 0) -> Layer[Tape[A, G], Tape[G, G]]: ...
@overload
def grad(f: Layer[In2, Any], argnums: int | Sequence[int]) -> Layer[In2, Tape[Any, Any]]: ...
@overload
def grad(
    f: Callable[Concatenate[A, P], Any], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Callable[Concatenate[A, P], A]: ...
@overload
def grad(
    f: Callable[Concatenate[A, A2, P], Any], argnums: Literal[1], has_aux: Literal[False] = False
) -> Callable[Concatenate[A, A2, P], A2]: ...
@overload
def grad(
    f: Callable[Concatenate[A, A2, A3, P], Any], argnums: Literal[2], has_aux: Literal[False] = False
) -> Callable[Concatenate[A, A2, A3, P], A3]: ...
@overload
def grad(
    f: Callable[Concatenate[A, A2, P], Any], argnums: tuple[Literal[0], Literal[1]], has_aux: Literal[False] = False
) -> Callable[Concatenate[A, A2, P], tuple[A, A2]]: ...
@overload
def grad(
    f: Callable[Concatenate[A, A2, A3, P], Any],
    argnums: tuple[Literal[0], Literal[1], Literal[2]],
    has_aux: Literal[False] = False,
) -> Callable[Concatenate[A, A2, A3, P], tuple[A, A2, A3]]: ...
@overload
def grad(
    f: Callable[Concatenate[A, P], tuple[B, DB]], argnums: Literal[0] = 0, *, has_aux: Literal[True]
) -> Callable[Concatenate[A, P], tuple[A, DB]]: ...
@overload
def grad(f: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool = False) -> Any: ...
@overload
def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool) -> Any: ...
def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The gradient of a scalar function, as a function of the same arguments.

    `f` is plain NumPy code, a ufunc or a Layer, and returns one real number. The gradient has the shape, the dtype and
    the structure (tuples, lists, dictionaries, dataclasses) of argument `argnums`; several positions give a tuple.
    With `has_aux` the function returns `(value, more)`, and what comes back is `(gradient, more)`: `more` is anything.
    Raises ShapeError if the value is no scalar, DtypeError for an argument of integers or Booleans, TraceError where
    a traced value would become a plain number.

    >>> import numpy as np
    >>> grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> grad(grad(np.sin))(0.0)
    -0.0
    >>> grad(lambda x: (x * x, {"twice": 2.0 * x}), has_aux=True)(3.0)
    (6.0, {'twice': 6.0})
    """
    return _derivative(f, argnums, value=False, has_aux=has_aux)


@overload
def value_and_grad(f: np.ufunc, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]: ...
@overload
def value_and_grad(
    f: Layer[Tape[tuple[A, A2], G], Tape[B, Any]], argnums: Literal[0] = 0
) -> Layer[Tape[tuple[A, A2], G], Tape[tuple[B, A], Any]]: ...
@overload
def value_and_grad(
    f: Layer[Tape[tuple[A, A2, A3], G], Tape[B, Any]], argnums: Literal[0] = 0
) -> Layer[Tape[tuple[A, A2, A3], G], Tape[tuple[B, A], Any]]: ...
@overload
def value_and_grad(
    f: Layer[Tape[A, G], Tape[B, Any]], argnums: Literal[0] = 0
) -> Layer[Tape[A, G], Tape[tuple[B, G], Any]]: ...
@overload
def value_and_grad(
    f: Layer[In2, Tape[B, Any]], argnums: int | Sequence[int]
) -> Layer[In2, Tape[tuple[B, Any], Any]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[A, P], B], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Callable[Concatenate[A, P], tuple[B, A]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[A, A2, P], B], argnums: Literal[1], has_aux: Literal[False] = False
) -> Callable[Concatenate[A, A2, P], tuple[B, A2]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[A, A2, A3, P], B], argnums: Literal[2], has_aux: Literal[False] = False
) -> Callable[Concatenate[A, A2, A3, P], tuple[B, A3]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[A, A2, P], B], argnums: tuple[Literal[0], Literal[1]], has_aux: Literal[False] = False
) -> Callable[Concatenate[A, A2, P], tuple[B, tuple[A, A2]]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[A, A2, A3, P], B],
    argnums: tuple[Literal[0], Literal[1], Literal[2]],
    has_aux: Literal[False] = False,
) -> Callable[Concatenate[A, A2, A3, P], tuple[B, tuple[A, A2, A3]]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[A, P], tuple[B, DB]], argnums: Literal[0] = 0, *, has_aux: Literal[True]
) -> Callable[Concatenate[A, P], tuple[tuple[B, DB], A]]: ...
@overload
def value_and_grad(f: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool = False) -> Any: ...
@overload
def value_and_grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool) -> Any: ...
def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The value and the gradient from one pass: see `grad`. With `has_aux` the value is the pair that `f` returns.

    >>> value_and_grad(lambda x, y: x * y, (0, 1))(3.0, 4.0)
    (12.0, (4.0, 3.0))
    """
    return _derivative(f, argnums, value=True, has_aux=has_aux)


def _derivative(f: Callable[..., Any], argnums: int | Sequence[int], value: bool, has_aux: bool) -> Callable[..., Any]:
    if isinstance(f, Layer) and not has_aux:
        return Differentiated(f, argnums, value)
    return Derivative(f, argnums, value, has_aux)


@overload
def vjp(f: Callable[..., B], a: A, /) -> tuple[B, Callable[[Any], tuple[A]]]: ...
@overload
def vjp(f: Callable[..., B], a: A, b: A2, /) -> tuple[B, Callable[[Any], tuple[A, A2]]]: ...
@overload
def vjp(f: Callable[..., B], *args: Any, **kwargs: Any) -> tuple[B, Callable[[Any], tuple[Any, ...]]]: ...
def vjp(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of `f(*args, **kwargs)`, of any structure, and its pullback: a delta of the value, in the value's
    structure, to one gradient for each positional argument, in the argument's.

    Where a value or an argument has no delta (an integer, a string), `None` stands for it. DtypeError if no argument
    has one, ShapeError if the delta that is given does not fit.

    >>> import numpy as np
    >>> value, pullback = vjp(lambda x: x ** 2, np.array([1.0, 3.0]))
    >>> pullback(np.array([1.0, 10.0]))
    (array([ 2., 60.]),)
    """
    return Derivative(f, tuple(range(len(args))), value=True, strict=False).vjp(args, kwargs)
