"""Counters of a real GPU through ROCm's rocprofv3: `collect` repeats saved launches under it and reads what it writes.

rocprofv3 has to start the process that it watches, so a notebook's launches are saved (`snapshot`) and repeated in a
process of their own (`replay`), once for each group of counters that hardware can count together. Moving parts:
`executable`, `command`, `read` (its CSV), `collect`.
"""

from __future__ import annotations

import csv
import glob
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpulab import metrics
from gpulab.errors import ProfilerError
from gpulab.providers.rocm.snapshot import Snapshot

TIMEOUT = 900.0
"""Seconds that one group of counters may take."""

_NEEDED = ("Dispatch_Id", "Kernel_Name", "Counter_Name", "Counter_Value")


@dataclass(slots=True)
class Dispatch:
    """One kernel launch as rocprofv3 saw it: values by counter name, times in nanoseconds of its own clock."""

    number: int
    kernel: str
    threads: int
    workgroup: int
    values: dict[str, float] = field(default_factory=dict)
    start_ns: int = 0
    end_ns: int = 0


def executable() -> str | None:
    """The path of rocprofv3: GPULAB_ROCPROFV3, PATH, then ROCm's folders; None if there is none."""
    named = os.environ.get("GPULAB_ROCPROFV3", "")
    if named:
        return named
    found = shutil.which("rocprofv3")
    if found:
        return found
    roots = [
        os.environ.get("ROCM_PATH"),
        os.environ.get("ROCM_HOME"),
        "/opt/rocm",
        *sorted(glob.glob("/opt/rocm/core*")),
    ]
    for root in roots:
        if root and os.access(Path(root) / "bin" / "rocprofv3", os.X_OK):
            return str(Path(root) / "bin" / "rocprofv3")
    return None


def missing() -> ProfilerError:
    """What to say where there is no rocprofv3."""
    return ProfilerError(
        "Counters of a real GPU need ROCm's profiler rocprofv3, and it was not found.",
        why="it was looked for on PATH, in $ROCM_PATH/bin and below /opt/rocm; it belongs to ROCm's package "
        "rocprofiler-sdk.",
        hint="install rocprofiler-sdk (rocm.docs.amd.com/projects/rocprofiler-sdk) or set GPULAB_ROCPROFV3 to the "
        'program\'s path; or profile on a virtual device, e.g. gpulab.use("virtual:gfx942").',
    )


def command(
    program: str, names: Sequence[str], library: str, launches: Sequence[Snapshot], output: Path, stem: str
) -> list[str]:
    """The command line that repeats launches and counts these names."""
    return [
        program, "--pmc", *names, "--mangled-kernels", "--output-format", "csv", "-d", str(output), "-o", stem, "--",
        sys.executable, "-m", "gpulab.providers.rocm.replay", library, *(str(launch.folder) for launch in launches),
    ]  # fmt: skip


def read(text: str) -> list[Dispatch]:
    """The launches of a counter_collection.csv, in order of their dispatch numbers.

    Raises:
        ProfilerError: the text is no such file.
    """
    reader = csv.DictReader(io.StringIO(text))
    columns = reader.fieldnames or ()
    lacking = [name for name in _NEEDED if name not in columns]
    if lacking:
        raise ProfilerError(
            f"rocprofv3's output has no column {' and no column '.join(lacking)}.",
            why=f"its columns are {', '.join(columns) or 'missing'}.",
            hint="this gpulab reads counter_collection.csv as rocprofv3 of ROCm 6.2 and later writes it.",
        )
    found: dict[int, Dispatch] = {}
    for line, row in enumerate(reader, 2):
        try:
            number = int(row["Dispatch_Id"])
            dispatch = found.get(number)
            if dispatch is None:
                dispatch = found[number] = Dispatch(
                    number,
                    row["Kernel_Name"],
                    int(row.get("Grid_Size") or 0),
                    int(row.get("Workgroup_Size") or 0),
                    start_ns=int(row.get("Start_Timestamp") or 0),
                    end_ns=int(row.get("End_Timestamp") or 0),
                )
            # Some versions write one row per instance of a block.
            name = row["Counter_Name"]
            dispatch.values[name] = dispatch.values.get(name, 0.0) + float(row["Counter_Value"])
        except (TypeError, ValueError) as error:
            raise ProfilerError(f"rocprofv3's output cannot be read in line {line}: {error}.") from error
    return [found[number] for number in sorted(found)]


