"""A class that hands in attacks: more than a hundred submissions, each made of what is named here.

`kernels`, `notebooks`, `zips`, `programs` and `folders` give (name, what it is); `hand_in` writes all of them into a
folder, one student each, beside one honest student. `SECRET` stands in files that a submission must not read; `MARK` is
the file that a submission would write if something of it ran where it must not.
"""

from __future__ import annotations

import io
import json
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from gpulab.grading.answers import right_answers

SECRET = "gpulab-secret-4711"
MARK = "gpulab-was-here"
EXERCISE = "saxpy-guard"
PROGRAM = "choose-device"
RIGHT = right_answers(EXERCISE)["usual"]
BODY = RIGHT[RIGHT.index("{") :]
HEAD = "__global__ void saxpy(int n, float a, const float* x, float* y)"


def kernels(secret: Path, mark: Path) -> Iterator[tuple[str, str]]:
    """Sources of the kernel exercise. None computes a x + y by the technique that is asked for, or none compiles."""

    def beside(text: str) -> str:
        """Something above a kernel that does nothing."""
        return f"{text}\n{HEAD} {{}}\n"

    def inside(text: str) -> str:
        return f"{HEAD} {{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n{text}\n}}\n"

    # ------------------------------------------------------------------------- files that the compiler could read
    for index, spelled in enumerate((f'"{secret}"', f"<{secret}>", '"/etc/passwd"', '"/proc/self/environ"',
                                     '"../../../../../../../../etc/passwd"', '"/dev/zero"', '"/dev/stdin"',
                                     '"/proc/self/mem"', '"/proc/self/fd/0"', '"usual.hip"', "__FILE__")):  # fmt: skip
        yield f"include-{index}", beside(f"#include {spelled}")
    yield "include-macro", beside(f'#define FILE "{secret}"\n#include FILE')
    yield "include-next", beside(f'#include_next "{secret}"')
    yield "import", beside(f'#import "{secret}"')
    yield "embed", beside(f'__constant__ char all[] = {{\n#embed "{secret}"\n}};')
    yield "has-include-as-oracle", beside(f'#if __has_include("{secret}")\n#error it is there\n#endif')
    yield "pragma-include-alias", beside(f'#pragma include_alias("hip/hip_runtime.h", "{secret}")')
    yield "pragma-dependency", beside(f'#pragma GCC dependency "{secret}"')
    yield "pragma-debug", beside("#pragma clang __debug parser_crash")
    yield (
        "pragma-module",
        beside(f'#pragma clang module build M\nmodule M {{ header "{secret}" }}\n#pragma clang module endbuild'),
    )
    yield "line-of-another-file", beside(f'#line 1 "{secret}"\n#error look at this line')
    for name, text in (
        ("incbin", f'.incbin \\"{secret}\\"'),
        ("include", f'.include \\"{secret}\\"'),
        ("macro", f'.macro take b\\n.inc\\\\b\\\\()bin \\"{secret}\\"\\n.endm\\ntake'),
        ("irp", f'.irp x, bin\\n.inc\\\\x \\"{secret}\\"\\n.endr'),
        ("comment", f'/* \\n.ascii \\"*/ .incbin \\\\\\"{secret}\\\\\\" /*\\"\\n*/'),
        ("rept", ".rept 2000000000\\n.byte 1\\n.endr"),
        ("space", ".space 1 << 40"),
        ("fill", ".fill 1 << 30, 8, 0x90"),
        ("org", ".org 0x7fffffffff"),
        ("align", ".p2align 40"),
        ("endless-macro", ".macro again\\nagain\\n.endm\\nagain"),
        ("section", '.section .evil,\\"ax\\",@progbits'),
        ("note", '.pushsection .note,\\"a\\",@note\\n.long 7, 40, 32\\n.asciz \\"AMDGPU\\"\\n.zero 40\\n.popsection'),
        ("metadata", ".amdgpu_metadata\\n---\\namdhsa.kernels: []\\n...\\n.end_amdgpu_metadata"),
        ("kernel-descriptor", ".amdhsa_kernel saxpy\\n.amdhsa_next_free_vgpr 1\\n.end_amdhsa_kernel"),
        ("target", '.amdgcn_target \\"amdgcn-amd-amdhsa--gfx900\\"'),
        ("print", '.print \\"\\\\033]0;owned\\\\007\\"'),
        ("error", '.error \\"\\\\033[2J\\"'),
        ("symver", ".symver saxpy, saxpy@@OTHER_1"),
        ("reloc", ".reloc 0, R_AMDGPU_ABS64, saxpy"),
        ("globl", ".globl saxpy\\nsaxpy:"),
    ):
        yield f"asm-{name}", beside(f'asm("{text}");')
        yield f"asm-in-kernel-{name}", inside(f'  asm volatile("{text}");')

    # ------------------------------------------------------------------------------ work and memory of the compiler
    yield "macro-bomb", beside("\n".join(["#define M0 x x x x x x x x x x", *(
        f"#define M{n} " + f"M{n - 1} " * 10 for n in range(1, 12))]) + "\nint many[] = { M11 };")  # fmt: skip
    yield "template-depth", beside("template <int n> struct T { using t = typename T<n - 1>::t; };\nT<100000>::t* p;")
    yield (
        "template-breadth",
        beside(
            "template <int n> struct F { static constexpr long v = F<n - 1>::v + F<n - 2>::v + sizeof(char[n]); };\n"
            "template <class A, class B> struct P {};\n"
            "template <int n, class T> struct G { using t = P<typename G<n - 1, P<T, T>>::t, "
            "typename G<n - 1, P<T, int>>::t>; }; template <class T> struct G<0, T> { using t = T; }; G<40, int>::t g;"
        ),
    )
    yield (
        "constexpr-loop",
        beside("constexpr int spin() { int n = 0; while (true) n++; return n; }\nconstexpr int v = spin();"),
    )
    yield "parentheses", beside("int v = " + "(" * 60_000 + "1" + ")" * 60_000 + ";")
    yield "braces", beside("namespace a {" * 20_000 + "}" * 20_000)
    yield "long-token", beside(f"int {'a' * 200_000};")
    yield "many-functions", beside("\n".join(f"__device__ int f{n}(int x) {{ return x + {n}; }}" for n in range(4000)))
    yield "huge-array", beside("__device__ char all[1ull << 45];")
    yield "huge-initialiser", beside("__constant__ int all[1 << 28] = {[0 ... (1 << 28) - 1] = 7};")
    yield "huge-lds", inside("  __shared__ char all[1ull << 33]; all[i] = 1; y[i] = all[i];")
    yield "huge-frame", inside("  volatile char all[1 << 30]; all[i] = 1; y[i] = all[i];")
    yield "backslashes", beside("\\\n" * 60_000)
    yield "nul-bytes", beside("int a; \0 int b;")
    yield "unroll", inside("#pragma unroll 1000000\n  for (int k = 0; k < 1000000; k++) y[i] = sinf(y[i]) + k;")

    # ------------------------------------------------------------------------------------- host code beside a kernel
    shell = f'"touch {mark}; cat {secret}"'
    yield "main", beside(f'extern "C" int system(const char*);\nint main() {{ return system({shell}); }}')
    yield (
        "constructor",
        beside(
            f'extern "C" int system(const char*);\n__attribute__((constructor)) void first() {{ system({shell}); }}'
        ),
    )
    yield "static-initialiser", beside(f'extern "C" int system(const char*);\nstatic int first = system({shell});')
    yield "device-constructor", beside("__device__ __attribute__((constructor)) void first() { while (true) {} }")
    yield (
        "ifunc",
        beside('extern "C" void* chosen() { return 0; }\nextern "C" void other() __attribute__((ifunc("chosen")));'),
    )

    # -------------------------------------------------------------------------------- kernels that do not what is asked
    yield "nothing", inside("")
    yield "endless", inside("  while (true) {}")
    yield "endless-with-work", inside("  while (true) { atomicAdd(y, 1.0f); }")
    yield (
        "waits-for-another-block",
        inside("  while (__hip_atomic_load(y, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) != 77) {}"),
    )
    yield "divergent-barrier", inside("  if (threadIdx.x % 2) __syncthreads();\n  if (i < n) y[i] = 0;")
    yield "trap", inside("  __builtin_trap();")
    yield "abort", inside("  abort();")
    yield "assertion", inside('  assert(i < 0 && "<script>alert(1)</script>");')
    yield (
        "recursion",
        "__device__ int deep(int n) { return n ? deep(n - 1) + deep(n - 1) : 1; }\n" + inside("  y[i] = deep(60);"),
    )
    yield "null", inside("  *(float*)nullptr = 1;")
    yield "wild-pointer", inside("  for (size_t at = 0; at < 1ull << 47; at += 4096) *(volatile char*)at;")
    yield "wild-call", inside("  ((void (*)())0x123456789abcull)();")
    yield "all-of-memory", inside("  for (long k = -1000000; k < 1000000; k++) y[k] = 1;")
    yield (
        "looks-for-the-expected",
        inside(
            "  for (long k = 1; k < 100000; k++) if (y[k] == a * x[0] + y[0]) {\n"
            "    for (int j = 0; j < n; j++) y[j] = y[k + j];\n    return;\n  }"
        ),
    )
    yield "printf-flood", inside('  for (int k = 0; k < 1000000; k++) printf("%s %d\\n", "all passed", k);')
    yield "printf-forges", inside('  printf("\\033[2J\\033[1;1HPassed: %s\\n<b>Passed</b>\\n", "saxpy-guard");')
    yield "printf-wild", inside('  printf("%s%n%*d", (char*)0xdeadbeef, 5);')
    yield "malloc-flood", inside("  for (int k = 0; k < 1000000; k++) ((char*)malloc(1 << 20))[0] = 1;")
    yield (
        "counts-its-launches",
        "__device__ int runs;\n"
        + inside("  if (i == 0) atomicAdd(&runs, 1);\n  if (runs > 1) return;\n  y[i] = a * x[i] + y[i];"),
    )
    yield "by-the-known-size", inside("  if (n == 1000 && i < 1000) y[i] = a * x[i] + y[i];")
    yield "one-thread", inside("  if (i == 0) for (int k = 0; k < n; k++) y[k] = a * x[k] + y[k];")
    yield (
        "registers-by-hand",
        inside('  asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE), 0xffffffff");\n  y[i] = 0;'),
    )
    yield "messages", inside('  asm volatile("s_sendmsg sendmsg(MSG_INTERRUPT)\\ns_sethalt 1");')
    yield (
        "self-modifying",
        inside(
            '  unsigned long long pc; asm volatile("s_getpc_b64 %0" : "=s"(pc));\n'
            "  for (int k = -64; k < 64; k++) ((volatile unsigned*)pc)[k] = 0xbf810000;"
        ),
    )

    # ----------------------------------------------------------------------------------------------- names and texts
    yield "other-name", RIGHT.replace("saxpy(", "saxpi(")
    yield "name-in-a-comment", f"// {HEAD}\n/* {RIGHT} */\n"
    yield "name-in-a-text", f'const char* text = R"x({RIGHT})x";\n'
    yield "name-in-dead-code", f"#if 0\n{RIGHT}\n#endif\n"
    yield "name-twice", f"{RIGHT}\n{RIGHT}"
    yield "keyword-redefined", f"#define __global__ static\n{RIGHT}"
    yield "parameter-redefined", f"#define n 0\n{HEAD.replace('int n', 'int m')} {BODY}"
    yield "template-kernel", "template <class T> " + RIGHT.replace("float", "T")
    yield "markup-in-an-error", beside("#error </pre><script>alert(1)</script><img src=x onerror=alert(1)>")
    yield "terminal-in-a-warning", beside("#warning \x1b]0;owned\x07\x1b[2J\x9b2J") + "int wrong = ;"
    yield "bidirectional", beside("int a; /* \u202e } { \u2066 */ int wrong = ;")
    yield "surrogates", beside('int wrong = "\\ud800";')
    yield "empty", ""
    yield "only-spaces", " \n\t\n"
    yield "too-long", beside("// " + "x" * 400_000)


