"""decode.c, with a small library in place of LLVM (small_llvm.c): what it asks of it, what it answers, how it ends."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import binary, cache, compiler, host
from gpulab.toolchain.binary import decoder

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="decode.c is made for Linux alone")
FOLDER = Path(binary.__file__).parent
COUNTED = f"""
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long held, asked;
static void *counted(size_t count, size_t size) {{
    size_t *found = malloc(count * size + 24);
    if (count * size > 1ul << 40 || found == NULL) return NULL;
    held++, asked += (long)(count * size), *found = count * size;
    memset(found + 1, 0, count * size), memset((char *)(found + 1) + count * size, 0x5a, 16);
    return found + 1;
}}
static void given_back(void *old) {{
    size_t *found = (size_t *)old - 1;
    for (int i = 0; i < 16; i++)
        if (((char *)old)[*found + i] != 0x5a) abort();
    held--, free(found);
}}
#define calloc counted
#define free given_back
#define _Exit(code) (fprintf(stderr, "%ld bytes, %ld held\\n", asked, held), _Exit(code))
#include "{FOLDER / "decode.c"}"
"""  # how much memory was asked for, and how many pieces are held at the end; behind each nothing may be written
TRIPLE = "amdgcn-amd-amdhsa"
START = [
    "part TargetInfo", "part Target", "part TargetMC", "part AsmPrinter", "part AsmParser", "part Disassembler",
    f"disassembler {TRIPLE} gfx0 +some 0 0 0 0", f"target {TRIPLE}", f"machine target {TRIPLE} gfx0 +some 0 2 0",
]  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, and the small library."""
    folder = tmp_path_factory.mktemp("decode")
    host.compile_host_library(COUNTED, folder / "decode", optimize="1", options=["-ldl"], program=True)
    host.compile_host_library(Path(__file__).with_name("small_llvm.c"), folder / "small.so", optimize="1")
    return folder


def run(folder: Path, request: bytes, *arguments: str, **environment: str) -> tuple[int, list[str], list[str], str]:
    """How the program ended, the lines of its answer, the calls of the library, and what it said."""
    for name in ("answer", "calls"):
        (folder / name).unlink(missing_ok=True)
    words = list(arguments) or [str(folder / "small.so"), "gfx0", "+some", str(folder / "answer")]
    done = subprocess.run(
        [str(folder / "decode"), *words], input=request, capture_output=True, check=False, timeout=20,
        env={**os.environ, "CALLS": str(folder / "calls"), **environment},
    )  # fmt: skip
    answer, calls = ((folder / name) for name in ("answer", "calls"))
    lines = [path.read_text().splitlines() if path.exists() else [] for path in (answer, calls)]
    return done.returncode, lines[0], lines[1], done.stderr.decode()


