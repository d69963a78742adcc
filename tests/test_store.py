"""Is nothing but what was kept ever loaded, whatever happens to the folder, and does everything work without it?"""

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from symbolic import SymbolicWarning
from symbolic.backends.native import host, store
from symbolic.keeping import keep, opened

HAS_MODES = sys.platform != "win32"
needs_modes = pytest.mark.skipif(not HAS_MODES, reason="the system has no modes and owners of files")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where code lies during a test."""
    monkeypatch.setenv("SYMBOLIC_CACHE_DIR", str(tmp_path / "kept"))
    store._usable.cache_clear()
    return tmp_path / "kept" / "native"


def files(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if one.name not in (".gitignore", "CACHEDIR.TAG"))


# ---------------------------------------------------------------------- what was kept, or nothing
def test_what_was_put_is_got(folder: Path) -> None:
    key = store.key_of("text", host.SSE2)
    assert store.get(key) is None
    store.put(key, b"\0code\n")
    assert store.get(key) == b"\0code\n"
    store.put(key, b"other")
    assert store.get(key) == b"other"
    assert [one.name for one in files(folder)] == [f"{key}.code"]


def test_a_key_is_of_everything_that_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    def keys() -> list[str]:
        store._makers.cache_clear()
        levels = [host.SSE2, host.AVX2, host.SSE2._replace(features="+fma"), host.ARM]
        return [store.key_of(text, on) for on in levels for text in ("one", "two", "")]

    first = keys()
    assert len(set(first)) == len(first)
    assert keys() == first
    assert store.key_of("one", host.SSE2._replace(l1=1, l2=2)) == first[0]  # the text says what was made of them
    monkeypatch.setattr(store, "version_of", lambda package: b"another LLVM")
    assert not set(first) & set(keys())
    monkeypatch.setattr(store, "__file__", "/nowhere/store.py")
    assert keys() != keys()  # our own text is not to be had: nothing is found again
    monkeypatch.undo()
    monkeypatch.setattr(sys, "platform", "plan9")
    assert not set(first) & set(keys())
    store._makers.cache_clear()


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes()[:65]),
        lambda path: path.write_bytes(path.read_bytes()[:30]),
        lambda path: path.write_bytes(path.read_bytes() + b"\0"),
        lambda path: path.write_bytes(bytes(len(path.read_bytes()))),
        lambda path: path.write_bytes(b"\x7fELF" * 1000),
        lambda path: path.rename(path.with_name("x")) and keep(str(path), "another key", b"sound, and of another text"),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: (path.unlink(), path.symlink_to("/nowhere")),
        lambda path: path.chmod(0o666),
    ],
)
@needs_modes
def test_what_was_not_kept_is_not_loaded(folder: Path, harm: Callable[[Path], Any]) -> None:
    store.put("key", b"code of some length")
    harm(folder / "key.code")
    assert store.get("key") is None


def test_no_bit_may_change(tmp_path: Path) -> None:
    assert keep(str(tmp_path / "one"), "mark", b"code")
    content = (tmp_path / "one").read_bytes()
    for at in range(8 * len(content)):
        changed = bytearray(content)
        changed[at // 8] ^= 1 << at % 8
        assert opened(bytes(changed), "mark") is None
    assert [opened(content, mark) for mark in ("mark", "mar", "markc")] == [b"code", None, None]


# ---------------------------------------------------------------------- whose folder
@needs_modes
def test_the_folder_is_the_users_alone(folder: Path) -> None:
    store.put("key", b"code")
    assert [one.stat().st_mode & 0o777 for one in (folder, folder.parent)] == [0o700, 0o700]


@needs_modes
@pytest.mark.parametrize("umask", [0, 0o002, 0o022, 0o077])
def test_the_users_habits_do_not_matter(folder: Path, umask: int) -> None:
    """Many systems let a user's group write to every new file; to these it may not."""
    before = os.umask(umask)
    try:
        store.put("key", b"code")
    finally:
        os.umask(before)
    assert store.get("key") == b"code"
    assert (folder / "key.code").stat().st_mode & 0o777 == 0o600


