"""What does the configuration say to the plugin? In which modules mappings stand that no import shows.

```ini
[symbolic]
mappings = company.literals, company.more_literals
```

in `mypy.ini` or `setup.cfg`; in `pyproject.toml` it is `mappings = [...]` under `[tool.symbolic]`.
"""

from __future__ import annotations

import configparser
import tomllib
from pathlib import Path
from typing import Any

from mypy.nodes import Import, ImportAll, ImportFrom, MypyFile
from mypy.options import Options

_PRIORITY = 10
"""How mypy ranks a dependency that may wait: as an import within a function."""


def mappings(options: Options) -> tuple[str, ...]:
    """The modules that are named; none where the file cannot be read, of which mypy itself complains."""
    path = Path(options.config_file or "")
    if not path.is_file():
        return ()
    found = _of_toml(path) if path.suffix == ".toml" else _of_ini(path)
    names = found.replace(",", " ").split() if isinstance(found, str) else found
    return tuple([str(name) for name in names]) if isinstance(names, list) else ()


def _of_toml(path: Path) -> Any:
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError):
        return ()
    return content.get("tool", {}).get("symbolic", {}).get("mappings", ())


def _of_ini(path: Path) -> Any:
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except configparser.Error:
        return ()
    return parser.get("symbolic", "mappings", fallback="")


def dependencies(file: MypyFile, named: tuple[str, ...]) -> list[tuple[int, str, int]]:
    """The named modules, for a file that imports this library: it is checked anew when one of them changes."""
    imported = any(map(_of_ours, file.imports)) and named
    return [(_PRIORITY, name, -1) for name in named if name != file.fullname] if imported else []


def _of_ours(node: object) -> bool:
    if isinstance(node, Import):
        return any(_is_ours(name) for name, _ in node.ids)
    return isinstance(node, (ImportAll, ImportFrom)) and _is_ours(node.id)


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == "symbolic"
