"""The C++ library for whole programs: of zig's own sources, in archives that are built when a program needs them."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from gpulab import programs
from gpulab.errors import CompileError, GpulabError
from gpulab.records import Diagnostic
from gpulab.toolchain import cache, compiler, cxx_library, elf, hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "runs")
PLAIN = '#include <cstdio>\n#include <vector>\nint main() { std::vector<int> a(3); printf("%zu\\n", a.size()); }\n'
SORTS = (
    "#include <algorithm>\n#include <cstdio>\nint main() { int a[] = {3, 1, 2}; std::sort(a, a + 3);"
    ' printf("%d\\n", a[0]); }\n'
)
STREAMS = "#include <iostream>\nint main() { std::cout << 1.5 << std::endl; }\n"
REST = (
    '#include <cstdio>\n#include <filesystem>\nint main() { puts(std::filesystem::path("a/b").filename().c_str()); }\n'
)


def test_zig_is_asked_without_its_building_the_library(monkeypatch):
    here = hosted.setting()  # which asks zig itself where the cache has no answer yet
    calls = []

    def run(arguments, **more):
        calls.append(list(arguments))
        outcome = real(arguments, **more)
        assert "libcxx/src" not in outcome.log
        return outcome

    real = compiler.run
    monkeypatch.setattr(compiler, "run", run)
    assert hosted._discover(hosted.target()) == here
    monkeypatch.setattr(cache.Store, "get", lambda store, key: None)
    assert Path(hosted.libraries()[0]).exists()
    assert [call[0] for call in calls] == ["c++", "cc"]


@pytest.mark.full
def test_a_program_that_needs_the_compilers_runtime_library_has_it(monkeypatch, tmp_path):
    """128-bit division and short floats are functions of it; other programs neither get it nor build it."""
    asked, real = [], hosted.libraries
    monkeypatch.setattr(hosted, "libraries", lambda *words: asked.append(words) or real(*words))
    monkeypatch.setenv("GPULAB_CACHE_OWN", str(tmp_path))
    source = """#include <cstdio>