def memory(pieces: list[tuple[int, int, int]], units: list[tuple[int, int]]) -> str:
    """What is said at the end: all was given back. Each piece of code takes its bytes, 536 for each four of them, and
    two lists, of all instructions and of those that LLVM knows; each unit to assemble, of so many instructions and
    bytes, takes a text and its bytes.
    """
    most = sum(size + size // 4 * 536 + 8 * (every + known + 2) for size, every, known in pieces)
    most += sum(count * 576 + 64 + size for count, size in units)
    return f"{most} bytes, 0 held\n"


def piece(address: int, *instructions: str) -> bytes:
    code = bytes.fromhex("".join(instructions))
    return struct.pack("<QQ", address, len(code)) + code


ONE, TWO, THREE = "01000011", "0200002222222222", "030000333333333333333333"


def tried(*lines: str) -> list[str]:
    """The calls by which these lines are assembled."""
    return ["module again context", f"module for {TRIPLE}", f"assemble {lines[0]}", *lines[1:], "emit machine module 1"]


ENDED = ["end object", "end module", "end context"]


def test_instructions_of_two_pieces(built: Path) -> None:
    request = piece(0x1000, ONE, TWO, "ff000000", THREE, "010000") + piece(2**40, TWO) + piece(5)
    code, answer, calls, said = run(built, request)
    assert (code, said) == (0, memory([(31, 4, 3), (8, 1, 1), (0, 0, 0)], [(3, 24), (1, 8)]))
    assert answer == [
        f"1000 4 one 0x{ONE}", f"1004 8 two 0x{TWO}", "100c 4 ?", f"1010 c three 0x{THREE}",
        f"10000000000 8 two 0x{TWO}",
    ]  # fmt: skip
    first = [".text", ".org 0", f"one 0x{ONE}", ".org 4", f"two 0x{TWO}", ".org 12", f"three 0x{THREE}"]
    assert calls == [
        *START, *tried(*first, ".org 24"), *ENDED,
        *tried(".text", ".org 0", f"two 0x{TWO}", ".org 8"), *ENDED,
    ]  # fmt: skip


def test_instructions_that_do_not_come_again(built: Path) -> None:
    """e0 is assembled to other bytes; of e2 there is a warning, which refuses nothing. What is there twice is tried
    once, and the shortest first."""
    _, answer, calls, said = run(built, piece(0, ONE, "01e00000", ONE, "01e20000"))
    assert answer == [f"0 4 one 0x{ONE}", "4 4 !one 0x01e00000", f"8 4 one 0x{ONE}", "c 4 one 0x01e20000"]
    lines = [f".org 0\none 0x{ONE}", ".org 4\none 0x01e00000", ".org 8\none 0x01e20000"]
    assert "\n".join(calls) == "\n".join([*START, *tried(".text", *lines, ".org 12"), *ENDED])
    assert said == memory([(16, 4, 4)], [(3, 12)])


@pytest.mark.parametrize("kind", ["e1", "e3", "e4", "e5", "e6"])
def test_what_is_refused_is_tried_by_halves(built: Path, kind: str) -> None:
    """Of three different instructions the second cannot be assembled: one is tried, then two, of these each one.
    A unit without an object, with a failure, without code and with too little code is refused too."""
    bad = f"01{kind}0000"
    code, answer, calls, said = run(built, piece(0x100, ONE, TWO, ONE, bad, TWO))
    sizes = [16, 4, 12, 4, 8]
    units = [[ONE, bad, TWO], [ONE], [bad, TWO], [bad], [TWO]]
    assert (code, said) == (
        0,
        memory([(28, 5, 5)], [(len(unit), size) for unit, size in zip(units, sizes, strict=True)]),
    )
    assert answer == [
        f"100 4 one 0x{ONE}", f"104 8 two 0x{TWO}", f"10c 4 one 0x{ONE}", f"110 4 !one 0x{bad}", f"114 8 two 0x{TWO}",
    ]  # fmt: skip
    refused = ENDED if kind != "e3" else ENDED[1:]
    wanted = list(START)
    for unit, size in zip(units, sizes, strict=True):
        at, body = 0, [".text"]
        for each in unit:
            body += [f".org {at}", f"{'one' if each[1] == '1' else 'two'} 0x{each}"]
            at += len(each) // 2
        wanted += [*tried(*body, f".org {size}"), *(refused if bad in unit else ENDED)]
    assert calls == wanted


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("", []), ("01", []), ("010203", []), ("01000000", ["0 4 one 0x01000000"]),
        ("0100000002", ["0 4 one 0x01000000"]), ("0100000002000000", ["0 4 one 0x01000000", "4 4 ?"]),
        ("02000000", ["0 4 ?"]), ("04000000", ["0 4 ?"]), ("0400000000000000", ["0 8 four 0x0400000000000000"]),
        ("040000000000", ["0 4 ?"]), ("00000000000000000000", ["0 4 ?", "4 4 ?"]),
    ],
)  # fmt: skip
def test_pieces_of_a_few_bytes(built: Path, code: str, answer: list[str]) -> None:
    """What is read as longer than the piece is no instruction; fewer than four bytes at the end are left."""
    assert run(built, piece(0, code))[1] == answer


def test_many_instructions(built: Path) -> None:
    code, answer, _, said = run(built, piece(0, *[ONE, TWO] * 2000))
    assert (code, len(answer), answer[-1], said) == (
        0, 4000, f"5db8 8 two 0x{TWO}", memory([(24000, 4000, 4000)], [(2, 12)]))  # fmt: skip
    code, answer, _, _ = run(built, piece(0, *["ff000000"] * 3000))
    assert (code, len(answer)) == (0, 3000)


