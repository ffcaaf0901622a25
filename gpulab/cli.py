"""The command ``gpulab``: lab, setup, bundle, doctor, devices, counters, run, grade, report, progress, hipify, hipcc,
env and isa.

Each command is one function that takes its parsed options and returns the exit code; `main` chooses one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gpulab
from gpulab.classroom.command import grade_options, report_options
from gpulab.errors import GpulabError
from gpulab.porting.command import options as hipify_options

FIRST_LESSON = "notebooks/00_welcome.ipynb"


OWN = "my-course"
"""The folder of a clone with the learner's copy; git ignores it."""


# --------------------------------------------------------------------------------------------------- lab


def jupyter_environment() -> dict[str, str]:
    """The environment for JupyterLab: its files below gpulab's cache folder, unless the user chose other places."""
    from gpulab.toolchain import cache

    base = cache.folder() / "jupyter"
    environment = dict(os.environ)
    places = {
        "JUPYTER_CONFIG_DIR": base / "config",
        "JUPYTER_DATA_DIR": base / "data",
        "JUPYTER_RUNTIME_DIR": base / "runtime",
        "IPYTHONDIR": base / "ipython",
        "MPLCONFIGDIR": base / "matplotlib",
    }
    for name, place in places.items():
        environment.setdefault(name, str(place))
    for name in (*places,):
        with contextlib.suppress(OSError):
            Path(environment[name]).mkdir(parents=True, exist_ok=True)
    environment.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    # Kernels and terminals started by JupyterLab find the same `gpulab`.
    environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environment.get("PATH", "")
    if environment["JUPYTER_CONFIG_DIR"] == str(places["JUPYTER_CONFIG_DIR"]):
        _quiet_settings(places["JUPYTER_CONFIG_DIR"])
    return environment


def _quiet_settings(config: Path) -> None:
    """JupyterLab asks on its first start whether it may fetch news; in a course it need not ask."""
    settings = config / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    file = settings / "notification.jupyterlab-settings"
    if not file.exists():
        with contextlib.suppress(OSError):
            settings.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}), encoding="utf-8")


def has_screen() -> bool:
    """Whether a browser can be opened where this runs."""
    if sys.platform in ("win32", "darwin"):
        return not os.environ.get("SSH_CONNECTION")
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def course_folder(asked: argparse.Namespace) -> Path:
    """The folder that JupyterLab opens, with the learner's copy of the course in it, up to date.

    The one that was asked for; else the copy that the working directory belongs to; else `OWN` where that is inside the
    clone, and the working directory itself elsewhere. Raises GpulabError where no copy can be made.
    """
    import gpulab
    from gpulab import course
    from gpulab.delivery import copy

    clone, here = course.clone(), Path.cwd()
    if asked.stored:
        if clone is None:
            raise GpulabError(
                "Only a clone has stored notebooks.", hint="gpulab lab without --stored opens your copy of the course."
            )
        return clone
    if asked.folder:
        folder = Path(asked.folder).expanduser().absolute()
    else:
        inside = clone is not None and here.resolve().is_relative_to(clone)
        folder = copy.nearest(here) or (clone / OWN if clone is not None and inside else here)
    done = copy.update(folder, asked.solutions, f"gpulab {gpulab.__version__}")
    if done.new:
        print(f"gpulab lab: your copy of the course is in {folder} ({done.copied} files).")
    elif done.copied or done.lines:
        print(f"gpulab lab: your copy of the course in {folder} is brought up to date; what you wrote is kept.")
        print(f"  {done.copied} new files\n" if done.copied else "", end="")
    for line in done.lines:
        print(f"  {line}")
    return folder