def notebook(source: object, **changes: object) -> dict[str, object]:
    cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": [], "source": source}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **changes}


def notebooks(mark: Path) -> Iterator[tuple[str, bytes]]:
    """Files with a notebook's name."""
    python = f"import pathlib; pathlib.Path({str(mark)!r}).touch(); import gpulab; gpulab.check = lambda *a: None\n"
    magic = "%%hip\n" + HEAD + " {}\n"
    yield "empty", b""
    yield "not-json", b"{"
    yield "null", b"null"
    yield "list", b"[]"
    yield "deep", b"[" * 200_000
    yield "deep-objects", b'{"a":' * 100_000
    yield "text", json.dumps("cells").encode()
    yield "no-cells", b'{"nbformat": 4}'
    yield "cells-of-numbers", json.dumps({"cells": [1, 2], "nbformat": 4}).encode()
    yield "cells-as-object", json.dumps({"cells": {"a": 1}, "nbformat": 4}).encode()
    yield "sources-of-numbers", json.dumps(notebook([1, 2, None])).encode()
    yield "source-as-object", json.dumps(notebook({"a": magic})).encode()
    yield (
        "old-format",
        json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": magic}]}], "nbformat": 3}).encode(),
    )
    yield "future-format", json.dumps(notebook(magic, nbformat=99)).encode()
    yield "not-a-number", json.dumps(notebook(magic, metadata={"x": float("nan")})).encode()
    yield "huge-number", json.dumps(notebook(magic)).replace('"nbformat": 4', '"nbformat": ' + "9" * 10_000).encode()
    yield "bad-utf-8", b"\xff\xfe\xfd" + json.dumps(notebook(magic)).encode()
    yield "lone-surrogate", json.dumps(notebook("%%hip\n\ud800" + HEAD + " {}")).encode("utf-8", "surrogatepass")
    yield "nul", json.dumps(notebook("%%hip\n\0" + HEAD + " {}")).encode()
    yield "python-alone", json.dumps(notebook(python)).encode()
    yield "python-above-the-answer", json.dumps(notebook(python + magic)).encode()
    yield "shell", json.dumps(notebook(f"!touch {mark}\n%%bash\ntouch {mark}\n")).encode()
    yield "options", json.dumps(notebook("%%hip --options='-include /etc/passwd'\n" + HEAD + " {}")).encode()
    yield "more-options", json.dumps(notebook("%%hip -I/ -fplugin=/tmp/x.so -o /tmp/x\n" + HEAD + " {}")).encode()
    cells = notebook(magic)["cells"]
    assert isinstance(cells, list)
    yield (
        "two-answers",
        json.dumps(
            notebook("", cells=[*cells, {**cells[0], "id": "b", "source": "%%hip\n" + RIGHT}, cells[0]])
        ).encode(),
    )
    yield "many-cells", json.dumps(notebook("", cells=cells * 50_000)).encode()
    yield "too-large", json.dumps(notebook(magic, metadata={"x": "y" * (17 << 20)})).encode()
    yield (
        "attachments",
        json.dumps(notebook(magic, cells=[{**cells[0], "attachments": {"../../x": {"image/png": "AAAA"}}}])).encode(),
    )


