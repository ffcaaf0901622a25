"""Sources that try to read files, to run too long, or to play tricks in messages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpulab import languages
from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import compile, compiler, listing, options

SECRET = "the answer is 4711"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


@pytest.mark.parametrize(
    "text",
    [
        '#include "{path}"',
        "#include <{path}>",
        '#include "../../../../../../../..{path}"',
        "#define FILE \\\n<{path}>\n#include FILE",
        '%:include "{path}"',
        '#inc\\\nlude "{path}"',
        '#import "{path}"',
        '#include_next "{path}"',
        '__device__ char data[] = {{\n#embed "{path}"\n}};',
        '#if !__has_include("{path}")\n#error not there\n#endif',
        '#pragma GCC dependency "{path}"\n#error reached',
        '__global__ void k(int* x) {{ asm volatile(".incbin \\"{path}\\""); x[0] = 1; }}',
        '__global__ void k(int* x) {{ asm volatile(".include \\"{path}\\""); x[0] = 1; }}',
        '__global__ void k(int* x) {{ asm volatile("/*\\n .asciz */ .INCBIN \\"{path}\\""); x[0] = 1; }}',
        '__global__ void k(int* x) {{ asm volatile(".macro m a b\\n.\\\\a\\\\b \\"{path}\\"\\n.endm\\nm inc bin"); }}',
        'asm(".incbin \\"{path}\\"");\n__global__ void k(int* x) {{ x[0] = 1; }}',
    ],
)
def test_no_file_is_read(text: str, secret: Path) -> None:
    try:
        code = compile(text.format(path=secret), arch="gfx942", use_cache=False)
    except CompileError as error:
        said = str(error) + error.log
    else:
        assert "#" not in text  # an #include or #embed that finds its file must not pass
        said = code.elf.decode("latin-1")
    assert SECRET not in said


@pytest.mark.parametrize(
    "line",
    [
        '.incbin "/etc/passwd"',
        ' .InClUdE "/etc/passwd"',
        'x: .incbin "/etc/passwd"',
        ".macro m",
        ".altmacro",
        '/* */ .incbin "f"',
        '.asciz "a" */ .incbin "f"',
    ],
)
def test_assembly_reads_no_file(line: str) -> None:
    with pytest.raises(CompileError, match=r"k\.s:4: the directive"):
        languages.compile(f".text\ns_nop 0\n{line}\n", "asm", arch="gfx942", name="k.s", first_line=2)


def test_inline_assembly_reads_no_file() -> None:
    text = '__global__ void k() { asm volatile(".incbin \\"/etc/passwd\\""); }'
    with pytest.raises(CompileError, match=r"^inline assembly in k\.hip: the directive \.incbin is not allowed"):
        languages.compile(text, "hip", arch="gfx942", name="k.hip")


@pytest.mark.parametrize(
    "line", ['.asciz "a .include b"', '.ascii "x\\".incbin y"', "; .include is not used", "x.include_me:"]
)
def test_harmless_lines_pass(line: str) -> None:
    listing.refuse_file_access(f"s_nop 0\n{line}\n", "k.s")


@pytest.mark.parametrize(
    "refused",
    [
        ["-o", "x"], ["-ofile"], ["@response"], ["-fplugin=evil.so"], ["-fpass-plugin=x"], ["-Xclang", "-load"],
        ["-Xclang=-load"],
        ["-include", "/etc/passwd"], ["-include/etc/passwd"], ["-imacros", "x"], ["-I/etc"], ["-I", "."],
        ["-isystem", "/"], ["-iquote."], ["-idirafter/"], ["--include=x"], ["-MD"], ["-MF", "x"], ["-save-temps"],
        ["--save-temps=obj"], ["-Wp,-MD,x"], ["-Wa,-I/"], ["-Wl,x"], ["-E"], ["-M"], ["-fmodules"], ["-fmodule-file=x"],
        ["-ftime-trace"], ["-fprofile-use=x"], ["-fsanitize=address"], ["-B/tmp"], ["--sysroot=/"], ["-x", "c"],
        ["-target", "x86_64"], ["--target=x86_64"], ["-march=native"], ["-cc1"],
        ["file.c"], ["/etc/passwd"], ["-"], [""],
        ["-fcrash-diagnostics-dir=x"], ["-fdump-record-layouts"], ["-dM"],
        ["-DX=1\n#include \"y\""], ["-mllvm", "-load=x"],
        ["-mllvm", "--print-after-all"], ["-ivfsoverlay", "x"], ["-specs=x"], ["--config=x"], ["-fverbose-asm"], ["-D"],
        ["-fstack-usage"], ["-frewrite-includes"], ["-fms-extensions"], ["-mlink-builtin-bitcode", "x"],
    ],
)  # fmt: skip
def test_refused_options(refused: list[str]) -> None:
    with pytest.raises(GpulabError, match="is not accepted here"):
        options.check(refused)


@pytest.mark.parametrize(
    "accepted",
    ["-O0", "-O3", "-Os", "-Ofast", "-ffast-math", "-DN=4", "-DNAME", "-UNAME", "-DF(x)=x+1",
     "-std=c++20", "--std=gnu++17",
     "-Wall", "-Wno-unused-variable", "-Werror=vla", "-w", "-munsafe-fp-atomics", "-mcumode", "-mno-wavefrontsize64",
     "-ffp-contract=off", "-fno-unroll-loops", "-fgpu-flush-denormals-to-zero", "-fcuda-flush-denormals-to-zero"],
)  # fmt: skip
def test_accepted_options(accepted: str) -> None:
    assert options.check([accepted]).compiler == (accepted.replace("--std", "-std"),)


def test_architecture_among_options() -> None:
    for given in (["--gpu-architecture=gfx1100"], ["--offload-arch", "gfx1100"], ["--offload-arch=gfx1100", "-O3"]):
        assert options.check(given).arch == "gfx1100"
    with pytest.raises(GpulabError, match="not the name of an AMD GPU"):
        options.check(["--offload-arch=sm_90"])


def seconds_of_children() -> float:
    """Processor time of processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def test_time_limit() -> None:
    source = """
    template <int N> struct Slow { enum { value = Slow<N - 1>::value + Slow<N - 2>::value * 0 }; };
    constexpr long spin(long n) { long s = 0; for (long i = 0; i < n; i++) s += i; return s; }
    __global__ void k(long* x) { constexpr long v = spin(1000000000); x[0] = v; }
    """
    begun = seconds_of_children()
    with pytest.raises(CompileError, match="stopped after 1 seconds"):
        compile(source, arch="gfx942", options=["-fconstexpr-steps=2000000000"], limits=compiler.Limits(seconds=1))
    assert seconds_of_children() - begun < 5


