"""docs/add-a-language.md, followed to the letter: its example is one file, and passes what every language passes."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import gpulab
from gpulab import languages
from tests.languages import test_conformance

PAGE = (Path(__file__).parents[2] / "docs" / "add-a-language.md").read_text(encoding="utf-8")
CHECKS = [
    check
    for name, check in vars(test_conformance).items()
    if name.startswith("test_") and "language" in inspect.signature(check).parameters
]


def block(kind: str) -> str:
    """The page's only block of code of this kind."""
    (found,) = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


@pytest.fixture
def formulas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The page's language, in a folder that stands for gpulab/languages; its name."""
    (tmp_path / "formulas.py").write_text(block("python"), encoding="utf-8")
    (tmp_path / "formulas.txt").write_text(block("text"), encoding="utf-8")
    monkeypatch.setattr(languages, "__path__", [*languages.__path__, str(tmp_path)])
    monkeypatch.setattr(test_conformance, "SAXPY", tmp_path)
    languages.members.cache_clear()
    yield "formulas"
    languages.members.cache_clear()
    sys.modules.pop("gpulab.languages.formulas", None)


@pytest.mark.parametrize("arch", test_conformance.ARCHITECTURES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_passes_what_every_language_passes(check: Callable[..., None], arch: str, formulas: str) -> None:
    given = {"language": languages.find(formulas), "arch": arch, "argument": "x"}
    check(**{name: given[name] for name in inspect.signature(check).parameters})


def test_its_cells_work(formulas: str, capsys: pytest.CaptureFixture[str]) -> None:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(history_load_length=0)
    try:
        gpulab.load_ipython_extension(shell)
        shell.run_cell_magic(formulas, "--arch gfx942", "half(int n, float* x)\nx = x / 2\n")
        assert "half(int n, float *x) for gfx942" in capsys.readouterr().out
        x = gpulab.to_device(np.arange(100, dtype=np.float32))
        shell.user_ns["half"][2, 64](100, x)
        np.testing.assert_array_equal(x.to_host(), np.arange(100) / 2)
        with pytest.raises(gpulab.CompileError):
            shell.run_cell_magic(formulas, "--arch gfx942", "half(int n, float* x)\nx = z / 2\n")
        said = capsys.readouterr().out
        assert "cell.formulas:3: error: use of undeclared identifier 'z'\n    x = z / 2\n  The compiler read:\n" in said
    finally:
        InteractiveShell.clear_instance()


def test_other_languages_do_not_know_it() -> None:
    with pytest.raises(gpulab.GpulabError, match="no language 'formulas'") as caught:
        gpulab.compile("", language="formulas", arch="gfx942")
    assert '"asm"' in caught.value.hint
    assert '"cuda"' in caught.value.hint
    assert '"hip"' in caught.value.hint
