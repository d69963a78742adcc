"""What arguments does a function take? By its operands: for each NumPy function, or kind of operands, one maker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from strategies import Call, Draw, Shape

Maker = Callable[[Draw, Any], Call]


def elementwise(count: int, least: int = 0) -> Maker:
    """`count` operands that broadcast, each in the domain (or its entry of a tuple of domains)."""

    def make(draw: Draw, domain: Any) -> Call:
        domains = domain if isinstance(domain, tuple) else (domain,) * count
        given = zip(draw.broadcasting(count, least), domains, strict=True)
        return Call(tuple([draw.array(shape, one) for shape, one in given]))

    return make


def ranked(least: int, most: int = 4) -> Maker:
    return lambda draw, domain: Call((draw.array(draw.shape(least, most), domain),))


def shaped(choose: Callable[[Draw], Sequence[Shape]], place: Callable[..., tuple[Any, ...]] | None = None) -> Maker:
    """Operands of the shapes that `choose` draws."""

    def make(draw: Draw, domain: Any) -> Call:
        arrays = tuple([draw.array(shape, domain) for shape in choose(draw)])
        return Call(arrays) if place is None else Call(arrays, place)

    return make


def as_list(*arrays: Any) -> tuple[Any, ...]:
    return (list(arrays),)


def _alike(draw: Draw) -> list[Shape]:
    return [draw.shape(1)] * 2


def _several(draw: Draw) -> list[Shape]:
    return [draw.shape(1, 3)] * draw.pick([1, 2, 3])


def _joinable(draw: Draw) -> list[Shape]:
    """Vectors of any length, or arrays of one shape."""
    if draw.pick([True, False]):
        return [draw.shape(1, 1) for _ in range(draw.pick([1, 2, 3]))]
    return _several(draw)


def _matrices(draw: Draw) -> list[Shape]:
    n, k, m = (draw.pick([2, 3, 1, 0]) for _ in range(3))
    one, other = draw.broadcasting(2) if draw.pick([False, True]) else [(), ()]
    x: Shape = draw.pick([(n, k), (k,)])
    y: Shape = draw.pick([(k, m), (k,)])
    x = (*one[:2], *x) if len(x) == 2 else x
    return [x, (*other[:2], *y) if len(y) == 2 else y]


def _dotted(draw: Draw) -> list[Shape]:
    k = draw.pick([2, 3, 1, 0])
    x = (*draw.shape(0, 2), k)
    y = draw.pick([(k,), (k, 2), (2, k, 3), ()])
    return [draw.pick([x, x, x, ()]), y]


def _matrix_vector(draw: Draw) -> list[Shape]:
    n, k = draw.pick([2, 3, 0]), draw.pick([2, 3, 1, 0])
    return [draw.pick([(n, k), (2, n, k)]), draw.pick([(k,), (2, k), (1, k)])]


def _vector_matrix(draw: Draw) -> list[Shape]:
    n, k = draw.pick([2, 3, 0]), draw.pick([2, 3, 1, 0])
    return [draw.pick([(k,), (2, k), (1, k)]), draw.pick([(k, n), (2, k, n)])]


def _threes(draw: Draw) -> list[Shape]:
    options: list[list[Shape]] = [[(3,), (3,)], [(2, 3), (3,)], [(3, 3), (3, 3)], [(2, 1, 3), (4, 3)]]
    return list(draw.pick(options))


def _chain(draw: Draw) -> list[Shape]:
    a, b, c, d = (draw.pick([2, 3, 1]) for _ in range(4))
    return list(draw.pick([[(a, b), (b, c)], [(a, b), (b, c), (c, d)], [(b,), (b, c), (c,)]]))


def _vectors(draw: Draw) -> list[Shape]:
    return [draw.shape(1, 1), draw.shape(1, 1)]


def _squares(draw: Draw) -> list[Shape]:
    n = draw.pick([2, 1, 3])
    return [draw.pick([(n, n), (2, n, n)])]


EINSUMS: list[tuple[str, list[Shape]]] = [
    ("ij,jk->ik", [(2, 3), (3, 2)]),
    ("ij,jk->ik", [(0, 3), (3, 1)]),
    ("ii->", [(3, 3)]),
    ("ii->i", [(2, 2)]),
    ("ij->ji", [(2, 3)]),
    ("i,i", [(3,), (3,)]),
    ("i,i", [(3,), (1,)]),
    ("...ij,...jk->...ik", [(1, 2, 3), (4, 3, 2)]),
    ("bij,bj,b->i", [(2, 3, 2), (2, 2), (2,)]),
    ("i,j->ij", [(2,), (3,)]),
    ("ijk->k", [(2, 1, 3)]),
    ("i->", [(0,)]),
    (",i->i", [(), (2,)]),
]


def einsum(subscripts: str, wanted: list[Shape]) -> Maker:
    def make(draw: Draw, domain: Any) -> Call:
        arrays = [draw.array(shape, domain) for shape in wanted]
        return Call(tuple(arrays), lambda *given: (subscripts, *given))

    return make


def _block(draw: Draw, domain: Any) -> Call:
    rows = draw.pick([0, 1, 2])
    arrays = [draw.array(shape, domain) for shape in ((rows, 2), (rows, 1), (2, 2), (2, 1))]
    return Call(tuple(arrays), lambda a, b, c, d: ([[a, b], [c, d]],))


def _conditions(draw: Draw) -> list[Any]:
    shape = draw.shape(0, 3)
    return [draw.array(shape, "boolean") for _ in range(2)] + [draw.array(shape) for _ in range(3)]


def _select(draw: Draw, domain: Any) -> Call:
    return Call(tuple(_conditions(draw)), lambda p, q, x, y, z: ([p, q], [x, y], z))


def _piecewise(draw: Draw, domain: Any) -> Call:
    first, _, x, *_ = _conditions(draw)
    return Call((x, first), lambda x, p: (x, [p], [np.sin, lambda t: t * t]))


def _along(draw: Draw, domain: Any) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.pick(range(len(shape))) if shape else 0
    size = shape[axis] if shape else 1
    wanted = (*shape[:axis], draw.pick([2, 3, 0]) if size else 0, *shape[axis + 1 :])
    indices = draw.rng.integers(-size, size, wanted) if size else np.zeros(wanted, int)
    return Call((draw.array(shape, domain), indices), lambda x, k: (x, k, axis))


def _masked(draw: Draw, domain: Any) -> Call:
    shape = draw.shape(1, 3)
    mask = draw.array((int(np.prod(shape)),), "boolean")
    return Call((draw.array(shape, domain),), lambda x: (mask, x))


def _extracted(draw: Draw, domain: Any) -> Call:
    shape = draw.shape(0, 3)
    mask = draw.array(shape, "boolean")
    return Call((draw.array(shape, domain),), lambda x: (mask, x))


def _repeated(draw: Draw, domain: Any) -> Call:
    shape = draw.shape(0, 3)
    counts = draw.pick([2, 0, None])
    count = np.asarray(draw.rng.integers(0, 3, int(np.prod(shape)))) if counts is None else np.asarray(counts)
    return Call((draw.array(shape, domain),), lambda x: (x, count))


def _among_sorted(draw: Draw, domain: Any) -> Call:
    return Call((draw.array(draw.shape(1, 1), "sorted"), draw.array(draw.shape(0, 2), "distinct")))


def _binned(draw: Draw, domain: Any) -> Call:
    return Call((draw.array(draw.shape(0, 2), "distinct"), draw.array(draw.shape(1, 1), "sorted")))


def _divided(draw: Draw, domain: Any) -> Call:
    """x = (whole + part) · y, so that no quotient is near a whole number."""
    one, other = draw.broadcasting(2)
    y = draw.array(other, "nonzero")
    wide = np.broadcast_shapes(one, other) if not draw.loose else one
    quotient = draw.rng.integers(-3, 3, wide) + draw.uniform(0.2, 0.8, wide)
    return Call((np.asarray(quotient * y if not draw.loose else quotient, dtype=np.asarray(y).dtype), y))


def _stacked(draw: Draw, *shape: int) -> Shape:
    options: list[Shape] = [shape, (2, *shape), (0, *shape)]
    chosen: Shape = draw.pick(options)
    return chosen


def _well(draw: Draw, shape: Shape) -> Any:
    """Matrices whose singular values are far from 0 and from each other."""
    small = min(shape[-2:])
    values = draw.array(shape, "unit") * 0.3
    values[..., range(small), range(small)] += np.arange(1, small + 1)
    return values


def _invertible(draw: Draw, domain: Any) -> Call:
    n = draw.pick([2, 1, 3])
    return Call((_well(draw, _stacked(draw, n, n)),))


def _full_rank(draw: Draw, domain: Any) -> Call:
    """Real: the phases of complex vectors are LAPACK's choice."""
    return Call((np.real(_well(draw, _stacked(draw, *draw.pick([(2, 2), (3, 2), (2, 3), (3, 3)])))),))


