"""What does a hint declare, and does a value meet it? By the very checks and sentences of run time."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from symbolic.dims import Axis, Names, parse
from symbolic.errors import SymbolicError
from symbolic.hints import Hint, Shaped, check, declared_spec
from symbolic.polynomial import Rest, Size, Undecided, expressed
from symbolic.spec import AnySpec, OpaqueSpec, Spec, TupleSpec
from symbolic.static.abstract import Finding, finding, native
from symbolic.static.nesting import names_of, respecified

Bindings = Mapping[str, Any]
"""What the names of a signature stand for: a size each, and a tuple of sizes for `*batch`."""


def hint(kind: str, dtype: str | None = None, words: Sequence[str | int] | None = None) -> Hint | Finding:
    """A hint from its parts: the native type and the dtype by their full names, the dimensions as they are written."""
    try:
        axes = None if words is None else parse([Ellipsis if one == "..." else one for one in words])
    except SymbolicError as error:
        return _found(error)
    known = _dtype(dtype)
    return Hint(_type(kind), Shaped(() if known is None else (known,), axes))


def declared(kind: str, dtype: str | None = None, words: Sequence[str | int] | None = None) -> AnySpec | Finding:
    """The spec that such a hint declares, its names as named sizes."""
    written = hint(kind, dtype, words)
    return written if isinstance(written, Finding) else spec_of_hint(written)


@lru_cache(maxsize=4096)
def spec_of_hint(written: Hint) -> AnySpec:
    """The spec that a hint declares, its names as named sizes."""
    if written.entries is not None:
        return TupleSpec(map(spec_of_hint, written.entries))
    if not _is_numeric(written.native):
        return OpaqueSpec(written.native if isinstance(written.native, type) else object)
    spec = declared_spec(written)
    axes = written.shaped.axes
    if spec.shape == () or axes is None:
        return spec
    return spec._replace(shape=tuple(map(_size, axes)))


def _size(axis: Axis) -> Any:
    if axis.variadic:
        name = axis.text[1:] if axis.expression is not None else ""
        return Rest(name)
    return None if axis.expression is None or axis.stretch else expressed(axis.expression)


def _is_numeric(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, (np.ndarray, np.generic, float, int, complex))


def _type(name: str) -> Any:
    """A type of Python's or NumPy's by its full name; `object` for any other, which is never imported."""
    module, _, short = name.rpartition(".")
    home: Any = {"numpy": np, "builtins": builtins}.get(module)
    found = getattr(home, short, None)
    return found if isinstance(found, type) else object


def _dtype(name: str | None) -> np.dtype[Any] | None:
    if name is None:
        return None
    try:
        return np.dtype(name.rpartition(".")[2])
    except TypeError:
        return None


def _found(error: BaseException) -> Finding:
    found = finding(error)
    assert found is not None  # ours, and certain
    return found


# --------------------------------------------------------------------------- does a value meet it?


def unify(
    wanted: Sequence[AnySpec | Hint],
    actual: Sequence[AnySpec],
    what: Sequence[str],
    bound: Names | None = None,
) -> dict[str, Any] | Finding:
    """What the names of a called function's signature stand for at a call; or what does not fit.

    `what` says in the sentences what each actual value is: "argument x".
    """
    names = Names() if bound is None else bound
    for one, given, said in zip(wanted, actual, what, strict=True):
        try:
            check(one if isinstance(one, Hint) else hint_of(one), _seen(one, given), names, said)
        except Undecided:
            continue
        except SymbolicError as error:
            found = _found(error)
            return found if _is_alike(one, given) else found._replace(kind="symbolic")
    return dict(names.bound)


def _is_alike(wanted: AnySpec | Hint, given: AnySpec) -> bool:
    """Whether a value is of the declared type, and only its shape or dtype may be wrong: an array, or a number."""
    spec = spec_of_hint(wanted) if isinstance(wanted, Hint) else wanted
    pair = (spec, given)
    return all(isinstance(one, Spec) for one in pair) and (native(spec) is np.ndarray) is (native(given) is np.ndarray)


def returned(
    wanted: AnySpec | Hint,
    actual: AnySpec,
    origins: Mapping[str, str] | None = None,
    what: str = "the returned value",
) -> Finding | None:
    """What is wrong with a value that a function returns, or that a body declares: there its names are rigid.

    `origins` says by which argument each name is bound, `what` what a sentence calls the value.
    """
    spec = spec_of_hint(wanted) if isinstance(wanted, Hint) else wanted
    names = Names()
    for name in names_of(spec):
        names.bound[name] = (Rest(name[1:]),) if name.startswith("*") else Size.named(name)
    names.origin.update(origins or {})
    found = unify([wanted], [actual], [what], names)
    return found if isinstance(found, Finding) else None


def fits(given: AnySpec, wanted: AnySpec, what: str = "the input") -> Finding | None:
    """What is wrong with a layer's output as the input of another one: in `f.compose(g)`, in `Sequential`."""
    found = unify([wanted], [given], [what])
    return found if isinstance(found, Finding) else None


