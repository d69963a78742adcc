"""What can this processor do at best? Measured like every other contestant, in the same rounds.

Each limit does the least that a workload needs: so many multiply-adds from registers, so many bytes through memory,
one call of a function of C. A workload that is close to its limit cannot be much faster, whoever writes it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np

from benchmarks.workload import Build, Inputs, Results, library

_ROUNDS = 64
"""Multiply-adds of each chain between two looks at the counter."""
_CHAINS = 16
"""Independent ones: latency (4) times ports (2), and as many again."""


class Least:
    """A contestant that computes nothing of use: `once` takes as long as the limit says."""

    def __init__(self, once: Callable[[], object]) -> None:
        self.once = once

    def loop(self, n: int) -> None:
        once = self.once
        for _ in repeat(None, n):
            once()

    def results(self) -> Results:
        return {}


class Call:
    """One call of a function of C that does nothing, as Python makes it: no workload with a call a step is faster."""

    def loop(self, n: int) -> None:
        f, x = callable, 1.0
        for _ in repeat(None, n):
            f(x)

    def results(self) -> Results:
        return {}


def call() -> Build:
    return lambda inputs: Call()


def flops(count: Callable[[Inputs], float]) -> Build:
    """So many floating-point operations in float32, all of them multiply-adds (two each), on one core."""

    def build(inputs: Inputs) -> Least:
        work = count(inputs)
        try:
            fma, lanes = multiply_adds()
        except ImportError:
            return Least(_products(work))
        loops = max(1, round(work / (2 * lanes * _CHAINS * _ROUNDS)))
        return Least(lambda: fma(loops))

    return build


def traffic(count: Callable[[Inputs], float]) -> Build:
    """So many bytes read and written, as a copy of long arrays does it."""

    def build(inputs: Inputs) -> Least:
        size = max(1, int(count(inputs) / 2 / 8))
        source, target = np.ones(size), np.zeros(size)
        return Least(lambda: np.copyto(target, source))

    return build


def _products(work: float) -> Callable[[], object]:
    """Without LLVM: BLAS's matrix product, scaled by whole products of 256 × 256, which is a little below the limit."""
    size = 256
    left, right = np.ones((size, size), np.float32), np.ones((size, size), np.float32)
    out, times = np.empty((size, size), np.float32), max(1, round(work / (2 * size**3)))

    def once() -> None:
        for _ in range(times):
            np.matmul(left, right, out=out)

    return once


_TEXT = """
declare <{lanes} x float> @llvm.fma.v{lanes}f32(<{lanes} x float>, <{lanes} x float>, <{lanes} x float>)
define float @chains(i64 %n) {{
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
{phis}
{steps}
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
{sums}
  %first = extractelement <{lanes} x float> {total}, i32 0
  ret float %first
}}
"""


def _text(lanes: int) -> str:
    kind, half = f"<{lanes} x float>", f"<{lanes} x float> splat (float 5.000000e-01)"
    fma = f"call {kind} @llvm.fma.v{lanes}f32({kind} %v{{}}, {half}, {half})"
    phis, steps, sums, last = [], [], [], 0
    for k in range(_CHAINS):
        phis.append(f"  %p{k} = phi {kind} [ splat (float {k}.0), %start ], [ %v{k}.{_ROUNDS}, %loop ]")
    for r in range(_ROUNDS):
        for k in range(_CHAINS):
            operand = f"p{k}" if r == 0 else f"v{k}.{r}"
            steps.append(f"  %v{k}.{r + 1} = {fma.format('').replace('%v,', f'%{operand},')}")
    sums.append(f"  %s0 = fadd {kind} %v0.{_ROUNDS}, %v1.{_ROUNDS}")
    for k in range(2, _CHAINS):
        sums.append(f"  %s{k - 1} = fadd {kind} %s{k - 2}, %v{k}.{_ROUNDS}")
        last = k - 1
    return _TEXT.format(
        lanes=lanes, phis="\n".join(phis), steps="\n".join(steps), sums="\n".join(sums), total=f"%s{last}"
    )


def multiply_adds() -> tuple[Callable[[int], float], int]:
    """A function that runs the chains n times, and the lanes of a vector. ImportError without llvmlite."""
    binding = library("llvmlite.binding")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features()
    lanes = 16 if features.get("avx512f") else 8 if features.get("avx2") else 4
    flat = features.flatten() + (",-prefer-256-bit" if lanes == 16 else "")
    target = binding.Target.from_default_triple()
    machine = target.create_target_machine(cpu=binding.get_host_cpu_name(), features=flat, opt=2)
    module = binding.parse_assembly(_text(lanes))
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    function: Any = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_int64)(engine.get_function_address("chains"))
    function.kept = engine

    def run(n: int) -> float:
        return float(function(n))

    return run, lanes
