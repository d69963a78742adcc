"""What does `np.vectorize` mean for traced values? The function is called for each entry, the results are joined."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from symbolic.callees import FUNCTION, MAKING
from symbolic.context import here
from symbolic.layer import unsupported
from symbolic.ops.making import array, is_traced


class Vectorized:
    """`np.vectorize(f)`, of traced arrays too."""

    plain: np.vectorize
    waiting: bool

    def __init__(
        self,
        pyfunc: Any = np._NoValue,
        otypes: Any = None,
        doc: Any = None,
        excluded: Any = None,
        cache: bool = False,
        signature: Any = None,
    ) -> None:
        self.plain = np.vectorize(pyfunc, otypes, doc, excluded, cache, signature)
        self.waiting = pyfunc is np._NoValue  # used as a decorator with arguments

    @classmethod
    def of(cls, plain: Any) -> Vectorized:
        self = cls.__new__(cls)
        self.plain, self.waiting = plain, False
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.waiting:
            plain = self.plain
            return Vectorized(args[0], plain.otypes, None, plain.excluded, plain.cache, plain.signature)
        if here.trace is None or not any(map(is_traced, (*args, *kwargs.values()))):
            return self.plain(*args, **kwargs)
        if self.plain.signature is not None:
            raise unsupported("np.vectorize with signature=", "loop over the leading axes and join with np.stack")
        return self._over(args, kwargs)

    def _over(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function at every place of the broadcast arguments; excluded ones are handed on whole."""
        apart = self.plain.excluded
        spread = {k: array(one, copy=None) for k, one in enumerate(args) if k not in apart}
        named = {name: array(one, copy=None) for name, one in kwargs.items() if name not in apart}
        every = np.broadcast_arrays(*spread.values(), *named.values())
        shape = tuple(np.shape(every[0]))
        rows = dict(zip([*spread, *named], every, strict=True))
        results = [self._at(place, rows, args, kwargs) for place in itertools.product(*[range(size) for size in shape])]
        if not results:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        if isinstance(results[0], tuple):
            return tuple([self._joined(list(column), shape, k) for k, column in enumerate(zip(*results, strict=True))])
        return self._joined(results, shape, 0)

    def _at(self, place: tuple[int, ...], rows: dict[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        placed = [rows[k][place] if k in rows else one for k, one in enumerate(args)]
        named = {name: rows[name][place] if name in rows else one for name, one in kwargs.items()}
        return FUNCTION[0](self.plain.pyfunc)(*placed, **named)

    def _joined(self, results: list[Any], shape: tuple[int, ...], k: int) -> Any:
        """In the dtype of the first result, as NumPy has it."""
        first = array(results[0]) if is_traced(results[0]) else np.asarray(results[0])
        otypes = self.plain.otypes
        dtype = np.dtype(otypes[k]) if otypes else first.dtype
        return array([*results], dtype).reshape(shape)


MAKING[np.vectorize] = Vectorized
