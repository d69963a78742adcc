"""Does native code keep within the arrays that it is given? Theirs end where memory does that nobody may touch."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiling import PROCESSORS, processor

from symbolic import symbolic

if sys.platform == "win32":
    pytest.skip("its pages are guarded by other calls", allow_module_level=True)

WALKS: dict[str, Callable[[Any], Any]] = {
    "in order": lambda x: np.exp(x),
    "last column": lambda x: np.exp(x[:, -1]),
    "every other entry": lambda x: np.exp(x[:, 1::2]),
    "columns": lambda x: np.exp(x.T),
    "backwards": lambda x: np.exp(x[::-1, ::-1]),
    "diagonal": lambda x: np.exp(np.diagonal(x)),
    "a matrix and its columns": lambda x: x[: min(x.shape), : min(x.shape)] + x[: min(x.shape), : min(x.shape)].T,
    "sums of columns": lambda x: np.sum(x, axis=0),
    "greatest of every other": lambda x: np.max(x[:, 1::2], axis=1),
    "product": lambda x: x @ x.T,
    "product the other way": lambda x: x.T @ x,
    "rows times a vector": lambda x: x @ x[-1],
    "column times column": lambda x: x[:, -1] @ x[:, -1],
}
PARTS: dict[str, Callable[[Any], Any]] = {
    "in order": lambda x: x,
    "of every other entry": lambda x: x[:, 1::2],
    "of columns": lambda x: x.T,
    "backwards": lambda x: x[::-1, ::-1],
}


def functions(part: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: np.tanh(np.exp(part(x))) + np.log(np.abs(part(x)) + 1)


def sums(part: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: np.sum(np.tanh(np.exp(part(x))), axis=0)


WALKS |= {f"functions {name}": functions(part) for name, part in PARTS.items()}
WALKS |= {f"sums of functions {name}": sums(part) for name, part in PARTS.items()}
NAMED: dict[str, Callable[[Any, Any], Any]] = {
    "rows by number": lambda x, n: np.exp(x[n]),
    "functions of rows by number": lambda x, n: np.tanh(np.exp(x[n])),
    "functions of columns by number": lambda x, n: np.tanh(np.exp(x[:, n])),
    "columns by number": lambda x, n: np.exp(x[:, n]),
    "entries by number": lambda x, n: np.exp(x[n, n]),
    "along rows": lambda x, n: np.exp(np.take_along_axis(x, n[np.newaxis], axis=0)),
    "of which some are out of bounds": lambda x, n: np.exp(x[n * (1 << 40)]),
}
SHAPES = [(1, 3), (3, 2), (7, 4), (5, 9), (15, 2), (4, 17), (31, 6), (1, 61)]


def at_the_end(x: Any) -> Any:
    """A copy whose last byte is the last one that may be read, and whose first is the first."""
    page = mmap.PAGESIZE
    room = -(-x.nbytes // page) * page
    memory = mmap.mmap(-1, room + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(start + room, page, 0) == 0, os.strerror(ctypes.get_errno())
    found = np.frombuffer(memory, x.dtype, x.size, room - x.nbytes).reshape(x.shape)
    found[...] = x
    return found


def main(level: str) -> None:
    """In a process of its own: touching what may not be touched ends it."""
    from symbolic.backends.native.machine import Native

    rng = np.random.default_rng(5)
    for name, walk in WALKS.items():
        for shape in SHAPES:
            for dtype in (np.float64, np.float32):
                plain = rng.normal(size=shape).astype(dtype)
                x = at_the_end(plain)
                print(level, name, shape, x.dtype, flush=True)  # the last line says where it was
                net: Any = symbolic(walk, np.ndarray, returns=np.ndarray)
                found = Native(net.program(x), on=PROCESSORS[level][0]).run([x])
                assert found is not None
                assert np.allclose(found[0], walk(plain), rtol=1e-5, atol=1e-5)
    for name, named in NAMED.items():
        for shape in SHAPES:
            plain = rng.normal(size=shape)
            numbers = rng.integers(-min(shape), min(shape), shape[1] if name == "along rows" else 11)
            x, n = at_the_end(plain), at_the_end(numbers)
            print(level, name, shape, flush=True)
            layer: Any = symbolic(named, np.ndarray, np.ndarray, returns=np.ndarray)
            if "out of bounds" in name and numbers.any():
                with pytest.raises(IndexError):
                    Native(layer.program(x, n), on=PROCESSORS[level][0]).run([x, n])
                continue
            found = Native(layer.program(x, n), on=PROCESSORS[level][0]).run([x, n])
            assert found is not None
            assert np.allclose(found[0], named(plain, numbers))


@pytest.mark.parametrize("level", PROCESSORS)
def test_nothing_is_read_beyond_the_end_of_an_array(level: str) -> None:
    processor(level)
    run = subprocess.run([sys.executable, __file__, level], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, f"{run.stdout.splitlines()[-1:]} {run.stderr[-2000:]}"


if __name__ == "__main__":
    main(sys.argv[1])
