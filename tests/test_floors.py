"""Does the house stand as the floor plan says: imports go down, rooms are small, and no room is called a drawer?"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "symbolic"

FLOORS: list[list[str]] = [
    [
        "errors",
        "forking",
        "midway",
        "spec",
        "finiteness",
        "floating",
        "dims",
        "structure",
        "polynomial",
        "sizes",
        "reading",
        "rewriting",
        "namespaces",
        "installation",
        "naming",
        "annotated",
        "phantoms",
        "keeping",
        "sweeping",
        "backends.native.layouts",
        "backends.native.abi",
    ],  # 0: knows no layer
    [
        "asking",
        "context",
        "tape",
        "runtime",
        "callees",
        "refusing",
        "operators",
        "arraylike",
        "lent",
        "changes",
        "layer",
        "leaves",
        "literal",
        "printing",
    ],  # 1: the nouns, in the order in which they read
    [  # 2: the vocabulary
        "ops.binding",
        "ops.operation",
        "ops.deltas",
        "ops.passing",
        "ops.families",
        "ops.checked",
        "ops.axes",
        "ops.sliding",
        "ops.matrices",
        "ops.python",
        "ops.regions",
        "ops.runs",
        "ops.indexing",
        "ops.foreign",
        "ops.pairing",
        "ops.creation",
        "ops.*",
        "ops.looking",
        "ops.scipy_sums",
        "ops.scipy_error",
        "ops.scipy_gamma",
        "ops.scipy_bessel",
        "ops.scipy_entropy",
        "ops.scipy_series",
        "ops.scipy_linalg",
        "ops.scipy_factors",
        "ops.scipy_matrices",
        "ops.scipy_fft",
        "ops.scipy_signal",
        "ops.scipy_distributions",
        "ops.scipy_stats",
        "ops.scipy_multivariate",
        "ops.rooms",
        "ops",
    ],
    [
        "fingerprint",
        "watch",
        "said",
        "captured",
        "certain",
        "live",
        "concrete",
        "bare",
        "assignment",
        "vectorized",
        "renewing",
        "calls",
        "sites",
        "hints",
        "inference",
        "outcome",
        "slices",
        "batches",
        "contractions",
        "indices",
        "differentiate",
        "rereading",
        "simplify",
        "hidden",
        "plan",
        "trace",
    ],  # 3: readings of a graph
    ["backends.native.*", "backends.*", "backends"],  # 4: machines
    [
        "values",
        "machines",
        "execution",
        "varying",
        "paths",
        "shortcut",
        "usual",
        "finite",
        "training",
        "evaluation",
        "observing",
        "network",
        "differentiated",
        "deriving",
        "derivatives",
        "transformed",
        "forward",
        "jacobians",
        "custom",
        "batching",
        "signature",
        "methods",
        "factories",
        "decorated",
        "bounds",
        "bounded",
        "decorating",
        "function",
        "states",
        "optimizer",
        "optimizers",
        "parts",
        "schedules",
        "nn.*",
        "nn",
    ],  # 5: what people build with
    ["rooms", "public", ""],  # the roof: the public names, and the door
    [
        "static",
        "static.*",
    ],  # beside the house: what a checker says of a program before it runs; nobody but checkers comes here
    ["mypy_plugin.*", "mypy_plugin"],  # a checker's own door to it
    ["command", "__main__"],  # the door for everyone else
]
IN_ORDER = {1, 2}
"""Floors where a room also looks only at those before it; two rooms of one place, such as two `ops.*`, never meet."""

UPWARD = {
    ("layer", "printing"): "a layer prints itself, and printing knows the leaves",
    ("refusing", "printing"): "an error shows the layer that it is about",
}
"""Imports that go up, inside a function, when it is called; each with its reason."""

MOST_LINES = 400
DRAWERS = {"utils", "util", "helpers", "helper", "internal", "common", "misc"}
HEAVY = {"jax", "scipy", "sklearn", "matplotlib", "rich", "mypy", "llvmlite", "torch", "jaxtyping", "hypothesis"}


class Import(NamedTuple):
    """One import of one of our modules by another, named without the package."""

    importer: str
    imported: str
    line: int
    when: str
    """"load", "call" (inside a function) or "check" (for the type checker only)."""


@cache
def modules() -> dict[str, Path]:
    """Name without the package, such as ops.families, to file; the package itself is the empty name."""
    return {dotted(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def place(module: str) -> tuple[int, int]:
    """Floor, and place on it."""
    family = module.rpartition(".")[0] + ".*"
    for name in (module, family):
        for floor, rooms in enumerate(FLOORS):
            if name in rooms:
                return floor, rooms.index(name)
    raise LookupError(f"symbolic.{module} is on no floor: give it a place in FLOORS")


def violation(found: Import) -> str:
    """What is wrong with an import, or nothing."""
    (low, seat), (high, other) = place(found.importer), place(found.imported)
    if found.when == "check" or low > high:
        return ""
    if low < high:
        return f"goes up from floor {low} to {high}"
    if low in IN_ORDER and seat <= other:
        return "is of a sibling" if seat == other else f"is of a later room of floor {low}"
    return ""


def imports(module: str, source: str) -> Iterator[Import]:
    """Every import of ours in a module's text, wherever it stands."""
    yield from below(module, ast.parse(source), "load")


