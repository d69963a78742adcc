"""The steps of .ci/run that are easier in Python than in a shell; they need the standard library only.

steps.py copy SOURCE TARGET      the files that git tracks, as they stand, into an empty folder
steps.py line README HEADING     the one fenced line under that heading
steps.py examples FOLDER SECONDS every example, each within that time
steps.py known PART              what `pyright --verifytypes --outputjson` writes: is so much of the types known?
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

LEFT_BEHIND = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "build", "dist", "*.png"
)


def copy(source: str, target: str) -> None:
    """Copy what a fresh clone would have; without git, everything but environments, caches and products."""
    if not (Path(source) / ".git").exists() or shutil.which("git") is None:
        print(f"{source} is no git repository, or git is not here: copying all but environments and caches", flush=True)
        shutil.copytree(source, target, ignore=LEFT_BEHIND, dirs_exist_ok=True)
        return
    for name in tracked(source):
        place = Path(target) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(Path(source) / name, place)


def tracked(source: str) -> list[str]:
    """Names that git tracks; at least one."""
    # a checkout may belong to another user, as in a container
    git = ["git", "-c", "safe.directory=*", "-C", source, "ls-files", "-z"]
    names = subprocess.run(git, check=True, capture_output=True, text=True).stdout.split("\0")[:-1]
    if not names:
        raise SystemExit(f"git tracks no file in {source}; add them with `git add`")
    return names


def line(readme: str, heading: str) -> None:
    """Print the one line of the one fence under `## heading`."""
    fences = fenced(Path(readme).read_text(encoding="utf-8"), heading)
    if len(fences) != 1 or len(fences[0]) != 1:
        raise SystemExit(f"{readme} must have one fence with one line under '## {heading}', it has {fences}")
    print(fences[0][0])


def fenced(text: str, heading: str) -> list[list[str]]:
    """The lines of each fence in one section of a Markdown page."""
    fences: list[list[str]] = []
    inside = section = False
    for row in text.splitlines():
        if row.startswith("```"):
            inside = not inside
            if inside and section:
                fences.append([])
        elif inside and section:
            fences[-1].append(row)
        elif not inside and row.startswith(("# ", "## ")):  # a comment in a fence is no heading
            section = row.rstrip() == f"## {heading}"
    return fences


def examples(folder: str, seconds: str) -> None:
    """Run every example with this interpreter; stop at the first that fails or takes too long."""
    scripts = sorted(path for path in Path(folder).glob("*.py") if not path.name.startswith("_"))
    if not scripts:
        raise SystemExit(f"no example in {folder}; is the copy complete?")
    for script in scripts:
        run(script, float(seconds))


def run(script: Path, seconds: float) -> None:
    """Run one script and say how long it took."""
    print(f"--> {script}", flush=True)
    begun = time.monotonic()
    try:
        code = subprocess.run([sys.executable, str(script)], timeout=seconds).returncode
    except subprocess.TimeoutExpired:
        raise SystemExit(f"{script} was stopped after {seconds:.0f} s") from None
    if code:
        raise SystemExit(f"{script} ended with status {code}")
    print(f"    {time.monotonic() - begun:.1f} s", flush=True)


def known(part: str) -> None:
    """Read pyright's answer from the standard input; list what is not known, and fail below that part."""
    said = json.load(sys.stdin)["typeCompleteness"]
    for symbol in said["symbols"]:
        if symbol["isExported"] and not symbol["isTypeKnown"]:
            print(symbol["name"], *[one["message"].strip() for one in symbol["diagnostics"][:1]], sep=": ")
    print(f"known: {said['completenessScore']:.2%} of {sum(said['exportedSymbolCounts'].values())} public symbols")
    if said["completenessScore"] < float(part):
        raise SystemExit(f"that is less than {float(part):.0%}")


STEPS: dict[str, Callable[..., None]] = {"copy": copy, "line": line, "examples": examples, "known": known}

if __name__ == "__main__":
    STEPS[sys.argv[1]](*sys.argv[2:])
