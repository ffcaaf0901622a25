"""The compiler, the assembler and the linker as a way to files: nothing outside of what they need can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulab import languages, programs, walls
from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import compile, compiler, hosted, listing

SECRET = "the answer is 4711"
WORD = "#define SECRET"  # what an #include would make visible

pytestmark = pytest.mark.skipif(bool(walls.available()), reason=walls.available() or "there are walls")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text(f"{WORD} {SECRET}\n")
    return path


KERNEL = "__global__ void k(int* x) { x[0] = 1; }\n"
#: Texts that try to read {path}, for kernels.
KERNELS = {
    "include": '#include "{path}"\n#ifdef SECRET\n#error reached SECRET\n#endif\n' + KERNEL,
    "embed": "__device__ char data[] = {{\n#embed \"{path}\"\n}};\n" + KERNEL,
    "has include": '#if __has_include("{path}")\n#error reached\n#endif\n' + KERNEL,
    "has embed": '#if __has_embed("{path}")\n#error reached\n#endif\n' + KERNEL,
    "file scope": 'asm(".incbin \\"{path}\\"");\n' + KERNEL,
    "inline": '__global__ void k(int* x) {{ asm volatile(".incbin \\"{path}\\""); x[0] = 1; }}',
    "include directive": '__global__ void k(int* x) {{ asm volatile(".include \\"{path}\\""); x[0] = 1; }}',
    "hidden macro": '__global__ void k(int* x) {{ asm volatile("/*\\n.asciz \\"*/ .macro m a\\"\\n.\\\\a \\"{path}\\"'
    '\\n.endm\\nm incbin"); }}',
    "hidden by a comment": 'asm("/*\\n.ascii \\"*/ .incbin \\\\\\"{path}\\\\\\" /*\\"\\n*/");\n' + KERNEL,
    "split directive": 'asm("/*\\n.ascii \\"*/ .macro q\\"\\n.inc\\\\()bin \\"{path}\\"\\n.endm\\nq");\n' + KERNEL,
}  # fmt: skip


def spill(text: str) -> str:
    """What a learner can learn from a compile: the code object, or all that is said."""
    try:
        return compile(text, arch="gfx942", use_cache=False).elf.decode("latin-1")
    except CompileError as error:
        return str(error) + error.log


@pytest.mark.parametrize("how", KERNELS)
@pytest.mark.parametrize("filtered", [True, False])
def test_kernels(how: str, filtered: bool, secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with the filter of texts away: it is there for its messages."""
    if not filtered:
        monkeypatch.setattr(listing, "refuse_file_access", lambda *arguments: None)
    said = spill(KERNELS[how].replace("{{", "{").replace("}}", "}").replace("{path}", str(secret)))
    assert SECRET not in said
    assert "reached" not in said.replace("#error reached", "")


def test_the_walls_alone_refuse_files_that_clang_is_told_to_read(secret: Path, tmp_path: Path) -> None:
    """No virtual file system, no filter: nothing but the walls."""
    folder = tmp_path / "compile"
    folder.mkdir()
    for line in (f'#include "{secret}"', f'asm(".incbin \\"{secret}\\"");', '#include "/etc/passwd"'):
        (folder / "a.c").write_text(line)
        said = compiler.run(["clang", "-c", "a.c", "-o", "a.o"], folder=folder)
        assert said.code != 0
        assert SECRET not in said.log
        assert "root:" not in said.log
    (folder / "a.c").write_text("int x;")
    assert compiler.run(["clang", "-c", "a.c", "-o", "a.o"], folder=folder).code == 0
    before = sorted(tmp_path.iterdir())
    assert compiler.run(["clang", "-c", "a.c", "-o", "../b.o"], folder=folder).code != 0
    assert sorted(tmp_path.iterdir()) == before
    (folder / "link").symlink_to(secret)
    (folder / "a.c").write_text('#include "link"')
    assert compiler.run(["clang", "-c", "a.c", "-o", "a.o"], folder=folder).code != 0


