"""What do type checkers see of a symbolic function that has more than inputs? One that is called as it was written.

Nothing here runs: the overloads in `decorated` and `bounded` give these types to type checkers only.
"""

from __future__ import annotations

from typing import Any, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from symbolic.layer import Layer
from symbolic.tape import A2, A, B, Tape

In = TypeVar("In")
In2 = TypeVar("In2")
P = ParamSpec("P")
G = TypeVar("G")
More = TypeVar("More")
Given = TypeVar("Given", covariant=True)
First = TypeVar("First", contravariant=True)
Second = TypeVar("Second", contravariant=True)
Third = TypeVar("Third", contravariant=True)
Result = TypeVar("Result", covariant=True)


class Default(Protocol[First, Second, Result]):
    """A function whose second parameter has a default."""

    def __call__(self, first: First, second: Second = ..., /) -> Result:
        """As the function."""
        raise NotImplementedError  # for type checkers only


class Default2(Protocol[First, Second, Third, Result]):
    """A function whose third parameter has a default."""

    def __call__(self, first: First, second: Second, third: Third = ..., /) -> Result:
        """As the function."""
        raise NotImplementedError  # for type checkers only


class Factory(Layer[In, Tape[B, G]], Generic[In, P, B, G]):
    """A symbolic function whose hyperparameters have no values: given them by name it is a Layer."""

    @overload
    def __call__(self, first: Layer[In2, Any], /, *rest: Any, **named: Any) -> Layer[In2, Tape[B, G]]: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> B: ...
    @overload
    def __call__(self, **hyperparameters: Any) -> Layer[In, Tape[B, G]]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As `SymbolicFunction`."""
        raise NotImplementedError  # for type checkers only

    def predict(self, *inputs: Any) -> Any:
        """Run time says that hyperparameters have no values."""
        raise NotImplementedError  # for type checkers only

    def train(self, *inputs: Any, optimizer: Any = None) -> Any:
        """The same."""
        raise NotImplementedError  # for type checkers only


class Method(Factory[Any, P, B, Any], Generic[Given, P, B]):
    """A symbolic function whose first parameter is no number: as a method it gives each instance a layer."""

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Given: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        """As `SymbolicFunction`."""
        raise NotImplementedError  # for type checkers only


class OfClass(Factory[Any, P, B, Any], Generic[Given, P, B]):
    """The same of a class method: by an instance or by the class it is a layer."""

    def __get__(self, instance: object, owner: type) -> Given:
        """As `SymbolicFunction`."""
        raise NotImplementedError  # for type checkers only


class Flexible(Layer[In, Tape[B, G]], Generic[In, A, More, B, G]):
    """A symbolic function of an input, and of what has a default and may be given by position, too."""

    @overload
    def __call__(self, first: Layer[In2, Any], /, *rest: Any, **named: Any) -> Layer[In2, Tape[B, G]]: ...
    @overload
    def __call__(self, first: A, second: More = ..., /, *rest: Any, **named: Any) -> B: ...
    @overload
    def __call__(self, **named: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As `SymbolicFunction`."""
        raise NotImplementedError  # for type checkers only


class Flexible2(Layer[In, Tape[B, G]], Generic[In, A, A2, More, B, G]):
    """The same of two inputs."""

    @overload  # type: ignore[override]  # it is called as it was written
    def __call__(self, first: Layer[In2, Any], second: Any, /, *rest: Any, **named: Any) -> Layer[In2, Tape[B, G]]: ...
    @overload
    def __call__(self, first: Any, second: Layer[In2, Any], /, *rest: Any, **named: Any) -> Layer[In2, Tape[B, G]]: ...
    @overload
    def __call__(self, first: A, second: A2, third: More = ..., /, *rest: Any, **named: Any) -> B: ...
    @overload
    def __call__(self, **named: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As `SymbolicFunction`."""
        raise NotImplementedError  # for type checkers only
