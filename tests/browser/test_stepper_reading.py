"""How the wave stepper reads bits: by the instructions that write and read a register, in programs made by hand.

WORD's bits are a different text as each type: as a float -1e20, which is no usual size, so that bits of no known type
are an integer.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

(WORD,) = struct.unpack("<I", struct.pack("<f", -1e20))
AS = {
    "f32": "-100000000000000000000", "u32": str(WORD), "bits": str(WORD - (1 << 32)), "hex": f"{WORD:#x}",
}  # fmt: skip
REGISTERS = ["v0", "v1", "v2", "v3", "v4", "s0", "s1", "vcc", "exec"]
VECTORS = 5


def one(text: str, *operands: str, kind: str = "vector") -> dict[str, Any]:
    """An instruction; operands as "v1:f32", what is written as "v1=f32", several registers as "v1+v2:f64"."""
    made = []
    for operand in operands:
        names, mark, type_ = operand.partition("=" if "=" in operand else ":")
        numbers = [REGISTERS.index(name) for name in names.split("+") if name]
        made.append({"text": names, "registers": numbers, "type": type_, "written": mark == "="})
    return {"text": text, "kind": kind, "operands": made}


NOTHING = one("s_nop 0")
CONVERT = one("v_cvt_f32_i32 v1, v0", "v1=f32", "v0:i32")
MOVE = one("v_mov_b32 v2, v1", "v2=u32", "v1:u32")
LOAD = one("global_load_dword v3, v0", "v3=u32", "v0:u32", kind="memory")
ADD = one("v_add_f32 v1, v2, v3", "v1=f32", "v2:f32", "v3:f32")
COUNT = one("v_add_u32 v0, v0, v0", "v0=u32", "v0:u32")


def told(
    page: Page, program: list[dict[str, Any]], body: str, *, step: int = 0, form: str = "auto", size: int = 64,
    last: dict[str, int] | None = None, bits: tuple[int, ...] = (WORD, 1), memory: str = "[]",
) -> Any:  # fmt: skip
    """What a body returns that knows `reading` of a program whose steps are its instructions, at a step."""
    before = [(last or {}).get(name, -1) for name in REGISTERS]
    return page.evaluate(f"""async () => {{
        const m = await import("./stepper_reading.js");
        const instructions = {json.dumps(program)}, executed = instructions.map((_, k) => k), asked = [];
        const wave = {{instructions, executed, registers: {json.dumps(REGISTERS)}, vectors: {VECTORS}, size: {size},
            memory: {memory}, at: (step) => instructions[executed[step]]}};
        const state = {{before: {{last: {before}}}}};
        const states = {{words: (state, register, lane, after) => {{
            asked.push([register, lane, after]); return {list(bits)}; }}}};
        const reading = m.readingOf(wave, states, {{step: {step}, lane: 0, form: "{form}"}});
        {body} }}""")


def value(page: Page, program: list[dict[str, Any]], names: str, after: bool = False, **more: Any) -> Any:
    registers = [REGISTERS.index(name) for name in names.split("+") if name]
    operand = json.dumps({"registers": registers, "type": more.pop("type", "u32")})
    return told(page, program, f"return reading.valueOf(state, {operand}, 3, {json.dumps(after)});", **more)


PROGRAM = [CONVERT, MOVE, LOAD, ADD, COUNT]
FAR = [LOAD, *[NOTHING] * 58, one("v_add_f32 v1, v3, v3", "v1=f32", "v3:f32")]


@pytest.mark.parametrize(
    ("program", "step", "name", "after", "last", "kind"),
    [
        (PROGRAM, 3, "v2", False, {}, "f32"),  # read here
        (PROGRAM, 3, "v1", True, {}, "f32"),  # written here
        (PROGRAM, 3, "v1", False, {"v1": 0}, "f32"),  # written before
        (PROGRAM, 1, "v1", False, {"v1": 0}, "f32"),  # a move tells nothing of what it reads
        (PROGRAM, 1, "v2", True, {}, "f32"),  # nor of what it writes: the next reader does
        (PROGRAM, 2, "v3", True, {}, "f32"),  # what is loaded, too
        (PROGRAM, 4, "v3", False, {"v3": 2}, "f32"),
        (PROGRAM, 4, "v0", True, {}, "u32"),  # numbers that are added are numbers
        (PROGRAM, 1, "v0", False, {}, "u32"),  # read by a later step, of any type
        (PROGRAM, 4, "v4", False, {}, "bits"),  # by none
        (PROGRAM, 4, "v2", False, {}, "bits"),  # by none from here on
        ([LOAD, one("v_mul_f32 v3, v0, v0", "v3=f32", "v0:f32"), ADD], 0, "v3", True, {}, "bits"),  # written anew first
        ([LOAD, one("v_mul_f32 v3, v3, v0", "v3=f32", "v3:f32")], 0, "v3", True, {}, "f32"),
        ([LOAD, one("v_mov_b32 v2, v3", "v2=u32", "v3:u32"), ADD], 0, "v3", True, {}, "f32"),  # past a move
        (FAR, 0, "v3", True, {}, "f32"),
        ([LOAD, NOTHING, *FAR[1:]], 0, "v3", True, {}, "bits"),  # too far away
        ([one("v_cmp_lt vcc, v0, v1", "v2=b1"), NOTHING], 0, "v2", True, {}, "hex"),
        ([one("v_lshl v[2:3], v0", "v2=u64"), NOTHING], 0, "v2", True, {}, "hex"),
        ([one("s_add_u32 s0, s0, 1", "s0=u32", "s0:u32")], 0, "s0", True, {}, "hex"),  # an address
    ],
)  # fmt: skip
def test_a_type_is_what_instructions_say(
    page: Page, program: list[Any], step: int, name: str, after: bool, last: dict[str, int], kind: str
) -> None:
    assert value(page, program, name, after, step=step, last=last) == AS[kind]


@pytest.mark.parametrize("text", [
    "v_mov_b32", "v_dual_mov_b32", "v_cndmask_b32", "s_mov_b32", "v_readfirstlane_b32", "v_readlane_b32",
    "v_accvgpr_read_b32", "v_writelane_b32", "ds_bpermute_b32", "ds_permute_b32",
])  # fmt: skip
def test_moves_say_nothing(page: Page, text: str) -> None:
    program = [one(text, "v2=u32", "v4:u32"), ADD]
    assert value(page, program, "v2", True) == AS["f32"]
    assert value(page, [one(f"v_not_{text}", "v2=u32", "v4:u32"), ADD], "v2", True) == AS["u32"]


def test_scalar_numbers_above_24_bits_are_addresses(page: Page) -> None:
    scalar, vector = one("s_add_u32 s0, s0, 1", "s0=u32"), one("v_add_u32 v4, v4, v4", "v4=u32")
    for bits, text in ((0xFFFFFF, "16777215"), (0x1000000, "0x1000000")):
        assert value(page, [scalar], "s0", True, bits=(bits,)) == text
    assert value(page, [vector], "v4", True, bits=(0x1000000,)) == "16777216"


@pytest.mark.parametrize(
    ("names", "type_", "form", "text"),
    [
        ("", "u32", "auto", None),
        ("v4", "u32", "int", AS["bits"]), ("v4", "u32", "uint", AS["u32"]), ("v4", "u32", "hex", AS["hex"]),
        ("v3+v4", "f64", "auto", "-2.0"), ("v3+v4", "i64", "auto", str(-(1 << 62))),
        ("v3+v4", "u64", "auto", "0xc000000000000000"), ("v3+v4", "f64", "hex", "0xc000000000000000"),
        ("v3+v4", "f64", "int", "(0, 0)"),
        ("v1+v2+v3", "u32", "uint", "(0, 0, 0)"),
        ("v1+v2+v3+v4", "u32", "uint", "(0, 0, 0, 0)"),
        ("v0+v1+v2+v3+v4", "u32", "uint", "(0, 0, 0, 0, …)"),
    ],
)  # fmt: skip
def test_operands(page: Page, names: str, type_: str, form: str, text: str | None) -> None:
    """Of several registers each first word is 0, but the last one's: together -2.0 as a double."""
    bits = (WORD,) if "+" not in names else (0,)
    body = f"""
        states.words = (state, register, lane, after) => [{len(names)} === 5 && register === 4 && "{form}" !== "int"
            ? 0xc0000000 : {bits[0]}];
        return reading.valueOf(state, {{registers: {[REGISTERS.index(n) for n in names.split("+") if n]},
            type: "{type_}"}}, 0, false);"""
    assert told(page, [NOTHING], body, form=form) == text


