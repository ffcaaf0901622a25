"""``gpulab hipify``: files, options, exit codes, what it does not read."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gpulab import cli

CUDA = b"#include <cuda_runtime.h>\r\nint main() {\tcudaFree(0); } // \xe9\xff no UTF-8"
HIP = CUDA.replace(b"cuda_runtime.h", b"hip/hip_runtime.h").replace(b"cudaFree", b"hipFree")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "program.cu"
    path.write_bytes(CUDA)
    return path


def test_to_standard_output_byte_for_byte(file: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "gpulab", "hipify", str(file)], capture_output=True, timeout=120, check=True
    )
    assert run.stdout == HIP
    assert run.stderr == b""
    assert file.read_bytes() == CUDA


def test_in_place_keeps_the_original_once(file: Path) -> None:
    kept = file.with_name("program.cu.prehip")
    assert cli.main(["hipify", "--inplace", str(file)]) == 0
    assert (file.read_bytes(), kept.read_bytes()) == (HIP, CUDA)
    file.write_bytes(HIP + b"\ncudaFree(0);")
    assert cli.main(["hipify", "--inplace", str(file)]) == 0
    assert file.read_bytes() == HIP + b"\nhipFree(0);"
    assert kept.read_bytes() == CUDA  # the oldest one


def test_in_place_leaves_files_without_cuda_alone(tmp_path: Path) -> None:
    path = tmp_path / "plain.cpp"
    path.write_bytes(b"\xef\xbb\xbfint x;\r\n\tint y;")
    before = path.stat().st_mtime_ns
    assert cli.main(["hipify", "--inplace", str(path)]) == 0
    assert path.stat().st_mtime_ns == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["plain.cpp"]


def test_to_a_file(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.hip"
    assert cli.main(["hipify", str(file), "-o", str(target), "--print-stats"]) == 0
    assert target.read_bytes() == HIP
    assert "2 replaced, 0 to look at" in capsys.readouterr().out


def test_examine_writes_nothing_but_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "a.cu", tmp_path / "b.cu"
    first.write_text("__global__ void k() { int lane = threadIdx.x & 31; }\n")
    second.write_text("cudaMalloc(&p, 1); cublasSgemm(h);\n")
    assert cli.main(["hipify", "--examine", str(first), str(second)]) == 0
    said = capsys.readouterr()
    assert f"{first}:1:50: warp-size" not in said.out
    assert f"{first}:1:48: warp-size: 31 stands for the last of 32 lanes, or their mask." in said.err
    assert "int lane = threadIdx.x & 31;" in said.err
    assert "all 2 files: 4 replaced, 1 to look at" in said.out
    assert "cuBLAS 1" in said.out
    assert "__global__" not in said.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.cu", "b.cu"]


def test_quiet_warnings_and_launches(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "a.cu"
    path.write_text('#include <cuda_runtime.h>\nint main() { k<<<1, 32>>>(); asm("x"); }\n')
    assert cli.main(["hipify", "--quiet-warnings", "--hip-kernel-execution-syntax", str(path)]) == 0
    said = capfdbinary.readouterr()
    assert b"hipLaunchKernelGGL(k, dim3(1), dim3(32), 0, 0);" in said.out
    assert said.err == b""
    assert cli.main(["hipify", "--cuda-kernel-execution-syntax", str(path)]) == 0
    said = capfdbinary.readouterr()
    assert b"k<<<1, 32>>>();" in said.out
    assert b"inline-ptx" in said.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x7fELF\0\0\0", "it has a zero byte at 4"),
        (b"\xff\xfec\0u\0", "UTF-16"),
        (None, "there is no file"),
        ("folder", "is a folder"),
    ],
)
def test_what_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | str | None, said: str
) -> None:
    """It is said in one line, the other files are translated, and the exit code is 1."""
    bad, good = tmp_path / "bad.cu", tmp_path / "good.cu"
    if isinstance(content, bytes):
        bad.write_bytes(content)
    elif content is not None:
        bad.mkdir()
    good.write_text("#include <cuda.h>\n")
    assert cli.main(["hipify", "--inplace", str(bad), str(good)]) == 1
    assert said in capsys.readouterr().err
    assert good.read_text() == "#include <hip/hip_runtime.h>\n"


def test_one_output_for_several_files(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["hipify", str(file), str(file), "-o", "x.hip"]) == 1
    assert "--inplace" in capsys.readouterr().err


def test_output_and_in_place_exclude_each_other(file: Path) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(["hipify", str(file), "--inplace", "-o", "x"])
    assert exit_.value.code == 2


def test_standard_output_keeps_its_order(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was printed before comes first, and all is there when the command returns."""
    target = file.with_name("stdout")
    with io.TextIOWrapper(io.BufferedWriter(io.FileIO(target, "w"), 1 << 16)) as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        stream.write("before\n")
        assert cli.main(["hipify", "--quiet-warnings", str(file)]) == 0
        assert target.read_bytes() == b"before\n" + HIP


def test_standard_output_without_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.cu"
    path.write_text("#include <cuda_runtime.h>\n")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert cli.main(["hipify", "--quiet-warnings", str(path)]) == 0
    assert sys.stdout.getvalue() == "#include <hip/hip_runtime.h>\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "files", "shown", "summed"),
    [([], 1, 0, False), ([], 2, 0, False), (["--print-stats"], 1, 1, False), (["--print-stats"], 2, 2, True),
     (["--examine"], 1, 1, False), (["--examine"], 2, 2, True)],
)  # fmt: skip
def test_a_sum_is_of_several_files(
    file: Path, capsys: pytest.CaptureFixture[str], options: list[str], files: int, shown: int, summed: bool
) -> None:
    file.write_bytes(CUDA[:-12])  # what a terminal can show
    assert cli.main(["hipify", *options, *[str(file)] * files]) == 0
    said = "".join(capsys.readouterr())
    assert said.count(f"{file}: 2 replaced, 0 to look at") == shown
    assert (f"all {files} files: {2 * files} replaced" in said) == summed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on this system")
def test_to_a_pipe(file: Path, tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert cli.main(["hipify", str(file), "-o", str(pipe)]) == 0
    reader.join(20)
    assert got == [HIP]
    assert pipe.is_fifo()


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes on Windows")
def test_a_file_keeps_its_mode(file: Path) -> None:
    file.chmod(0o640)
    assert cli.main(["hipify", "--inplace", str(file)]) == 0
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_replaced_stays_whole(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refused)
    assert cli.main(["hipify", "--inplace", str(file)]) == 1
    assert f"{file}: No space left on device." in capsys.readouterr().err
    assert file.read_bytes() == CUDA
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]


def test_a_file_below_a_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    below = file / "a.cu"
    assert cli.main(["hipify", str(below)]) == 1
    said = capsys.readouterr().err
    assert str(below) in said
    assert len(said.splitlines()) == 1
