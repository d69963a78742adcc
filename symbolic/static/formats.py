"""How is a finding written: for a reader, as mypy writes, for a program, for a service that reads SARIF?"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TextIO

from symbolic.static import pages
from symbolic.static.findings import Located
from symbolic.static.suppression import UNUSED, name_of

__all__ = ["FORMATS", "Report", "has_colours", "severity", "summary"]


class Report(NamedTuple):
    """What a run has to say."""

    findings: Sequence[Located]
    checked: int
    """How many files were looked at."""
    version: str
    has_colours: bool = False
    is_quiet: bool = False


def severity(finding: Located) -> str:
    """What fails when it runs, or is not known to be right, is an error; what runs and is hardly meant a warning."""
    return "warning" if finding.code == "symbolic-lint" or finding.rule == UNUSED else "error"


def has_colours(stream: TextIO) -> bool:
    """Whether colours are read by a person, who has not said no (no-color.org)."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


_COLOURS = {"error": "\033[1;31m", "warning": "\033[1;33m", "note": "\033[34m", "code": "\033[33m"}
_PLAIN = "\033[0m"


def text(report: Report) -> str:
    """One line a finding, `path:line:column: error: sentence  [code]`, its notes below, and the count."""

    def paint(word: str, kind: str) -> str:
        return f"{_COLOURS[kind]}{word}{_PLAIN}" if report.has_colours else word

    lines = []
    for one in report.findings:
        kind = severity(one)
        place = f"{_on_one_line(one.path)}:{one.line}:{one.column}"
        lines.append(
            f"{place}: {paint(kind + ':', kind)} {_on_one_line(one.message)}  {paint(f'[{name_of(one)}]', 'code')}"
        )
        lines += [
            f"{_on_one_line(one.path)}:{line}: {paint('note:', 'note')} {_on_one_line(note)}"
            for line, note in one.notes
        ]
    if not report.is_quiet:
        lines.append(summary(report))
    return "".join([line + "\n" for line in lines])


def _on_one_line(words: str) -> str:
    return "".join([one if one.isprintable() else repr(one)[1:-1] for one in words])


def summary(report: Report) -> str:
    """The last line.

    >>> summary(Report([], 1, ""))
    'Success: nothing found (checked 1 file)'
    """
    checked = f"(checked {_counted(report.checked, 'file')})"
    if not report.findings:
        return f"Success: nothing found {checked}"
    kinds = [severity(one) for one in report.findings]
    counts = [_counted(kinds.count(kind), kind) for kind in ("error", "warning") if kind in kinds]
    files = len({one.path for one in report.findings})
    return f"Found {' and '.join(counts)} in {_counted(files, 'file')} {checked}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _json(report: Report) -> str:
    """One document; its keys are those of `Located`, and stay."""
    document = {
        "version": report.version,
        "checked": report.checked,
        "findings": [
            {
                **one._asdict(),
                "severity": severity(one),
                "notes": [{"line": line, "message": note} for line, note in one.notes],
            }
            for one in report.findings
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _sarif(report: Report) -> str:
    """SARIF 2.1.0 (OASIS), as GitHub's code scanning and editors read it."""
    names = sorted({name_of(one) for one in report.findings})
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "symbolic",
                        "semanticVersion": report.version,
                        "rules": [_sarif_rule(name) for name in names],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_sarif_result(one, names.index(name_of(one))) for one in report.findings],
            }
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _sarif_rule(name: str) -> dict[str, Any]:
    try:
        page = pages.explained(name)
    except pages.PageError:
        return {"id": name}
    title = page.partition("\n")[0].lstrip("# ")
    return {"id": name, "shortDescription": {"text": title}, "help": {"text": page, "markdown": page}}


def _sarif_result(one: Located, index: int) -> dict[str, Any]:
    region = {
        "startLine": one.line,
        "startColumn": one.column,
        "endLine": one.end_line,
        "endColumn": one.end_column,
    }
    result = {
        "ruleId": name_of(one),
        "ruleIndex": index,
        "level": severity(one),
        "message": {"text": one.message},
        "locations": [_sarif_place(one.path, region)],
    }
    if one.notes:
        related = [
            {**_sarif_place(one.path, {"startLine": line}), "message": {"text": note}}
            for line, note in dict.fromkeys(one.notes)  # the standard wants each place once
        ]
        result["relatedLocations"] = related
    return result


def _sarif_place(path: str, region: dict[str, int]) -> dict[str, Any]:
    from urllib.parse import quote  # a path is not an address yet

    address = quote(path.replace(os.sep, "/").encode("utf-8", "surrogateescape"))
    if os.path.isabs(path):
        address = "file://" + ("" if address.startswith("/") else "/") + address
    return {"physicalLocation": {"artifactLocation": {"uri": address}, "region": region}}


FORMATS: dict[str, Callable[[Report], str]] = {"text": text, "json": _json, "sarif": _sarif}
