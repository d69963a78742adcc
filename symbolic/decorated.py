"""What do type checkers see of a decorated function? A Layer, by the native types of its parameters and its result.

Nothing here runs: `Decorator` has the overloads of `Decorating` for type checkers only. Without a plugin they do not
see the metadata of `Annotated`, so the native types tell: floating and complex numbers and arrays are inputs, another
type at the end belongs to hyperparameters, another type at the beginning to the `self` of a method.

The order of the overloads is their meaning, and it differs from what would be shortest for reasons of four checkers:
pyrefly heeds neither bounds nor constraints of what a parameter's type is matched with, so the usual types are written
out; ty shows intersections for a number that meets a bound; where an argument's type holds Any, as np.ndarray does,
mypy gives Any unless every overload that fits has the same types of parameters; and it compares all pairs, each for
all combinations of constraints, so that there are none.
"""

# The overloads overlap on purpose: the first that fits is meant.
# mypy: disable-error-code="overload-overlap, overload-cannot-match"

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Concatenate, ParamSpec, Self, TypeAlias, TypeVar, overload

import numpy as np

from symbolic.factories import Default, Default2, Factory, Flexible, Flexible2, Method, OfClass
from symbolic.layer import Layer
from symbolic.tape import A2, A3, A, B, Tape

P = ParamSpec("P")
More = TypeVar("More")

Array: TypeAlias = np.ndarray
# Results; one that a checker does not know fits in the first of them.
R = TypeVar("R", bound=np.inexact[Any] | np.ndarray | tuple[complex | np.inexact[Any] | np.ndarray, ...])
C = TypeVar("C", bound=complex)
RC = TypeVar("RC", bound=complex | np.inexact[Any] | np.ndarray | tuple[complex | np.inexact[Any] | np.ndarray, ...])

Own: TypeAlias = Tape[A, A]
"""What is its own delta."""
Loose: TypeAlias = Tape[A, Any]
"""Of another type its `ToLiteral` says the delta, when the program runs."""