def test_masks_are_hex_in_each_form(page: Page) -> None:
    for form in ("auto", "int"):
        assert value(page, [NOTHING], "vcc", form=form, bits=(5, 0x80000000)) == "0x8000000000000005"
        assert value(page, [NOTHING], "exec", form=form, bits=(5,)) == "0x5"
        assert value(page, [NOTHING], "vcc", form=form, bits=(5, 7), size=32) == "0x5"
    assert told(page, [NOTHING], "return ['vcc', 'exec', 's0'].map(reading.isMask);") == [True, True, False]


def test_the_lane_and_the_time_are_asked_for(page: Page) -> None:
    body = "reading.valueOf(state, {registers: [1], type: 'u32'}, 7, true); return asked;"
    assert told(page, [NOTHING], body) == [[1, 7, True]]


@pytest.mark.parametrize(
    ("space", "address", "bytes_", "text"),
    [
        ("lds", 0x20, 4, "LDS byte 32"), ("scratch", 0x20, 4, "scratch byte 32"),
        ("global", 0x1000, 4, "x[0]"), ("global", 0x100C, 4, "x[3]"), ("global", 0x1010, 8, "x[2]"),
        ("global", 0x100E, 4, "x + 14 bytes"), ("global", 0x103F, 1, "x[63]"), ("global", 0x1040, 4, "0x1040"),
        ("global", 0xFFF, 1, "0xfff"), ("global", 0x2008, 4, "kernel arguments + 8"),
        ("global", 0x3000, 4, "device memory + 0"),
    ],
)  # fmt: skip
def test_places(page: Page, space: str, address: int, bytes_: int, text: str) -> None:
    memory = """[["x", 0x1000n, 64n], ["kernel arguments", 0x2000n, 64n], ["device memory", 0x3000n, 64n]]
        .map(([name, address, bytes]) => ({name, address, bytes}))"""
    body = f"return reading.place('{space}', '{address:x}', {bytes_});"
    assert told(page, [NOTHING], body, memory=memory) == text


