"""Programs put together by hand from assembly and LLVM's code, by the tools of the packaged compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gpulab.errors import CompileError, GpulabError
from gpulab.programs import bundles, command, device_tools, tools
from gpulab.toolchain import hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

#: A kernel whose code comes from another object than its launch: 3 * i + 1 for 100 items of which 70 are asked for.
SOURCE = """#include <hip/hip_runtime.h>
#include <cstdio>
template <typename T>
__global__ void affine(T* to, const T* from, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = 3 * from[i] + 1;
}
int main() {
  int host[100], *device;
  for (int i = 0; i < 100; ++i) host[i] = i;
  if (hipMalloc(&device, sizeof host) != hipSuccess) return 2;
  (void)hipMemcpy(device, host, sizeof host, hipMemcpyHostToDevice);
  affine<int><<<2, 64>>>(device, device, 70);
  if (hipGetLastError() != hipSuccess) { printf("no code\\n"); return 1; }
  (void)hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost);
  printf("%d %d %d\\n", host[1], host[69], host[70]);
}
"""
TEMPLATE = """  .type __hip_fatbin,@object
  .section .hip_fatbin,"a",@progbits
  .globl __hip_fatbin
  .p2align 12
__hip_fatbin:
  .incbin "kernels.hipfb"
"""
MAKEFILE = """.RECIPEPREFIX = >
LLVM := $(ROCM_PATH)/llvm/bin
program: main.o device.o
>$(HIPCXX) -o $@ $^
device.o: template.mcin kernels.hipfb
>$(LLVM)/llvm-mc -triple x86_64-unknown-linux-gnu -o $@ $< --filetype=obj
kernels.hipfb: one.co other.co
>$(LLVM)/clang-offload-bundler -type=o -bundle-align=4096 -input=/dev/null $(^:%=-input=%) -output=$@ \\
>  -targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx942,hipv4-amdgcn-amd-amdhsa--gfx1100
main.o: main.hip
>$(HIPCXX) -c --cuda-host-only -fuse-cuid=none $<
one.s: main.hip
>$(HIPCXX) -S --cuda-device-only --offload-arch=gfx942 $< -o $@
one.co: one.s
>$(LLVM)/clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -o $@ $<
other.bc: main.hip
>$(HIPCXX) --cuda-device-only -c -emit-llvm --offload-arch=gfx1100 -o $@ -std=c++17 $<
other.ll: other.bc
>$(LLVM)/llvm-dis -o $@ $<
other.co: other.ll
>$(LLVM)/clang -target amdgcn-amd-amdhsa -mcpu=gfx1100 -o $@ $<
"""


@pytest.mark.full
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_program_whose_kernels_are_assembled_apart(tmp_path: Path) -> None:
    """The host's code, and for each device assembly or bitcode, which only the last command joins."""
    from gpulab.programs import installation

    installation.install()
    for name, text in (("main.hip", SOURCE), ("template.mcin", TEMPLATE), ("Makefile", MAKEFILE)):
        (tmp_path / name).write_text(text)
    built = subprocess.run(["make"], cwd=tmp_path, env={**os.environ, **installation.environment()},
                           capture_output=True, text=True, check=False)  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    for arch in ("gfx942", "gfx1100"):
        ran = subprocess.run(["./program"], cwd=tmp_path, env={**os.environ, "GPULAB_DEVICES": arch},
                             capture_output=True, text=True, check=False)  # fmt: skip
        assert (ran.stdout, ran.returncode) == ("4 208 70\n", 0), ran.stderr


@pytest.mark.full
def test_host_code_alone_is_a_program_without_kernels(tmp_path: Path) -> None:
    """An object of --cuda-host-only links without the kernels' code, too, and launches say that there is none."""
    source, program = tmp_path / "main.hip", tmp_path / "program"
    source.write_text(SOURCE)
    assert command.run(["--cuda-host-only", "-c", str(source), "-o", str(tmp_path / "main.o")]) == 0
    assert command.run([str(tmp_path / "main.o"), "-o", str(program)]) == 0
    ran = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.returncode) == ("no code\n", 1)


