"""The link step without a linker: words and files that are found, what is joined, and what is said of refusals."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.errors import CompileError, GpulabError, InternalError
from gpulab.programs import building, bundles, objects, runtimes
from gpulab.programs.arguments import Command, Input
from gpulab.providers.virtual import hosting
from gpulab.toolchain import compiler, hosted, linking
from gpulab.toolchain.hosted import LinkedLibrary

ONE = LinkedLibrary("one", 7, True, None, {"first": 801})
TWO = LinkedLibrary("two", 2, False, None, {"k": 3, "k2": 4})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Objects, libraries of a program, and a folder with the libraries of a ROCm."""
    for name in (
        "x.o", "y.o", "lib/libone.so", "lib/libone.a", "lib/libtwo.a", "lib/three.bin", "lib/libroctx64.a",
        "rocm/libamdhip64.so", "rocm/libhiprtc.so", "rocm/libhiprtc.so.7.0", "rocm/libone.so", "rocm/libone.a",
        "mac/libamdhip64.dylib", "mac/libhiprtc.so",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def named(text: str) -> list[Input | str]:
    """Items of a command: words with a dash are the linker's, others files."""
    return [word if word.startswith("-") else Input(word, "object") for word in text.split()]


@pytest.mark.parametrize(
    ("items", "words", "files", "libraries", "own"),
    [
        ("x.o lib/libone.so y.o", "+x.o +lib/libone.so +y.o", "x.o lib/libone.so y.o", "", ""),
        ("-lone x.o -ltwo", "-lone +x.o +lib/libtwo.a", "x.o lib/libtwo.a", "", ""),
        ("-Bstatic -lone -Bdynamic -lone", "-Bstatic +lib/libone.a -Bdynamic -lone", "lib/libone.a", "", ""),
        ("-dn -lone -dy -lone", "-dn +lib/libone.a -dy -lone", "lib/libone.a", "", ""),
        ("-l:three.bin -l:libtwo.a", "-l:three.bin +lib/libtwo.a", "lib/libtwo.a", "", ""),
        # ROCm's libraries come through gpulab's tables, wherever they are; those of C and C++ always
        ("rocm/libhiprtc.so.7.0 -lone x.o", "-lone +x.o", "x.o", "hiprtc", ""),
        ("-lm -lhiprtc mac/libhiprtc.so -lamdhip64 -lhiprtc", "", "", "hiprtc amdhip64", ""),
        # gpulab's own host libraries, but for one that the program has itself
        ("-lmpi x.o -lmpich", "+x.o", "x.o", "", "mpi"),
        ("-lgomp -lmpi -lomp", "", "", "", "openmp mpi"),
        ("-lroctx64", "+lib/libroctx64.a", "lib/libroctx64.a", "", ""),
        # options with a file, and without one that is needed
        ("-rpath-link /far -lone --rpath-link /far", "-lone", "", "", ""),
        ("--rpath-link=/far x.o -rpath-link=/far", "+x.o", "x.o", "", ""),
        ("--no-relax x.o -pie -no-pie -no_pie --gc-sections", "+x.o --gc-sections", "x.o", "", ""),
        ("-T=s.ld --version-script=out/v x.o", "-T=+s.ld --version-script=+out/v +x.o", "x.o", "", ""),
        ("--dynamic-list=a -Map=b --retain-symbols-file=c", "--dynamic-list=+a -Map=+b --retain-symbols-file=+c",
         "", "", ""),
        ("x.o -T", "+x.o -T", "x.o", "", ""),
        ("x.o -rpath-link", "+x.o -rpath-link", "x.o", "", ""),
    ],
)  # fmt: skip
def test_what_a_link_names(folder: Path, items: str, words: str, files: str, libraries: str, own: str) -> None:
    """`+` stands for the folder of the command."""
    search = (f"{folder}/lib", f"{folder}/rocm")
    found = objects.resolved(Command(items=tuple(named(items)), search=search), {})
    expected = (*(f"-L{each}" for each in search), *(word.replace("+", f"{folder}/") for word in words.split()))
    assert found.words == expected
    assert found.files == tuple(str(folder / name) for name in files.split())
    assert (" ".join(found.libraries), " ".join(found.own)) == (libraries, own)


def test_files_of_options_are_found_from_elsewhere(folder: Path) -> None:
    """The linker runs in another folder."""
    items = ("-T", "s.ld", "--version-script", "v", "--dynamic-list", "d", "-Map", "m", "--retain-symbols-file", "r")
    found = objects.resolved(Command(items=items), {})
    assert found.words == tuple(word if word.startswith("-") else f"{folder}/{word}" for word in items)
    assert found.files == ()


def test_sources_are_linked_as_what_was_made_of_them(folder: Path) -> None:
    source = Input("a.hip", "hip")
    found = objects.resolved(Command(items=(source, Input("y.o", "object")), openmp=True), {source: "x.o"})
    assert found == objects.Found(("x.o", f"{folder}/y.o"), (), ("x.o", f"{folder}/y.o"), ("openmp",))
    with pytest.raises(GpulabError, match=r"^gone/z\.o cannot be read: No such file or directory\.$"):
        objects.resolved(Command(items=(Input("gone/z.o", "object"),)), {})
    with pytest.raises(GpulabError, match="there is no library nothing here"):
        objects.resolved(Command(items=("-lnothing",), search=("lib",)), {})


@pytest.mark.parametrize(
    ("words", "name", "places"),
    [
        ("a.o", True, ()), ("-soname x", False, ()), ("-h x", False, ()), ("--soname x", False, ()),
        ("-soname=x", False, ()), ("a.o --soname=x", False, ()), ("-soname2", True, ()),
        ("-Map=/a/b.map", True, ("/a",)), ("-Map /a/b.map a.o --Map /c/d", True, ("/a", "/c")),
        ("--Map=/e/f -Map /a/b", True, ("/e", "/a")), ("a.o -Map", True, ()), ("-Maps /a/b", True, ()),
    ],
)  # fmt: skip
def test_names_of_libraries_and_places_of_maps(words: str, name: bool, places: tuple[str, ...]) -> None:
    split = tuple(words.split())
    assert objects._with_name(split, "libx.so") == (("-soname", "libx.so", *split) if name else split)
    assert objects._written(split) == places


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What the linker was given; it says what stands in the first of `said`, (code, log)."""
    given: list[tuple[Any, ...]] = []
    monkeypatch.setattr(hosted, "setting", lambda: SimpleNamespace(triple="arm-linux-gnu"))
    monkeypatch.setattr(hosting, "libraries", lambda: (ONE, TWO))
    monkeypatch.setattr(building, "calls", lambda machine, chosen: (machine, [one.name for one in chosen]))
    monkeypatch.setattr(building, "own_objects", lambda setting, calls, shared: {"o": (setting.triple, calls, shared)})
    monkeypatch.setattr(runtimes, "compiled", lambda name, setting: f"compiled {name}")
    monkeypatch.setattr(objects, "_device_code", lambda files, wish, setting: {"d": files})
    found = objects.Found(("-x", "-Map=/m/n"), ("two",), ("f.o",), ("mpi", "openmp"))
    monkeypatch.setattr(objects, "resolved", lambda wish, made: found if wish.archs else objects.Found((), (), ()))

    def linked(own: Any, setting: Any, entry: str, target: Path, limits: Any, more: hosted.Linkage) -> Any:
        given.append((own, entry, target, limits, more))
        return compiler.Outcome(int("error" in target.name), "a warning: one\nother\nwarning: two\n"
                                "ld.lld: error: undefined symbol: k(int)\n")  # fmt: skip

    monkeypatch.setattr(hosted, "linked", linked)
    return given


def test_what_the_linker_gets(joined: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "linkable", lambda *given: contextlib.nullcontext())
    assert objects.link(Command(debug=True), {}, Path("/t/app")) == "a warning: one\nwarning: two"
    assert joined == [
        (
            {"o": ("arm-linux-gnu", ("arm", ["one", "two"]), False), "mpi.o": "compiled mpi",
             "openmp.o": "compiled openmp", "d": ("f.o",)},
            building.ENTRY, Path("/t/app"), objects.LIMITS, hosted.Linkage(("-x", "-Map=/m/n"), False, True, ("/m",)),
        )
    ]  # fmt: skip
    assert compiler.Limits(seconds=1800) == objects.LIMITS
    objects.link(Command(kind="shared", archs=()), {}, Path("/t/lib.so"))
    own, *_, more = joined[1]
    assert own == {"o": ("arm-linux-gnu", ("arm", ["one"]), True), "d": ()}
    assert more == hosted.Linkage(("-soname", "lib.so"), True, False, ())
    with pytest.raises(CompileError, match=r"error did not link: 1 error\.(?s:.*)no file that was named defines it"):
        objects.link(Command(), {}, Path("/t/error"))
    with pytest.raises(CompileError, match="it is a function of the library two: add -ltwo"):
        objects.link(Command(archs=()), {}, Path("/t/error"))


def test_device_code_of_objects_is_linked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = bundles.UNIT_SECTION.encode()
    names = b"\0__hip_fatbin_1f\0__hip_gpubin_handle_%s\0__hip_fatbin_12345678901234567\0__hip_fatbinx\0__hip_fatbin\0"
    raw = {"a.o": section + names % b"a", "b.o": section + names % b"b", "c.o": names, "n.o": section}
    units = {"a.o": {"gfx942": [b"1", b"2"], "gfx1100": [b"3"]}, "b.o": {"gfx942": [b"2", b"4"]}}
    for name, text in raw.items():
        (tmp_path / name).write_bytes(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bundles, "units_of", lambda text: next((units.get(n, {}) for n in raw if raw[n] == text), {}))
    asked = []

    def link(pieces: list[bytes], arch: str, name: str, program: bool) -> Any:
        asked.append((pieces, arch, name, program))
        return SimpleNamespace(elf=arch.encode())

    monkeypatch.setattr(linking, "link", link)
    monkeypatch.setattr(hosted, "assemble_fat_binary", lambda symbols, fat, setting, handles: (symbols, fat, handles))
    setting: Any = None
    found = objects._device_code(["a.o", "b.o", "a.o", "c.o"], Command(archs=("gfx942",)), setting)
    fat = bundles.bundle([("gfx942", b"gfx942"), ("gfx1100", b"gfx1100")])
    handles = ["__hip_gpubin_handle_a", "__hip_gpubin_handle_b"]
    assert found == {"linked-device.o": (["__hip_fatbin_1f", "__hip_fatbin"], fat, handles)}
    assert asked == [
        ([b"1", b"2", b"4"], "gfx942", "linked program", True), ([b"3"], "gfx1100", "linked program", True)
    ]  # fmt: skip
    for nothing in ([], ["c.o"], ["n.o"]):
        assert objects._device_code(nothing, Command(), setting) == {}
    with pytest.raises(GpulabError) as refused:
        objects._device_code(["b.o"], Command(archs=("gfx90a", "gfx942", "gfx1030")), setting)
    assert str(refused.value) == (
        "no object has device code for gfx90a, gfx1030.\nWhy: they were compiled with -fgpu-rdc for gfx942.\n"
        "Try: give the same --offload-arch= to all commands."
    )
    assert list(objects._device_code(["b.o"], Command(), setting)) == ["linked-device.o"]  # nothing was asked for


def test_a_static_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    ends = [(0, True), (0, True), (1, True), (0, False)]  # the tool's code, and whether it makes something

    def run(words: list[str], *, folder: str, limits: compiler.Limits, what: str) -> compiler.Outcome:
        asked.append((words[:2], Path(words[2]).parent == Path(folder), words[3:], limits, what))
        code, makes = ends.pop(0)
        if makes:
            Path(words[2]).write_bytes(b"archive")
        return compiler.Outcome(code, " no\x07 room \n")

    monkeypatch.setattr(compiler, "run", run)
    target = tmp_path / "deep" / "er" / "x.a"
    for _ in range(2):
        objects.archive(["a.o", "b.o"], target)
        assert target.read_bytes() == b"archive"
        assert asked.pop() == (["ar", "rcsD"], True, ["a.o", "b.o"], objects.LIMITS, "ar")
    for _ in range(2):
        with pytest.raises(CompileError, match=r"^x\.a could not be made:\nno␇ room$"):
            objects.archive(["a.o"], target)


LOG = """\
ld.lld: warning: /a/b/c.o: something small
ld.lld: error: undefined symbol: f(int)
>>> referenced by /home/me/one.cpp:7
>>>               /tmp/deep/one.o:(main)
>>>               /tmp/deep/one.o:(main)
>>> referenced by two.cpp:9
>>> referenced by three.cpp:9
>>> did you mean: f(float)
>>> defined in: /tmp/deep/four.o
>>> referenced by five.cpp:1

ld.lld: error: duplicate symbol: g
>>> defined at a.cpp:1
>>>            /tmp/a.o:(g)
>>> defined in b.o
>>> defined in -

ld.lld: error: undefined hidden symbol: cudaMalloc
>>> referenced by -
ld.lld: error: too many errors emitted, stopping now (use --error-limit=0 to see all errors)
"""
SAID = """\
app\N{SYMBOL FOR BELL} did not link: 3 errors. Begin with the first; the others often follow from it.
error: undefined symbol: f(int)
    in one.cpp:7
    in one.o:(main)
  -> f(float) is defined: declare it the same in both files, with the same parameters, and with extern "C" in both \
or in none.
error: duplicate symbol: g
    in a.cpp:1
    in a.o:(g)
    in b.o
  -> two files define it: declare it in one (extern), or make it static. Functions in headers are inline, kernels in \
headers static or templates.
error: undefined hidden symbol: cudaMalloc
  -> it is CUDA's: `gpulab hipify` translates the source to HIP."""


def test_how_the_linkers_messages_are_told() -> None:
    found = objects._refused(compiler.Outcome(1, LOG), "app\x07", [TWO])
    assert isinstance(found, CompileError)
    assert str(found) == SAID
    assert [(each.severity, each.message) for each in found.diagnostics] == [
        ("warning", "/a/b/c.o: something small"), ("error", "undefined symbol: f(int)"),
        ("error", "duplicate symbol: g"), ("error", "undefined hidden symbol: cudaMalloc"),
    ]  # fmt: skip
    assert found.diagnostics[0].rendered == "warning: c.o: something small"
    assert found.log == LOG
    died = objects._refused(compiler.Outcome(-9, "ld.lld: warning: x"), "app", [])
    assert str(died).startswith("the linker died (SIGKILL).")
    assert isinstance(objects._refused(compiler.Outcome(3, ""), "app", []), InternalError)


NAMELESS = "no file that was named defines it: is an object file or -l missing?"
ADVICE = [
    ("undefined symbol: main", "", "a program starts in main(), which none of the files has. For an object file say "
     "-c, for a library -shared or --emit-static-lib."),
    ("undefined symbol: k(int)", "", "it is a function of the library two: add -ltwo."),
    ("undefined protected symbol: k2<int>(float)", "", "it is a function of the library two: add -ltwo."),
    ("undefined symbol: kk", "", NAMELESS),
    ("undefined symbol: omp_get_wtime", "", "it is one of OpenMP's: add -fopenmp to this command, too."),
    ("undefined symbol: __kmpc_barrier", "", "it is one of OpenMP's: add -fopenmp to this command, too."),
    ("undefined symbol: GOMP_parallel", "", "it is one of OpenMP's: add -fopenmp to this command, too."),
    ("undefined symbol: MPI_Init", "", "it is one of MPI's: add -lmpi, or use mpicc and mpicxx of `gpulab env`."),
    ("undefined symbol: roctxMarkA", "", "it is one of ROCTX's: add -lroctx64."),
    ("undefined symbol: cuInit", "", "it is CUDA's: `gpulab hipify` translates the source to HIP."),
    ("undefined symbol: __cudaPush", "", "it is CUDA's: `gpulab hipify` translates the source to HIP."),
    ("undefined symbol: cut(int)", "", NAMELESS),
    ("undefined symbol: std::__cxx11::basic_string<char>::size()", "", "this object was made by g++, whose C++ library "
     "is another one: compile it with hipcc -c or amdclang++ -c (as g++ is in the environment of `gpulab env`)."),
    ("undefined symbol: std::cout", "", "this object was made by g++, whose C++ library is another one: compile it "
     "with hipcc -c or amdclang++ -c (as g++ is in the environment of `gpulab env`)."),
    ("undefined symbol: __device_stub__add(float*)", "", "no file defines the kernel add with these parameters. If it "
     "is a template, the file that defines it has to name the instances that others launch."),
    ("undefined symbol: __hip_fatbin_17", "", "link this object with hipcc; objects of -fgpu-rdc cannot be joined with "
     "ld -r."),
    ("undefined symbol: f(int)", "f(long)", "f(long) is defined: declare it the same in both files, with the same "
     'parameters, and with extern "C" in both or in none.'),
    ("undefined symbol: f(int)", "g(int)", "no file that was named defines it. Did you mean g(int)?"),
    ("undefined symbol: f(int)", "", NAMELESS),
    ("duplicate symbol: f", "", "two files define it: declare it in one (extern), or make it static. Functions in "
     "headers are inline, kernels in headers static or templates."),
    ("relocation R_X86_64_32 cannot be used; recompile with -fPIC", "", "this object was made by another compiler, for "
     "programs at a fixed address: compile it with hipcc -c, or g++ in the environment of `gpulab env`, or add -fPIC."),
    ("unable to find library -lx", "", "name the folder that has it with -L."),
    ("cannot open x: No such file", "", "name the folder that has it with -L."),
    ("something else", "f", ""),
]  # fmt: skip


@pytest.mark.parametrize(("message", "nearest", "said"), ADVICE)
def test_advice_on_the_linkers_messages(message: str, nearest: str, said: str) -> None:
    assert objects._advice(message, [ONE, TWO], nearest) == said
