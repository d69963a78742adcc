"""Which functions do the overloads in `bounded` tell apart? Each kind by a variable that has it for its bound.

Of the letters in a name the first are the parameters, those after the line the result: A an array, F a number, N a
number that has a default, D anything that has one, M the instance of a method and C its class, H hyperparameters,
X anything.
"""

# The overloads overlap on purpose: the first that fits is meant.
# mypy: disable-error-code="overload-overlap"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeAlias, TypeVar, overload

import numpy as np

from symbolic.decorated import Array
from symbolic.factories import Default, Default2
from symbolic.layer import Layer
from symbolic.tape import B, Tape

Unsure: TypeAlias = Tape[Any, Any]
In = TypeVar("In")
In2 = TypeVar("In2")
P = ParamSpec("P")
F = TypeVar("F")
G = TypeVar("G")
Given = TypeVar("Given", covariant=True)


class Known(Layer[In, Tape[B, G]], Generic[In, B, G, F]):
    """A symbolic function of this type that has hyperparameters."""

    @overload
    def __call__(self, first: Layer[In2, Any], /, *rest: Any, **named: Any) -> Layer[In2, Tape[B, G]]: ...
    @overload
    def __call__(self: Known[In, B, G, Callable[P, Any]], *args: P.args, **kwargs: P.kwargs) -> B: ...
    @overload
    def __call__(self, **hyperparameters: Any) -> Layer[In, Tape[B, G]]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As `SymbolicFunction`."""
        raise NotImplementedError  # for type checkers only


class Bound(Layer[Any, Unsure], Generic[Given, F]):
    """A symbolic function of this type whose first parameter is no number: a method."""

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Given: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        """As `SymbolicFunction`."""
        raise NotImplementedError  # for type checkers only

    @overload  # type: ignore[override]  # it is called as it was written
    def __call__(self: Bound[Any, Callable[P, B]], *args: P.args, **kwargs: P.kwargs) -> B: ...
    @overload
    def __call__(self, **hyperparameters: Any) -> Layer[Any, Any]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As `SymbolicFunction`."""
        raise NotImplementedError  # for type checkers only


class OfClass(Layer[Any, Unsure], Generic[Given, F]):
    """The same of a class method: by an instance or by the class it is a layer."""

    def __get__(self, instance: object, owner: type) -> Given:
        """As `SymbolicFunction`."""
        raise NotImplementedError  # for type checkers only


