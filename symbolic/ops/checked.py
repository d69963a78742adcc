"""Is a delta or a tangent that somebody gave of its datum's shape and dtype? Looked at as soon as specs are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import AnyLayer
from symbolic.literal import delta_spec
from symbolic.ops.deltas import SumLike
from symbolic.spec import AnySpec, OpaqueSpec, Spec, TupleSpec, broadcast, describe, show


class Checked(SumLike):
    """A delta of the second operand: ShapeError or DtypeError if it cannot be one.

    `what` names it in the message. Broadcasting is allowed only where it is `loose`; another floating dtype is taken
    to the datum's, unless it is `strict`.
    """

    __slots__ = ()
    defaults: ClassVar[Any] = {"what": "a delta", "loose": False, "strict": False}

    def infer(self, *specs: AnySpec) -> AnySpec:
        delta, datum = specs
        if isinstance(datum, Spec) and datum.dtype is None:
            return super().infer(*specs)
        want = delta_spec(datum)
        if isinstance(want, TupleSpec):
            return want
        if want is None or not isinstance(want, Spec):
            return self._nothing(delta, datum)
        if not isinstance(delta, Spec):
            raise DtypeError(f"{self.what} is a {describe(delta)}, where {want} is needed", remedy="give numbers")
        self._check_dtype(delta, want)
        self._check_shape(delta, want)
        return want

    def _nothing(self, delta: AnySpec, datum: AnySpec) -> AnySpec:
        if isinstance(delta, OpaqueSpec) and delta.kind is type(None):
            return delta
        raise DtypeError(
            f"{self.what} is {describe(delta)}, but its datum, {describe(datum)}, has no delta (NoDelta)",
            remedy="give None there, or pass the datum as a float: x.astype(float)",
        )

    def _check_dtype(self, delta: Spec, want: Spec) -> None:
        if delta.dtype is None or want.dtype is None:
            return
        if delta.dtype.kind not in "fc" or (delta.dtype.kind == "c" and want.dtype.kind != "c"):
            raise DtypeError(
                f"{self.what} is {delta}, where {want} is needed", remedy=f"make it a {want.dtype}: 1.0 instead of 1"
            )
        if self.strict and delta.dtype != want.dtype and delta.python is None and want.python is None:
            raise DtypeError(
                f"{self.what} has dtype {delta.dtype}, its datum {want.dtype}",
                remedy=f"give it the dtype of its datum: .astype(np.{want.dtype})",
            )

    def _check_shape(self, delta: Spec, want: Spec) -> None:
        if delta.shape is None or want.shape is None:
            return
        fits = len(delta.shape) == len(want.shape) or (self.loose and len(delta.shape) < len(want.shape))
        if fits and self.loose:
            try:
                fits = _meet(broadcast([delta.shape, want.shape]) or (), want.shape)
            except ShapeError:
                fits = False
        if not fits or (not self.loose and not _meet(delta.shape, want.shape)):
            raise ShapeError(
                f"{self.what} has shape {show(delta.shape)}, its datum {show(want.shape)}",
                remedy="give it the shape of its datum",
            )

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        if isinstance(specs[0], OpaqueSpec):
            return self.operands[0]
        return super().simplify(specs)


def _meet(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> bool:
    return len(one) == len(other) and all(None in (a, b) or a == b for a, b in zip(one, other, strict=True))
