"""The command line: what it prints, its exit codes, and notebooks run without a browser."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest

from gpulab import cli, doctor, providers
from gpulab.grading.answers import wrong_answer
from gpulab.providers.rocm import rocprof
from gpulab.providers.rocm.provider import RocmProvider
from tests.ports import free_port
from tests.providers.given import given

ROOT = Path(__file__).resolve().parents[2]


def notebook(path: Path, *cells: str) -> Path:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(made, path)
    return path


def settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(("GPULAB", "JUPYTER", "IPYTHON"))}


def test_counters(capsys: pytest.CaptureFixture[str]) -> None:
    """The table of an architecture, searched; an architecture that is not known is an error with the known ones."""
    assert cli.main(["counters", "--arch", "gfx942", "bank conflict"]) == 0
    said = capsys.readouterr().out
    assert "SQ_LDS_BANK_CONFLICT" in said
    assert "GL2C_HIT" not in said
    assert "reduce(" not in said
    assert cli.main(["counters", "--arch", "gfx1100", "--formulas", "LDSBankConflict"]) == 0
    assert "100*reduce(SQC_LDS_BANK_CONFLICT,sum)/reduce(SQC_LDS_IDX_ACTIVE,sum)" in capsys.readouterr().out
    assert cli.main(["counters", "SQ_WAVES"]) == 0
    assert "waves started" in capsys.readouterr().out
    assert cli.main(["counters", "--arch", "gfx000"]) == 1
    assert "gfx942" in capsys.readouterr().err

    assert cli.main(["isa"]) == 1
    assert "--grep TEXT" in capsys.readouterr().err


def test_devices(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["devices"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^ +0 +.*gfx942 +64 +304 ", text, re.MULTILINE)
    assert re.search(r"^ +1 +.*gfx1100 +32 +96 ", text, re.MULTILINE)


def test_doctor_on_a_machine_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0
    text = capsys.readouterr().out
    for part in ("Python", "cache folder", "compiler", "device 0", "device 1", "jupyterlab", "ipywidgets"):
        assert re.search(rf"^ok +{part}.*: ", text, re.MULTILINE), part
    assert re.search(r"note: (export|set) ROCM_PATH=", text)
    assert "not ok" not in text
    assert text.endswith("Everything that is needed works.\n")


@pytest.mark.full
def test_the_variable_that_doctor_prints_works(capsys: pytest.CaptureFixture[str]) -> None:
    """A program that imports hip-python alone finds the virtual GPU with it."""
    pytest.importorskip("hip", reason="hip-python has wheels for Linux x86-64 only")
    cli.main(["doctor"])
    found = re.search(r"(?:export|set) (ROCM_PATH)=(.*)", capsys.readouterr().out)
    assert found is not None
    code = "from hip import hip; print(hip.hipGetDeviceCount()[1]); import sys; print('gpulab' in sys.argv)"
    run = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {found[1]: found[2].strip()}, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert run.stdout.splitlines()[:1] == ["2"], run.stdout + run.stderr


def test_doctor_says_what_to_type(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A compiler that does not compile, and a device that gives a wrong result, are found."""
    from gpulab.toolchain import build

    def broken(*arguments: object, **options: object) -> None:
        raise OSError("no such program")

    monkeypatch.setattr(build, "compile", broken)
    assert cli.main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert re.search(r"^not ok +compiler: OSError: no such program\n +type: make lab", text, re.MULTILINE)
    assert re.search(r"\d parts? do(es)? not work", text)


def test_doctor_recognises_a_wrong_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_KERNEL", doctor._KERNEL.replace("2 * from[i]", "3 * from[i]"))
    findings = list(doctor._devices())
    assert len(findings) >= 2
    assert all(not finding.works and "WRONG" in finding.said and finding.advice for finding in findings)


@pytest.mark.parametrize(
    ("path", "said"), [("/opt/rocm/bin/rocprofv3", "/opt/rocm/bin/rocprofv3"), (None, "package rocprofiler-sdk")]
)
def test_doctor_says_whether_a_real_gpu_can_be_profiled(
    monkeypatch: pytest.MonkeyPatch, path: str | None, said: str
) -> None:
    """Without ROCm's profiler nothing that is needed is missing."""
    monkeypatch.setattr(rocprof, "executable", lambda: path)
    given(monkeypatch, RocmProvider(providers.selected().binding))
    finding = next(finding for finding in doctor._library() if finding.part == "profiler")
    assert finding.works == (path is not None)
    assert said in finding.said
    assert not finding.needed