def _of_launches(dispatches: Sequence[Dispatch], launches: Sequence[Snapshot]) -> list[Dispatch]:
    """The dispatches of the repeated launches, one for each, without those of HIP's own copy kernels; none of no lines.

    Raises:
        ProfilerError: they are not the launches that were repeated.
    """
    ours = [d for d in dispatches if any(_same(d.kernel, launch.symbol) for launch in launches)]
    if not dispatches:
        return []
    if len(ours) != len(launches) or not all(
        _same(dispatch.kernel, launch.symbol) for dispatch, launch in zip(ours, launches, strict=True)
    ):
        raise ProfilerError(
            f"rocprofv3 saw {', '.join(d.kernel for d in dispatches) or 'no kernel'}, "
            f"but {', '.join(launch.symbol for launch in launches)} ran.",
            hint="an error of the repeated launch, if there was one, stands above.",
        )
    return ours


def _same(kernel: str, symbol: str) -> bool:
    return kernel.removesuffix(".kd") == symbol


def _run(
    program: str, names: Sequence[str], library: str, launches: Sequence[Snapshot], output: Path, stem: str
) -> tuple[list[Dispatch], str]:
    """One run of rocprofv3: the launches with their values (none if it wrote no file), and what it said."""
    environment = dict(os.environ)
    package = str(Path(__file__).resolve().parents[3])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, environment.get("PYTHONPATH", ""))))
    try:
        done = subprocess.run(
            command(program, names, library, launches, output, stem),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, check=False,
            env=environment,
        )  # fmt: skip
    except OSError as error:
        raise ProfilerError(f"{program} cannot be run: {error}.", hint=missing().hint) from error
    except subprocess.TimeoutExpired as error:
        raise ProfilerError(
            f"rocprofv3 took longer than {TIMEOUT:,.0f} s.", hint="profile a smaller launch."
        ) from error
    said = "\n".join((done.stdout + "\n" + done.stderr).strip().splitlines()[-8:])
    files = sorted(output.glob(f"**/{stem}*counter_collection.csv"))
    if done.returncode or not files:
        return [], said or f"exit code {done.returncode}"
    return _of_launches(read(files[-1].read_text(encoding="utf-8", errors="replace")), launches), said


def collect(
    names: Sequence[str],
    arch: str,
    library: str,
    launches: Sequence[Snapshot],
    output: Path,
    program: str | None = None,
) -> list[dict[str, float]]:
    """Values by AMD's names for each launch, as many runs as hardware needs.

    A group that rocprofv3 refuses, because the limits of this device are narrower, is tried name by name.

    Args:
        names: counters and metrics, gpulab's own too.
        library: as `replay` takes it.
        output: a folder for rocprofv3's files.
        program: rocprofv3; looked for if None.

    Raises:
        CounterNotFound: the architecture does not define a name.
        ProfilerError: there is no rocprofv3, or it failed; says what it said.
    """
    groups = metrics.passes(names, arch)
    program = program or executable()
    if program is None:
        raise missing()
    values: list[dict[str, float]] = [{} for _ in launches]
    number = 0
    while groups:
        group = groups.pop(0)
        number += 1
        dispatches, said = _run(program, group, library, launches, output, f"pass{number}")
        for value, dispatch in zip(values, dispatches, strict=False):
            value.update(dispatch.values)
        lacking = [name for name in group if any(name not in value for value in values)]
        if lacking and len(group) == 1:
            raise ProfilerError(
                f"rocprofv3 gave no value for {lacking[0]} on {arch}.",
                why=f"it said: {said}" if said else "it wrote no file and no reason.",
                hint="rocprofv3 --list-avail shows what this device can count; some systems allow counters to "
                "administrators only.",
            )
        groups[:0] = [(name,) for name in lacking]
    return values


def split(values: Mapping[str, float], arch: str) -> tuple[dict[str, int], dict[str, float]]:
    """Measured values as (counters, metrics): sums over instances are the counters themselves."""
    counters: dict[str, int] = {}
    computed: dict[str, float] = {}
    from gpulab import counter_names

    table = counter_names.raw(arch)
    for name, value in values.items():
        plain = name.removesuffix("_sum")
        if name in table:
            counters[name] = round(value)
        else:
            computed[name] = value
            if plain in table:
                counters.setdefault(plain, round(value))
    return counters, computed
