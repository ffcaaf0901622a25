"""A program loads code objects that gpulab did not make: Clang's own, as files, as bytes of memory, and in bundles."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
import zstandard

from gpulab import programs
from gpulab.programs import bundles
from gpulab.toolchain import compile, compiler, hosted
from gpulab.toolchain.binary import decoder

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")
SOURCE = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

int main(int, char** arguments) {
  int host[64], *device;
  hipMalloc(&device, sizeof host);
  for (int way = 0; way < 2; way++) {
    hipModule_t module;
    std::vector<char> image(1 << 20);
    std::FILE* file = std::fopen(arguments[1], "rb");
    std::fread(image.data(), 1, image.size(), file);
    hipError_t error = way ? hipModuleLoadData(&module, image.data()) : hipModuleLoad(&module, arguments[1]);
    std::printf("%s\n", hipGetErrorName(error));
    if (error) continue;
    hipFunction_t twice;
    hipModuleGetFunction(&twice, module, "twice");
    for (int i = 0; i < 64; i++) host[i] = i;
    hipMemcpy(device, host, sizeof host, hipMemcpyHostToDevice);
    void* parameters[] = {&device};
    hipModuleLaunchKernel(twice, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr);
    hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost);
    std::printf("%d %d\n", host[1], host[63]);
  }
}
"""
KERNEL = 'extern "C" __global__ void twice(int* x) { x[threadIdx.x] *= 2; }'


def made(arch: str, folder: Path) -> bytes:
    text, unit, out = folder / "k.s", folder / "k.o", folder / f"{arch}.co"
    text.write_text(compile(KERNEL, arch=arch).assembly)
    target = ["--target=amdgcn-amd-amdhsa", f"-mcpu={arch}"]
    for command in (["clang", *target, "-x", "assembler", "-c", str(text), "-o", str(unit)],
                    ["ld.lld", "-shared", str(unit), "-o", str(out)]):  # fmt: skip
        assert compiler.run(command, folder=folder).code == 0
    return out.read_bytes()


def compressed(bundle: bytes, method: int, version: int = 2) -> bytes:
    """Clang Offload Bundler, "Compressed Offload Bundle Format"."""
    body = zlib.compress(bundle) if method == 0 else zstandard.compress(bundle)
    head = struct.pack("<4sHH", b"CCOB", version, method)
    sizes = {1: "<I", 2: "<II", 3: "<QQ"}[version]
    whole = len(head) + struct.calcsize(sizes) + 8 + len(body)
    return head + struct.pack(sizes, *((whole, len(bundle)) if version > 1 else (len(bundle),))) + bytes(8) + body


@pytest.mark.skipif(bool(decoder.missing()), reason="the disassembler is made for Linux on x86-64 alone")
def test_a_program_runs_a_kernel_of_clang(tmp_path: Path) -> None:
    bundle = bundles.bundle([(arch, made(arch, tmp_path)) for arch in ("gfx942", "gfx1100")])
    ways = {"bundle": bundle, "zlib": compressed(bundle, 0), "zstd": compressed(bundle, 1, 3)}
    program = programs.build(SOURCE)
    for name, image in ways.items():
        (tmp_path / name).write_bytes(image)
    for name, arch in (("gfx942.co", "gfx942"), ("gfx1100.co", "gfx1100"), ("bundle", "gfx942"), ("zlib", "gfx1100"),
                       ("zstd", "gfx942")):  # fmt: skip
        run = program.run(str(tmp_path / name), arch=arch, folder=tmp_path)
        assert run.stdout.splitlines() == ["hipSuccess", "2 126"] * 2, (name, run.stderr)
    run = program.run(str(tmp_path / "gfx942.co"), arch="gfx1100", folder=tmp_path)
    assert run.stdout.splitlines() == ["hipErrorNoBinaryForGpu"] * 2
    (tmp_path / "cut").write_bytes(ways["zlib"][:-40])
    run = program.run(str(tmp_path / "cut"), arch="gfx942", folder=tmp_path)
    assert run.stdout.splitlines()[0] == "hipErrorInvalidImage"
