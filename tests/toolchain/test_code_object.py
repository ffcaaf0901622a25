"""Reading code objects: round trips, foreign files, damaged files."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulab.errors import GpulabError
from gpulab.toolchain import CodeObject, compile, compiler, elf
from gpulab.toolchain.binary import decoder
from gpulab.toolchain.code_object import MOST_ARGUMENT_BYTES, KernelSignature, Parameter, laid_out

SOURCE = "__global__ void k(float* x, int n) { if (n > 3) x[threadIdx.x] = sinf(x[n]); }"


@pytest.fixture(scope="module")
def code() -> CodeObject:
    return compile(SOURCE, arch="gfx942")


def test_metadata_is_llvms_own(code: CodeObject) -> None:
    """The binary metadata says what Clang wrote as text beside it."""
    (kernel,) = elf.metadata(code.elf)["amdhsa.kernels"]
    for line in (".kernarg_segment_size: ", ".vgpr_count: ", ".sgpr_count: ", ".max_flat_workgroup_size: "):
        written = code.assembly.split(line)[1].split()[0]
        assert kernel[line.strip(": ")] == int(written)
    assert elf.metadata(code.elf)["amdhsa.target"] == "amdgcn-amd-amdhsa--gfx942"


def test_message_pack_against_its_specification() -> None:
    """Encodings written by hand from the MessagePack specification."""
    cases = {
        b"\x07": 7, b"\xff": -1, b"\xe0": -32, b"\xc0": None, b"\xc2": False, b"\xc3": True, b"\xcc\xff": 255,
        b"\xcd\x01\x00": 256, b"\xce\x00\x01\x00\x00": 65536, b"\xcf\x00\x00\x00\x01\x00\x00\x00\x00": 1 << 32,
        b"\xd0\x80": -128, b"\xd1\xff\x00": -256, b"\xd2\xff\xff\xff\xff": -1, b"\xd3" + b"\xff" * 8: -1,
        b"\xa3abc": "abc", b"\xd9\x02hi": "hi", b"\x92\x01\xa1x": [1, "x"], b"\x81\xa1a\x02": {"a": 2},
        b"\xc4\x02\x00\x01": b"\x00\x01", b"\xca\x3f\x80\x00\x00": 1.0, b"\xcb\xc0\x00\x00\x00\x00\x00\x00\x00": -2.0,
        b"\xdc\x00\x01\x05": [5], b"\xde\x00\x01\x05\x06": {5: 6}, b"\xda\x00\x01z": "z",
    }  # fmt: skip
    for raw, value in cases.items():
        assert elf._unpacked(b"\x81\xa1k" + raw) == {"k": value}, raw
    for raw in (
        b"", b"\xc1", b"\xa3ab", b"\x92\x01", b"\x81\x90\x01", b"\x91" * 40, b"\x91" * 100_000,
        b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\x01", b"\x80\x80",
        b"\xd6\xff\x00",
    ):  # fmt: skip
        with pytest.raises(GpulabError):
            elf._unpacked(raw)


@pytest.mark.skipif(bool(decoder.missing()), reason="the disassembler is made for Linux on x86-64 alone")
def test_a_code_object_of_others_is_read_back(tmp_path: Path, code: CodeObject) -> None:
    text = tmp_path / "k.s"
    text.write_text(code.assembly)
    unit, out = tmp_path / "k.o", tmp_path / "k.co"
    target = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx942"]
    for command in (["clang", *target, "-x", "assembler", "-c", str(text), "-o", str(unit)],
                    ["ld.lld", "-shared", str(unit), "-o", str(out)]):  # fmt: skip
        assert compiler.run(command, folder=tmp_path).code == 0
    read = CodeObject.from_elf(out.read_bytes())
    assert (read.arch, read.language, read.source) == ("gfx942", "", "")
    (kernel,) = read.kernels.values()
    assert kernel.symbol == "_Z1kPfi"
    assert [(p.kind, p.size, p.offset, p.dtype) for p in kernel.parameters] == [
        ("pointer", 8, 0, None),
        ("value", 4, 8, None),
    ]


def test_added_sections_leave_the_rest_alone(code: CodeObject) -> None:
    before = {s.name: s.contents for s in elf.read(code.elf)}
    more = elf.add_sections(code.elf, {".extra": b"12345", ".none": b""})
    after = {s.name: s.contents for s in elf.read(more)}
    assert after.pop(".extra") == b"12345"
    assert after.pop(".none") == b""
    names = before.pop(".shstrtab"), after.pop(".shstrtab")
    assert names[1].startswith(names[0])
    assert after == before
    # What a loader reads, the program headers, is where it was.
    assert more[64 : 64 + 56 * struct.unpack_from("<H", code.elf, 56)[0]] == code.elf[64 : 64 + 56 * more[56]]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x7fELF",
        b"MZ" + bytes(100),
        bytes(64),
        b"__CLANG_OFFLOAD_BUNDLE__" + bytes(100),
        b"\x7fELF" + b"\xff" * 200,
    ],
)
def test_other_files(raw: bytes) -> None:
    with pytest.raises(GpulabError, match=r"not a code object|cannot be read"):
        CodeObject.from_elf(raw)


def test_host_program_is_named() -> None:
    host = bytearray(128)
    host[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<H", host, 18, 62)  # EM_X86_64
    with pytest.raises(GpulabError, match="machine number 62"):
        CodeObject.from_elf(bytes(host))


def readable(raw: bytes) -> None:
    """Reading gives a CodeObject or a GpulabError, nothing else."""
    try:
        arch = CodeObject.from_elf(raw).arch
    except GpulabError:
        return
    assert arch


def test_cut_files(code: CodeObject) -> None:
    for size in range(0, len(code.elf), 97):
        with pytest.raises(GpulabError, match=r"not a code object|cannot be read"):
            CodeObject.from_elf(code.elf[:size])


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 12))
def test_damaged_files(code: CodeObject, seed: int, count: int) -> None:
    chance = random.Random(seed)
    raw = bytearray(code.elf)
    start = struct.unpack_from("<Q", raw, 40)[0]
    for _ in range(count):
        # Half of the damage goes where it hurts: file header, section headers.
        where = chance.choice((chance.randrange(64), chance.randrange(start, len(raw)), chance.randrange(len(raw))))
        raw[where] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    readable(bytes(raw))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_after_a_header(tail: bytes) -> None:
    readable(b"\x7fELF\x02\x01\x01\x40" + bytes(8) + b"\x03\x00\xe0\x00" + tail)


@pytest.mark.parametrize(
    "meta",
    [b"", b"{}", b"[]", b"null", b'{"version": 1}', b'{"version": 3}', b'{"version": 99}', b"\xff\xfe", b"[" * 100_000],
)
def test_bad_notes(code: CodeObject, meta: bytes) -> None:
    bare = bytearray(code.elf)
    at = bytes(bare).rindex(b".gpulab.meta")
    bare[at : at + 12] = b".gpulab.xxxx"
    with pytest.raises(GpulabError, match=r"cannot be read|another version"):
        CodeObject.from_elf(elf.add_sections(bytes(bare), {".gpulab.meta": meta}))


def test_a_cell_of_an_earlier_process_is_found_by_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Triton keeps names the cell as the process did in which it was compiled."""
    import linecache

    cells = {"/tmp/ipykernel_77/1.py": "def add(x): 1\n", "/tmp/ipykernel_77/2.py": "def add(x): 2\n",
             "/tmp/ipykernel_77/3.py": "def added(x): 3\n", "/somewhere/4.py": "def add(x): 4\n"}  # fmt: skip
    for name, text in cells.items():
        monkeypatch.setitem(linecache.cache, name, (len(text), None, [text], name))
    kernels = {"add": KernelSignature("add", "add")}
    old, known = "/tmp/ipykernel_5/9.py", "/tmp/ipykernel_77/1.py"
    code = CodeObject("gfx942", b"", "", "", "code object", kernels, files=(old, known, "/nowhere.py", "/etc/passwd"))
    assert code.sources() == {old: "def add(x): 2\n", known: "def add(x): 1\n", "/nowhere.py": ""}
    other = CodeObject("gfx942", b"", "", "", "code object", {"sub": KernelSignature("sub", "sub")}, files=(old,))
    assert other.sources() == {old: ""}


