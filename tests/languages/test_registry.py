"""The list of languages: what it finds, and that to list them costs next to nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpulab import languages


def test_the_languages_that_there_are() -> None:
    assert {"hip", "cuda", "asm"} <= set(languages.members())


@pytest.mark.parametrize(
    ("file", "name"),
    [("a.hip", "hip"), ("a.CPP", "hip"), ("a.cu", "cuda"), ("a.s", "asm"), ("a.S", "asm"), ("a.asm", "asm")],
)
def test_files(file: str, name: str) -> None:
    found = languages.of_file(file)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("file", ["a.txt", "hip", "a.hip.bak", ""])
def test_files_of_no_language(file: str) -> None:
    assert languages.of_file(file) is None


def test_listing_them_loads_neither_compiler_nor_translator() -> None:
    """A notebook that registers its magics lists them."""
    script = "import sys; from gpulab import languages; languages.members(); print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert "gpulab.languages.cuda" in loaded.stdout
    heavy = [name for name in loaded.stdout.split() if name.startswith(("gpulab.toolchain", "gpulab.porting", "numpy"))]
    assert heavy == []