@needs_modes
@pytest.mark.parametrize("outer", [False, True])
@pytest.mark.parametrize("harm", ["group", "others", "owner"])
def test_a_folder_that_others_can_write_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, harm: str, outer: bool
) -> None:
    store.put("key", b"code")
    store._usable.cache_clear()
    if harm == "owner":
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    else:
        (folder.parent if outer else folder).chmod({"group": 0o770, "others": 0o707}[harm])
    with pytest.warns(SymbolicWarning, match=r"others than you can write to .*kept.*; chmod 700 it, or set"):
        assert store.get("key") is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once
        store.put("another", b"code")
        assert store.get("another") is None


@pytest.mark.parametrize("place", ["a file", "a file/within", "/proc/none", "/dev/null"])
def test_no_folder_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    (tmp_path / "a file").write_text("in its place")
    monkeypatch.setenv("SYMBOLIC_CACHE_DIR", os.path.join(tmp_path, place))
    store.put("key", b"code")
    assert store.get("key") is None


def test_where_the_system_wants_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SYMBOLIC_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))

    def where(platform: str, xdg: str) -> Path:
        monkeypatch.setenv("XDG_CACHE_HOME", xdg)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "platform", platform)
            return Path(store._users_cache()).relative_to(tmp_path)

    assert where("linux", str(tmp_path / "xdg")) == Path("xdg")
    assert where("linux", "") == where("linux", "relative") == Path("home/.cache")
    assert where("darwin", str(tmp_path / "xdg")) == Path("home/Library/Caches")
    assert where("win32", "") == Path("local")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    store.put("key", b"code")
    assert (tmp_path / "xdg/symbolic/native/key.code").is_file()


# ---------------------------------------------------------------------- size
def test_the_least_used_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_BYTES", 10_000)
    monkeypatch.setattr(store, "_SWEEP_EVERY", 1)
    now = time.time()
    for k in range(30):
        store.put(f"{k:02}", bytes(1000 - 65))
        if k < 5:
            os.utime(folder / f"{k:02}.code", (now - 1e6 + k, now - 1e6 + k))
        else:
            os.utime(folder / f"{k:02}.code", (now - 100 + k, now - 100 + k))
        store.get("03")  # used again and again, which makes it young
        assert sum(one.stat().st_size for one in files(folder)) <= 10_000
    left = [one.stem for one in files(folder)]
    assert "03" in left or len(left) == 7
    assert left[-1] == "29"


