"""What `gpulab isa` says of an instruction, and the index of all names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import gpulab
from gpulab import architectures
from gpulab.errors import UnsupportedInstruction
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa import index

PACKAGE = Path(gpulab.__file__).parent
EVERYWHERE = architectures.names()
RDNA = {name for name in EVERYWHERE if architectures.get(name).wave_size == 32}


def test_the_committed_index_is_up_to_date() -> None:
    path = PACKAGE / "virtual_gpu" / "isa" / "INDEX.tsv"
    assert path.read_text(encoding="utf-8").splitlines() == list(index.lines()), "run `make isa-index`"


def test_the_index_has_every_name_of_every_device() -> None:
    listed: dict[str, set[str]] = {}
    for line in list(index.lines())[1:]:
        mnemonic, devices, _, file, meaning = line.split("\t")
        assert meaning
        assert (PACKAGE / "virtual_gpu" / "isa" / file).exists()
        listed.setdefault(mnemonic, set()).update(devices.split())
    for arch in EVERYWHERE:
        assert {name for name, devices in listed.items() if arch in devices} == set(isa.table(arch))


def test_an_addition() -> None:
    (entry,) = index.entries("v_add_f32")
    assert (entry.meaning, entry.formulas) == ("Sum.", ("dst = a + b",))
    assert (entry.sources, entry.destinations) == (("a: f32", "b: f32"), ("dst: f32",))
    assert (entry.accuracy, entry.devices) == ("exact", EVERYWHERE)
    assert entry.rate.startswith("full")
    assert "CDNA3 ISA manual 12.7" in entry.manual
    assert (
        index.entries("v_add_f32_e64") == index.entries("V_ADD_F32_dpp") == index.entries("v_dual_add_f32") == (entry,)
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("v_add_f32", 'f"v_add_{type}"'), ("s_and_b64", "s_and_"), ("v_mul_legacy_f32", "v_mul_legacy_f32"),
        ("v_div_scale_f32", "v_div_scale_f32"), ("v_cvt_i32_i16", '_plain("i32", "i16"'), ("v_swap_b32", "v_swap_b32"),
        ("s_nop", "s_nop"), ("v_readlane_b32", "v_readlane_b32"), ("v_mad_f32", "v_mad_f32"),
    ],
)  # fmt: skip
def test_file_and_line_are_those_of_the_definition(name: str, words: str) -> None:
    entry = index.entries(name)[0]
    lines = (PACKAGE / entry.file).read_text(encoding="utf-8").splitlines()
    assert words in "\n".join(lines[max(entry.line - 2, 0) : entry.line + 3]), (entry.file, entry.line)


def test_many_rows_of_one_function_have_the_line_in_it() -> None:
    entry = index.entries("global_load_dwordx2")[0]
    line = (PACKAGE / entry.file).read_text(encoding="utf-8").splitlines()[entry.line - 1]
    assert re.match(r"\s+_add\(", line), line


def test_names_with_the_same_meaning() -> None:
    (old,) = index.entries("v_addc_co_u32")
    assert set(old.aliases["v_add_co_ci_u32"]) == RDNA
    (load,) = index.entries("global_load_dwordx2")
    assert "gfx1100" in load.aliases["global_load_b64"]
    (renamed,) = index.entries("s_add_co_u32")
    assert renamed.devices == ("gfx1200", "gfx1201")
    assert "gfx942" in renamed.aliases["s_add_u32"]


def test_one_name_with_two_meanings_has_two_entries() -> None:
    first, second = index.entries("v_cmpx_eq_u32")
    assert {*first.devices, *second.devices} == set(EVERYWHERE)
    assert [entry.destinations for entry in (first, second)] == [("dst: b1", "exec: b1"), ("exec: b1",)]


def test_what_loads_atomics_and_matrices_say() -> None:
    (load,) = index.entries("ds_read_b64")
    assert (load.sources, load.destinations, load.rate) == (("address in LDS",), ("data: 64 bits",), "LDS")
    atomic = index.entries("global_atomic_add")[0]
    assert atomic.formulas == ("memory = memory + data",)
    matrix = index.entries("v_mfma_f32_32x32x8_f16")[0]
    assert matrix.formulas == ("D = A B + C: A 32 x 8, B 8 x 32, C and D 32 x 32",)
    assert matrix.sources == ("A: f16", "B: f16", "C: f32")


def test_every_entry_can_be_made() -> None:
    for mnemonic in {line.partition("\t")[0] for line in list(index.lines())[1:]}:
        for entry in index.entries(mnemonic):
            assert entry.meaning
            assert entry.manual
            assert entry.line > 0
            assert (PACKAGE / entry.file).exists()


@pytest.mark.full
def test_search_wants_all_words() -> None:
    found = {entry.mnemonic for entry in index.search("Carry OUT")}
    assert {"s_addc_u32", "v_addc_co_u32", "v_add_co_ci_u32"} <= found
    assert "v_add_f32" not in found
    assert index.search("no such words in any row") == ()


def test_what_is_not_there_is_refused_with_the_nearest_or_the_reason() -> None:
    with pytest.raises(UnsupportedInstruction, match=r"(?s)no instruction 'v_ad_f32'.*v_add_f32"):
        index.entries("v_ad_f32")
    with pytest.raises(UnsupportedInstruction, match=r"(?s)image_atomic_add is not executed.*atomicAdd"):
        index.entries("image_atomic_add")
    with pytest.raises(
        UnsupportedInstruction, match=r"(?s)s_setvskip is not executed.*passes over vector instructions"
    ):
        index.entries("s_setvskip")  # hand-written kernels for gfx942 have it


def test_the_meaning_on_a_device() -> None:
    assert index.meaning("gfx942", "v_cmpx_eq_u32_e64").endswith("Into the mask and EXEC.")
    assert index.meaning("gfx1100", "v_cmpx_eq_u32_e32").endswith("Into EXEC.")
    assert index.meaning("gfx1100", "v_dual_mov_b32") == "Move."
    assert index.meaning("gfx900", "v_mov_b32") == ""
    assert index.meaning("gfx942", "v_nothing") == ""


TEXTS = {
    "cli.py": "an example in the help",
    "grading/requirements.py": "courses count instructions by the beginnings of their names, in listings",
    "toolchain/advice.py": "what is said of assembly that does not compile",
    "toolchain/binary/text.py": "reads LLVM's sequences in disassembly, before there are rows",
    "toolchain/listing.py": "reads Clang's text, before there are rows",
}
"""Files below or beside the rows that name instructions in text."""


@pytest.mark.full
def test_no_instruction_is_named_outside_of_isa() -> None:
    """What an instruction does is asked of its row: `instruction.mnemonic == "s_getpc_b64"` would be a second table."""
    names = {line.split("\t")[0] for line in index.lines()}
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        text = path.read_text(encoding="utf-8")
        if file.startswith("virtual_gpu/isa/") or file in TEXTS or names.isdisjoint(re.findall(r"\w+", text)):
            continue
        tree = ast.parse(text)
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        texts = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
        found |= {f"{file}:{n.lineno} {n.value}" for n in texts if id(n) not in said and {*n.value.split()} & names}
    assert found == set()