def of_kernels(*names: str, **fields: Any) -> CodeObject:
    """A code object without code; the symbol of the kernel `name` is its number behind an s."""
    kernels = {f"s{number}": KernelSignature(f"s{number}", name) for number, name in enumerate(names)}
    return CodeObject("gfx942", b"", "", "", "cell.hip", kernels, **fields)


SEVERAL = of_kernels(
    "one", "two<int>", "two<float>", "three<int>", "n::four", name_expressions={"f<4>": "s3", "g": "x"}
)


@pytest.mark.parametrize(
    ("name", "symbol"),
    [("one", "s0"), ("s1", "s1"), ("f<4>", "s3"), ("two<float>", "s2"), ("three", "s3"), ("n::four", "s4")],
)
def test_kernels_by_symbol_name_and_expression(name: str, symbol: str) -> None:
    assert SEVERAL.find(name).symbol == symbol


@pytest.mark.parametrize(
    ("code", "name", "said"),
    [
        (SEVERAL, "two", "cell.hip has 2 kernels named two.\n"
         "Why: overloads and instances of a template share a name.\n"
         "Try: choose one: two<int>() = s1, two<float>() = s2."),
        (SEVERAL, "oen", "cell.hip has no kernel named oen.\n"
         "Why: it has one(), two<int>(), two<float>(), three<int>(), n::four().\nTry: did you mean one?"),
        (of_kernels("k"), "qqqqqq", "cell.hip has no kernel named qqqqqq.\n"
         "Why: it has k().\nTry: kernels are the functions marked __global__."),
        (SEVERAL, "g", "cell.hip has no kernel named g.\n"
         "Why: it has one(), two<int>(), two<float>(), three<int>(), n::four().\n"
         "Try: kernels are the functions marked __global__."),
        (of_kernels(), "k", "cell.hip compiled, but there is no kernel in it.\n"
         "Why: The cell is empty but for comments.\n"
         'Try: a kernel looks like this: extern "C" __global__ void name(float* x, int n) { ... }'),
        (replace(of_kernels(), source="int x;"), "k", "cell.hip compiled, but there is no kernel in it.\n"
         "Why: a kernel is a function marked __global__.\n"
         'Try: a kernel looks like this: extern "C" __global__ void name(float* x, int n) { ... }'),
    ],
)  # fmt: skip
def test_a_kernel_that_is_not_there(code: CodeObject, name: str, said: str) -> None:
    with pytest.raises(GpulabError) as caught:
        code.find(name)
    assert str(caught.value) == said


