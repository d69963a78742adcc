"""Does code do what its text says, on every level of processor, however it is loaded?"""

import ctypes
import gc
import os
import platform
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which
from typing import Any

import pytest

pytest.importorskip("llvmlite", reason="the native machine needs llvmlite")

from symbolic.backends.native import engine, host, images, sparing
from symbolic.backends.native.engine import load, object_code
from symbolic.backends.native.text import Module
from symbolic.errors import SymbolicError

IS_IMAGED = sys.platform == "linux" and platform.machine() == "x86_64"
DOUBLE, LONG = ctypes.c_double, ctypes.c_int64
KINDS: dict[type, Any] = {float: DOUBLE, int: LONG}


def levels() -> list[str]:
    able = host._able(host._flags()) if IS_IMAGED else {"host": host.host()}
    return [name for name in able if name != "host"] or ["host"]


def call(address: int, result: Any, *given: Any) -> Any:
    kinds = [
        DOUBLE if isinstance(one, float) else ctypes.c_void_p if isinstance(one, ctypes.Array) else LONG
        for one in given
    ]
    return ctypes.CFUNCTYPE(result, *kinds)(address)(*given)


def axpy(lanes: int) -> str:
    """y = 1.5 x + y with vectors, and the sum of the results."""
    module = Module()
    f = module.function("axpy", ["ptr noalias", "ptr noalias", "i64"], "double", "nounwind")
    x, y, size = f.arguments
    total = f.variable(f.constant("double", 0.0, lanes))
    with f.loop(f.index(0), size, max(lanes, 1)) as i:
        now = f.muladd(
            f.load(f.at(x, i, "double"), "double", lanes),
            f.constant("double", 1.5, lanes),
            f.load(f.at(y, i, "double"), "double", lanes),
        )
        f.store(now, f.at(y, i, "double"))
        f.put(f.add(f.get(total, "double", lanes), now), total)
    f.give(f.total(f.get(total, "double", lanes)))
    return str(module)


@pytest.mark.parametrize("level", levels())
@pytest.mark.parametrize("lanes", [0, 2, 4, 8, 16])
def test_every_level_computes_the_same(level: str, lanes: int) -> None:
    on = host.chosen(level, platform.machine().lower())
    library = load(axpy(lanes), on)
    x, y = (DOUBLE * 32)(*range(32)), (DOUBLE * 32)(*[k / 4 for k in range(32)])
    expected = [1.5 * k + k / 4 for k in range(32)]  # exact in binary
    assert call(library.address("axpy"), DOUBLE, x, y, 32) == sum(expected)
    assert list(y) == expected


EVERYTHING = """
@functions = private constant [2 x ptr] [ptr @one, ptr @other]
@numbers = private unnamed_addr constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0], align 64
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define internal i64 @one(i64 %x) noinline { ret i64 %x }
define internal i64 @other(i64 %x) noinline { %y = call i64 @one(i64 %x) %z = mul i64 %y, 7 ret i64 %z }
define internal i64 @three(i64 %x) alwaysinline { %y = mul i64 %x, 3 ret i64 %y }
define i64 @through(i64 %which, i64 %x) {
  %place = getelementptr ptr, ptr @functions, i64 %which
  %f = load ptr, ptr %place
  %y = call i64 %f(i64 %x)
  ret i64 %y
}
define double @number(i64 %k) {
  %place = getelementptr double, ptr @numbers, i64 %k
  %x = load double, ptr %place
  %y = fadd double %x, 0.3
  ret double %y
}
define i64 @thrice(i64 %x) { %y = call i64 @three(i64 %x) ret i64 %y }
define double @remainder(double %x) { %y = frem double %x, 3.0 ret double %y }
define void @copied(ptr %to, ptr %from, i64 %size) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  ret void
}
define i64 @switched(i64 %k) {
  switch i64 %k, label %rest [ i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %d i64 4, label %e ]
a: ret i64 31
b: br label %c
c: %v = phi i64 [ 5, %0 ], [ 17, %b ] ret i64 %v
d: %w = call i64 @one(i64 %k) ret i64 %w
e: ret i64 99
rest: ret i64 -1
}
"""
"""Tables of functions and numbers, jump tables, calls within and of the C library, by what code needs to be moved."""