def _hermitian(draw: Draw, domain: Any) -> Call:
    n = draw.pick([2, 1, 3])
    return Call((np.real(_well(draw, _stacked(draw, n, n))),), lambda x: (x + x.mT,))


def _definite(draw: Draw, domain: Any) -> Call:
    n = draw.pick([2, 1, 3])
    x = _well(draw, _stacked(draw, n, n))
    return Call((x,), lambda x: (x @ x.conj().mT,))


def _equations(draw: Draw, domain: Any) -> Call:
    n = draw.pick([2, 1, 3])
    right: Shape = draw.pick([(n,), (n, 2), (2, n, 1), (1, n, 3)])
    return Call((_well(draw, draw.pick([(n, n), (2, n, n)])), draw.array(right)))


def _tensor_equations(draw: Draw, domain: Any) -> Call:
    return Call((_well(draw, (6, 6)).reshape(2, 3, 3, 2), draw.array((2, 3))))


def _tensor(draw: Draw, domain: Any) -> Call:
    return Call((_well(draw, (6, 6)).reshape(2, 3, 3, 2),))


def _grid(draw: Draw, domain: Any) -> Call:
    return Call((draw.array(draw.pick([(3,), (4, 3), (3, 4, 5)])),))


def _samples(draw: Draw, domain: Any) -> Call:
    n = draw.pick([3, 2, 5])
    places = np.sort(np.real(draw.apart((n,))))
    x = draw.apart(draw.shape(0, 2))
    return Call((x, places, draw.array((n,))))


