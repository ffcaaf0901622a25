"""``gpulab hipify``: files in, HIP files or text out, statistics and the report."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from gpulab.errors import GpulabError
from gpulab.porting.translate import Translation, hipify


def options(ask: argparse.ArgumentParser) -> None:
    """Declare the command's options; their names are hipify-perl's where it has the same."""
    ask.add_argument("files", nargs="+", metavar="FILE")
    where = ask.add_mutually_exclusive_group()
    where.add_argument("--inplace", action="store_true", help="change the files; FILE.prehip keeps what it was")
    where.add_argument("-o", "--output", metavar="FILE", help="write there (one FILE only) instead of standard output")
    where.add_argument("--examine", action="store_true", help="write no program: --print-stats and the report only")
    ask.add_argument("--print-stats", action="store_true", help="print what was replaced and what was found")
    ask.add_argument("--quiet-warnings", action="store_true", help="do not print the report of what needs a person")
    launches = ask.add_mutually_exclusive_group()
    launches.add_argument(
        "--cuda-kernel-execution-syntax", dest="launches", action="store_const", const="cuda", default="cuda",
        help="keep kernel<<<...>>>(...), which HIP has as well (the default)",
    )  # fmt: skip
    launches.add_argument(
        "--hip-kernel-execution-syntax", dest="launches", action="store_const", const="hip",
        help="write hipLaunchKernelGGL(kernel, ...) instead",
    )  # fmt: skip


def run(asked: argparse.Namespace) -> int:
    """Translate the files. The report goes to standard error, programs and statistics to standard output.

    Returns 0, or 1 if a file could not be read or written; the other files are translated all the same.
    """
    if asked.output and len(asked.files) > 1:
        raise GpulabError(
            f"-o {asked.output} is one file, and there are {len(asked.files)} to translate.",
            hint="translate them one by one, or all with --inplace.",
        )
    failed = False
    total: dict[str, Counter[str]] = {"api": Counter(), "kind": Counter(), "note": Counter()}
    done = 0
    for file in asked.files:
        try:
            done += 1
            translation, statistics = _one(file, asked)
            for part, counts in statistics.items():
                total[part].update(counts)
            if not asked.quiet_warnings and translation.notes:
                print(translation.report(), file=sys.stderr)
        except (GpulabError, OSError) as error:
            failed = True
            print(f"gpulab hipify: {_explained(error, file)}", file=sys.stderr)
    if len(asked.files) > 1 and (asked.examine or asked.print_stats):
        _print_statistics(f"all {done} files", {part: dict(counts) for part, counts in total.items()}, _out(asked))
    return int(failed)


def read(path: str) -> str:
    """The text of a file, every byte of it: what is no UTF-8 comes back as surrogates, which `encoded` turns back.

    Raises:
        GpulabError: a binary file, or UTF-16.
        OSError: it cannot be read.
    """
    data = Path(path).read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise GpulabError(f"{path} is text in UTF-16.", hint="save it as UTF-8: compilers do not read UTF-16 either.")
    if b"\0" in data:
        raise GpulabError(f"{path} is not text: it has a zero byte at {data.index(0):,}.", hint="name C++ sources.")
    return data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The bytes of a text that `read` gave."""
    return text.encode("utf-8", "surrogateescape")


def _one(file: str, asked: argparse.Namespace) -> tuple[Translation, dict[str, dict[str, int]]]:
    source = read(file)
    translation = hipify(source, name=file, launches=asked.launches)
    statistics = translation.statistics()
    data = encoded(translation.text)
    if asked.inplace:
        if translation.text != source:
            _keep_original(Path(file), encoded(source))
            _write(Path(file), data)
    elif asked.output:
        _write(Path(asked.output), data)
    elif not asked.examine:
        sys.stdout.flush()
        stream = getattr(sys.stdout, "buffer", None)
        if stream is not None:
            stream.write(data)
        else:
            sys.stdout.write(translation.text)
    if asked.print_stats or asked.examine:
        _print_statistics(file, statistics, _out(asked))
    return translation, statistics


def _out(asked: argparse.Namespace) -> Callable[[str], None]:
    """Statistics go to standard output, unless the program goes there."""
    program_there = not (asked.inplace or asked.output or asked.examine)
    return lambda text: print(text, file=sys.stderr if program_there else sys.stdout)


def _keep_original(file: Path, data: bytes) -> None:
    """FILE.prehip keeps the CUDA program; one that is there already is older and stays."""
    kept = file.with_name(file.name + ".prehip")
    if not kept.exists():
        _write(kept, data)


def _write(path: Path, data: bytes) -> None:
    """Write the whole file or leave the old one: a full disk must not cost a program."""
    path = path.resolve()
    if path.exists() and not path.is_file():  # /dev/stdout, a pipe
        path.write_bytes(data)
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        if path.exists():
            beside.chmod(path.stat().st_mode)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _print_statistics(name: str, statistics: dict[str, dict[str, int]], say: Callable[[str], None]) -> None:
    replaced = sum(statistics["api"].values())
    noted = sum(statistics["note"].values())
    say(f"{name}: {replaced:,} replaced, {noted:,} to look at")
    for title, part in (("by API", "api"), ("by kind", "kind"), ("to look at", "note")):
        if statistics[part]:
            listed = ", ".join(f"{key} {count:,}" for key, count in sorted(statistics[part].items()))
            say(f"  {title}: {listed}")


def _explained(error: Exception, file: str) -> str:
    if isinstance(error, GpulabError):
        return str(error)
    assert isinstance(error, OSError)
    if isinstance(error, FileNotFoundError):
        return f"there is no file {error.filename or file}."
    if isinstance(error, IsADirectoryError):
        return f"{file} is a folder; name its files, e.g. {file.rstrip('/')}/*.cu"
    return f"{error.filename or file}: {error.strerror or error}."
