"""In which room is what a NumPy function means, and when is it loaded? When one of its functions first meets a layer.

What every trace needs is loaded with the first public name, and the methods of arrays with this module. Of the others a
program uses a few: for each of their functions `Later` stands in the table until it is called. `symbolic.public` loads
all of them.
"""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from symbolic.callees import LATE_METHODS
from symbolic.errors import SymbolicError
from symbolic.layer import FUNCTIONS, GETITEM, METHODS, UFUNC_METHODS, AnyLayer, Handler
from symbolic.naming import qualified
from symbolic.ops import arithmetic as _arithmetic  # noqa: F401 - it binds NumPy functions
from symbolic.ops import choosing as _choosing  # noqa: F401 - it binds NumPy functions
from symbolic.ops import foreign as _foreign  # noqa: F401 - it loads what is known of functions that come late
from symbolic.ops import making as _making  # noqa: F401 - it says what a body's own arrays are
from symbolic.ops import methods as _methods  # noqa: F401 - it binds the methods of arrays
from symbolic.ops import refusals as _refusals  # noqa: F401 - it says what to do instead
from symbolic.sweeping import unswept

ROOMS: dict[str, str] = {
    "applied": "apply_along_axis apply_over_axes",
    "bordering": "pad",
    "coefficients": "polyadd polysub polymul polydiv polyder polyint roots poly",
    "circular": (
        "sin cos tan arcsin arccos arctan arctan2 radians deg2rad degrees rad2deg sinh cosh tanh arcsinh arccosh "
        "arctanh sinc"
    ),
    "comparison": "equal not_equal less less_equal greater greater_equal",
    "complexes": "real imag conjugate angle iscomplexobj isrealobj isreal iscomplex",
    "counting": "histogram_bin_edges histogram histogramdd histogram2d",
    "creation": (
        "diagonal diag diagflat trace linalg.diagonal linalg.trace triu tril full_like zeros_like empty_like "
        "ones_like linspace meshgrid"
    ),
    "cumulative": "prod cumsum cumprod cumulative_sum cumulative_prod",
    "decompositions": "linalg.eigh linalg.eigvalsh linalg.qr linalg.eig linalg.eigvals",
    "domains": (
        "lib.scimath.sqrt lib.scimath.log lib.scimath.log2 lib.scimath.log10 lib.scimath.arccos "
        "lib.scimath.arcsin lib.scimath.arctanh lib.scimath.logn lib.scimath.power real_if_close"
    ),
    "einsum": "einsum",
    "exponential": "exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2",
    "gathering": "take take_along_axis compress extract choose ix_",
    "joining": (
        "concatenate stack vstack hstack dstack column_stack block append delete insert array_split split "
        "hsplit vsplit dsplit unstack"
    ),
    "linalg": ("linalg.inv linalg.solve linalg.det linalg.slogdet linalg.cholesky linalg.tensorinv linalg.tensorsolve"),
    "linear": (
        "matmul dot tensordot linalg.tensordot linalg.matmul inner vdot vecdot linalg.vecdot matvec vecmat "
        "outer linalg.outer linalg.multi_dot linalg.matrix_power"
    ),
    "movement": (
        "reshape ravel transpose matrix_transpose linalg.matrix_transpose swapaxes moveaxis rollaxis "
        "expand_dims squeeze broadcast_to broadcast_arrays atleast_1d "
        "atleast_2d atleast_3d copy shape ndim size"
    ),
    "norms": "linalg.norm linalg.vector_norm linalg.matrix_norm",
    "polynomials": "polyval vander polyfit logspace geomspace cov corrcoef",
    "products": "kron cross linalg.cross convolve correlate",
    "questions": (
        "result_type can_cast common_type min_scalar_type diag_indices_from tril_indices_from "
        "triu_indices_from einsum_path"
    ),
    "reduction": "sum mean max amax min amin nanmax nanmin ptp var std",
    "repeating": "repeat tile resize",
    "roots": "cbrt reciprocal hypot ldexp",
    "rounding": (
        "floor ceil trunc rint round around fix floor_divide remainder gcd lcm fmod divmod modf frexp "
        "nextafter spacing bitwise_count maximum minimum fmax fmin _core.umath.clip clip"
    ),
    "series": "diff ediff1d gradient interp bincount unwrap lib.stride_tricks.sliding_window_view i0",
    "sets": (
        "unique unique_values unique_counts unique_inverse unique_all isin intersect1d union1d setdiff1d setxor1d in1d"
    ),
    "signs": "fabs sign copysign heaviside",
    "singular": "linalg.svd linalg.svdvals linalg.pinv linalg.lstsq linalg.matrix_rank linalg.cond",
    "sorting": (
        "sort argsort argmax argmin nanargmax nanargmin count_nonzero searchsorted digitize partition "
        "argpartition lexsort sort_complex trim_zeros"
    ),
    "statistics": (
        "median nanmedian quantile nanquantile percentile nanpercentile average nansum nanprod nancumsum "
        "nancumprod nanmean nanvar nanstd trapezoid"
    ),
    "writing": "put place putmask copyto put_along_axis fill_diagonal",
    "truths": (
        "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert left_shift "
        "right_shift isnan isfinite isinf signbit isposinf isneginf isclose allclose array_equal array_equiv "
        "nan_to_num all any"
    ),
    "turning": "flip flipud fliplr rot90 roll",
    "whole": "ravel_multi_index unravel_index packbits unpackbits",
}
"""By room, the functions of `numpy` that it tells about; those of parts that NumPy loads late: `foreign.ROOMS`."""