def substitute(spec: AnySpec, bindings: Bindings) -> AnySpec:
    """A spec with sizes in the place of its names; what is not bound is not known."""
    return respecified(spec, lambda one: _bound(one, bindings))


def _bound(spec: Spec, bindings: Bindings) -> Spec:
    shape: Any = spec.shape
    if shape is None:
        return spec
    sizes: list[Any] = []
    for one in shape:
        if isinstance(one, Rest):
            axes = bindings.get(str(one)) if one.name else None
            if axes is None:
                return spec._replace(shape=None)
            sizes += axes
        else:
            sizes.append(_substituted(one, bindings))
    return spec._replace(shape=tuple(sizes))


def scoped(spec: AnySpec, owner: str) -> AnySpec:
    """A spec whose names belong to a record: `n` of `batch` is `batch.n`."""

    def belonging(one: Spec) -> Spec:
        return one if one.shape is None else one._replace(shape=tuple([_scoped(size, owner) for size in one.shape]))

    return respecified(spec, belonging)


def _scoped(size: Any, owner: str) -> Any:
    if isinstance(size, Rest):
        return Rest(f"{owner}.{size.name}") if size.name else size
    return size.at({name: Size.named(f"{owner}.{name}") for name in size.names}) if isinstance(size, Size) else size


def _substituted(size: Any, bindings: Bindings) -> Any:
    if not isinstance(size, Size):
        return size
    if any(bindings.get(name) is None for name in size.names):
        return None
    found = size.at(bindings)
    return found if isinstance(found, Size) or found >= 0 else None


# --------------------------------------------------------------------------- specs as hints


def hint_of(spec: AnySpec) -> Hint:
    """The hint that declares a spec."""
    if isinstance(spec, TupleSpec):
        return Hint(tuple, Shaped(), tuple(map(hint_of, spec)))
    if isinstance(spec, OpaqueSpec):
        return Hint(spec.kind)
    shape: Any = spec.shape
    array = shape is None or shape != ()
    dtypes = (spec.dtype,) if array and spec.dtype is not None else ()
    return Hint(native(spec), Shaped(dtypes, tuple(map(_axis, shape)) if array and shape is not None else None))


def _axis(size: Any) -> Axis:
    if size is None:
        return Axis("_")
    if isinstance(size, Rest):
        return Axis(str(size), ast.Name(size.name) if size.name else None, variadic=True)
    return Axis(str(size), ast.parse(str(size), mode="eval").body)


def _seen(wanted: AnySpec | Hint, given: AnySpec) -> AnySpec:
    """A value as it is held against a hint: any number of its axes only where the hint has such a part, too."""
    shape: Any = given.shape if isinstance(given, Spec) else None
    star = _star(shape)
    if star is None or not isinstance(given, Spec):
        return given
    spec = spec_of_hint(wanted) if isinstance(wanted, Hint) else wanted
    theirs: Any = spec.shape if isinstance(spec, Spec) else None
    place = _star(theirs)
    inside = place is not None and place <= star and len(theirs) - place <= len(shape) - star
    return given if inside else given._replace(shape=None)


def _star(shape: Any) -> int | None:
    return next((k for k, one in enumerate(shape or ()) if isinstance(one, Rest)), None)
