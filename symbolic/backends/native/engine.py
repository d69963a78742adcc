"""How does a text of LLVM become code that runs? Compiled once, kept on disk, and copied into memory.

`llvmlite` is imported where something is compiled, not where it was compiled before. LLVM works for one thread at a
time, without Python's own lock.
"""

from __future__ import annotations

import ctypes
import marshal
import mmap
import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from itertools import count
from typing import Any, NamedTuple

from symbolic.backends import pool
from symbolic.backends.native import store
from symbolic.backends.native.host import Host, host
from symbolic.errors import SymbolicError
from symbolic.forking import rlock
from symbolic.installation import spec_of
from symbolic.midway import AT_WORK, Release, breathe, cut, held, left

__all__ = ["Library", "load", "noted", "object_code", "recalled", "there"]

_OUR_FAULT = 'this is a fault of symbolic: report it, and call symbolic.use("numpy") meanwhile'
_NUMBERS = count()
_READ, _RUN = 1, 4  # PROT_READ and PROT_EXEC, which `mmap` has not everywhere


class Library:
    """Code in memory, for as long as somebody holds this."""

    notes: Any
    """What was said of the code when it was kept."""

    def __init__(self, addresses: Mapping[str, int], keeping: Any, notes: Any = None) -> None:
        self._addresses, self._keeping, self.notes = addresses, keeping, notes

    def address(self, name: str) -> int:
        """Where a function begins.

        Raises:
            KeyError: there is none of that name.
        """
        return self._addresses[name]

    def names(self) -> list[str]:
        return list(self._addresses)


@cache
def there() -> bool:
    """Whether `llvmlite` is installed, which is not imported for that."""
    return spec_of("llvmlite") is not None


def load(text: str | Callable[[], str], on: Host | None = None, key: str = "", notes: Any = None) -> Library:
    """The functions of a module, ready to be called; for this processor unless another is given.

    With a `key`, which says of what the text is made, the text is only written where no code is kept under that.
    `notes` are kept with it, for `recalled`: numbers, texts, bytes, and lists, tuples and dictionaries of these.

    Raises:
        SymbolicError: LLVM does not take the text, or this system gives no memory that may be run.
        ImportError: `llvmlite` is not installed.

    Example:
        >>> library = load("define double @twice(double %x) {\\n  %y = fadd double %x, %x\\n  ret double %y\\n}\\n")
        >>> ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(library.address("twice"))(21.0)
        42.0
    """
    with AT_WORK:
        found = recalled(key or text, on)  # type: ignore[arg-type]  # a text, without a key
        if found is not None:
            return found
        on = on or host()
        ready = _ready(text if isinstance(text, str) else text(), on)
        store.put(store.key_of(key or text, on), _packed(ready, notes))  # type: ignore[arg-type]  # a text, without one
        return _loaded(ready, notes)


def noted(write: Callable[[], tuple[str, Any]], on: Host | None, key: str) -> Library:
    """Code with its notes: recalled, or else of the text and the notes that `write` gives. An empty key is none."""
    found = recalled(key, on) if key else None
    if found is None:
        text, notes = write()
        found = load(text, on, key, notes)
        found.notes = found.notes if key else notes  # the same text may go with other names
    return found


def recalled(key: str, on: Host | None = None) -> Library | None:
    """What was loaded with this key, in this process or before; None if it is not kept."""
    known = store.get(store.key_of(key, on or host()))
    if known is None:
        return None
    return _loaded(*_read(known))


def _packed(ready: Image | Object, notes: Any) -> bytes:
    return marshal.dumps((type(ready).__name__, *ready, notes), 4)


def _read(known: bytes) -> tuple[Image | Object, Any]:
    kind, *parts, notes = marshal.loads(known)
    return (Image if kind == "Image" else Object)(*parts), notes


def _loaded(ready: Image | Object, notes: Any) -> Library:
    library = _placed(ready) if isinstance(ready, Image) else _linked(ready)
    library.notes = notes
    return library


def _ready(text: str, on: Host) -> Image | Object:
    from symbolic.backends.native.images import image_of

    compiled = object_code(text, on)
    return image_of(compiled.code) or compiled


# ---------------------------------------------------------------------- from text to object code
class Image(NamedTuple):
    """What is copied into memory and run, without LLVM: see `images`."""

    code: bytes
    symbols: dict[str, int]
    """Where each function begins that others may call."""
    own: list[tuple[int, int]]
    """Where an address within the image is to be written, and which: both from its beginning."""
    others: list[tuple[int, str]]
    """Where the address of a function of the C library is to be written, and its name."""


class Object(NamedTuple):
    """An object file, and the functions in it that others may call."""

    code: bytes
    names: list[str]


def object_code(text: str, on: Host) -> Object:
    """What LLVM makes of a module, in the format of the operating system; for any processor, not only this one."""
    with AT_WORK:
        binding = _llvm()
        machine = _machine(on)
        with binding.create_context() as context, _parsed(text, context) as module:
            breathe()
            _improve(module, machine, "alwaysinline" in text)
            breathe()
            names = [one.name for one in module.functions if not one.is_declaration and one.linkage.name == "external"]
            return Object(machine.emit_object(module), names)


