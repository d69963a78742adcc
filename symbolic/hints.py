"""What does a hint say? `Annotated[T, Symbolic[…]]`: an input, of the native type T, with a shape and a dtype."""

from __future__ import annotations

import contextlib
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_origin

import numpy as np

from symbolic.annotated import written_hints
from symbolic.dims import Axis, Names, parse
from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import Layer
from symbolic.literal import ToLiteral
from symbolic.spec import PYTHON_DTYPES, AnySpec, OpaqueSpec, Spec, TupleSpec, show, spec_of

if TYPE_CHECKING:
    from symbolic import phantoms as phantoms  # a checker that reads this module knows them


class Shaped(NamedTuple):
    """`Symbolic[np.float32, "batch 784"]`: what a hint says of an array."""

    dtypes: tuple[np.dtype[Any], ...] = ()
    axes: tuple[Axis, ...] | None = None


class Symbolic:
    """The mark of a differentiable value in a hint: `Annotated[np.ndarray, Symbolic]`.

    With a subscript it also says the dtype and the shape, in one string or one by one; both are checked when the
    program runs: `Symbolic[np.float32, "batch 784"]`, `Symbolic["batch", 784]`. Names are shared by the whole
    signature; `*batch`, `...`, `_`, `#n`, `2*n` and `n-1` mean what they mean in jaxtyping.
    """

    def __class_getitem__(cls, subscript: Any) -> Shaped:
        parts = subscript if isinstance(subscript, tuple) else (subscript,)
        dtypes: tuple[np.dtype[Any], ...] = ()
        if parts and not isinstance(parts[0], (str, int, float, type(None))) and parts[0] is not Ellipsis:
            dtypes, parts = (np.dtype(parts[0]),), parts[1:]
        return Shaped(dtypes, parse(parts) if parts else None)


class Hint(NamedTuple):
    """A native type, and what is declared of its shape and dtype; `entries` for a tuple."""

    native: Any
    shaped: Shaped = Shaped()
    entries: tuple[Hint, ...] | None = None


def is_symbolic(hint: Any) -> bool:
    """Whether `Symbolic` stands in the hint's metadata, or in that of an entry of a tuple."""
    if get_origin(hint) is Annotated:
        return any(one is Symbolic or isinstance(one, (Shaped, Symbolic)) for one in hint.__metadata__)
    if get_origin(hint) is tuple or get_origin(hint) in _UNIONS:
        return any(is_symbolic(one) for one in get_args(hint))
    return False


_UNIONS = (typing.Union, type(int | str))


def _of_union(hint: Any) -> Any:
    """`Annotated[T, Symbolic] | None` as `Annotated[T | None, Symbolic]`."""
    members = get_args(hint)
    marks = next(one.__metadata__ for one in members if get_origin(one) is Annotated and is_symbolic(one))
    natives = tuple([get_args(one)[0] if get_origin(one) is Annotated else one for one in members])
    return Annotated[(typing.Union[natives], *marks)]  # noqa: UP007 - of members that only the program knows


def read(hint: Any, what: str) -> Hint:
    """What the hint says; DtypeError where its type has no ToLiteral."""
    shaped = Shaped()
    if get_origin(hint) in _UNIONS and any(get_origin(one) is Annotated and is_symbolic(one) for one in get_args(hint)):
        hint = _of_union(hint)
    if get_origin(hint) is Annotated:
        marks = [one for one in hint.__metadata__ if isinstance(one, Shaped)]
        shaped = marks[0] if marks else shaped
        hint = get_args(hint)[0]
    if hasattr(hint, "dim_str") and hasattr(hint, "array_type"):
        shaped = _jaxtyping(hint, shaped)
        hint = hint.array_type
    if get_origin(hint) is tuple and get_args(hint) and Ellipsis not in get_args(hint):
        entries = tuple([read(one, what) for one in get_args(hint)])
        return Hint(tuple, shaped, entries)
    _registered(hint, what)
    return Hint(hint, shaped)