def test_notes_of_what_is_kept_stay_few(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_SWEEP_EVERY", 1)
    monkeypatch.setattr(store, "_MOST_KNOWN", 3)
    for k in range(9):
        store.know(b"%d" % k)
        os.utime(store._sign(str(folder), b"%d" % k), (k, k))
    store.know(b"8")
    assert all(store.is_known(b"%d" % k) for k in range(9)) and not store.is_known(b"9")
    store.put("key", b"code")
    assert [k for k in range(9) if store.is_known(b"%d" % k)] == [6, 7, 8]
    assert store.get("key") == b"code"


def test_a_note_where_there_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("SYMBOLIC_CACHE_DIR", str(tmp_path / "file" / "kept"))
    store.know(b"outline")
    assert not store.is_known(b"outline")


def test_what_a_kill_left_is_swept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_SWEEP_EVERY", 1)
    store.put("key", b"code")
    old, young, strange = [folder / name for name in ("old.code.00.unfinished", "young.code.00.unfinished", "notes")]
    for one in (old, young, strange):
        one.write_bytes(b"half")
    os.utime(old, (0, 0))
    store.put("another", b"code")
    assert [one.exists() for one in (old, young, strange)] == [False, True, True]


# ---------------------------------------------------------------------- faults, in processes of their own
def run(script: str, folder: Path, *given: Any, **more: str) -> list[str]:
    """What a program prints; it may be killed, and nothing else may go wrong."""
    environment = os.environ | {"SYMBOLIC_CACHE_DIR": str(folder.parent), "PYTHONWARNINGS": "error"} | more
    command = [sys.executable, "-c", dedent(script), *map(str, given)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, -9), done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(("module", "victim"), [("os", "replace"), ("keeping", "_seal")])
def test_a_kill_in_the_middle_of_a_write(folder: Path, module: str, victim: str) -> None:
    """Before the new name, and before the bytes: the old content stays, or nothing."""
    script = f"""
        import os, sys
        from symbolic import keeping
        from symbolic.backends.native import store
        {module}.{victim} = lambda *_: os.kill(os.getpid(), 9)
        store.put(sys.argv[1], b"new")
    """
    store.put("key", b"old")
    run(script, folder, "key")
    run(script, folder, "other")
    assert (store.get("key"), store.get("other")) == (b"old", None)
    assert len(files(folder)) == 3  # the old one, and two that were begun


@needs_modes
def test_a_full_disk(folder: Path) -> None:
    """The system lets no file grow beyond 40 kB: large code is not kept, small is, and nothing is left lying."""
    script = """
        import resource
        from symbolic.backends.native import store
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
        store.put("large", bytes(100_000))
        store.put("small", b"code")
        print(store.get("large"), store.get("small"))
    """
    assert run(script, folder) == ["None", "b'code'"]
    assert [one.name for one in files(folder)] == ["small.code"]


@needs_modes
def test_a_folder_that_may_only_be_read(folder: Path) -> None:
    """As somebody else where this user may do anything."""
    script = """
        import os
        from symbolic.backends.native import store
        store.put("key", b"code")
        kept = store._folder()
        os.chmod(kept, 0o500)
        if os.geteuid() == 0:
            for one in (os.path.dirname(kept), kept, os.path.join(kept, "key.code")):
                os.chown(one, 65534, 65534)
            os.chdir(os.path.dirname(kept))  # the folders above are not for everybody
            os.setuid(65534)
            os.environ["SYMBOLIC_CACHE_DIR"] = "."
            os.path.abspath = lambda path: path
        store._usable.cache_clear()
        store.put("key", b"new")
        store.put("other", b"new")
        print(store.get("key"), store.get("other"))
    """
    assert run(script, folder) == ["b'code'", "None"]


ADDER = """
        import ctypes, os, sys
        from symbolic.backends.native import engine

        def added(k):
            library = engine.load(f"define i64 @f(i64 %x) {{ %y = add i64 %x, {k} ret i64 %y }}")
            return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library.address("f"))(1000) - 1000
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_sixteen_processes_share_a_folder(folder: Path) -> None:
    """Each compiles or finds the same twelve functions, in an order of its own, while some files are torn under way."""
    pytest.importorskip("llvmlite", reason="the native machine needs llvmlite")
    script = """
        folder, children = sys.argv[1], []
        engine._llvm()
        for child in range(16):
            pid = os.fork()
            if pid:
                children.append(pid)
                continue
            mine = [(5 * k + child) % 12 for k in range(12)]
            wrong = sum(added(k) != k for k in mine)
            for name in os.listdir(folder)[child::4] if child < 4 else ():
                if name.endswith(".code"):
                    os.truncate(os.path.join(folder, name), 100)
            wrong += sum(added(k) != k for k in mine)
            os._exit(wrong)
        print(*[os.waitpid(pid, 0)[1] for pid in children])
    """
    assert run(ADDER + script, folder, folder) == ["0"] * 16
    assert [one.suffix for one in files(folder)] == [".code"] * 12


def test_kept_code_needs_no_llvm(folder: Path) -> None:
    """Where objects become images, as on Linux, what was compiled once runs without loading LLVM."""
    pytest.importorskip("llvmlite", reason="the native machine needs llvmlite")
    from symbolic.backends.native import engine, images

    is_imaged = isinstance(engine._ready("define void @f() { ret void }", host.host()), images.Image)
    script = ADDER + "        print(added(12), 'llvmlite' in sys.modules)"
    assert run(script, folder) == ["12", "True"]
    assert run(script, folder) == ["12", str(not is_imaged)]
    torn = files(folder)[0]
    torn.write_bytes(torn.read_bytes()[:-9])
    assert run(script, folder) == ["12", "True"]
    if is_imaged:
        assert run(script, folder, SYMBOLIC_CPU="sse2") == ["12", "True"]
