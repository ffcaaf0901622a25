"""The assembly text that is made of Triton's: whole texts, with the source's line of each line."""

from __future__ import annotations

import pytest

from gpulab.errors import CompileError
from gpulab.toolchain.triton.text import Compiled, Parameter, assembly_of


def written(symbol: str, *, notes: str = "", end: str = "\t.end_amdgpu_metadata\n") -> str:
    """A text as LLVM writes it for a kernel with one parameter, from lines 1, 4 and 6 of the source."""
    return f"""\t.amdgcn_target "amdgpu9.42-amd-amdhsa-unknown-gfx942"
\t.amdhsa_code_object_version 6
\t.text
\t.globl\t{symbol}
{symbol}:
\t.file\t1 "/somewhere" "kernel.py"
\t.loc\t1 1 0
\ts_nop 1
\t.file\t2 "/lib" "standard.py"
\t.loc\t2 3 0                           ; standard.py:3:0
\ts_nop 2
\t.loc\t2 287 12                        ; standard.py:287:12 @[ kernel.py:3:9 @[ kernel.py:4:9 ] ]
\ts_nop 3
\t.loc\t1 0 0
\ts_nop 4
\t.loc\t1 6 0
.Lend:
\ts_branch .Lend
\t.amdhsa_kernel {symbol}
\t\t.amdhsa_group_segment_fixed_size 0
\t\t.amdhsa_inst_pref_size 3
\t.end_amdhsa_kernel
\t.amdgpu_metadata
---
amdhsa.kernels:
{notes or described(symbol)}
...
{end}"""


def described(symbol: str) -> str:
    return f"""  - .name: {symbol}
    .group_segment_fixed_size: 0
    .args:
      - {{.value_kind: by_value, .offset: 0}}
      - {{.value_kind: global_buffer, .address_space: global}}
      - {{.value_kind: hidden_none, .address_space: global}}
      - {{.value_kind: global_buffer}}"""


def kernel(symbol: str, assembly: str | None = None, lds_bytes: int = 0) -> Compiled:
    text = assembly if assembly is not None else written(symbol)
    return Compiled(symbol, symbol, (Parameter("x", "i32"),), lds_bytes, text)


def test_a_text_of_two_kernels_with_the_lines_of_the_source() -> None:
    """The source stands from line 11 on and has five lines: there is no sixth one."""
    text, lines = assembly_of([kernel("k", lds_bytes=8), kernel("m")], 11, 5)
    body = """\t.text @
\t.globl\tNAME @
NAME: @
\ts_nop 1 @11
\ts_nop 2 @11
\ts_nop 3 @14
\ts_nop 4 @14
.LNUMBER_end: @
\ts_branch .LNUMBER_end @
\t.amdhsa_kernel NAME @
\t\t.amdhsa_group_segment_fixed_size BYTES @
\t.end_amdhsa_kernel @
 @
 @
"""
    notes = """- .args: @
  - .offset: 0 @
    .value_kind: by_value @
  - .value_kind: hidden_none @
  - .address_space: global @
    .value_kind: hidden_none @
  - .value_kind: hidden_none @
  .group_segment_fixed_size: BYTES @
  .name: NAME @
"""

    def of(template: str) -> str:
        first = template.replace("NAME", "k").replace("NUMBER", "0").replace("BYTES", "8")
        return first + template.replace("NAME", "m").replace("NUMBER", "1").replace("BYTES", "0")

    expected = (
        "\t.amdhsa_code_object_version 5 @\n" + of(body) + "\t.amdgpu_metadata @\n--- @\namdhsa.kernels: @\n"
        + of(notes) + "amdhsa.version: @\n- 1 @\n- 2 @\n... @\n\t.end_amdgpu_metadata @\n @"
    )  # fmt: skip
    pairs = zip(text.split("\n"), lines, strict=True)
    assert "\n".join(f"{line} @{at or ''}" for line, at in pairs) == expected


def test_labels_of_one_kernel_keep_their_names() -> None:
    text, lines = assembly_of([kernel("k")], 1, 6)
    assert "\n.Lend:\n\ts_branch .Lend\n" in text
    assert lines[text.split("\n").index("\ts_branch .Lend")] == 6


@pytest.mark.parametrize(
    ("assembly", "said"),
    [
        ("\t.text\n", "the kernel k has no notes."),
        (written("k", end=""), "the kernel k has no notes."),
        (written("k", notes="  - 3"), "the notes of the kernel k cannot be read: 'int' object is not subscriptable."),
        (
            written("k", notes=described("k") + "\n      - {.value_kind: by_value}"),
            "the notes of the kernel k cannot be read: 4 arguments.",
        ),
        (written("m"), "the text of the kernel k describes 0 kernels of that name."),
        (
            written("k", notes=described("k") + "\n" + described("k")),
            "the text of the kernel k describes 2 kernels of that name.",
        ),
    ],
)
def test_texts_that_are_not_as_llvm_writes_them(assembly: str, said: str) -> None:
    with pytest.raises(CompileError) as caught:
        assembly_of([kernel("k", assembly)], 1, 5)
    assert str(caught.value) == said


def test_numbers_of_any_length_are_no_line_of_the_source() -> None:
    """A stranger's text may have numbers that Python refuses to read. No source has a billion lines."""
    huge = "9" * 5000
    text = written("k").replace("\t.loc\t1 6 0", f"\t.loc\t1 {huge} 0").replace("kernel.py:4:9", f"kernel.py:{huge}:9")
    made, lines = assembly_of([kernel("k", text)], 11, 999_999_999)
    found = {line.strip(): at for line, at in zip(made.split("\n"), lines, strict=True) if line.startswith("\ts_")}
    last = 10 + 999_999_999
    assert found == {"s_nop 1": 11, "s_nop 2": 11, "s_nop 3": last, "s_nop 4": last, "s_branch .Lend": last}
    assert not any(assembly_of([kernel("k", text.replace("\t.loc\t1 1 0", ""))], 11, 5)[1])
