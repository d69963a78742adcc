"""Which page explains a code or a lint?

The pages lie in `docs/` of the repository, and a wheel brings them along as `symbolic/docs/`: each is written once.
"""

from __future__ import annotations

import os

__all__ = ["PageError", "explained", "lint_names", "page_names"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INSTALLED = os.path.join(_PACKAGE, "docs")
_BASE = _INSTALLED if os.path.isdir(_INSTALLED) else os.path.join(os.path.dirname(_PACKAGE), "docs")
_ENDING = ".md"


class PageError(Exception):
    """No page has that name; the sentence."""


def _names(folder: str) -> list[str]:
    try:
        files = os.listdir(os.path.join(_BASE, folder))
    except OSError:
        return []  # packed without its pages, in a zip file perhaps
    return sorted([name.removesuffix(_ENDING) for name in files if name.endswith(_ENDING)])


def lint_names() -> list[str]:
    """The lints: each has a page, which is found without loading what does the work."""
    return _names("lints")


def page_names() -> list[str]:
    return _names("codes") + lint_names()


def explained(name: str) -> str:
    """The page, in Markdown; raises `PageError`."""
    for folder in ("codes", "lints"):
        if name in _names(folder):
            with open(os.path.join(_BASE, folder, name + _ENDING), encoding="utf-8") as file:
                return file.read()
    from difflib import get_close_matches  # only for a typing error

    near = get_close_matches(name, page_names(), 1)
    known = f"did you mean {near[0]}?" if near else f"known are {', '.join(page_names())}"
    raise PageError(f"no code and no lint is called {name!r}; {known}")
