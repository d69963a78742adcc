"""What does the command `symbolic` do? `symbolic check PATHS…` reports mistakes before the program runs.

Importing this loads neither NumPy nor the rules: a run that finds everything in its cache is over before they would be
there. `symbolic lsp` does the same in an editor.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TextIO

import symbolic
from symbolic.static import formats, pages, settings
from symbolic.static.files import PathError, python_files, shown
from symbolic.static.findings import Located
from symbolic.static.runs import Run
from symbolic.static.settings import SettingsError

__all__ = ["main"]

CLEAN, FOUND, FAILED = 0, 1, 2
_INTERRUPTED = 130
_CACHE = ".symbolic_cache"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the answer is its exit code: 0 clean, 1 something was found, 2 it could not be done."""
    for stream in (sys.stdout, sys.stderr):
        _forgiving(stream)
    try:
        options = _parser().parse_args(arguments)
        code: int = options.does(options)
        return code
    except (SettingsError, PathError, pages.PageError) as error:
        return _complain(str(error))
    except BrokenPipeError:  # the reader has seen enough: `symbolic check | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        return _complain(f"{error}; nothing was checked")


def _forgiving(stream: TextIO) -> None:
    """A name that the terminal's encoding lacks is written with escapes, instead of ending the run."""
    if hasattr(stream, "reconfigure"):  # not so for what a test or an editor puts there
        stream.reconfigure(errors="backslashreplace")


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()  # a reader that has left is noticed here, not when Python ends


def _complain(message: str) -> int:
    sys.stderr.write(f"symbolic: {message}\n")
    return FAILED


def _parser() -> argparse.ArgumentParser:
    about = "Shapes and dtypes of NumPy code, before it runs."
    parser = argparse.ArgumentParser(prog="symbolic", description=about, formatter_class=_of_fixed_width)
    parser.add_argument("--version", action="version", version=f"symbolic {symbolic.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check", help="report what does not fit in Python files", formatter_class=_of_fixed_width
    )
    check.set_defaults(does=_check)
    _add_options(check)
    lsp = commands.add_parser(
        "lsp", help="serve an editor (language server protocol, over stdin and stdout)", formatter_class=_of_fixed_width
    )
    lsp.set_defaults(does=_lsp)
    return parser


def _of_fixed_width(prog: str) -> argparse.HelpFormatter:
    """To ask for the terminal's width costs every run the import of `shutil` and of three compressors."""
    return argparse.HelpFormatter(prog, width=100)


def _add_options(check: argparse.ArgumentParser) -> None:
    check.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="files and folders (the current folder)")
    check.add_argument("--output", choices=sorted(formats.FORMATS), default="text", help="the form of what is found")
    check.add_argument("-q", "--quiet", action="store_true", help="no last line with the count")
    check.add_argument("--disable", action="append", default=[], metavar="LINT", help="switch a lint off, or all")
    check.add_argument("--enable", action="append", default=[], metavar="LINT", help="switch a lint on")
    check.add_argument("--warn-unused", action="store_true", help="report comments that switch nothing off")
    check.add_argument("--explain", metavar="NAME", help="print the page of a code or a lint, and do nothing else")
    check.add_argument("--config", metavar="FILE", help="instead of the nearest pyproject.toml")
    check.add_argument("--cache-dir", default=_CACHE, metavar="FOLDER", help=f"where results are kept ({_CACHE})")
    check.add_argument("--no-cache", action="store_true", help="neither read nor keep results")


def _check(options: argparse.Namespace) -> int:
    if options.explain is not None:
        _say(pages.explained(options.explain))
        return CLEAN
    here = os.getcwd()
    chosen = settings.read(options.config) if options.config else settings.read_near(here)
    chosen = chosen.also(options.disable, options.enable)
    files = python_files(options.paths, chosen.excluded())
    if not files:
        sys.stderr.write(f"symbolic: no Python file in {', '.join(options.paths)}; see `exclude` and the paths\n")
    run = Run.starting(here, options.paths, None if options.no_cache else os.path.abspath(options.cache_dir))
    findings: list[Located] = []
    failures: list[str] = []
    for path, checked in zip(files, run.checked(files), strict=True):
        failures += [checked.failure] if checked.failure else []
        findings += chosen.left(checked.entry.findings, checked.entry.ignores, shown(path, here), options.warn_unused)
    report = formats.Report(findings, len(files), symbolic.__version__, formats.has_colours(sys.stdout), options.quiet)
    _say(formats.FORMATS[options.output](report))
    for failure in failures:
        _complain(failure)
    return FAILED if failures else FOUND if findings else CLEAN


def _lsp(options: argparse.Namespace) -> int:
    try:
        from symbolic.static.lsp import serve  # loads pygls
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        return _complain("pygls is not installed, which `symbolic lsp` needs; run pip install 'symbolic-layers[lsp]'")
    serve()
    return CLEAN
