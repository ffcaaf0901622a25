"""What each language declares, and the defaults of a compilation."""

from __future__ import annotations

import dataclasses

import pytest

from gpulab import languages
from gpulab.errors import CompileError, GpulabError
from gpulab.languages.assembly import LANGUAGE as ASSEMBLY
from gpulab.languages.cuda import LANGUAGE as CUDA
from gpulab.languages.hip import LANGUAGE as HIP


def test_who_has_whole_programs() -> None:
    """Host code is C++: assembly has none."""
    assert (HIP.whole_programs, CUDA.whole_programs, ASSEMBLY.whole_programs) == (True, True, False)


@pytest.mark.parametrize(
    ("name", "title", "suffixes", "magic", "whole_programs", "guarantees"),
    [
        ("asm", "AMDGPU assembly", (".s", ".asm"), "", False, {"source_lines"}),
        ("cuda", "CUDA C++", (".cu",), "cuda", True, None),
        ("hip", "HIP C++", (".hip", ".cpp", ".cc", ".cxx", ".c"), "hip", True, None),
        ("triton", "Triton", (".py",), "", False, {"source_lines", "signatures", "compiled"}),
    ],
)
def test_what_each_declares(
    name: str, title: str, suffixes: tuple[str, ...], magic: str, whole_programs: bool, guarantees: set[str] | None
) -> None:
    """`guarantees`: the names of those that it has, None for all."""
    found = languages.find(name)
    assert (found.name, found.title, found.suffixes, found.magic) == (name, title, suffixes, magic)
    assert found.whole_programs is whole_programs
    given = dataclasses.asdict(found.guarantees)
    assert {each for each, there in given.items() if there} == (set(given) if guarantees is None else guarantees)


def test_in_which_answers_are_written() -> None:
    """No object of HIP's holds the text of an answer, and its compiler starts and reads nothing more."""
    hip = languages.answers("hip")
    assert (hip.heading, hip.stub) == ("__global__ void {kernel}({parameters})", "// YOUR CODE HERE")
    assert (hip.needs, hip.text_of(hip), hip.text_of("text")) == ({}, "", "")
    source = "// k(\n__global__ void a_k(int) {}\nvoid k(int) {}\n__global__ void m (int x) { k(x); }\n"
    assert [hip.defines(source, name) for name in ("a_k", "m", "k", "x")] == [True, True, False, False]
    assert "k(" not in hip.code_only("// k(\n")
    with pytest.raises(GpulabError) as caught:
        languages.answers("asm")
    assert str(caught.value) == (
        "no exercise is answered in AMDGPU assembly.\nWhy: gpulab.languages.language.Answers says how."
    )


def test_names_of_texts_and_languages() -> None:
    class Unnamed(type(ASSEMBLY)):  # type: ignore[misc]
        suffixes = ()

    assert languages.cell_name(Unnamed()) == "cell"
    listed = '"asm" (AMDGPU assembly), "cuda" (CUDA C++), "hip" (HIP C++), "triton" (Triton)'
    with pytest.raises(GpulabError) as caught:
        languages.find("HIP")
    assert str(caught.value).split("\n")[0] == "there is no language 'HIP' here."
    assert caught.value.hint == f"language= takes {listed}."


def test_assembly_promises_its_lines_alone() -> None:
    """It gets hardware's rules: no exact bounds; but each instruction's line is one of its source."""
    assert ASSEMBLY.guarantees.source_lines
    assert not ASSEMBLY.guarantees.exact_bounds
    assert HIP.guarantees.exact_bounds
    assert CUDA.guarantees == HIP.guarantees


def test_files_and_cells_have_their_languages_suffix() -> None:
    assert languages.of_file("a.CU") is CUDA
    assert languages.of_file("a.cpp") is HIP
    assert languages.of_file("a.s") is ASSEMBLY
    assert languages.of_file("a.txt") is None
    assert [languages.cell_name(each) for each in (HIP, CUDA, ASSEMBLY)] == ["cell.hip", "cell.cu", "cell.s"]
    assert "language" not in languages.members()


@pytest.mark.parametrize(("given", "file"), [(None, "cell.s"), ("mine.s", "mine.s")])
def test_a_text_begins_on_line_1_of_its_file(given: str | None, file: str) -> None:
    with pytest.raises(CompileError) as caught:
        languages.compile("no_instruction\n", "asm", arch="gfx942", name=given)
    where = caught.value.diagnostics[0].where
    assert where is not None
    assert (where.file, where.line) == (file, 1)