def loaded() -> list[engine.Library]:
    """The same object by every loader that there is."""
    compiled = object_code(EVERYTHING, host.host())
    ways = [engine._linked(compiled)]
    image = images.image_of(compiled.code)
    assert (image is not None) == IS_IMAGED
    if image is not None:
        assert engine._read(engine._packed(image, {"word": [(1, 2)]})) == (image, {"word": [(1, 2)]})
        ways += [engine._placed(image), engine._placed(image)]
    return ways


def test_every_loader_loads_everything() -> None:
    for library in loaded():
        assert [call(library.address("through"), LONG, k, 6) for k in range(2)] == [6, 42]
        assert [call(library.address("number"), DOUBLE, k) for k in range(4)] == [1.3, 2.3, 4.3, 8.3]
        assert call(library.address("thrice"), LONG, 5) == 15
        assert call(library.address("remainder"), DOUBLE, 7.5) == 1.5
        assert [call(library.address("switched"), LONG, k) for k in range(6)] == [31, 17, 5, 3, 99, -1]
        to, given = (LONG * 3)(), (LONG * 3)(7, 8, 9)
        call(library.address("copied"), None, to, given, 16)
        assert list(to) == [7, 8, 0]
        assert set(library.names()) == {"through", "number", "thrice", "remainder", "copied", "switched"}


def test_what_is_no_image_is_loaded_by_llvm() -> None:
    """A variable of the module's own, which an image has no place for."""
    text = "@count = internal global i64 40\ndefine i64 @next() { %a = load i64, ptr @count %b = add i64 %a, 1"
    text += " store i64 %b, ptr @count ret i64 %b }"
    assert images.image_of(object_code(text, host.host()).code) is None
    library = load(text)
    assert [call(library.address("next"), LONG) for _ in range(3)] == [41, 42, 43]


@pytest.mark.skipif(not IS_IMAGED, reason="objects of this system become no images")
def test_an_image_is_made_of_an_object_or_not_at_all() -> None:
    """Whatever an object is cut or changed to: an image, or none, and never an error."""
    code = object_code(EVERYTHING, host.host()).code
    assert images.image_of(b"") is images.image_of(b"\x7fELF") is images.image_of(code[:64]) is None
    for at in range(0, len(code), 7):
        images.image_of(code[:at])
        images.image_of(code[:at] + bytes([code[at] ^ 0xFF]) + code[at + 1 :])
    other = struct.pack("<H", 183)  # 64-bit Arm
    assert images.image_of(code[:18] + other + code[20:]) is None


def test_arm_is_written() -> None:
    code = object_code(axpy(2), host.ARM)
    assert code.names == ["axpy"]
    assert code.code[:4] != b"\x7fELF" or struct.unpack_from("<H", code.code, 18) == (183,)