def _numbered(draw: Draw, domain: Any) -> Call:
    n = draw.pick([3, 1, 5])
    return Call((draw.array((n,), "integer"), np.real(draw.array((n,)))))


def _polynomial(draw: Draw, domain: Any) -> Call:
    return Call((draw.array(draw.pick([(3,), (1,), (0,)])), draw.array(draw.shape(0, 2))))


def _fit(draw: Draw, domain: Any) -> Call:
    return Call((np.sort(np.real(draw.apart((5,)))) / 4, np.real(draw.array(draw.pick([(5,), (5, 2)])))))


def _observations(draw: Draw, domain: Any) -> Call:
    return Call((draw.array(draw.pick([(3, 4), (2, 5), (4,)])),))


def _far_from_edges(draw: Draw, shape: Shape) -> Any:
    """Entries from 0 to 6 that are near to no edge of two or three bins between them."""
    entries = np.real(draw.array(shape, "unit")) * 0.4 + draw.rng.choice([0.5, 1.5, 2.5, 3.5, 4.5, 5.5], shape)
    flat = entries.reshape(-1)
    flat[:1], flat[1:2] = 0.0, 6.0
    return np.asarray(entries, dtype=draw.dtype if draw.dtype.kind == "f" else float)


def _to_be_binned(draw: Draw, domain: Any) -> Call:
    return Call((_far_from_edges(draw, draw.pick([(5,), (2, 3)])),))


def _rows_to_be_binned(draw: Draw, domain: Any) -> Call:
    return Call((np.stack([_far_from_edges(draw, (5,)) for _ in range(2)], 1),))


def _two_to_be_binned(draw: Draw, domain: Any) -> Call:
    return Call(tuple([_far_from_edges(draw, (5,)) for _ in range(2)]))


def _as_complex(count: int) -> Maker:
    """Made complex within the function: of real numbers, their values would decide NumPy's dtype."""

    def make(draw: Draw, domain: Any) -> Call:
        given = [draw.array(one, domain) for one in draw.broadcasting(count)]
        return Call(tuple(given), lambda *each: tuple([one + 0.3j for one in each]))

    return make


def _polynomial_of_two(draw: Draw, domain: Any) -> Call:
    shape = draw.shape(0, 2)
    return Call((draw.array(shape), draw.array(shape), draw.array(draw.pick([(2, 3), (1, 2), (3, 1)]))))


def _sets(draw: Draw, domain: Any) -> Call:
    return Call(tuple([draw.array(draw.shape(1, 2), domain) for _ in range(2)]))


def _keys(draw: Draw, domain: Any) -> Call:
    shape = draw.pick([(4,), (2, 3), (0,)])
    return Call(tuple([draw.array(shape, domain) for _ in range(2)]), lambda *keys: (keys,))