def lab(asked: argparse.Namespace) -> int:
    """Start JupyterLab on the learner's copy of the course, open a notebook (or print its address), and stay."""
    root = course_folder(asked)
    notebook = Path(asked.notebook or FIRST_LESSON)
    path = notebook if notebook.is_absolute() else (root / notebook)
    if not path.exists():
        print(f"gpulab lab: there is no {notebook} in {root}; opening the folder instead.")
    inside = path.exists() and path.resolve().is_relative_to(root.resolve())
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.root_dir={root}",
        f"--ServerApp.port={asked.port}", f"--ServerApp.ip={asked.ip}", "--ServerApp.log_level=ERROR",
        "--LabApp.log_level=WARN", "--LabApp.extension_manager=readonly",
        # The editor's extension as this gpulab has it, whatever an earlier installation left (docs/editor.md).
        f"--LabApp.extra_labextensions_path={Path(__file__).resolve().parent / 'editor' / 'labextension'}",
        # Looking for language servers starts npm and others, which write into the home folder.
        "--LanguageServerManager.autodetect=False",
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    environment = jupyter_environment()
    process = subprocess.Popen(command, cwd=root, env=environment)
    try:
        address = _address(process, Path(environment["JUPYTER_RUNTIME_DIR"]))
        if address is None:
            print("gpulab lab: JupyterLab did not start; its messages are above. `gpulab doctor` may say why.")
            return process.wait() or 1
        url, token = address
        url += "lab"
        if inside:
            from urllib.parse import quote

            url += "/tree/" + quote(path.resolve().relative_to(root.resolve()).as_posix())
        url += f"?token={token}" if token else ""
        print(f"\nJupyterLab is running. Open this address:\n\n    {url}\n\nCtrl-C here ends it.", flush=True)
        begin_with_programs()
        if has_screen() and not asked.no_browser:
            import webbrowser

            webbrowser.open(url)
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        return 0
    finally:
        if process.poll() is None:
            process.kill()


_PREPARE = "import os; os.nice(10); from gpulab.programs import building; building.prepare(only_first=True)"