OF_METHODS = ("truths", "reduction", "cumulative", "softmax", "folding")
"""Where `ufunc.reduce` and its like are: `folding` has those that the others leave."""


class Later:
    """What a function means whose room has not been loaded: it is loaded, and asked."""

    __slots__ = ("function", "room")
    function: Any
    room: str

    def __init__(self, function: Any, room: str) -> None:
        self.function, self.room = function, room

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.found()(args, kwargs)

    def found(self) -> Handler:
        """What stands in the table once the room is there."""
        with unswept():
            import_module(f"symbolic.ops.{self.room}")
        handler = FUNCTIONS[self.function]
        return _loaded(handler, self, qualified(self.function))

    @property
    def cls(self) -> Any:
        """The operation that a function stands for, as a `Binder` has it."""
        return self.found().cls  # type: ignore[attr-defined]  # it is a Binder


H = TypeVar("H")


def _loaded(found: H, late: object, name: str) -> H:
    """What stands in a table after a room was loaded, unless it is what stood there before."""
    if found is late:  # a handler of a signal, in the midst of it
        raise SymbolicError(
            f"{name} is called while what is known of it is being loaded",
            remedy="call it later, outside a handler of a signal",
        )
    return found


def _method(ufunc: np.ufunc, name: str) -> Handler | None:
    """What a method of a ufunc does, where no room that is loaded says so."""
    for room in OF_METHODS:
        import_module(f"symbolic.ops.{room}")
    return UFUNC_METHODS.get((ufunc, name))


LATE_METHODS.append(_method)


def _getitem(layer: AnyLayer, index: Any) -> Any:
    from symbolic.ops.indexing import getitem  # which takes the place of this

    return getitem(layer, index)


if not GETITEM:
    GETITEM.append(_getitem)


def _writes(name: str) -> None:
    """A method of arrays that writes into them: known, and loaded when it is asked for."""

    def late(layer: AnyLayer) -> Any:
        import_module("symbolic.ops.writing")
        return _loaded(METHODS[name], late, f".{name}")(layer)

    if name not in METHODS:
        METHODS[name] = late


for _name in ("fill", "put", "sort", "partition", "flat"):
    _writes(_name)


def _within(name: str) -> Any:
    """What stands in a part of NumPy, or in none of this one's."""
    try:
        return attrgetter(name)(np)
    except AttributeError:
        return None


_numpys = vars(np)
for _room, _names in ROOMS.items():
    for _name in _names.split():
        _function = _numpys.get(_name) or _within(_name)
        if _function is not None and _function not in FUNCTIONS:
            FUNCTIONS[_function] = Later(_function, _room)
