"""What do type checkers see of a decorated function? A Layer, by the native types of its parameters and its result.

Nothing here runs: `Decorator` has the overloads of `Decorating` for type checkers only. Without a plugin they do not
see the metadata of `Annotated`, so the native types tell: floating and complex numbers and arrays are inputs, another
type at the end belongs to hyperparameters, another type at the beginning to the `self` of a method.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeAlias, TypeVar, overload

import numpy as np

from symbolic.layer import Layer
from symbolic.tape import A, B, Tape

In = TypeVar("In")
In2 = TypeVar("In2")
P = ParamSpec("P")
Given = TypeVar("Given", covariant=True)

# One input of NumPy's, exactly as it is declared. Python's own numbers must be constraints: an int fits in a bound.
N = TypeVar("N", bound=np.inexact[Any] | np.ndarray)
S = TypeVar("S", complex, float, np.ndarray, np.floating[Any], np.complexfloating[Any, Any])
S2 = TypeVar("S2", complex, float, np.ndarray, np.floating[Any], np.complexfloating[Any, Any])
S3 = TypeVar("S3", complex, float, np.ndarray, np.floating[Any], np.complexfloating[Any, Any])
S4 = TypeVar("S4", complex, float, np.ndarray, np.floating[Any], np.complexfloating[Any, Any])
S5 = TypeVar("S5", complex, float, np.ndarray, np.floating[Any], np.complexfloating[Any, Any])

# Results, of which a checker takes the first that fits; one that it does not know fits in every of them.
R = TypeVar("R", bound=np.inexact[Any] | np.ndarray | tuple[complex | np.inexact[Any] | np.ndarray, ...])
C = TypeVar("C", bound=complex)

Own: TypeAlias = Tape[A, A]
"""What is its own delta."""
Loose: TypeAlias = Tape[A, Any]
"""Of another type its `ToLiteral` says the delta, at run time."""


class Factory(Layer[In, Loose[B]], Generic[In, P, B]):
    """A symbolic function whose hyperparameters have no values: given them by name it is a Layer."""

    @overload  # type: ignore[override]  # it takes hyperparameters, too
    def __call__(self, first: Layer[In2, Any], /, *rest: Any, **named: Any) -> Layer[In2, Loose[B]]: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> B: ...
    @overload
    def __call__(self, **hyperparameters: Any) -> Layer[In, Loose[B]]: ...


class Method(Factory[Any, P, B], Generic[Given, P, B]):
    """A symbolic function whose first parameter is no number: as a method it gives each instance a layer."""

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Given: ...


class Decorating:
    """The overloads of `symbolic`."""

    @overload
    def __call__(self, function: None = None, *hints: Any, **named: Any) -> Self: ...
    @overload
    def __call__(self, function: partial[B], *hints: Any, **named: Any) -> Layer[Any, Loose[B]]: ...
    @overload
    def __call__(self, function: Callable[[N], R], /) -> Layer[Own[N], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[N], int], /) -> Layer[Own[N], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[N], C], /) -> Layer[Own[N], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[S], R], /) -> Layer[Own[S], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[S], int], /) -> Layer[Own[S], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[S], C], /) -> Layer[Own[S], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[S], B], /) -> Layer[Own[S], Loose[B]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2], R], /) -> Layer[Own[tuple[S, S2]], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2], int], /) -> Layer[Own[tuple[S, S2]], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2], C], /) -> Layer[Own[tuple[S, S2]], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2], B], /) -> Layer[Own[tuple[S, S2]], Loose[B]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2, S3], R], /) -> Layer[Own[tuple[S, S2, S3]], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2, S3], int], /) -> Layer[Own[tuple[S, S2, S3]], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2, S3], C], /) -> Layer[Own[tuple[S, S2, S3]], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2, S3], B], /) -> Layer[Own[tuple[S, S2, S3]], Loose[B]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2, S3, S4], R], /) -> Layer[Own[tuple[S, S2, S3, S4]], Own[R]]: ...
    @overload
    def __call__(
        self, function: Callable[[S, S2, S3, S4], int], /
    ) -> Layer[Own[tuple[S, S2, S3, S4]], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2, S3, S4], C], /) -> Layer[Own[tuple[S, S2, S3, S4]], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[S, S2, S3, S4], B], /) -> Layer[Own[tuple[S, S2, S3, S4]], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[S, S2, S3, S4, S5], R], /
    ) -> Layer[Own[tuple[S, S2, S3, S4, S5]], Own[R]]: ...
    @overload
    def __call__(
        self, function: Callable[[S, S2, S3, S4, S5], int], /
    ) -> Layer[Own[tuple[S, S2, S3, S4, S5]], Tape[int, float]]: ...
    @overload
    def __call__(
        self, function: Callable[[S, S2, S3, S4, S5], C], /
    ) -> Layer[Own[tuple[S, S2, S3, S4, S5]], Own[C]]: ...
    @overload
    def __call__(
        self, function: Callable[[S, S2, S3, S4, S5], B], /
    ) -> Layer[Own[tuple[S, S2, S3, S4, S5]], Loose[B]]: ...
    @overload
    def __call__(self, function: Callable[[int], R], /) -> Layer[Tape[int, float], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[int], int], /) -> Layer[Tape[int, float], Tape[int, float]]: ...
    @overload
    def __call__(self, function: Callable[[int], C], /) -> Layer[Tape[int, float], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[A], R], /) -> Layer[Loose[A], Own[R]]: ...
    @overload
    def __call__(self, function: Callable[[A], C], /) -> Layer[Loose[A], Own[C]]: ...
    @overload
    def __call__(self, function: Callable[[A], B], /) -> Layer[Loose[A], Loose[B]]: ...
    # methods
    @overload
    def __call__(self, function: Callable[[Any, S], R], /) -> Method[Layer[Own[S], Own[R]], [Any, S], R]: ...
    @overload
    def __call__(self, function: Callable[[Any, S], C], /) -> Method[Layer[Own[S], Own[C]], [Any, S], C]: ...
    @overload
    def __call__(self, function: Callable[[Any, S], B], /) -> Method[Layer[Own[S], Loose[B]], [Any, S], B]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, S, S2], R], /
    ) -> Method[Layer[Own[tuple[S, S2]], Own[R]], [Any, S, S2], R]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, S, S2], C], /
    ) -> Method[Layer[Own[tuple[S, S2]], Own[C]], [Any, S, S2], C]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, S, S2], B], /
    ) -> Method[Layer[Own[tuple[S, S2]], Loose[B]], [Any, S, S2], B]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, S, S2, S3], R], /
    ) -> Method[Layer[Own[tuple[S, S2, S3]], Own[R]], [Any, S, S2, S3], R]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, S, S2, S3], C], /
    ) -> Method[Layer[Own[tuple[S, S2, S3]], Own[C]], [Any, S, S2, S3], C]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, S, S2, S3], B], /
    ) -> Method[Layer[Own[tuple[S, S2, S3]], Loose[B]], [Any, S, S2, S3], B]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, S, S2, S3, S4], R], /
    ) -> Method[Layer[Own[tuple[S, S2, S3, S4]], Own[R]], [Any, S, S2, S3, S4], R]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, S, S2, S3, S4], C], /
    ) -> Method[Layer[Own[tuple[S, S2, S3, S4]], Own[C]], [Any, S, S2, S3, S4], C]: ...
    @overload
    def __call__(
        self, function: Callable[[Any, S, S2, S3, S4], B], /
    ) -> Method[Layer[Own[tuple[S, S2, S3, S4]], Loose[B]], [Any, S, S2, S3, S4], B]: ...
    # hyperparameters
    @overload
    def __call__(self, function: Callable[Concatenate[S, S2, P], B], /) -> Factory[Any, Concatenate[S, S2, P], B]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[S, P], B], /) -> Factory[Own[S], Concatenate[S, P], B]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[A, S, P], B], /
    ) -> Method[Factory[Own[S], Concatenate[S, P], B], Concatenate[A, S, P], B]: ...
    @overload
    def __call__(self, function: Callable[P, B], /) -> Factory[Any, P, B]: ...
    # below the decorator
    @overload
    def __call__(self, function: classmethod[Any, [S], R], /) -> Layer[Own[S], Own[R]]: ...
    @overload
    def __call__(self, function: classmethod[Any, [S], C], /) -> Layer[Own[S], Own[C]]: ...
    @overload
    def __call__(self, function: classmethod[Any, P, B], /) -> Layer[Any, Loose[B]]: ...
    # hints beside the function
    @overload
    def __call__(
        self, function: Callable[[S], B], hint: type[S], /, *, returns: type[A]
    ) -> Layer[Own[S], Loose[A]]: ...
    @overload
    def __call__(self, function: Callable[[S], B], hint: type[S], /) -> Layer[Own[S], Loose[B]]: ...
    @overload
    def __call__(
        self, function: Callable[[S, S2], B], hint: type[S], second: type[S2], /
    ) -> Layer[Own[tuple[S, S2]], Loose[B]]: ...
    @overload
    def __call__(self, function: Callable[..., Any], *hints: Any, **named: Any) -> Layer[Any, Any]: ...