def test_bundles_are_packed_and_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each entry begins at a multiple of the alignment; what comes out is what went in."""
    monkeypatch.chdir(tmp_path)
    Path("a.co").write_bytes(b"first")
    Path("b.co").write_bytes(b"second one")
    targets = "host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx942,hipv4-amdgcn-amd-amdhsa--gfx1100"
    pack = ["-type=o", f"-targets={targets}", "-input=/dev/null", "-input=a.co", "-input=b.co", "-output=k.hipfb"]
    assert device_tools.bundler([*pack, "-bundle-align=64"]) == 0
    raw = Path("k.hipfb").read_bytes()
    assert [raw.index(b"first") % 64, raw.index(b"second") % 64] == [0, 0]
    assert dict(bundles.entries(raw, "k.hipfb")) == dict(
        zip(targets.split(","), (b"", b"first", b"second one"), strict=True)
    )
    assert device_tools.bundler(["-type=o", "-list", "-input=k.hipfb"]) == 0
    assert capsys.readouterr().out.split() == targets.split(",")
    unpack = ["-type=o", "-unbundle", "-input=k.hipfb", "-targets=hipv4-amdgcn-amd-amdhsa--gfx1100", "-output=out"]
    assert device_tools.bundler(unpack) == 0
    assert Path("out").read_bytes() == b"second one"
    with pytest.raises(GpulabError, match="nothing for hipv4-amdgcn-amd-amdhsa--gfx90a"):
        device_tools.bundler([word.replace("gfx1100", "gfx90a") for word in unpack])
    with pytest.raises(GpulabError, match="damaged"):
        list(bundles.entries(raw[:100], "k.hipfb"))
    with pytest.raises(GpulabError, match="no offload bundle"):
        list(bundles.entries(b"ELF", "k.hipfb"))
    with pytest.raises(GpulabError, match="3 targets, 1 inputs"):
        device_tools.bundler(["-type=o", f"-targets={targets}", "-input=a.co", "-output=x"])
    with pytest.raises(GpulabError, match="host's input is not empty"):
        device_tools.bundler([word.replace("/dev/null", "a.co") for word in pack])
    with pytest.raises(GpulabError, match="-type=ast is not supported"):
        device_tools.bundler([word.replace("=o", "=ast") for word in pack])


def test_entries_of_bundles_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists in one word, in any order; what a bundle lacks is an empty file where that is allowed, as the host's is."""
    monkeypatch.chdir(tmp_path)
    Path("a.co").write_bytes(b"first")
    Path("b.co").write_bytes(b"second")
    host, first, second = (
        "host-x86_64-unknown-linux-gnu",
        "hip-amdgcn-amd-amdhsa--gfx90a",
        "hip-amdgcn-amd-amdhsa--gfx942",
    )
    pack = [
        "-type",
        "bc",
        "--targets",
        f"{second},{first}",
        "-inputs=a.co,b.co",
        "-bundle-align=1",
        "-outputs",
        "k.hipfb",
    ]
    assert device_tools.bundler(pack) == 0
    assert dict(bundles.entries(Path("k.hipfb").read_bytes(), "k")) == {second: b"first", first: b"second"}
    both = ["-type=o", "-unbundle", "-input=k.hipfb", f"-targets={first},{host}", "-output=one", "-output=two"]
    assert device_tools.bundler(both) == 0
    assert (Path("one").read_bytes(), Path("two").read_bytes()) == (b"second", b"")
    absent = ["-type=o", "-unbundle", "-input=k.hipfb", "-targets=hip-amdgcn-amd-amdhsa--gfx1100", "-output=three"]
    assert device_tools.bundler([*absent, "-allow-missing-bundles"]) == 0
    assert Path("three").read_bytes() == b""
    for words, says in (
        ([*pack, "-bundle-align=0"], "-bundle-align=0 is no number"),
        ([*pack, "-outputs", "other"], "2 outputs"),
        (["-type=o", "-targets=", "-output=x"], "0 inputs"),
        (["-type=o", "-list", "-input=k.hipfb", "-input=a.co"], "take one input"),
        (["-type=o", "-unbundle", "-input=k.hipfb", f"-targets={first},{second}", "-output=x"], "one output for each"),
        (["-type=o", "-no-such-option"], "'-no-such-option' is not accepted"),
    ):
        with pytest.raises(GpulabError, match=says):
            device_tools.bundler(words)
    assert not Path("x").exists()