def _places(draw: Draw, domain: Any) -> Call:
    shape = draw.shape(0, 2)
    return Call(tuple([draw.rng.integers(0, 2, shape) for _ in range(2)]), lambda *each: (each,))


def _open_mesh(draw: Draw, domain: Any) -> Call:
    one, other = draw.array((3,), "integer"), draw.array((2,), "integer")
    return Call((draw.array((4, 4)), one, other), lambda x, a, b: (a, b))


def _chosen(draw: Draw, domain: Any) -> Call:
    shape = draw.pick([(2, 3), (3,), ()])
    numbers = draw.rng.integers(0, 2, shape)
    return Call((numbers, draw.array(shape), draw.array((3,))), lambda k, x, y: (k, [x, y]))


def _some(draw: Draw, domain: Any) -> Call:
    return Call((draw.array(draw.pick([(4,), (2, 3), (3, 2, 2)]), domain),))


def _put(draw: Draw, domain: Any) -> Call:
    shape = draw.pick([(2, 3), (6,)])
    return Call((draw.array(shape), draw.array(draw.pick([(2,), (4,), ()]))), lambda x, v: (x, [4, -1, 0], v))


def _between_zeros(draw: Draw, domain: Any) -> Call:
    """The zeros at the ends stay zeros: what is trimmed has no derivative."""
    zeros, more = (np.zeros(draw.pick([1, 0, 2])) for _ in range(2))
    inner = draw.array(draw.pick([(3,), (1,), (0,)]), "nonzero")
    return Call((inner,), lambda x: (np.concatenate([zeros, x, more]),))


def _under_mask(draw: Draw, domain: Any) -> Call:
    shape = draw.pick([(2, 3), (4,), (0, 2)])
    mask = draw.array(shape, "boolean")
    return Call((draw.array(shape), mask, draw.array(draw.pick([(2,), (3,), (1,)]))))


def _copied_to(draw: Draw, domain: Any) -> Call:
    return Call((draw.array((2, 3)), draw.array(draw.pick([(2, 3), (3,), (2, 1), ()]))))


def _put_along(draw: Draw, domain: Any) -> Call:
    numbers = np.array([[0, 2], [1, 0]])
    return Call((draw.array((2, 3)), draw.array(draw.pick([(2, 2), (2, 1), ()]))), lambda x, v: (x, numbers, v, 1))


def _on_diagonal(draw: Draw, domain: Any) -> Call:
    return Call((draw.array(draw.pick([(3, 3), (2, 3), (5, 2), (2, 2, 2)])), draw.array(draw.pick([(), (2,)]))))


def _applied(x: Any) -> tuple[Any, ...]:
    """Rows to two numbers each; the axis is the first."""
    return lambda row: np.stack([np.sum(row * row), row[0]]), 0, x


def _rows_by_number(draw: Draw, domain: Any) -> Call:
    numbers = np.array([0, 2, 0])
    return Call((draw.array((3, 2)), draw.array(draw.pick([(3, 2), (2,), ()]))), lambda x, v: (x, numbers, v))


ROWS_BY_NUMBER = _rows_by_number
THREE_ROWS = shaped(lambda draw: [draw.pick([(3, 2), (3,)])])

BY_KIND: dict[str, Maker] = {
    "binned": _to_be_binned,
    "binned_rows": _rows_to_be_binned,
    "two_binned": _two_to_be_binned,
    "complex_numbers": _as_complex(1),
    "real_numbers": lambda draw, domain: Call((np.real(draw.array(draw.shape(), domain)),)),
    "real_vector": lambda draw, domain: Call((np.real(draw.array(draw.shape(1, 1), domain)),)),
    "complex_pairs": _as_complex(2),
    "polynomial_of_two": _polynomial_of_two,
    "sets": _sets,
    "keys": _keys,
    "places": _places,
    "open_mesh": _open_mesh,
    "some": _some,
    "small": lambda draw, domain: Call((draw.rng.integers(0, 5, draw.shape(0, 2)),)),
    "square_matrix": shaped(lambda draw: [draw.pick([(3, 3), (2, 2, 2)])]),
    "one_matrix": shaped(lambda draw: [draw.shape(2, 2)]),
    "invertible": _invertible,
    "definite": _definite,
    "full_rank": _full_rank,
    "hermitian": _hermitian,
    "tensor_equations": _tensor_equations,
    "tensor_of_equations": _tensor,
    "grid": _grid,
    "samples": _samples,
    "numbered": _numbered,
    "polynomial": _polynomial,
    "fit": _fit,
    "observations": _observations,
    "vector": ranked(1, 1),
    "overdetermined": _full_rank,
    "distinct_eigenvalues": _invertible,
    "two": elementwise(2),
    "numbers": elementwise(2),
    "matrix": ranked(2),
    "cube": ranked(3),
    "cubes": shaped(lambda draw: [draw.shape(2, 3)] * 2),
    "square": shaped(_squares),
    "matrices": shaped(_matrices),
    "alike": shaped(_alike),
    "vectors": shaped(_vectors),
    "sequence": shaped(_joinable, as_list),
    "matrix_vector": shaped(_matrix_vector),
    "vector_matrix": shaped(_vector_matrix),
    "vectors_of_three": shaped(_threes),
    "chain": shaped(_chain, as_list),
    "indices": _along,
    "conditions": _select,
}
"""What `operands=` of a formula may say."""

