"""What do functions give that are differentiated, mapped, or have a gradient by hand?"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from symbolic.polynomial import Rest, same
from symbolic.spec import Spec
from symbolic.static import lints
from symbolic.static.abstract import UNKNOWN, Value
from symbolic.static.holding import Ref, Traced, as_list, traced
from symbolic.static.inlining import Inlining
from symbolic.static.provenance import Past, origin_of_input
from symbolic.static.things import Customized, Derived, Function, Pullback, every_parameter


class Derivations(Inlining):
    """Calls of such functions."""

    def _derived(self, callee: Derived, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """A delta has its datum's shape and dtype."""
        if callee.has_aux:
            self.state.lose([*args, *kwargs.values()])
            return UNKNOWN
        if callee.by == "vmap":
            return self._mapped(callee, args, kwargs, node)
        argnums = callee.argnums
        asked = {argnums} if type(argnums) is int else set(argnums) if type(argnums) is tuple else set()
        given = [_as_asked(one, k) if k in asked else one for k, one in enumerate(args)]
        value = self.invoke(callee.function, given, kwargs, node)
        for one in lints.no_gradient(self.plain(value), [_argument(k) for k in range(len(args)) if k in asked]):
            self.report.lint(one.found, one.where)
        if callee.by in ("jacobian", "hessian"):
            return self._jacobian(callee, value, args)
        if type(argnums) is int:
            deltas = self._delta(args, argnums)
        elif type(argnums) is tuple and all(type(one) is int for one in argnums):
            deltas = tuple([self._delta(args, one) for one in argnums])
        else:
            deltas = UNKNOWN
        return deltas if callee.by == "grad" else (value, deltas)

    def _jacobian(self, callee: Derived, value: Any, args: list[Any]) -> Any:
        """The shape of the value, then that of the argument; the Hessian is the Jacobian of the gradient."""
        numbers = callee.argnums if type(callee.argnums) is tuple else (callee.argnums,)
        deltas = [self._delta(args, one) if type(one) is int else UNKNOWN for one in numbers]
        by = tuple(deltas) if type(callee.argnums) is tuple else deltas[0]
        return _by(by if callee.by == "hessian" else value, by)

    def at_once(self, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """`jvp(f, primals, tangents)` and `vjp(f, *args)`: the value, and its tangent or the pullback."""
        if name == "vjp":
            value = self.invoke(args[0], args[1:], kwargs, node)
            return value, Pullback(tuple(map(_delta_of, args[1:])))
        primals = kwargs.get("primals", args[1] if len(args) > 1 else UNKNOWN)
        if isinstance(primals, Ref):
            primals = as_list(primals, self.state)
        if type(primals) not in (tuple, list):
            self.state.lose([*args, *kwargs.values()])
            return UNKNOWN
        value = self.invoke(args[0], list(primals), {}, node)
        return value, _delta_of(value)

    def along_axis(self, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """`np.apply_along_axis(f, axis, x)`: what f gives for one row stands where the axis was."""
        given = dict(zip(("func1d", "axis", "arr"), args, strict=False))
        given.update({name: kwargs[name] for name in ("func1d", "axis", "arr") if name in kwargs})
        more = {name: one for name, one in kwargs.items() if name not in given}
        whole, axis = given.get("arr"), given.get("axis")
        shape: Any = whole.spec.shape if isinstance(whole, Value) and isinstance(whole.spec, Spec) else None
        exact = shape is not None and not any(isinstance(one, Rest) for one in shape)
        if not exact or type(axis) is not int or not -len(shape) <= axis < len(shape):
            self.state.lose([*args, *kwargs.values()])
            return UNKNOWN
        assert isinstance(whole, Value)
        at = axis % len(shape)
        row = traced(Value(Spec((shape[at],), whole.spec.dtype)), [whole])  # type: ignore[union-attr]  # it has a shape
        found = self.invoke(given["func1d"], [row, *args[3:]], more, node)
        spec = found.spec if isinstance(found, Value) else None
        if not isinstance(spec, Spec) or spec.shape is None or any(isinstance(one, Rest) for one in spec.shape):
            return UNKNOWN
        return traced(Value(Spec((*shape[:at], *spec.shape, *shape[at + 1 :]), spec.dtype)), [whole])

    def _mapped(self, callee: Derived, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """What the function gives for one slice, with the axis of the slices."""
        axes = callee.argnums if type(callee.argnums) is tuple else (callee.argnums,) * len(args)
        if kwargs or len(axes) != len(args) or not all(one is None or type(one) is int for one in axes):
            self.state.lose([*args, *kwargs.values()])
            return UNKNOWN
        sizes: list[Any] = []
        slices = [one if axis is None else _slice(one, axis, sizes) for one, axis in zip(args, axes, strict=True)]
        count = sizes[0] if sizes and all(same(one, sizes[0]) for one in sizes) else None
        return _stacked(self.invoke(callee.function, slices, {}, node), count, callee.out_axes)

    def _customized(self, callee: Customized, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """The value; what the rule makes of the value's delta is held against the arguments."""
        found = self.invoke(callee.function, args, kwargs, node)
        if type(found) is not tuple or len(found) != 2:
            return UNKNOWN
        value, rule = found
        if isinstance(rule, Function) and not kwargs:
            deltas = self.plain(self.invoke(rule, [_delta_of(value)], {}, node))
            names = [one.arg for one in every_parameter(callee.function.node.args)][: len(args)]
            for one in lints.deltas(callee.function.name, names, list(map(self.plain, args)), deltas):
                self.report.lint(one, rule.node)
        return value

    def _delta(self, args: list[Any], number: int) -> Any:
        if not -len(args) <= number < len(args):
            return UNKNOWN
        return _delta_of(args[number])


def _argument(number: int) -> str:
    return f"argument {number}"


def _as_asked(value: Any, number: int) -> Any:
    """An argument by which is differentiated, as an input of its own."""
    if not isinstance(value, Traced):
        return value
    return traced(value, [value], Past.known(origin_of_input(_argument(number), value)))


def _delta_of(value: Any) -> Any:
    if isinstance(value, Value) and isinstance(value.spec, Spec):
        dtype = value.spec.dtype
        return traced(Value(value.spec, value.loose), [value]) if dtype is None or dtype.kind in "fc" else UNKNOWN
    if type(value) is tuple:
        return tuple(map(_delta_of, value))
    return UNKNOWN


def deriving(name: str, args: list[Any], kwargs: dict[str, Any]) -> Derived:
    """The function that one of this library's functions of functions makes."""
    if name == "vmap":
        in_axes = kwargs.get("in_axes", args[1] if len(args) > 1 else 0)
        return Derived(name, args[0], in_axes, out_axes=kwargs.get("out_axes", args[2] if len(args) > 2 else 0))
    argnums = kwargs.get("argnums", args[1] if len(args) > 1 else 0)
    return Derived(name, args[0], argnums, kwargs.get("has_aux", False) is not False)


def _by(value: Any, by: Any) -> Any:
    """The derivative of each value by each argument."""
    if type(value) is tuple:
        return tuple([_by(one, by) for one in value])
    if type(by) is tuple:
        return tuple([_by(value, one) for one in by])
    if not isinstance(value, Value) or not isinstance(by, Value):
        return UNKNOWN
    one, other = value.spec, by.spec
    if not isinstance(one, Spec) or not isinstance(other, Spec) or one.dtype is None or one.dtype.kind not in "fc":
        return UNKNOWN
    if other.dtype is None or other.dtype.kind != "f":
        return UNKNOWN
    shape = None if one.shape is None or other.shape is None else (*one.shape, *other.shape)
    if sum(isinstance(size, Rest) for size in shape or ()) > 1:
        shape = None
    dtype = np.result_type(other.dtype, np.complex64) if one.dtype.kind == "c" else other.dtype
    is_number = shape == () and one.python is not None and other.python is not None
    if shape == () and not is_number and (one.python or other.python):
        return UNKNOWN
    return traced(Value(Spec(shape, dtype, type(dtype.type(0).item()) if is_number else None)), [value, by])


def _slice(value: Any, axis: int, sizes: list[Any]) -> Any:
    """One slice of an argument, and of each entry of a tuple; how many there are is added to `sizes`."""
    if type(value) is tuple:
        return tuple([_slice(one, axis, sizes) for one in value])
    spec = value.spec if isinstance(value, Value) else None
    if not isinstance(spec, Spec) or spec.python is not None:
        return UNKNOWN
    if spec.shape is None:
        sizes.append(None)
        return traced(Value(Spec(None, spec.dtype), True), [value])
    place = axis if axis >= 0 else len(spec.shape) + axis
    if not 0 <= place < len(spec.shape):
        return UNKNOWN
    crossed: Any = spec.shape[: place + 1] if axis >= 0 else spec.shape[place:]
    if any(isinstance(one, Rest) for one in crossed):
        sizes.append(None)
        return traced(Value(Spec(None, spec.dtype), True), [value])
    sizes.append(spec.shape[place])
    return traced(Value(Spec((*spec.shape[:place], *spec.shape[place + 1 :]), spec.dtype)), [value])


def _stacked(value: Any, count: Any, axis: Any) -> Any:
    """All results, with the axis of the slices where it is wanted."""
    if type(value) is tuple:
        axes = axis if type(axis) is tuple else (axis,) * len(value)
        found = zip(value, axes, strict=False)
        return tuple([_stacked(one, count, each) for one, each in found]) if len(axes) == len(value) else UNKNOWN
    if not isinstance(value, Value) or not isinstance(value.spec, Spec) or type(axis) is not int:
        return UNKNOWN
    shape: Any = value.spec.shape
    place = axis if axis >= 0 or shape is None else len(shape) + 1 + axis
    crossed: Any = () if shape is None else shape[:place] if axis >= 0 else shape[place:]
    if shape is None or not 0 <= place <= len(shape) or any(isinstance(one, Rest) for one in crossed):
        return traced(Value(Spec(None, value.spec.dtype)), [value])
    return traced(Value(Spec((*shape[:place], count, *shape[place:]), value.spec.dtype)), [value])