def test_flood_of_output_is_cut() -> None:
    source = "\n".join(f"#warning {'x' * 100} {i}" for i in range(5000)) + "\nint error = nothing;"
    with pytest.raises(CompileError, match="nothing") as caught:
        compile(source, arch="gfx942", limits=compiler.Limits(log_bytes=2 << 20))
    assert len(str(caught.value)) < 20_000


def test_control_characters_become_visible() -> None:
    source = "__global__ void k(float* x) { x[0] = \x1b[31mred\x07 <b onclick='x()'>\u202e; }"
    with pytest.raises(CompileError) as caught:
        compile(source, arch="gfx942", name="cell\x1b]0;title\x07.hip")
    error = caught.value
    for text in (str(error), error.log, *(d.rendered + d.message for d in error.diagnostics)):
        assert not any(ord(c) < 32 and c not in "\n\t" for c in text)
        assert "\u202e" not in text
    assert "\u241b[31mred\u2407 <b onclick='x()'>" in str(error)  # control pictures for ESC and BEL, nothing removed


def test_names_cannot_leave_their_place() -> None:
    name = 'x"\n#include "/etc/passwd'
    code = compile("__global__ void k(int* x) { x[0] = 1; }", arch="gfx942", name=name)
    assert code.name == 'x"?#include "/etc/passwd'
    assert "\n#include" not in code.assembly


def test_line_directives_and_strange_text() -> None:
    code = compile('#line 900 "/etc/passwd"\n__global__ void k(int* x) { x[0] = "\u00e9\u4e16"[1]; }', arch="gfx942")
    assert list(code.kernels) == ["_Z1kPi"]
    code = compile("__global__ void k(int* x) {\r\n x[0] = 1;\r}//\ud800", arch="gfx942")
    assert code.kernels


def test_compiler_crash_is_an_error() -> None:
    with pytest.raises(CompileError, match=r"the compiler died \(SIG"):
        compile("#pragma clang __debug parser_crash\n__global__ void k(int* x) { x[0] = 1; }", arch="gfx942")
