"""What every language of gpulab/languages promises, tried with its own saxpy in tests/languages/saxpy/."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gpulab
from gpulab import architectures, languages
from gpulab.errors import GpulabError
from gpulab.languages.language import Language
from gpulab.programs import options

SAXPY = Path(__file__).parent / "saxpy"
ARCHITECTURES = architectures.defaults()
N, BLOCK = 200, 64
GRID = -(-N // BLOCK)
X, Y = np.arange(N, dtype=np.float32), np.linspace(5, 7, N, dtype=np.float32)


@pytest.fixture(params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=list(languages.members()))
def language(request: pytest.FixtureRequest) -> Language:
    return languages.find(request.param)


def saxpy(language: Language, arch: str) -> str:
    """The language's saxpy: ``saxpy(int n, float a, const float* x, float* y)``, in blocks of 64."""
    own = SAXPY / f"{language.name}.{arch}.txt"
    return (own if own.exists() else SAXPY / f"{language.name}.txt").read_text()


def kernel(language: Language, arch: str) -> gpulab.Kernel:
    return gpulab.compile(saxpy(language, arch), language=language.name, arch=arch)["saxpy"]


def launch(made: gpulab.Kernel, n: int, x: object, y: object) -> None:
    made[GRID, BLOCK](np.int32(n), np.float32(2), x, y)


def store(source: list[str]) -> str:
    """The line that stores y."""
    return next(line for line in source if re.search(r"^ *y(\[i\])? =|global_store|tl\.store", line))


def test_it_keeps_to_the_port(language: Language) -> None:
    assert isinstance(language, Language)
    assert languages.find(language.name) is language
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in language.suffixes)
    for suffix in language.suffixes:
        assert languages.of_file(f"folder.c/kernel{suffix.upper()}") is language, "two languages have one suffix"


def test_it_computes(language: Language, arch: str) -> None:
    with gpulab.using(f"virtual:{arch}"):
        y = gpulab.to_device(Y)
        launch(kernel(language, arch), N - 1, gpulab.to_device(X), y)
        # every product and sum here is rounded the same, fused or not: 2 x is exact
        expected = 2 * X + Y
        expected[-1] = Y[-1]
        np.testing.assert_array_equal(y.to_host(), expected)


def test_the_code_object_says_what_it_is(language: Language, arch: str) -> None:
    source = saxpy(language, arch)
    code = languages.compile(source, language.name, arch=arch, first_line=3)
    assert (code.language, code.source, code.first_line) == (language.name, source, 3)
    assert code.name == languages.cell_name(language)
    assert code.guarantees == language.guarantees
    assert type(code).from_elf(code.elf) == code


def test_errors_are_on_the_learners_lines(language: Language, arch: str) -> None:
    lines = saxpy(language, arch).split("\n")
    wrong = next(number for number, line in enumerate(lines, 1) if re.search(r"saxpy(\(|:$)", line))
    lines.insert(wrong, "  this is no statement")
    with pytest.raises(gpulab.CompileError) as caught:
        gpulab.compile("\n".join(lines), language=language.name, arch=arch, name="mine", first_line=11)
    first = caught.value.diagnostics[0]
    assert first.where is not None
    assert (first.where.file, first.where.line) == ("mine", 11 + wrong)
    assert first.where.text == "  this is no statement"
    assert f"mine:{11 + wrong}:" in str(caught.value)


@pytest.mark.parametrize("argument", ["x", "y"])
def test_one_byte_too_many_is_found_exactly_if_bounds_are_exact(language: Language, arch: str, argument: str) -> None:
    """The last element lies in its allocation but for one byte."""
    with gpulab.using(f"virtual:{arch}"):
        made = kernel(language, arch)
        given = {"x": gpulab.to_device(X), "y": gpulab.to_device(Y)}
        short = gpulab.zeros(4 * N - 1, np.uint8)
        given[argument] = gpulab.Pointer(short.address, np.float32)
        launch(made, N - 1, given["x"], given["y"])
        if language.guarantees.exact_bounds:
            with pytest.raises(gpulab.KernelFault) as caught:
                launch(made, N, given["x"], given["y"])
            assert caught.value.fault.kind == "out of bounds"
        else:
            launch(made, N, given["x"], given["y"])