@pytest.mark.parametrize(
    ("bytes_", "lane", "register", "form", "text"),
    [
        (4, 0, None, "auto", "10"), (4, 2, None, "auto", "12"), (2, 3, None, "auto", "13"), (1, 1, None, "auto", "11"),
        (8, 1, None, "auto", "(12, 13)"), (16, 0, None, "auto", "(10, 11, 12, 13)"),
        (12, 1, None, "auto", "(13, 14, 15)"), (20, 0, None, "auto", "(10, 11, 12, 13, …)"),
        (4, 1, 3, "auto", "1.54143e-44"), (4, 1, 3, "hex", "0xb"),
        (8, 0, 0, "auto", str((11 << 32) + 10)), (16, 0, 0, "auto", "(0xa, 0xb, 0xc, 0xd)"),
        (4, 0, 0, "auto", "0xa"),
    ],
)  # fmt: skip
def test_what_a_lane_reads_or_writes(
    page: Page, bytes_: int, lane: int, register: int | None, form: str, text: str
) -> None:
    """v3 is read as a float later, v0 as 64 bits; the words are 10, 11, 12 and so on."""
    program = [one("global_store_dword v0, v3", "v4:u32", kind="memory"), ADD,
               one("v_add_i64 v[0:1]", "v4=i64", "v0:i64")]  # fmt: skip
    access = {"bytes": bytes_, "values": list(range(10, 30)), "action": "write"}
    body = f"return reading.dataOf(state, {json.dumps(access)}, {lane}, {json.dumps(register)});"
    assert told(page, program, body, form=form) == text