def fields_of(hint: Any) -> dict[str, Hint]:
    """What the fields of a dataclass say that a hint names, those with `Symbolic`; empty for any other type."""
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if not isinstance(kind, type) or not hasattr(kind, "__dataclass_fields__"):
        return {}
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except (NameError, TypeError):  # of a name that only the type checker imports
        return {}
    fields = [name for name in kind.__dataclass_fields__ if is_symbolic(hints.get(name))]
    return {name: read(hints[name], f"field {name} of {kind.__name__}") for name in fields}


def _registered(hint: Any, what: str) -> None:
    if hint is Any or isinstance(hint, typing.TypeVar):
        return
    members = get_args(hint) if get_origin(hint) in _UNIONS else (hint,)
    for member in members:
        try:
            ToLiteral.of(type(None) if member is None else member)
        except DtypeError as error:
            raise DtypeError(error.seen, where=what, remedy=error.remedy) from None


def _jaxtyping(hint: Any, shaped: Shaped) -> Shaped:
    """`Float32[np.ndarray, "batch 784"]` by its own attributes; jaxtyping itself is not imported."""
    dtypes = []
    for name in hint.dtypes if isinstance(hint.dtypes, (list, tuple)) else ():
        try:
            dtypes.append(np.dtype(name))
        except TypeError:  # bfloat16 and other names that NumPy does not have
            continue
    return Shaped(shaped.dtypes or tuple(dtypes), shaped.axes if shaped.axes is not None else parse([hint.dim_str]))


def check(hint: Hint, spec: AnySpec, names: Names, what: str) -> None:
    """Hold a spec against a hint: DtypeError, ShapeError. What is not known passes."""
    if isinstance(spec, TupleSpec):
        _check_tuple(hint, spec, names, what)
    elif isinstance(spec, OpaqueSpec):
        if hint.native in (float, int, complex, np.ndarray):
            raise _undeclared(what, f"is of type {spec.kind.__name__}", hint.native)
    elif hint.entries is not None:
        raise _undeclared(what, f"is {spec}", hint.native)
    else:
        _check_native(hint.native, spec, what)
        _check_dtype(hint.shaped.dtypes, spec, what)
        if hint.shaped.axes is not None:
            names.match(hint.shaped.axes, spec.shape, what)


def check_fields(fields: Mapping[str, Hint], value: Any, spec: Callable[[Any], AnySpec], what: str) -> None:
    """Hold the fields of an object against their hints, in which a name is one size throughout the object.

    `spec` says what is known of a layer.
    """
    names = Names()
    for field, hint in fields.items():
        found = getattr(value, field, None)
        known = spec(found) if isinstance(found, Layer) else spec_of(found)
        if isinstance(known, Spec):  # and no list, say, or nothing
            check(hint, known, names, f"field {field} of {what}")


def _check_tuple(hint: Hint, spec: TupleSpec, names: Names, what: str) -> None:
    if hint.entries is None:
        if hint.native in (float, int, complex, np.ndarray):
            raise _undeclared(what, f"is a tuple of {len(spec)} entries", hint.native)
        return
    if len(spec) != len(hint.entries):
        raise ShapeError(
            f"{what} has {len(spec)} entries where {len(hint.entries)} are declared",
            remedy="return as many values as the hint says",
        )
    for k, (one, entry) in enumerate(zip(hint.entries, spec, strict=True)):
        check(one, entry, names, f"entry {k} of {what}")


def _undeclared(what: str, seen: str, native: Any) -> DtypeError:
    return DtypeError(
        f"{what} {seen} where {_name(native)} is declared", remedy=f"give a value of type {_name(native)}"
    )


def _check_dtype(dtypes: tuple[np.dtype[Any], ...], spec: Spec, what: str) -> None:
    if dtypes and spec.dtype is not None and spec.dtype not in dtypes:
        declared = " or ".join(map(str, dtypes[:4]))
        raise DtypeError(
            f"{what} has dtype {spec.dtype} where {declared} is declared",
            remedy=f"convert it: x.astype(np.{dtypes[0]})",
        )


_KINDS = {float: "fiub", int: "iub", bool: "b", complex: "fiubc"}
"""Which kinds of numbers a Python type admits."""


