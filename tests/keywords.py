"""Which arguments do NumPy's functions have besides their operands, and which values other than the default are tried?

Every name of every signature must have a value here that NumPy takes: an argument that is never tried is a fault.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from answers import attempt
from strategies import Call
from subjects import SUBJECTS, Subject

from symbolic.ops.binding import signature


class Keyword(NamedTuple):
    """An argument of a function, with the first subject whose call it can be added to."""

    subject: Subject
    name: str

    def __str__(self) -> str:
        return f"{self.subject.name}({self.name})"

    def values(self, call: Call) -> list[Any]:
        own = SPECIFIC.get((self.subject.name, self.name))
        tried = own if own is not None else BY_NAME[self.name]
        return tried(self.subject, call) if callable(tried) else list(tried)

    def parameters(self, value: Any) -> dict[str, Any]:
        """The subject's with this one; a dictionary has others that it needs beside it."""
        together = value if isinstance(value, dict) and self.name in value else {self.name: value}
        return {**self.subject.parameters, **together}


def _mask(subject: Subject, call: Call) -> list[Any]:
    """A mask of the operand, and one for its last axis."""
    shape = np.shape(call.arrays[0])
    some = np.arange(int(np.prod(shape, dtype=int))).reshape(shape) % 3 != 0
    return [some, some[:1]] if shape else [some]


def _result(subject: Subject, call: Call) -> list[Any]:
    """A plain array that the result fits into."""
    found = attempt(subject.of(call), call.arrays)
    if isinstance(found, Exception):
        return []
    return [tuple(map(np.zeros_like, found)) if isinstance(found, tuple) else np.zeros_like(found)]


def _inverted(subject: Subject, call: Call) -> list[Any]:
    """The one method of quantiles that takes weights."""
    return [{"method": "inverted_cdf", "weights": one} for one in _weights(subject, call)]


def _bounded(subject: Subject, call: Call) -> list[Any]:
    """The largest of what is left needs `initial`."""
    return [{"initial": 0.5, "where": one} for one in _mask(subject, call)]


def _mean(subject: Subject, call: Call) -> list[Any]:
    return [np.asarray(np.nanmean(call.arrays[0], keepdims=True))]


def _weights(subject: Subject, call: Call) -> list[Any]:
    shape = np.shape(call.arrays[0])
    return [np.arange(1.0, 1.0 + int(np.prod(shape, dtype=int))).reshape(shape)]


def _another(subject: Subject, call: Call) -> list[Any]:
    return [np.asarray(call.arrays[0]) * 0.5 + 1.0]


def _sorter(subject: Subject, call: Call) -> list[Any]:
    return [np.argsort(call.arrays[0])]


def _vector(like: int = 0) -> Callable[[Subject, Call], list[Any]]:
    return lambda subject, call: [np.linspace(0.5, 1.5, np.shape(call.arrays[0])[like])]


Tried = list[Any] | Callable[[Subject, Call], list[Any]]