BY_FUNCTION: dict[Any, Maker] = {
    np.choose: _chosen,
    np.put: _put,
    np.trim_zeros: _between_zeros,
    np.place: _under_mask,
    np.putmask: _under_mask,
    np.copyto: _copied_to,
    np.put_along_axis: _put_along,
    np.fill_diagonal: _on_diagonal,
    np.apply_along_axis: lambda draw, domain: Call((draw.array(draw.shape(1, 3)),), _applied),
    np.apply_over_axes: lambda draw, domain: Call((draw.array(draw.shape(2, 3)),), lambda x: (np.sum, x, (0, -1))),
    np.unique: ranked(1),
    np.roots: ranked(1, 1),
    np.linalg.inv: _invertible,
    np.linalg.det: shaped(_squares),
    np.linalg.solve: _equations,
    np.linalg.cholesky: _definite,
    np.unwrap: ranked(1),
    np.diff: ranked(1),
    np.lib.stride_tricks.sliding_window_view: ranked(1, 3),
    np.fft.fftn: ranked(2, 3),
    np.matmul: shaped(_matrices),
    np.dot: shaped(_dotted),
    np.kron: shaped(lambda draw: [draw.shape(0, 3), draw.shape(0, 2)]),
    np.stack: shaped(_several, as_list),
    np.block: _block,
    np.piecewise: _piecewise,
    np.compress: _masked,
    np.extract: _extracted,
    np.repeat: _repeated,
    np.searchsorted: _among_sorted,
    np.digitize: _binned,
    np.floor_divide: _divided,
    np.remainder: _divided,
    np.fmod: _divided,
    np.divmod: _divided,
    np.broadcast_arrays: elementwise(3),
    np.pad: ranked(0, 3),
    np.diag: ranked(1, 2),
    np.diagonal: ranked(2),
    np.transpose: ranked(0, 3),
}
"""Functions whose arguments no kind describes."""

PARAMETERS: dict[Any, list[dict[str, Any]]] = {
    np.sum: [{}, {"axis": 0, "initial": 1.5}],
    np.prod: [{}, {"axis": -1, "initial": 1.5}],
    np.max: [{}, {"axis": 0, "initial": 0.25}],
    np.min: [{}, {"axis": 0, "initial": 0.25}],
    np.var: [{}, {"axis": 0, "correction": 1}],
    np.average: [{}, {"axis": 0, "returned": True}],
    np.quantile: [{"q": 0.3, "method": "weibull"}, {"q": 0.4, "method": "inverted_cdf", "axis": 0}],
    np.nanquantile: [{"q": 0.3, "method": "hazen"}],
    np.percentile: [{"q": 40.0, "method": "averaged_inverted_cdf"}],
    np.take: [{"indices": [5, -7], "mode": "clip"}, {"indices": [5, -7], "mode": "wrap", "axis": 0}],
    np.linspace: [{"num": 4, "retstep": True}],
    np.nansum: [{}, {"axis": 0, "initial": 1.5}],
    np.broadcast_to: [{"shape": (2, 2)}, {"shape": (3, 2, 2)}],
    np.round: [{}, {"decimals": -1}],
    np.transpose: [{"axes": (1, 2, 0)}],
    np.repeat: [{}, {"axis": None}],
    np.pad: [{"pad_width": ((0, 0), (1, 2))}],
    np.diff: [{}, {"n": 2, "axis": 0}],
}
"""Parameters to try that no sample has."""

SPECIAL = dict.fromkeys(
    ("isnan", "isinf", "isfinite", "isposinf", "isneginf", "isclose", "nan_to_num", "signbit"), "specials"
)
"""Functions that are about values which are no numbers."""