def test_llvm_mc_assembles_for_a_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """e_flags by LLVM's "AMDGPU Target Objects": 0x3f is gfx90a, 0x300 XNACK (0x100: any, 0x200: off, 0x300: on)."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("folder/piece").write_bytes(b"what is included")
    Path("text.s").write_text('s_endpgm\n.data\n.incbin "piece"\n')
    for more, xnack in (([], 0x100), (["-mattr=+xnack"], 0x300), (["-mattr", "-xnack"], 0x200)):
        words = ["-arch=amdgcn", "-mcpu", "gfx90a", *more, "-I", "folder", "-filetype=obj", "text.s", "-o", "text.o"]
        assert device_tools.mc(words) == 0
        raw = Path("text.o").read_bytes()
        flags = int.from_bytes(raw[48:52], "little")
        assert (int.from_bytes(raw[18:20], "little"), flags & 0xFF, flags & 0x300) == (224, 0x3F, xnack)
        assert b"what is included" in raw
    assert device_tools.mc(["-arch", "amdgcn", "-mcpu=gfx90a", "text.s"]) == 0
    assert "s_endpgm" in capsys.readouterr().out
    for words in ([], ["text.s", "text.s"]):
        with pytest.raises(GpulabError, match="takes one file"):
            device_tools.mc(words)


def test_llvm_mc_assembles_for_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that the text includes are found in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("piece").write_bytes(b"what is included")
    Path("text.s").write_text('.section .data.piece,"aw"\n.incbin "piece"\n')
    assert device_tools.mc(["-triple", "x86_64-unknown-linux-gnu", "-o", "text.o", "text.s", "--filetype=obj"]) == 0
    assert dict(bundles.sections(Path("text.o").read_bytes()))[".data.piece"] == b"what is included"
    Path("wrong.s").write_text("no_such_instruction\n")
    with pytest.raises(CompileError, match="no_such_instruction"):
        device_tools.mc(["-triple=x86_64-unknown-linux-gnu", "-filetype=obj", "wrong.s", "-o", "wrong.o"])
    with pytest.raises(GpulabError, match="-disassemble"):
        device_tools.mc(["-disassemble", "text.s"])


def test_assembly_becomes_a_code_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One text alone keeps it, so that lines and counters have it; with -c an object, which a second command links."""
    from gpulab.toolchain.code_object import CodeObject

    monkeypatch.chdir(tmp_path)
    Path("kernel.s").write_text(
        '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n  s_endpgm\n'
        ".rodata\n.p2align 6\n.amdhsa_kernel k\n  .amdhsa_next_free_vgpr 4\n  .amdhsa_next_free_sgpr 16\n"
        "  .amdhsa_accum_offset 4\n.end_amdhsa_kernel\n"
    )
    device = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx942"]
    assert tools.main(["clang", *device, "-fPIC", "kernel.s", "-o", "kernel.co"]) == 0
    assert "s_endpgm" in CodeObject.from_elf(Path("kernel.co").read_bytes()).assembly
    assert tools.main(["clang", *device, "-c", "kernel.s"]) == 0
    assert tools.main(["clang++", *device, "kernel.o", "-o", "linked.co"]) == 0
    assert ".text" in dict(bundles.sections(Path("linked.co").read_bytes()))
    with pytest.raises(GpulabError, match="for which GPU"):
        device_tools.clang(["--target=amdgcn-amd-amdhsa", "kernel.s"])
    with pytest.raises(GpulabError, match="is no assembly"):
        device_tools.clang([*device, "kernel.hip"])
    with pytest.raises(GpulabError, match="beyond LLVM's code"):
        device_tools.clang([*device, "-emit-llvm", "-c", "kernel.s"])