BY_NAME: dict[str, Tried] = {
    "axis": [0, -1, (0, 1), None, 1],
    "axes": [(1, 0), (0, 1), (0,), ([0], [0]), [(0, 1), (0, 1), (0, 1)]],
    "keepdims": [True],
    "dtype": [np.float32, np.complex128, np.int64, np.float64, np.bool_, np.uint8],
    "deg": [True],
    "out": _result,
    "where": _mask,
    "initial": [0.5, 2],
    "ddof": [1],
    "correction": [1],
    "mean": _mean,
    "order": ["F", "A", "K", "C"],
    "casting": ["unsafe", "no", "safe"],
    "subok": [True, False],
    "copy": [True, False],
    "device": ["cpu"],
    "kind": ["stable", "mergesort", "introselect", "sort"],
    "stable": [True],
    "equal_nan": [True, False],
    "overwrite_input": [True],
    "weights": _weights,
    "method": ["lower", "higher", "midpoint", "nearest", "hazen", "weibull", "inverted_cdf", "median_unbiased"],
    "interpolation": ["lower"],
    "decimals": [1, -1],
    "k": [1, -1],
    "n": [2, 3],
    "s": [(2, 3)],
    "norm": ["ortho", "forward"],
    "offset": [1, -1],
    "axis1": [1],
    "axis2": [0],
    "rtol": [1e-2, 0.1],
    "atol": [1e-2],
    "mode": ["wrap", "clip", "same", "valid", "full", "reduced", "r", "complete", "edge", "raise"],
    "full": [True],
    "rowvar": [False],
    "prepend": [0.5],
    "append": [1.5],
    "rcond": [0.1],
    "hermitian": [True],
    "UPLO": ["U"],
    "num": [4],
    "endpoint": [False],
    "retstep": [True],
    "base": [2.0],
    "shape": [(2, 2), 3],
    "include_initial": [True],
    "assume_unique": [True],
    "return_indices": [True],
    "return_index": [True],
    "return_inverse": [True],
    "return_counts": [True],
    "sorted": [False],
    "invert": [True],
    "bins": [2],
    "range": [(0.25, 5.75)],
    "density": [True],
    "trim": ["f", "b"],
    "bitorder": ["little"],
    "count": [3],
    "side": ["right"],
    "sorter": _sorter,
    "right": [True],
    "minlength": [7],
    "left": [0.5],
    "period": [3.3],
    "discont": [4.0],
    "edge_order": [2],
    "wrap": [True],
    "default": [1.5],
    "tol": [0.5, 1e-3],
    "nan": [1.5],
    "posinf": [7.5],
    "neginf": [-7.5],
    "bias": [True],
    "y": _another,
    "fweights": [np.array([1, 2, 1, 2])],
    "aweights": [np.array([0.5, 1.5, 1.0, 2.0])],
    "start": [1],
    "increasing": [True],
    "N": [3],
    "sparse": [True],
    "indexing": ["ij"],
    "to_begin": [0.5],
    "to_end": [1.5],
    "a_min": [-0.25],
    "a_max": [0.25],
    "min": [-0.25],
    "max": [0.25],
    "m": [2],
    "w": _vector(),
    "cov": [True],
    "ord": [1, 2, "fro", np.inf],
    "p": [1, "fro"],
    "returned": [True],
    "optimize": [True, "greedy"],
    "compute_uv": [False],
    "full_matrices": [False],
    "ind": [1, 3],
    "upper": [True],
    "max_work": [1],
    "signature": [],
    "x": _vector(-1),
    "dx": [0.5],
    "axisa": [0],
    "axisb": [0],
    "axisc": [0],
    "writeable": [True],
    "values": [0.5],
    "M": [2],
    "constant_values": [2.0, (1.0, 2.0), ((1.0, 2.0),)],
    "end_values": [1.5],
    "stat_length": [1],
    "reflect_type": ["odd"],
    "offsets": [1],
}
"""Values by the name of the argument; those that NumPy does not take are passed over."""