# a parameter after the inputs that has a default
AN_F = TypeVar("AN_F", bound=Default[Array, float, float])
AD_F = TypeVar("AD_F", bound=Default[Array, Any, float])
AN_A = TypeVar("AN_A", bound=Default[Array, float, Array])
AD_A = TypeVar("AD_A", bound=Default[Array, Any, Array])
AN_X = TypeVar("AN_X", bound=Default[Array, float, Any])
AD_X = TypeVar("AD_X", bound=Default[Array, Any, Any])
FN_F = TypeVar("FN_F", bound=Default[float, float, float])
FD_F = TypeVar("FD_F", bound=Default[float, Any, float])
FN_A = TypeVar("FN_A", bound=Default[float, float, Array])
FD_A = TypeVar("FD_A", bound=Default[float, Any, Array])
AAD_F = TypeVar("AAD_F", bound=Default2[Array, Array, Any, float])
FFD_F = TypeVar("FFD_F", bound=Default2[float, float, Any, float])
AAD_A = TypeVar("AAD_A", bound=Default2[Array, Array, Any, Array])
FFD_A = TypeVar("FFD_A", bound=Default2[float, float, Any, Array])
MAD_F = TypeVar("MAD_F", bound=Default2[Any, Array, Any, float])
MAD_A = TypeVar("MAD_A", bound=Default2[Any, Array, Any, Array])
MFD_F = TypeVar("MFD_F", bound=Default2[Any, float, Any, float])
MFD_A = TypeVar("MFD_A", bound=Default2[Any, float, Any, Array])
# inputs among which are arrays
A_I = TypeVar("A_I", bound=Callable[[Array], int])
A_FF = TypeVar("A_FF", bound=Callable[[Array], tuple[float, float]])
A_AA = TypeVar("A_AA", bound=Callable[[Array], tuple[Array, Array]])
A_AF = TypeVar("A_AF", bound=Callable[[Array], tuple[Array, float]])
A_FA = TypeVar("A_FA", bound=Callable[[Array], tuple[float, Array]])
AA_FF = TypeVar("AA_FF", bound=Callable[[Array, Array], tuple[float, float]])
AA_AA = TypeVar("AA_AA", bound=Callable[[Array, Array], tuple[Array, Array]])
AA_I = TypeVar("AA_I", bound=Callable[[Array, Array], int])
A_F = TypeVar("A_F", bound=Callable[[Array], float])
A_A = TypeVar("A_A", bound=Callable[[Array], Array])
A_X = TypeVar("A_X", bound=Callable[[Array], Any])
AA_F = TypeVar("AA_F", bound=Callable[[Array, Array], float])
AA_A = TypeVar("AA_A", bound=Callable[[Array, Array], Array])
AA_X = TypeVar("AA_X", bound=Callable[[Array, Array], Any])
AF_F = TypeVar("AF_F", bound=Callable[[Array, float], float])
AF_A = TypeVar("AF_A", bound=Callable[[Array, float], Array])
AF_X = TypeVar("AF_X", bound=Callable[[Array, float], Any])
FA_F = TypeVar("FA_F", bound=Callable[[float, Array], float])
FA_A = TypeVar("FA_A", bound=Callable[[float, Array], Array])
FA_X = TypeVar("FA_X", bound=Callable[[float, Array], Any])
AAA_F = TypeVar("AAA_F", bound=Callable[[Array, Array, Array], float])
AAA_A = TypeVar("AAA_A", bound=Callable[[Array, Array, Array], Array])
AAF_F = TypeVar("AAF_F", bound=Callable[[Array, Array, float], float])
AAF_A = TypeVar("AAF_A", bound=Callable[[Array, Array, float], Array])
AFA_F = TypeVar("AFA_F", bound=Callable[[Array, float, Array], float])
AFA_A = TypeVar("AFA_A", bound=Callable[[Array, float, Array], Array])
AFF_F = TypeVar("AFF_F", bound=Callable[[Array, float, float], float])
AFF_A = TypeVar("AFF_A", bound=Callable[[Array, float, float], Array])
FAA_F = TypeVar("FAA_F", bound=Callable[[float, Array, Array], float])
FAA_A = TypeVar("FAA_A", bound=Callable[[float, Array, Array], Array])
FAF_F = TypeVar("FAF_F", bound=Callable[[float, Array, float], float])
FAF_A = TypeVar("FAF_A", bound=Callable[[float, Array, float], Array])
FFA_F = TypeVar("FFA_F", bound=Callable[[float, float, Array], float])
FFA_A = TypeVar("FFA_A", bound=Callable[[float, float, Array], Array])
AAAA_F = TypeVar("AAAA_F", bound=Callable[[Array, Array, Array, Array], float])
AAAA_A = TypeVar("AAAA_A", bound=Callable[[Array, Array, Array, Array], Array])
AAAAA_F = TypeVar("AAAAA_F", bound=Callable[[Array, Array, Array, Array, Array], float])
AAAAA_A = TypeVar("AAAAA_A", bound=Callable[[Array, Array, Array, Array, Array], Array])
# numbers of which arrays are made
C_A = TypeVar("C_A", bound=Callable[[complex], Array])
F_A = TypeVar("F_A", bound=Callable[[float], Array])
FF_A = TypeVar("FF_A", bound=Callable[[float, float], Array])
I_A = TypeVar("I_A", bound=Callable[[int], Array])
# methods
CA_F = TypeVar("CA_F", bound=Callable[[type[Any], Array], float])
CA_A = TypeVar("CA_A", bound=Callable[[type[Any], Array], Array])
CF_F = TypeVar("CF_F", bound=Callable[[type[Any], float], float])
CF_A = TypeVar("CF_A", bound=Callable[[type[Any], float], Array])
MA_F = TypeVar("MA_F", bound=Callable[[Any, Array], float])
MA_A = TypeVar("MA_A", bound=Callable[[Any, Array], Array])
MF_F = TypeVar("MF_F", bound=Callable[[Any, float], float])
MF_A = TypeVar("MF_A", bound=Callable[[Any, float], Array])
MAA_F = TypeVar("MAA_F", bound=Callable[[Any, Array, Array], float])
MAA_A = TypeVar("MAA_A", bound=Callable[[Any, Array, Array], Array])
MAF_F = TypeVar("MAF_F", bound=Callable[[Any, Array, float], float])
MAF_A = TypeVar("MAF_A", bound=Callable[[Any, Array, float], Array])
MFF_F = TypeVar("MFF_F", bound=Callable[[Any, float, float], float])
MFF_A = TypeVar("MFF_A", bound=Callable[[Any, float, float], Array])
MA_X = TypeVar("MA_X", bound=Callable[[Any, Array], Any])
MF_X = TypeVar("MF_X", bound=Callable[[Any, float], Any])
# hyperparameters
AAH_F = TypeVar("AAH_F", bound=Callable[Concatenate[Array, Array, ...], float])
AAH_A = TypeVar("AAH_A", bound=Callable[Concatenate[Array, Array, ...], Array])
AAH_X = TypeVar("AAH_X", bound=Callable[Concatenate[Array, Array, ...], Any])
AH_F = TypeVar("AH_F", bound=Callable[Concatenate[Array, ...], float])
AH_A = TypeVar("AH_A", bound=Callable[Concatenate[Array, ...], Array])
AH_X = TypeVar("AH_X", bound=Callable[Concatenate[Array, ...], Any])
FH_F = TypeVar("FH_F", bound=Callable[Concatenate[float, ...], float])
FH_A = TypeVar("FH_A", bound=Callable[Concatenate[float, ...], Array])
MAH_F = TypeVar("MAH_F", bound=Callable[Concatenate[Any, Array, ...], float])
MAH_A = TypeVar("MAH_A", bound=Callable[Concatenate[Any, Array, ...], Array])
# what the types do not tell
X_F = TypeVar("X_F", bound=Callable[[Any], float])
X_A = TypeVar("X_A", bound=Callable[[Any], Array])
X_X = TypeVar("X_X", bound=Callable[[Any], Any])
# numbers alone
X = TypeVar("X", bound=np.inexact[Any])
C = TypeVar("C", bound=complex)
R = TypeVar("R", bound=np.inexact[Any] | tuple[complex | np.inexact[Any], ...])
RC = TypeVar("RC", bound=complex | np.inexact[Any] | tuple[complex | np.inexact[Any], ...])
