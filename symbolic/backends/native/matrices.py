"""Is a sum of products a product of matrices? Then `gemm` writes it, in one go or for a row of them."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

from symbolic.backends.native.access import Sizes, in_order, joined
from symbolic.backends.native.blas import better, multiply, routine
from symbolic.backends.native.gemm import Batch, Strides, product, workspace_bytes
from symbolic.backends.native.host import Host
from symbolic.backends.native.lowering import Contract, DType
from symbolic.backends.native.pointwise import element
from symbolic.backends.native.text import Function, Module, Value


class Matrices(NamedTuple):
    """C[b, m, n] = Σ_k A[b, m, k] · B[b, k, n]: the sizes, and the strides of each operand and of the result."""

    dtype: DType
    sizes: tuple[int, int, int]
    a: Strides
    b: Strides
    c: Strides
    batch: Batch | None
    start: int | None = None  # how far apart the rows lie of what the sums are added to

    calls: bool = False  # whether the BLAS does it

    @property
    def kind(self) -> str:
        return element(self.dtype)

    def by(self, host: Host) -> Matrices:
        """The same by the BLAS, where that is there and was measured to be ahead."""
        name = "dgemm" if self.kind == "double" else "sgemm"
        alone = self.batch is None and self.start is None and self.c.column == 1
        lie = all(1 in (side.row, side.column) for side in (self.a, self.b))
        if not alone or not lie or better(*self.sizes, self.kind, host) or routine(name) is None:
            return self
        return self._replace(calls=True)

    @property
    def workspace(self) -> int:
        """Bytes that it needs beside its operands."""
        return workspace_bytes(*self.sizes, element(self.dtype))

    def write(self, module: Module, name: str, host: Host) -> Function:
        """A function of the addresses of A, B, C and the workspace."""
        if self.calls:
            return self._called(module, name)
        return product(
            module,
            name,
            element(self.dtype),
            host,
            sizes=self.sizes,
            a=self.a,
            b=self.b,
            c=self.c,
            batch=self.batch,
            epilogue=None if self.start is None else self._added,
            extra=() if self.start is None else ("ptr",),
            private=True,
        )

    def _called(self, module: Module, name: str) -> Function:
        """A call of the BLAS, whose address the last argument points to."""
        f = module.function(name, ["ptr"] * 5, private=True)
        a, b, c, _, place = f.arguments
        m, n, k = map(f.index, self.sizes)
        left, right = ((one, side.row or 1, side.column or 1) for one, side in ((a, self.a), (b, self.b)))
        pointer = f.load(place, "ptr")
        done = multiply(f, pointer, self.kind, (m, n, k), left, right, (c, self.c.row or 1))
        assert done
        f.give()
        return f

    def _added(self, f: Function, sums: Value, row: Value, column: Value, mask: Value | None) -> None:
        """The sums and what stands in the last argument, into the result."""
        kind = sums.element

        def place(start: Value, stride: int | None) -> Value:
            assert stride is not None
            return f.at(f.at(start, f.mul(row, f.index(stride)), kind), column, kind)

        begun, out = place(f.arguments[-1], self.start), place(f.arguments[2], self.c.row)
        if mask is None:
            f.store(f.add(f.load(begun, kind, sums.lanes), sums), out)
        else:
            f.store_some(f.add(f.load_some(begun, mask, kind, sums.lanes, f.like(sums, 0)), sums), out, mask)


def matrices(task: Contract) -> Matrices | None:
    """A contraction as matrices; `None` where an operand's entries do not lie so."""
    if task.region is not None:
        return None
    left, right, *begun = task.operands
    return _found(task.dtype, task.domain, task.axes, left.strides, right.strides, *[one[1:3] for one in begun])


@lru_cache(maxsize=1024)  # long programs have the same contraction a thousand times
def _found(
    dtype: DType, domain: Sizes, axes: Sizes, left: Sizes, right: Sizes, *begun: tuple[Sizes, Sizes]
) -> Matrices | None:
    free = [k for k, size in enumerate(domain) if k not in axes and size != 1]
    summed = [k for k in axes if domain[k] != 1]
    kept = [k for k in range(len(domain)) if k not in axes]
    out = dict(zip(kept, in_order([domain[k] for k in kept]), strict=True))
    rows = [k for k in free if right[k] == 0 and left[k] != 0]
    columns = [k for k in free if left[k] == 0 and right[k] != 0]
    both = [k for k in free if left[k] != 0 and right[k] != 0]
    if not rows or not columns or len(rows) + len(columns) + len(both) != len(free):
        return None

    def stride(strides: Sizes | dict[int, int], axes: list[int]) -> int | None:
        return joined(tuple([domain[k] for k in axes]), tuple([strides[k] for k in axes]))

    pairs = [stride(left, rows), stride(left, summed), stride(right, summed), stride(right, columns)]
    pairs += [stride(out, rows), stride(out, columns)]
    if None in pairs:
        return None
    batch = None
    if both:
        steps = [stride(one, both) for one in (left, right, out)]
        if None in steps:
            return None
        batch = Batch(prod(domain[k] for k in both), *steps)
    start = None
    for shape, strides in begun:
        apart = dict(enumerate([step if size != 1 else 0 for size, step in zip(shape, strides, strict=True)]))
        places = stride(apart, rows), stride(apart, columns)
        if batch is not None or places[0] is None or places[1] != 1 or pairs[5] != 1:
            return None
        start = places[0]
    found = tuple([prod(domain[k] for k in axes) for axes in (rows, columns, summed)])
    return Matrices(dtype, found, Strides(*pairs[:2]), Strides(*pairs[2:4]), Strides(*pairs[4:]), batch, start)  # type: ignore[arg-type]  # three