SPECIFIC: dict[tuple[str, str], Tried] = {
    ("np.polyint", "k"): [2.5],
    ("np.linalg.lstsq", "rcond"): [0.1],
    ("np.diff", "n"): [2],
    ("np.sliding_window_view", "axis"): [-1],
    ("np.round", "decimals"): [-1],
    ("np.around", "decimals"): [-1],
    ("np.clip", "min"): [{"a_min": np._NoValue, "a_max": np._NoValue, "min": -0.25}],
    ("np.clip", "max"): [{"a_min": np._NoValue, "a_max": np._NoValue, "max": 0.25}],
    ("np.pad", "end_values"): [{"mode": "linear_ramp", "end_values": 1.5}],
    ("np.pad", "stat_length"): [{"mode": mode, "stat_length": 1} for mode in ("mean", "maximum", "median", "minimum")],
    ("np.pad", "reflect_type"): [{"mode": mode, "reflect_type": "odd"} for mode in ("reflect", "symmetric")],
    ("np.pad", "mode"): ["edge", "reflect", "symmetric", "wrap", "mean", "maximum", "minimum", "median", "linear_ramp"],
    ("np.histogramdd", "range"): [((0.25, 5.75), (0.25, 5.75)), ((0.25, 5.75), None)],
    ("np.histogram2d", "range"): [((0.25, 5.75), (0.25, 5.75))],
    ("np.histogramdd", "weights"): _vector(),
    ("np.diagonal", "axis1"): [{"axis1": 1, "axis2": 0}],
    ("np.diagonal", "axis2"): [{"axis1": 1, "axis2": 0}],
    ("np.trace", "axis1"): [{"axis1": 1, "axis2": 0}],
    ("np.trace", "axis2"): [{"axis1": 1, "axis2": 0}],
    **{(f"np.{name}", "weights"): _inverted for name in ("quantile", "nanquantile", "percentile", "nanpercentile")},
    **{(f"np.{name}", "where"): _bounded for name in ("max", "amax", "min", "amin", "nanmax", "nanmin")},
    **{(f"np.{name}.reduce", "where"): _bounded for name in ("maximum", "minimum", "fmax", "fmin")},
    ("np.interp", "period"): [3.35],
}

NOTHING: dict[tuple[str, str], str] = {
    **{(f"np.{name}", "order"): "fields of records" for name in ("sort", "argsort", "partition", "argpartition")},
    **{(f"np.{name}", "where"): "NumPy has none here" for name in ("matmul", "vecdot", "matvec", "vecmat")},
    ("np.linalg.tensorinv", "ind"): "another one is for another array: test_linalg.py",
    ("np.frexp", "dtype"): "NumPy takes none for two results",
    ("np.reshape", "newshape"): "another name of shape, which older versions of NumPy still take",
}
"""Arguments with no value to try, each with its reason."""

EXTRA: dict[str, tuple[str, ...]] = {
    "np.pad": ("constant_values", "end_values", "stat_length", "reflect_type"),
    "np.clip": ("where", "dtype", "casting", "order", "subok"),
    "np.einsum": ("dtype", "casting", "order"),
}
"""Arguments that a signature hides behind **kwargs."""
OF_METHODS = {
    "reduce": ("axis", "dtype", "keepdims", "initial", "where", "out"),
    "accumulate": ("axis", "dtype", "out"),
    "reduceat": ("axis", "dtype", "out"),
    "outer": ("dtype", "casting", "order", "out"),
    "at": (),
}
OF_UFUNCS = ("out", "where", "dtype", "casting", "order", "subok")


def _names(subject: Subject) -> Iterator[str]:
    if isinstance(subject.function, np.ufunc):
        yield from OF_UFUNCS
        return
    if _is_method(subject):
        yield from OF_METHODS[subject.name.rpartition(".")[2]]
        return
    for parameter in signature(subject.function).parameters.values():
        if parameter.default is not inspect.Parameter.empty and parameter.kind is not parameter.POSITIONAL_ONLY:
            yield parameter.name
    yield from EXTRA.get(subject.name, ())


def placed(subject: Subject, call: Call) -> list[str]:
    """The arguments that the call gives by position: the laws are about them."""
    if isinstance(subject.function, np.ufunc) or _is_method(subject):
        return []
    return list(signature(subject.function).parameters)[: len(call.place(*call.arrays))]


def keywords() -> list[Keyword]:
    """Every argument of every subject that is a function of NumPy's, each once."""
    found: dict[tuple[str, str], Keyword] = {}
    for subject in SUBJECTS:
        if subject.twin and "." in subject.name:
            for name in _names(subject):
                if (subject.name, name) in NOTHING:
                    continue
                found.setdefault((subject.name, name), Keyword(subject, name))
    return list(found.values())


def _is_method(subject: Subject) -> bool:
    _, *names = subject.name.split(".")
    return len(names) == 2 and isinstance(getattr(np, names[0], None), np.ufunc)


KEYWORDS = keywords()