def _parsed(text: str, context: Any) -> Any:
    module = None
    try:
        module = _llvm().parse_assembly(text, context)
        module.verify()
    except RuntimeError as error:
        if module is not None:
            module.close()  # while its context is there: a traceback keeps it for longer
        raise SymbolicError(
            f"LLVM does not take a module: {error}", where="the native machine", remedy=_OUR_FAULT
        ) from error
    return module


def _improve(module: Any, machine: Any, inline: bool) -> None:
    """Variables become registers. Other passes cost more time than they were measured to save."""
    binding = _llvm()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=1))
    passes = binding.create_new_module_pass_manager()
    if inline:
        passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.run(module, builder)


@cache
def _machine(on: Host) -> Any:
    """What writes code for a processor. Code and constants lie side by side, so that they reach each other by offsets;
    Windows' loader does not promise that.
    """
    triple = _triple(on)
    if triple != _llvm().get_process_triple():
        _all_processors()
    near = "windows" not in triple
    return (
        _llvm()
        .Target.from_triple(triple)
        .create_target_machine(
            on.cpu, on.features, 2, "pic" if near else "default", "small" if near else "jitdefault", jit=not near
        )
    )


def _triple(on: Host) -> str:
    own: str = _llvm().get_process_triple()
    kind, _, rest = own.partition("-")
    same = kind == on.machine or {kind, on.machine} == {"arm64", "aarch64"}
    return own if same else f"{on.machine}-{rest}"


_STARTING = rlock()


def _llvm() -> Any:
    """LLVM, ready."""
    if cut():
        raise SymbolicError(cut(), where="the native machine", remedy="fork while nothing is compiled, or spawn")
    return _started()


@cache
def _started() -> Any:
    with AT_WORK, _STARTING:
        large = pool.is_used()
        pool.give_back()
        from llvmlite import binding

        binding.initialize_native_target()  # all of them would be ten megabytes more
        binding.initialize_native_asmprinter()
        if large:
            from symbolic.backends.native.sparing import let_go

            let_go()  # what was needed to load it is not what it needs to work
        return binding


@cache
def _all_processors() -> None:
    with AT_WORK, _STARTING:
        _llvm().initialize_all_targets()
        _llvm().initialize_all_asmprinters()


def _hold() -> Release | None:
    """What a fork holds: a child would find it held by nobody. llvmlite's own lock has no public name."""
    binding = sys.modules.get("llvmlite.binding")
    of_llvm = getattr(getattr(getattr(binding, "ffi", None), "lib", None), "_lock", None)
    inner = getattr(of_llvm, "_lock", None)
    if inner is None:
        return _nothing
    return inner.release if inner.acquire(timeout=left()) else None


def _nothing() -> None:
    """Where LLVM is not loaded there is nothing to be let go."""


held(_hold)


# ---------------------------------------------------------------------- from code to memory
def _placed(image: Image) -> Library:
    """The image in memory of its own: written first, then made to run, never both at once."""
    memory = mmap.mmap(-1, max(len(image.code), 1))
    memory.write(image.code)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for at, target in image.own:
        memory[at : at + 8] = (start + target).to_bytes(8, "little")
    for at, name in image.others:
        memory[at : at + 8] = _of_c(name).to_bytes(8, "little")
    _make_runnable(start, len(memory))
    return Library({name: start + at for name, at in image.symbols.items()}, memory)


def _make_runnable(start: int, size: int) -> None:
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if protect(start, size, _READ | _RUN):
        raise SymbolicError(
            f"this system gives no memory that may be run: {os.strerror(ctypes.get_errno())}",
            where="the native machine",
            remedy='call symbolic.use("numpy")',
        )


def _of_c(name: str) -> int:
    """Where a function of the C library begins."""
    try:
        return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value or 0
    except AttributeError:
        raise SymbolicError(
            f"the C library has no function {name!r}, which a module calls",
            where="the native machine",
            remedy=_OUR_FAULT,
        ) from None


def _linked(compiled: Object) -> Library:
    """The object, put into memory by LLVM."""
    builder = _llvm().JITLibraryBuilder().add_object_img(compiled.code).add_current_process()
    for name in compiled.names:
        builder.export_symbol(name)
    try:
        tracker = builder.link(_linker(), f"library{next(_NUMBERS)}")
    except RuntimeError as error:
        raise SymbolicError(
            f"LLVM does not load a module: {error}", where="the native machine", remedy=_OUR_FAULT
        ) from error
    return Library({name: tracker[name] for name in compiled.names}, tracker)


@cache
def _linker() -> Any:
    near = sys.platform != "win32"  # LLVM's newer linker, which keeps a library together; it is young on Windows
    machine = _llvm().Target.from_default_triple().create_target_machine(jit=True)
    return _llvm().create_lljit_compiler(machine, use_jit_link=near)