def test_unaligned_addresses_are_mistakes_if_alignment_is_promised(language: Language, arch: str) -> None:
    with gpulab.using(f"virtual:{arch}"):
        made = kernel(language, arch)
        room = gpulab.to_device(np.concatenate((np.zeros(2, np.uint8), Y.view(np.uint8))))
        y = gpulab.Pointer(room.address + 2, np.float32)
        x = gpulab.to_device(X)
        if language.guarantees.alignment:
            with pytest.raises(gpulab.KernelFault) as caught:
                launch(made, N, x, y)
            assert caught.value.fault.kind == "misaligned"
        else:
            launch(made, N, x, y)
            np.testing.assert_array_equal(room.to_host()[2:].view(np.float32), 2 * X + Y)


def test_records_have_lines_if_they_are_promised(language: Language, arch: str) -> None:
    source = saxpy(language, arch).split("\n")
    with gpulab.using(f"virtual:{arch}"), gpulab.profile() as run:
        launch(kernel(language, arch), N, gpulab.to_device(X), gpulab.to_device(Y))
    found = {(cost.where.file, cost.where.line, cost.where.text) for cost in run.launches[0].lines if cost.where}
    if language.guarantees.source_lines:
        name = languages.cell_name(language)
        assert found == {(name, line, source[line - 1]) for _, line, _ in found}
        assert store(source) in {text for _, _, text in found}
    else:
        assert not found


def test_parameters_have_types_if_they_are_promised(language: Language, arch: str) -> None:
    parameters = kernel(language, arch).signature.parameters
    assert [(p.kind, p.size, p.offset) for p in parameters] == [
        ("value", 4, 0), ("value", 4, 4), ("pointer", 8, 8), ("pointer", 8, 16),
    ]  # fmt: skip
    types = ["int32", "float32", "float32", "float32"] if language.guarantees.signatures else [None] * 4
    assert [p.dtype for p in parameters] == types


def test_guarantees_do_not_depend_on_names(language: Language, arch: str) -> None:
    """A source may be called anything: "kernel.s" does not make assembly of it, nor "kernel.hip" C++."""
    for name in ("kernel.s", "kernel.hip"):
        code = languages.compile(saxpy(language, arch), language.name, arch=arch, name=name)
        with gpulab.using(f"virtual:{arch}"):
            made = gpulab.load(code.elf)["saxpy"]
            short = gpulab.zeros(4 * N - 1, np.uint8)
            try:
                launch(made, N, gpulab.Pointer(short.address, np.float32), gpulab.to_device(Y))
                exact = False
            except gpulab.KernelFault:
                exact = True
        assert exact is language.guarantees.exact_bounds


def test_it_is_shown_and_traced(language: Language, arch: str) -> None:
    with gpulab.using(f"virtual:{arch}"):
        made = kernel(language, arch)
        listing = str(made.isa)
        assert "s_endpgm" in listing
        assert store(made.module.source.split("\n")).strip() in listing  # the learner's own text, not a translation
        trace = gpulab.trace(made, GRID, BLOCK, np.int32(N), np.float32(2), gpulab.to_device(X), gpulab.to_device(Y))
        assert len(trace.steps) > 5


def test_files_of_it_are_programs_if_it_says_so(language: Language) -> None:
    for suffix in language.suffixes:
        if language.whole_programs:
            assert options.parse([f"a{suffix}"]).sources == (f"a{suffix}",)
        else:
            with pytest.raises(GpulabError, match="it is no source file of a program"):
                options.parse([f"a{suffix}"])
