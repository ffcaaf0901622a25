"""What comes from outside, made wrong at random: notebooks, zips, assembly, code objects, calls of HIP's C functions.

`TARGETS` has a function for each: it makes one input from a generator of random numbers and gives it to gpulab. The
input may be refused by gpulab's own errors; any other exception, an InternalError, a crash or a hang is a finding.
`batch` runs some seeds in a process of their own, so that a crash ends only that. `python -m tests.fuzz.inputs TARGET
SEED` runs one seed in this process, to look at a finding.
"""

from __future__ import annotations

import ctypes
import functools
import io
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURES = ("gfx942", "gfx1100")
SECONDS = 20.0
"""That one input may take."""
NUMBERS = (0, 1, 2, 3, 7, 63, 64, 65, 255, 256, 1023, 1024, 4096, 1 << 31, (1 << 32) - 1, (1 << 63) - 1, 1 << 63, -1)
KERNELS = """
#include <hip/hip_runtime.h>
__device__ int table[4] = {10, 20, 30, 40};
__constant__ float factor = 3.0f;
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void sum(int* out) {
  extern __shared__ int part[];
  part[threadIdx.x] = threadIdx.x + table[threadIdx.x % 4];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = part[0] * factor;
}
"""


@dataclass(frozen=True)
class Finding:
    """An input that was not refused as it should be: `python -m tests.fuzz.inputs TARGET SEED` shows it again."""

    target: str
    seed: int
    what: str

    def __str__(self) -> str:
        return f"{self.target}, seed {self.seed}: {self.what}"


def changed(data: bytes, chance: random.Random) -> bytes:
    """Some bytes of it turned, left out, doubled, cut off or put in from elsewhere."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 3, 8, 40))):
        at, length = chance.randrange(len(found) + 1), chance.choice((1, 1, 2, 4, 8, 100))
        way = chance.randrange(7)
        if way == 0 and at < len(found):
            found[at] ^= 1 << chance.randrange(8)
        elif way == 1:
            del found[at : at + length]
        elif way == 2:
            found[at:at] = chance.randbytes(length)
        elif way == 3:
            found[at:at] = found[at : at + length] * chance.choice((1, 2, 50))
        elif way == 4:
            found[at : at + length] = bytes([chance.choice((0, 0x7F, 0x80, 0xFF))]) * length
        elif way == 5:
            found[at : at + 4] = (chance.choice(NUMBERS) & 0xFFFFFFFF).to_bytes(4, "little")
        elif chance.random() < 0.2:
            del found[at:]
    return bytes(found)


# ------------------------------------------------------------------------------------------------- what is handed in


def values(chance: random.Random) -> object:
    """A value of JSON that nobody expects there."""
    return chance.choice(
        (
            None,
            True,
            -1,
            0.5,
            1e300,
            10**40,
            "",
            "\0",
            "\ud800",
            "%%hip",
            "a" * 10_000,
            [],
            {},
            [[]],
            {"": []},
            ["x", 1],
        )
    )


def shaken(node: object, chance: random.Random, share: float) -> object:
    """JSON with some of its parts changed."""
    if chance.random() < share:
        return values(chance)
    if isinstance(node, dict):
        return {key: shaken(value, chance, share) for key, value in node.items() if chance.random() > share / 2}
    if isinstance(node, list):
        found = [shaken(value, chance, share) for value in node if chance.random() > share / 2]
        return found * chance.choice((1, 1, 1, 2)) if found else found
    return node


def read_class(name: str, data: bytes) -> None:
    """As `gpulab grade` reads it: whatever it is becomes rows."""
    from gpulab.classroom.submissions import submissions

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "student" / name if not name.endswith(".zip") else Path(folder) / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
        rows = submissions(Path(folder), ["saxpy-guard", "choose-device"])
        assert rows
        assert all((row.answer is None) == bool(row.problem) for row in rows)


def a_notebook(chance: random.Random) -> None:
    data = (ROOT / "solutions" / "saxpy-guard" / "saxpy-guard.ipynb").read_bytes()
    if chance.random() < 0.6:
        data = json.dumps(shaken(json.loads(data), chance, chance.choice((0.002, 0.02, 0.1)))).encode()
    else:
        data = changed(data, chance)
    read_class("saxpy-guard.ipynb", data)


def a_zip(chance: random.Random) -> None:
    held = io.BytesIO()
    ways = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    names = (
        "saxpy-guard.hip",
        "a/saxpy-guard.hip",
        "saxpy-guard.ipynb",
        "../x",
        "/etc/x",
        "x/",
        "\u202e.hip",
        "a\\b.hip",
    )
    with zipfile.ZipFile(held, "w", chance.choice(ways)) as file:
        for name in sorted({chance.choice(names) for _ in range(chance.randrange(5))}):
            info = zipfile.ZipInfo(name)
            info.compress_type = chance.choice(ways)
            info.external_attr = chance.choice((0, 0o100644, 0o120777, 0o010644, 0o020666)) << 16
            file.writestr(info, chance.choice((b"", b"__global__ void saxpy() {}", b"x" * 5000)))
    data = held.getvalue()
    read_class("student.zip", changed(data, chance) if chance.random() < 0.8 else data)


# --------------------------------------------------------------------------------------------- what is loaded and run


@functools.cache
def compiled(arch: str) -> tuple[str, bytes]:
    """Assembly and code object of the kernels."""
    from gpulab import toolchain

    code = toolchain.compile(KERNELS, arch=arch, name="kernels.hip")
    return code.assembly, code.elf


def run(module: object, arch: str, quiet: bool = True) -> None:
    """Its kernels, with few instructions; what they do does not matter. `quiet`: gpulab's own errors are none here."""
    import numpy as np

    import gpulab
    from gpulab.errors import GpulabError, InternalError

    gpulab.use(arch)
    gpulab.set_limit(20_000)
    try:
        for name in ("saxpy", "sum"):
            try:
                out = gpulab.zeros(256, np.float32 if name == "saxpy" else np.int32)
                arguments = (256, 2.0, out, out) if name == "saxpy" else (out,)
                module[name][2, 128, 512](*arguments)  # type: ignore[index]
                gpulab.synchronize()
            except InternalError:
                raise
            except GpulabError:
                if not quiet:
                    raise
    finally:
        gpulab.set_limit(None)


