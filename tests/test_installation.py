"""Does an import tell when the other distribution called `symbolic` lies in the same folder?"""

import importlib.metadata
import sys
import timeit
from importlib.util import find_spec
from pathlib import Path

import pytest

from symbolic import installation
from symbolic.installation import check_clash, spec_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Our folder, in an empty site-packages."""
    made = tmp_path / "symbolic"
    made.mkdir()
    (made / "__init__.py").touch()
    (made / "layer.py").touch()
    return made


def install_other(folder: Path) -> None:
    """What pip leaves of the other distribution when ours was installed last."""
    (folder / "debuginfo.py").touch()
    about = folder.parent / "symbolic-13.9.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: symbolic\nVersion: 13.9.0\n")


def test_our_own_folder_is_clean() -> None:
    check_clash()


def test_the_other_distribution_is_named_with_place_and_remedy(folder: Path) -> None:
    install_other(folder)
    with pytest.raises(ImportError) as caught:
        check_clash(str(folder))
    message = str(caught.value)
    assert "symbolic 13.9.0 and symbolic-layers" in message
    assert f"in {folder}; " in message
    assert "`pip uninstall symbolic symbolic-layers`" in message


def test_a_foreign_file_without_its_distribution_is_let_be(folder: Path) -> None:
    (folder / "debuginfo.py").touch()
    check_clash(str(folder))


def test_our_own_metadata_are_not_taken_for_the_others(folder: Path) -> None:
    (folder / "debuginfo.py").touch()
    about = folder.parent / "symbolic_layers-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.4\nName: symbolic-layers\nVersion: 0.1.0\n")
    check_clash(str(folder))


def test_a_folder_that_cannot_be_listed_is_let_be(tmp_path: Path) -> None:
    check_clash(str(tmp_path / "library.zip" / "symbolic"))


def test_metadata_are_read_only_on_suspicion(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise AssertionError("metadata were read")

    monkeypatch.setattr(importlib.metadata, "distributions", refuse)
    check_clash(str(folder))
    install_other(folder)
    with pytest.raises(AssertionError, match="metadata were read"):
        check_clash(str(folder))


def test_it_costs_one_listing() -> None:
    best = min(timeit.repeat(check_clash, number=20, repeat=20)) / 20
    assert best < 500e-6  # about 20 µs; the bound leaves room for a slow disk, none for reading metadata


def test_no_module_of_ours_is_called_like_a_foreign_one() -> None:
    ours = {path.name for path in Path(installation.__file__).parent.iterdir()}
    assert not ours & (installation._FOREIGN | {"common.py", "exceptions.py", "utils.py"})


@pytest.mark.parametrize(
    "name", ["numpy", "llvmlite", "no_package_of_this_name", "this", "sys", "zipimport", "__main__"]
)
def test_a_package_is_found_as_python_finds_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "__main__":
        monkeypatch.setitem(sys.modules, name, None)  # nobody may import it
    for _ in range(2):  # as it is, and then not loaded
        found, expected = spec_of(name), find_spec(name)
        assert (found is None) is (expected is None)
        if found is not None and expected is not None:
            assert (found.name, found.origin) == (expected.name, expected.origin)
        monkeypatch.delitem(sys.modules, name, raising=False)
