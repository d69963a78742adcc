"""LLVM's text becomes a function that ctypes calls, for each kind of processor that this machine can be."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from symbolic.backends.native.host import AVX2, AVX512, SSE2, Host
from symbolic.backends.native.text import Function, Module, Value

PROCESSORS = {
    "sse2": (SSE2, ["sse2"]),
    "avx2": (AVX2, ["avx2", "fma"]),
    "avx512": (AVX512, ["avx512f", "avx512vl", "avx512dq", "avx512bw"]),
}
"""Levels that code is written for, and what must be there."""


def processor(name: str) -> Host:
    """One that this machine can run, else the test is skipped."""
    llvm = pytest.importorskip("llvmlite.binding", reason="the native machine needs llvmlite")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    found, needed = PROCESSORS[name]
    features = llvm.get_host_cpu_features()
    missing = [one for one in needed if not features.get(one)]
    if missing:
        pytest.skip(f"this processor has no {', '.join(missing)}")
    return found


def compiled(module: Module, name: str, host: Any, *kinds: Any) -> Any:
    """A function of a module, to be called by ctypes."""
    import llvmlite.binding as llvm

    machine = llvm.Target.from_default_triple().create_target_machine(cpu=host.cpu, features="", opt=1, jit=True)
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.run(parsed, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1)))
    engine = llvm.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    function = ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address(name))
    function.engine = engine  # type: ignore[attr-defined]  # it lives as long as what it compiled
    return function


def workspace(size: int) -> tuple[int, Any]:
    """The address of as many bytes, aligned; and whether what lies behind them is as it was."""
    room = np.full(size + 192, 0xA5, np.uint8)
    start = -room.ctypes.data % 64
    return room.ctypes.data + start, lambda: (room[start + size :] == 0xA5).all()


def element(dtype: Any) -> str:
    return {4: "float", 8: "double"}[np.dtype(dtype).itemsize]


def steps(x: Any) -> Any:
    """Strides in entries."""
    return tuple(int(one) // x.itemsize for one in x.strides)


def read(f: Function, at: Value, mask: Value | None, model: Value) -> Value:
    """A vector like another, or the lanes of it that exist."""
    if mask is None:
        return f.load(at, model.element, model.lanes)
    return f.load_some(at, mask, model.element, model.lanes, f.like(model, 0.0))