class Decorating:
    """The overloads of `symbolic`."""

    @overload
    def __call__(self, function: None = None, *hints: Any, **named: Any) -> Self: ...
    @overload
    def __call__(self, function: partial[B], *hints: Any, **named: Any) -> Layer[Any, Loose[B]]: ...
    # what has a default and may be given by position
    @overload
    def __call__(self, function: Default[Array, float, RC], /) -> Flexible[Any, Array, float, RC, RC]: ...
    @overload
    def __call__(self, function: Default[Array, Array, RC], /) -> Flexible[Any, Array, Array, RC, RC]: ...
    @overload
    def __call__(self, function: Default[Array, More, RC], /) -> Flexible[Own[Array], Array, More, RC, RC]: ...
    @overload
    def __call__(self, function: Default[float, float, RC], /) -> Flexible[Any, float, float, RC, RC]: ...
    @overload
    def __call__(self, function: Default[float, More, RC], /) -> Flexible[Own[float], float, More, RC, RC]: ...
    @overload
    def __call__(self, function: Default2[Array, Array, More, RC], /) -> Flexible2[Any, Array, Array, More, RC, RC]: ...
    @overload
    def __call__(self, function: Default2[Array, float, More, RC], /) -> Flexible2[Any, Array, float, More, RC, RC]: ...
    @overload
    def __call__(self, function: Default2[float, float, More, RC], /) -> Flexible2[Any, float, float, More, RC, RC]: ...
    @overload
    def __call__(
        self, function: Default2[A, Array, More, RC], /
    ) -> Method[Flexible[Any, Array, More, RC, RC], ..., RC]: ...
    @overload
    def __call__(
        self, function: Default2[A, float, More, RC], /
    ) -> Method[Flexible[Any, float, More, RC, RC], ..., RC]: ...
    # one input
    @overload
    def __call__(self, function: Callable[[complex], R], /) -> Layer[Own[complex], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[complex], int], /) -> Layer[Own[complex], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[complex], C], /) -> Layer[Own[complex], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[complex], B], /) -> Layer[Own[complex], Loose[B]]: ...
    @overload
    def __call__(self, function: Callable[[float], R], /) -> Layer[Own[float], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[float], int], /) -> Layer[Own[float], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[float], C], /) -> Layer[Own[float], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[float], B], /) -> Layer[Own[float], Loose[B]]: ...
    @overload
    def __call__(self, function: Callable[[int], R], /) -> Layer[Tape[int, float], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[int], int], /) -> Layer[Tape[int, float], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[int], C], /) -> Layer[Tape[int, float], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[Array], R], /) -> Layer[Own[Array], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[Array], int], /) -> Layer[Own[Array], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[Array], C], /) -> Layer[Own[Array], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[Array], B], /) -> Layer[Own[Array], Loose[B]]: ...
    @overload
    def __call__(self, function: Callable[[np.float32], RC], /) -> Layer[Own[np.float32], Own[RC]]: ...
    @overload
    def __call__(self, function: Callable[[np.float64], RC], /) -> Layer[Own[np.float64], Own[RC]]: ...
    @overload
    def __call__(self, function: Callable[[np.complex64], RC], /) -> Layer[Own[np.complex64], Own[RC]]: ...
    @overload
    def __call__(self, function: Callable[[np.complex128], RC], /) -> Layer[Own[np.complex128], Own[RC]]: ...
    @overload
    def __call__(self, function: Callable[[A], R], /) -> Layer[Loose[A], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[A], C], /) -> Layer[Loose[A], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[A], B], /) -> Layer[Loose[A], Loose[B]]: ...
    # several inputs
    @overload
    def __call__(
        self, function: Callable[[Array, Array], int], /
    ) -> Layer[Own[tuple[Array, Array]], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[Array, Array], RC], /) -> Layer[Own[tuple[Array, Array]], Own[RC]]: ...
    @overload
    def __call__(self, function: Callable[[Array, Array], B], /) -> Layer[Own[tuple[Array, Array]], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[Array, float], int], /
    ) -> Layer[Own[tuple[Array, float]], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[Array, float], RC], /) -> Layer[Own[tuple[Array, float]], Own[RC]]: ...
    @overload
    def __call__(self, function: Callable[[Array, float], B], /) -> Layer[Own[tuple[Array, float]], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[float, Array], int], /
    ) -> Layer[Own[tuple[float, Array]], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[float, Array], RC], /) -> Layer[Own[tuple[float, Array]], Own[RC]]: ...
    @overload
    def __call__(self, function: Callable[[float, Array], B], /) -> Layer[Own[tuple[float, Array]], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[float, float], int], /
    ) -> Layer[Own[tuple[float, float]], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[float, float], RC], /) -> Layer[Own[tuple[float, float]], Own[RC]]: ...
    @overload
    def __call__(self, function: Callable[[float, float], B], /) -> Layer[Own[tuple[float, float]], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[Array, Array, Array], RC], /
    ) -> Layer[Own[tuple[Array, Array, Array]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[Array, Array, float], RC], /
    ) -> Flexible2[Own[tuple[Array, Array, float]], Array, Array, float, RC, RC]: ...
    @overload
    def __call__(
        self, function: Callable[[Array, float, Array], RC], /
    ) -> Layer[Own[tuple[Array, float, Array]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[Array, float, float], RC], /
    ) -> Layer[Own[tuple[Array, float, float]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[float, Array, Array], RC], /
    ) -> Layer[Own[tuple[float, Array, Array]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[float, Array, float], RC], /
    ) -> Layer[Own[tuple[float, Array, float]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[float, float, Array], RC], /
    ) -> Layer[Own[tuple[float, float, Array]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[float, float, float], RC], /
    ) -> Layer[Own[tuple[float, float, float]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[Array, Array, Array, Array], RC], /
    ) -> Layer[Own[tuple[Array, Array, Array, Array]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[float, float, float, float], RC], /
    ) -> Layer[Own[tuple[float, float, float, float]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[Array, Array, Array, Array, Array], RC], /
    ) -> Layer[Own[tuple[Array, Array, Array, Array, Array]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[float, float, float, float, float], RC], /
    ) -> Layer[Own[tuple[float, float, float, float, float]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[complex, complex], RC], /
    ) -> Layer[Own[tuple[complex, complex]], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[complex, complex], B], /
    ) -> Layer[Own[tuple[complex, complex]], Loose[B]]: ...
    # methods
    @overload
    def __call__(
        self, function: Callable[[type[Any], Array], RC], /
    ) -> OfClass[Layer[Own[Array], Own[RC]], [type[Any], Array], RC]: ...
    @overload
    def __call__(
        self, function: Callable[[type[Any], float], RC], /
    ) -> OfClass[Layer[Own[float], Own[RC]], [type[Any], float], RC]: ...
    @overload
    def __call__(
        self, function: Callable[[type[Any], Array, Array], RC], /
    ) -> OfClass[Layer[Own[tuple[Array, Array]], Own[RC]], [type[Any], Array, Array], RC]: ...
    @overload
    def __call__(
        self, function: Callable[[type[Any], Array, float], RC], /
    ) -> OfClass[Layer[Own[tuple[Array, float]], Own[RC]], [type[Any], Array, float], RC]: ...
    @overload
    def __call__(
        self, function: Callable[[type[Any], float, float], RC], /
    ) -> OfClass[Layer[Own[tuple[float, float]], Own[RC]], [type[Any], float, float], RC]: ...
    @overload
    def __call__(self, function: Callable[[A, Array], RC], /) -> Method[Layer[Own[Array], Own[RC]], [A, Array], RC]: ...
    @overload
    def __call__(self, function: Callable[[A, float], RC], /) -> Method[Layer[Own[float], Own[RC]], [A, float], RC]: ...
    @overload
    def __call__(
        self, function: Callable[[A, Array, Array], RC], /
    ) -> Method[Layer[Own[tuple[Array, Array]], Own[RC]], [A, Array, Array], RC]: ...
    @overload
    def __call__(
        self, function: Callable[[A, Array, float], RC], /
    ) -> Method[Layer[Own[tuple[Array, float]], Own[RC]], [A, Array, float], RC]: ...
    @overload
    def __call__(
        self, function: Callable[[A, float, Array], RC], /
    ) -> Method[Layer[Own[tuple[float, Array]], Own[RC]], [A, float, Array], RC]: ...
    @overload
    def __call__(
        self, function: Callable[[A, float, float], RC], /
    ) -> Method[Layer[Own[tuple[float, float]], Own[RC]], [A, float, float], RC]: ...
    @overload
    def __call__(
        self, function: Callable[[A, Array, Array, Array], RC], /
    ) -> Method[Layer[Own[tuple[Array, Array, Array]], Own[RC]], [A, Array, Array, Array], RC]: ...
    @overload
    def __call__(
        self, function: Callable[[A, float, float, float], RC], /
    ) -> Method[Layer[Own[tuple[float, float, float]], Own[RC]], [A, float, float, float], RC]: ...
    # hyperparameters
    @overload
    def __call__(
        self, function: Callable[Concatenate[Array, Array, P], RC], /
    ) -> Factory[Any, Concatenate[Array, Array, P], RC, RC]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[Array, Array, P], B], /
    ) -> Factory[Any, Concatenate[Array, Array, P], B, Any]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[Array, float, P], RC], /
    ) -> Factory[Any, Concatenate[Array, float, P], RC, RC]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[Array, float, P], B], /
    ) -> Factory[Any, Concatenate[Array, float, P], B, Any]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[float, Array, P], RC], /
    ) -> Factory[Any, Concatenate[float, Array, P], RC, RC]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[float, Array, P], B], /
    ) -> Factory[Any, Concatenate[float, Array, P], B, Any]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[float, float, P], RC], /
    ) -> Factory[Any, Concatenate[float, float, P], RC, RC]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[float, float, P], B], /
    ) -> Factory[Any, Concatenate[float, float, P], B, Any]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[Array, P], RC], /
    ) -> Factory[Own[Array], Concatenate[Array, P], RC, RC]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[Array, P], B], /
    ) -> Factory[Own[Array], Concatenate[Array, P], B, Any]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[float, P], RC], /
    ) -> Factory[Own[float], Concatenate[float, P], RC, RC]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[float, P], B], /
    ) -> Factory[Own[float], Concatenate[float, P], B, Any]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[A, Array, P], RC], /
    ) -> Method[Factory[Own[Array], Concatenate[Array, P], RC, RC], Concatenate[A, Array, P], RC]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[A, Array, P], B], /
    ) -> Method[Factory[Own[Array], Concatenate[Array, P], B, Any], Concatenate[A, Array, P], B]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[A, float, P], RC], /
    ) -> Method[Factory[Own[float], Concatenate[float, P], RC, RC], Concatenate[A, float, P], RC]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[A, float, P], B], /
    ) -> Method[Factory[Own[float], Concatenate[float, P], B, Any], Concatenate[A, float, P], B]: ...
    # what the types do not tell
    @overload
    def __call__(self, function: Callable[[A, A2], B], /) -> Method[Layer[Loose[A2], Loose[B]], [A, A2], B]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[A, P], B], /) -> Factory[Any, Concatenate[A, P], B, Any]: ...
    # below the decorator
    @overload
    def __call__(self, function: classmethod[Any, [Array], RC], /) -> Layer[Own[Array], Own[RC]]: ...
    @overload
    def __call__(self, function: classmethod[Any, [float], RC], /) -> Layer[Own[float], Own[RC]]: ...
    @overload
    def __call__(self, function: classmethod[Any, P, B], /) -> Layer[Any, Loose[B]]: ...
    # hints beside the function
    @overload
    def __call__(self, function: Callable[[float], B], hint: type[float], /) -> Layer[Own[float], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[float], B], hint: type[float], /, *, returns: type[RC]
    ) -> Layer[Own[float], Own[RC]]: ...
    @overload
    def __call__(self, function: Callable[[Array], B], hint: type[Array], /) -> Layer[Own[Array], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[Array], B], hint: type[Array], /, *, returns: type[RC]
    ) -> Layer[Own[Array], Own[RC]]: ...
    @overload
    def __call__(
        self, function: Callable[[float, float], B], hint: type[float], second: type[float], /
    ) -> Layer[Own[tuple[float, float]], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[float, Array], B], hint: type[float], second: type[Array], /
    ) -> Layer[Own[tuple[float, Array]], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[Array, float], B], hint: type[Array], second: type[float], /
    ) -> Layer[Own[tuple[Array, float]], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[Array, Array], B], hint: type[Array], second: type[Array], /
    ) -> Layer[Own[tuple[Array, Array]], Loose[B]]: ...
    @overload
    def __call__(self, function: Callable[..., Any], hint: Any, /, *hints: Any, **named: Any) -> Layer[Any, Any]: ...
    @overload
    def __call__(self, function: Callable[[A], B], /, **named: Any) -> Layer[Any, Any]: ...
    @overload
    def __call__(self, function: Callable[[A, A2], B], /, **named: Any) -> Layer[Any, Any]: ...
    @overload
    def __call__(self, function: Callable[[A, A2, A3], B], /, **named: Any) -> Layer[Any, Any]: ...
    def __call__(self, function: Any = None, *hints: Any, **named: Any) -> Any:  # type: ignore[misc]  # as it runs
        """As `Decorator`."""
        raise NotImplementedError  # for type checkers only