@pytest.mark.skipif(
    not (IS_IMAGED and which("qemu-aarch64") and which("aarch64-linux-gnu-gcc")),
    reason="there is no emulator of 64-bit Arm (qemu-aarch64), or no linker for it (aarch64-linux-gnu-gcc)",
)
@pytest.mark.parametrize("lanes", [0, 2, 4])
def test_arm_computes_the_same(tmp_path: Path, lanes: int) -> None:
    (tmp_path / "code.o").write_bytes(object_code(axpy(lanes) + EVERYTHING, host.ARM).code)
    (tmp_path / "main.c").write_text("""
        #include <stdio.h>
        double axpy(double *x, double *y, long size), number(long k), remainder_(double) __asm__("remainder");
        long through(long which, long x), switched(long k);
        int main() {
            double x[32], y[32];
            for (int k = 0; k < 32; k++) { x[k] = k; y[k] = k / 4.0; }
            printf("%a ", axpy(x, y, 32));
            for (int k = 0; k < 32; k++) printf("%a ", y[k]);
            printf("%a %a %ld", number(3), remainder_(7.5), through(1, 6));
            for (int k = 0; k < 6; k++) printf(" %ld", switched(k));
        }
    """)
    subprocess.run(
        ["aarch64-linux-gnu-gcc", "-static", "-fno-builtin", "-o", "main", "main.c", "code.o", "-lm"],
        cwd=tmp_path,
        check=True,
    )
    run = subprocess.run(["qemu-aarch64", "main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    total, *found = run.stdout.split()
    y = [1.5 * k + k / 4 for k in range(32)]
    assert [float.fromhex(one) for one in (total, *found[:34])] == [sum(y), *y, 8.3, 1.5]
    assert [int(one) for one in found[34:]] == [42, 31, 17, 5, 3, 99, -1]


def test_a_library_lives_as_long_as_it_is_held() -> None:
    libraries = [load(axpy(2)) for _ in range(20)]
    addresses = {one.address("axpy") for one in libraries}
    assert len(addresses) == 20
    kept = libraries[7]
    del libraries
    gc.collect()
    x, y = (DOUBLE * 2)(1, 2), (DOUBLE * 2)(0, 0)
    assert call(kept.address("axpy"), DOUBLE, x, y, 2) == 4.5
    with pytest.raises(KeyError):
        kept.address("apxy")


@pytest.mark.parametrize(
    "text",
    ["define nonsense", "define i64 @f() { ret double 1.0 }", "define void @f() { %a = add i64 %b, 1 ret void }"],
)
def test_a_text_that_is_wrong_is_said(text: str) -> None:
    with pytest.raises(SymbolicError, match=r"(?s)LLVM does not take a module: .*, in the native machine; this"):
        load(text)


def test_a_text_that_reads_well_and_is_wrong_is_said() -> None:
    """LLVM's verifier refuses it after it was read; what was read goes before what it was read into."""
    text = "define i64 @f(i64 %x) {\n  %a = add i64 %b, 1\n  %b = add i64 %x, 1\n  ret i64 %a\n}\n"
    with pytest.raises(SymbolicError, match=r"(?s)LLVM does not take a module: .*dominate") as caught:
        load(text)
    del caught
    gc.collect()  # the module would be disposed of here, in a context that is no more: a crash


def test_a_function_that_nobody_has_is_said() -> None:
    """By its name; LLVM, where it loads what was compiled, names the function that needs it."""
    said = "nobody_has_this" if IS_IMAGED else r"materialize symbols: .*\bf\b"
    with pytest.raises(SymbolicError, match=said):
        load("declare void @nobody_has_this()\ndefine void @f() { call void @nobody_has_this() ret void }")


def test_variables_become_registers() -> None:
    """Down to the same bytes as where there was no variable, and what is to be inlined is gone."""
    body = "%s = alloca i64\n store i64 %x, ptr %s\n %y = load i64, ptr %s\n ret i64 %y"
    first, second = f"define i64 @f(i64 %x) {{ {body} }}", "define i64 @f(i64 %x) { ret i64 %x }"
    third = f"define internal i64 @g(i64 %x) alwaysinline {{ {body} }}\n"
    third += "define i64 @f(i64 %x) { %y = call i64 @g(i64 %x) ret i64 %y }"
    assert object_code(first, host.host()) == object_code(second, host.host()) == object_code(third, host.host())


def numbered(k: int) -> str:
    return f"define i64 @f(i64 %x) {{ %y = add i64 %x, {k} ret i64 %y }}"


def added(k: int) -> int:
    library = load(numbered(k))
    return int(call(library.address("f"), LONG, 1000))


def test_threads_compile_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(added, range(100))) == [1000 + k for k in range(100)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_while_others_compile() -> None:
    """In a process of its own: Python warns of forks where threads run. A child that waits for ever is killed."""
    run = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout.split()) == (0, ["0"] * 10), run.stderr


def fork_while_others_compile() -> None:
    import threading
    import warnings

    warnings.simplefilter("ignore")
    done = threading.Event()

    def work() -> None:
        k = 0
        while not done.is_set():
            object_code(numbered(k) + axpy(8), host.host())
            k += 1

    workers = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    for one in workers:
        one.start()
    for k in range(10):
        child = os.fork()
        if child == 0:
            os._exit(0 if added(-k) == 1000 - k else 1)
        print(os.waitpid(child, 0)[1], flush=True)
    done.set()


# ---------------------------------------------------------------------- which processor
def test_a_level_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for level in levels():
        monkeypatch.setenv("SYMBOLIC_CPU", level.upper())
        host.host.cache_clear()
        assert host.host()[:5] == host.chosen(level, platform.machine().lower())[:5]
    host.host.cache_clear()


@pytest.mark.parametrize(
    ("word", "machine", "words"),
    [
        ("avx9", "x86_64", "SYMBOLIC_CPU is 'avx9', which is no processor, in the environment; set it to sse2, avx2"),
        (
            "avx2",
            "aarch64",
            "SYMBOLIC_CPU is 'avx2', and this processor has no such instructions, in the environment; set",
        ),
        (
            "host",
            "riscv64",
            "no code is written for a processor of kind 'riscv64', in the native machine; call symbolic",
        ),
    ],
)
def test_a_level_that_is_not_there_is_said(word: str, machine: str, words: str) -> None:
    with pytest.raises(SymbolicError) as raised:
        host.chosen(word, machine)
    assert str(raised.value).startswith(words)


@pytest.mark.parametrize(
    ("flags", "best"),
    [
        (set(), host.SSE2),
        (host._NEEDS["avx2"] - {"fma"}, host.SSE2),
        (host._NEEDS["avx2"], host.AVX2),
        (host._NEEDS["avx512"], host.SSE2),  # no processor, but a machine that hides half of one
        (host._NEEDS["avx2"] | host._NEEDS["avx512"] | {"more"}, host.AVX512),
    ],
)
def test_a_level_is_there_if_all_of_it_is(flags: set[str], best: host.Host) -> None:
    assert host._able(flags)["host"] == best


@pytest.mark.skipif(not IS_IMAGED, reason="Linux is not asked")
def test_linux_and_llvm_agree_on_the_processor() -> None:
    from llvmlite import binding

    there = {host._LINUX_WORDS.get(name, name) for name, has in binding.get_host_cpu_features().items() if has}
    assert list(host._able(there)) == list(host._able(host._flags()))


def test_the_caches_have_sizes() -> None:
    assert 8 << 10 <= host.host().l1 < host.host().l2


if __name__ == "__main__":
    fork_while_others_compile()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells which pages were changed")
def test_what_was_let_go_is_there_again() -> None:
    """The pages of the compiler: fewer are in memory, and it compiles as before."""

    def pages() -> int:
        lines = Path("/proc/self/smaps").read_text(encoding="utf-8").split("VmFlags")
        return sum(int(one.split("Rss:")[1].split()[0]) for one in lines if "libllvmlite" in one)

    text = "define i64 @f(i64 %x) {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n"
    before = object_code(text, host.host())
    for _ in range(2):  # where the library lies is asked for once
        full = pages()
        sparing.let_go()
        assert 0 < pages() < full // 2
        assert object_code(text, host.host()) == before


def test_only_what_is_as_in_the_file_is_let_go() -> None:
    def mapping(start: int, rights: str, path: str, own: int) -> list[str]:
        head = f"{start:x}000-{start + 1:x}000 {rights} 00000000 08:01 42 {path}"
        return [head, "Rss: 4 kB", f"Anonymous: {own} kB", "VmFlags: rd"]

    there = "/x/libllvmlite.so"
    lines = [
        *mapping(1, "r-xp", there, 0),
        *mapping(2, "r--p", there, 8),  # addresses that the loader has written, read-only since
        *mapping(3, "rw-p", there, 0),
        *mapping(4, "---p", there, 0),
        *mapping(5, "r-xp", "/x/libc.so", 0),
        *mapping(6, "rw-p", "", 0),
        *mapping(7, "r--p", there, 0),
    ]
    assert list(sparing._unchanged(lines)) == [(0x1000, 0x2000), (0x7000, 0x8000)]