def test_how_it_ends(built: Path, tmp_path: Path) -> None:
    small, answer = str(built / "small.so"), str(built / "answer")
    assert run(built, b"", "a", "b", "c")[0] == 2
    assert run(built, b"")[:3:2] == (0, START)
    code, _, calls, said = run(built, b"", "/nowhere/llvm.so", "gfx0", "", answer)
    assert (code, calls) == (3, [])
    assert said.startswith("/nowhere/llvm.so: cannot open shared object file")
    for libraries in (("/nowhere/z.so",), ("/nowhere/z.so", small), (small, "/nowhere/z.so")):
        code, _, calls, said = run(built, b"", small, *libraries, "gfx0", "", answer)
        assert (code, calls) == (3, [])
        assert said.startswith("/nowhere/z.so: cannot open shared object file")
    code, _, calls, _ = run(built, b"", small, small, small, "gfx0", "+some", answer)
    assert (code, calls) == (0, START)
    missing = str(tmp_path / "nowhere" / "answer")
    assert run(built, b"", small, "gfx0", "", missing)[::3] == (3, f"{missing}: No such file or directory\n")
    assert run(built, b"", small, "unknown", "", answer)[::3] == (3, "LLVM's library knows no unknown\n")
    assert run(built, b"", NO_TARGET="1")[::3] == (3, "LLVM's library knows no gfx0\n")
    assert run(built, piece(0, ONE)[:-1])[0] == 2
    assert run(built, piece(0, ONE)[:15])[:2] == (0, [])
    assert run(built, struct.pack("<QQ", 0, 1 << 60))[::3] == (3, f"no memory for {1 << 60} bytes\n")
    assert run(built, piece(0, ONE), small, "gfx0", "", "/dev/full")[0] == 3
    host.compile_host_library("int none;", tmp_path / "empty.so", optimize="1")
    code, _, _, said = run(built, b"", str(tmp_path / "empty.so"), "gfx0", "", answer)
    assert (code, said) == (3, "LLVM's library has no LLVMInitializeAMDGPUTargetInfo\n")


# Single functions


class One(ctypes.Structure):
    """An instruction as decode.c keeps it."""

    _fields_ = (("address", ctypes.c_uint64), ("size", ctypes.c_uint32), ("decoded", ctypes.c_bool),
                ("same", ctypes.c_bool), ("bytes", ctypes.c_void_p), ("text", ctypes.c_char * 512))  # fmt: skip


@pytest.fixture(scope="module")
def functions(built: Path) -> ctypes.CDLL:
    source = f'#define static\n#define main decode_main\n#include "{FOLDER / "decode.c"}"\n'
    target = built / "functions.so"
    host.compile_host_library(source, target, optimize="1", options=["-ldl"])
    found = ctypes.CDLL(str(target))
    found.section.restype, found.number.restype, found.same.restype = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_bool
    return found


def test_numbers_are_little_endian(functions: ctypes.CDLL) -> None:
    assert functions.number(bytes.fromhex("0123456789abcdef")) == 0xEFCDAB8967452301


def image(name: bytes = b".text", at: int = 400, length: int = 8, size: int = 408, count: int = 3, table: int = 64,
          names: int = 2, far: int = 0x10101, place: int = 1) -> bytes:  # fmt: skip
    """An ELF file whose section number `place` is `name`; number `names` are the names, which begin at 300."""
    raw = bytearray(max(size, far + 1000))
    raw[40:48], raw[60:64] = struct.pack("<Q", table), struct.pack("<HH", count, names)
    if table == 64:
        own = 64 + 64 * place
        raw[own : own + 4], raw[own + 24 : own + 40] = struct.pack("<I", far), struct.pack("<QQ", at, length)
        last = 64 + 64 * names
        raw[last : last + 4], raw[last + 24 : last + 40] = struct.pack("<I", 20), struct.pack("<QQ", 300, 40)
    raw[300 + far : 300 + far + len(name)] = name
    return bytes(raw[: size if size > 408 or far < 90 else far + 1000])