def begin_with_programs() -> None:
    """Build what the first whole program on this machine waits for, while people read: in a process of its own, which
    leaves the processor to others. It may fail: the first program does the same then, and says why."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError):
            subprocess.Popen(
                [sys.executable, "-P", "-c", _PREPARE], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip


def _address(process: subprocess.Popen[bytes], runtime: Path, seconds: float = 60.0) -> tuple[str, str] | None:
    """URL and token of the server with this process id, from the file that it leaves when it listens."""
    file = runtime / f"jpserver-{process.pid}.json"
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            info = json.loads(file.read_text(encoding="utf-8"))
            return str(info["url"]), str(info.get("token", ""))
        except (OSError, ValueError, KeyError):
            time.sleep(0.1)
    return None


# ------------------------------------------------------------------------------------------------- setup


def setup(asked: argparse.Namespace) -> int:
    """Build everything that is built once per machine, and say what and how long; with seeds, take or make one."""
    from gpulab.delivery import seed

    start = time.perf_counter()
    if asked.make_seed:
        print(seed.make_seed(Path(asked.make_seed).absolute(), asked.programs), end="")
        print(f"  the seed is in {asked.make_seed}: others take it with `gpulab setup --seed`")
        return 0
    if asked.seed:
        files, size = seed.take(Path(asked.seed))
        print(f"  from the seed: {files} files, {size / 1e6:.0f} MB, {time.perf_counter() - start:.1f} s")
    for what, step in setup_steps(asked.programs):
        print(f"  {what} … ", end="", flush=True)
        began = time.perf_counter()
        try:
            said = step()
        except GpulabError as error:
            print(f"failed\n\n{error}\n\n`gpulab doctor` looks at each part.")
            return 1
        print(f"{time.perf_counter() - began:.1f} s{' (' + said + ')' if said else ''}", flush=True)
    print(f"  all of it: {time.perf_counter() - start:.1f} s")
    return 0


_SETUP_KERNEL = """
__global__ void first(float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = sqrtf(a * x[i]) + y[i];
}
"""


def setup_steps(programs: bool = False) -> Iterator[tuple[str, Callable[[], str]]]:
    """What is built, with what whole programs need if asked: (what, function that does it and returns a remark)."""
    from gpulab import architectures

    def library() -> str:
        from gpulab import providers

        found = ", ".join(provider.name for provider in providers.providers())
        return "ROCm's own is used" if found.startswith("rocm") else found

    def compiler(arch: str) -> Callable[[], str]:
        def step() -> str:
            from gpulab import toolchain

            toolchain.compile(_SETUP_KERNEL, arch=arch, name="setup.hip")
            return ""

        return step

    def kernel() -> str:
        import numpy as np

        import gpulab

        ran = []
        for info in gpulab.devices():
            with gpulab.using(info.index):
                first = gpulab.compile(_SETUP_KERNEL, name="setup.hip")["first"]
                x = gpulab.to_device(np.ones(256, np.float32))
                y = gpulab.zeros(x.shape)
                first[1, 256](4.0, x, y)
                if not (y.to_host() == 2.0).all():
                    raise GpulabError(f"a kernel gave a wrong result on {info.name}.", hint="make test says more.")
                ran.append(info.arch)
        return ", ".join(ran)

    def whole_programs() -> str:
        from gpulab.programs import building
        from gpulab.toolchain import cxx_library, hosted

        hosted.require()
        hosted.setting().cxx_library().require(cxx_library.PARTS)
        building.prepare()
        return ""

    yield "the HIP library (the first time it builds a C library)", library
    for arch in architectures.defaults():
        yield f"the compiler and the device headers for {arch}", compiler(arch)
    yield "a first kernel on each device", kernel
    if programs:
        yield "the C++ library for whole programs", whole_programs


def bundle(asked: argparse.Namespace) -> int:
    """Make a folder with gpulab, the course and all packages, for machines without a network."""
    from gpulab.delivery import bundle as making

    wheel = Path(asked.wheel) if asked.wheel else None
    for line in making.bundle(Path(asked.folder).absolute(), wheel, asked.seed):
        print(f"gpulab bundle: {line}. There: python3 {asked.folder}/install.py")
    return 0


# ---------------------------------------------------------------------------------- doctor, devices, ...


def doctor(asked: argparse.Namespace) -> int:
    """Print the findings; 1 if something that is needed does not work."""
    from gpulab import doctor as examination

    broken = 0
    for finding in examination.examine():
        print(finding, flush=True)
        broken += finding.needed and not finding.works
    if broken:
        print(f"\n{broken} part{'s do' if broken > 1 else ' does'} not work. What to type stands below each.")
    else:
        print("\nEverything that is needed works.")
    return 1 if broken else 0


def devices(asked: argparse.Namespace) -> int:
    """Print the table of devices."""
    from gpulab.device import devices as table

    print(table())
    return 0


def counters(asked: argparse.Namespace) -> int:
    """Print the counters and metrics that an architecture defines; of the device in use, if none is named."""
    from gpulab import architectures, providers
    from gpulab.counter_names import raw
    from gpulab.errors import CounterNotFound
    from gpulab.views.profiles import names_table

    arch = asked.arch or providers.devices()[providers.current()].arch
    if not raw(arch):
        raise CounterNotFound(
            f"The counters of {arch} are not known here.", hint=f"--arch takes {', '.join(architectures.names())}."
        )
    print(names_table(arch, asked.text, asked.formulas, providers.analysis().counter_kinds(arch)))
    return 0


def isa(asked: argparse.Namespace) -> int:
    """Print what an instruction means, or the instructions whose meanings have a text."""
    from gpulab import instructions

    if asked.name and asked.arch and not asked.grep:
        raise GpulabError("--arch goes with --grep.", hint=f"gpulab isa {asked.name} says which devices have it.")
    if asked.grep:
        print(instructions.search(asked.grep, asked.arch or ""))
    elif asked.name:
        print(instructions.instruction(asked.name))
    else:
        raise GpulabError(
            "gpulab isa needs the name of an instruction, or --grep TEXT.", hint="gpulab isa v_add_f32, for example."
        )
    return 0


def progress(asked: argparse.Namespace) -> int:
    """Print how far the learner is, or write it to a file."""
    from gpulab import grading

    found = grading.progress()
    if asked.export:
        if found.message:
            print(found.message)
        print(found.export(asked.export))
    else:
        print(found)
    return 0


def grade(asked: argparse.Namespace) -> int:
    """Grade a folder of submissions; or check files of kernel text (or notebooks with it) against one exercise.

    Of a notebook only the answer cell is taken: no Python of a student is run, and no program's host code without a
    jail, unless trusted. Files of one exercise give one line each, and 1 if one is not right.
    """
    from gpulab.classroom import command

    if not asked.files:
        return command.grade_folder(asked)
    return command.grade_files(asked)


def report(asked: argparse.Namespace) -> int:
    """Print how a class is doing: which exercise, which mistakes, who is stuck."""
    from gpulab.classroom import command

    return command.report(asked)


# --------------------------------------------------------------------------------------------------- run


def run(asked: argparse.Namespace) -> int:
    """Execute notebooks with papermill; one line each, 1 if one failed."""
    notebooks = [Path(name) for name in asked.notebooks]
    folders = [str(path) for path in notebooks if path.is_dir()]
    if folders:
        here = Path(folders[0], "*.ipynb")
        print(f"gpulab run: {folders[0]} is a folder; name its notebooks: {here}", file=sys.stderr)
        return 2
    absent = [str(path) for path in notebooks if not path.is_file()]
    if absent:
        print(f"gpulab run: there is no {', '.join(absent)}.", file=sys.stderr)
        return 2
    changes = jupyter_environment() | (environment_for(asked.arch) if asked.arch else {})
    output = Path(asked.output) if asked.output else None
    if output is not None and (problem := _no_output(output, notebooks)):
        print(f"gpulab run: {problem}", file=sys.stderr)
        return 2

    from tqdm.auto import tqdm

    failed = 0
    quiet = not sys.stderr.isatty()
    with environment(changes), tqdm(total=len(notebooks), unit="notebook", leave=False, disable=quiet) as bar:
        for path in notebooks:
            bar.set_description(path.name)
            start = time.perf_counter()
            target = output / path.name if output is not None else None
            good, said = execute(path, target, asked.timeout, asked.arch)
            failed += not good
            mark = "ok    " if good else "failed"
            line = f"{mark}  {path}  {time.perf_counter() - start:.1f} s  {said}"
            bar.write(line.rstrip(), file=sys.stdout)
            sys.stdout.flush()
            bar.update()
    return 1 if failed else 0


def _no_output(folder: Path, notebooks: Sequence[Path]) -> str:
    """Make the folder of executed notebooks; what speaks against it, or ""."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"the folder {folder} cannot be made: {error.strerror}."
    names = [path.name for path in notebooks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        return (
            f"several notebooks are called {twice[0]}, and in {folder} one would overwrite the other: name another one."
        )
    own = [path for path in notebooks if path.resolve().parent == folder.resolve()]
    return f"{own[0]} itself would be overwritten: name another folder than its own." if own else ""


@contextlib.contextmanager
def environment(changes: Mapping[str, str]) -> Iterator[None]:
    """These environment variables inside the block (notebooks' kernels inherit them), those before afterwards."""
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


def environment_for(arch: str) -> dict[str, str]:
    """Environment variables that make a device of this architecture number 0.

    Raises:
        DeviceNotFound: there is no such device.
    """
    from gpulab import providers

    return dict(providers.environment(providers.find(arch)))


def execute(path: Path, output: Path | None, timeout: float, arch: str | None = None) -> tuple[bool, str]:
    """Run one notebook in its own folder: (did all cells succeed, what to say).

    `arch` becomes papermill's parameter of that name in notebooks with a cell tagged "parameters": the course's
    choose their device by it. Cells are numbered as in the notebook itself.
    """
    import nbformat
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    def once() -> None:
        papermill.execute_notebook(
            str(path),
            str(output) if output is not None else None,
            parameters=given,
            cwd=str(path.parent),
            kernel_name="python3",
            language="python",
            extra_arguments=["--log-level=50"],
            progress_bar=settings,
            execution_timeout=max(1, int(timeout)),
            log_output=False,
            store_widget_state=False,
        )

    settings: Any = {"leave": False} if sys.stderr.isatty() else False
    place: int | None = None  # of the tagged cell; papermill puts a new one behind it
    try:
        cells = nbformat.read(str(path), as_version=4).cells
        place = next((i for i, cell in enumerate(cells) if "parameters" in cell.metadata.get("tags", [])), None)
        given = {"arch": arch} if arch and place is not None else None
        try:
            once()
        except DeadKernelError:
            raise
        except RuntimeError:  # before its first cell: Jupyter chose a port that another process took meanwhile
            once()
        if output is not None:
            without_widgets(output)
    except papermill.PapermillExecutionError as error:
        lines = str(error.evalue).strip().splitlines() or [""]
        # A compile error was shown above in the notebook; here its first message is.
        first = lines[2:3] if "shown above" in lines[0] and len(lines) > 2 else lines[:1]
        added = place is not None and bool(arch) and error.cell_index > place
        return False, f"cell {error.cell_index + 1 - added}: {error.ename}: {first[0]}"
    except CellTimeoutError:
        return False, f"a cell took longer than {timeout:g} s"
    except DeadKernelError:
        return False, "the notebook's Python died"
    except RuntimeError as error:
        return False, f"the notebook's Python did not start: {error}"
    except (OSError, ValueError, nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        return False, f"cannot be run: {str(error).splitlines()[0]}"
    return True, f"{sum(cell.cell_type == 'code' for cell in cells)} cells"


def without_widgets(path: Path) -> None:
    """Take the widgets out of a notebook's outputs: their models ended with the kernel.

    What is left is each instrument's picture, which every reader of notebooks and nbconvert show, without a network.
    """
    import nbformat

    from gpulab.views.instrument import STILL, WIDGET

    notebook = nbformat.read(str(path), as_version=4)
    for cell in notebook.cells:
        if "outputs" in cell:  # from a notebook's own kernel, with `!gpulab run`, there are these as well
            cell.outputs = [o for o in cell.outputs if not o.get("data", {}).get("text/html", "").startswith(STILL)]
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
    nbformat.write(notebook, str(path))


# ------------------------------------------------------------------------------------------------ hipify


def hipify(asked: argparse.Namespace) -> int:
    """Translate CUDA programs to HIP."""
    from gpulab.porting import command

    return command.run(asked)


def hipcc(asked: argparse.Namespace) -> int:
    """Build a HIP program: the command line is hipcc's."""
    from gpulab.programs import command

    return command.run(asked.words)


def env(asked: argparse.Namespace) -> int:
    """Print the variables with which Makefiles and CMake find gpulab's hipcc, or run a command with them."""
    import shlex

    from gpulab.programs import installation

    installation.install()
    variables = installation.environment()
    if asked.words:
        words = asked.words[1:] if asked.words[0] == "--" else asked.words
        try:
            os.execvpe(words[0], words, {**os.environ, **variables})
        except OSError as error:
            raise GpulabError(f"{words[0]} does not start: {error.strerror}.") from error
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


# -------------------------------------------------------------------------------------------------- main


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    ask = argparse.ArgumentParser(prog="gpulab", description="A course in GPU programming for AMD's ROCm/HIP.")
    ask.add_argument("--version", action="version", version=f"gpulab {gpulab.__version__}")
    commands = ask.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(function: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        one = commands.add_parser(function.__name__, help=text, description=text)
        one.set_defaults(function=function)
        return one

    one = command(lab, "open JupyterLab on the first lesson")
    one.add_argument("notebook", nargs="?", help=f"another notebook than {FIRST_LESSON}")
    one.add_argument("--port", type=int, default=8888, help="the port (another one if it is taken)")
    one.add_argument("--ip", default="localhost", help="the address to listen on")
    one.add_argument("--no-browser", action="store_true", help="print the address only")
    one.add_argument("--folder", help=f"your copy of the course (else this folder; in a clone, {OWN})")
    one.add_argument("--solutions", action="store_true", help="for instructors: with the solutions")
    one.add_argument("--stored", action="store_true", help="a clone's stored notebooks, in place of a copy")
    one = command(setup, "build what is built once per machine")
    one.add_argument("--programs", action="store_true", help="also what %%%%hipcc and gpulab hipcc need (a minute)")
    one.add_argument("--seed", metavar="FOLDER", help="first take what others have built; only from those you trust")
    one.add_argument("--make-seed", metavar="FOLDER", help="build into this folder instead, for others to take")
    one = command(bundle, "make a folder that installs gpulab and its course without a network")
    one.add_argument("folder", metavar="FOLDER")
    one.add_argument("--wheel", metavar="FILE", help="gpulab's wheel (else it is built from the clone, or downloaded)")
    one.add_argument("--seed", action="store_true", help="with a warm cache, so that first kernels need not wait")
    command(doctor, "say what works on this machine, and what to type where something does not")
    command(devices, "list the devices")
    one = command(counters, "list the counters and metrics that gpulab.profile takes")
    one.add_argument("text", nargs="?", default="", help="only those with this in their name or meaning, e.g. LDS")
    one.add_argument("--arch", help="of this architecture, e.g. gfx1100; else of the device in use")
    one.add_argument("--formulas", action="store_true", help="show the formulas of metrics")
    one = command(isa, "say what an instruction means, or search meanings")
    one.add_argument("name", nargs="?", default="", help="its mnemonic, e.g. v_add_f32")
    one.add_argument("--grep", metavar="TEXT", help="the instructions with these words in name, meaning or formula")
    one.add_argument("--arch", help="with --grep: only those of this architecture, e.g. gfx1100")
    one = command(run, "execute notebooks without a browser")
    one.add_argument("notebooks", nargs="+", metavar="NOTEBOOK")
    one.add_argument("--arch", help="the device to use, e.g. gfx1100")
    one.add_argument("-o", "--output", metavar="FOLDER", help="keep the executed notebooks there")
    one.add_argument("--timeout", type=_seconds, default=600.0, help="seconds that one cell may take (600)")
    one = command(grade, "grade a class, or check files of kernels or programs against an exercise")
    one.add_argument("what", metavar="FOLDER|EXERCISE", help="submissions (a folder or zip), or an exercise's id")
    one.add_argument("files", nargs="*", metavar="FILE", help="with an exercise: its answers")
    one.add_argument("--seconds", type=_seconds, default=60.0, help="limit for each answer (60)")
    one.add_argument("-v", "--verbose", action="store_true", help="print the whole reports")
    one.add_argument(
        "--trust-programs", action="store_true", help="run host code of programs also where it cannot be jailed"
    )
    grade_options(one)
    report_options(command(report, "say how a class is doing, from what gpulab grade wrote"))
    one = command(progress, "say which exercises are done, and what checks found")
    one.add_argument("--export", metavar="FILE", help="write attempts, causes and hints to FILE.csv or FILE.json")
    hipify_options(command(hipify, "translate CUDA programs to HIP, and report what needs a person"))
    one = command(hipcc, "build a HIP C++ program for this machine and its GPUs, or the virtual ones")
    one.add_argument("words", nargs=argparse.REMAINDER, metavar="FILE.hip -o NAME [OPTIONS]")
    one.epilog = "The options are hipcc's; docs/programs.md lists them."
    one = command(env, 'commands and folders for Makefiles and CMake: eval "$(gpulab env)", or gpulab env make')
    one.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND")
    one.epilog = "Without COMMAND the variables are printed."
    return ask


def _seconds(text: str) -> float:
    """A limit of time on the command line."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code. An error of gpulab is printed as its text and gives 1."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["hipcc"] and not {"-h", "--help"} & set(words):  # all that follows is the compiler's
        asked = argparse.Namespace(function=hipcc, words=words[1:])
    else:
        commands = parser()
        asked, rest = commands.parse_known_args(words)
        if rest and asked.function is grade and not any(word.startswith("-") for word in rest):
            asked.files, rest = [*asked.files, *rest], []  # argparse takes no files behind options
        if rest:
            commands.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        code = int(asked.function(asked))
        sys.stdout.flush()
        return code
    except GpulabError as error:
        print(f"gpulab: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader has enough: gpulab isa --grep add | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python still writes as it ends
        return 141
    except KeyboardInterrupt:
        return 130