def below(module: str, node: ast.AST, when: str) -> Iterator[Import]:
    for name in targets(node):
        yield Import(module, name, getattr(node, "lineno", 0), when)
    if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        yield from (found for child in node.body for found in below(module, child, "check"))
        yield from (found for child in node.orelse for found in below(module, child, when))
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and when == "load":
        when = "call"
    for child in ast.iter_child_nodes(node):
        yield from below(module, child, when)


def targets(node: ast.AST) -> set[str]:
    """Our modules that one statement imports; `from symbolic.ops import families` is of ops.families."""
    if isinstance(node, ast.Import):
        return {ours(alias.name) for alias in node.names if is_ours(alias.name)}
    if isinstance(node, ast.ImportFrom) and node.level == 0 and is_ours(node.module or ""):
        parent = ours(node.module or "")
        inside = {f"{parent}.{alias.name}".lstrip(".") for alias in node.names}
        return {name if name in modules() else parent for name in inside}
    return set()


def is_ours(name: str) -> bool:
    return name.split(".")[0] == "symbolic"


def ours(name: str) -> str:
    return name.removeprefix("symbolic").removeprefix(".")


@cache
def all_imports() -> list[Import]:
    return [found for name, path in modules().items() for found in imports(name, path.read_text(encoding="utf-8"))]


def shown(found: Import, wrong: str) -> str:
    return f"symbolic.{found.importer}, line {found.line}: the import of symbolic.{found.imported} {wrong}"


def test_every_module_has_a_floor() -> None:
    assert len(modules()) > 10
    for module in modules():
        place(module)


def test_imports_go_down() -> None:
    wrong = [
        shown(found, reason)
        for found in all_imports()
        if (reason := violation(found)) and not (found.when == "call" and (found.importer, found.imported) in UPWARD)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_excuse_is_used() -> None:
    used = {(found.importer, found.imported) for found in all_imports() if found.when == "call" and violation(found)}
    assert set(UPWARD) <= used


def test_no_import_is_relative() -> None:
    for path in modules().values():
        found = [node for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom) and node.level]
        assert not found, f"{path.name}: write the whole name, `from symbolic...`"


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def test_files_are_short() -> None:
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules().items()}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_no_room_is_a_drawer() -> None:
    assert [name for name in modules() if DRAWERS.intersection(name.split("."))] == []


def test_depth_is_at_most_two() -> None:
    assert [name for name in modules() if name.count(".") > (2 if name.startswith("backends.native.") else 1)] == []


def test_every_module_opens_with_its_question() -> None:
    assert [name for name, path in modules().items() if not ast.get_docstring(tree(path))] == []


def test_the_library_does_not_print() -> None:
    printing = [
        f"symbolic.{name}, line {node.lineno}"
        for name, path in modules().items()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert printing == []


def test_import_loads_nothing_heavy() -> None:
    script = "import sys, symbolic.public; print(*{name.split('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    loaded = set(run.stdout.split())
    assert {"symbolic", "numpy"} <= loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize(
    ("importer", "text", "wrong"),
    [
        ("spec", "from symbolic.layer import Layer", "goes up from floor 0 to 1"),
        ("spec", "def f():\n    from symbolic.layer import Layer", "goes up from floor 0 to 1"),
        ("spec", "if TYPE_CHECKING:\n    from symbolic.layer import Layer", ""),
        ("layer", "from symbolic import errors", ""),
        ("layer", "from symbolic import symbolic", "goes up from floor 1 to 6"),
        ("tape", "import symbolic.layer", "is of a later room of floor 1"),
        ("ops.families", "from symbolic.ops import operation", ""),
        ("ops.operation", "from symbolic.ops import families", "is of a later room of floor 2"),
        ("ops.linear", "from symbolic.ops.movement import Reshape", "is of a sibling"),
        ("trace", "from symbolic.plan import Plan", ""),
        ("", "from symbolic.nn import layers", ""),
    ],
)
def test_this_test_sees(importer: str, text: str, wrong: str) -> None:
    """The rule above, broken by hand."""
    (found,) = imports(importer, text)
    assert violation(found) == wrong


def test_the_floor_plan_names_every_room() -> None:
    page = (ROOT / "symbolic" / "README.md").read_text(encoding="utf-8")
    subjects = [name for name in modules() if name and not name.startswith(("ops.", "nn.")) and "." not in name]
    packages = {"ops", "nn", "backends", "static", "mypy_plugin"}
    assert [name for name in subjects if name not in packages and f"{name}.py" not in page] == []