int main(int count, char**) {
    __int128 large = static_cast<__int128>(count) << 100;
    _Float16 half = static_cast<_Float16>(count * 1.5);
    printf("%lld %g\\n", static_cast<long long>(large / (3 * count) % 1000007), static_cast<double>(half));
}
"""
    program = programs.build(source, archs=("gfx942",))
    outcome = subprocess.run([str(program.path)], capture_output=True, text=True, check=True)
    assert outcome.stdout == f"{(1 << 100) // 3 % 1000007} 1.5\n"
    assert [words for words in asked if words] == [("-lunwind",)]
    with pytest.raises(CompileError, match="undefined symbol: __nowhere"):
        programs.build('extern "C" void __nowhere();\nint main() { __nowhere(); }\n', archs=("gfx942",))
    asked.clear()
    programs.build(PLAIN, archs=("gfx942",))
    assert [words for words in asked if words] == []


PLACES = hosted.Hosted(
    "x86_64-linux-gnu", ("/zig/libcxx/include", "/zig/libcxxabi/include", "/zig/include"), ("A=1", "B"),
    user=("/u",), quoted=("/q", "/r"), more=("/m",),
)  # fmt: skip
CXX = "-isystem /gpulab/system/0 -isystem /gpulab/system/1 "
OWN_FOLDERS = "-iquote /q -iquote /r -I /u"


@pytest.mark.parametrize(
    ("language", "words", "include", "cxx"),
    [
        ("hip", "", "/gpulab/include", CXX),
        ("c++", "-D__GPULAB_PLAIN__ -U__HIP__ -U__HIPCC__ ", "/gpulab/include", CXX),
        ("c", None, "/gpulab/c", ""),
        ("assembler-with-cpp", None, "/gpulab/c", ""),
    ],
)
def test_options_of_all_passes_over_a_program(language, words, include, cxx):
    read = "hip" if language == "c++" else language
    hip = "" if words is None else words + "-nogpulib -nogpuinc -cuid=gpulab " + "".join(
        f"-D__{one}__=__attribute__(({one})) " for one in ("host", "device", "global", "shared", "constant", "managed")
    )  # fmt: skip
    hip += "-include gpulab/host/standard.h " if language == "hip" else ""
    assert " ".join(PLACES.arguments(language)) == (
        f"--target=x86_64-linux-gnu -x {read} -nostdinc -D__GPULAB_PROGRAM__ -D__HIP_PLATFORM_AMD__=1 -DA=1 -DB "
        f"{hip}{OWN_FOLDERS} -isystem {include} -isystem /gpulab/include/gpulab/host/library "
        f"-isystem /gpulab/system/library0 {cxx}-isystem /gpulab/system/2"
    )


def test_what_programs_share_has_none_of_ones_own_headers():
    assert "-fuse-cuid=none" in hosted.Hosted("t", (), (), unit="").arguments()
    assert PLACES.arguments() == PLACES.arguments("hip")


@pytest.mark.parametrize(
    ("system", "machine", "there", "said"),
    [
        ("linux", "x86_64", True, ""),
        ("linux", "aarch64", True, ""),
        ("linux", "riscv64", True, "whole programs are made for x86-64 and arm64; this is riscv64"),
        ("linux", "x86_64", False, "whole programs are made for systems with the GNU C library; this one has another"),
        ("darwin", "arm64", True, "whole programs (%%hipcc, gpulab hipcc) are made for Linux; this is "),
    ],
)
def test_where_programs_can_be_built(monkeypatch, system, machine, there, said):
    monkeypatch.setattr(hosted.sys, "platform", system)
    monkeypatch.setattr(hosted.platform, "machine", lambda: machine)
    monkeypatch.setattr(hosted.os.path, "exists", lambda path: there)
    assert hosted.unavailable().startswith(said)
    assert bool(hosted.unavailable()) == bool(said)
    if said:
        with pytest.raises(GpulabError, match=r"whole HIP programs cannot be built here\."):
            hosted.require()
    else:
        hosted.require()


def test_names_of_this_machine_for_the_linker(monkeypatch):
    for machine, triple, loader in (
        ("x86_64", "x86_64-linux-gnu.2.28", "/lib64/ld-linux-x86-64.so.2"),
        ("AMD64", "x86_64-linux-gnu.2.28", "/lib64/ld-linux-x86-64.so.2"),
        ("aarch64", "aarch64-linux-gnu.2.28", "/lib/ld-linux-aarch64.so.1"),
        ("arm64", "aarch64-linux-gnu.2.28", "/lib/ld-linux-aarch64.so.1"),
    ):
        monkeypatch.setattr(hosted.platform, "machine", lambda machine=machine: machine)
        assert (hosted.target(), hosted.interpreter()) == (triple, loader)
    monkeypatch.setattr(hosted.platform, "machine", lambda: "other")
    assert hosted.target() == "other-linux-gnu.2.28"


def test_a_function_of_a_library_that_is_not_linked_is_advised():
    libraries = [
        hosted.LinkedLibrary(name, 1, False, None, dict.fromkeys(functions, 0))
        for name, functions in (("first", ("f", "g")), ("second", ("g", "h")))
    ]
    found = [Diagnostic("error", f"undefined symbol: {name}", None, "before", "") for name in ("f", "g", "h", "x")]
    found.append(Diagnostic("error", "another message", None, "before", ""))
    assert [each.advice for each in hosted._advised(found, libraries)] == [
        "f is a function of the library first: add -lfirst.", "g is a function of the library first: add -lfirst.",
        "h is a function of the library second: add -lsecond.", "before", "before",
    ]  # fmt: skip
    assert [one.file for one in libraries] == ["libfirst.so", "libsecond.so"]


def test_object_files_with_an_offload_bundle():
    """The symbols stand at its start, on a page of its own; eight bytes of zeros for each set of handles."""
    raw = hosted.assemble_fat_binary(("one", "two"), b"bundle", hosted.setting(), ("handle",))
    found = {section.name: section for section in elf.read(raw, None)}
    assert (found[".hip_fatbin"].contents, found[".hip_fatbin"].flags) == (b"bundle", elf.ALLOCATED)
    handles = found[".bss.gpulab_handle"]
    assert (handles.contents, handles.size, handles.flags) == (b"", 8, elf.ALLOCATED | elf.WRITABLE)
    assert ".note.GNU-stack" in found  # so that the program's stack is not made executable
    tables = elf.read(raw, None)
    numbers = {section.name: number for number, section in enumerate(tables)}
    symbols = elf.symbols_of(found[".symtab"], tables)
    assert {(symbol.name, symbol.address, symbol.section) for symbol in symbols if symbol.name} == {
        ("one", 0, numbers[".hip_fatbin"]), ("two", 0, numbers[".hip_fatbin"]),
        ("handle", 0, numbers[".bss.gpulab_handle"]),
    }  # fmt: skip
    binding = {
        weak: info_of(hosted.assemble_fat_binary(("one",), b"", hosted.setting(), (), weak)) for weak in (False, True)
    }
    assert binding == {False: 1, True: 2}  # STB_GLOBAL, STB_WEAK


def info_of(raw):
    """The binding of the one symbol with a name."""
    table = next(section for section in elf.read(raw, None) if section.name == ".symtab")
    (info,) = (info for name, info in struct.iter_unpack("<IB19x", table.contents) if name)
    return info >> 4


def test_object_files_with_files_that_a_linker_leaves_out():
    raw = hosted.assemble_files([(".first", b"abc"), (".second", b"")], hosted.setting())
    found = {section.name: section for section in elf.read(raw, None)}
    assert [(found[name].contents, found[name].flags) for name in (".first", ".second")] == [
        (b"abc", 0x80000000), (b"", 0x80000000),
    ]  # fmt: skip


def test_every_source_of_the_library_is_in_one_archive():
    """Of the folders that zig builds it from; it leaves out these four (its `libcxx.zig`), too."""
    libraries = compiler.package_folder() / "lib"
    found = {
        path.relative_to(libraries).with_suffix("").as_posix()
        for folder in ("libcxxabi/src", "libcxx/src", "libcxx/src/filesystem", "libcxx/src/ryu")
        for path in (libraries / folder).glob("*.cpp")
    }
    named = [one.removesuffix(".cpp") for part in cxx_library.PARTS for group in part.sources for one in group]
    assert len(named) == len(set(named))
    assert set(named) <= found
    left = {one.rpartition("/")[2] for one in found - set(named)}
    assert left <= {"cxa_noexception", "cxa_unexpected", "int128_builtins", "legacy_debug_handler", "debug"}, left


@pytest.mark.parametrize(
    ("symbol", "part"),
    [
        ("_ZNSt3__14coutE", "libc++streams"),
        ("_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEElsEd", "libc++streams"),
        ("_ZNKSt3__16locale9use_facetERNS0_2idE", "libc++streams"),
        ("_ZTVNSt3__115basic_stringbufIcNS_11char_traitsIcEENS_9allocatorIcEEEE", "libc++streams"),
        ("_ZTTNSt3__118basic_stringstreamIcNS_11char_traitsIcEENS_9allocatorIcEEEE", "libc++streams"),
        ("_ZNSt3__16__sortIRNS_6__lessIvvEEPiEEvT0_S5_T_", "libc++sort"),
        ("_ZNSt3__16chrono12steady_clock3nowEv", "libc++threads"),
        ("_ZNSt3__16threadD1Ev", "libc++threads"),
        ("_ZNSt3__111this_thread9sleep_forERKNS_6chrono8durationIxNS_5ratioILl1ELl1000000000EEEEE", "libc++threads"),
        ("_ZNSt3__115__thread_structC1Ev", "libc++threads"),
        ("_ZNSt3__15mutex4lockEv", "libc++threads"),
        ("_ZNSt3__115recursive_mutex4lockEv", "libc++threads"),
        ("_ZNSt3__118condition_variable4waitERNS_11unique_lockINS_5mutexEEE", "libc++threads"),
        ("_ZNSt3__113random_deviceclEv", "libc++threads"),
        ("_ZNSt3__117__assoc_sub_state4waitEv", "libc++threads"),
        ("_ZNSt3__119__shared_mutex_base4lockEv", "libc++rest"),
        ("_ZNSt3__14__fs10filesystem8__statusERKNS1_4pathEPNS_10error_codeE", "libc++rest"),
        ("_ZNSt3__18valarrayImE6resizeEmm", "libc++rest"),
    ],
)
def test_the_part_that_has_a_symbol(symbol, part):
    log = f"ld.lld: error: undefined symbol: {symbol}\n>>> referenced by host.hip:3\n"
    assert cxx_library.lacking(log) == [symbol]
    assert next(one.name for one in cxx_library.PARTS if one.symbols.search(symbol)) == part


@pytest.mark.parametrize(
    "symbol", ["_Z4minev", "_Z4mineNSt3__16vectorIiNS_9allocatorIiEEEE", "mine", "_ZN4mine3StaEv", "_ZTV4Mine"]
)
def test_symbols_that_are_not_the_librarys(symbol):
    assert cxx_library.lacking(f"ld.lld: error: undefined symbol: {symbol}\n") == []


@pytest.mark.parametrize("source", ["libcxxabi/src/stdlib_exception.cpp", "libcxxabi/src/private_typeinfo.cpp"])
def test_names_of_types_alone_are_visible_to_other_libraries(tmp_path, source):
    """Of what an object file defines; what it takes from elsewhere stays as it is (System V ABI: st_info, st_other and
    st_shndx of a symbol)."""
    raw = Path(hosted.setting().cxx_library()._compiled([source], str(tmp_path))).read_bytes()
    found = elf.read(raw, None)
    (table,) = (section for section in found if section.name == ".symtab")
    names = next(section.contents for section in found if section.name == ".strtab")
    visibility, elsewhere = {}, set()
    for name, info, other, section in struct.iter_unpack("<IBBH16x", table.contents):
        if not section:
            elsewhere.add(other & 3)
        elif info >> 4:  # not local
            visibility[names[name : names.index(b"\0", name)].decode()] = other & 3
    default, hidden = ({name for name, each in visibility.items() if each == kind} for kind in (0, 2))
    assert default == {name for name in visibility if name.startswith("_ZTS")}
    assert default | hidden == set(visibility)
    assert any(name.startswith("_ZTV") for name in hidden)
    assert any(name.startswith("_ZN") for name in hidden)
    assert elsewhere == {0}


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        ("vector cstdio algorithm", ["libc++base"]),
        ("iostream", ["libc++base", "libc++streams"]),
        ("chrono", ["libc++base", "libc++threads"]),
        ("sstream hip/hip_runtime.h mutex filesystem", ["libc++base", "libc++threads", "libc++streams"]),
    ],
)
def test_what_a_program_is_likely_to_need(tmp_path, monkeypatch, names, parts):
    """By the headers that its text includes; of these, what is not there yet."""
    monkeypatch.setattr(cxx_library.CxxLibrary, "folder", tmp_path)
    library = hosted.setting().cxx_library()
    text = "// #include <regex>\n" + "".join(f"# include <{name}>\n" for name in names.split())
    assert [part.name for part in library.absent(text)] == parts
    (tmp_path / "libc++base.a").touch()
    assert [part.name for part in library.absent(text)] == parts[1:]


@pytest.fixture
def copied(monkeypatch, tmp_path):
    """A library of which nothing is built; it copies what it is asked to build from the real one. What that was."""
    whole = hosted.setting().cxx_library()
    folder, built, build_really = whole.folder, [], cxx_library.CxxLibrary._build

    def build(self, parts):
        built.extend(part.name for part in parts)
        for part in parts:
            if (folder / f"{part.name}.a").exists():
                shutil.copyfile(folder / f"{part.name}.a", self._path(part))
            else:
                build_really(self, [part])

    monkeypatch.setattr(cxx_library.CxxLibrary, "folder", tmp_path / "library")
    monkeypatch.setattr(cxx_library.CxxLibrary, "_build", build)
    monkeypatch.setenv("GPULAB_CACHE_OWN", str(tmp_path / "own"))
    return built


@pytest.mark.full
def test_a_program_has_what_it_needs_built(copied):
    seen = []
    for source, output in (
        (PLAIN, "3\n"),
        (SORTS, "1\n"),
        (STREAMS, "1.5\n"),
        (REST, "b\n"),
        (STREAMS + "// again\n", "1.5\n"),
    ):
        program = programs.build(source, archs=("gfx942",))
        assert subprocess.run([str(program.path)], capture_output=True, text=True, check=True).stdout == output
        seen.append(tuple(copied))
    base = ("libc++base",)
    assert seen[0] == base
    assert seen[1] == (*base, "libc++sort")
    assert seen[2] == (*base, "libc++sort", "libc++streams")
    assert seen[3] == seen[4] == (*base, "libc++sort", "libc++streams", "libc++rest")


def test_a_function_that_is_not_there_has_nothing_built(copied):
    source = "#include <vector>\nvoid mine(std::vector<int>&);\nint main() { std::vector<int> a; mine(a); }\n"
    with pytest.raises(CompileError, match="undefined symbol: mine"):
        programs.build(source, archs=("gfx942",))
    assert copied == ["libc++base"]


@pytest.mark.full
def test_a_program_is_the_same_with_the_other_archives(copied, monkeypatch, tmp_path):
    first = programs.build(SORTS, archs=("gfx942",)).path.read_bytes()
    hosted.setting().cxx_library().require(cxx_library.PARTS)
    monkeypatch.setenv("GPULAB_CACHE_OWN", str(tmp_path / "other"))
    assert programs.build(SORTS, archs=("gfx942",)).path.read_bytes() == first
    assert sorted(copied) == sorted(part.name for part in cxx_library.PARTS)


def test_a_source_that_does_not_compile_is_told(monkeypatch, tmp_path):
    library = hosted.setting().cxx_library()
    monkeypatch.setattr(cxx_library.CxxLibrary, "folder", tmp_path / "library")
    monkeypatch.setattr(cxx_library, "_OPTIONS", (*cxx_library._OPTIONS, "-DNULL=", "-std=c++98"))
    with pytest.raises(
        CompileError, match=r"the C\+\+ library for this machine could not be built: libcxx/src/[^\n]+ did not compile:"
    ):
        library.require([cxx_library.PARTS[1]])
    assert library.archives() == []