def packed(*entries: tuple[str | zipfile.ZipInfo, bytes], way: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", way) as file:
        for name, content in entries:
            file.writestr(name, content)
    return data.getvalue()


def zips(secret: Path, mark: Path) -> Iterator[tuple[str, bytes]]:
    """Files with a zip's name."""
    wrong = (HEAD + " {}").encode()
    link = zipfile.ZipInfo(f"{EXERCISE}.hip")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    device = zipfile.ZipInfo(f"{EXERCISE}.hip")
    device.external_attr = (stat.S_IFCHR | 0o666) << 16
    yield "empty", b""
    yield "not-a-zip", b"PK\x03\x04 and nothing behind it"
    yield "no-entries", packed()
    yield "path-upwards", packed((f"../../{MARK}", wrong), (f"{EXERCISE}.hip", wrong))
    yield "path-absolute", packed((str(mark), wrong))
    yield "path-of-windows", packed((f"..\\..\\{MARK}", wrong), ("C:\\x.hip", wrong))
    yield "link", packed((link, str(secret).encode()))
    yield "device", packed((device, b""))
    yield "bomb", packed((f"{EXERCISE}.hip", b"\0" * (200 << 20)))
    yield "nested", packed(("more.zip", packed((f"{EXERCISE}.hip", wrong))))
    yield "many-entries", packed(*((f"{n}.hip", b"") for n in range(30_000)))
    yield "same-name-twice", packed((f"{EXERCISE}.hip", wrong), (f"{EXERCISE}.hip", RIGHT.encode()))
    whole = packed((f"{EXERCISE}.hip", wrong))
    yield "cut", whole[: len(whole) // 2]
    yield (
        "wrong-checksum",
        whole.replace(struct.pack("<I", zipfile.ZipFile(io.BytesIO(whole)).infolist()[0].CRC), b"\1\2\3\4"),
    )
    encrypted = bytearray(whole)
    encrypted[6] |= 1
    encrypted[whole.index(b"PK\1\2") + 8] |= 1
    yield "encrypted", bytes(encrypted)
    forged = bytearray(packed((f"{EXERCISE}.hip", b"x" * 100), way=zipfile.ZIP_STORED))
    at = forged.index(b"PK\1\2")
    forged[at + 24 : at + 28] = struct.pack("<I", 0xFFFFFFF0)
    yield "forged-size", bytes(forged)
    yield "name-of-controls", packed((f"\x1b[2J{EXERCISE}.hip", wrong))
    yield "name-of-markup", packed(("<img src=x onerror=alert(1)>.hip", wrong))


def programs(secret: Path, mark: Path) -> Iterator[tuple[str, str]]:
    """Whole programs, whose host code runs in the jail."""
    top = "#include <hip/hip_runtime.h>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n"
    system = (
        "#include <unistd.h>\n#include <fcntl.h>\n#include <signal.h>\n#include <sys/mman.h>\n#include <sys/socket.h>\n"
    )

    def main(body: str, above: str = "") -> str:
        return f"{top}{system}{above}\nint main(int count, char** words) {{\n{body}\n}}\n"

    yield "reads", main(f'int f = open("{secret}", 0); char t[99] = {{}}; read(f, t, 98); puts(t); return 0;')
    yield "writes", main(f'int f = open("{mark}", O_CREAT | O_WRONLY, 0600); write(f, "x", 1); return 0;')
    yield "shell", main(f'return system("touch {mark}; cat {secret}");')
    yield "forks", main("while (true) fork();")
    yield (
        "daemon",
        main(
            "if (fork() == 0) { setsid(); for (int k = 0; k < 100; k++) { usleep(100000); "
            f'open("{mark}", O_CREAT, 0600); }} }} return 0;'
        ),
    )
    yield "memory", main("while (true) { char* p = (char*)malloc(1 << 26); if (p) memset(p, 1, 1 << 26); }")
    yield (
        "shared-memory",
        main('int f = shm_open("/gpulab-was-here", O_CREAT | O_RDWR, 0600); ftruncate(f, 1 << 20); return 0;'),
    )
    yield "output", main('while (true) puts("passed passed passed passed passed passed passed");')
    yield "endless", main("while (true) {}")
    yield "sleeps", main("while (true) pause();")
    yield "stops-itself", main("raise(SIGSTOP); return 0;")
    yield "kills-the-parent", main("kill(getppid(), SIGKILL); kill(-1, SIGKILL); return 0;")
    yield (
        "signals-by-a-file",
        main("fcntl(0, F_SETOWN, getppid()); fcntl(0, F_SETFL, O_ASYNC); fcntl(1, F_SETSIG, SIGKILL); return 0;"),
    )
    yield "network", main('int s = socket(AF_INET, SOCK_STREAM, 0); printf("%d\\n", s); return s < 0;')
    yield "erases-the-report", main("for (int f = 3; f < 64; f++) { ftruncate(f, 0); close(f); } return 0;")
    yield (
        "writes-the-report",
        main('for (int f = 3; f < 64; f++) write(f, "{\\"faults\\": [], \\"launches\\": [1]}\\n", 33); _exit(0);'),
    )
    yield "environment", main("extern char** environ; for (char** e = environ; *e; e++) puts(*e); return 0;")
    yield (
        "constructor",
        main("return 0;", f'__attribute__((constructor)) static void first() {{ system("touch {mark}"); }}'),
    )
    yield "prints-what-is-asked", main('puts("2: gfx942"); return 0;')
    yield "assembles-a-file", main("return 0;", f'asm(".incbin \\"{secret}\\"");')
    yield (
        "assembles-a-file-and-prints-it",
        main(
            "puts(all); return 0;", f'asm(".globl all\\nall: .incbin \\"{secret}\\"\\n.byte 0"); extern "C" char all[];'
        ),
    )
    yield "crashes", main("*(volatile int*)0 = 1; return 0;")
    yield "aborts", main("abort();")
    yield "closes-everything", main("for (int f = 0; f < 1024; f++) close(f); return 0;")
    yield "opens-everything", main('for (int k = 0; k < 1000000; k++) open("/dev/null", 0); return 0;')
    yield "terminal", main('printf("\\033]0;owned\\007\\033[2J"); return 0;')
    yield "not-a-program", "int x;"


def folders(secret: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """What can stand where a file is expected; each makes it at a path."""
    yield "link", lambda path: path.symlink_to(secret)
    yield "link-to-zeros", lambda path: path.symlink_to("/dev/zero")
    yield "link-to-itself", lambda path: path.symlink_to(path)
    yield "fifo", lambda path: os.mkfifo(path)
    yield "folder", lambda path: path.mkdir()
    yield "binary", lambda path: path.write_bytes(bytes(range(256)) * 100) and None
    yield "sparse", lambda path: sparse(path)


def sparse(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 34)


def hand_in(folder: Path, secret: Path, mark: Path) -> list[str]:
    """All of them; the students' names."""
    students = []

    def of(student: str) -> Path:
        students.append(student)
        (folder / student).mkdir(parents=True)
        return folder / student

    for name, text in kernels(secret, mark):
        (of(f"kernel-{name}") / f"{EXERCISE}.hip").write_bytes(text.encode("utf-8", "surrogatepass"))
    for name, data in notebooks(mark):
        (of(f"notebook-{name}") / f"{EXERCISE}.ipynb").write_bytes(data)
    for name, data in zips(secret, mark):
        students.append(f"zip-{name}")
        (folder / f"zip-{name}.zip").write_bytes(data)
    for name, text in programs(secret, mark):
        (of(f"program-{name}") / f"{PROGRAM}.hip").write_text(text)
    for name, make in folders(secret):
        make(of(f"file-{name}") / f"{EXERCISE}.hip")
    return students