def arguments(*places: tuple[int, int]) -> KernelSignature:
    return KernelSignature("s", "k", tuple(Parameter("p", "int", "value", size, "int32", at) for at, size in places))


@pytest.mark.parametrize(
    ("places", "fits"),
    [
        ((), True),
        (((0, 4), (4, 8)), True),
        (((0, 4), (8, 8)), True),
        (((0, 0), (0, 4)), True),
        (((0, 4), (3, 8)), False),
        (((4, 4), (0, 4)), False),
        (((-1, 4),), False),
        (((4, -1),), False),
        (((0, MOST_ARGUMENT_BYTES),), True),
        (((1, MOST_ARGUMENT_BYTES),), False),
    ],
)
def test_arguments_lie_one_behind_the_other(places: tuple[tuple[int, int], ...], fits: bool) -> None:
    signature = arguments(*places)
    assert MOST_ARGUMENT_BYTES == 65536
    if fits:
        assert laid_out(signature) is signature
        return
    with pytest.raises(GpulabError, match=r"the kernel k has its argument p of -?\d+ bytes at byte -?\d+ of the"):
        laid_out(signature)


def test_a_signature_reads_as_in_the_source() -> None:
    kinds = (("float*", "x"), ("S &", "y"), ("int", "n"), ("int", ""))
    parameters = tuple(Parameter(name, type_, "value", 4) for type_, name in kinds)
    assert str(KernelSignature("s", "k<1>", parameters)) == "k<1>(float*x, S &y, int n, int)"
    assert (parameters[0].dtype, parameters[0].offset) == (None, 0)


def test_sources_and_what_the_compiler_said() -> None:
    warned = "cell.hip:5:1: warning: m\n"
    code = CodeObject("gfx942", b"", "asm", "text", "cell.hip", first_line=5, messages=warned)
    assert code.sources() == {"cell.hip": "\n\n\n\ntext"}
    assert code.log == "cell.hip:5:1: warning: m\n    text\n    ^"
    assert [warning.message for warning in code.warnings] == ["m"]
    translated = CodeObject("gfx942", b"", "", "text", "cell.hip", first_line=5, messages=warned, translation="other")
    assert translated.log == "cell.hip:5: warning: m\n    text\n  The compiler read:\n    other\n    ^"
    silent = CodeObject("gfx942", b"", '\t.file\t1 "k.s"\ns_nop 0', "s_nop 0", "k.s")
    assert (silent.warnings, silent.log, silent.first_line, silent.program) == ((), "", 1, False)
    assert (code.source_beside, silent.source_beside) == ("text", "")
    for shown in (repr(code), repr(translated)):
        for field in ("elf=", "assembly=", "source=", "translation=", "messages=", "headers="):
            assert field not in shown
