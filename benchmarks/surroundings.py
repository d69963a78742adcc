"""In which surroundings does a process run that is measured: which variables, cores, threads, caches?"""

from __future__ import annotations

import os
import platform
import sys
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")
"""Set on some machines, and no part of what is asked: the first two make a current NumPy slow, and an installed library
is compiled to bytecode."""
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS")
LIBRARIES = {
    "symbolic": "symbolic-layers",
    "jax": "jax",
    "torch": "torch",
    "pytensor": "pytensor",
    "autograd": "autograd",
    "mygrad": "mygrad",
    "numpy": "numpy",
}
"""What can be measured: the import name of each, and the name of its distribution."""


def clean() -> dict[str, str]:
    """The environment without what slows everybody down."""
    return {name: value for name, value in os.environ.items() if name not in SLOWING}


def of_contestant(name: str, threads: int, caches: Path) -> dict[str, str]:
    """The environment of one contestant's process: so many threads, and caches in a folder of its own."""
    environment = {**clean(), **dict.fromkeys(POOLS, str(threads))}
    environment |= {
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "0",
        "SYMBOLIC_CACHE_DIR": str(caches / "symbolic"),
        "SYMBOLIC_MACHINE": name.split()[1] if name.startswith("symbolic ") else "auto",
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "1",
        "JAX_COMPILATION_CACHE_DIR": str(caches / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "PYTENSOR_FLAGS": f"base_compiledir={caches / 'pytensor'},{_pytensor_mode(name)}cxxflags=-O3 -march=native",
        "NUMBA_CACHE_DIR": str(caches / "numba"),
        "TORCHINDUCTOR_CACHE_DIR": str(caches / "torch"),
        "TRITON_CACHE_DIR": str(caches / "triton"),
    }
    if threads == 1:
        environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    return environment


def _pytensor_mode(name: str) -> str:
    """`pytensor` runs by its own choice (numba), `pytensor c` by its older machine, whose calls cost less."""
    return "linker=cvm," if name == "pytensor c" else ""


def pin(threads: int) -> None:
    """Keep this process on so many cores, where the system lets us."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def versions() -> dict[str, str]:
    """The distributions that are installed, out of those that take part."""
    found = {}
    for distribution in (*LIBRARIES.values(), "scipy", "llvmlite", "numba", "jaxlib"):
        try:
            found[distribution] = version(distribution)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """What ran: processor, cores, caches, memory, system, versions, and which kernels BLAS has chosen."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": _memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions(),
        "blas": blas(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "unset": [name for name in SLOWING if name in os.environ],
        "executable": f"{sys.implementation.name} {sys.version.split()[0]}",
        "code": code(),
    }


def code() -> str:
    """Which state of the library and of the workloads is measured: a digest of their sources."""
    digest = sha256()
    for path in sorted([*(ROOT / "symbolic").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    named = dict(line.split(":", 1) for line in lines if ":" in line)
    fields = {key.strip(): value.strip() for key, value in named.items()}
    vectors = [one for one in ("avx512f", "avx2") if one in fields.get("flags", "").split()]
    return f"{fields.get('model name', platform.processor())} ({vectors[0] if vectors else 'sse2'})"


def _memory() -> float | None:
    try:
        pages: int = os.sysconf("SC_PHYS_PAGES")
        return round(pages * os.sysconf("SC_PAGE_SIZE") / 2.0**30, 1)
    except (AttributeError, ValueError, OSError):
        return None


def blas() -> list[str]:
    """Library, version and kernel of each BLAS that this process has loaded; NumPy's, if only it is imported."""
    try:
        pools: Any = import_module("threadpoolctl")
    except ImportError:
        return ["unknown: threadpoolctl is not installed"]
    import_module("numpy")
    infos = [one for one in pools.threadpool_info() if one["user_api"] == "blas"]
    return [f"{one['internal_api']} {one['version']}, kernel {one.get('architecture', 'unknown')}" for one in infos]