def test_what_is_read_has_its_type_after_the_step(page: Page) -> None:
    program = [CONVERT, one("global_load_dword v1, v0", "v1=u32", "v0:u32", kind="memory"), COUNT,
               one("v_add_i32 v1, v1", "v4=i32", "v1:i32")]  # fmt: skip
    for action, kind in (("read", "bits"), ("write", "f32")):
        access = json.dumps({"bytes": 4, "values": [WORD], "action": action})
        body = f"return reading.dataOf(state, {access}, 0, 1);"
        assert told(page, program, body, step=1, last={"v1": 0}) == AS[kind]


def test_the_register_of_an_access(page: Page) -> None:
    """Of a load the one that it writes; of a store the last vector register; of an atomic what it adds."""
    cases = [
        (LOAD, True, 3), (one("global_store_dword v0, v2, s0", "v0:u64", "v2:u32", "s0+s1:u64"), False, 2),
        (one("global_atomic_add v1, v0, v2", "v1=u32", "v0:u64", "v2:u32"), False, 2),
        (one("s_load_dword s0, s1", "s0=u32", "s1:u32"), False, 5), (one("s_store s0", "s0:u32"), False, None),
        (one("ds_nop", ":u32"), True, None), (one("v_x v4, v3", "v4=u32", "v3:u32", ":u32"), False, 3),
        (one("ds_add_u32 v0, vcc", "v0:u32", "s0:u32"), False, 0),
    ]  # fmt: skip
    program = json.dumps([item for item, _, _ in cases])
    reads = json.dumps([given for _, given, _ in cases])
    body = f"return {program}.map((item, k) => reading.dataRegister(item, {reads}[k]));"
    assert told(page, [NOTHING], body) == [register for _, _, register in cases]


WRITE = one("ds_write_b32 v0, v1", "v0:u32", "v1:u32", kind="memory")
STORE = one("ds_store_b32 v0, v1", "v0:u32", "v1:u32", kind="memory")
READ = one("ds_read_b32 v3, v0", "v3=u32", "v0:u32", kind="memory")
MOVED = one("v_mov_b32 v1, 0", "v1=u32")


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ([CONVERT, WRITE], "f32"), ([CONVERT, STORE], "f32"), ([MOVED, WRITE], "bits"), ([WRITE], "bits"),
        ([CONVERT, MOVED, WRITE], "bits"), ([MOVED, CONVERT, WRITE], "f32"),
        ([MOVED, WRITE, CONVERT, WRITE], "f32"), ([READ, ADD], "f32"), ([ADD, READ], "bits"), ([CONVERT], "bits"),
        ([one("v_add_u32 v1", "v1=u32"), WRITE], "u32"), ([one("v_add_f64 v1", "v1=f64"), WRITE], "bits"),
        ([one("v_cmp v1", "v1=b1"), WRITE], "bits"),
        ([CONVERT, *[NOTHING] * 59, WRITE], "f32"), ([CONVERT, *[NOTHING] * 60, WRITE], "bits"),
        ([CONVERT, one("ds_write_b32 v0, v1", "v0:u32", "v1:u32")], "bits"),  # of another kind
        ([CONVERT, one("global_store_dword v0, v1", "v0:u32", "v1:u32", kind="memory")], "bits"),
        ([one("ds_nop", kind="memory"), CONVERT, WRITE], "f32"),
        ([one("global_load_dword v1, v0", "v1=f32", "v0:u32", kind="memory"), WRITE], "bits"),
    ],
)  # fmt: skip
def test_what_lds_holds(page: Page, program: list[Any], kind: str) -> None:
    assert told(page, program, "return reading.ldsType;") == kind