def test_setup_says_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["setup"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all(re.search(r"\d+\.\d s", line) for line in lines)
    assert "gfx942, gfx1100" in lines[-2]


def test_setup_builds_what_programs_need_if_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of it; here a folder is taken that has it already, but for one part."""
    from gpulab.toolchain import cxx_library, hosted

    built: list[str] = []
    monkeypatch.setattr(cxx_library.CxxLibrary, "_build", lambda self, parts: built.extend(part.name for part in parts))
    there = hosted.setting().cxx_library().archives()
    assert cli.main(["setup", "--programs"]) == 0
    assert re.search(r"the C\+\+ library for whole programs … \d+\.\d s", capsys.readouterr().out)
    assert len(built) + len(there) == len(cxx_library.PARTS)
    assert hosted.is_ready()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="whole programs are for Linux")
def test_what_the_first_program_needs_is_built_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while a small program is there, which took all of it; not where a program was built before."""
    from gpulab.toolchain import hosted

    started: list[subprocess.Popen[bytes]] = []
    begin, code = subprocess.Popen, cli._PREPARE

    def start(command: list[str], **how: int) -> subprocess.Popen[bytes]:
        started.append(begin(command, **how))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setenv("GPULAB_CACHE_OWN", str(tmp_path))
    monkeypatch.setattr(cli.subprocess, "Popen", start)
    hosted.setting().cxx_library().require()
    hosted.libraries()
    assert hosted.is_ready()
    cli.begin_with_programs()
    assert started[0].wait(100) == 0
    assert list(tmp_path.glob("programs/*/*/first")) == []
    stale = "from gpulab.toolchain import hosted; hosted.is_ready = lambda: False; "
    monkeypatch.setattr(cli, "_PREPARE", stale + code)
    cli.begin_with_programs()
    assert started[1].wait(100) == 0
    (program,) = tmp_path.glob("programs/*/*/first")
    assert begin([str(program)], stdout=subprocess.PIPE).communicate()[0] == b"0\n"


def test_setup_without_programs_where_there_are_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gpulab.toolchain.hosted.unavailable", lambda: "this is no system for programs")
    assert cli.main(["setup", "--programs"]) == 1
    assert "this is no system for programs" in capsys.readouterr().out


def test_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two notebooks, one line each; on the device that --arch names; outputs kept where asked."""
    first = notebook(tmp_path / "first.ipynb", "import gpulab", "print('arch', gpulab.device().arch)")
    second = notebook(
        tmp_path / "second.ipynb",
        "import gpulab",
        "%%hip -q\n__global__ void k(float* x) { x[threadIdx.x] = 1; }",
        "x = gpulab.zeros(8)\nk[1, 64](x)",
    )
    before = settings()
    code = cli.main(["run", str(first), str(second), "--arch", "gfx1100", "-o", str(tmp_path / "out")])
    assert settings() == before, "what the notebooks need is not left behind"
    lines = capsys.readouterr().out.splitlines()
    assert code == 1
    assert re.fullmatch(rf"ok +{re.escape(str(first))} +\d+\.\d s +2 cells", lines[0])
    assert re.fullmatch(rf"failed +{re.escape(str(second))} +\d+\.\d s +cell 3: MemoryFault: .*", lines[1])
    assert len(lines) == 2
    done = json.loads((tmp_path / "out" / "first.ipynb").read_text())
    assert done["cells"][1]["outputs"][0]["text"] == ["arch gfx1100\n"]


def test_run_sets_the_parameter_of_the_courses_notebooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cell tagged "parameters" is followed by one with the architecture; the failing cell keeps its own number."""
    path = notebook(tmp_path / "a.ipynb", "arch = 'gfx942'", "print(arch)", "1 / (arch == 'gfx942')")
    made = nbformat.read(path, as_version=4)
    made.cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(made, path)
    assert cli.main(["run", str(path)]) == 0
    assert cli.main(["run", str(path), "--arch", "gfx1100"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("3 cells")
    assert "cell 3: ZeroDivisionError" in lines[1]


def test_run_without_notebooks_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "nowhere.ipynb"]) == 2
    assert "there is no nowhere.ipynb" in capsys.readouterr().err


def test_run_shows_the_first_message_of_the_compiler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a notebook shows above its error is not seen in a shell."""
    path = notebook(tmp_path / "a.ipynb", "import gpulab", "%%hip\n__global__ void k(int* x) {\n x[0] = 1\n}")
    assert cli.main(["run", str(path)]) == 1
    said = capsys.readouterr().out
    assert "cell 2: CompileError: cell.hip:3:10: error: expected ';'" in said
    assert "shown above" not in said


def test_run_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(tmp_path)]) == 2
    assert f"{tmp_path} is a folder; name its notebooks: {tmp_path / '*.ipynb'}" in capsys.readouterr().err


def test_run_for_an_unknown_architecture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook(tmp_path / "a.ipynb", "1")
    assert cli.main(["run", str(path), "--arch", "gfx1"]) == 1
    assert "no device 'gfx1'" in capsys.readouterr().err


def test_grade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The course's own right and wrong answers, and a file that is not there."""
    right, wrong = ROOT / "course" / "exercises" / "saxpy-guard" / "right" / "usual.hip", tmp_path / "wrong.hip"
    wrong.write_text(wrong_answer("saxpy-guard", "forgets-y").source)
    assert cli.main(["grade", "saxpy-guard", str(right)]) == 0
    assert cli.main(["grade", "saxpy-guard", str(right), str(wrong), str(tmp_path / "absent.hip")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "ok", "not", "not"]
    assert "cannot be read" in lines[-1]
    assert cli.main(["grade", "saxpy-guard", "--verbose", str(right)]) == 0  # options may stand before files
    with pytest.raises(SystemExit):
        cli.main(["grade", "saxpy-guard", "--nothing", str(right)])
    with pytest.raises(SystemExit):
        cli.main(["devices", "more"])
    assert cli.main(["grade", "no-such-exercise", str(right)]) == 1


def test_grade_takes_kernels_out_of_notebooks_and_runs_no_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = (ROOT / "course/exercises/saxpy-guard/right/usual.hip").read_text()
    wrong = wrong_answer("saxpy-guard", "missing-guard").source
    cheat = f"open({str(tmp_path / 'ran')!r}, 'w')\nimport gpulab\ngpulab.check = print"
    books = {
        "honest": [("code", ["%%hip\n", wrong]), ("markdown", "%%hip"), ("code", "%%hip --quiet\n" + kernel)],
        "cheat\x1b[31m": [("code", cheat), ("code", "%%hip\n" + wrong)],
        "none": [("code", cheat)],
        "tried": [("code", "%%hip\n" + kernel), ("code", "%%hip\n" + kernel.replace("saxpy", "other"))],
    }
    for name, cells in books.items():
        listed = [{"id": "same", "cell_type": kind, "source": source} for kind, source in cells]
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": listed}))
    (tmp_path / "broken.ipynb").write_text("[" * 100_000)
    (tmp_path / "binary.hip").write_bytes(b"\xff\xfe")
    files = [str(tmp_path / f"{name}.ipynb") for name in [*books, "broken"]] + [str(tmp_path / "binary.hip")]
    assert cli.main(["grade", "saxpy-guard", *files]) == 1
    honest, cheated, none, tried, broken, binary = capsys.readouterr().out.splitlines()
    assert honest.startswith("ok ")
    assert cheated.startswith("not ok")
    assert "Not yet" in cheated
    assert "past the end" in cheated  # the row of a class list says why
    assert "\x1b" not in cheated
    assert none.endswith("it has no %%hip cell with a kernel")
    assert tried.startswith("ok ")  # another kernel in a later cell is not the answer
    assert broken.endswith("it is not a notebook")
    assert binary.endswith("it is empty")  # a mark of UTF-16, and nothing behind it
    assert not (tmp_path / "ran").exists()


def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("GPULAB_PROGRESS", str(tmp_path / "progress.json"))
    assert cli.main(["progress"]) == 0
    assert capsys.readouterr().out.strip()
    (tmp_path / "progress.json").write_text("\x1b[31m{")
    assert cli.main(["progress", "--export", str(tmp_path / "mine.csv")]) == 0
    said = capsys.readouterr().out
    assert "a new one was begun" in said
    assert f"{tmp_path / 'mine.csv'} has 0 exercises" in said
    assert "\x1b" not in said
    assert (tmp_path / "mine.csv").read_text().startswith("exercise,state,attempts,")
    assert cli.main(["progress", "--export", str(tmp_path / "mine.doc")]) == 1
    assert "neither .csv nor .json" in capsys.readouterr().err


def test_the_module_is_the_command() -> None:
    found = subprocess.run([sys.executable, "-m", "gpulab", "--help"], capture_output=True, text=True, timeout=60)
    for command in ("lab", "setup", "doctor", "devices", "counters", "run", "grade", "progress"):
        assert re.search(rf"^ +{command} ", found.stdout, re.MULTILINE), command


def test_jupyters_files_stay_in_the_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "own"))
    environment = cli.jupyter_environment()
    assert environment["JUPYTER_DATA_DIR"] == str(tmp_path / "own"), "what the user chose stays"
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR"):
        assert Path(environment[name]).is_relative_to(tmp_path / "cache"), name


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send to another process on Windows")
def test_lab_prints_its_address_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    port = free_port()
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment |= {"JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    folder = tmp_path / "mine"  # tests' own folders may lie in a clone, where the copy would be my-course
    folder.mkdir()
    command = [sys.executable, "-m", "gpulab", "lab", "--port", str(port), "--folder", str(folder)]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        address = ""
        assert process.stdout is not None
        for line in process.stdout:
            if "/lab/tree/" in line:
                address = line.strip()
                break
        assert f"localhost:{port}/lab/tree/notebooks/00_welcome.ipynb?token=" in address
        for _ in range(50):
            try:
                with urllib.request.urlopen(address, timeout=10) as page:
                    assert page.status == 200
                break
            except OSError:
                time.sleep(0.2)
        else:
            pytest.fail("the address that was printed does not answer")
        assert '"outputs": []' in (folder / "notebooks" / "00_welcome.ipynb").read_text(encoding="utf-8")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_reader_that_has_enough_is_no_error() -> None:
    command = [sys.executable, "-m", "gpulab", "isa", "--grep", "e"]  # more than a pipe holds
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"instruction")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.parametrize(
    ("system", "variables", "screen"),
    [
        ("win32", {}, True), ("darwin", {}, True), ("darwin", {"SSH_CONNECTION": "1"}, False), ("linux", {}, False),
        ("linux", {"DISPLAY": ":0"}, True), ("linux", {"WAYLAND_DISPLAY": "w"}, True),
        ("linux", {"DISPLAY": ""}, False),
    ],
)  # fmt: skip
def test_where_a_browser_can_be_opened(
    system: str, variables: dict[str, str], screen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert cli.has_screen() == screen


def test_jupyterlab_need_not_ask_for_news(tmp_path: Path) -> None:
    cli._quiet_settings(tmp_path)
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert file.relative_to(tmp_path).as_posix() == (
        "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    )
    assert json.loads(file.read_text()) == {"fetchNews": "false", "checkForUpdates": False}
    file.write_text("mine")
    cli._quiet_settings(tmp_path)
    assert file.read_text() == "mine"


class Server:
    """JupyterLab's process as far as `lab` sees it: it runs so many looks, and ends as told."""

    pid = 77

    def __init__(self, looks: int = 99, ending: int | BaseException = 0) -> None:
        self.looks, self.ending, self.done = looks, ending, ""
        self.waited: list[float] = []

    def poll(self) -> int | None:
        self.looks -= 1
        return None if self.looks >= 0 and not self.done else 3

    def wait(self, seconds: float = 0) -> int:
        self.waited.append(seconds)
        if isinstance(self.ending, BaseException) and not self.done:
            raise self.ending
        return 0 if isinstance(self.ending, BaseException) else self.ending

    def terminate(self) -> None:
        self.done += "terminated"

    def kill(self) -> None:
        self.done += "killed"


def test_the_address_of_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    file = tmp_path / "jpserver-77.json"
    texts = ["", "[", '{"token": "t"}', '{"url": "http://a/", "token": "t"}']

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        file.write_text(texts[len(slept)])

    monkeypatch.setattr(time, "sleep", sleep)
    assert cli._address(Server(), tmp_path) == ("http://a/", "t")  # type: ignore[arg-type]
    assert slept == [0.1] * 3
    file.write_text('{"url": "http://a/"}')
    assert cli._address(Server(), tmp_path) == ("http://a/", "")  # type: ignore[arg-type]
    assert cli._address(Server(looks=0), tmp_path) is None  # type: ignore[arg-type]
    assert cli._address(Server(), tmp_path, 0.0) is None  # type: ignore[arg-type]
    seconds = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(time, "sleep", slept.append)
    slept.clear()
    assert cli._address(Server(), tmp_path / "empty") is None  # type: ignore[arg-type]
    assert len(slept) == 59, "a minute, of which the first second is the first look at the clock"


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """`gpulab lab` with a server, and what was started and opened."""
    root = tmp_path / "root"
    (root / "notebooks").mkdir(parents=True)
    (root / cli.FIRST_LESSON).write_text("")
    (root / "a b.ipynb").write_text("")
    started: list[tuple[list[str], Path]] = []
    opened: list[str] = []
    begun: list[int] = []

    def run(*words: str, server: Server, address: tuple[str, str] | None = ("http://a/", "t"), screen: bool = False):  # type: ignore[no-untyped-def]
        def start(command: list[str], cwd: Path, env: dict[str, str]) -> Server:
            started.append((command, cwd))
            return server

        import webbrowser

        monkeypatch.setattr(cli, "course_folder", lambda asked: root)
        monkeypatch.setattr(cli, "jupyter_environment", lambda: {"JUPYTER_RUNTIME_DIR": str(tmp_path)})
        monkeypatch.setattr(cli.subprocess, "Popen", start)
        monkeypatch.setattr(cli, "_address", lambda process, folder: address)
        monkeypatch.setattr(cli, "has_screen", lambda: screen)
        monkeypatch.setattr(cli, "begin_with_programs", lambda: begun.append(len(opened)))
        monkeypatch.setattr(webbrowser, "open", opened.append)
        return cli.main(["lab", *words])

    run.started, run.opened, run.begun, run.root = started, opened, begun, root  # type: ignore[attr-defined]
    return run


def test_what_lab_starts_and_opens(lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    assert lab("--port", "9", "--ip", "::1", server=Server(ending=5), screen=True) == 5
    (command, folder), url = lab.started[0], "http://a/lab/tree/notebooks/00_welcome.ipynb?token=t"
    assert {"--ServerApp.port=9", "--ServerApp.ip=::1", "--no-browser", "--allow-root"} <= set(command)
    assert (f"--ServerApp.root_dir={lab.root}" in command, folder) == (True, lab.root)
    assert (lab.opened, f"\n    {url}\n" in capsys.readouterr().out) == ([url], True)
    assert lab.begun == [0]
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    assert lab("a b.ipynb", "--no-browser", server=Server(), address=("http://a/", ""), screen=True) == 0
    assert "--allow-root" not in lab.started[1][0]
    assert "\n    http://a/lab/tree/a%20b.ipynb\n" in capsys.readouterr().out
    assert len(lab.opened) == 1
    assert lab("absent.ipynb", server=Server()) == 0
    said = capsys.readouterr().out
    assert f"there is no absent.ipynb in {lab.root}; opening the folder instead." in said
    assert "\n    http://a/lab?token=t\n" in said
    outside = lab.root.parent / "outside.ipynb"
    outside.write_text("")
    assert lab(str(outside), server=Server()) == 0
    assert "\n    http://a/lab?token=t\n" in capsys.readouterr().out


def test_how_lab_ends(lab, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    assert lab(server=Server(ending=7), address=None) == 7
    assert "JupyterLab did not start" in capsys.readouterr().out
    assert lab.begun == []
    assert lab(server=Server(ending=0), address=None) == 1
    server = Server(ending=KeyboardInterrupt())
    assert lab(server=server) == 0
    assert server.done == "terminated"
    assert server.waited == [0, 10]
    server = Server(ending=ValueError())
    with pytest.raises(ValueError):
        lab(server=server)
    assert server.done == "killed"


def test_which_folder_lab_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from types import SimpleNamespace

    from gpulab import course
    from gpulab.delivery import copy

    clone, done = tmp_path / "clone", SimpleNamespace(new=True, copied=3, lines=[])
    (clone / "inner").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    asked: list[tuple[Path, bool]] = []
    monkeypatch.setattr(course, "clone", lambda: clone)
    monkeypatch.setattr(copy, "nearest", lambda here: None)
    monkeypatch.setattr(copy, "update", lambda folder, solutions, by: asked.append((folder, solutions)) or done)

    def folder(*words: str) -> Path:
        found = cli.course_folder(cli.parser().parse_args(["lab", *words]))
        assert asked == [] or asked.pop()[0] == found
        return found

    monkeypatch.chdir(clone / "inner")
    assert folder() == clone / cli.OWN
    assert capsys.readouterr().out == f"gpulab lab: your copy of the course is in {clone / cli.OWN} (3 files).\n"
    assert folder("--stored") == clone
    assert folder("--folder", "mine") == clone / "inner" / "mine"
    monkeypatch.chdir(tmp_path / "other")
    assert folder() == tmp_path / "other"
    monkeypatch.setattr(copy, "nearest", lambda here: here.parent)
    assert folder() == tmp_path
    capsys.readouterr()
    done.new, done.copied, done.lines = False, 0, []
    folder()
    assert capsys.readouterr().out == ""
    done.copied, done.lines = 2, ["a is new"]
    folder()
    assert capsys.readouterr().out.splitlines()[1:] == ["  2 new files", "  a is new"]
    done.copied = 0
    folder()
    assert capsys.readouterr().out.splitlines()[1:] == ["  a is new"]
    monkeypatch.setattr(course, "clone", lambda: None)
    assert cli.main(["lab", "--stored"]) == 1
    assert "Only a clone has stored notebooks." in capsys.readouterr().err


def test_codes_of_interrupted_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    def devices(asked: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "devices", devices)
    assert cli.main(["devices"]) == 130