def test_options_of_the_preprocessor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders in both ways to write them, seen from where the command runs; what says nothing of a device is let be."""
    monkeypatch.chdir(tmp_path)
    Path("include").mkdir()
    Path("include/values.h").write_text("#define HIGH 7\n")
    Path("kernel.S").write_text('#include "values.h"\ns_mov_b32 s0, LOW + HIGH\n')
    device = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx942", "-S"]
    for folder in (["-I", "include"], ["-Iinclude"], ["-isystem", "include"]):
        words = [*device, *folder, "-DLOW=3", "-O2", "-MD", "-MF", "kernel.d", "-Wl,--no-undefined", "kernel.S"]
        assert device_tools.clang([*words, "-o", "made.s"]) == 0
        assert Path("made.s").read_text().splitlines()[-1] == "s_mov_b32 s0, 3 + 7"
    Path("text").write_text("s_mov_b32 s0, LOW + 1\n")
    assert device_tools.clang([*device, "-D", "LOW=3", "-x", "assembler-with-cpp", "text"]) == 0
    assert Path("text.s").read_text().splitlines()[-1] == "s_mov_b32 s0, 3 + 1"
    for words, says in (
        (["-o"], "-o needs a value"),
        (["-x", "hip", "text"], "-x hip"),
        ([], "given no file"),
        (["kernel.S", "text.s", "-o", "both"], "2 were named"),
        (["text.s", "-o"], "-o needs a value"),
        (["absent.s"], "absent.s cannot be read"),
    ):
        with pytest.raises(GpulabError, match=says):
            device_tools.clang([*device, *words])
    with pytest.raises(GpulabError, match="stops before the linker"):
        device_tools.clang([*device[:-1], "-emit-llvm", "unit.ll"])


def test_each_step_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of LLVM's code: assembly, an object, bitcode, a text; in the current folder, by the input's name."""
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path("sub/unit.ll").write_text('target triple = "amdgcn-amd-amdhsa"\ndefine i32 @one() {\n  ret i32 1\n}\n')
    device = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx942", "sub/unit.ll"]
    for words, name, begins in (
        (["-S"], "unit.s", b"\t"), (["-c"], "unit.o", b"\x7fELF"), (["-c", "-emit-llvm"], "unit.bc", b"BC\xc0\xde"),
        (["-S", "-emit-llvm"], "unit.ll", b"; ModuleID"),
    ):  # fmt: skip
        assert device_tools.clang([*device, *words]) == 0
        assert Path(name).read_bytes().startswith(begins), name


def test_llvm_code_as_text_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("unit.ll").write_text('target triple = "amdgcn-amd-amdhsa"\ndefine i32 @one() {\n  ret i32 1\n}\n')
    assert tools.main(["llvm-as", "unit.ll"]) == 0
    assert Path("unit.bc").read_bytes().startswith(b"BC\xc0\xde")
    assert tools.main(["llvm-dis", "unit.bc", "-o", "again.ll"]) == 0
    assert "define i32 @one()" in Path("again.ll").read_text()
    Path("unit.bc").write_bytes(b"something else")
    with pytest.raises(CompileError):
        device_tools.disassemble(["unit.bc"])


def test_hipify_is_a_command_of_the_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As hipify-perl is called: FILE -o FILE, and long options with one dash."""
    monkeypatch.chdir(tmp_path)
    Path("main.cu").write_text("#include <cuda_runtime.h>\nint main() { return cudaDeviceSynchronize(); }\n")
    assert tools.main(["hipify", "main.cu", "-o", "main.hip"]) == 0
    assert "hipDeviceSynchronize()" in Path("main.hip").read_text()
    assert tools.main(["hipify", "-examine", "main.cu"]) == 0
    assert "2 replaced" in capsys.readouterr().out