def some_assembly(chance: random.Random) -> None:
    import gpulab

    arch = chance.choice(ARCHITECTURES)
    lines = compiled(arch)[0].split("\n")
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(lines))
        way = chance.randrange(8)
        if way == 0:
            del lines[at]
        elif way == 1:
            lines.insert(chance.randrange(len(lines)), lines[at])
        elif way == 2:
            lines[at] = changed(lines[at].encode(), chance).decode(errors="replace") if lines[at] else "\t"
        elif way == 3:
            lines[at] = re.sub(r"\b\d+\b", lambda _: str(chance.choice(NUMBERS)), lines[at])
        elif way == 4:
            lines[at] = re.sub(r"\b[sv]\d+\b", lambda _: chance.choice("sva") + str(chance.randrange(300)), lines[at])
        elif way == 5:
            lines[at] = re.sub(r"^\t[a-z]\w+", lambda _: "\t" + chance.choice(mnemonics()), lines[at])
        elif way == 6:
            lines[at] += chance.choice(
                (" offset:-1", " glc", " clamp", " row_shl:1", ", s0", " // x", ' "', " lgkmcnt(0)")
            )
        else:
            one, other = sorted((at, chance.randrange(len(lines))))
            lines[one], lines[other] = lines[other], lines[one]
    gpulab.use(arch)
    run(gpulab.compile("\n".join(lines), language="asm"), arch)


@functools.cache
def mnemonics() -> tuple[str, ...]:
    rows = (ROOT / "gpulab" / "virtual_gpu" / "isa" / "INDEX.tsv").read_text(encoding="utf-8").splitlines()
    return tuple(sorted({row.split("\t")[0] for row in rows if re.match(r"[a-z]\w+\t", row)}))


def a_code_object(chance: random.Random) -> None:
    import gpulab

    arch = chance.choice(ARCHITECTURES)
    data = changed(compiled(arch)[1], chance)
    gpulab.use(arch)
    run(gpulab.load(data), arch)


@functools.cache
def foreign(arch: str) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    """The code object without what gpulab keeps in it, and where its sections stand in the file, the code last."""
    from gpulab.toolchain import code_object, elf

    data = compiled(arch)[1]
    for name in (code_object.ASSEMBLY_SECTION, code_object.META_SECTION):
        data = data.replace(name.encode(), b"." + b"x" * (len(name) - 1))
    kept = [each.contents for each in elf.read(data) if any(each.contents) and not each.name.startswith(".xx")]
    kept.sort(key=lambda contents: contents == next(s.contents for s in elf.read(data) if s.name == ".text"))
    return data, tuple((data.index(each), len(each)) for each in kept)


def a_foreign_code_object(chance: random.Random) -> None:
    import gpulab

    arch = chance.choice(ARCHITECTURES)
    data, sections = foreign(arch)
    if chance.random() < 0.2:
        data = changed(data, chance)
    else:
        made = bytearray(data)
        start, size = chance.choice((sections[-1], chance.choice(sections)))
        places = [at for at in range(start, start + size) if data[at]]  # not the room between functions
        for _ in range(chance.choice((1, 1, 2, 4, 16))):
            made[chance.choice(places)] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
        data = bytes(made)
    gpulab.use(arch)
    run(gpulab.load(data), arch)


