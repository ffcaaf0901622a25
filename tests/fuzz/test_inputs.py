"""Some inputs of each kind that are wrong at random; `make fuzz` tries more. What it found stands below, by hand."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import pytest

import gpulab
from gpulab.classroom.submissions import submissions
from gpulab.errors import CompileError, GpulabError
from gpulab.records import SourceLine
from tests.fuzz import inputs


@pytest.mark.parametrize("target", inputs.TARGETS)
def test_wrong_inputs_are_refused_by_gpulabs_own_errors(target: str) -> None:
    assert not [str(each) for each in inputs.batch(target, 1, 60)]


@pytest.mark.full
def test_crashes_exceptions_and_hangs_are_found() -> None:
    found = {each.seed: each.what for each in inputs.batch("planted", 0, 12, seconds=1.0)}
    expected = {seed: random.Random(seed).randrange(6) for seed in range(12)}
    words = {0: "it crashed (status -11)", 1: "ValueError: planted", 2: "it crashed (status 1)"}
    assert {0, 1, 2} <= set(expected.values())
    assert set(found) == {seed for seed, number in expected.items() if number < 3}
    assert [seed for seed, what in found.items() if words[expected[seed]] not in what] == []
    assert all("Timeout" in found[seed] for seed, number in expected.items() if number == 2)


def test_an_entry_of_a_zip_without_a_name_does_not_end_the_reading(tmp_path: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        file.writestr("Q", b"")
        file.writestr("saxpy-guard.hip", b"__global__ void saxpy() {}")
    data = held.getvalue().replace(b"Q", b"\0", 2)  # zipfile ends names at a null character
    (tmp_path / "ann.zip").write_bytes(data)
    (row,) = [each for each in submissions(tmp_path, ["saxpy-guard"]) if each.answer is not None]
    assert row.answer == "__global__ void saxpy() {}"


def test_a_text_without_an_end_is_refused_at_its_line() -> None:
    text = 's_nop 0 ; a "comment\n// "\n/* " */ .ident "a \\" b"\n.ident "open\ns_endpgm'
    with pytest.raises(CompileError, match="line 4: a text in double quotes has no end") as caught:
        gpulab.compile(text, language="asm")
    assert caught.value.diagnostics[0].where == SourceLine("cell.s", 4, 1, '.ident "open')
    with pytest.raises(CompileError, match="line 2: a text in double quotes"):
        gpulab.compile('\n"', language="asm")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (".offset:         0", ".offset:         4294967295"),
        (".offset:         4\n", ".offset:         2\n"),
        (".size:           4\n", ".size:           9223372036854775808\n"),
        (".size:           8\n", ".size:           70000\n"),
        (".size:           8\n", ".size:           -8\n"),
    ],
)
def test_arguments_that_cannot_lie_so_are_refused(old: str, new: str) -> None:
    gpulab.use("gfx942")
    assembly = inputs.compiled("gfx942")[0]
    assert old in assembly
    with pytest.raises(GpulabError, match="argument"):
        gpulab.compile(assembly.replace(old, new, 1), language="asm")


@pytest.mark.parametrize("text", [b"lo(8", b"88//", b"\xef\xbf2", b"[8]"])
def test_metadata_without_numbers_are_refused(text: bytes) -> None:
    """In the text that a code object carries: its length stays."""
    gpulab.use("gfx942")
    data = inputs.compiled("gfx942")[1]
    assert data.count(b".offset:         0\n") >= 1
    damaged = data.replace(b".offset:         0\n", b".offset:" + text.rjust(10) + b"\n")
    with pytest.raises(GpulabError, match="in the metadata is") as caught:
        inputs.run(gpulab.load(damaged), "gfx942", quiet=False)
    assert "a bug in gpulab" not in str(caught.value)


def test_a_symbol_that_is_defined_nowhere_is_named() -> None:
    gpulab.use("gfx942")
    data = inputs.compiled("gfx942")[1]
    assert data.count(b"table@rel32@lo") >= 1
    with pytest.raises(GpulabError, match="bable") as caught:
        inputs.run(gpulab.load(data.replace(b"table@rel32", b"bable@rel32")), "gfx942", quiet=False)
    assert "a bug in gpulab" not in str(caught.value)