WHOLE = 0x10101 + 1000


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, (400, 8)),
        ({"name": b".tex"}, None),
        ({"name": b".text2"}, None),
        ({"at": WHOLE - 8}, (WHOLE - 8, 8)),
        ({"at": WHOLE - 7}, None),
        ({"length": WHOLE - 400}, (400, WHOLE - 400)),
        ({"length": WHOLE - 399}, None),
        ({"count": 1}, None),
        ({"count": 2, "names": 2}, None),
        ({"count": 0xFFFF}, None),
        ({"count": (WHOLE - 64) // 64}, (400, 8)),
        ({"count": (WHOLE - 64) // 64 + 1}, None),
        ({"count": 0x0201, "names": 0x0102}, (400, 8)),
        ({"count": 0x0102, "names": 0x0102}, None),
        ({"count": 0x0103, "names": 0x0102}, (400, 8)),
        ({"names": 3}, None),
        ({"names": 0, "count": 1}, None),
        ({"names": 0, "count": 2}, (400, 8)),
        ({"names": 1, "count": 3, "place": 2}, (400, 8)),
        ({"names": 1, "count": 2, "place": 2}, None),
        ({"names": 1}, None),
        ({"table": WHOLE}, None),
        ({"table": WHOLE + 1}, None),
        ({"table": 1 << 40}, None),
        ({"far": 0x54, "size": 408}, (400, 8)),
        ({"far": 0x10100}, (400, 8)),
        ({"far": 0x0201}, (400, 8)),
    ],
)
def test_sections_of_an_object(functions: ctypes.CDLL, changes: dict[str, int], found: tuple[int, int] | None) -> None:
    raw = image(**changes)  # type: ignore[arg-type]
    data, length = ctypes.create_string_buffer(raw, len(raw)), ctypes.c_uint64()
    place = functions.section(data, ctypes.c_size_t(len(raw)), b".text", ctypes.byref(length))
    assert (None if place is None else (place - ctypes.addressof(data), length.value)) == found


def test_an_object_that_ends_early(functions: ctypes.CDLL) -> None:
    raw, length = bytearray(64), ctypes.c_uint64()
    raw[40] = 64
    for size in (0, 63, 64):
        assert functions.section(bytes(raw), ctypes.c_size_t(size), b".text", ctypes.byref(length)) is None
    tiny = bytearray(64)  # the header is also the table of one section, which is its own table of names
    tiny[8:13], tiny[24], tiny[32], tiny[60] = b".text", 8, 6, 1
    data = ctypes.create_string_buffer(bytes(tiny), 64)
    assert functions.section(data, ctypes.c_size_t(64), b".text", ctypes.byref(length)) == ctypes.addressof(data) + 8
    assert length.value == 6
    assert functions.section(data, ctypes.c_size_t(63), b".text", ctypes.byref(length)) is None
    raw = bytearray(image(far=0x54, size=408, at=300, length=1))
    raw[384 + 4] = ord("x")
    data = ctypes.create_string_buffer(bytes(raw), len(raw))
    for end, found in ((384, False), (384 + 4, True), (384 + 5, False)):  # a name is compared as far as the file goes
        place = functions.section(data, ctypes.c_size_t(end), b".text", ctypes.byref(length))
        assert (place is not None) is found
    raw = bytearray(image(far=0x54, size=408))
    for end in (0x54 + 300 + 5, 0x54 + 300, 300 + 0x50):  # the name's end, its beginning, before it
        assert functions.section(bytes(raw), ctypes.c_size_t(end), b".text", ctypes.byref(length)) is None


SECOND, THIRD = 0x80 << 41, 0x80 << 50


@pytest.fixture(scope="module")
def reader(built: Path) -> ctypes.CDLL:
    """A disassembler whose text shows one bit."""
    source = (
        "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
        "typedef unsigned long Size;\n"
        "Size LLVMDisasmInstruction(void *d, const uint8_t *b, Size s, Size a, char *t, Size r) {\n"
        '  sprintf(t, "\\tsome %d", b[7] >> 7); return b[0] < 2 ? 0 : s; }\n'
    )
    host.compile_host_library(source, built / "reader.so", optimize="1")
    return ctypes.CDLL(str(built / "reader.so"))


@pytest.mark.parametrize(
    ("size", "given", "other", "rest", "same"),
    [
        (4, 1, 0, 0, True), (4, 1, 1 << 8, 0, False), (4, 1, SECOND, 0, True),
        (8, 2, 0, 0, True), (8, 2, SECOND, 0, True), (8, 2, THIRD, 0, True), (8, 2, SECOND | THIRD, 0, True),
        (8, 2, 1 << 47, 0, False), (8, 2, 1 << 49, 0, False), (8, 2, 1 << 56, 0, False), (8, 2, 1 << 58, 0, False),
        (8, 2, SECOND | 1 << 20, 0, False), (8, 2 | SECOND, SECOND, 0, False), (8, 2 | THIRD, SECOND, 0, True),
        (8, 2, SECOND, 1, True),
        (12, 3, SECOND, 0, True), (12, 3, SECOND, 1, False), (12, 3, SECOND, 1 << 24, False), (12, 3, 0, 1, False),
    ],
)  # fmt: skip
def test_what_is_the_same(
    functions: ctypes.CDLL, size: int, given: int, other: int, rest: int, same: bool, reader: ctypes.CDLL
) -> None:
    """Bits of sources that an instruction does not have may differ where those given are 0 and LLVM reads the same."""
    ctypes.c_void_p.in_dll(functions, "llvm").value = reader._handle
    one = One(address=64, size=size, decoded=1, text=b"some 0")
    first = struct.pack("<QI", given, 7)
    second = struct.pack("<QI", given ^ other, 7 ^ rest)
    assert functions.same(ctypes.byref(one), second, first) == same
    one.text = b"some 1"
    assert functions.same(ctypes.byref(one), second, first) == (same and first[:size] == second[:size])


# decoder.py, with a function in place of the program


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What the program was started with; `answer`, `code` and `log` are what it gives."""
    seen = SimpleNamespace(answer="", code=0, log="", raised=None)

    def run(command: list[str], **others: Any) -> SimpleNamespace:
        if seen.raised is not None:
            raise seen.raised
        seen.command, seen.others, seen.request = command[:-1], others, Path(others.pop("stdin")).read_bytes()
        Path(command[-1]).write_bytes(seen.answer.encode() if isinstance(seen.answer, str) else seen.answer)
        return SimpleNamespace(code=seen.code, log=seen.log)

    monkeypatch.setattr(decoder, "_llvm", lambda: Path("/llvm.so"))
    monkeypatch.setattr(decoder, "_programs", lambda: (Path("/decode"), (Path("/z.so"), Path("/zstd.so"))))
    monkeypatch.setattr(compiler, "run", run)
    return seen


def test_what_the_program_is_asked(asked: SimpleNamespace) -> None:
    asked.answer = "1000 4 s_nop 0\n1004 c !v_add a, b\n1010 4 ?\nffffffffffffffff 8 v_mov  x \n"
    found = decoder.decode([(0x1000, b"\1\2\3\4"), (2**40, b"")], "gfx1100", 32)
    assert found == [
        decoder.Decoded(0x1000, 4, "s_nop 0"), decoder.Decoded(0x1004, 12, "v_add a, b", same=False),
        decoder.Decoded(0x1010, 4, ""), decoder.Decoded(2**64 - 1, 8, "v_mov  x"),
    ]  # fmt: skip
    assert asked.request == struct.pack("<QQ", 0x1000, 4) + b"\1\2\3\4" + struct.pack("<QQ", 2**40, 0)
    assert asked.command == ["/llvm.so", "/z.so", "/zstd.so", "gfx1100", "+wavefrontsize32"]
    folder, limits = asked.others.pop("folder"), asked.others.pop("limits")
    assert not Path(folder).exists()
    assert (limits.seconds, limits.memory_bytes, limits.file_bytes) == (60, 8 << 30, 1 << 30)
    assert asked.others == {"what": "the disassembler", "read": compiler.SYSTEM, "tool": Path("/decode")}
    for arch, lanes, features in (("gfx1100", 64, "+wavefrontsize64"), ("gfx942", 64, ""), ("gfx90a", 64, "")):
        asked.answer = b"0 4 \xff\n"
        assert decoder.decode([], arch, lanes) == [decoder.Decoded(0, 4, "\ufffd")]
        assert asked.command[3:] == [arch, features]


def test_a_program_that_fails(asked: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    def said() -> tuple[str, str]:
        with pytest.raises(GpulabError) as caught:
            decoder.decode([(0, b"1234")], "gfx942", 64)
        return caught.value.what, caught.value.why

    damaged = "the machine code of this code object cannot be disassembled."
    for code, log, why in ((3, "", "3."), (3, "one\ntwo\n\n", "3: two."), (11, "x" * 300, f"11: {'x' * 200}.")):
        asked.code, asked.log = code, log
        assert said() == (damaged, f"LLVM's disassembler ended with code {why}")
    asked.raised = CompileError("it took long.")
    assert said()[0] == "the machine code of this code object keeps the disassembler busy."
    assert decoder.MOST_CODE == 67108864
    asked.raised, asked.code = None, 0
    monkeypatch.setattr(decoder, "MOST_CODE", 3 << 20)
    assert decoder.decode([(0, bytes(1 << 20)), (0, bytes(2 << 20))], "gfx942", 64) == []
    with pytest.raises(GpulabError, match=r"^the code object has more than 3 MiB of machine code"):
        decoder.decode([(0, bytes(1 << 20)), (0, bytes((2 << 20) + 1))], "gfx942", 64)


@pytest.mark.parametrize(
    "there", [(), ("librocm_sysdeps_z.so.1",), ("decode",), ("decode", "librocm_sysdeps_zstd.so.1")]
)
def test_what_is_built_once(there: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[Any, ...]] = []

    def build(source: Path, out: Path, **others: Any) -> None:
        made.append((source.name, out.name, others))

    monkeypatch.setattr(host, "compile_host_library", build)
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    folder = tmp_path / "virtual-rocm" / f"decoder-{cache.folder_hash(FOLDER)[:16]}"
    folder.mkdir(parents=True)
    for name in there:
        (folder / name).touch()
    names = ("librocm_sysdeps_z.so.1", "librocm_sysdeps_zstd.so.1")
    assert decoder._programs.__wrapped__() == (folder / "decode", tuple(folder / name for name in names))
    versions = f"--version-script={FOLDER / 'sysdeps.map'}"
    wanted = [
        ("sysdeps.c", names[0], {"optimize": "1", "options": ["-DFOR_ZLIB", f"-Wl,-soname,{names[0]},{versions}"]}),
        ("sysdeps.c", names[1], {"optimize": "1", "options": [f"-Wl,-soname,{names[1]},{versions}"]}),
        ("decode.c", "decode", {"optimize": "1", "options": ["-ldl"], "program": True}),
    ]
    assert made == [each for each in wanted if each[1] not in there]


def test_stand_ins_say_that_they_failed(tmp_path: Path) -> None:
    """As zlib (Z_MEM_ERROR) and zstd (an error code, whose name can be asked) do."""
    for options in (["-DFOR_ZLIB"], []):
        host.compile_host_library(FOLDER / "sysdeps.c", tmp_path / f"s{len(options)}.so", optimize="1", options=options)
    zlib, zstd = (ctypes.CDLL(str(tmp_path / f"s{count}.so")) for count in (1, 0))
    assert (zlib.compress2(None, None, None, 5, 1), zlib.uncompress(None, None, None, 5)) == (-4, -4)
    assert (zlib.compressBound(77), zlib.crc32(123, None, 5)) == (77, 123)
    for function in (zstd.ZSTD_compress2, zstd.ZSTD_decompress, zstd.ZSTD_CCtx_setParameter):
        function.restype = ctypes.c_ulong
        code = function(None, None, 0, None, 0)
        assert code == 2**64 - 1
        assert zstd.ZSTD_isError(ctypes.c_ulong(code)) == 1
    assert (zstd.ZSTD_isError(0), zstd.ZSTD_compressBound(9), zstd.ZSTD_freeCCtx(None)) == (0, 9, 0)
    zstd.ZSTD_getErrorName.restype = ctypes.c_char_p
    zstd.ZSTD_createCCtx.restype = ctypes.c_void_p
    assert (zstd.ZSTD_getErrorName(ctypes.c_ulong(code)), zstd.ZSTD_createCCtx()) == (b"not available", None)