def _check_native(native: Any, spec: Spec, what: str) -> None:
    """Scalars where an array is declared and the other way round; real and complex."""
    scalar = native in _KINDS or (isinstance(native, type) and issubclass(native, np.generic))
    if scalar and spec.shape is not None and spec.shape != ():
        raise ShapeError(
            f"{what} has shape {show(spec.shape)} where {_name(native)} is declared",
            remedy="pass a number, or declare np.ndarray",
        )
    if spec.dtype is None:
        return
    if native in _KINDS and spec.dtype.kind not in _KINDS[native]:
        raise DtypeError(
            f"{what} is {spec.dtype} where {_name(native)} is declared",
            remedy=f"convert it (np.real, np.abs, astype), or declare what it is instead of {_name(native)}",
        )
    if scalar and native not in _KINDS and spec.python is None and not issubclass(spec.dtype.type, native):
        raise DtypeError(
            f"{what} has dtype {spec.dtype} where {_name(native)} is declared",
            remedy=f"convert it: np.{_name(native)}(x)",
        )


def concrete(native: Any) -> bool:
    """Whether a type is one of NumPy's scalars that exist, not one of their bases."""
    return (
        isinstance(native, type)
        and issubclass(native, np.generic)
        and native.__module__ == "numpy"
        and native
        not in (
            np.generic,
            np.number,
            np.integer,
            np.signedinteger,
            np.unsignedinteger,
            np.inexact,
            np.floating,
            np.complexfloating,
            np.flexible,
            np.character,
        )
    )


def _name(native: Any) -> str:
    return getattr(native, "__name__", str(native))


def declared_spec(hint: Hint) -> Spec:
    """What is known of an input without any data: the sizes that are written as numbers."""
    if hint.native in PYTHON_DTYPES:
        return Spec((), PYTHON_DTYPES[hint.native], hint.native)
    dtype = hint.shaped.dtypes[0] if len(hint.shaped.dtypes) == 1 else None
    axes = hint.shaped.axes
    if isinstance(hint.native, type) and issubclass(hint.native, np.generic):
        return Spec((), np.dtype(hint.native) if concrete(hint.native) else dtype)
    if axes is None or any(axis.variadic for axis in axes):
        return Spec(None, dtype)
    return Spec(tuple([getattr(axis.expression, "value", None) for axis in axes]), dtype)


def signature_hints(
    function: Callable[..., Any], frame_locals: Mapping[str, Any], strict: bool = False
) -> dict[str, Any]:
    """The evaluated hints of a function, also where they are strings; names of the enclosing function are seen."""
    inner: Any = inspect.unwrap(function)
    inner = getattr(inner, "__func__", inner)
    if not hasattr(inner, "__code__"):  # an object that can be called, or a ufunc, which has no hints
        inner = getattr(type(inner).__call__, "__func__", type(inner).__call__)
    if not hasattr(inner, "__code__"):
        return {}
    names = {**frame_locals, **_closure(inner)}
    try:
        return typing.get_type_hints(inner, localns=names, include_extras=True)
    except NameError:
        if strict:
            raise
        return dict(_one_by_one(inner, names))


def _closure(function: Any) -> dict[str, Any]:
    """The names of the closure that are bound by now; a function's own name may be bound later."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def _one_by_one(function: Any, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The hints that can be read. Those of hyperparameters may name what only the type checker imports."""
    for name, hint in written_hints(function).items():
        text = getattr(hint, "__forward_arg__", hint)
        if isinstance(text, str):
            try:
                hint = eval(text, function.__globals__, dict(names))
            except NameError:
                if "Symbolic" in text or name == "return":
                    raise
                continue
        yield name, hint


def convert(native: Any, value: Any) -> Any:
    """A computed value as the declared native type: a `float` is a Python float, an array an array."""
    if native is float or native is int or native is complex or native is bool:
        return native(value) if np.ndim(value) == 0 else value
    if native is np.ndarray or get_origin(native) is np.ndarray:
        return np.asarray(value) if isinstance(value, (np.generic, float, int, complex)) else value
    if concrete(native) and isinstance(value, (float, int, complex)):
        return native(value)
    return value