LINES = ['.incbin "{path}"', '/*\n.asciz "*/ .incbin \\"{path}\\" /*"\n*/', '.include "{path}"']


@pytest.mark.parametrize("line", LINES)
def test_assembly(line: str, secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "refuse_file_access", lambda *arguments: None)
    try:
        code = languages.compile(f".text\n{line}\n".replace("{path}", str(secret)), "asm", arch="gfx942")
        said = code.elf.decode("latin-1")
    except GpulabError as error:
        said = str(error)
    assert SECRET not in said


#: The same for whole programs, whose host's assembler is not filtered.
PROGRAMS = {
    "file scope": 'asm(".incbin \\"{path}\\"");\nint main() {{ return 0; }}',
    "section": 'asm(".section .rodata\\nsecret: .incbin \\"{path}\\"\\n.text");\nint main() {{ return 0; }}',
    "include": '#include "{path}"\n#ifdef SECRET\n#error reached SECRET\n#endif\nint main() {{ return 0; }}',
    "embed": "#include <cstdio>\nstatic const char data[] = {{\n#embed \"{path}\"\n}};\nint main() {{ puts(data); }}",
    "has include": '#if __has_include("{path}")\n#error reached\n#endif\nint main() {{ return 0; }}',
    "resource": 'int main() {{ asm(".pushsection .rodata\\n.incbin \\"{path}\\"\\n.popsection"); return 0; }}',
}  # fmt: skip


@pytest.mark.skipif(bool(hosted.unavailable()), reason="whole programs are for Linux")
@pytest.mark.parametrize("how", PROGRAMS)
def test_programs(how: str, secret: Path) -> None:
    text = PROGRAMS[how].replace("{{", "{").replace("}}", "}").replace("{path}", str(secret))
    try:
        said = programs.build(text, name="spill", archs=("gfx942",)).path.read_bytes().decode("latin-1")
    except CompileError as error:
        said = str(error) + error.log
    assert SECRET not in said
    assert "reached" not in said.replace("#error reached", "")


def test_a_compiler_reaches_no_network_and_signals_nobody() -> None:
    """What a process within the walls may not do, tried by a shell in the compiler's place."""
    import subprocess
    import sys

    script = """
import ctypes, errno, os, fcntl, socket, signal
said = []
def tried(what, do):
    try:
        do()
        said.append(what)
    except OSError as error:
        assert error.errno in (errno.EPERM, errno.EACCES), (what, error)
tried("socket", lambda: socket.socket())
tried("read", lambda: open("/etc/passwd"))
tried("write", lambda: open("/tmp/gpulab-attack", "w"))
tried("signal", lambda: os.kill(os.getppid(), 0))
tried("group", lambda: os.setpgid(0, os.getpgid(os.getppid())))
tried("session", lambda: os.setsid())
read, write = os.pipe()
tried("owner", lambda: fcntl.fcntl(read, fcntl.F_SETOWN, os.getppid()))
tried("signal of owner", lambda: fcntl.fcntl(read, fcntl.F_SETSIG, signal.SIGKILL))
tried("extended owner", lambda: fcntl.fcntl(read, 15, bytes(8)))
tried("ioctl owner", lambda: fcntl.ioctl(read, 0x8901, os.getppid().to_bytes(4, "little")))
tried("ioctl group", lambda: fcntl.ioctl(read, 0x8902, os.getppid().to_bytes(4, "little")))
tried("typing", lambda: fcntl.ioctl(read, 0x5412, b"x"))
print(said)
"""

    def start() -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    roots = ["/usr", "/lib", "/lib64", sys.prefix, sys.base_prefix]
    found = walls.confined(start, {"run": roots, "read": ["/dev/urandom", "/etc/ld.so.cache"]})
    assert (found.stdout, found.stderr) == ("[]\n", "")
