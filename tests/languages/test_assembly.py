"""Assembly: what is known of kernels, the lines of hand-written text and of text that another language writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulab import languages
from gpulab.errors import CompileError
from gpulab.languages.assembly import _open_text
from gpulab.records import NO_GUARANTEES
from gpulab.toolchain import Parameter, assemble
from gpulab.toolchain.request import request
from tests.toolchain.test_build import lines_of

SAXPY = (Path(__file__).parent / "saxpy" / "asm.gfx942.txt").read_text(encoding="utf-8")


@pytest.fixture(params=("gfx942", "gfx1100"))
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_assembly_language(arch: str) -> None:
    wave32 = "" if arch == "gfx942" else "  .amdhsa_wavefront_size32 1\n"
    accum = "  .amdhsa_accum_offset 4\n" if arch == "gfx942" else ""
    text = f""".amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.amdhsa_code_object_version 6
.text
.globl store
.p2align 8
.type store,@function
store:
  v_mov_b32 v0, 7
  s_endpgm
.Lend:
.size store, .Lend-store
.rodata
.p2align 6
.amdhsa_kernel store
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
{accum}{wave32}.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: store
    .symbol: store.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: {64 if arch == "gfx942" else 32}
    .sgpr_count: 8
    .vgpr_count: 4
    .max_flat_workgroup_size: 1024
    .args:
      - {{ .address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer }}
      - {{ .offset: 8, .size: 12, .value_kind: by_value }}
...
.end_amdgpu_metadata
"""
    code = languages.compile(text, "asm", arch=arch, name="store.s", first_line=5)
    assert code.kernels["store"].parameters == (
        Parameter("arg0", "void *", "pointer", 8, None, 0),
        Parameter("arg1", "", "value", 12, None, 8),
    )
    assert lines_of(code.assembly, "v_mov_b32") == {("store.s", 12)}
    assert lines_of(code.assembly, "s_endpgm") == {("store.s", 13)}
    with pytest.raises(CompileError) as caught:
        wrong = text.replace("v_mov_b32 v0, 7", "v_move_b32 v0, 7")
        languages.compile(wrong, "asm", arch=arch, name="store.s", first_line=5)
    (first, *_) = caught.value.diagnostics
    assert first.where is not None
    assert (first.where.line, first.where.text) == (12, "  v_move_b32 v0, 7")


def written(text: str, lines: list[int]) -> str:
    """The kept text of an assembly text that a language made of a source of two lines."""
    asked = request("load\nstore\n", arch="gfx942", language="two", name="two.lines", use_cache=False)
    return assemble.assemble(asked, text, NO_GUARANTEES, lines).assembly


def test_lines_of_a_language_that_writes_assembly() -> None:
    """Loads come from its line 1, the store from line 2, all else from none."""
    lines = [1 if "_load_" in line else 2 if "_store_" in line else 0 for line in SAXPY.split("\n")]
    marked = written(SAXPY, lines)
    assert lines_of(marked, "global_load") == {("two.lines", 1)}
    assert lines_of(marked, "global_store") == {("two.lines", 2)}
    assert lines_of(marked, "s_endpgm") == {("two.lines", 0)}
    with pytest.raises(CompileError) as caught:
        written(SAXPY.replace("global_store_dword v1", "global_store_dword w1"), lines)
    (first, *_) = caught.value.diagnostics
    assert first.where is not None
    assert (first.where.file, first.where.line, first.where.column, first.where.text) == ("two.lines", 2, 0, "store")
    with pytest.raises(CompileError) as caught:
        written(SAXPY.replace("s_endpgm", "s_end"), lines)  # no line of the source is to blame
    assert caught.value.diagnostics[0].where is None
    assert "in the assembly: s_end" in str(caught.value)


def test_a_pair_that_reads_one_bank_twice_is_refused() -> None:
    """RDNA3: the halves of a VOPD pair read their sources from different banks. The assembler knows; it is asked."""
    text = """.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
  v_dual_add_f32 v0, v1, v2 :: v_dual_add_f32 v1, v5, v6
"""
    with pytest.raises(CompileError, match="must use different VGPR banks"):
        languages.compile(text, "asm", arch="gfx1100", name="pair.s")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('"a"', 0), ('"a\\""', 0), ("; \"\n// \"\n/* \"\n\" */ s_nop 0", 0), ('"', 1), ('"a\n"', 1),
        ('\n"', 2), ('"a" "b\n', 1), ('"a"\n; "\n/*\n*/ "b', 4), ('s_nop 1\n\n.ascii "a\\"\n.ascii "b"\n', 3),
    ],
)  # fmt: skip
def test_texts_that_have_no_end(source: str, line: int) -> None:
    """LLVM's assembler would read on for ever: none of them gets there."""
    if not line:
        assert _open_text(source) == 0
        return
    with pytest.raises(CompileError) as caught:
        languages.compile(source, "asm", arch="gfx942", name="open.s")
    (only,) = caught.value.diagnostics
    assert only.where is not None
    assert (only.where.line, only.where.column, only.where.text) == (line, 1, source.split("\n")[line - 1])
    assert str(caught.value) == (
        f"open.s, line {line}: a text in double quotes has no end.\n"
        "Why: a text ends in the line in which it begins, with a double quote.\n"
        'Try: write \\" for a double quote inside of a text.'
    )