# ----------------------------------------------------------------------------------------------- calls of C functions

LEFT_OUT = re.compile(
    r"hipStreamWaitValue|hipLaunchHostFunc|hipStreamAddCallback|hipMemcpy3D|hipGetDeviceFlags$|DotPrint|Conditional|__"
)
"""Calls that wait for what nobody does, that take functions, or that write files."""
HANDLES = (
    "hipStream_t", "hipEvent_t", "hipModule_t", "hipFunction_t", "hipMemPool_t", "hipCtx_t", "hipGraph_t",
    "hipGraphNode_t", "hipGraphExec_t",
)  # fmt: skip
BYTES = 1 << 16
"""Of each buffer of this process that a call may read or write."""


@functools.cache
def declared() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(function, types of its parameters) of the headers, as far as all of them can be made here."""
    folder = ROOT / "gpulab/toolchain/include/gpulab/host"
    text = "".join((folder / name).read_text(encoding="utf-8") for name in ("runtime_api.h", "graphs.h", "launches.h"))
    found = []
    for name, listed in re.findall(r"^hipError_t (hip\w+)\(([^;]*?)\);", text, re.M | re.S):
        parts = [re.sub(r"\s*=.*", "", " ".join(part.split())) for part in listed.split(",")]
        types = tuple(re.sub(r"\s*\b\w+$", "", part) for part in parts if part not in ("", "void"))
        by_value = any(
            re.fullmatch(r"(hipExtent|hipPitchedPtr|dim3|hipMemLocation|hip\w+Handle_t|.*Fn_t)", each) for each in types
        )
        if not by_value and not LEFT_OUT.search(name):
            found.append((name, types))
    return tuple(found)


class Calls:
    """A library, and what calls have given so far: handles of each type and addresses, kept also when destroyed."""

    def __init__(self, chance: random.Random, arch: str) -> None:
        from gpulab.virtual_gpu import libraries

        libraries.load()
        self.chance = chance
        self.library = ctypes.PyDLL(str(libraries.path("hip")))
        self.image = ctypes.create_string_buffer(compiled(arch)[1])
        self.host = [ctypes.create_string_buffer(BYTES) for _ in range(4)]
        self.arrays = [(ctypes.c_void_p * 64)(*[ctypes.addressof(self.host[3])] * 64) for _ in range(2)]
        self.given: dict[str, list[int]] = {each: [0] for each in (*HANDLES, "memory")}

    def value(self, type_: str) -> object:
        """An argument of this type: right, stale, nothing, or from nowhere where C allows that to be tried."""
        chance = self.chance
        if type_ in HANDLES:
            return ctypes.c_void_p(chance.choice([*self.given[type_], chance.choice((1, 2, 0xDEADBEEF, 1 << 63))]))
        if type_ == "const char*":
            return chance.choice((b"saxpy", b"sum", b"table", b"", b"no", b"\xff" * 300, None))
        if type_.endswith("**"):
            return chance.choice((*self.arrays, None))
        if type_ == "hipDeviceptr_t" or re.fullmatch(r"(const )?void\*", type_):
            at = chance.choice(self.given["memory"]) + chance.choice((0, 0, 0, 1, 64, 4096))
            buffers = [ctypes.addressof(each) for each in self.host]
            return ctypes.c_void_p(chance.choice((at, at, *buffers, 0)) if "*" in type_ else at)
        if type_.endswith("*"):
            return chance.choice((*self.host[:3], None))
        if type_ == "size_t":
            return ctypes.c_size_t(chance.choice((0, 1, 3, 4, 64, 100, 252, 255)))  # squared it fits into a buffer
        return ctypes.c_longlong(chance.choice((0, 0, 1, 2, 3, 4, 7, 64, 128, 1025, -1, 1 << 20)))

    def call(self, name: str, types: Sequence[str]) -> None:
        for each in self.host[:3]:
            ctypes.memset(each, 0, 256)
        plain = "Attribute" in name  # what is a value's place there is not also tried as the device's
        arguments = [self.value("int*" if plain and each == "void*" else each) for each in types]
        if name.startswith("hipModuleLoadData") and len(arguments) > 1:
            arguments[1] = ctypes.byref(self.image)
        if "Launch" in name:  # small ones
            arguments = [ctypes.c_uint(self.chance.choice((0, 1, 1, 2, 33))) if each == "unsigned int" else one
                         for each, one in zip(types, arguments, strict=True)]  # fmt: skip
        function = getattr(self.library, name)
        function.restype = ctypes.c_int
        code = function(*arguments)
        self.library.hipGetErrorName.restype = ctypes.c_char_p
        said = self.library.hipGetErrorName(code) or b""
        assert said.startswith(b"hip"), f"{name} gave {code}, which is no hipError_t"
        assert said not in (b"hipErrorUnknown", b"hipErrorRuntimeOther"), f"{name}{types} gave {said.decode()}"
        if code == 0 and types and arguments:
            self.keep(types[0], arguments[0])

    def keep(self, type_: str, argument: object) -> None:
        held = type_.removesuffix("*")
        kind = "memory" if type_ in ("void**", "hipDeviceptr_t*") else held if held in HANDLES else ""
        if kind and type_.endswith("*") and argument is not None:
            found = ctypes.cast(argument, ctypes.POINTER(ctypes.c_uint64))[0]  # type: ignore[arg-type]
            if (
                (found > 1 << 20 or kind != "memory") and found and len(self.given[kind]) < 20
            ):  # another value can lie there
                self.given[kind].append(found)


def some_calls(chance: random.Random) -> None:
    import gpulab

    arch = chance.choice(ARCHITECTURES)
    gpulab.use(arch)
    gpulab.set_limit(20_000)
    calls = Calls(chance, arch)
    functions = dict(declared())
    first = ("hipMalloc", "hipMalloc", "hipStreamCreate", "hipEventCreate", "hipModuleLoadData", "hipModuleGetFunction")
    for name in first:
        if chance.random() < 0.8:
            calls.call(name, functions.get(name, ("void**", "size_t")))
    for _ in range(150):
        name = chance.choice(tuple(functions))
        if name == "hipDeviceReset" and chance.random() < 0.8:
            continue
        calls.call(name, functions[name])
    calls.call("hipDeviceSynchronize", ())
    for each in calls.host:  # which end with this function
        calls.library.hipHostUnregister(each)


TARGETS: dict[str, Callable[[random.Random], None]] = {
    "notebooks": a_notebook,
    "zips": a_zip,
    "assembly": some_assembly,
    "code objects": a_code_object,
    "foreign code objects": a_foreign_code_object,
    "calls": some_calls,
}


def crash(chance: random.Random) -> None:
    """A target for the tests of this file: some seeds crash, some raise, some take too long."""
    number = chance.randrange(6)
    if number == 0:
        ctypes.string_at(8)
    if number == 1:
        raise ValueError("planted")
    if number == 2:
        time.sleep(60)


PLANTED = {"planted": crash}


def one(target: str, seed: int) -> str:
    """Run one input here; "" or what is wrong."""
    from gpulab.errors import GpulabError, InternalError

    try:
        (TARGETS | PLANTED)[target](random.Random(seed))
    except InternalError as error:
        return f"InternalError: {error}"
    except GpulabError:
        return ""
    except Exception:
        return traceback.format_exc(limit=-4)
    return ""


def batch(target: str, first: int, count: int, seconds: float = SECONDS) -> list[Finding]:
    """Some seeds in a process of their own; another one goes on behind a crash or a hang.

    Args:
        seconds: that one input may take beside the start of the process.
    """
    findings: list[Finding] = []
    seed = first
    while seed < first + count:
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.inputs",
            target,
            str(seed),
            str(first + count - seed),
            str(seconds),
        ]
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT, text=True)
            ended = "it crashed"
            try:
                process.wait(seconds * (first + count - seed) + 60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                ended = "it takes too long"
            said.seek(0)
            text = said.read()
        for number, what in re.findall(r"^!(\d+) (.*)$", text, re.M):
            findings.append(Finding(target, int(number), json.loads(what)))
        if process.returncode == 0:
            break
        begun = re.findall(r"^:(\d+)$", text, re.M)
        seed = int(begun[-1]) if begun else seed
        findings.append(Finding(target, seed, f"{ended} (status {process.returncode})\n{text[-1500:]}"))
        seed += 1
    return findings


def main(target: str, first: str, count: str = "1", seconds: str = str(SECONDS)) -> int:
    """Says each seed before it runs, and what is wrong behind it; 0 when all have run."""
    import faulthandler

    faulthandler.enable()
    for seed in range(int(first), int(first) + int(count)):
        print(f":{seed}", flush=True)
        faulthandler.dump_traceback_later(float(seconds), exit=True)
        what = one(target, seed)
        faulthandler.cancel_dump_traceback_later()
        if what:
            print(f"!{seed} {json.dumps(what)}", flush=True)
            if count == "1":
                print(what)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
